"""The folder of a plan: written whole, and read back to begin another plan from.

plan.toml          as given                     plan.nc        motions, forces and other tracks over time (NetCDF)
certificate.json   what it is worth             log.jsonl      what was solved on the way, one object a line
report.json        everything in short          memory.npz     what the planner begins again from
inputs-*.csv       planned inputs               replay-*.toml  scenarios that simulate it, ready to run
motion.npz         differences of the simulator's steps, where it is tracked
replay-*/          folders of those runs        *.png *.html   pictures, where a viewer is installed
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from corekit.data.array_file import read_arrays, write_arrays
from corekit.data.arrays import Array
from corekit.errors import ResultsError
from corekit.files import is_there, write_text_whole, write_whole
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.roles.planner import BodyTrajectory, Plan

__all__ = ["read_warm_start", "write_plan"]

FORMAT = "corekit-plan-results/1"
_MEMORY = "memory.npz"


def write_plan(plan: Plan, folder: Path, title: str) -> None:
    """Write `plan.nc`, `certificate.json`, `log.jsonl` and `memory.npz` into an existing folder.

    Raises:
        ResultsError: the disk is full or the folder cannot be written to.
    """
    try:
        write_whole(folder / "plan.nc", lambda path: _write_netcdf(plan, path, title))
        write_text_whole(folder / "certificate.json", _json(dict(plan.certificate), indent=2) + "\n")
        lines = "".join(_json(entry) + "\n" for entry in plan.solve_log)
        write_text_whole(folder / "log.jsonl", lines)
        arrays = {f"memory/{name}": value for name, value in plan.warm_start.items()}
        write_arrays(folder / _MEMORY, {"time": plan.time, **arrays})
    except OSError as error:
        raise ResultsError(f"cannot write {folder}: {error.strerror or error}") from error


def read_warm_start(folder: Path) -> Plan:
    """Read what a planner needs of an earlier plan: its times and its warm start.

    Raises:
        ResultsError: the folder holds no plan, or what it remembers is damaged.
    """
    path = folder / _MEMORY
    try:
        arrays = read_arrays(path)
        time = arrays.pop("time", np.empty(0))
        if time.ndim != 1 or time.dtype.kind != "f" or not len(time) or not np.isfinite(time).all():
            raise ValueError("it has no times")
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        said = f"{path.name} cannot be read ({why})" if is_there(path) else f"it has no {path.name}"
        raise ResultsError(f"{folder} holds no plan to begin from: {said}") from error
    memory = {name.removeprefix("memory/"): array for name, array in arrays.items()}
    return Plan(time=time, bodies={}, warm_start=memory)


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON; tell the planner's author")


def _variables(plan: Plan) -> Iterator[tuple[str, Array, str, str, tuple[str, ...]]]:
    """Yield name, values, unit, meaning and axes after time of everything planned."""
    for name, motion in plan.bodies.items():
        yield from _of_body(name, motion)
    for name, moved in plan.objects.items():
        yield f"objects/{name}/position", moved.position, "m", "of the shape's origin", ("xyz",)
        yield f"objects/{name}/quat_wxyz", moved.quat_wxyz, "", "of the shape's axes", ("quat",)
    for name, track in plan.tracks.items():
        yield f"tracks/{name}", track.values, track.unit, track.about, track.axes


def _of_body(name: str, motion: BodyTrajectory) -> Iterator[tuple[str, Array, str, str, tuple[str, ...]]]:
    yield f"bodies/{name}/q", motion.q, "", "coordinates", ("coordinate",)
    yield f"bodies/{name}/v", motion.v, "", "velocities", ("dof",)
    if motion.inputs is not None:
        yield f"bodies/{name}/inputs", motion.inputs, "", "inputs of the interval that ends there", ("input",)


def _write_netcdf(plan: Plan, path: Path, title: str) -> None:
    import h5netcdf

    with h5netcdf.File(path, "w") as file:
        file.attrs["format"], file.attrs["title"] = FORMAT, title
        file.dimensions = {"time": len(plan.time)}
        file.create_variable("time", ("time",), data=plan.time).attrs["units"] = "s"
        for name, values, unit, meaning, axes in _variables(plan):
            place, _, leaf = name.rpartition("/")
            group = file[place] if place in file else file.create_group(place)
            sizes = dict(zip(axes, values.shape[1:], strict=True))
            for axis, size in sizes.items():
                if group.dimensions.get(axis) is None or group.dimensions[axis].size != size:
                    label = axis if axis not in group.dimensions else f"{axis}_{leaf}"
                    group.dimensions[label] = size
                    sizes = {label if each == axis else each: count for each, count in sizes.items()}
            made = group.create_variable(leaf, ("time", *sizes), data=np.asarray(values, dtype=float))
            made.attrs["units"], made.attrs["long_name"] = unit, meaning
        for name, moved in plan.objects.items():
            group = file[f"objects/{name}"]
            group.attrs["target_position"] = np.asarray(moved.target.position, dtype=float)
            group.attrs["target_quat_wxyz"] = quat_wxyz_from_rotation(moved.target.rotation)
