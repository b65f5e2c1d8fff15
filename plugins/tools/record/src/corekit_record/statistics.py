"""Counters of a run: how often each solver solved and how well, and what contacts did over time.

Every accepted step is counted, recorded or not, so that the deepest penetration and the worst residual are those of
the whole run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from attrs import asdict, define, field, frozen

from corekit.data.contacts import ContactMode, ContactRecord
from corekit.data.status import SolveInfo, Status, StepReport
from corekit.simulation.loop import Simulation
from corekit_run.observers import Arrays, RunObserver

__all__ = ["ContactPhase", "SinceLastRecord", "Statistics", "contact_phases"]


@define
class SinceLastRecord:
    """Counters of the steps since the last record.

    Attributes:
        steps: accepted steps.
        unsolved: those whose solve did not meet its tolerance.
        iterations: of all solves together; most_iterations: of the longest.
        worst_residual: largest physical residual [m/s, N·s or N·m·s].
        deepest_penetration: largest −gap, 0 if nothing overlapped [m].
    """

    steps: int = 0
    unsolved: int = 0
    iterations: int = 0
    most_iterations: int = 0
    worst_residual: float = 0.0
    deepest_penetration: float = 0.0


@final
class Statistics(RunObserver):
    """Observer that counts steps, solves and contacts.

    Attributes:
        since_last_record: of the steps since `pop_since_last_record` was called last.
        answered: solves by solver. statuses: solves by outcome.
        notes: what integrators changed in the linear model, with how often.
        most_contacts: contacts of one step, at most.
        shortest_step, longest_step: lengths of accepted steps [s]; shortest_at: when the shortest ended [s].
        depth: largest −gap at the end of the last step, 0 if nothing overlapped [m].
        last_residual, last_contacts: worst physical residual and number of contacts of the last step.
    """

    name = "statistics"

    def __init__(self) -> None:
        self.depth = 0.0
        self.since_last_record = SinceLastRecord()
        self._totals = SinceLastRecord()
        self.answered: dict[str, int] = {}
        self.statuses: dict[Status, int] = {}
        self.notes: dict[str, int] = {}
        self.integrator_iterations = 0
        self.most_contacts = 0
        self.deepest_at = float("nan")
        self.shortest_step, self.longest_step, self.shortest_at = float("inf"), 0.0, 0.0
        self._kept_time: list[float] = []
        self._kept_modes: list[tuple[int, int, int]] = []
        self._last: SolveInfo | None = None
        self.last_residual = 0.0
        self.last_contacts = 0

    def on_step_accepted(self, simulation: Simulation, report: StepReport) -> None:
        since, solve = self.since_last_record, report.solve_info
        iterations = solve.iterations
        since.steps += 1
        since.iterations += iterations
        if iterations > since.most_iterations:
            since.most_iterations = iterations
        self.integrator_iterations += report.iterations
        if report.step_size > self.longest_step:
            self.longest_step = report.step_size
        if report.step_size < self.shortest_step:
            self.shortest_step, self.shortest_at = report.step_size, simulation.time
        status, solver = solve.status, solve.answered_by
        self.answered[solver] = self.answered.get(solver, 0) + 1
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if not status.solved:
            since.unsolved += 1
        if solve is not self._last:  # steps without contact share one solution
            self._last, self.last_residual = solve, solve.residuals.worst
        # written so that a nan is kept, not lost in a comparison
        if not self.last_residual <= since.worst_residual:
            since.worst_residual = self.last_residual
        if report.note:
            self.notes[report.note] = self.notes.get(report.note, 0) + 1
        pipeline = simulation.system.pipeline
        count = 0 if pipeline is None else pipeline.count()
        self.last_contacts, self.depth = count, 0.0
        if pipeline is not None and count:
            self._update_depth(count, simulation.system.penetration(simulation.state), simulation.time)

    def _update_depth(self, count: int, depth: float, time: float) -> None:
        if count > self.most_contacts:
            self.most_contacts = count
        since = self.since_last_record
        if depth > 0.0:
            self.depth = depth
        if depth > since.deepest_penetration:
            if depth > self._totals.deepest_penetration:
                self.deepest_at = time
            since.deepest_penetration = depth

    def pop_since_last_record(self) -> SinceLastRecord:
        """Return the counters since this was called last and start them anew."""
        counted, self.since_last_record = self.since_last_record, SinceLastRecord()
        self._totals = _sum(self._totals, counted)
        return counted

    def add_contacts(self, time: float, record: ContactRecord) -> None:
        """Add a kept step to the timeline of contact modes."""
        self._kept_time.append(time)
        if record.count:
            counts = np.bincount(record.mode, minlength=3)
            self._kept_modes.append((int(counts[0]), int(counts[1]), int(counts[2])))
        else:
            self._kept_modes.append((0, 0, 0))

    @property
    def totals(self) -> SinceLastRecord:
        """The same counters over the whole run."""
        return _sum(self._totals, self.since_last_record)

    def phases(self, most: int = 8) -> list[ContactPhase]:
        """Summarise what contacts did over time, in at most `most` phases."""
        return contact_phases(self._kept_time, self._kept_modes, most)

    def internal_state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return everything counted so far, for a checkpoint."""
        counters = {
            "since_last_record": asdict(self.since_last_record),
            "totals": asdict(self._totals),
            "answered": self.answered,
            "statuses": {status.name: count for status, count in self.statuses.items()},
            "notes": self.notes,
            "integrator_iterations": self.integrator_iterations,
            "most_contacts": self.most_contacts,
            "deepest_at": self.deepest_at,
            "step_lengths": [self.shortest_step, self.longest_step, self.shortest_at],
        }
        return {
            "counters": np.array(json.dumps(counters)),
            "kept_time": np.array(self._kept_time, dtype=float),
            "kept_modes": np.array(self._kept_modes, dtype=np.int64).reshape(-1, 3),
        }

    def restore(self, state: Arrays) -> None:
        """Restore what `internal_state` returned."""
        counters = json.loads(str(state["counters"]))
        self.since_last_record, self._totals = (
            SinceLastRecord(**counters["since_last_record"]),
            SinceLastRecord(**counters["totals"]),
        )
        self.answered, self.notes = counters["answered"], counters["notes"]
        self.statuses = {Status[name]: count for name, count in counters["statuses"].items()}
        self.integrator_iterations = counters["integrator_iterations"]
        self.most_contacts, self.deepest_at = counters["most_contacts"], counters["deepest_at"]
        self.shortest_step, self.longest_step, self.shortest_at = counters["step_lengths"]
        self._kept_time = state["kept_time"].tolist()
        self._kept_modes = [(a, b, c) for a, b, c in state["kept_modes"].tolist()]
        self._last = None

    def summary(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        totals = self.totals
        return {
            "steps": totals.steps,
            "kept": len(self._kept_time),
            "shortest_step_s": self.shortest_step if totals.steps else None,
            "longest_step_s": self.longest_step if totals.steps else None,
            "shortest_step_at_s": self.shortest_at if totals.steps else None,
            "unsolved_steps": totals.unsolved,
            "answered_by": dict(sorted(self.answered.items(), key=lambda entry: -entry[1])),
            "statuses": {status.name.lower(): count for status, count in self.statuses.items()},
            "solver_iterations": totals.iterations,
            "most_solver_iterations": totals.most_iterations,
            "integrator_iterations": self.integrator_iterations,
            "worst_residual": totals.worst_residual,
            "deepest_penetration_m": totals.deepest_penetration,
            "deepest_penetration_at_s": None if np.isnan(self.deepest_at) else self.deepest_at,
            "most_contacts": self.most_contacts,
            "notes": dict(self.notes),
            "contact_phases": [phase.as_data() for phase in self.phases()],
        }


def _sum(a: SinceLastRecord, b: SinceLastRecord) -> SinceLastRecord:
    return SinceLastRecord(
        a.steps + b.steps,
        a.unsolved + b.unsolved,
        a.iterations + b.iterations,
        max(a.most_iterations, b.most_iterations),
        # numpy's maximum keeps a nan
        float(np.maximum(a.worst_residual, b.worst_residual)),
        float(np.maximum(a.deepest_penetration, b.deepest_penetration)),
    )


@frozen
class ContactPhase:
    """A stretch of time in which contacts stayed of one kind.

    Args:
        begin, end: [s].
        kind: `free`, `stick`, `slide` or `stick + slide`.
        stick, slide: fewest and most contacts of each mode in it.
    """

    begin: float
    end: float
    kind: str
    stick: tuple[int, int] = field(default=(0, 0))
    slide: tuple[int, int] = field(default=(0, 0))

    def __str__(self) -> str:
        counts = {"stick": self.stick, "slide": self.slide}
        words = [f"{word} {_range(counts[word])}" for word in self.kind.split(" + ") if word in counts]
        return f"{self.begin:.2f}–{self.end:.2f} s {' + '.join(words) or self.kind}"

    def as_data(self) -> dict[str, Any]:
        """Return the phase as JSON can hold it."""
        return {
            "begin_s": self.begin, "end_s": self.end, "kind": self.kind,
            "stick": list(self.stick), "slide": list(self.slide),
        }  # fmt: skip

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> ContactPhase:
        """Restore what `as_data` returned."""
        stick, slide = ((int(pair[0]), int(pair[1])) for pair in (data["stick"], data["slide"]))
        return cls(data["begin_s"], data["end_s"], data["kind"], stick, slide)


def _range(counts: tuple[int, int]) -> str:
    return f"{counts[0]}" if counts[0] == counts[1] else f"{counts[0]}–{counts[1]}"


def _kind(modes: Sequence[int]) -> str:
    sticks, slides = modes[ContactMode.STICK] > 0, modes[ContactMode.SLIDE] > 0
    if sticks and slides:
        return "stick + slide"
    return "stick" if sticks else "slide" if slides else "free"


def contact_phases(
    time: Sequence[float], modes: Sequence[Sequence[int]], most: int = 8
) -> list[ContactPhase]:
    """Return the phases of contact from counts at recorded instants; the shortest join a neighbour until few remain.

    Args:
        time: [s], increasing, length T.
        modes: contacts that are separate, stick and slide at each instant, shape (T, 3).
        most: phases wanted at most.
    """
    if not len(time):
        return []
    starts = [0]
    starts += [k for k in range(1, len(time)) if _kind(modes[k]) != _kind(modes[k - 1])]
    # (first, last + 1, kind); a phase lasts until the next begins
    runs = [
        (first, after, _kind(modes[first]))
        for first, after in zip(starts, [*starts[1:], len(time)], strict=True)
    ]
    while len(runs) > most:
        runs = _join_shortest(runs)
    return [_phase(run, time, modes) for run in runs]


def _join_shortest(runs: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    lengths = [after - first for first, after, _ in runs]
    k = lengths.index(min(lengths))
    neighbours = [i for i in (k - 1, k + 1) if 0 <= i < len(runs)]
    host = max(neighbours, key=lambda i: lengths[i])
    low, high = min(k, host), max(k, host)
    joined = [*runs[:low], (runs[low][0], runs[high][1], runs[host][2]), *runs[high + 1 :]]
    merged = joined[:1]
    for run in joined[1:]:
        first, after, kind = run
        if merged[-1][2] == kind:
            merged[-1] = (merged[-1][0], after, kind)
        else:
            merged.append((first, after, kind))
    return merged


def _phase(run: tuple[int, int, str], time: Sequence[float], modes: Sequence[Sequence[int]]) -> ContactPhase:
    first, after, kind = run
    # counts of the instants that are of the phase's own kind, not of those it absorbed
    own = [modes[k] for k in range(first, after) if _kind(modes[k]) == kind]
    stick = [int(each[ContactMode.STICK]) for each in own]
    slide = [int(each[ContactMode.SLIDE]) for each in own]
    end = time[after] if after < len(time) else time[-1]
    return ContactPhase(
        float(time[first]), float(end), kind, (min(stick), max(stick)), (min(slide), max(slide))
    )
