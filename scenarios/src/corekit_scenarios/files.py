"""Where the scenario files are."""

from __future__ import annotations

from pathlib import Path

__all__ = ["folder"]


def folder() -> Path:
    """The folder with one folder a paper.

    A wheel carries the files inside this package. An editable installation leaves them where they are
    written, two folders above it.
    """
    package = Path(__file__).parent
    return package if (package / "cusp").is_dir() else package.parents[1]
