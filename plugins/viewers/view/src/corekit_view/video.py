"""The video viewer: a replay as an MP4 file that any player shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, final

import numpy as np

from corekit.roles.component import BuildContext, InternalState
from corekit.roles.viewer import Replay, Viewer
from corekit_view.config import VideoConfig
from corekit_view.encoder import encoder
from corekit_view.film import Film
from corekit_view.frames import drawable
from corekit_view.output import check_suffix, require_module, write_whole
from corekit_view.picture import own_style

__all__ = ["VideoViewer"]


@final
class VideoViewer(Viewer):
    """The run as a film at a constant frame rate, with contacts and their forces drawn over the scene.

    Every picture is the shaded one of `matplotlib`'s key frames, of the recorded instant nearest to its time.

    Args:
        config: options. context: not needed.
    Raises:
        PluginError: if matplotlib or imageio-ffmpeg is not installed.
    """

    def __init__(self, config: VideoConfig, context: BuildContext | None = None) -> None:
        require_module("matplotlib", "video")
        require_module("imageio_ffmpeg", "video")
        self._config = config
        self._context = context or BuildContext()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Only `.mp4`."""
        return (".mp4",)

    def internal_state(self) -> InternalState:
        """Nothing is remembered."""
        return {}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Nothing is remembered."""

    def render(self, replay: Replay, path: Path, progress: Callable[[float], None] | None = None) -> None:
        """Write the video; the ability `progress`: hand over the share that is done now and then.

        Raises:
            PluginError: if there is no ffmpeg that starts.
            ResultsError: if nothing can be drawn or the file cannot be written; no part of it is left.
        """
        from matplotlib import rc_context

        path = Path(path)
        check_suffix(path, self.suffixes, "video")
        with rc_context():
            own_style()
            film = Film(drawable(replay), self._config)

            def write(part: Path) -> None:
                with encoder(part, film.width, film.height, self._config.fps) as add:
                    for done, picture in enumerate(film, start=1):
                        add(picture)
                        if progress is not None:
                            progress(done / len(film))

            write_whole(path, write)
