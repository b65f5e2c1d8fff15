"""Video encoder: an ffmpeg process with pictures as input."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from corekit.errors import PluginError, ResultsError

__all__ = ["encoder", "ffmpeg"]

QUALITY = 18
"""Constant rate factor of H.264: 0 is lossless, 18 looks lossless, 51 is worst."""


def ffmpeg() -> str:
    """Return the ffmpeg of the variable IMAGEIO_FFMPEG_EXE, of the wheel imageio-ffmpeg, or of the PATH.

    Raises:
        PluginError: no ffmpeg found.
    """
    import imageio_ffmpeg

    try:
        return imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError as error:
        raise PluginError(
            "no ffmpeg found for writing videos: install one on the PATH, or set the variable IMAGEIO_FFMPEG_EXE"
        ) from error


@contextlib.contextmanager
def encoder(
    path: Path, width: int, height: int, fps: int
) -> Iterator[Callable[[np.ndarray[Any, Any]], None]]:
    """Yield a function that adds a picture, uint8 of shape (height, width, 3), to the H.264 video at `path`.

    Colours have half the resolution, for compatibility with all players; width and height must be even.
    The same pictures give the same bytes.

    Raises:
        PluginError: ffmpeg does not start.
        ResultsError: ffmpeg failed; the message contains its last line. The file is then invalid.
    """
    program = ffmpeg()
    command = [
        program, "-y", "-loglevel", "error",
        "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(fps), "-i", "-",
        "-an", "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-c:v", "libx264", "-preset", "medium",
        "-crf", str(QUALITY), "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709",
        "-color_trc", "bt709", "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact",
        "-movflags", "+faststart", "-f", "mp4", str(path),
    ]  # fmt: skip
    with tempfile.TemporaryFile() as said:
        try:
            # own session: Ctrl-C interrupts only this process, which then ends ffmpeg
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
            )
        except OSError as error:
            raise PluginError(
                f"ffmpeg does not start from {program}: {error.strerror or error}. "
                "Set the variable IMAGEIO_FFMPEG_EXE to another ffmpeg"
            ) from error
        stdin = process.stdin
        assert stdin is not None

        def add(picture: np.ndarray[Any, Any]) -> None:
            try:
                stdin.write(np.ascontiguousarray(picture).data)
            except OSError as error:  # ffmpeg ended with a message
                process.wait()
                raise _failed(program, said) from error

        try:
            yield add
            try:
                stdin.close()
            except OSError as error:
                process.wait()
                raise _failed(program, said) from error
            if process.wait():
                raise _failed(program, said)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            with contextlib.suppress(OSError):
                stdin.close()


def _failed(program: str, said: IO[bytes]) -> ResultsError:
    said.seek(0)
    lines = [line for line in said.read().decode(errors="replace").splitlines() if line.strip()]
    return ResultsError(
        f"the video was not written: {program} failed{': ' + lines[-1].strip() if lines else ' without a message'}"
    )
