"""Live replay in browsers with playback controls, for finished and active runs."""

from __future__ import annotations

import html
import math
import threading
import time as clock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np

from corekit.roles.viewer import ContactTrack, Replay
from corekit_view.camera import automatic_view
from corekit_view.config import PageConfig
from corekit_view.contacts import Arrows, select_arrows
from corekit_view.frames import drop_non_finite, key_frames, select
from corekit_view.legend import legend_items
from corekit_view.live_scene import LiveScene
from corekit_view.palette import MODES
from corekit_view.scene import bounds
from corekit_view.viser_scene import light, set_camera

if TYPE_CHECKING:
    import viser

__all__ = ["LiveReplay", "contact_words"]

TICK = 1.0 / 30.0
"""Wall time between two pictures during playback [s]."""
CATCH_UP = 0.4
"""Time constant of the approach to the newest record while following a run [s of wall time]."""
LEAST_RANGE = 1e-3
"""Range of the time slider of a run with a single record [s]."""
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)


def contact_words(contact: ContactTrack) -> str:
    """Return how many contacts are in each mode, and the sum of their forces."""
    counts = [(word, int(np.count_nonzero(contact.mode == int(mode)))) for mode, word, _, _ in MODES]
    touching = ", ".join(f"{count} {word}" for word, count in counts if count) or "none"
    force = float(np.nansum(np.linalg.norm(contact.force, axis=1)))
    return f"contacts: {touching}  \nΣ‖contact force‖ = {force:.3g} N"


@final
class LiveReplay:
    """Scene and playback controls at a server's address: a `ReplaySession`.

    One thread plays. Actions of browsers and updates of the kernel arrive on other threads, so one lock protects all
    changes.

    Args:
        server: running server.
        replay: replay with a drawable frame.
        run_status: `running`, `finished`, ….
        config: view, speed and length of the arrows.
    Raises:
        ResultsError: no drawable frame.
    """

    def __init__(
        self, server: viser.ViserServer, replay: Replay, run_status: str, config: PageConfig
    ) -> None:
        self._server, self._config = server, config
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self._wake = threading.Event()
        self._scene = LiveScene(server)
        self._drawn = -1
        self._playing = False
        self._following = run_status == "running"
        self._set_replay(replay)
        self._time = float(self._replay.time[-1 if self._following else 0])
        frames = key_frames(self._replay, 6)
        self._view = automatic_view(self._replay, self._box, frames, config.azimuth, config.elevation)
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        set_camera(server, self._view, self._box)
        light(server, self._view)
        self._add_controls(run_status)
        self._draw()
        self._thread = threading.Thread(target=self._play, name="corekit-view", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{self._server.get_host()}:{self._server.get_port()}"

    def update(self, replay: Replay, run_status: str) -> None:
        """Continue with a later replay of the same run."""
        with self._lock:
            self._set_replay(replay)
            set_camera(self._server, self._view, self._box)  # for new browsers
            if run_status != "running" and self._following:
                self._time = float(self._replay.time[-1])
            self._following &= run_status == "running"
            begin, end, step = self._range()
            self._time = min(max(self._time, begin), end)
            self._slider.min, self._slider.max, self._slider.step = begin, end, step
            self._follow.visible = run_status == "running"
            self._follow.value = self._following
            self._update_status(run_status)
        self._wake.set()

    def close(self) -> None:
        """End the thread; later actions of browsers have no effect."""
        with self._lock:
            self._stopped.set()
        self._wake.set()
        self._thread.join()

    def _set_replay(self, replay: Replay) -> None:
        """Set the replay and redraw the frame."""
        self._replay = drop_non_finite(replay)
        self._box = bounds(self._replay)
        self._arrows = select_arrows(self._replay, self._box.extent, self._config.force_scale)
        self._drawn = -1

    def _draw(self) -> None:
        """Draw the present instant."""
        time = self._replay.time
        k = int(np.argmin(np.abs(time - self._time)))
        if k == self._drawn:
            return
        arrows = self._arrows if self._forces.value else Arrows(0.0)
        now = select(self._replay, np.array([k]))
        with self._server.atomic():
            self._scene.draw(now, self._box, arrows)
            step = self._slider.step
            self._slider.value = min(float(f"{round(self._time / step) * step:.9g}"), self._slider.max)
            self._status.content = self._status_text(k)
        self._drawn = k

    def _status_text(self, k: int) -> str:
        time = self._replay.time
        return f"**t = {time[k]:.4g} s** of {time[-1]:.4g} s  \n{contact_words(self._replay.contacts[k])}"

    def _range(self) -> tuple[float, float, float]:
        """Return first and last instant of the slider, and a power of ten below a thousandth of its range [s]."""
        begin, end = (float(t) for t in self._replay.time[[0, -1]])
        end = max(end, begin + LEAST_RANGE)
        return begin, end, 10.0 ** math.floor(math.log10(1e-3 * (end - begin)) + 1e-9)

    def _add_controls(self, run_status: str) -> None:
        gui, config = self._server.gui, self._config
        gui.set_panel_label(self._replay.title)
        self._header = gui.add_html("")
        self._status = gui.add_markdown("")
        begin, end, step = self._range()
        self._slider = gui.add_slider("time [s]", begin, end, step, self._time)
        self._button = gui.add_button("Play")
        self._follow = gui.add_checkbox(
            "follow the run", self._following, visible=run_status == "running", hint="show the newest record"
        )
        speeds = sorted({*SPEEDS, config.speed})
        self._speed = gui.add_dropdown(
            "speed",
            [f"{speed:g} ×" for speed in speeds],
            initial_value=f"{config.speed:g} ×",
            hint="seconds of the run per second",
        )
        self._forces = gui.add_checkbox(
            "contact forces", initial_value=True, hint="bodies that hide forces become transparent"
        )
        self._legend = gui.add_html("")
        self._update_status(run_status)
        self._slider.on_update(self._user_action(self._on_slider))
        self._button.on_click(self._user_action(self._on_button))
        self._follow.on_update(self._user_action(self._on_follow))
        self._forces.on_update(self._user_action(self._redraw))

    def _update_status(self, run_status: str) -> None:
        self._header.content = (
            f'<div style="padding:0 1em;font-size:.875em"><b>{html.escape(self._replay.title)}</b>: '
            f"{html.escape(run_status)}, {len(self._replay.time)} records</div>"
        )
        self._legend.content = (
            '<div style="padding:0 1em .5em;font-size:.875em;line-height:1.6">'
            f"{legend_items(self._replay, self._arrows)}</div>"
        )

    def _user_action(self, change: Callable[[], None]) -> Callable[[Any], None]:
        """Return the callback of a user's action; it ignores programmatic changes and a closed session."""

        def act(event: Any) -> None:
            with self._lock:
                if event.client is None or self._stopped.is_set():
                    return
                change()
            self._wake.set()

        return act

    def _on_slider(self) -> None:
        self._time = float(self._slider.value)
        self._following = self._follow.value = False
        self._pause()

    def _on_button(self) -> None:
        if self._playing:
            self._pause()
            return
        if self._time >= float(self._replay.time[-1]):
            self._time = float(self._replay.time[0])
        self._following = self._follow.value = False
        self._playing = True
        self._button.label = "Pause"

    def _on_follow(self) -> None:
        self._following = bool(self._follow.value)
        self._pause()

    def _pause(self) -> None:
        self._playing = False
        self._button.label = "Play"

    def _redraw(self) -> None:
        self._drawn = -1

    def _play(self) -> None:
        """Advance the time and draw until the session closes; sleep while nothing moves."""
        before = clock.perf_counter()
        while not self._stopped.is_set():
            self._wake.clear()
            with self._lock:
                now = clock.perf_counter()
                moving = self._advance(now - before)
                before = now
                self._draw()
            if moving:
                self._stopped.wait(max(0.0, TICK - (clock.perf_counter() - now)))
            else:
                self._wake.wait()
                before = clock.perf_counter()

    def _advance(self, passed: float) -> bool:
        """Advance the shown instant by wall time [s] and return whether playback continues."""
        end = float(self._replay.time[-1])
        if self._following:
            # records arrive in bursts: approach the newest one smoothly
            left = (end - self._time) * float(np.exp(-passed / CATCH_UP))
            step = float(np.diff(self._replay.time[-2:], prepend=end)[-1])
            self._time = end - (left if left > 0.5 * step else 0.0)
        elif self._playing:
            self._time = min(end, self._time + passed * float(self._speed.value.split()[0]))
            if self._time >= end:
                self._pause()
        return (self._following and self._time < end) or self._playing
