"""The table of a sweep as a dataset: one entry a run, what was varied beside what came out."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from corekit.errors import ResultsError
from corekit.files import read_regular

__all__ = ["SWEEP_TABLE", "sweep_dataset"]

SWEEP_TABLE = "sweep.csv"
_RESULTS = "results.nc"


def sweep_dataset(folder: Path) -> tuple[xr.Dataset, list[Path]]:
    """Return the table of a sweep, and the folders of the runs that it kept, in order.

    Raises:
        ResultsError: the table cannot be read.
    """
    file = folder / SWEEP_TABLE
    try:
        rows = list(csv.reader(io.StringIO(read_regular(file).decode("utf-8"))))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ResultsError(f"{file} cannot be read: {error}") from error
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise ResultsError(f"{file} is no table: its rows have different lengths")
    varied = _varied(folder)
    variables: dict[str, Any] = {}
    for name, column in zip(
        rows[0], zip(*rows[1:], strict=True) if rows[1:] else ((),) * len(rows[0]), strict=True
    ):
        variables[name] = ("run", _values(column), {"varied": int(name in varied)})
    folders = sorted(each for each in folder.iterdir() if (each / _RESULTS).is_file())
    table = xr.Dataset(variables, attrs={"title": folder.name, "sweep": str(folder)})
    return table.assign_coords(run=np.arange(len(rows) - 1)), folders


def _varied(folder: Path) -> set[str]:
    try:
        texts = json.loads(read_regular(folder / "sweep.json"))["vary"]
        return {str(text).partition("=")[0].strip() for text in texts}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _values(column: tuple[str, ...]) -> np.ndarray[Any, Any]:
    """Return numbers where all entries are numbers or empty (nan), else texts."""
    try:
        return np.array([float(text) if text else np.nan for text in column])
    except ValueError:
        return np.array(column, dtype=object)
