"""Folders of studies: made new, never overwritten, and not left behind without anything in them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from corekit.files import is_there
from corekit_run.folder import make_folder

__all__ = ["folder_with_results", "new_folder"]


def new_folder(name: str, parent: Path, directory: Path | None = None) -> Path:
    """Make `parent/<name>-<stamp>`, or `directory`; a further number is added if it holds something.

    Raises:
        ResultsError: it cannot be made.
    """
    return make_folder("folder", name, parent, directory)


@contextlib.contextmanager
def folder_with_results(name: str, parent: Path, directory: Path | None = None) -> Iterator[Path]:
    """Make a folder as `new_folder` does for what the block writes; if it fails with nothing written, none is left."""
    was_there = directory is not None and is_there(directory)
    folder = new_folder(name, parent, directory)
    try:
        yield folder
    except BaseException:
        if not (was_there and folder == directory):
            with contextlib.suppress(OSError):  # it holds something
                folder.rmdir()
        raise
