"""The loop: steps that land on a fixed grid and on breakpoints, and stop at the first bad value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from attrs import evolve

from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.data.status import Status
from corekit.data.step import StepReport
from corekit.dynamics.bodies import Body
from corekit.dynamics.obstacles import Obstacle
from corekit.dynamics.placeholder import placeholder_contact, placeholder_problem
from corekit.dynamics.world_system import WorldSystem
from corekit.errors import StepFailed
from corekit.roles.component import Component, InternalState, collect_states, restore_states
from corekit.roles.contact import ImpulseSolver
from corekit.roles.integrator import Integrator
from corekit.simulation.step_size import step_to_try

__all__ = ["Observer", "Simulation"]

Observer = Callable[["Simulation", StepReport], object]
"""Called after every accepted step, with the simulation at its new state."""


_ORDINARY = 1e100
"""Size of a force [N or N·m] below which no overflow follows from it; a step that diverges passes it on its way."""


@final
class Simulation:
    """A composed world with its integrator, at a state.

    Time is t₀ + n·h: `step_index` n counts grid steps, and a breakpoint of an input that falls between
    two grid points splits the step there. Two buffers are swapped when a step is accepted.

    Args:
        system: the world's step equation.
        integrator: who steps it.
        obstacles: for their breakpoints and pictures.
        step: h [s].
        components: every component with internal state, by its path in the scenario.
        component_names: registered name of each, as the scenario's `use` gives it, by the same path.
    """

    def __init__(
        self,
        system: WorldSystem,
        integrator: Integrator,
        obstacles: Sequence[Obstacle] = (),
        step: float = 1e-3,
        components: Mapping[str, Component] | None = None,
        start_time: float = 0.0,
        component_names: Mapping[str, str] | None = None,
    ) -> None:
        self.system = system
        self.integrator = integrator
        self.obstacles = tuple(obstacles)
        self.step_length = step
        self.components = dict(components or {})
        self._component_names = dict(component_names or {})
        self.start_time = start_time
        self.step_index = 0
        self.report = StepReport(accepted=True, step_size=0.0)
        self._now, self._next = system.new_state(), system.new_state()
        self._now.time = start_time
        self._breakpoints = _Breakpoints(self)
        self._observers: tuple[Observer, ...] = ()

    @property
    def state(self) -> State:
        """The state now; a buffer that the next step but one overwrites. Change it only between steps."""
        return self._now

    @property
    def time(self) -> float:
        """Time now [s]."""
        return self._now.time

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of the world."""
        return self.system.bodies

    def component_name(self, component: object) -> str:
        """Registered name of a component; its class name if no scenario named it."""
        paths = (path for path, each in self.components.items() if each is component)
        return self._component_names.get(next(paths, ""), type(component).__name__)

    def observe(self, observer: Observer) -> None:
        """Have `observer` called after every accepted step."""
        self._observers = (*self._observers, observer)

    def contacts(self) -> ContactRecord:
        """What every contact did in the last step."""
        return self.system.record()

    def step(self) -> StepReport:
        """Advance by one grid step; raises StepFailed and keeps the last good state if it cannot."""
        following = self.step_index + 1
        target = self.start_time + following * self.step_length
        while True:
            now, out, breakpoints = self._now, self._next, self._breakpoints
            stop = target if breakpoints.none_until >= target else breakpoints.next_stop(now.time, target)
            report = self.integrator.step(self.system, now, stop, out)
            if self.system.unresolved_pair is not None:
                raise self._unresolved(now, report.step_size)
            if report.accepted:
                impact = self.system.resolve_impacts(now, out)
                report = report if impact is None else evolve(report, solve_info=impact)
            if not (report.accepted and self.system.accept(out)):
                raise self._failure(now, out, report)
            self._now, self._next, self.report = out, now, report
            if self._observers:
                for observer in self._observers:
                    observer(self, report)
            if out.time >= target:
                self.step_index = following
                return report

    def warm_up(self) -> None:
        """Take a step with a placeholder contact and forget it, so that kernels are loaded before the first step.

        A kernel that no such step needs (of a solver's fallback, say) is still loaded when it is called.
        """
        stage = self.system.pipeline
        kept = self.internal_state()
        if stage is not None:
            stage.placeholder = placeholder_contact(self.bodies, len(stage.scene.table), stage.record_width)
        self.integrator.step(self.system, self._now, self._now.time + self.step_length, self._next)
        self.system.resolve_impacts(self._now, self._next)
        if stage is not None:
            stage.placeholder = None
        self.restore(kept)
        self.system.forget()

    def warm_up_contact(self) -> None:
        """Let detectors and contact solver answer placeholders, so that their kernels are compiled.

        Shapes and contacts are not where the state has them afterwards: step another simulation.
        """
        solver, stage = self.system.solver, self.system.pipeline
        if stage is None:
            return
        stage.warm_up()
        if isinstance(solver, ImpulseSolver):
            problem = placeholder_problem(stage.width, self.step_length, stage.record_width)
            solver.solve(problem, np.zeros(stage.width))

    def rewind(
        self,
        internal_state: Mapping[str, np.ndarray[Any, Any]],
        step_index: int,
        observers: Sequence[Observer] = (),
    ) -> None:
        """Restore an internal state and step from it to a grid step, with other observers or none."""
        watching, self._observers = self._observers, tuple(observers)
        try:
            self.restore(internal_state)
            while self.step_index < step_index:
                self.step()
        finally:
            self._observers = watching

    def run(self, until: float) -> None:
        """Step until `until` [s] after the start time; does nothing where that is past."""
        count = round(until / self.step_length)
        while self.step_index < count:
            self.step()

    # — explaining a failure —

    def _unresolved(self, before: State, step: float) -> StepFailed:
        """Why a contact potential cannot solve a step: a pair passes its whole layer, and each other."""
        one, other = (self.shape_owner(shape) for shape in self.system.unresolved_pair or (0, 0))
        solver = self.component_name(self.system.solver)
        return StepFailed(
            f"{one} and {other} move so fast that they pass through each other within a step of {step:g} s, and the "
            f"contact potential {solver!r} would not notice. Use a smaller step, or a contact solver with impulses.",
            step=self.step_index,
            time=before.time,
        )

    def _failure(self, before: State, after: State, report: StepReport) -> StepFailed:
        """Why a step is not used: the first non-finite value with body, coordinate and force term, or the status."""
        for b, (body, part) in enumerate(zip(self.bodies, self.system.terms.bodies, strict=True)):
            velocities, coordinates = body.description.velocities, body.description.coordinates
            for what, values, names in (
                ("force on", part.force, velocities),
                ("velocity", after.body_states[b].v, velocities),
                ("coordinate", after.body_states[b].q, coordinates),
            ):
                bad = np.flatnonzero(~np.isfinite(values))
                if len(bad):
                    name = names[int(bad[0])].name
                    return self._non_finite(what, name, float(values[bad[0]]), before, b, report)
        for b, body in enumerate(self.bodies):
            if report.solve_info.status is Status.SINGULAR and self._mass_is_infinite(b, before):
                said = f"the mass matrix of body {body.name!r} is not finite, of {type(body.model).__name__}"
                return StepFailed(said, step=self.step_index, time=before.time, body=body.name)
        said = f"{report.solve_info.sentence} {report.note}".rstrip()
        if report.solve_info.status is Status.NON_FINITE:
            for b, body in enumerate(self.bodies):
                if term := self._culprit(b, before, infinite=True)[0]:
                    said = f"the force term {term!r} of body {body.name!r} is not finite."
                    sentence = f"{said} {step_to_try(self.step_length)}"
                    return StepFailed(
                        sentence, step=self.step_index, time=before.time, body=body.name, term=term
                    )
        sentence = f"{said} {step_to_try(self.step_length)}"
        return StepFailed(sentence, step=self.step_index, time=before.time)

    def _non_finite(
        self, what: str, name: str, value: float, before: State, b: int, report: StepReport
    ) -> StepFailed:
        term, size = self._culprit(b, before)
        other = "" if what == "force on" or not size < _ORDINARY else self._maker(b, before)
        if other:
            term, cause, advice = "", f" Every force on it is finite: {other}.", ""
        else:
            cause = f" The force term {term!r} drove it." if term else ""
            iterates = report.iterations > 1
            advice = (
                f" {step_to_try(self.step_length, self.bodies[b], before.body_states[b], implicit=iterates)}"
            )
        return StepFailed(
            f"the {what} {name!r} of body {self.bodies[b].name!r} became {value}.{cause}{advice}",
            step=self.step_index,
            time=before.time,
            body=self.bodies[b].name,
            coordinate=name,
            term=term,
        )

    def _maker(self, b: int, before: State) -> str:
        """Who makes what is not finite out of forces that are, in words."""
        if self._mass_is_infinite(b, before):
            return f"the mass matrix of {type(self.bodies[b].model).__name__} is not"
        solver, contacts = self.system.solver, self.contacts()
        impulses = np.concatenate([contacts.normal_impulse, contacts.tangential_impulse.ravel()])
        if solver is not None and not np.isfinite(impulses).all():
            return f"the contact solver {type(solver).__name__} answered with it"
        return f"the integrator {type(self.integrator).__name__} made it"

    def _mass_is_infinite(self, b: int, before: State) -> bool:
        """Whether body b's mass matrix is not finite, at the step's start or at the last trial state."""
        body = self.bodies[b]
        mass, force = body.model.new_mass_matrix(), np.zeros(body.nv)
        for state in (before.body_states[b], self.system.theta.trial.body_states[b]):
            body.model.compute_mass_and_force(state, body.inputs.at(state.time), mass, force)
            if not np.isfinite(mass.data).all():
                return True
        return False

    def _culprit(self, b: int, before: State, *, infinite: bool = False) -> tuple[str, float]:
        """The body's first non-finite force term, else its largest, or none if it has to be `infinite`; and its size.

        Looked for at the step's start, there with the inputs of a step later, at the last trial state, and at the
        start's coordinates at the step's end.
        """
        start, trial = before.body_states[b], self.system.theta.trial.body_states[b]
        ahead = start.time + self.step_length
        end = start.copy()
        end.time = ahead
        return self._largest(
            b, (start, start.time), (start, ahead), (trial, trial.time), (end, ahead), infinite=infinite
        )

    def largest_term(self, b: int, state: State) -> str:
        """Name of body b's largest force term at a state, empty if it cannot name any."""
        return self._largest(b, (state.body_states[b], state.time))[0]

    def _largest(self, b: int, *places: tuple[State, float], infinite: bool = False) -> tuple[str, float]:
        body = self.bodies[b]
        sizes: dict[str, float] = {}
        for state, time in places:
            terms = dict(self.system.contact_forces(b))
            if "force-terms" in body.abilities:
                terms |= body.model.compute_force_terms(state, body.inputs.at(time))
            for name, force in terms.items():
                size = float(np.max(np.abs(force), initial=0.0))
                if not math.isfinite(size):
                    return name, size
                sizes[name] = max(size, sizes.get(name, 0.0))
        largest = max(sizes, key=lambda name: sizes[name], default="")
        return "" if infinite else largest, sizes.get(largest, 0.0)

    def shape_owner(self, shape: int) -> str:
        """`body.number` of a body's shape, or the name of an obstacle, by its index among all shapes."""
        for body in self.bodies:
            if shape < body.first_shape + len(body.description.shapes):
                return f"{body.name}.{shape - body.first_shape}"
        last = self.bodies[-1]
        return self.obstacles[shape - last.first_shape - len(last.description.shapes)].name

    # — internal state —

    def internal_state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Everything needed to continue bit for bit, as named arrays."""
        kept: InternalState = {
            "time": np.array(self._now.time),
            "step_index": np.array(self.step_index),
            "q": self._now.q.copy(),
            "v": self._now.v.copy(),
            "aux": self._now.aux.copy(),
        }
        kept |= {f"system/{name}": array for name, array in self.system.internal_state().items()}
        return kept | collect_states(self.components)

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `internal_state` returned."""
        self._now.time = float(internal_state["time"])
        self.step_index = int(internal_state["step_index"])
        self._now.q[:], self._now.v[:], self._now.aux[:] = (
            internal_state["q"],
            internal_state["v"],
            internal_state["aux"],
        )
        self._breakpoints = _Breakpoints(self)
        own = {name[7:]: array for name, array in internal_state.items() if name.startswith("system/")}
        self.system.restore(own)
        restore_states(self.components, internal_state)


class _Breakpoints:
    """Where steps must stop inside a grid interval: breakpoints of inputs, prescribed motions and obstacle paths.

    Attributes:
        none_until: up to here there are none to come [s].
    """

    def __init__(self, simulation: Simulation) -> None:
        self._sources = simulation.system.bodies
        self._obstacles = simulation.obstacles
        self._step = simulation.step_length
        self._known_until = -math.inf
        self._stops: list[float] = []
        self._passed = 0
        self.none_until = -math.inf

    def next_stop(self, now: float, target: float) -> float:
        """The first breakpoint in (now, target), else the target; both within rounding count as the target."""
        if target > self._known_until:
            self._look_ahead(now, target)
        stops, close = self._stops, 1e-9 * self._step
        while self._passed < len(stops) and stops[self._passed] <= now + close:
            self._passed += 1
        if self._passed < len(stops) and stops[self._passed] < target - close:
            return stops[self._passed]
        return target

    def _look_ahead(self, now: float, target: float) -> None:
        """Collect the breakpoints of the next thousand steps at once."""
        until = target + 1000.0 * self._step
        found: set[float] = set()
        for source in (*self._sources, *self._obstacles):
            found.update(source.breakpoints(now, until))
        self._stops, self._passed = sorted(found), 0
        self._known_until = until
        self.none_until = until if not found else -math.inf
