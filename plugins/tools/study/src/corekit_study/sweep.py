"""A scenario over ranges of its options: every combination run, on every core, each stored as soon as it is done.

A sweep's folder holds `sweep.json` (what was asked for), one folder a run, `outcomes.jsonl` and, in the end,
`sweep.csv`: one line a run, values first. A resumed sweep repeats only the runs that are missing.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from corekit.errors import ConfigError, Mistake, ResultsError
from corekit.scenario.load import load
from corekit_record.results import Results
from corekit_study.batch import Job, Outcome, run_batch
from corekit_study.new_folder import new_folder
from corekit_study.progress_display import ShowProgress
from corekit_study.variants import MOST_RUNS, Variant, variants

__all__ = ["METRICS", "SWEEP", "Point", "Sweep", "resume", "spread", "sweep"]

SWEEP = "sweep.json"
"""Name of the file that makes a folder one of a sweep."""
METRICS = (
    "status", "wall_s", "completed", "steps", "unsolved_steps", "deepest_penetration_m", "worst_residual",
    "energy_J", "tip_x_m", "tip_y_m", "tip_z_m",
)  # fmt: skip
"""Columns after the values: the last five are of the end, of all bodies and of the last frame."""


@frozen(eq=False)
class Point:
    """One run of a sweep.

    Args:
        variant: its values. folder: of the run. reason: why it did not finish, empty if it did.
        metrics: under the names of `METRICS`, None where there is none.
    """

    variant: Variant
    folder: Path
    reason: str
    metrics: dict[str, Any]


@frozen(eq=False)
class Sweep:
    """Every run in the given order."""

    title: str
    folder: Path
    points: tuple[Point, ...]

    def as_data(self) -> dict[str, Any]:
        """Return the sweep as JSON can hold it."""
        runs = [
            {
                "values": dict(point.variant.values), "folder": str(point.folder), "reason": point.reason,
                **point.metrics,
            }
            for point in self.points
        ]  # fmt: skip
        return {"title": self.title, "folder": str(self.folder), "runs": runs}


def sweep(
    file: str | Path,
    vary: Sequence[str],
    overrides: Sequence[str] = (),
    directory: Path | None = None,
    progress: ShowProgress | None = None,
    workers: int | None = None,
    *,
    allow_code: bool = False,
) -> Sweep:
    """Run every combination of what is varied.

    Args:
        file: the scenario, or the name of one that is shipped.
        vary: `path=value,value` as `variants` takes it, or `path=FROM:TO:COUNT` as `spread` does.
        overrides: set in every run, as `--set` does.
        directory: where the runs go; if None, a new folder in `runs`.
        progress: shows how much is done. workers: see `run_batch`.
        allow_code: as for `corekit.load`; the folder does not keep it.
    Raises:
        ConfigError: `vary` cannot be read, or a scenario cannot be loaded; nothing is run then.
        ResultsError: the folder cannot be made or written.
    """
    scenario = load(file, overrides)
    for variant in variants([spread(text) for text in vary]):
        load(file, (*overrides, *variant.overrides))  # mistakes are reported before there is a folder
    folder = new_folder(f"{scenario.name}-sweep", Path(scenario.output.directory), directory)
    inputs = {"file": _place(file), "vary": list(vary), "set": list(overrides)}
    (folder / SWEEP).write_text(json.dumps(inputs, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return resume(folder, progress, workers, allow_code=allow_code)


def resume(
    folder: Path,
    progress: ShowProgress | None = None,
    workers: int | None = None,
    *,
    allow_code: bool = False,
) -> Sweep:
    """Run what a sweep's folder does not store yet, and write its table; arguments as for `sweep`.

    Raises:
        ResultsError: the folder is none of a sweep. ConfigError: its scenario cannot be loaded any more.
    """
    try:
        inputs = json.loads((folder / SWEEP).read_text(encoding="utf-8"))
        file, vary, overrides = str(inputs["file"]), list(inputs["vary"]), list(inputs["set"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultsError(f"{folder / SWEEP} does not say what the sweep is of: {error}") from error
    chosen = variants([spread(text) for text in vary])
    digits = len(str(len(chosen)))
    jobs = {
        f"{number:0{digits}d}-{variant.slug}": Job(
            name=f"{number:0{digits}d}-{variant.slug}", scenario=file,
            overrides=(*overrides, *variant.overrides), allow_code=allow_code,
        )
        for number, variant in enumerate(chosen, start=1)
    }  # fmt: skip
    outcomes = run_batch(list(jobs.values()), folder, progress, workers)
    points = tuple(
        _point(folder, variant, outcomes[name]) for variant, name in zip(chosen, jobs, strict=True)
    )
    _write_table(folder / "sweep.csv", points)
    return Sweep(load(file, overrides).name, folder, points)


def spread(text: str) -> str:
    """Expand `path=FROM:TO:COUNT` into equally spaced values, `path=FROM:TO:COUNT:log` into values by equal factors.

    Any other text is returned as it is.

    Raises:
        ConfigError: a range that is none: fewer than two values, equal ends, or by factors through zero.
    """
    path, _, rest = text.partition("=")
    words = rest.split(":")
    if len(words) not in (3, 4) or (len(words) == 4 and words[3].strip() != "log"):
        return text
    try:
        begin, end, count = float(words[0]), float(words[1]), int(words[2])
    except ValueError:
        return text
    by_factors = len(words) == 4
    if count < 2 or begin == end or (by_factors and begin * end <= 0.0):
        said = (
            "must be FROM:TO:COUNT of two values or more, with :log of one sign, for example 1e-4:1e-2:5:log"
        )
        raise ConfigError([Mistake("--vary", text, said)], "the sweep")
    if count > MOST_RUNS:
        raise ConfigError([Mistake("--vary", text, f"must be of at most {MOST_RUNS} values")], "the sweep")
    values = np.geomspace(begin, end, count) if by_factors else np.linspace(begin, end, count)
    return f"{path}=" + ",".join(f"{value:.12g}" for value in values)


def _place(file: str | Path) -> str:
    """Return a file's whole path, so that the sweep can be resumed from anywhere; the name of a shipped one."""
    return str(Path(file).resolve()) if Path(file).is_file() else str(file)


def _point(folder: Path, variant: Variant, outcome: Outcome) -> Point:
    said = outcome.statistics
    metrics: dict[str, Any] = dict.fromkeys(METRICS)
    metrics |= {
        "status": "failed" if outcome.error else "finished", "wall_s": outcome.wall_s,
        "completed": outcome.completed,
    }  # fmt: skip
    metrics |= {name: said.get(name) for name in METRICS[3:7]}
    own = folder / outcome.name
    if not outcome.error:
        results = Results(own)
        metrics["energy_J"] = _finite(results.energy.total[-1])
        if results.frames:
            tip = results.frame_position[-1, -1]
            metrics |= {f"tip_{axis}_m": _finite(value) for axis, value in zip("xyz", tip, strict=True)}
    return Point(variant, own, " ".join(outcome.error.split()), metrics)


def _finite(value: Any) -> float | None:
    """Return a number as JSON can hold it."""
    return float(value) if np.isfinite(value) else None


def _write_table(path: Path, points: Sequence[Point]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(_lines(points))


def _lines(points: Sequence[Point]) -> Iterator[list[Any]]:
    yield [*(name for name, _ in points[0].variant.values), *METRICS, "reason"]
    for point in points:
        yield [*(value for _, value in point.variant.values), *point.metrics.values(), point.reason]
