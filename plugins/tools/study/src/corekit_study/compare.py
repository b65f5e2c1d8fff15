"""One scenario run with other components or numbers, and the runs compared by metrics and trajectories.

A combination that cannot work and a run that fails are results too: they keep their row, with the reason.
Runs follow one another, so that their times can be compared, unless a scheduler makes them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array
from corekit.errors import CorekitError
from corekit.roles.viewer import Line, LineChart, Panel
from corekit.scenario.load import load
from corekit.simulation.arguments import COUNT, FUNCTION, PATH, TEXT, TRUTH, check_arguments, or_none
from corekit_record.results import Results
from corekit_record.step_error import StepError
from corekit_run.schedulers import check_scheduler
from corekit_study.arguments import LINES, lines
from corekit_study.measured_runs import MeasuredRun, MeasureTask, measure
from corekit_study.new_folder import new_folder
from corekit_study.progress_display import ShowProgress, no_display
from corekit_study.variants import Variant, check_overrides, variants

__all__ = ["Comparison", "Row", "RunMetrics", "Trajectory", "compare", "tip_difference"]


@frozen
class RunMetrics:
    """Numbers by which a finished run is compared.

    Args:
        step_s: median wall time of a step [s], None if the run was too short.
        deepest_penetration: over all steps and contacts [m].
        final_energy: kinetic and potential, of all bodies at the last record [J]; nan without the ability.
        contact_impulse: Σ over steps and contacts of the normal impulse [N·s].
        steps: how many. solved: share of them whose solve met its tolerance, 0 to 1.
        worst_residual: largest physical residual [m/s, N·s or N·m·s].
        watchdog: what it found, by kind, as the log's last line has it.
        tip_difference: largest distance from the first finished run's tip [m], None for that run itself.
        step_error: how far the run is off because of its step, None where that was not asked for.
    """

    step_s: float | None
    deepest_penetration: float
    final_energy: float
    contact_impulse: float
    steps: int
    solved: float
    worst_residual: float
    watchdog: dict[str, Any]
    tip_difference: float | None = None
    step_error: StepError | None = None


@frozen(eq=False)
class Trajectory:
    """Path of `Results.tip`: time [s], shape (T,), position in the world [m], shape (T, 3), and its frame."""

    time: Array
    tip: Array
    frame: str = ""


@frozen(eq=False)
class Row:
    """One combination: `finished` with metrics and trajectory, `refused` or `failed` with a reason, maybe of lines."""

    variant: Variant
    status: str
    reason: str = ""
    folder: Path | None = None
    metrics: RunMetrics | None = None
    trajectory: Trajectory | None = None


@frozen(eq=False)
class Comparison:
    """Every combination in the given order, in one folder."""

    title: str
    folder: Path
    rows: tuple[Row, ...]

    @property
    def tips(self) -> tuple[str, ...]:
        """The frames whose paths are compared, each once."""
        return tuple(dict.fromkeys(row.trajectory.frame for row in self.rows if row.trajectory is not None))

    @property
    def chart(self) -> LineChart | None:
        """Coordinates of the tips over time, one panel each; None if no run finished."""
        drawn = [(row.variant.label, row.trajectory) for row in self.rows if row.trajectory is not None]
        if not drawn:
            return None
        panels = tuple(
            Panel(
                "t [s]",
                f"tip {axis} [m]",
                tuple(Line(label, each.time, each.tip[:, k]) for label, each in drawn),
            )
            for k, axis in enumerate("xyz")
        )
        return LineChart(self.title, panels)

    def as_data(self) -> dict[str, Any]:
        """Return everything but the trajectories, as JSON can hold it."""
        return {
            "title": self.title,
            "folder": str(self.folder),
            "rows": [_row_data(row) for row in self.rows],
        }


def compare(
    file: str | Path,
    vary: str | Sequence[str],
    overrides: str | Sequence[str] = (),
    directory: str | Path | None = None,
    progress: ShowProgress | None = None,
    *,
    allow_code: bool = False,
    error: bool = False,
    scheduler: str = "",
    workers: int | None = None,
) -> Comparison:
    """Run every combination of what is varied, one after the other, or where a scheduler makes them at once.

    Args:
        file: the scenario, or the name of one that is shipped.
        vary: see `variants`. overrides: set in every run, as `--set` does.
        directory: where the runs go; if None, a new folder in `runs`.
        progress: shows each run.
        allow_code: as for `corekit.load`.
        error: whether each is run once more with half of its step, to say how far it is off because of it.
        scheduler: as for `corekit_study.sweep.sweep`; empty: one after the other, so that their times can be compared.
        workers: as for `sweep`, with a scheduler.
    Raises:
        ConfigError: `vary` cannot be read, or there is no such file.
        ResultsError: the folder cannot be made.
    """
    check_arguments(
        "compare", file=(file, PATH), vary=(vary, LINES), overrides=(overrides, LINES),
        directory=(directory, or_none(PATH)), progress=(progress, or_none(FUNCTION)), allow_code=(allow_code, TRUTH),
        error=(error, TRUTH), scheduler=(scheduler or "none", TEXT), workers=(workers, or_none(COUNT)),
    )  # fmt: skip
    if scheduler:
        check_scheduler(scheduler)
    vary, overrides = lines(vary), lines(overrides)
    chosen = variants(vary)
    check_overrides(vary, overrides)
    title, parent = _about(file)
    folder = new_folder(f"{title}-compare", parent, None if directory is None else Path(directory))
    runs = [
        MeasureTask(
            label=f"{number}/{len(chosen)} {variant.label}", file=str(file), overrides=(*overrides, *variant.overrides),
            folder=folder / f"{number:02d}-{variant.slug}", allow_code=allow_code, error=error,
        )
        for number, variant in enumerate(chosen, start=1)
    ]  # fmt: skip
    rows: dict[int, Row] = {}
    try:
        for k, found in measure(runs, progress or no_display, scheduler, workers):
            rows[k] = _row(chosen[k], found)
    except KeyboardInterrupt as stop:
        stop.add_note(f"{len(rows)} of {len(chosen)} runs had ended: {folder}. A comparison begins anew.")
        raise
    return Comparison(title, folder, _with_tip_differences([rows[k] for k in range(len(chosen))]))


def tip_difference(first: Trajectory, other: Trajectory) -> float:
    """Return the largest distance of two tips [m] at the first one's records, while both runs last; nan if never."""
    begin, end = max(first.time[0], other.time[0]), min(first.time[-1], other.time[-1])
    # records of runs with other steps may differ in the last digit
    slack = 1e-9 * max(1.0, abs(end))
    common = (first.time >= begin - slack) & (first.time <= end + slack)
    if not common.any():
        return float("nan")
    there = np.stack([np.interp(first.time[common], other.time, other.tip[:, k]) for k in range(3)], axis=1)
    return float(np.max(np.linalg.norm(there - first.tip[common], axis=1)))


def _about(file: str | Path) -> tuple[str, Path]:
    """Name of the scenario, and the folder for its runs; of its file where it cannot be loaded as it is."""
    try:
        scenario = load(file)
    except CorekitError:
        # the file may name a plugin that is not installed, and the variants others that are
        if not Path(file).is_file():
            raise
        return Path(file).stem, Path("runs")
    return scenario.name, Path(scenario.output.directory)


def _row(variant: Variant, found: MeasuredRun) -> Row:
    if found.status == "refused":
        return Row(variant, "refused", found.reason)
    if found.status == "failed":
        return Row(variant, "failed", found.reason, found.folder if found.folder.exists() else None)
    results = Results(found.folder)
    off = None if found.step_error is None else StepError(**found.step_error)
    metrics = evolve(_run_metrics(results, found), step_error=off)
    return Row(variant, "finished", folder=found.folder, metrics=metrics, trajectory=_trajectory(results))


def _trajectory(results: Results) -> Trajectory | None:
    tip = None if "frames" in results.left_out else results.tip
    return (
        None if tip is None else Trajectory(results.time, results.frame_position[:, tip], results.frames[tip])
    )


def _run_metrics(results: Results, found: MeasuredRun) -> RunMetrics:
    said = results.statistics
    finished = next((event for event in reversed(results.events) if event["event"] == "finished"), {})
    step_s, steps = finished.get("step_s"), int(said["steps"])
    if step_s is not None and steps:
        # what counting impulses took is not the run's
        step_s = max(0.0, step_s - found.spent_s / steps)
    return RunMetrics(
        step_s=step_s,
        deepest_penetration=float(said["deepest_penetration_m"]),
        final_energy=math.nan if "energies" in results.left_out else float(results.energy.total[-1]),
        contact_impulse=found.contact_impulse,
        steps=steps,
        solved=1.0 - said["unsolved_steps"] / steps if steps else float("nan"),
        worst_residual=float(said["worst_residual"]),
        watchdog=dict(finished.get("watchdog", {})),
    )


def _with_tip_differences(rows: Sequence[Row]) -> tuple[Row, ...]:
    first: Trajectory | None = None
    made: list[Row] = []
    for row in rows:
        if row.trajectory is None or row.metrics is None:
            made.append(row)
        elif first is None:
            first = row.trajectory
            made.append(row)
        else:
            away = tip_difference(first, row.trajectory)
            made.append(evolve(row, metrics=evolve(row.metrics, tip_difference=away)))
    return tuple(made)


def _row_data(row: Row) -> dict[str, Any]:
    metrics = row.metrics
    data: dict[str, Any] = {
        "values": dict(row.variant.values),
        "status": row.status,
        "reason": row.reason,
        "folder": None if row.folder is None else str(row.folder),
    }
    if row.trajectory is not None:
        data["tip_frame"] = row.trajectory.frame
    if metrics is not None:
        data |= {
            "step_s": metrics.step_s,
            "deepest_penetration_m": metrics.deepest_penetration,
            # nan is no JSON
            "final_energy_J": metrics.final_energy if np.isfinite(metrics.final_energy) else None,
            "contact_impulse_Ns": metrics.contact_impulse,
            "steps": metrics.steps,
            "solved": metrics.solved,
            "worst_residual": metrics.worst_residual if np.isfinite(metrics.worst_residual) else None,
            "tip_difference_m": metrics.tip_difference,
            "watchdog": metrics.watchdog,
            "step_error": None if metrics.step_error is None else metrics.step_error.as_data(),
        }
    return data
