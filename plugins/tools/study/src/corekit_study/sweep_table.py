"""The lines of a sweep's table: values, what came of the run, and what pushed and held, as columns of a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen

from corekit.files import write_whole
from corekit_study.run_task import END, Outcome
from corekit_study.variants import Variant

__all__ = ["FORCES", "METRICS", "STATICS", "Point", "column_names", "point_of", "write_table"]

METRICS = (
    "status", "wall_s", "completed", "steps", "unsolved_steps", "deepest_penetration_m", "worst_residual", *END,
)  # fmt: skip
"""Columns of runs after the values."""
STATICS = ("status", "wall_s", "stability", "steps", "unbalanced", "deepest_penetration_m", *END)
"""Columns of equilibria after the values."""
FORCES: Mapping[str, tuple[str, ...]] = {
    "contacts": ("force_x_N", "force_y_N", "force_z_N", "largest_force_N"),
    "joints": (
        "joint_force_x_N", "joint_force_y_N", "joint_force_z_N", "joint_torque_x_Nm", "joint_torque_y_Nm",
        "joint_torque_z_Nm", "largest_joint_force_N",
    ),
    "reactions": ("reaction",),
}  # fmt: skip
"""Kind of `RunWatch.forces` → its columns of each pair, joint or coordinate: `force_x_N:ball/floor`."""


@frozen(eq=False)
class Point:
    """One run of a sweep.

    Args:
        variant: its values. folder: of the run. reason: why it did not finish, empty if it did.
        metrics: under the names of `METRICS` or `STATICS`, None where there is none.
        forces: columns of `FORCES`, `force_x_N:ball/floor`, of what this run had.
    """

    variant: Variant
    folder: Path
    reason: str
    metrics: dict[str, Any]
    forces: dict[str, float] = field(factory=dict)


def point_of(folder: Path, variant: Variant, outcome: Outcome, names: Sequence[str]) -> Point:
    """Return the run of an outcome, with metrics of the given names."""
    said = outcome.statistics
    metrics: dict[str, Any] = {name: said.get(name) for name in names}
    metrics |= {"status": "failed" if outcome.error else "finished", "wall_s": outcome.wall_s}
    if "completed" in metrics:
        metrics["completed"] = outcome.completed
    forces = {
        f"{column}:{subject}": float(value)
        for kind, columns in FORCES.items()
        for subject, values in outcome.forces.get(kind, {}).items()
        for column, value in zip(columns, values, strict=False)
    }
    return Point(variant, folder / outcome.name, " ".join(outcome.error.split()), metrics, forces)


def column_names(points: Iterable[Point]) -> list[str]:
    """Return the columns of forces that any of the runs has, those of a subject together."""
    found: dict[str, list[str]] = {}
    for point in points:
        for name in point.forces:
            own = found.setdefault(name.partition(":")[2], [])
            if name not in own:
                own.append(name)
    return [name for subject in sorted(found) for name in found[subject]]


def write_table(path: Path, points: Iterable[Point], forces: Sequence[str], names: Sequence[str]) -> None:
    """Write a line a run.

    Args:
        points: gone through once. forces: their columns of forces. names: of the metrics.
    """

    def write(partial: Path) -> None:
        with partial.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(_lines(points, forces, names))

    write_whole(path, write)


def _lines(points: Iterable[Point], forces: Sequence[str], names: Sequence[str]) -> Iterator[list[Any]]:
    head = True
    for point in points:
        if head:
            yield [*(name for name, _ in point.variant.values), *names, *forces, "reason"]
            head = False
        own = [point.forces.get(name) for name in forces]
        yield [*(value for _, value in point.variant.values), *point.metrics.values(), *own, point.reason]
