"""Other people's files that may not be shipped, in the folder that `COREKIT_REFERENCE_DATA` names."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["reference_data_folder", "reference_file"]


def reference_data_folder() -> str:
    """Return the absolute path of the folder, as a text; empty if none is named."""
    named = os.environ.get("COREKIT_REFERENCE_DATA", "")
    return str(Path(named).absolute()) if named else ""


def reference_file(name: str) -> Path | None:
    """Return a file of the folder, or None if it has none of that name, or no folder is named."""
    folder = reference_data_folder()
    return Path(folder) / name if folder and (Path(folder) / name).is_file() else None
