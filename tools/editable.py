"""Editable wheels of distributions, all built by this one process: pip starts three for each of them.

    python tools/editable.py FOLDER DISTRIBUTION...

writes those of the distributions into FOLDER, from where pip installs them.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

__all__ = ["build_editables", "main"]


def build_editables(folder: Path, sources: Sequence[Path]) -> None:
    """Build the editable wheel of each source by its backend, as an installer does."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for source in sources:
        project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))
        backend = importlib.import_module(project["build-system"]["build-backend"])
        os.chdir(source)
        backend.build_editable(str(folder))


def main(words: Sequence[str]) -> None:
    """Build into the first of the named folders those of the others."""
    folder, *sources = (Path(word).resolve() for word in words)
    build_editables(folder, sources)


if __name__ == "__main__":
    main(sys.argv[1:])
