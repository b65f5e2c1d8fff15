"""Files of results: those that a user named are tried before the work, and what cannot be written is told."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from corekit.errors import ResultsError

__all__ = ["check_output", "write_json", "write_text", "writing"]


@contextmanager
def writing(path: Path, advice: str = "") -> Iterator[None]:
    """Report what the system says of writing a file or a folder.

    Args:
        path: for what the system gives no name of. advice: what to do then, a sentence.
    Raises:
        ResultsError: something could not be written within the block.
    """
    try:
        yield
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        said = [
            f"cannot write {error.filename2 or error.filename or path}: {error.strerror or error}.",
            "Make room." * full,
            advice,
        ]
        raise ResultsError(" ".join(filter(None, said))) from error


def write_text(path: Path, text: str, advice: str = "") -> None:
    """Write a text; raise ResultsError, with the advice, if it cannot be written."""
    with writing(path, advice):
        path.write_text(text, encoding="utf-8")


def check_output(path: Path | None, option: str) -> None:
    """Try whether a file can be written, before the work that it is to hold; its folder is made if it is not there.

    Args:
        path: of the file; None: none was asked for. option: that named it, `--json`.
    Raises:
        ResultsError: it cannot.
    """
    if path is None:
        return
    with writing(path, f"Give {option} another file."):
        path.parent.mkdir(parents=True, exist_ok=True)
        was_there = path.exists()
        if was_there and not path.is_file() and not path.is_dir():
            return  # a pipe or a device, which may wait for a reader
        path.open("ab").close()
        if not was_there:
            path.unlink()


def write_json(path: Path | None, data: Any) -> None:
    """Write data as JSON into a file that a user asked for, if one did.

    Raises:
        ResultsError: it cannot be written any more.
    """
    if path is not None:
        text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
        write_text(path, text, "The results are printed above.")
