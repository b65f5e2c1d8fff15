"""Checkpoints: everything a run needs to go on bit for bit, in one file without pickle, written whole.

Observers flush what they recorded before a checkpoint is written: a kill between the two leaves a recorder with a few
records too many, never one too few. After writing one, the live run restores its own internal state from it, so that a
component loses here whatever it would lose in a resumed run: the uninterrupted run and the resumed one are equal,
wherever a kill falls. The clock decides when one is written; the instants change nothing, because restoring one's own
internal state changes nothing.

    scenario            the resolved scenario as TOML, and its SHA-256
    versions            kernel and plugins as JSON
    memory/PATH/NAME    arrays of `Simulation.internal_state()`
    run/OBSERVER/NAME   arrays of `RunObserver.internal_state()`
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import time as clock
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.array_file import read_arrays, write_arrays
from corekit.errors import PluginError, ResultsError
from corekit.files import PATIENCE
from corekit.simulation.loop import Simulation
from corekit_run.observers import Arrays, Runnable, RunObservers
from corekit_run.versions import decisive, version_differences

__all__ = [
    "Checkpoint",
    "CheckpointKeeper",
    "check_same_controllers",
    "check_same_scenario",
    "check_same_versions",
    "checkpoint_files",
    "newest_checkpoint",
    "read_checkpoint",
]

FORMAT = "corekit-checkpoint/1"
KEEP = 2
"""Checkpoints kept: the newest, and the one before it in case the disk loses the newest."""

_EVERY = 1.0
"""Wall time between checkpoints [s], longer where they are slow: they may take 2 % of the time."""
_SHARE = 0.02
_ABSENT = object()
_LONGEST = 60
"""Characters of a value that an error shows."""


@frozen(eq=False)
class Checkpoint:
    """A simulation and its observers, between two grid steps.

    Args:
        scenario: resolved, as TOML.
        versions: of the kernel (`corekit`) and of the plugins, by distribution.
        memory: of the simulation. run: of its observers, names begin with theirs.
    """

    scenario: str
    versions: Mapping[str, str]
    memory: Arrays
    run: Arrays

    @property
    def step(self) -> int:
        """Grid steps done."""
        return int(self.memory["step_index"])

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return float(self.memory["time"])

    def write(self, path: Path) -> None:
        """Write it whole: every reader of `path` finds a complete file, even if this process is killed.

        Raises:
            ResultsError: the disk is full or the folder has gone; what was at `path` before is still there.
            PluginError: a component remembers something that is not a plain array.
        """
        arrays: dict[str, np.ndarray[Any, Any]] = {
            "format": np.array(FORMAT),
            "scenario": np.array(self.scenario),
            "scenario_sha256": np.array(_digest(self.scenario)),
            "versions": np.array(json.dumps(dict(self.versions))),
            **{f"memory/{name}": np.asarray(array) for name, array in self.memory.items()},
            **{f"run/{name}": np.asarray(array) for name, array in self.run.items()},
        }
        for name, array in arrays.items():
            if array.dtype.hasobject:
                raise PluginError(
                    f"{name.partition('/')[2]!r} is remembered as {array.dtype}: a memory is made of plain arrays"
                )

        try:
            write_arrays(path, arrays)
        except OSError as error:
            raise ResultsError(f"cannot write {path}: {error.strerror or error}.{_advice(error)}") from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _advice(error: OSError) -> str:
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return " Make room, then go on with `corekit run --resume DIR`." if full else ""


def read_checkpoint(path: Path) -> Checkpoint:
    """Read the checkpoint in a file.

    Raises:
        ResultsError: it is missing, cut, damaged, or something else.
    """
    if not path.is_file():
        raise ResultsError(f"there is no checkpoint {path}")
    try:
        if not zipfile.is_zipfile(path):
            raise ResultsError(
                f"{path} is not a whole checkpoint: it is cut short, or something else wrote it"
            )
        arrays = read_arrays(path)
    except (OSError, ValueError) as error:
        raise ResultsError(f"{path} is not a whole checkpoint: {error}") from error
    found = str(arrays.get("format", "none"))
    if found != FORMAT:
        ours = found.startswith("corekit-checkpoint/")
        why = "another version of corekit wrote it" if ours else "something else wrote it"
        raise ResultsError(f"{path} has the format {found!r}, this corekit reads {FORMAT!r}: {why}")
    try:
        scenario, digest = str(arrays["scenario"]), str(arrays["scenario_sha256"])
        versions = json.loads(str(arrays["versions"]))
        made = Checkpoint(scenario, versions, _below("memory/", arrays), _below("run/", arrays))
        sound = digest == _digest(scenario) and made.step >= 0 and isinstance(versions, dict)
        tomllib.loads(scenario)
    except (KeyError, TypeError, ValueError) as error:
        raise ResultsError(f"{path} is not a whole checkpoint: it lacks {error}") from error
    if not sound:
        raise ResultsError(f"{path} is not a whole checkpoint: its scenario does not fit its digest")
    return made


def _below(prefix: str, arrays: Arrays) -> dict[str, np.ndarray[Any, Any]]:
    return {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}


def checkpoint_files(folder: Path) -> list[Path]:
    """List the checkpoints of a run, newest first."""
    return sorted(folder.glob("checkpoint-*.npz"), reverse=True)


def newest_checkpoint(folder: Path) -> tuple[Checkpoint | None, list[str]]:
    """Read the newest whole checkpoint of a run, and report what is wrong with newer ones; None if there are no files.

    Raises:
        ResultsError: there are some, but none is whole.
    """
    wrong: list[str] = []
    for path in checkpoint_files(folder):
        try:
            return read_checkpoint(path), wrong
        except ResultsError as error:
            wrong.append(str(error))
    if wrong:
        raise ResultsError("no checkpoint can be read:\n" + "\n".join(f"  {each}" for each in wrong))
    return None, []


def check_same_scenario(found: Checkpoint, scenario: Runnable, folder: Path) -> None:
    """Refuse a checkpoint of another scenario; the error lists what differs.

    Raises:
        ResultsError: the resolved scenarios differ.
    """
    now = scenario.resolved_text()
    if now == found.scenario:
        return
    listed = [
        f"{path}: was {_shown(before)}, is {_shown(after)}"
        for path, before, after in _compare("", tomllib.loads(found.scenario), tomllib.loads(now))
    ]
    if listed:
        raise ResultsError(
            f"the checkpoint in {folder} belongs to another scenario:\n"
            + "\n".join(f"  {each}" for each in listed)
            + "\nUndo this, or run the changed scenario into a new folder."
        )


def check_same_versions(found: Checkpoint, versions: dict[str, Any], folder: Path) -> None:
    """Refuse a checkpoint that another kernel or other plugins wrote; the error lists what differs.

    Raises:
        ResultsError: the versions differ.
    """
    listed = version_differences(found.versions, decisive(versions))
    if listed:
        raise ResultsError(
            f"the checkpoint in {folder} was written with other versions, which would not go on alike:\n"
            + "\n".join(f"  {each}" for each in listed)
            + "\nInstall those, or run the scenario into a new folder."
        )


def check_same_controllers(found: Checkpoint, now: Arrays, folder: Path) -> None:
    """Refuse controllers that a checkpoint does not know; what it knows the simulation compares as it is restored.

    Args:
        now: the internal state of the simulation that goes on.
    Raises:
        ResultsError: the run began without one of them.
    """
    added = [name for name in _below("sampling/", now) if f"sampling/{name}" not in found.memory]
    if added:
        raise ResultsError(
            f"the run in {folder} began without the controller {', '.join(added)}: resume it without, or run the "
            "scenario into a new folder"
        )


def _compare(path: str, before: Any, after: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            inner = f"{path}.{key}" if path else key
            yield from _compare(inner, before.get(key, _ABSENT), after.get(key, _ABSENT))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _compare(f"{path}[{i}]", old, new)
    elif type(before) is not type(after) or before != after:
        yield path, before, after


def _shown(value: Any) -> str:
    if value is _ABSENT:
        return "absent"
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


@final
class CheckpointKeeper:
    """Writes checkpoints of a live run and keeps the newest ones.

    Args:
        folder: of the run.
        simulation: whose.
        scenario, versions: as in `Checkpoint`.
        observers: of the run.
    """

    def __init__(
        self,
        folder: Path,
        simulation: Simulation,
        scenario: str,
        versions: Mapping[str, str],
        observers: RunObservers,
    ) -> None:
        self._folder, self._simulation = folder, simulation
        self._scenario, self._versions = scenario, dict(versions)
        self._observers = observers
        self._next = 0.0
        self.latest: Checkpoint | None = None

    def snapshot(self) -> Checkpoint:
        """Return the run as it is now; call it between two grid steps."""
        return Checkpoint(
            self._scenario,
            self._versions,
            self._simulation.internal_state(),
            self._observers.internal_state(),
        )

    def after_step(self) -> None:
        """Write one if it is time; called after each grid step."""
        if clock.perf_counter() > self._next:
            self.write()

    def write(self) -> None:
        """Flush the observers and write a checkpoint that belongs to the flushed records; the run continues from it.

        It is postponed while an observer cannot flush, for example because another program has its file open.
        """
        self._write(patience=0.0)

    def _write(self, patience: float) -> None:
        begin = clock.perf_counter()
        if not self._observers.flush(patience):
            self._next = clock.perf_counter() + _EVERY
            return
        checkpoint = self.snapshot()
        path = self._folder / f"checkpoint-{checkpoint.step:012d}.npz"
        checkpoint.write(path)
        self._remove_all_but(KEEP)
        self.latest = checkpoint
        # what a resumed run rebuilds from these arrays, this one rebuilds too; they stay as they are
        self._simulation.restore({name: array.copy() for name, array in checkpoint.memory.items()})
        now = clock.perf_counter()
        self._next = now + max(_EVERY, (now - begin) / _SHARE)

    def finish(self) -> None:
        """Write the end state and keep that alone."""
        self._write(PATIENCE)
        self._remove_all_but(1)

    def _remove_all_but(self, count: int) -> None:
        for path in checkpoint_files(self._folder)[count:]:
            # one that another program has open goes the next time
            with contextlib.suppress(PermissionError):
                path.unlink(missing_ok=True)
