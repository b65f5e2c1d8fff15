"""Pictures of a world that goes on, each drawn without knowing what comes."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from attrs import evolve

from corekit.roles.viewer import Replay
from corekit_view.camera import automatic_view
from corekit_view.config import VideoConfig
from corekit_view.contacts import select_arrows
from corekit_view.frames import drop_non_finite
from corekit_view.plot_style import set_plot_style
from corekit_view.scene import Bounds, bounds
from corekit_view.video_frames import VideoFrames

__all__ = ["PictureCanvas"]

_ROOM = 0.25
"""How much farther than what there is a view reaches when it is chosen anew, relative to its size."""


@final
class PictureCanvas:
    """The view is that of the first picture. Where something leaves it, it widens and stays so.

    Args:
        width, height: of the pictures [pixels]. azimuth, elevation: of the camera [rad], None as in `VideoConfig`.
        force_scale: length of force arrows [m/N]; None: by the first forces, and shorter once larger ones come.
    """

    def __init__(
        self,
        width: int,
        height: int,
        azimuth: float | None,
        elevation: float | None,
        force_scale: float | None,
    ) -> None:
        self._config = VideoConfig(
            width=width, height=height, azimuth=azimuth, elevation=elevation, force_scale=force_scale
        )
        self._grows_arrows = force_scale is None
        self._box: Bounds | None = None

    def draw(self, replay: Replay) -> np.ndarray[Any, Any]:
        """Return the picture of a replay of one frame, uint8, shape (height, width, 3).

        Raises:
            ResultsError: nothing in it is finite.
        """
        from matplotlib import rc_context

        replay = drop_non_finite(replay)
        here = bounds(replay)
        if self._box is None:
            config = self._config
            view = automatic_view(replay, here, np.zeros(1, dtype=np.int64), config.azimuth, config.elevation)
            self._config = evolve(config, azimuth=view.azimuth, elevation=view.elevation)
        if self._box is None or (here.low < self._box.low).any() or (here.high > self._box.high).any():
            self._box = _with_room(here if self._box is None else _joined(here, self._box))
        if self._grows_arrows:
            scale = select_arrows(replay, self._box.extent, None).scale
            known = self._config.force_scale
            if scale and (known is None or scale < known):
                self._config = evolve(self._config, force_scale=scale)
        with rc_context():
            set_plot_style()
            return VideoFrames(replay, self._config, self._box).picture(0)


def _joined(one: Bounds, other: Bounds) -> Bounds:
    low, high = np.minimum(one.low, other.low), np.maximum(one.high, other.high)
    return Bounds(low, high, one.points, one.radius)


def _with_room(box: Bounds) -> Bounds:
    """Bounds that reach farther, given by the corners alone."""
    room = _ROOM * 0.5 * float((box.high - box.low).max())
    low, high = box.low - room, box.high + room
    corners = np.stack(np.meshgrid(*zip(low, high, strict=True), indexing="ij"), axis=-1).reshape(-1, 3)
    return Bounds(low, high, corners, np.zeros(8))
