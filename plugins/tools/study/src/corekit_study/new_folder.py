"""Folders of studies: made new, never overwritten."""

from __future__ import annotations

from pathlib import Path

from corekit_run.folder import make_folder

__all__ = ["new_folder"]


def new_folder(name: str, parent: Path, directory: Path | None = None) -> Path:
    """Make `parent/<name>-<stamp>`, or `directory`; a further number is added if it holds something.

    Raises:
        ResultsError: it cannot be made.
    """
    return make_folder("folder", name, parent, directory)
