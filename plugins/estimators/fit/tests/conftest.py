"""Files of markers."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write heights over time as the file of one marker."""

    def write(times: Sequence[float], heights: Sequence[float]) -> Path:
        path = tmp_path / "markers.csv"
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["time", "marker", "z"])
            table.writerows([t, "mass", z] for t, z in zip(times, heights, strict=True))
        return path

    return write
