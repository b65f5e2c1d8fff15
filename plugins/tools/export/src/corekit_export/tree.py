"""`corekit.open`: a run, or a sweep, as an `xarray.DataTree` with units.

    /                one variable each: time, q, v, inputs, frame_position, kinetic_energy, joint_force, reaction, …
    /contacts        one entry a contact of a record: first, second, gap, force [N] beside impulses, contact_time, …
    /forces          force [N] between each two that touch, over time, and on each of them by all
    /steps           one entry an accepted step: its solver, status and residual
    /outline         points of the drawn polylines

Of a sweep the root is its table, with what was varied beside every outcome, and `/runs/NAME` are the runs that it kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from corekit.data.contacts import ContactMode
from corekit.simulation.arguments import PATH, TRUTH, check_arguments
from corekit_export.accessor import CorekitAccessor
from corekit_export.sweep_table import SWEEP_TABLE, sweep_dataset
from corekit_record.record_layout import CONTACT_FIELDS
from corekit_record.recorded_forces import contact_forces, contact_records, shape_places
from corekit_record.results import Results

__all__ = ["CorekitAccessor", "open_tree", "run_tree"]

_APART = ("contact", "step", "outline", "point", "polyline", "body_", "shape", "obstacle_shapes")
"""Beginnings of the names of variables that have a group of their own, or are there to draw with."""


def open_tree(path: str | Path, *, runs: bool = True) -> xr.DataTree:
    """Return a run or a sweep as a tree, in memory.

    Args:
        path: folder of a run, its `results.nc`, or folder of a sweep.
        runs: whether the runs of a sweep are read too, or its table alone.
    Raises:
        ResultsError: it is neither, or damaged.
    """
    check_arguments("corekit.open", path=(path, PATH), runs=(runs, TRUTH))
    path = Path(path)
    if (path / SWEEP_TABLE).is_file():
        table, folders = sweep_dataset(path)
        tree = xr.DataTree(table, name=path.name)
        for folder in folders if runs else ():
            tree[f"runs/{folder.name}"] = run_tree(Results(folder))
        return tree
    return run_tree(Results(path))


def run_tree(results: Results) -> xr.DataTree:
    """Return the records of a run as a tree."""
    whole = results.to_xarray()
    kept = [name for name in whole.variables if not str(name).startswith(_APART)]
    root = whole[kept].assign_attrs(status=results.status, path=str(results.path))
    root["contact_count"] = whole["contact_count"]
    tree = xr.DataTree(root, name=results.title)
    tree["steps"] = xr.DataTree(_steps(whole))
    if "outline" in whole:
        tree["outline"] = xr.DataTree(
            xr.Dataset({name: whole[name] for name in ("outline", "outline_radius")})
        )
    if "contacts" not in results.left_out:
        contacts = _contacts(results, whole)
        tree["contacts"] = xr.DataTree(contacts)
        tree["forces"] = xr.DataTree(_forces(results, contacts))
    return tree


def _steps(whole: xr.Dataset) -> xr.Dataset:
    """Return what every accepted step says, under names without `step_` but for its time."""
    names = [str(name) for name in whole.variables if str(name).startswith("step_") and name != "step_length"]
    steps = whole[names].rename({name: name.removeprefix("step_") for name in names if name != "step_time"})
    return steps.set_coords("step_time").drop_vars("step", errors="ignore").drop_attrs(deep=False)


def _contacts(results: Results, whole: xr.Dataset) -> xr.Dataset:
    names = {f"contact_{field}": field for field in CONTACT_FIELDS if f"contact_{field}" in whole}
    contacts = whole[list(names)].rename(names).drop_vars(["shape", "mode"]).drop_attrs(deep=False)
    owners = np.array([owner for owner, _ in shape_places(results)], dtype=object)
    first, second = results["contact_shape"].T
    force = contact_forces(results)
    names_of_modes = np.array([mode.name.lower() for mode in ContactMode], dtype=object)
    return contacts.assign(
        record=("contact", contact_records(results), {"long_name": "index of its record"}),
        first=("contact", owners[first], {"long_name": "whose shape the force acts on"}),
        second=("contact", owners[second], {"long_name": "what it touches"}),
        mode=("contact", names_of_modes[results["contact_mode"]]),
        force=(
            ("contact", "xyz"),
            force,
            {"units": "N", "long_name": "mean over the grid step, on the first, world"},
        ),
        normal_force=("contact", np.einsum("ni,ni->n", force, results["contact_normal"]), {"units": "N"}),
    ).assign_coords(contact_time=("contact", results.time[contact_records(results)], {"units": "s"}))


def _forces(results: Results, contacts: xr.Dataset) -> xr.Dataset:
    """Return forces between things that touch anywhere in the run, and the sum on each thing."""
    pairs = sorted(
        set(zip(contacts["first"].values.tolist(), contacts["second"].values.tolist(), strict=True))
    )
    names = [*results.bodies, *results.obstacles]
    between = np.zeros((len(results.time), len(pairs), 3))
    for k, (first, second) in enumerate(pairs):
        between[:, k] = results.force(first, second)
    total = np.zeros((len(results.time), len(names), 3))
    for (first, second), force in zip(pairs, np.moveaxis(between, 1, 0), strict=True):
        if first != second:
            total[:, names.index(first)] += force
            total[:, names.index(second)] -= force
    about = {"units": "N", "long_name": "mean contact force over the grid step, world"}
    coordinates: dict[str, Any] = {
        "time": ("time", results.time, {"units": "s"}), "xyz": ["x", "y", "z"], "thing": names,
        "first": ("pair", [first for first, _ in pairs]), "second": ("pair", [second for _, second in pairs]),
    }  # fmt: skip
    return xr.Dataset(
        {
            "between": (("time", "pair", "xyz"), between, about),
            "on": (("time", "thing", "xyz"), total, about),
        },
        coordinates,
    )
