"""A scenario over ranges of its options: every combination or random points, on every core, stored one by one.

A sweep's folder holds `sweep.json` (its axes and options), one folder a run, `outcomes.jsonl` and, in the end,
`sweep.csv`: one line a run, values first. A resumed sweep repeats only the runs that are missing. A shard runs every
n-th of them, with outcomes and table of its own; resuming a folder with those of all shards writes the table of all.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, frozen

from corekit.errors import ConfigError, Mistake, ResultsError
from corekit.files import read_regular, write_text_whole, write_whole
from corekit.scenario.load import load
from corekit.simulation.arguments import COUNT, FUNCTION, PATH, TRUTH, check_arguments, or_none
from corekit_run.folder import STATUS
from corekit_run.json_file import read_json
from corekit_run.output_file import write_text, writing
from corekit_study.arguments import INTEGER, LINES, lines
from corekit_study.batch import END, OUTCOMES, Job, Outcome, prepare, run_prepared
from corekit_study.new_folder import new_folder
from corekit_study.progress_display import ShowProgress
from corekit_study.sampling import draw
from corekit_study.variants import Variant, check_overrides, spread, variants

__all__ = ["METRICS", "SWEEP", "Point", "Sweep", "resume", "sweep"]

SWEEP = "sweep.json"
"""Name of the file that makes a folder one of a sweep."""
METRICS = (
    "status", "wall_s", "completed", "steps", "unsolved_steps", "deepest_penetration_m", "worst_residual", *END,
)  # fmt: skip
"""Columns after the values."""
KEEP = ("runs", "table")
"""What a sweep keeps of runs that finished: their folders, or the line in its table alone."""


@frozen(kw_only=True)
class _SweepOptions:
    """What a sweep is of, as `SWEEP` holds it; arguments of `sweep`."""

    file: str
    vary: tuple[str, ...]
    set: tuple[str, ...]
    samples: int | None = None
    seed: int = 0
    keep: str = "runs"

    def variants(self) -> list[Variant]:
        """Return every run's values, in order."""
        if self.samples is None:
            return variants([spread(text) for text in self.vary])
        return draw(self.vary, self.samples, self.seed)


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
    """Every run in the given order; of a shard, its own."""

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
    vary: str | Sequence[str],
    overrides: str | Sequence[str] = (),
    directory: str | Path | None = None,
    progress: ShowProgress | None = None,
    workers: int | None = None,
    *,
    samples: int | None = None,
    seed: int = 0,
    keep: str = "runs",
    shard: tuple[int, int] | None = None,
    allow_code: bool = False,
) -> Sweep:
    """Run every combination of what is varied, or random points.

    Args:
        file: the scenario, or the name of one that is shipped.
        vary: `path=value,value` as in `variants`, or `path=FROM:TO:COUNT` as `spread` does; with samples also
            `path=LOW:HIGH` as `draw` does.
        overrides: set in every run, as `--set` does.
        directory: where the runs go; if None, a new folder in `runs`.
        progress: shows how much is done. workers: see `run_batch`.
        samples: random points in place of all combinations; seed: of their draw.
        keep: one of `KEEP`. A run that fails keeps its folder.
        shard: (k, n): the k-th of n parts alone, counted from 1, in a directory that other parts may share.
        allow_code: as for `corekit.load`; the folder does not keep it.
    Raises:
        ConfigError: `vary` cannot be read, or a scenario cannot be loaded; nothing is run then.
        ResultsError: the folder cannot be made or written.
    """
    check_arguments(
        "sweep", file=(file, PATH), vary=(vary, LINES), overrides=(overrides, LINES),
        directory=(directory, or_none(PATH)), progress=(progress, or_none(FUNCTION)),
        workers=(workers, or_none(COUNT)), samples=(samples, or_none(INTEGER)), seed=(seed, INTEGER),
        allow_code=(allow_code, TRUTH),
    )  # fmt: skip
    vary, overrides = lines(vary), lines(overrides)
    directory = None if directory is None else Path(directory)
    if keep not in KEEP:
        raise ConfigError([Mistake("--keep", keep, f"must be one of {', '.join(KEEP)}")], "the sweep")
    check_overrides(vary, overrides)
    scenario = load(file, overrides)
    asked = _SweepOptions(
        file=_place(file), vary=tuple(vary), set=tuple(overrides), samples=samples, seed=seed, keep=keep
    )
    ready = _Ready(asked, shard, allow_code=allow_code)  # mistakes are reported before there is a folder
    text = json.dumps(asdict(asked), indent=2, ensure_ascii=False) + "\n"
    if shard is not None and directory is not None:
        folder = _shared_folder(directory, text)
    else:
        folder = new_folder(f"{scenario.name}-sweep", Path(scenario.output.directory), directory)
        write_text(folder / SWEEP, text)
    return ready.run(folder, progress, workers)


def resume(
    folder: str | Path,
    progress: ShowProgress | None = None,
    workers: int | None = None,
    *,
    shard: tuple[int, int] | None = None,
    allow_code: bool = False,
) -> Sweep:
    """Run what a sweep's folder does not store yet, and write its table; arguments as for `sweep`.

    Raises:
        ResultsError: the folder is none of a sweep. ConfigError: its scenario cannot be loaded any more.
    """
    check_arguments(
        "resume", folder=(folder, PATH), progress=(progress, or_none(FUNCTION)), workers=(workers, or_none(COUNT)),
        allow_code=(allow_code, TRUTH),
    )  # fmt: skip
    folder = Path(folder)
    if not (folder / SWEEP).is_file():
        raise ResultsError(_no_sweep(folder))
    try:
        said = read_json(folder / SWEEP)
        samples = said.get("samples")
        asked = _SweepOptions(
            file=str(said["file"]),
            vary=tuple(map(str, said["vary"])),
            set=tuple(map(str, said["set"])),
            samples=None if samples is None else int(samples),
            seed=int(said.get("seed", 0)),
            keep=str(said.get("keep", "runs")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"{folder / SWEEP} does not say what the sweep is of: {error}") from error
    return _Ready(asked, shard, allow_code=allow_code).run(folder, progress, workers)


def _no_sweep(folder: Path) -> str:
    """Say why a folder without `SWEEP` is none of a sweep, and what goes on with it."""
    if not folder.is_dir():
        return f"cannot go on with the sweep in {folder}: the folder is not there"
    lacks = f"{folder} is not the folder of a sweep: it holds no {SWEEP}"
    if (folder / STATUS).exists():
        return f"{lacks}. It is the folder of a run: corekit run --resume {folder}"
    if (folder.parent / SWEEP).is_file():
        return f"{lacks}. Its parent does: corekit sweep --resume {folder.parent}"
    return f"{lacks}. Give the folder that `corekit sweep` printed"


class _Ready:
    """The runs of a sweep or of one of its shards, each loaded once.

    Raises:
        ConfigError: one cannot be loaded.
    """

    def __init__(self, asked: _SweepOptions, shard: tuple[int, int] | None, *, allow_code: bool) -> None:
        first, parts = shard or (1, 1)
        if not 1 <= first <= parts:
            said = "must be K/N, the K-th of N parts, for example 2/8"
            raise ConfigError([Mistake("--shard", f"{first}/{parts}", said)], "the sweep")
        self.asked, self.suffix = asked, "" if shard is None else f"-{first}-of-{parts}"
        self.part = "" if shard is None else f" --shard {first}/{parts}"
        chosen = asked.variants()
        if first > len(chosen):
            said = f"must be one of at most {len(chosen)} parts, of which each has a run"
            raise ConfigError([Mistake("--shard", f"{first}/{parts}", said)], "the sweep")
        digits = len(str(len(chosen)))
        self.variants = {
            f"{number:0{digits}d}-{variant.slug}": variant
            for number, variant in enumerate(chosen, start=1)
            if number % parts == first % parts
        }
        self.prepared = prepare(
            [
                Job(
                    name=name, scenario=asked.file, overrides=(*asked.set, *variant.overrides),
                    allow_code=allow_code, keep=asked.keep == "runs",
                )
                for name, variant in self.variants.items()
            ]
        )  # fmt: skip

    def run(self, folder: Path, progress: ShowProgress | None, workers: int | None) -> Sweep:
        """Run what is missing, and write the table."""
        stem, ending = OUTCOMES.split(".")
        go_on = f"corekit sweep --resume {folder}{self.part}"
        try:
            outcomes = run_prepared(
                self.prepared, folder, progress, workers, outcomes=f"{stem}{self.suffix}.{ending}"
            )
        except (KeyboardInterrupt, ResultsError) as stop:
            stop.add_note(f"Runs that have ended are stored in {folder}. To go on: {go_on}")
            raise
        points = tuple(_point(folder, self.variants[name], outcomes[name]) for name in self.variants)
        with writing(folder, f"All outcomes are stored; the table is written by {go_on}."):
            _write_table(folder / f"sweep{self.suffix}.csv", points)
        return Sweep(load(self.asked.file, self.asked.set).name, folder, points)


def _shared_folder(folder: Path, text: str) -> Path:
    """Return a folder that other shards of this sweep may make, or have made, at the same time."""
    own = folder / SWEEP
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not own.exists():
            write_text_whole(own, text)
        if read_regular(own) == text.encode():
            return folder
    except OSError as error:
        raise ResultsError(f"cannot write to the folder {folder}: {error.strerror}") from error
    raise ResultsError(f"{folder} is of another sweep: give the shards of this one another folder")


def _place(file: str | Path) -> str:
    """Return a file's whole path, so that the sweep can be resumed from anywhere; the name of a shipped one."""
    return str(Path(file).resolve()) if Path(file).is_file() else str(file)


def _point(folder: Path, variant: Variant, outcome: Outcome) -> Point:
    said = outcome.statistics
    metrics: dict[str, Any] = {name: said.get(name) for name in METRICS}
    metrics |= {
        "status": "failed" if outcome.error else "finished", "wall_s": outcome.wall_s,
        "completed": outcome.completed,
    }  # fmt: skip
    return Point(variant, folder / outcome.name, " ".join(outcome.error.split()), metrics)


def _write_table(path: Path, points: Sequence[Point]) -> None:
    def write(partial: Path) -> None:
        with partial.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(_lines(points))

    write_whole(path, write)


def _lines(points: Sequence[Point]) -> Iterator[list[Any]]:
    yield [*(name for name, _ in points[0].variant.values), *METRICS, "reason"]
    for point in points:
        yield [*(value for _, value in point.variant.values), *point.metrics.values(), point.reason]
