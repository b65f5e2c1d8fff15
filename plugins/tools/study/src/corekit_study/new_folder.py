"""Folders of studies: made new, never overwritten."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from corekit.errors import ResultsError
from corekit.files import is_there

__all__ = ["new_folder"]


def new_folder(name: str, parent: Path, directory: Path | None = None) -> Path:
    """Make `parent/<name>-<stamp>`, or `directory`; a further number is added if it holds something.

    Raises:
        ResultsError: it cannot be made.
    """
    stamp = dt.datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    wanted = parent / f"{name}-{stamp}" if directory is None else directory
    path, number = wanted, 1
    if is_there(wanted) and not wanted.is_dir():
        raise ResultsError(f"cannot make the folder {wanted}: it is a file. Choose another with `--out DIR`.")
    try:
        while path.exists() and (not path.is_dir() or any(path.iterdir())):
            number += 1
            path = wanted.with_name(f"{wanted.name}-{number}")
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(
            f"cannot make the folder {path}: {error.strerror}. Choose another with `--out DIR`."
        ) from error
    return path
