"""Files that are whole or absent: written beside their name, then put in its place in one atomic replacement.

On Windows a file cannot be replaced while another program has it open, and a viewer, a virus scanner or an indexer
has it open for a moment only. Replacements are therefore repeated, with pauses that double, until they succeed or
a bounded time has passed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

__all__ = [
    "LARGEST_TEXT",
    "PARTIAL_FILES",
    "PATIENCE",
    "FileHeldOpen",
    "check_regular",
    "is_there",
    "open_to_append",
    "read_regular",
    "replace_file",
    "write_text_whole",
    "write_whole",
]

LARGEST_TEXT = 1 << 29
"""Bytes of a text that somebody else may have made; ours are far smaller."""

PATIENCE = 10.0
"""Time for which a replacement is repeated [s]; a reader has a file open for far less."""

PARTIAL_FILES = ".*.partial*"
"""Pattern of what a killed writer leaves."""

_NO_FILES = {"a folder": Path.is_dir, "a pipe": Path.is_fifo, "a socket": Path.is_socket}
_FIRST_PAUSE, _LONGEST_PAUSE = 0.001, 0.25  # s
_HELD_OPEN = {5, 32, 33}
"""Windows' codes ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION and ERROR_LOCK_VIOLATION."""


class FileHeldOpen(PermissionError):
    """Another program had a file open for as long as its replacement was repeated."""


def is_there(path: Path) -> bool:
    """Whether there is something; not, where the system allows no such name."""
    try:
        return path.exists()
    except OSError:  # too long, or a loop of links
        return False


def check_regular(path: Path) -> None:
    """Refuse what is there and is no file: the reading of a pipe or a device may never end.

    Raises:
        OSError: says what it is.
    """
    if path.exists() and not path.is_file():
        found = next((word for word, is_one in _NO_FILES.items() if is_one(path)), "a device")
        raise OSError(
            errno.EISDIR if path.is_dir() else errno.EINVAL, f"{found}, which is not read", str(path)
        )


def read_regular(path: Path, most: int = LARGEST_TEXT) -> bytes:
    """All of a file.

    Args:
        most: bytes that it may have.
    Raises:
        OSError: it cannot be read, it is larger, or `check_regular` refuses it.
    """
    check_regular(path)
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB, which is not read", str(path))
        return file.read()


def open_to_append(path: Path) -> IO[str]:
    """Open a text file to write at its end, or a new one; no link is followed, and no pipe waited for.

    Raises:
        OSError: it cannot be written, or something else is there.
    """
    how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    file = open(os.open(path, how, 0o666), "a", encoding="utf-8")  # noqa: SIM115 - it is handed over
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "no file, so nothing is written to it", str(path))
    return file


def replace_file(source: Path, target: Path, patience: float = PATIENCE) -> None:
    """Move `source` to `target`, in the place of what is there, atomically.

    Args:
        source: on the same file system as `target`.
        patience: for how long it is repeated while another program has one of them open [s]; 0: tried once.
    Raises:
        FileHeldOpen: it still had when that time was over; both files are as they were.
        OSError: it is impossible for another reason, which is not waited for.
    """
    deadline, pause = time.monotonic() + patience, _FIRST_PAUSE
    while True:
        try:
            os.replace(source, target)
            return
        except OSError as error:
            # to Windows a folder in the target's place is an access denied, too
            if getattr(error, "winerror", None) not in _HELD_OPEN or target.is_dir():
                raise
            if time.monotonic() + pause > deadline:
                reason = "another program has it open; close it there, then try again"
                raise FileHeldOpen(error.errno, reason, str(target)) from error
        time.sleep(pause)
        pause = min(2.0 * pause, _LONGEST_PAUSE)


def write_whole(
    path: Path, write: Callable[[Path], object], *, durable: bool = True, patience: float = PATIENCE
) -> None:
    """Write a file so that a reader sees the old one or the new one, and a failure leaves the old one.

    Args:
        write: writes all of it to the path that it is given, whose suffix is that of `path`.
        durable: it is on the disk, not only with the system, before it replaces the other.
        patience: as for `replace_file`.
    Raises:
        OSError: the folder or the file cannot be written; no part of the new file is left.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial{path.suffix}")
    try:
        # a folder that cannot be written to is found before the work is done, and a link in its place is not followed
        partial.unlink(missing_ok=True)
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        write(partial)
        if durable:
            with partial.open("r+b") as file:
                os.fsync(file.fileno())
        replace_file(partial, path, patience)
    finally:
        # gone once it replaced the other
        with contextlib.suppress(OSError):
            partial.unlink()


def write_text_whole(path: Path, text: str) -> None:
    """`write_whole` of a text, in UTF-8 with the line ends that it has."""
    write_whole(path, lambda partial: partial.write_text(text, encoding="utf-8", newline=""))
