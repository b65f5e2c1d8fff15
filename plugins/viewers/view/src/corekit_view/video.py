"""The video viewer: a replay as an MP4 file for any player."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import final

from corekit.roles.component import BuildContext
from corekit.roles.viewer import Replay, Viewer
from corekit_view.config import VideoConfig
from corekit_view.encoder import encoder
from corekit_view.frames import drop_non_finite
from corekit_view.output import check_suffix, require_module, write_whole
from corekit_view.plot_style import set_plot_style
from corekit_view.video_frames import VideoFrames

__all__ = ["VideoViewer"]


@final
class VideoViewer(Viewer):
    """Video of a run at a constant frame rate, with contacts and forces drawn over the scene.

    Every picture has the shading of the key frames of `matplotlib`, at the recorded instant nearest to its time.

    Args:
        config: options.
        context: not used.
    Raises:
        PluginError: matplotlib or imageio-ffmpeg is not installed.
    """

    def __init__(self, config: VideoConfig, context: BuildContext | None = None) -> None:
        require_module("matplotlib", "video")
        require_module("imageio_ffmpeg", "video", extra="video")
        self._config = config
        self._context = context or BuildContext()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Only `.mp4`."""
        return (".mp4",)

    def render(self, replay: Replay, path: Path, progress: Callable[[float], None] | None = None) -> None:
        """Write the video and report the finished fraction to `progress`, the ability `progress`.

        Raises:
            PluginError: ffmpeg does not start.
            ResultsError: no drawable frame, or the file is not writable; no partial file remains.
        """
        from matplotlib import rc_context

        path = Path(path)
        check_suffix(path, self.suffixes, "video")
        with rc_context():
            set_plot_style()
            film = VideoFrames(drop_non_finite(replay), self._config)

            def write(part: Path) -> None:
                with encoder(part, film.width, film.height, self._config.fps) as add:
                    for done, picture in enumerate(film, start=1):
                        add(picture)
                        if progress is not None:
                            progress(done / len(film))

            write_whole(path, write)
