"""The folder of one run: made new, never overwritten, its small files written whole or not at all.

scenario.toml   as given              log.jsonl       what happened, one JSON object a line
resolved.toml   every default filled  versions.json   python, platform, corekit, plugins, libraries
STATUS          running, finished, failed or interrupted, and why
checkpoint-*.npz, step-*.npz          to go on, and to replay a step that failed: see `checkpoint`

Observers of the run may add files of their own: see `observers`.
"""

from __future__ import annotations

import datetime as dt
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

from attrs import frozen

from corekit.errors import ResultsError
from corekit.files import PARTIAL_FILES, is_there, read_regular, write_text_whole
from corekit_run.json_file import append_line, end_last_line, read_lines

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

__all__ = ["LOG", "STATUS", "RunFolder", "RunStatus", "is_held", "make_folder", "read_log", "read_status"]

STATUS, LOG = "STATUS", "log.jsonl"
_STATUSES = ("running", "finished", "failed", "interrupted")
_NO_LOCKS = -1
_LONGEST_STATUS = 1 << 20
"""Bytes of a status with its reason."""


@frozen
class RunStatus:
    """Status of a run.

    Args:
        status: `running`, `finished`, `failed`, `interrupted`, `killed`, or `unknown`.
        reason: why, in one sentence, empty if there is nothing to say.
    """

    status: str
    reason: str = ""


@final
class RunFolder:
    """A new folder for one run.

    Args:
        path: existing and empty.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def create(
        cls,
        name: str,
        parent: Path,
        directory: Path | None = None,
        describe: Callable[[RunFolder], object] | None = None,
    ) -> RunFolder:
        """Make `parent/<name>-<stamp>`, or `directory`; a further number is added if it exists.

        Args:
            describe: writes what runs into it, before its status says that it does.
        Raises:
            ResultsError: it cannot be made or written to.
        """
        folder = cls(make_folder("run folder", name, parent, directory))
        if describe is not None:
            describe(folder)
        folder.set_status("running")
        return folder

    @contextmanager
    def held(self) -> Iterator[None]:
        """Be the only process that writes into it; the system releases it when the process ends, however it does.

        Raises:
            ResultsError: another process holds it.
        """
        lock = _lock(self.path)
        if lock is None:
            raise ResultsError(f"{self.path} is still running: another process holds it. Wait for its end.")
        try:
            yield
        finally:
            if lock != _NO_LOCKS:
                os.close(lock)

    def refuse_links(self) -> None:
        """Refuse a folder whose files are elsewhere: what a run writes would land there.

        Raises:
            ResultsError: something in it is a symbolic link.
        """
        for entry in sorted(self.path.iterdir()):
            if entry.is_symlink():
                raise ResultsError(
                    f"{entry} is a symbolic link, and a run writes only into its own folder. Put the file itself there."
                )

    def write(self, name: str, text: str) -> None:
        """Write a small file whole: a reader sees the old one or the new one.

        Raises:
            ResultsError: the disk is full or the folder has gone.
        """
        try:
            write_text_whole(self.path / name, text)
        except OSError as error:
            raise ResultsError(f"cannot write {self.path / name}: {error.strerror}") from error

    def claim(self) -> None:
        """Claim a run that another process abandoned.

        Raises:
            ResultsError: it cannot be written to.
        """
        self.set_status("running")
        try:
            for partial in self.path.glob(PARTIAL_FILES):
                partial.unlink(missing_ok=True)
            end_last_line(self.path / LOG)
        except OSError as error:
            raise ResultsError(f"cannot write into {self.path}: {error.strerror}") from error

    def set_status(self, status: str, reason: str = "") -> None:
        """Write the status of the run; while it runs, the process that runs it.

        Raises:
            ResultsError: the disk is full or the folder cannot be written to.
        """
        try:
            self._write_status(status, reason)
        except OSError as error:
            raise ResultsError(f"cannot write {self.path / STATUS}: {error.strerror}") from error

    def _write_status(self, status: str, reason: str = "") -> None:
        if status == "running":
            reason = f"process {os.getpid()} on {socket.gethostname()}"
        write_text_whole(self.path / STATUS, f"{status}\n{reason}\n" if reason else f"{status}\n")

    def log(self, event: str, **what: Any) -> None:
        """Add a line to the log.

        Raises:
            ResultsError: the disk is full or the folder has gone.
        """
        now = dt.datetime.now().astimezone().isoformat(timespec="milliseconds")
        try:
            append_line(self.path / LOG, {"at": now, "event": event, **what})
        except OSError as error:
            raise ResultsError(f"cannot write {self.path / LOG}: {error.strerror}") from error


def _lock(path: Path) -> int | None:
    """A lock on a folder that no other process has: its file descriptor, None if one has, −1 where there are none."""
    if fcntl is None:
        return _NO_LOCKS
    try:
        folder = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise ResultsError(f"cannot read {path}: {error.strerror}") from error
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(folder)
        return None
    except OSError:  # a file system that locks no folders
        os.close(folder)
        return _NO_LOCKS
    return folder


def is_held(path: Path) -> bool | None:
    """Whether a process holds a run's folder; None where the system has no locks on folders."""
    lock = _lock(path)
    if lock == _NO_LOCKS:
        return None
    if lock is not None:
        os.close(lock)
    return lock is None


def make_folder(what: str, name: str, parent: Path, directory: Path | None = None) -> Path:
    """Make `parent/<name>-<stamp>`, or `directory`; a further number is added if it holds something.

    Args:
        what: it is, for messages.
    Raises:
        ResultsError: it cannot be made.
    """
    stamp = dt.datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    wanted = parent / f"{name}-{stamp}" if directory is None else directory
    path, number = wanted, 1

    def refused(why: str | None) -> ResultsError:
        return ResultsError(f"cannot make the {what} {path}: {why}. Choose another with `--out DIR`.")

    if is_there(wanted) and not wanted.is_dir():
        raise refused("it is a file")
    try:
        wanted.parent.mkdir(parents=True, exist_ok=True)
        while not _make_folder(path):
            if wanted.name in {"", ".."}:
                raise refused("it holds something, and its name takes no number")
            number += 1
            path = wanted.with_name(f"{wanted.name}-{number}")
    except OSError as error:
        raise refused(error.strerror) from error
    return path


def _make_folder(path: Path) -> bool:
    """Make a folder, or use an empty one; False if there is something already."""
    try:
        path.mkdir()
    except FileExistsError:
        return path.is_dir() and not any(path.iterdir())
    return True


def read_status(path: Path) -> RunStatus:
    """Status of the run in a folder; a run whose process is gone without a final status was killed."""
    try:
        status, _, reason = read_regular(path / STATUS, _LONGEST_STATUS).decode().strip().partition("\n")
    except (OSError, UnicodeDecodeError):
        return RunStatus("unknown", f"{path / STATUS} cannot be read")
    if status not in _STATUSES:
        return RunStatus("unknown", f"{path / STATUS} holds none of {', '.join(_STATUSES)}")
    if status == "running" and _has_ended(reason):
        return RunStatus("killed", f"{reason} ended without saying why")
    return RunStatus(status, reason)


def _has_ended(process: str) -> bool:
    """Whether `process N on HOST` is known to be gone; never true of another machine's."""
    words = process.split()
    if os.name != "posix" or len(words) != 4 or not words[1].isdigit() or words[3] != socket.gethostname():
        return False
    try:
        os.kill(int(words[1]), 0)  # signal 0 checks only whether the process is there
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def read_log(path: Path) -> list[dict[str, Any]]:
    """The events of a run; a last line that was cut by a kill, and what is no event, is left out."""
    try:
        lines = read_lines(path / LOG)
    except OSError:
        return []
    return [line for line in lines if isinstance(line.get("event"), str)]
