"""A simulation in browsers with a slider for every number of its inputs."""

from __future__ import annotations

import html
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve

from corekit.roles.viewer import ContactTrack, Replay, Requests, Slider
from corekit_view.camera import automatic_view
from corekit_view.config import PageConfig
from corekit_view.contacts import select_arrows
from corekit_view.frames import drop_non_finite
from corekit_view.legend import legend_items
from corekit_view.live_replay import contact_words
from corekit_view.live_scene import LiveScene
from corekit_view.scene import bounds
from corekit_view.viser_scene import light, set_camera

if TYPE_CHECKING:
    import viser

__all__ = ["LiveInputs"]

REMEMBERED = 300
"""Frames whose contact forces decide the length of arrows."""
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
NOTCHES = 500
"""Positions of a slider."""


@final
class LiveInputs:
    """Scene, sliders and buttons at a server's address: an `InteractiveSession`.

    Browsers act on threads of their own, so one lock protects their requests.

    Args:
        server: running server.
        replay: the start, one frame.
        sliders: one a number.
        config: view, speed and length of the arrows.
    Raises:
        ResultsError: the frame cannot be drawn.
    """

    def __init__(
        self, server: viser.ViserServer, replay: Replay, sliders: Sequence[Slider], config: PageConfig
    ) -> None:
        self._server, self._config, self._sliders = server, config, tuple(sliders)
        self._lock = threading.Lock()
        replay = drop_non_finite(replay)
        self._box = bounds(replay)
        self._recent: deque[ContactTrack] = deque(maxlen=REMEMBERED)
        self._held: dict[int, float] = {}
        self._moved: dict[int, float] = {}
        self._running, self._reset = True, False
        self._scene = LiveScene(server)
        view = automatic_view(replay, self._box, np.array([0]), config.azimuth, config.elevation)
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        set_camera(server, view, self._box)
        light(server, view)
        self._add_controls(replay.title)

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{self._server.get_host()}:{self._server.get_port()}"

    def pop_requests(self) -> Requests:
        """Return what browsers requested since the last call."""
        with self._lock:
            taken = Requests(
                moved=self._moved,
                running=self._running,
                speed=float(self._speed.value.split()[0]),
                reset=self._reset,
            )
            self._moved, self._reset = {}, False
        return taken

    def show(self, replay: Replay, values: Sequence[float], words: str) -> None:
        """Draw the state now; sliders that nobody holds follow the inputs."""
        self._recent.append(replay.contacts[0])
        seen = evolve(replay, contacts=tuple(self._recent))
        arrows = select_arrows(seen, self._box.extent, self._config.force_scale)
        with self._server.atomic():
            self._scene.draw(replay, self._box, arrows)
            self._status.content = (
                f"**t = {replay.time[0]:.4g} s**  \n{contact_words(replay.contacts[0])}  \n{words}"
            )
            self._legend.content = (
                '<div style="padding:0 1em .5em;font-size:.875em;line-height:1.6">'
                f"{legend_items(replay, arrows)}</div>"
            )
            with self._lock:
                for i, handle in self._handles.items():
                    shown = float(np.clip(values[i], handle.min, handle.max))
                    if i not in self._held and handle.value != shown:
                        handle.value = shown

    def _add_controls(self, title: str) -> None:
        gui = self._server.gui
        gui.set_panel_label(title)
        self._status = gui.add_markdown("")
        self._button = gui.add_button("Pause")
        back = gui.add_button("Reset", hint="back to the start; the inputs follow the scenario again")
        speeds = sorted({*SPEEDS, self._config.speed})
        self._speed = gui.add_dropdown(
            "speed",
            [f"{speed:g} ×" for speed in speeds],
            initial_value=f"{self._config.speed:g} ×",
            hint="simulated seconds per second",
        )
        self._button.on_click(self._user_action(self._on_button))
        back.on_click(self._user_action(self._on_reset))
        self._handles: dict[int, Any] = {}
        for body in dict.fromkeys(slider.body for slider in self._sliders):
            with gui.add_folder(body):
                for i, slider in enumerate(self._sliders):
                    if slider.body == body:
                        self._handles[i] = self._add_slider(i, slider)
        if not self._sliders:
            gui.add_html('<div style="padding:0 1em">No body of this scenario has inputs.</div>')
        self._legend = gui.add_html("")

    def _add_slider(self, i: int, slider: Slider) -> Any:
        handle = self._server.gui.add_slider(
            html.escape(f"{slider.label} [{slider.unit}]"),
            slider.lower,
            slider.upper,
            float(f"{(slider.upper - slider.lower) / NOTCHES:.1g}"),
            float(np.clip(0.0, slider.lower, slider.upper)),
        )

        def move() -> None:
            self._held[i] = self._moved[i] = float(handle.value)

        handle.on_update(self._user_action(move))
        return handle

    def _user_action(self, change: Callable[[], None]) -> Callable[[Any], None]:
        """Return the callback of a user's action; it ignores programmatic changes."""

        def act(event: Any) -> None:
            if event.client is not None:
                with self._lock:
                    change()

        return act

    def _on_button(self) -> None:
        self._running = not self._running
        self._button.label = "Pause" if self._running else "Go on"

    def _on_reset(self) -> None:
        self._reset = True
        self._held.clear()
        self._moved.clear()
