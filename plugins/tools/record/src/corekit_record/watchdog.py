"""Watchdog: checks every step for invalid values, failed solves, penetration and energy growth.

| kind        | looked at                                      | when                                                |
|-------------|------------------------------------------------|-----------------------------------------------------|
| non_finite  | q, v; f and its terms to name the cause        | every step, by the simulation itself: always stops  |
| unsolved    | whether the solve met its tolerance            | every step                                          |
| ambiguous   | whether a fallback may have chosen a motion    | every step                                          |
| penetration | the largest −gap; if no limit is given, beside | every step                                          |
|             | 10 mm the layer of a contact potential         |                                                     |
| energy      | growth without work, see `energy_balance`      | with policy `stop` and where work is done in jumps  |
|             |                                                | every step, else once a record                      |

A policy is `stop` (the run ends at the first bad step, which is not recorded), `warn` (a line on the
terminal, once a kind) or `record`. In all cases the log has a line for each of the first stretches of bad
steps, and the end of the run the counts. The log also holds the first remarks of
integrators on their steps, for example that they are cut, each with step, time and length.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, Protocol, final

import numpy as np

from corekit.data.instants import beside_grid
from corekit.data.status import Status, StepReport
from corekit.errors import StepFailed
from corekit.simulation.contact_words import pair_in_words
from corekit.simulation.explicit_limit import is_implicit, step_to_try
from corekit.simulation.loop import Simulation
from corekit.simulation.step_failure import largest_term
from corekit_record.energy_balance import EnergyBalance
from corekit_record.statistics import Statistics
from corekit_run.observers import Arrays, RunObserver

__all__ = ["KINDS", "Policies", "Watchdog"]

KINDS: tuple[str, ...] = ("unsolved", "ambiguous", "penetration", "energy")
_NO_STEP_CURES = (Status.MISREPORTED, Status.UNPHYSICAL, Status.JAMMED)
_DEEPEST = 0.01
"""Depth that is found where the scenario gives none [m]."""
_LOGGED = 10
"""Stretches of bad steps of a kind that are logged, each with its first step."""


class _Limited(Protocol):
    @property
    def policy(self) -> str: ...
    @property
    def limit(self) -> float: ...


class _Optional(Protocol):
    @property
    def policy(self) -> str: ...
    @property
    def limit(self) -> float | None: ...


class Policies(Protocol):
    """The watchdog's part of a scenario."""

    @property
    def unsolved(self) -> str: ...
    @property
    def ambiguous(self) -> str: ...
    @property
    def energy(self) -> _Limited: ...
    @property
    def penetration(self) -> _Optional: ...


def _contact_layer(simulation: Simulation) -> float:
    """Half the thickness of the layer in which a contact potential holds bodies apart [m]; ∞ without one."""
    forces = simulation.system.terms.forces
    return math.inf if forces is None else forces.potential.activation_distance or math.inf


@final
class Watchdog(RunObserver):
    """Observer that is called after `statistics` and before the recorder.

    Args:
        policies: of the scenario.
        simulation: at its initial state.
        statistics: counters, which have measured the step already.
        every: time between two checks of the energy [s], unless jumps need every step.
        note: called with an event and its data, for the log.
        warn: called with a sentence, once a kind.
    """

    name = "watchdog"

    def __init__(
        self,
        policies: Policies,
        simulation: Simulation,
        statistics: Statistics,
        every: float,
        note: Callable[..., object],
        warn: Callable[[str], object],
    ) -> None:
        self._policies, self._statistics = policies, statistics
        self._note, self._warn = note, warn
        self._layer = _contact_layer(simulation)
        given = policies.penetration.limit
        self._penetration = min(_DEEPEST, self._layer) if given is None else given
        self._energy = EnergyBalance(simulation)
        step = simulation.step_length
        dense = policies.energy.policy == "stop" or self._energy.every_step
        self._stride = 1 if dense else max(1, round(every / step))
        self._checks_energy = not self._energy.unknown
        self._adds_steps = self._checks_energy and self._energy.every_step
        self._samples = 0
        self._start, self._step = simulation.start_time, step
        self._due = self._next_due()
        self._counts = dict.fromkeys(KINDS, 0)
        self._stretches = dict.fromkeys(KINDS, 0)
        self._bad = dict.fromkeys(KINDS, False)
        self._first = dict.fromkeys(KINDS, math.nan)
        self._worst = dict.fromkeys(KINDS, 0.0)
        self._remark, self._remarks = "", 0

    @property
    def unwatched(self) -> str:
        """Why the energy is not watched; empty if it is."""
        return self._energy.unknown

    def _next_due(self) -> float:
        point = self._start + (self._samples + 1) * self._stride * self._step
        return point - beside_grid(point, self._step)

    def on_step_accepted(self, simulation: Simulation, report: StepReport) -> None:
        bad = self._bad
        if report.note != self._remark:
            self._log_remark(simulation, report)
        info = report.solve_info
        if not info.status.solved:
            self._handle_finding("unsolved", self._policies.unsolved, simulation, info.residuals.worst)
        elif bad["unsolved"]:
            bad["unsolved"] = False
        if info.status is Status.AMBIGUOUS:
            self._handle_finding("ambiguous", self._policies.ambiguous, simulation, info.residuals.worst)
        elif bad["ambiguous"]:
            bad["ambiguous"] = False
        depth = self._statistics.depth
        if depth > self._penetration:
            self._handle_finding("penetration", self._policies.penetration.policy, simulation, depth)
        elif bad["penetration"]:
            bad["penetration"] = False
        if self._checks_energy:
            self._check_energy(simulation)

    def _check_energy(self, simulation: Simulation) -> None:
        if self._adds_steps:
            self._energy.add_step(simulation)
        if simulation.time < self._due:
            return
        self._samples += 1
        self._due = self._next_due()
        self._energy.sample(simulation)
        if self._energy.exceeds(self._policies.energy.limit):
            self._handle_finding("energy", self._policies.energy.policy, simulation, self._energy.excess)
        else:
            self._bad["energy"] = False

    def _log_remark(self, simulation: Simulation, report: StepReport) -> None:
        self._remark = report.note
        self._remarks += bool(report.note)
        if report.note and self._remarks <= _LOGGED:
            pair = report.unsettled
            between = {} if pair is None else {"between": pair_in_words(simulation, pair)}
            self._note(
                "remark",
                step=simulation.step_index,
                time_s=simulation.time,
                length_s=report.step_size,
                said=report.note,
                **between,
            )

    # — what was found —

    def _handle_finding(self, kind: str, policy: str, simulation: Simulation, value: float) -> None:
        self._counts[kind] += 1
        self._worst[kind] = max(self._worst[kind], value)
        if self._counts[kind] == 1:
            self._first[kind] = simulation.time
        begins = not self._bad[kind]
        self._bad[kind] = True
        self._stretches[kind] += begins
        warns = policy == "warn" and self._counts[kind] == 1
        logs = begins and self._stretches[kind] <= _LOGGED
        if not (policy == "stop" or warns or logs):
            return
        sentence, where = self._describe(kind, simulation, value)
        if logs:
            step, time = simulation.step_index, simulation.time
            self._note("watchdog", kind=kind, policy=policy, step=step, time_s=time, said=sentence, **where)
        if warns:
            self._warn(f"t = {simulation.time:.6g} s: {sentence}")
        if policy == "stop":
            begin = simulation.time - simulation.report.step_size
            raise StepFailed(sentence, step=simulation.step_index, time=begin, **where)

    def _describe(self, kind: str, simulation: Simulation, value: float) -> tuple[str, dict[str, str]]:
        """Return a sentence, and body, coordinate and term as in `StepFailed`."""
        if kind == "energy":
            b = self._energy.culprit
            body, state = simulation.bodies[b], simulation.state.body_states[b]
            speed = np.abs(state.v)
            fastest = body.description.velocities[int(speed.argmax())].name if len(speed) else ""
            term = largest_term(simulation.system, b, simulation.state)
            implicit = is_implicit(simulation, simulation.report)
            sentence = (
                f"the energy grew by {value:.3g} J that no work explains, beyond "
                f"{self._policies.energy.limit:g} × {self._energy.scale:.3g} J, most of it in body {body.name!r}, "
                f"whose {fastest!r} is fastest and {term or 'force'!r} its largest force. "
                f"{step_to_try(simulation.step_length, body, state, implicit=implicit)}"
            )
            return sentence, {"body": body.name, "coordinate": fastest, "term": term}
        record = simulation.contacts()
        # of loads that are not unique, the largest
        worst = {"penetration": record.gap, "unsolved": -record.residual, "ambiguous": -record.normal_impulse}
        deepest = worst[kind]
        pair: Any = record.shape[int(deepest.argmin())] if record.count else ()
        name = simulation.shape_owner(int(pair[0])) if record.count else ""
        if kind == "penetration":
            other = simulation.shape_owner(int(pair[1])) if record.count else "what it touches"
            advice = step_to_try(simulation.step_length)
            if math.isfinite(self._layer):
                advice = f"Contacts should stay within {1e3 * self._layer:.3g} mm: choose stiffer ones."
            sentence = (
                f"{name or 'a body'} is {1e3 * value:.3g} mm inside {other}, more than "
                f"{1e3 * self._penetration:.3g} mm. {advice}"
            )
        elif kind == "ambiguous":
            sentence = f"{simulation.report.solve_info.sentence} The largest load is that of {name}."
        else:
            info = simulation.report.solve_info
            sentence = f"{info.sentence} Physical residual {value:.2g}" + (
                f", worst between {pair_in_words(simulation, pair)}." if name else "."
            )
            if info.status not in _NO_STEP_CURES:
                sentence += f" {step_to_try(simulation.step_length)}"
        return sentence, {"body": name.partition(".")[0], "coordinate": "", "term": "contact"}

    # — at the end, and for resuming —

    def summary(self) -> dict[str, Any]:
        """Return count of steps, first time and worst value of each kind that was found."""
        found = {
            kind: {"steps": self._counts[kind], "first_s": self._first[kind], "worst": self._worst[kind]}
            for kind in KINDS
            if self._counts[kind]
        }
        return {**found, **({"energy_unwatched": self.unwatched} if self.unwatched else {})}

    def internal_state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return what was found so far, for a checkpoint."""
        own = {
            "samples": self._samples, "counts": self._counts, "stretches": self._stretches,
            "bad": self._bad, "first": self._first, "worst": self._worst, "remark": self._remark,
            "remarks": self._remarks,
        }  # fmt: skip
        energy = {f"energy.{name}": array for name, array in self._energy.internal_state().items()}
        return {"found": np.array(json.dumps(own)), **energy}

    def restore(self, state: Arrays) -> None:
        """Restore what `internal_state` returned."""
        own = json.loads(str(state["found"]))
        self._samples = own["samples"]
        self._counts, self._stretches, self._bad = own["counts"], own["stretches"], own["bad"]
        self._first, self._worst = own["first"], own["worst"]
        self._remark, self._remarks = own.get("remark", ""), own.get("remarks", 0)
        self._energy.restore({n[7:]: array for n, array in state.items() if n.startswith("energy.")})
        self._due = self._next_due()
