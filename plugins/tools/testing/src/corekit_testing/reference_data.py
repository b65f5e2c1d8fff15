"""Data that some tests compare with and that may not be shipped: other people's files."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["NOT_JUDGED", "REFERENCE_DATA", "reference_data"]

REFERENCE_DATA = "COREKIT_REFERENCE_DATA"
"""The environment variable that names the folder with such data."""
NOT_JUDGED = "not judged"
"""How the reason of a skip begins whose test had no data; the summary of a test run counts them."""


def reference_data(name: str) -> Path:
    """Path of a file or folder of the reference data; without the data the test is skipped, and said so.

    Raises:
        FileNotFoundError: the variable names a folder without it.
    """
    folder = os.environ.get(REFERENCE_DATA)
    if not folder:
        import pytest

        pytest.skip(
            f"{NOT_JUDGED}: {name} may not be shipped; {REFERENCE_DATA} may name a folder that has it"
        )
    path = Path(folder) / name
    if not path.exists():
        raise FileNotFoundError(
            f"there is no {name} in {folder}, which {REFERENCE_DATA} names; unset it to skip"
        )
    return path
