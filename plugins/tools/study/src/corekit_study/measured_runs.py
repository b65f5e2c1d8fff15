"""Runs of a comparison: each in a folder of its own, with the sum of its contact impulses, here or where tasks are
made.
"""

from __future__ import annotations

import json
import tempfile
import time as clock
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import asdict, field, frozen

from corekit.data.status import StepReport
from corekit.errors import CompositionError, ConfigError, CorekitError, PluginError, ResultsError
from corekit.scenario.load import load
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation
from corekit_record.step_error import estimate_step_error
from corekit_run.running import run
from corekit_run.schedulers import Lost, Task, open_scheduler
from corekit_study.files_as_data import pack, unpack
from corekit_study.needs import needs_of
from corekit_study.progress_display import ProgressDisplay, ShowProgress, no_display

__all__ = ["MeasureTask", "MeasuredRun", "make_measured", "measure"]

_FUNCTION = "corekit_study.measured_runs:make_measured"


@frozen(kw_only=True)
class MeasureTask:
    """A run of a comparison.

    Args:
        label: shown while it runs. file: of the scenario, or a shipped name. overrides: as in `--set`.
        folder: of the run. allow_code: as for `corekit.load`.
        error: whether it is run once more with half of its step.
    """

    label: str
    file: str
    overrides: tuple[str, ...]
    folder: Path
    allow_code: bool
    error: bool

    def as_bytes(self, *, shares_disk: bool) -> bytes:
        """Return the argument of `make_measured`."""
        data = {**asdict(self), "folder": str(self.folder) if shares_disk else None}
        return json.dumps(data, ensure_ascii=False).encode()

    def answer(self, answer: bytes | Lost) -> MeasuredRun:
        """Return what an answer of `make_measured` says; files that came with it are written into the folder.

        Raises:
            ResultsError: it is no answer, or a file cannot be written.
        """
        if isinstance(answer, Lost):
            return MeasuredRun(status="failed", reason=answer.reason, folder=self.folder)
        try:
            data = json.loads(answer)
            found = MeasuredRun(**(data["run"] | {"folder": self.folder}))
            if data["files"]:
                unpack(data["files"], self.folder)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ResultsError(f"whoever made {self.label} answered with no run: {error}") from error
        return found


@frozen(kw_only=True)
class MeasuredRun:
    """What came of it.

    Args:
        status: `finished`, `refused` or `failed`, with a reason.
        contact_impulse: sum of all normal impulses [N·s]; spent_s: wall time that summing took.
        step_error: fields of a `StepError`, None where it was not asked for.
    """

    status: str
    folder: Path
    reason: str = ""
    contact_impulse: float = 0.0
    spent_s: float = 0.0
    step_error: dict[str, Any] | None = None


def measure(
    tasks: Sequence[MeasureTask], show: ShowProgress, scheduler: str, workers: int | None
) -> Iterator[tuple[int, MeasuredRun]]:
    """Make runs and yield the index of each with what came of it, in the order in which they end.

    Args:
        show: shows each run. scheduler: its word; empty: one after the other, here.
        workers: as `jobs` of `open_scheduler`.
    """
    if not scheduler:
        for k, task in enumerate(tasks):
            with show(task.label) as display:
                yield k, _measure(task, task.folder, display)
        return
    with open_scheduler(scheduler, workers, most=len(tasks)) as opened, show(f"{len(tasks)} runs") as display:
        waiting = (Task(k, task.as_bytes(shares_disk=opened.shares_disk)) for k, task in enumerate(tasks))
        needs = {} if opened.shares_disk else needs_of()
        for k, answer in opened.run(_FUNCTION, lambda: next(waiting, None), display.warn, needs):
            yield k, tasks[k].answer(answer)


def make_measured(argument: bytes) -> bytes:
    """Make the run of `MeasureTask.as_bytes`."""
    data = json.loads(argument)
    with tempfile.TemporaryDirectory(prefix="corekit-run-") as made:
        folder = Path(made) / "run" if data["folder"] is None else Path(data["folder"])
        task = MeasureTask(**(data | {"overrides": tuple(data["overrides"]), "folder": folder}))
        with no_display(task.label) as display:
            found = _measure(task, folder, display)
        files = pack(folder) if data["folder"] is None and folder.exists() else {}
    return json.dumps({"run": {**asdict(found), "folder": ""}, "files": files}).encode()


def _measure(task: MeasureTask, folder: Path, display: ProgressDisplay) -> MeasuredRun:
    try:
        scenario = load(task.file, task.overrides, allow_code=task.allow_code)
        measured = _MeasuredScenario.of(scenario)
        results = run(measured, directory=folder, progress=display, warn=display.warn)
        off = estimate_step_error(results, scenario) if task.error else None
    except (ConfigError, CompositionError, PluginError) as refusal:
        return MeasuredRun(status="refused", reason=str(refusal), folder=folder)
    except Exception as failure:  # noqa: BLE001 - a failing plugin must not end the other rows
        said = str(failure) if isinstance(failure, CorekitError) else f"{type(failure).__name__}: {failure}"
        return MeasuredRun(status="failed", reason=said, folder=folder)
    impulse = measured.contact_impulse
    return MeasuredRun(
        status="finished", folder=results.path, contact_impulse=impulse.sum, spent_s=impulse.spent,
        step_error=None if off is None else asdict(off),
    )  # fmt: skip


@final
class _ContactImpulse:
    """The sum of all normal impulses [N·s], and the wall time that summing took [s]."""

    def __init__(self) -> None:
        self.sum = self.spent = 0.0
        self._of_grid_step, self._index = 0.0, -1

    def add(self, simulation: Simulation, _report: StepReport) -> None:
        began, index = clock.perf_counter(), simulation.step_index
        if index != self._index:
            self._of_grid_step, self._index = 0.0, index
        # of a grid step that is cut the record grows from part to part
        now = float(np.sum(simulation.contacts().normal_impulse))
        self.sum += now - self._of_grid_step
        self._of_grid_step = now
        self.spent += clock.perf_counter() - began


@frozen(kw_only=True)
class _MeasuredScenario(Scenario):
    """A scenario whose run also sums its contact impulses."""

    contact_impulse: _ContactImpulse = field(
        factory=_ContactImpulse, eq=False, repr=False, metadata={"hidden": True}
    )

    @classmethod
    def of(cls, scenario: Scenario) -> _MeasuredScenario:
        return cls(**asdict(scenario, recurse=False))

    def compose(self) -> Simulation:
        simulation = super().compose()
        if simulation.system.pipeline is not None:
            simulation.observe(self.contact_impulse.add)
        return simulation
