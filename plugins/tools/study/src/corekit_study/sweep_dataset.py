"""A sweep as one dataset, `sweep.nc`: a NetCDF-4 file with the dimension `run`, which xarray and all others open.

It is made from the stored outcomes and put in its place whole, every few seconds while the sweep goes on: a reader,
or a kill, meets a complete file of some of the runs, never half of one. (Of a Zarr store that grows by xarray's
`append_dim`, each variable gets its new length for itself: who reads in between, or after a kill there, finds
variables that differ in length.)

Runs may differ in what they have: a dimension `coordinate`, `pair`, `joint`, … holds the names of all, and what a run
lacks is nan. Two passes over the outcomes are made, one for the names and one for the numbers, so that memory holds a
few runs at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import define, field, frozen

from corekit.files import write_whole
from corekit_record.netcdf_file import Variable, create_netcdf
from corekit_study.run_task import Outcome
from corekit_study.variants import Variant

__all__ = ["DATASET", "Done", "write_dataset"]

DATASET = "sweep.nc"
"""Name of the file; of a part of a sweep `sweep-2-of-8.nc`."""
_STATUSES = ("waiting", "finished", "failed")
_BLOCK = 256
"""Runs that are written together."""
_TEXTS = ("tip_frame", "stability")
_UNITS = {"J": "J", "m": "m", "s": "s"}
_STATE = {"coordinate": "q", "dof": "v"}
_FORCES = {"contacts": "pair", "joints": "joint", "reactions": "prescribed"}
"""Kind of `RunWatch.forces` → dimension of its names."""
Done = tuple[int, Outcome]
"""Index of a run among all, and its outcome."""


@define
class _Names:
    """What the runs have, in the order in which it was met."""

    labels: dict[str, dict[str, str]] = field(
        factory=lambda: {name: {} for name in (*_FORCES.values(), *_STATE, "frame")}
    )
    has_state: bool = False

    def add(self, outcome: Outcome) -> None:
        for kind, dimension in _FORCES.items():
            self.labels[dimension] |= dict.fromkeys(outcome.forces.get(kind, {}), "")
        if outcome.last:
            self.has_state = True
            for dimension in (*_STATE, "frame"):
                self.labels[dimension] |= dict(outcome.last["layout"][dimension])


def write_dataset(
    path: Path,
    variants: Sequence[Variant],
    metrics: Sequence[str],
    outcomes: Callable[[], Iterable[Done]],
    title: str,
) -> None:
    """Write the dataset of a sweep.

    Args:
        path: of the file. variants: values of every run, whether it was made or not.
        metrics: names of statistics, as in the table.
        outcomes: called twice for what there is, in the order of the runs.
        title: name of the scenario.
    Raises:
        OSError: it cannot be written.
    """
    names = _Names()
    for _, outcome in outcomes():
        names.add(outcome)
    dimensions, variables = _form(variants, metrics, names)

    def write(partial: Path) -> None:
        import h5py

        with partial.open("r+b") as file:
            create_netcdf(file, dimensions, variables, {"title": title, "Conventions": "CF-1.11"})
        with h5py.File(partial, "r+") as root:
            for name in [each.name for each in variables if each.values is None and each.dtype == "f8"]:
                root[name][...] = np.nan
            block: list[Done] = []
            for done in outcomes():
                block.append(done)
                if len(block) == _BLOCK:
                    _Block(block, names).write(root, metrics)
                    block = []
            _Block(block, names).write(root, metrics)

    write_whole(path, write, durable=False)


def _form(
    variants: Sequence[Variant], metrics: Sequence[str], names: _Names
) -> tuple[dict[str, int | None], list[Variable]]:
    dimensions: dict[str, int | None] = {"run": len(variants), "xyz": 3, "wxyz": 4}
    run = ("run",)
    number = np.arange(1, len(variants) + 1)
    status = {"flag_values": np.arange(3, dtype="i1"), "flag_meanings": " ".join(_STATUSES)}
    variables = [
        Variable("run", run, "i8", meaning="number of the run", values=number),
        Variable("xyz", ("xyz",), "str", values=np.array(list("xyz"), dtype=object)),
        Variable("status", run, "i1", attributes=status, meaning="whether the run was made, and how it went"),
        Variable("reason", run, "str", meaning="why it failed"),
        *_values(variants),
    ]
    for name in metrics:
        if name != "status":
            unit = _UNITS.get(name.rpartition("_")[2], "")
            variables.append(Variable(name, run, "str" if name in _TEXTS else "f8", unit=unit))
    for dimension, labels in names.labels.items():
        if labels:
            dimensions[dimension] = len(labels)
            variables.append(
                Variable(dimension, (dimension,), "str", values=np.array(list(labels), dtype=object))
            )
    variables += _force_variables(names)
    if names.has_state:
        variables += _state_variables(names)
    return dimensions, variables


def _values(variants: Sequence[Variant]) -> list[Variable]:
    """Return what is varied, as numbers where all of an entry are some."""
    found = []
    for k, (path, _) in enumerate(variants[0].values):
        texts = [variant.values[k][1] for variant in variants]
        meaning = f"value of {path}"
        # a `/` would make a group of it
        name = path.replace("/", "|")
        try:
            found.append(Variable(name, ("run",), "f8", meaning=meaning, values=np.array(texts, dtype=float)))
        except ValueError:
            values = np.array(texts, dtype=object)
            found.append(Variable(name, ("run",), "str", meaning=meaning, values=values))
    return found


def _force_variables(names: _Names) -> list[Variable]:
    found = []
    if names.labels["pair"]:
        meaning = "force of a pair at the end, on the first, world axes"
        found += [
            Variable("contact_force", ("run", "pair", "xyz"), unit="N", meaning=meaning),
            Variable("largest_contact_force", ("run", "pair"), unit="N", meaning="largest of any step"),
        ]
    if names.labels["joint"]:
        meaning = "what a joint gives its first frame at the end, world axes"
        found += [
            Variable("joint_force", ("run", "joint", "xyz"), unit="N", meaning=meaning),
            Variable("joint_torque", ("run", "joint", "xyz"), unit="N m", meaning=meaning),
            Variable("largest_joint_force", ("run", "joint"), unit="N", meaning="largest of any step"),
        ]
    if names.labels["prescribed"]:
        meaning = "force or moment on a prescribed coordinate at the end [N or N m]"
        found.append(Variable("reaction", ("run", "prescribed"), meaning=meaning))
    return found


def _state_variables(names: _Names) -> list[Variable]:
    found = [Variable("time", ("run",), unit="s", meaning="of the last state")]
    for dimension, name in _STATE.items():
        if labels := names.labels[dimension]:
            units = np.array(list(labels.values()), dtype=object)
            found += [
                Variable(f"{dimension}_unit", (dimension,), "str", values=units),
                Variable(name, ("run", dimension), meaning="last state"),
            ]
    if names.labels["frame"]:
        found += [
            Variable("frame_position", ("run", "frame", "xyz"), unit="m", meaning="origins at the end"),
            Variable("frame_quat_wxyz", ("run", "frame", "wxyz"), meaning="rotations at the end"),
        ]
    return found


@final
@frozen
class _Block:
    """Some runs, with the numbers of their names."""

    done: Sequence[Done]
    names: _Names

    def write(self, root: Any, metrics: Sequence[str]) -> None:
        """Write them into an open file."""
        if not self.done:
            return
        rows = np.array([index for index, _ in self.done])
        outcomes = [outcome for _, outcome in self.done]
        root["status"][rows] = [2 if each.error else 1 for each in outcomes]
        root["reason"][rows] = [" ".join(each.error.split()) for each in outcomes]
        for name in metrics:
            if name == "status":
                continue
            own = [
                {**each.statistics, "wall_s": each.wall_s, "completed": each.completed} for each in outcomes
            ]
            if name in _TEXTS:
                root[name][rows] = [str(each.get(name) or "") for each in own]
            else:
                root[name][rows] = [_number(each.get(name)) for each in own]
        self._write_forces(root, rows, outcomes)
        if self.names.has_state:
            self._write_states(root, rows, outcomes)

    def _write_forces(self, root: Any, rows: Any, outcomes: Sequence[Outcome]) -> None:
        contacts = self._table("contacts", 4, outcomes)
        if contacts is not None:
            root["contact_force"][rows] = contacts[:, :, :3]
            root["largest_contact_force"][rows] = contacts[:, :, 3]
        joints = self._table("joints", 7, outcomes)
        if joints is not None:
            root["joint_force"][rows] = joints[:, :, :3]
            root["joint_torque"][rows] = joints[:, :, 3:6]
            root["largest_joint_force"][rows] = joints[:, :, 6]
        reactions = self._table("reactions", 1, outcomes)
        if reactions is not None:
            root["reaction"][rows] = reactions[:, :, 0]

    def _table(self, kind: str, width: int, outcomes: Sequence[Outcome]) -> Any:
        """Return the numbers of a kind of forces, shape (runs, names, width); None without names."""
        place = _places(self.names.labels[_FORCES[kind]])
        if not place:
            return None
        found = np.full((len(outcomes), len(place), width), np.nan)
        for row, outcome in zip(found, outcomes, strict=True):
            for name, values in outcome.forces.get(kind, {}).items():
                row[place[name], : len(values)] = values
        return found

    def _write_states(self, root: Any, rows: Any, outcomes: Sequence[Outcome]) -> None:
        root["time"][rows] = [_number(each.last.get("time")) for each in outcomes]
        for dimension, name, width in (
            ("coordinate", "q", ()), ("dof", "v", ()), ("frame", "frame_position", (3,)),
            ("frame", "frame_quat_wxyz", (4,)),
        ):  # fmt: skip
            place = _places(self.names.labels[dimension])
            if not place:
                continue
            found = np.full((len(outcomes), len(place), *width), np.nan)
            for row, outcome in zip(found, outcomes, strict=True):
                if outcome.last:
                    row[[place[label] for label, _ in outcome.last["layout"][dimension]]] = outcome.last[name]
            root[name][rows] = found


def _places(labels: Mapping[str, str]) -> dict[str, int]:
    return {name: k for k, name in enumerate(labels)}


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")
