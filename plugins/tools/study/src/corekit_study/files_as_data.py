"""The files of a folder as text that JSON can hold, and back: for what was written on another computer."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from corekit.files import write_whole
from corekit_run.output_file import writing

__all__ = ["pack", "unpack"]

_PART = re.compile(r"[\w+-][\w.+-]*")
"""A part of a file's name: no parent folder, nothing hidden, nothing that a system reads in another way."""


def pack(folder: Path) -> dict[str, str]:
    """Return the files below a folder, `a/b.nc` → contents."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {
        path.relative_to(folder).as_posix(): base64.b64encode(path.read_bytes()).decode("ascii")
        for path in files
    }


def unpack(files: Mapping[str, str], folder: Path) -> None:
    """Write files below a folder, which is made.

    Raises:
        ValueError: a name would lie elsewhere, or contents are none; nothing was written then.
        ResultsError: one cannot be written.
    """
    contents: dict[Path, bytes] = {}
    for name, text in files.items():
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or not all(_PART.fullmatch(part) for part in parts):
            raise ValueError(f"{name!r} is no name of a file in a folder of results")
        contents[folder.joinpath(*parts)] = base64.b64decode(text, validate=True)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, lambda partial, data=data: partial.write_bytes(data))
