"""Frames of a video at a constant rate: shaded scene, contact forces, time and legend."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.errors import ConfigError, Mistake
from corekit.roles.viewer import Replay
from corekit_view.camera import Window, automatic_view, window
from corekit_view.config import VideoConfig
from corekit_view.contacts import compute_total_force, select_arrows
from corekit_view.frames import key_frames
from corekit_view.overlay import draw_contacts, draw_tip_path, draw_triad_and_scale, legend
from corekit_view.scene import Bounds, Scene, bounds
from corekit_view.shading import picture

__all__ = ["VideoFrames", "extend_window", "frame_index"]

INCHES = 4.8
"""Height of a picture in inches for fonts: 720 pixels are 150 per inch."""
HEAD, FOOT = 0.30, 0.32
"""Inches above and below the scene, for title and legend."""
HOLD = 0.5
"""Duration of the last frame [s of the video]."""
MOST = 1_000_000
"""Most pictures of a video: nine hours at 30 a second."""
THREADS = 4
"""Largest count of pictures in parallel; NumPy releases the interpreter lock."""


def frame_index(time: Array, fps: int, speed: float) -> IntArray:
    """Return the frame of the replay for each picture of the video: the one nearest to t₀ + speed·i/fps.

    Args:
        time: times of the replay's frames [s], shape (T,).
        fps: pictures per second of the video.
        speed: seconds of the run per second of the video.
    Raises:
        ConfigError: more pictures than anybody waits for.
    """
    pictures = float(time[-1] - time[0]) / speed * fps * (1.0 + 1e-9) + 1e-9
    if not pictures < MOST:  # a speed of nearly nothing makes infinitely many
        said = f"makes {pictures:.3g} pictures of {time[-1] - time[0]:g} s at fps = {fps}, at most {MOST} are drawn"
        raise ConfigError([Mistake("speed", speed, said, "make the video faster")], "the video")
    wanted = time[0] + speed / fps * np.arange(1 + math.floor(pictures))
    after = np.clip(np.searchsorted(time, wanted), 1, max(len(time) - 1, 1))
    before = after - 1
    last = len(time) - 1
    after = np.minimum(after, last)
    nearest = np.where(wanted - time[before] <= time[after] - wanted, before, after)
    return np.concatenate([nearest, np.full(max(1, round(HOLD * fps)), last)]).astype(np.int64)


def extend_window(frame: Window, aspect: float) -> Window:
    """Return the window extended on two sides to a width of `aspect` times its height."""
    more_width = 0.5 * max(0.0, aspect * frame.height - frame.width)
    more_height = 0.5 * max(0.0, frame.width / aspect - frame.height)
    return Window(
        frame.left - more_width,
        frame.right + more_width,
        frame.bottom - more_height,
        frame.top + more_height,
    )


@final
class VideoFrames:
    """Pictures of a video.

    Args:
        replay: replay with finite frames.
        config: size, rate and view.
        box: what the pictures contain; the bounds of the replay if None.
    """

    def __init__(self, replay: Replay, config: VideoConfig, box: Bounds | None = None) -> None:
        self._replay = replay
        self.width, self.height = (size + size % 2 for size in (config.width, config.height))
        self.frames = frame_index(replay.time, config.fps, config.speed)
        box = bounds(replay) if box is None else box
        self._view = automatic_view(replay, box, key_frames(replay, 6), config.azimuth, config.elevation)
        self._dpi = self.height / INCHES
        head, foot = round(HEAD * self._dpi), round(FOOT * self._dpi)
        self._scene_rows = slice(head, self.height - foot)
        rows = self.height - foot - head
        self._window = extend_window(window(self._view, box), self.width / rows)
        self._arrows = select_arrows(replay, box.extent, config.force_scale)
        towards = self._view.axes[2]
        self._scene = Scene(replay, box, sides=24, thinnest=0.004 * box.extent, towards=towards)
        self._force = compute_total_force(replay)
        self._decimals = _decimals(replay.time)
        self._pace = "" if config.speed == 1.0 else f"{config.speed:g} × real time"
        self._figure, self._axes = self._sheet()
        self._still = self._unchanging()

    def __len__(self) -> int:
        """Return the count of pictures."""
        return len(self.frames)

    def __iter__(self) -> Iterator[np.ndarray[Any, Any]]:
        """Yield pictures, uint8, shape (height, width, 3); a repeated frame is the same array."""
        distinct = self.frames[np.flatnonzero(np.diff(self.frames, prepend=-1))]
        repeats = iter(np.diff(np.flatnonzero(np.diff(self.frames, prepend=-1, append=-1))))
        waiting: deque[tuple[int, Future[Array]]] = deque()
        threads = min(THREADS, os.cpu_count() or 1)
        with ThreadPoolExecutor(threads) as pool:
            try:
                for k in [*(int(k) for k in distinct), *[-1] * threads]:
                    if k >= 0:
                        waiting.append((k, pool.submit(self._shaded, k)))
                    if len(waiting) > threads or k < 0:
                        if not waiting:
                            return
                        frame, shaded = waiting.popleft()
                        made = self._composed(frame, shaded.result())
                        for _ in range(int(next(repeats))):
                            yield made
            finally:
                for _, shaded in waiting:
                    shaded.cancel()

    def picture(self, k: int) -> np.ndarray[Any, Any]:
        """Return a frame of the replay, uint8, shape (height, width, 3)."""
        return self._composed(k, self._shaded(k))

    def _shaded(self, k: int) -> Array:
        rows = self._scene_rows.stop - self._scene_rows.start
        return picture(self._scene.soup(k), self._view, self._window, self.width, rows)

    def _composed(self, k: int, shaded: Array) -> np.ndarray[Any, Any]:
        """Return the scene with its overlays."""
        image = np.ones((self.height, self.width, 3))
        image[self._scene_rows] = shaded
        for colour, cover in (self._still, self._changing(k)):
            image += cover * (colour - image)
        return np.round(255.0 * np.clip(image, 0.0, 1.0)).astype(np.uint8)

    def _sheet(self) -> tuple[Any, Any]:
        """Return a transparent figure of the picture's size, with axes over the scene."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        # matplotlib cuts to whole pixels what rounding may have left just below one
        size = (self.width + 1e-6) / self._dpi, (self.height + 1e-6) / self._dpi
        figure = Figure(figsize=size, dpi=self._dpi)
        FigureCanvasAgg(figure)
        figure.patch.set_alpha(0.0)
        low = 1.0 - self._scene_rows.stop / self.height
        high = 1.0 - self._scene_rows.start / self.height
        axes = figure.add_axes((0.0, low, 1.0, high - low))
        axes.set_axis_off()
        axes.set_xlim(self._window.left, self._window.right)
        axes.set_ylim(self._window.bottom, self._window.top)
        return figure, axes

    def _unchanging(self) -> tuple[Array, Array]:
        figure, axes = self._sheet()
        draw_triad_and_scale(axes, self._view, self._window)
        inches = figure.get_figwidth() / self._window.width
        legend(figure, self._replay, self._arrows, inches, 0.09 / figure.get_figheight())
        self._write(figure, 0.012, self._replay.title, "left", fontsize=9, fontweight="bold")
        return _inked(figure)

    def _changing(self, k: int) -> tuple[Array, Array]:
        figure, axes = self._figure, self._axes
        for drawn in [*axes.collections, *axes.lines, *axes.texts, *axes.patches, *figure.texts]:
            drawn.remove()
        draw_tip_path(axes, self._replay, k, self._view)
        draw_contacts(axes, self._replay.contacts[k], self._view, self._window, self._arrows)
        self._write(figure, 0.5, f"t = {self._replay.time[k]:.{self._decimals}f} s", "center", fontsize=9)
        said = [self._pace] if self._pace else []
        if self._force.any():
            said.append(f"Σ‖contact force‖ = {self._force[k]:.3g} N")
        self._write(figure, 0.988, "     ".join(said), "right", fontsize=7.5)
        return _inked(figure)

    @staticmethod
    def _write(figure: Any, across: float, words: str, side: str, **style: Any) -> None:
        up = 1.0 - 0.5 * HEAD / figure.get_figheight()
        figure.text(across, up, words, ha=side, va="center", parse_math=False, **style)


def _inked(figure: Any) -> tuple[Array, Array]:
    """Return colours (height, width, 3) and opacity (height, width, 1) of a transparent figure, 0…1."""
    figure.canvas.draw()
    drawn = np.asarray(figure.canvas.buffer_rgba(), dtype=float) / 255.0
    return drawn[:, :, :3], drawn[:, :, 3:]


def _decimals(time: Array) -> int:
    """Return the count of decimals that distinguish neighbouring frames, at least two."""
    steps = np.diff(time)
    steps = steps[steps > 0]
    return min(6, max(2, math.ceil(-math.log10(float(np.median(steps))) - 1e-6))) if len(steps) else 2
