"""A replay served to browsers: instances that a play bar moves, for runs that are finished or still growing."""

from __future__ import annotations

import html
import math
import threading
import time as clock
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.roles.viewer import Replay
from corekit_view.batches import Batch, batches
from corekit_view.camera import View, automatic_azimuth
from corekit_view.config import PageConfig
from corekit_view.contacts import Arrows, arrows_of
from corekit_view.frames import drawable, key_frames, select
from corekit_view.page import legend_items
from corekit_view.palette import MODES
from corekit_view.scene import bounds
from corekit_view.stage import add_instances, aim, light, move_instances

if TYPE_CHECKING:
    import viser

__all__ = ["ServedReplay", "padded"]

TICK = 1.0 / 30.0
"""Wall time between two pictures while something plays [s]."""
CATCH_UP = 0.4
"""Wall time in which who follows a run is led to its newest record, but for 1/e of the way [s]."""
LEAST_RANGE = 1e-3
"""Of the play bar [s], while a run has but its first record."""
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)


def padded(batch: Batch, count: int) -> Batch:
    """The batch with as many instances as `count`: those added have no size."""
    more = count - batch.position.shape[1]
    if more <= 0:
        return batch

    def with_more(values: Array, fill: float) -> Array:
        return np.pad(values, ((0, 0), (0, more), (0, 0)), constant_values=fill)

    quat = with_more(batch.quat_wxyz, 0.0)
    quat[:, -more:, 0] = 1.0
    return evolve(
        batch, position=with_more(batch.position, 0.0), quat_wxyz=quat, scale=with_more(batch.scale, 0.0)
    )


@final
class ServedReplay:
    """What is seen at a server's address, and the play bar beside it: a `ReplaySession`.

    A thread of its own plays; the browsers' wishes and the kernel's news arrive on other threads, so what they
    change is changed under one lock.

    Args:
        server: running. replay: with a frame that can be drawn. standing: of the run.
        config: view, speed and length of the arrows.
    Raises:
        ResultsError: nothing can be drawn.
    """

    def __init__(self, server: viser.ViserServer, replay: Replay, standing: str, config: PageConfig) -> None:
        self._server, self._config = server, config
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self._wake = threading.Event()
        self._handles: dict[str, tuple[Any, int]] = {}
        self._drawn = -1
        self._playing = False
        self._following = standing == "running"
        self._take(replay)
        self._at = float(self._replay.time[-1 if self._following else 0])
        azimuth = config.azimuth
        if azimuth is None:
            azimuth = automatic_azimuth(
                self._replay, self._box, key_frames(self._replay, 6), config.elevation
            )
        self._view = View(azimuth, config.elevation)
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        aim(server, self._view, self._box)
        light(server, self._view)
        self._bar(standing)
        self._draw()
        self._thread = threading.Thread(target=self._play, name="corekit-view", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it is seen."""
        return f"http://{self._server.get_host()}:{self._server.get_port()}"

    def show(self, replay: Replay, standing: str) -> None:
        """Go on with a later replay of the same run."""
        with self._lock:
            self._take(replay)
            aim(self._server, self._view, self._box)  # for who comes from now on
            if standing != "running" and self._following:
                self._at = float(self._replay.time[-1])
            self._following &= standing == "running"
            begin, end, step = self._range()
            self._at = min(max(self._at, begin), end)
            self._slider.min, self._slider.max, self._slider.step = begin, end, step
            self._follow.visible = standing == "running"
            self._follow.value = self._following
            self._say_standing(standing)
        self._wake.set()

    def close(self) -> None:
        """End the thread; whatever browsers wish from now on is too late."""
        with self._lock:
            self._stopped.set()
        self._wake.set()
        self._thread.join()

    # — what is shown —

    def _take(self, replay: Replay) -> None:
        """Make a replay the one that is shown; the frame is then drawn anew."""
        self._replay = drawable(replay)
        self._box = bounds(self._replay)
        self._arrows = arrows_of(self._replay, self._box.extent, self._config.force_scale)
        self._drawn = -1

    def _draw(self) -> None:
        """Put everything where it is at the instant shown."""
        time = self._replay.time
        k = int(np.argmin(np.abs(time - self._at)))
        if k == self._drawn:
            return
        arrows = self._arrows if self._forces.value else Arrows(0.0)
        now = select(self._replay, np.array([k]))
        made = {batch.name: batch for batch in batches(now, self._box, arrows, 0.003 * self._box.extent)}
        with self._server.atomic():
            for name, batch in made.items():
                self._put(name, batch)
            for name in self._handles.keys() - made.keys():
                self._handles[name][0].visible = False
            step = self._slider.step
            self._slider.value = min(float(f"{round(self._at / step) * step:.9g}"), self._slider.max)
            self._words.content = self._said(k)
        self._drawn = k

    def _put(self, name: str, batch: Batch) -> None:
        handle, room = self._handles.get(name, (None, 0))
        count = batch.position.shape[1]
        if handle is None or count > room:
            if handle is not None:
                handle.remove()
            # contacts come and go: with room for more, few of them need a new mesh
            room = max(8, 2 * count) if name.startswith("/contacts") else count
            self._handles[name] = add_instances(self._server, padded(batch, room)), room
            return
        move_instances(handle, padded(batch, room), 0)
        handle.opacity = batch.opacity if batch.opacity < 1.0 else None
        handle.visible = True

    def _said(self, k: int) -> str:
        contact = self._replay.contacts[k]
        counts = [(word, int(np.count_nonzero(contact.mode == int(mode)))) for mode, word, _, _ in MODES]
        touching = ", ".join(f"{count} {word}" for word, count in counts if count) or "none"
        force = float(np.nansum(np.linalg.norm(contact.force, axis=1)))
        return (
            f"**t = {self._replay.time[k]:.4g} s** of {self._replay.time[-1]:.4g} s  \n"
            f"contacts: {touching}  \nΣ‖contact force‖ = {force:.3g} N"
        )

    # — the bar —

    def _range(self) -> tuple[float, float, float]:
        """First and last instant of the play bar, and a power of ten of which it has a thousand or more [s]."""
        begin, end = (float(t) for t in self._replay.time[[0, -1]])
        end = max(end, begin + LEAST_RANGE)
        return begin, end, 10.0 ** math.floor(math.log10(1e-3 * (end - begin)) + 1e-9)

    def _bar(self, standing: str) -> None:
        gui, config = self._server.gui, self._config
        gui.set_panel_label(self._replay.title)
        self._standing = gui.add_html("")
        self._words = gui.add_markdown("")
        begin, end, step = self._range()
        self._slider = gui.add_slider("time [s]", begin, end, step, self._at)
        self._button = gui.add_button("Play")
        self._follow = gui.add_checkbox(
            "follow the run", self._following, visible=standing == "running", hint="stay at the newest record"
        )
        speeds = sorted({*SPEEDS, config.speed})
        self._speed = gui.add_dropdown(
            "speed",
            [f"{speed:g} ×" for speed in speeds],
            initial_value=f"{config.speed:g} ×",
            hint="seconds of the run in one second",
        )
        self._forces = gui.add_checkbox(
            "contact forces", initial_value=True, hint="bodies that hide forces become glass"
        )
        self._legend = gui.add_html("")
        self._say_standing(standing)
        self._slider.on_update(self._wished(self._jump))
        self._button.on_click(self._wished(self._play_or_pause))
        self._follow.on_update(self._wished(self._follow_or_stay))
        self._forces.on_update(self._wished(self._redraw))

    def _say_standing(self, standing: str) -> None:
        self._standing.content = (
            f'<div style="padding:0 1em;font-size:.875em"><b>{html.escape(self._replay.title)}</b>: '
            f"{html.escape(standing)}, {len(self._replay.time)} records</div>"
        )
        self._legend.content = (
            '<div style="padding:0 1em .5em;font-size:.875em;line-height:1.6">'
            f"{legend_items(self._replay, self._arrows)}</div>"
        )

    def _wished(self, change: Callable[[], None]) -> Callable[[Any], None]:
        """What a browser's wish does: a change, unless we moved the part ourselves or have ended."""

        def act(event: Any) -> None:
            with self._lock:
                if event.client is None or self._stopped.is_set():
                    return
                change()
            self._wake.set()

        return act

    def _jump(self) -> None:
        self._at = float(self._slider.value)
        self._following = self._follow.value = False
        self._rest()

    def _play_or_pause(self) -> None:
        if self._playing:
            self._rest()
            return
        if self._at >= float(self._replay.time[-1]):
            self._at = float(self._replay.time[0])
        self._following = self._follow.value = False
        self._playing = True
        self._button.label = "Pause"

    def _follow_or_stay(self) -> None:
        self._following = bool(self._follow.value)
        self._rest()

    def _rest(self) -> None:
        self._playing = False
        self._button.label = "Play"

    def _redraw(self) -> None:
        self._drawn = -1

    # — playing —

    def _play(self) -> None:
        """Move on and draw, until closed; sleeps while nothing moves."""
        before = clock.perf_counter()
        while not self._stopped.is_set():
            self._wake.clear()
            with self._lock:
                now = clock.perf_counter()
                moving = self._move(now - before)
                before = now
                self._draw()
            if moving:
                self._stopped.wait(max(0.0, TICK - (clock.perf_counter() - now)))
            else:
                self._wake.wait()
                before = clock.perf_counter()

    def _move(self, passed: float) -> bool:
        """Let wall time pass [s]; whether there is more to come."""
        end = float(self._replay.time[-1])
        if self._following:
            # publications come in bursts of records: glide through them
            left = (end - self._at) * float(np.exp(-passed / CATCH_UP))
            step = float(np.diff(self._replay.time[-2:], prepend=end)[-1])
            self._at = end - (left if left > 0.5 * step else 0.0)
        elif self._playing:
            self._at = min(end, self._at + passed * float(self._speed.value.split()[0]))
            if self._at >= end:
                self._rest()
        return (self._following and self._at < end) or self._playing
