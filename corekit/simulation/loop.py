"""The loop: steps that end on a fixed grid and at breakpoints, and stop at the first bad value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np
from attrs import evolve

from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.data.step import StepReport
from corekit.dynamics.bodies import Body
from corekit.dynamics.obstacles import Obstacle
from corekit.dynamics.placeholder import placeholder_contact, placeholder_problem
from corekit.dynamics.world_system import WorldSystem
from corekit.errors import StepFailed
from corekit.roles.component import Component, InternalState, collect_states, restore_states
from corekit.roles.contact import ImpulseSolver
from corekit.roles.integrator import Integrator
from corekit.simulation.step_failure import FailedStep

__all__ = ["Observer", "Simulation"]

Observer = Callable[["Simulation", StepReport], object]
"""Called after every accepted step, with the simulation at its new state."""


@final
class Simulation:
    """A composed world with its integrator, at a state.

    Time is t₀ + n·h: `step_index` n counts grid steps, and a breakpoint of an input that falls between
    two grid points splits the step there. Two buffers are swapped when a step is accepted.

    Args:
        system: the world's step equation.
        integrator: of the run.
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
        """Return the registered name of a component; its class name if no scenario named it."""
        paths = (path for path, each in self.components.items() if each is component)
        return self._component_names.get(next(paths, ""), type(component).__name__)

    def observe(self, observer: Observer) -> None:
        """Call `observer` after every accepted step."""
        self._observers = (*self._observers, observer)

    def contacts(self) -> ContactRecord:
        """Return what every contact did in the last step."""
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
                raise self._unresolved_error(report.step_size)
            if report.accepted:
                impact = self.system.resolve_impacts(now, out)
                report = report if impact is None else evolve(report, solve_info=impact)
            if not (report.accepted and self.system.accept(out, report.step_size)):
                integrator = type(self.integrator).__name__
                failed = FailedStep(
                    self.system, now, out, report, integrator, self.step_length, self.step_index
                )
                raise failed.error()
            self._now, self._next, self.report = out, now, report
            if self._observers:
                for observer in self._observers:
                    observer(self, report)
            if out.time >= target:
                self.step_index = following
                return report

    def warm_up(self) -> None:
        """Make a step with a placeholder contact and undo it, so that kernels are loaded before the first step.

        A kernel that no such step needs (of a solver's fallback, say) is still loaded when it is called.
        """
        pipeline = self.system.pipeline
        kept = self.internal_state()
        if pipeline is not None:
            pipeline.placeholder = placeholder_contact(
                self.bodies, len(pipeline.scene.table), pipeline.record_width
            )
        self.integrator.step(self.system, self._now, self._now.time + self.step_length, self._next)
        self.system.resolve_impacts(self._now, self._next)
        if pipeline is not None:
            pipeline.placeholder = None
        self.restore(kept)
        self.system.forget()

    def warm_up_contact(self) -> None:
        """Call detectors and contact solver with placeholders, so that their kernels are compiled.

        Shapes and contacts do not match the state afterwards: step another simulation.
        """
        solver, pipeline = self.system.solver, self.system.pipeline
        if pipeline is None:
            return
        pipeline.warm_up()
        if isinstance(solver, ImpulseSolver):
            problem = placeholder_problem(pipeline.width, self.step_length, pipeline.record_width)
            solver.solve(problem, np.zeros(pipeline.width))

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

    def _unresolved_error(self, step: float) -> StepFailed:
        """Return the error of a step in which two shapes pass each other, which a contact potential cannot notice."""
        one, other = (self.shape_owner(shape) for shape in self.system.unresolved_pair or (0, 0))
        solver = self.component_name(self.system.solver)
        return StepFailed(
            f"{one} and {other} move so fast that they pass through each other within a step of {step:g} s, and the "
            f"contact potential {solver!r} would not notice. Use a smaller step, or a contact solver with impulses.",
            step=self.step_index,
            time=self.time,
        )

    def shape_owner(self, shape: int) -> str:
        """Return `body.number` of a body's shape, or the name of an obstacle, by its index among all shapes."""
        for body in self.bodies:
            if shape < body.first_shape + len(body.description.shapes):
                return f"{body.name}.{shape - body.first_shape}"
        last = self.bodies[-1]
        return self.obstacles[shape - last.first_shape - len(last.description.shapes)].name

    # — internal state —

    def internal_state(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return everything needed to continue bit for bit, as named arrays."""
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
        for name in ("q", "v", "aux"):
            getattr(self._now, name)[:] = internal_state[name]
        self._breakpoints = _Breakpoints(self)
        own = {name[7:]: array for name, array in internal_state.items() if name.startswith("system/")}
        self.system.restore(own)
        restore_states(self.components, internal_state)


class _Breakpoints:
    """Instants at which steps must end inside a grid interval: of inputs, prescribed motions and obstacle paths.

    Attributes:
        none_until: time up to which there is none to come [s].
    """

    def __init__(self, simulation: Simulation) -> None:
        self._sources = (*simulation.bodies, *simulation.obstacles)
        self._step = simulation.step_length
        self._known_until = -math.inf
        self._stops: list[float] = []
        self._passed = 0
        self.none_until = -math.inf

    def next_stop(self, now: float, target: float) -> float:
        """Return the first breakpoint between now and target, apart from both beyond rounding, else the target."""
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
        for source in self._sources:
            found.update(source.breakpoints(now, until))
        self._stops, self._passed = sorted(found), 0
        self._known_until = until
        self.none_until = until if not found else -math.inf
