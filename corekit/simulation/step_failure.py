"""Why a step failed, in words: the component that wrote a number that is not finite, or what to try."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.instants import grid_rounding
from corekit.data.state import State
from corekit.data.status import Status, StepReport
from corekit.errors import PluginError, StepFailed
from corekit.roles.body import Body
from corekit.roles.world import World
from corekit.simulation.contact_words import pair_in_words
from corekit.simulation.explicit_limit import is_exceeded, is_implicit, limit_at_rest, step_to_try

__all__ = [
    "FailedStep",
    "check_length",
    "endless_cuts",
    "largest_term",
    "step_failed",
]

_DEEP = 1e-3
"""Overlap [m] from which on it is a likely cause of a step that cannot be solved."""
_SAME = 1e-6
"""How far the length of a step may be from what its integrator reports, relative to a grid step."""
_PARTS = 100
"""Into how many parts a step may well be cut."""
_ORDINARY = 1e100
"""Size of a force [N or N·m] below which no overflow follows from it; a step that diverges passes it on its way."""


@frozen(eq=False)
class FailedStep:
    """A step that was not accepted, or has a value that is not finite.

    Args:
        system: of the world. before: state at the start of the step. after: state that the integrator returned.
        report: of the integrator. integrator: name of its class.
        step_size: of the grid [s]. index: of the grid step.
        owners: name of the body or obstacle of every shape.
        implicit: whether an implicit scheme was at work, which is not advised to be one.
        unsettled: the contact that was farthest from its solution, in words; empty if none is known.
    """

    system: World
    before: State
    after: State
    report: StepReport
    integrator: str
    step_size: float
    index: int
    owners: tuple[str, ...]
    implicit: bool
    unsettled: str = ""

    @classmethod
    def of(cls, simulation: Any, after: State, report: StepReport) -> Self:
        """The step that a simulation was to make from its state."""
        own, integrator = simulation, type(simulation.integrator).__name__
        implicit = is_implicit(own, report)
        step = own.step_length, own.step_index
        least = "" if report.unsettled is None else pair_in_words(own, report.unsettled)
        return cls(own.system, own.state, after, report, integrator, *step, own.shape_owners, implicit, least)

    def error(self) -> StepFailed:
        """Name the first value that is not finite with body, coordinate and force term, or else the status."""
        with np.errstate(all="ignore"):  # models are evaluated at states that are not finite
            return self._explain()

    def _explain(self) -> StepFailed:
        for b, body in enumerate(self.system.bodies):
            velocities, after = body.description.velocities, self.after.body_states[b]
            for quantity, values, names in (
                ("force on", self.system.diagnosis.force(b), velocities),
                ("velocity", after.v, velocities),
                ("coordinate", after.q, body.description.coordinates),
            ):
                bad = np.flatnonzero(~np.isfinite(values))
                if len(bad):
                    return self._non_finite(b, quantity, names[int(bad[0])].name, float(values[bad[0]]))
        if found := self._contact_source():
            return self._error(f"{found}.")
        solve_info = self.report.solve_info
        for b, body in enumerate(self.system.bodies):
            if solve_info.status is Status.SINGULAR and (found := self._model_source(b)):
                return self._error(f"{found}.", body.name)
            if solve_info.status is Status.NON_FINITE and (term := self._cause(b, infinite=True)[0]):
                said = f"the force term {term!r} of body {body.name!r} is not finite."
                return self._error(f"{said} {step_to_try(self.step_size)}", body.name, term=term)
        if solve_info.status is Status.NON_FINITE and (source := self._solver_source()):
            return self._error(f"{solve_info.sentence} Every force is finite: {source}.")
        if solve_info.status is Status.ITERATION_LIMIT and (loop := self._lost_rank()):
            return self._error(f"{solve_info.status.value.partition('.')[0]}. {loop}")
        note = self.report.note.rstrip(".")
        said = solve_info.sentence + (f" {note[0].upper()}{note[1:]}." if note else "")
        if self.unsettled:
            said += f" What settles least is the contact of {self.unsettled}."
        b = self.system.diagnosis.failed_body if solve_info.status is Status.SINGULAR else -1
        if b < 0:
            return self._error(f"{said} {self._overlap() or step_to_try(self.step_size)}")
        body = self.system.bodies[b]
        advice = step_to_try(self.step_size, body, self.before.body_states[b], implicit=self.implicit)
        return self._error(f"{said} It is that of body {body.name!r}. {advice}", body.name)

    def _error(self, reason: str, body: str = "", coordinate: str = "", term: str = "") -> StepFailed:
        return StepFailed(
            reason, step=self.index, time=self.before.time, body=body, coordinate=coordinate, term=term
        )

    def _non_finite(self, b: int, quantity: str, name: str, value: float) -> StepFailed:
        body = self.system.bodies[b]
        term, size = self._cause(b)
        sentence = f"the {quantity} {name!r} of body {body.name!r} became {value}."
        if size < _ORDINARY and (source := self._source(b, quantity)):
            return self._error(f"{sentence} Every force on it is finite: {source}.", body.name, name)
        if term:
            sentence += f" The force term {term!r} drove it."
        driver = body
        if not self.implicit:
            # another body may have diverged first, and struck this one
            bodies = (body, *self.system.bodies)
            driver = next((each for each in bodies if is_exceeded(limit_at_rest(each), self.step_size)), body)
        advice = step_to_try(
            self.step_size, driver, self.before.body_states[driver.index], implicit=self.implicit
        )
        return self._error(f"{sentence} {advice}", body.name, name, term)

    def _overlap(self) -> str:
        """Return a sentence about the shapes deepest in each other at the step's start, empty where none is deep."""
        pipeline = self.system.pipeline
        if pipeline is None:
            return ""
        contacts = pipeline.contacts_at_end(self.before)
        gap = contacts.gap[: contacts.count]
        at = int(np.argmin(gap)) if len(gap) else -1
        if at < 0 or not gap[at] < -_DEEP:
            return ""
        one, other = (self.owners[shape] for shape in contacts.shape[at])
        depth = f"{-1e3 * gap[at]:.3g} mm"
        return f"At its start {one} is {depth} inside {other}, which may have no solution: move them apart."

    def _lost_rank(self) -> str:
        """Return a sentence about joints whose rows, where they were evaluated last, hold less than at the start."""
        named = ", ".join(map(repr, self.system.diagnosis.lost_joints()))
        if not named:
            return ""
        return (
            f"The loop of joints {named} is where its rows lose a rank, as bars in one line do: it may go on in more "
            "than one way, and no finite force leads it through. Keep it clear of there, or use an integrator with one "
            "solve a step, such as semi-implicit-euler, which steps over it one way or the other"
        )

    def _finite_states(self) -> list[State]:
        """Return the step's start and the last trial state, where this step made one; not what is to be explained."""
        trial = self.system.diagnosis.trial_state(self.before)
        states = [self.before, *([] if trial is None else [trial])]
        return [state for state in states if _is_finite(state.qv)]

    def _contact_source(self) -> str:
        """Return which component wrote a number that is not finite about contacts at a finite state, in words."""
        named = map(self.system.diagnosis.contact_culprit, self._finite_states())
        return next(filter(None, named), "")

    def _source(self, b: int, quantity: str) -> str:
        """Return what made a value that is not finite out of finite forces, in words; empty if that is not known."""
        found = self._contact_source() or self._model_source(b)
        if found or quantity == "force on":  # which may be of a state that is not finite
            return found
        return self._solver_source() or f"the integrator {self.integrator} made it"

    def _solver_source(self) -> str:
        """Say that the contact solver answered with a number that is not finite, where it did."""
        contacts = self.system.record()
        if _is_finite(contacts.normal_impulse) and _is_finite(contacts.tangential_impulse):
            return ""
        return f"the contact solver {type(self.system.solver).__name__} answered with it"

    def _model_source(self, b: int) -> str:
        """Say which of body b's mass matrix and force is not finite at a state that is, in words."""
        body = self.system.bodies[b]
        mass, force = body.model.new_mass_matrix(), np.zeros(body.nv)
        for whole in self._finite_states():
            state = whole.body_states[b]
            body.model.compute_mass_and_force(state, body.inputs.value_at(state.time), mass, force)
            if not _is_finite(mass.data):
                return f"the mass matrix of {type(body.model).__name__} (body {body.name!r}) is not finite"
            if not _is_finite(force):
                return _wrote(body, "compute_mass_and_force")
        return ""

    def _cause(self, b: int, *, infinite: bool = False) -> tuple[str, float]:
        """Find the body's first non-finite force term, else its largest, without a name if `infinite`; and its size.

        The terms are computed at the step's start, there with the inputs of a step later, at the last trial state, and
        at the start's coordinates at the step's end.
        """
        start = self.before.body_states[b]
        end = start.copy()
        end.time = start.time + self.step_size
        instants = [(start, start.time), (start, end.time), (end, end.time)]
        instants += [(state.body_states[b], state.time) for state in self._finite_states()[1:]]
        name, size = _largest_term(self.system, b, *instants)
        return "" if infinite and math.isfinite(size) else name, size


def _is_finite(numbers: Array) -> bool:
    return bool(np.isfinite(numbers).all())


def _wrote(body: Body, method: str) -> str:
    return f"{method} of {type(body.model).__name__} (body {body.name!r}) wrote a number that is not finite"


def check_length(simulation: Any, moved: float, reported: float) -> None:
    """Raise PluginError where a step is not as long as its integrator says [s]."""
    step = simulation.step_length
    if not abs(moved - reported) <= _SAME * step + grid_rounding(simulation.time, step):
        name = simulation.component_name(simulation.integrator)
        raise PluginError(
            f"integrator {name!r} reported a step of {reported:g} s, but the time of its state moved by {moved:g} s"
        )


def endless_cuts(simulation: Any, count: int, done: float) -> StepFailed:
    """The error of a grid step in which `count` steps led only `done` [s] on: between which shapes, and what to do."""
    record, step = simulation.contacts(), simulation.step_length
    deepest = int(np.argmin(record.gap)) if record.count else -1
    where = ""
    if deepest >= 0:
        one, other = (simulation.shape_owner(int(shape)) for shape in record.shape[deepest])
        where = f" The least gap is {1e3 * record.gap[deepest]:.3g} mm, between {one} and {other}."
    note = f" Its integrator says: {simulation.report.note}." if simulation.report.note else ""
    said = (
        f"{count} steps brought the motion only {done:.2g} s on, of a step of {step:g} s: it is cut without end.{where}"
        f"{note} Look for what is squeezed there, or moves too fast; or use a solver of impulses, or a step of "
        f"{done * _PARTS / count:.1g} s."
    )
    return StepFailed(said, step=simulation.step_index, time=simulation.time)


def step_failed(simulation: Any, after: State, report: StepReport) -> StepFailed:
    """The error of a step that a simulation was to make from its state, and that was not accepted."""
    passed = simulation.system.diagnosis.passed_pair
    if passed is None:
        return FailedStep.of(simulation, after, report).error()
    one, other = (simulation.shape_owner(each) for each in passed)
    said = _unresolved_motion(
        one, other, report.step_size, simulation.component_name(simulation.system.solver)
    )
    return StepFailed(said, step=simulation.step_index, time=simulation.time)


def _unresolved_motion(one: str, other: str, step: float, solver: str) -> str:
    """Say that two shapes pass each other within a step [s], which a contact potential cannot notice."""
    return (
        f"{one} and {other} move so fast that they pass through each other within a step of {step:g} s, and the "
        f"contact potential {solver!r} would not notice. Use a smaller step, or a contact solver with impulses."
    )


def largest_term(system: World, b: int, state: State) -> str:
    """Return the name of body b's largest force term at a state, empty if its model names none."""
    return _largest_term(system, b, (state.body_states[b], state.time))[0]


def _largest_term(system: World, b: int, *instants: tuple[State, float]) -> tuple[str, float]:
    """Name and size of the first force term that is not finite at a state and time of its inputs, else the largest."""
    body = system.bodies[b]
    sizes: dict[str, float] = {}
    for state, time in instants:
        terms = dict(system.contact_forces(b))
        if body.abilities.force_terms is not None:
            terms |= body.abilities.force_terms.compute_force_terms(state, body.inputs.value_at(time))
        for name, force in terms.items():
            size = float(np.max(np.abs(force), initial=0.0))
            if not math.isfinite(size):
                return name, size
            sizes[name] = max(size, sizes.get(name, 0.0))
    largest = max(sizes, key=lambda name: sizes[name], default="")
    return largest, sizes.get(largest, 0.0)
