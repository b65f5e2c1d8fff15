"""A scenario over ranges of its options: combinations, drawn points or a list of them, at once, stored one by one.

A sweep's folder holds `sweep.json` (what it is of), a folder of each run that is kept, `outcomes.jsonl`, `sweep.nc`,
one dataset that grows, and in the end `sweep.csv`: one line a run, values first. A resumed sweep repeats only the
runs that are missing. A shard runs every n-th of them, with files of its own; merging the folders of all shards
writes the files of all.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from corekit.errors import ConfigError, Mistake, ResultsError
from corekit.files import read_regular, write_text_whole
from corekit.registry.resolve import did_you_mean
from corekit.scenario.load import load
from corekit.simulation.arguments import COUNT, FUNCTION, PATH, TEXT, TRUTH, Kind, check_arguments, or_none
from corekit_run.folder import STATUS
from corekit_run.json_file import read_json
from corekit_run.output_file import write_text, writing
from corekit_run.schedulers import PROCESSES, check_scheduler, open_scheduler
from corekit_study.arguments import INTEGER, LINES, lines
from corekit_study.batch import make_runs
from corekit_study.journal import OUTCOMES, Journal
from corekit_study.new_folder import new_folder
from corekit_study.points_file import read_points
from corekit_study.progress_display import ShowProgress
from corekit_study.run_task import KEEP
from corekit_study.sweep_files import SweepFiles
from corekit_study.sweep_runs import Asked, SweepRuns
from corekit_study.sweep_table import Point
from corekit_study.variants import check_overrides

__all__ = ["SWEEP", "Sweep", "merge", "resume", "sweep"]

SWEEP = "sweep.json"
"""Name of the file that makes a folder one of a sweep."""
_INSTANT: Kind = "a time [s]", lambda value: isinstance(value, int | float) and not isinstance(value, bool)


@frozen(eq=False)
class Sweep:
    """Every run in the given order; of a shard, its own."""

    title: str
    folder: Path
    points: Sequence[Point]

    def as_data(self) -> dict[str, Any]:
        """Return the sweep as JSON can hold it."""
        runs = [
            {
                "values": dict(point.variant.values), "folder": str(point.folder), "reason": point.reason,
                **point.metrics, **point.forces,
            }
            for point in self.points
        ]  # fmt: skip
        return {"title": self.title, "folder": str(self.folder), "runs": runs}


def sweep(
    file: str | Path,
    vary: str | Sequence[str] = (),
    overrides: str | Sequence[str] = (),
    directory: str | Path | None = None,
    progress: ShowProgress | None = None,
    workers: int | None = None,
    *,
    points: str | Path | None = None,
    samples: int | None = None,
    seed: int = 0,
    sampling: str = "latin",
    keep: str = "all",
    statics: bool = False,
    at: float | None = None,
    shard: tuple[int, int] | None = None,
    scheduler: str = PROCESSES,
    allow_code: bool = False,
) -> Sweep:
    """Run every combination of what is varied, drawn points, or those that a file lists.

    Args:
        file: the scenario, or the name of one that is shipped.
        vary: `path=value,value` as in `variants`, or `path=FROM:TO:COUNT` as `spread` does; with samples also
            `path=LOW:HIGH` as `draw` does.
        overrides: set in every run, as `--set` does.
        directory: where the runs go; if None, a new folder in `runs`.
        progress: shows how much is done. workers: as `jobs` of `corekit_run.schedulers.open_scheduler`.
        points: a CSV file in place of `vary`, see `read_points`.
        samples: points drawn in place of all combinations; seed, sampling: of their draw, see `draw`.
        keep: one of `KEEP`. A run that fails keeps its folder.
        statics: find equilibria in place of runs; at: their time [s], the end of the scenario if None.
        shard: (k, n): the k-th of n parts alone, counted from 1, in a directory that other parts may share.
        scheduler: where the runs are made, see `corekit_run.schedulers.open_scheduler`.
        allow_code: as for `corekit.load`; the folder does not keep it.
    Raises:
        ConfigError: what is varied cannot be read, or a scenario cannot be loaded; nothing is run then.
        ResultsError: the folder cannot be made or written.
    """
    check_arguments(
        "sweep", file=(file, PATH), vary=(vary, LINES), overrides=(overrides, LINES),
        directory=(directory, or_none(PATH)), progress=(progress, or_none(FUNCTION)),
        workers=(workers, or_none(COUNT)), points=(points, or_none(PATH)), samples=(samples, or_none(INTEGER)),
        seed=(seed, INTEGER), sampling=(sampling, TEXT), keep=(keep, TEXT), statics=(statics, TRUTH),
        at=(at, or_none(_INSTANT)), scheduler=(scheduler, TEXT), allow_code=(allow_code, TRUTH),
    )  # fmt: skip
    vary, overrides = lines(vary), lines(overrides)
    directory = None if directory is None else Path(directory)
    listed = () if points is None else read_points(Path(points))
    _check_choices(keep, vary, listed, at, statics=statics)
    check_overrides(vary or listed[0], overrides)
    check_scheduler(scheduler)
    asked = Asked(
        file=_place(file), vary=tuple(vary), points=listed, set=tuple(overrides), samples=samples, seed=seed,
        sampling=sampling, keep=keep, statics=statics, at=at,
    )  # fmt: skip
    ready = _Ready(asked, shard, allow_code=allow_code)
    ready.runs.check()  # mistakes are reported before there is a folder
    if shard is not None and directory is not None:
        folder = _shared_folder(directory, asked.text())
    else:
        folder = new_folder(f"{ready.title}-sweep", ready.parent, directory)
        write_text(folder / SWEEP, asked.text())
    return ready.make(folder, progress, workers, scheduler)


def _check_choices(
    keep: str, vary: Sequence[str], points: Sequence[Sequence[str]], at: float | None, *, statics: bool
) -> None:
    mistakes: list[Mistake] = []
    if keep not in KEEP:
        mistakes.append(
            Mistake("--keep", keep, f"must be one of {', '.join(KEEP)}{did_you_mean(keep, KEEP)}")
        )
    if bool(vary) == bool(points):
        found = "both" if vary else "neither"
        mistakes.append(Mistake("--vary", found, "give --vary, or a file of points by --points"))
    if at is not None and not statics:
        mistakes.append(Mistake("--at", at, "is the time of an equilibrium: give --statics beside it"))
    if mistakes:
        raise ConfigError(mistakes, "the sweep")


def resume(
    folder: str | Path,
    progress: ShowProgress | None = None,
    workers: int | None = None,
    *,
    shard: tuple[int, int] | None = None,
    scheduler: str = PROCESSES,
    allow_code: bool = False,
) -> Sweep:
    """Run what a sweep's folder does not store yet, and write its table; arguments as for `sweep`.

    Raises:
        ResultsError: the folder is none of a sweep. ConfigError: its scenario cannot be loaded any more.
    """
    check_arguments(
        "resume", folder=(folder, PATH), progress=(progress, or_none(FUNCTION)), workers=(workers, or_none(COUNT)),
        scheduler=(scheduler, TEXT), allow_code=(allow_code, TRUTH),
    )  # fmt: skip
    folder = Path(folder)
    check_scheduler(scheduler)
    ready = _Ready(_asked(folder), shard, allow_code=allow_code)
    return ready.make(folder, progress, workers, scheduler)


def merge(folder: str | Path, others: Sequence[str | Path] = (), *, allow_code: bool = False) -> Sweep:
    """Write the table and the dataset of a sweep whose shards have been run.

    Args:
        folder: that the shards shared, or the one of them that takes the others in.
        others: folders of shards that were run elsewhere; what they hold is copied into `folder`.
        allow_code: as for `sweep`.
    Raises:
        ResultsError: a folder is of another sweep, or runs are missing; it says which, and nothing is run.
    """
    check_arguments("merge", folder=(folder, PATH), allow_code=(allow_code, TRUTH))
    folder = Path(folder)
    asked = _asked(folder)
    for other in map(Path, others):
        if _asked(other) != asked:
            raise ResultsError(f"{other} is of another sweep than {folder}: their {SWEEP} differ")
    for other in map(Path, others):
        _take_in(folder, other)
    ready = _Ready(asked, None, allow_code=allow_code)
    return ready.collect(folder)


def _take_in(folder: Path, other: Path) -> None:
    """Copy outcomes and folders of runs of a shard."""
    stem, ending = OUTCOMES.split(".")
    with writing(folder):
        for path in sorted(other.iterdir()):
            target = folder / path.name
            if path.is_symlink() or target.exists():
                if path.match(f"{stem}*.{ending}") and read_regular(path) != read_regular(target):
                    raise ResultsError(f"{target} and {path} are of one shard and differ: keep one of them")
            elif path.match(f"{stem}*.{ending}"):
                shutil.copyfile(path, target)
            elif (path / STATUS).is_file():
                shutil.copytree(path, target, symlinks=True)


def _asked(folder: Path) -> Asked:
    if not (folder / SWEEP).is_file():
        raise ResultsError(_no_sweep(folder))
    try:
        return Asked.of(read_json(folder / SWEEP))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ResultsError(f"{folder / SWEEP} does not say what the sweep is of: {error}") from error


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
    """The runs of a sweep or of one of its shards.

    Attributes:
        runs: of the whole sweep. title: name of the scenario. parent: where folders of its runs go.
    Raises:
        ConfigError: the scenario cannot be loaded, or what is varied not read.
    """

    def __init__(self, asked: Asked, shard: tuple[int, int] | None, *, allow_code: bool) -> None:
        first, parts = shard or (1, 1)
        if not 1 <= first <= parts:
            said = "must be K/N, the K-th of N parts, for example 2/8"
            raise ConfigError([Mistake("--shard", f"{first}/{parts}", said)], "the sweep")
        scenario = load(asked.file, asked.set, allow_code=allow_code)
        self.title, self.parent = scenario.name, Path(scenario.output.directory)
        self.runs = SweepRuns(asked, scenario, allow_code=allow_code)
        if first > len(self.runs):
            said = f"must be one of at most {len(self.runs)} parts, of which each has a run"
            raise ConfigError([Mistake("--shard", f"{first}/{parts}", said)], "the sweep")
        self._asked = asked
        self._part = "" if shard is None else f"{first}-of-{parts}"
        self._words = "" if shard is None else f" --shard {first}/{parts}"
        self._own = range(first - 1, len(self.runs), parts)

    def make(self, folder: Path, progress: ShowProgress | None, workers: int | None, scheduler: str) -> Sweep:
        """Run what is missing, and write the table."""
        go_on = f"corekit sweep --resume {folder}{self._words}"
        journal = Journal(folder, self._part)
        files = self._files(folder, journal)
        left = sum(not journal.holds(self.runs.names[k], self.runs.digest(k)) for k in self._own)
        tasks = (self.runs.task(k) for k in self._own)
        try:
            with open_scheduler(scheduler, workers, most=left) as opened:
                make_runs(tasks, len(self._own), folder, journal, opened, progress, files.publish_if_due)
        except (KeyboardInterrupt, ResultsError) as stop:
            stop.add_note(f"Runs that have ended are stored in {folder}. To go on: {go_on}")
            raise
        files.write(go_on)
        return Sweep(self.title, folder, files.points)

    def collect(self, folder: Path) -> Sweep:
        """Write the table of runs that have been made.

        Raises:
            ResultsError: some are missing.
        """
        journal = Journal(folder)
        missing = [
            name for k, name in enumerate(self.runs.names) if not journal.holds(name, self.runs.digest(k))
        ]
        if missing:
            listed = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
            raise ResultsError(
                f"{folder} lacks {len(missing)} of {len(self.runs)} runs: {listed}. Give --merge the folders of the "
                f"other shards, or make the runs: corekit sweep --resume {folder}"
            )
        files = self._files(folder, journal)
        files.write(f"corekit sweep --merge {folder}")
        return Sweep(self.title, folder, files.points)

    def _files(self, folder: Path, journal: Journal) -> SweepFiles:
        return SweepFiles(folder, self._part, self.runs, self._own, journal, self._asked.metrics, self.title)


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
