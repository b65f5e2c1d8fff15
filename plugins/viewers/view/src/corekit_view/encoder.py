"""ffmpeg as a process that is fed pictures and leaves a video."""

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
"""Constant rate factor of H.264: 0 is lossless, 18 looks so, 51 is worst."""


def ffmpeg() -> str:
    """The ffmpeg to use: of the variable IMAGEIO_FFMPEG_EXE, else that of imageio-ffmpeg's wheel, else on the PATH.

    Raises:
        PluginError: there is none.
    """
    import imageio_ffmpeg

    try:
        return imageio_ffmpeg.get_ffmpeg_exe()
    except RuntimeError as error:
        raise PluginError(
            "no ffmpeg is found to write videos with: install one so that it is on the PATH, or name it in "
            "the variable IMAGEIO_FFMPEG_EXE"
        ) from error


@contextlib.contextmanager
def encoder(
    path: Path, width: int, height: int, fps: int
) -> Iterator[Callable[[np.ndarray[Any, Any]], None]]:
    """A function that adds a picture, uint8 of shape (height, width, 3), to the H.264 video at `path`.

    The pixels are stored at half resolution in colour, which every player shows; so width and height are even.
    The same pictures give the same bytes.

    Raises:
        PluginError: ffmpeg cannot be started.
        ResultsError: it failed, with its own last words. The file is then not to be used.
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
            # a session of its own: the user's Ctrl-C is for us, we end ffmpeg
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
            )
        except OSError as error:
            raise PluginError(
                f"ffmpeg cannot be started from {program}: {error.strerror or error}. "
                "The variable IMAGEIO_FFMPEG_EXE names another one"
            ) from error
        stdin = process.stdin
        assert stdin is not None

        def add(picture: np.ndarray[Any, Any]) -> None:
            try:
                stdin.write(np.ascontiguousarray(picture).data)
            except OSError as error:  # it has ended, and says why
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
        f"the video was not written: {program} failed{': ' + lines[-1].strip() if lines else ' without a word'}"
    )
