"""`tree.corekit`: forces by name and tables of pandas, on the trees that `corekit.open` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from corekit.errors import ResultsError
from corekit_record.results import Results

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CorekitAccessor"]


@xr.register_datatree_accessor("corekit")
class CorekitAccessor:
    """What a tree of `corekit.open` can be asked for.

    Args:
        tree: of a run, or of a sweep.
    """

    def __init__(self, tree: xr.DataTree) -> None:
        self._tree = tree

    @property
    def results(self) -> Results:
        """The run's records: `contacts`, `solves`, `replay` and all else of `corekit.Results`.

        Raises:
            ResultsError: the tree is not of one run, or the run's folder has gone.
        """
        if "path" not in self._tree.attrs:
            raise ResultsError("this is not the tree of one run: of a sweep take tree['runs/NAME']")
        return Results(self._tree.attrs["path"])

    def force(self, body: str, other: str | None = None) -> xr.DataArray:
        """Return the contact force on something over time [N], dimensions time and xyz; names as of `Results.force`."""
        results = self.results
        about = {"units": "N", "long_name": f"contact force on {body}" + (f" by {other}" if other else "")}
        return xr.DataArray(
            results.force(body, other),
            {"time": ("time", results.time, {"units": "s"}), "xyz": ["x", "y", "z"]}, ("time", "xyz"), "force", about,
        )  # fmt: skip

    def to_pandas(self) -> pd.DataFrame:
        """Return one table: of a run a row a record, of a sweep a row a run.

        Columns of a run are named as in results: `q:arm.x`, `frame_position:arm.tip:z`, `force:ball:x` (the sum of the
        contact forces on it, N), each with its unit in `frame.attrs["units"]`.
        """
        import pandas as pd

        root = self._tree.to_dataset()
        if "run" in root.dims:
            return root.to_dataframe()
        columns: dict[str, Any] = {}
        units: dict[str, str] = {}
        for name, values in self._along_time(root):
            for label, column, unit in _columns(name, values):
                columns[label], units[label] = column, unit
        frame = pd.DataFrame(columns, index=pd.Index(root["time"].values, name="time"))
        frame.attrs["units"] = units
        return frame

    def _along_time(self, root: xr.Dataset) -> list[tuple[str, xr.DataArray]]:
        named = [
            (str(name), values) for name, values in root.data_vars.items() if values.dims[:1] == ("time",)
        ]
        forces = self._tree.children.get("forces")
        return named if forces is None else [*named, ("force", forces.dataset["on"])]


def _columns(name: str, values: xr.DataArray) -> list[tuple[str, Any, str]]:
    """Return label, values and unit of every column that a variable becomes."""
    unit = str(values.attrs.get("units", ""))
    if len(values.dims) == 1:
        return [(name, values.values, unit)]
    inner = values.stack(column=values.dims[1:])
    found = []
    for k in range(inner.sizes["column"]):
        one = inner.isel(column=k)
        labels = [str(one[dim].item()) for dim in values.dims[1:]]
        own = one.coords.get(f"{values.dims[1]}_unit")
        found.append((":".join([name, *labels]), one.values, unit if own is None else str(own.item())))
    return found
