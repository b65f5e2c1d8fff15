"""The loop: steps that end on a fixed grid and at breakpoints, and stop at the first bad value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import Any, final

import numpy as np

from corekit.compiled.watching import announced_compilation
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit.data.status import StepReport
from corekit.errors import ControlError
from corekit.roles.body import Body, frame_state
from corekit.roles.body_inputs import BodyInputs, InputsByBody
from corekit.roles.component import (
    Component,
    InternalState,
    Seeded,
    Stateful,
    collect_states,
    component_seed,
    restore_states,
    states_below,
)
from corekit.roles.controller import Controller, FrameState
from corekit.roles.integrator import Integrator
from corekit.roles.joint import JointForce
from corekit.roles.model import Model
from corekit.roles.obstacles import GivenMotion, Obstacle
from corekit.roles.world import World
from corekit.simulation import arguments as ask
from corekit.simulation.breakpoints import Breakpoints
from corekit.simulation.controllers import (
    ControlFunction,
    SampledControllers,
    Turn,
    check_controller,
    sampling_steps,
)  # fmt: skip
from corekit.simulation.frames import find_body, find_frame, name_shape, shape_bodies
from corekit.simulation.names import names_of
from corekit.simulation.renewing import Renewing
from corekit.simulation.start_overlap import refuse_deep_overlap
from corekit.simulation.step_failure import check_length, endless_cuts, step_failed
from corekit.simulation.step_observers import Observer, StepObservers
from corekit.simulation.step_parts import MOST_PARTS, StepParts

__all__ = ["Observer", "Simulation"]


@final
class Simulation:
    """A composed world with its integrator, at a state.

    Time is t₀ + n·h, or the breakpoint beside it (`corekit.simulation.breakpoints`): `step_index` n counts grid steps,
    and a breakpoint of an input that falls between two grid points splits the step there.

    Args:
        system: the world's step equation.
        integrator: of the run.
        obstacles: for their breakpoints and pictures.
        step: h [s].
        components: every component with internal state, by its path in the scenario.
        component_names: registered name of each, as the scenario's `use` gives it, by the same path.

    Attributes:
        renew: gives it other parameters; None without a scenario.
    """

    def __init__(
        self,
        system: World,
        integrator: Integrator,
        obstacles: Sequence[Obstacle] = (),
        step: float = 1e-3,
        components: Mapping[str, Component] | None = None,
        start_time: float = 0.0,
        component_names: Mapping[str, str] | None = None,
    ) -> None:
        self.system, self.integrator = system, integrator
        self.obstacles, self.step_length = tuple(obstacles), step
        self.components = dict(components or {})
        self._component_names = dict(component_names or {})
        self.start_time = start_time
        self.step_index, self.steps_ahead = 0, 0  # grid steps, and those of them that an installed batch made
        self.report = StepReport(accepted=True, step_size=0.0)
        self._now, self._next = system.new_state(), system.new_state()
        self._now.time = start_time
        self._breakpoints = self._new_breakpoints()
        self._observers = StepObservers()
        self._controllers, self.turn = SampledControllers(), Turn()
        self.renew: Renewing | None = None
        self._start: InternalState | None = None
        self._is_announced = False
        self._parts = StepParts(tuple(joint.name for joint in system.joints))

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

    def _new_breakpoints(self) -> Breakpoints:
        carriers = [joint.second for joint in self.system.joints if isinstance(joint.second, GivenMotion)]
        return Breakpoints((*self.bodies, *self.obstacles, *carriers), self.step_length)

    def observe(self, observer: Observer) -> None:
        """Call `observer` after every accepted step."""
        ask.check_arguments("Simulation.observe", observer=(observer, ask.FUNCTION))
        self._observers.add(observer)

    @property
    def is_observed(self) -> bool:
        """Whether anything looks at single steps."""
        return bool(self._observers)

    def contacts(self) -> ContactRecord:
        """Return what every contact did in the last grid step; `names` says between whom, `force` how it pushed.

        An observer of a grid step that a breakpoint or a potential's layer cuts gets what they did in it so far.
        """
        record = self._parts.contacts(self.system.record())
        record.owners = self.shape_owners
        return record

    @cached_property
    def shape_owners(self) -> tuple[str, ...]:
        """Name of the body or obstacle of every shape."""
        return (*shape_bodies(self.bodies), *(obstacle.name for obstacle in self.obstacles))

    def names(self) -> Mapping[str, tuple[str, ...]]:
        """Return all names: `bodies`, `obstacles`, `joints`, `coordinates`, `velocities`, `inputs`, `frames`."""
        return names_of(self.bodies, self._parts.joints, self.obstacles)

    def joint_force(self, name: str) -> JointForce:
        """Return the mean force and torque that a joint gave its first frame in the last grid step, as `contacts`."""
        return self._parts.joint_force(name, self.system.joint_force(name, self._now), self.report.step_size)

    def body(self, name: str) -> Body:
        """Return a body by its name."""
        return find_body(self.bodies, name)

    @cached_property
    def inputs(self) -> Mapping[str, BodyInputs]:
        """The bodies' inputs: `inputs["arm"]["tension"] = u` holds u from the next step on, see `BodyInputs`."""
        for body in self.bodies:
            body.inputs.written = True
        if self.step_index and isinstance(self.integrator, Stateful):
            self.integrator.restore({})  # it may have run ahead with inputs that it took for known
        return InputsByBody({body.name: body.inputs for body in self.bodies})

    def controller(self, name: str) -> Any:
        """Return a controller by its name."""
        return self._controllers[name]

    def frame(self, name: str) -> FrameState:
        """Return pose and velocities of a frame now, by `body.frame`; `corekit info FILE` lists them."""
        body, index = find_frame(self.bodies, name)
        return frame_state(body, self._now.body_states[body.index], index)

    @contextmanager
    def record_steps(self, *, repeats: bool = False) -> Iterator[list[Any]]:
        """Keep the record of every accepted step in a list: `with simulation.record_steps() as tape:`.

        Later steps leave records as they are. A grid step that is cut into parts has a record for each. Of steps that
        it `repeats` other observers do not hear.
        """
        tape: list[Any] = []

        def keep(_: Simulation, __: StepReport) -> None:
            tape.append(self.system.freeze_step(self._next, self._now, tape[-1] if tape else None))

        with self._observers.replaced((keep,)) if repeats else self._observers.also(keep):
            yield tape

    def add_controller(
        self,
        controller: Controller | ControlFunction,
        *,
        every: float | None = None,
        name: str = "controller",
    ) -> None:
        """Drive inputs by a function `(simulation) -> inputs` or a `Controller`, sampled from the next step on.

        Args:
            controller: returns values by body and channel, `{"arm": {"tension": u}}`, held until its next sample. One
                with memory is a `Controller` that is `Stateful`.
            every: sampling period [s], a whole number of steps; a step if None.
            name: of the controller.
        """
        check_controller("Simulation.add_controller", controller, every, name)
        path = f"controllers.{name}"
        self._controllers.add(name, controller, sampling_steps(every, self.step_length, path))
        if isinstance(controller, Component):
            self.components.setdefault(path, controller)

    def sample_controllers(self) -> None:
        """Compute the inputs of the controllers that are due; `step` does so too."""
        self._controllers.sample(self)

    def reset(
        self,
        *,
        seed: int | None = None,
        state: State | Mapping[str, np.ndarray[Any, Any]] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """Go back to the start: initial state, signals of the scenario, fresh components, controllers sampled anew.

        Args:
            seed: of the random streams; the scenario's if None.
            state: where to begin instead: q, v and aux of a `State`, at the start time; or what `internal_state`
                returned, to continue from there bit for bit.
            parameters: path in the scenario → value, for example `{"bodies.arm.options.stiffness": 200.0}`. Numbers
                among the options of a body make a new model alone; anything else composes the world anew.
        """
        ask.check_arguments(
            "Simulation.reset", seed=(seed, ask.or_none(ask.COUNT)), state=(state, ask.or_none(ask.STATE)),
            parameters=(parameters, ask.or_none(ask.TABLE)),
        )  # fmt: skip
        if self._start is None:
            raise ControlError("only a simulation that a scenario composed knows its start")
        self.restore(self._start)
        if parameters:
            if self.renew is None:
                raise ControlError("only a simulation that a scenario composed can have other parameters")
            self.renew(self, parameters)
        if seed is not None:
            for path, each in self.components.items():
                if isinstance(each, Seeded):
                    each.reseed(component_seed(seed, path))
        self._controllers.restart()
        self.system.forget()
        self._parts.begin()
        self.report = StepReport(accepted=True, step_size=0.0)
        if isinstance(state, State):
            ask.check_state(state, self._now)
            self._now.q[:], self._now.v[:], self._now.aux[:] = state.q, state.v, state.aux
            self.system.admit(self._now)
        elif state is not None:
            self.restore(state)

    def replace_models(self, models: Mapping[str, Model]) -> None:
        """Compute bodies by other models, by their names; see `BodyTerms.replace_model`."""
        for name, model in models.items():
            self.system.replace_model(self.body(name).index, model)
            self.components[f"bodies.{name}"] = model

    def mark_start(self, renew: Renewing | None = None) -> None:
        """Make `reset` return to the state now, and set other parameters by a function of simulation and values."""
        self._start, self.renew = self.internal_state(), renew

    def become(self, other: Simulation) -> None:
        """Become another simulation, with one's own observers and the controllers that Python added."""
        added = {path: each for path, each in self.components.items() if path not in other.components}
        other._controllers.add_missing(self._controllers)
        other._observers = self._observers
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)
        self.components.update(added)

    def step(self) -> StepReport:
        """Advance by one grid step; raises StepFailed and keeps the last good state if it cannot."""
        if self._is_announced:
            with self.turn:
                return self._advance()
        self._is_announced = True  # the first step compiles
        with announced_compilation():
            return self.step()

    def gradient(self, loss: Callable[[Any], float], **options: Any) -> Any:
        """Run on, and differentiate a loss of that run; see `corekit_gradients.run_gradient.find_gradient`."""
        from corekit.simulation.installed_tools import gradient_tool

        return gradient_tool().find_gradient(self, loss, **options)

    def linearise(self) -> Any:
        """Linearise the next step in state and inputs; see `corekit_gradients.linearisation.linearise`."""
        from corekit.simulation.installed_tools import gradient_tool

        return gradient_tool().linearise(self)

    def _advance(self) -> StepReport:
        if self._controllers:
            self._controllers.sample(self)
        breakpoints, following = self._breakpoints, self.step_index + 1
        if not self.step_index:
            refuse_deep_overlap(self)
            breakpoints.begin(self._now, self.system.admit)
        target = breakpoints.at_grid(self._now.time, self.start_time + following * self.step_length)
        self._parts.begin()
        while True:
            system, now, out = self.system, self._now, self._next
            stop = target if breakpoints.none_until >= target else breakpoints.next_stop(now.time, target)
            report = system.step(self.integrator, now, stop, out, self.step_length)
            if not report.accepted:
                raise step_failed(self, out, report)
            check_length(self, out.time - now.time, report.step_size)
            self._now, self._next, self.report = out, now, report
            self._observers.call(self, report, self.turn)
            if out.time >= target:
                self.step_index, self.report = following, self._parts.report(report)
                return self.report
            forces = {name: self.joint_force(name) for name in self._parts.joints}
            self._parts.add(self.contacts(), forces, report.solve_info)
            if self._parts.are_endless(self.step_length - (target - out.time), self.step_length):
                raise endless_cuts(self, MOST_PARTS, self._parts.progress)

    def warm_up(self, *, announce: bool = True) -> None:
        """Make a few steps, with rehearsed contacts and free, and undo them: kernels are loaded before the first one.

        What has to be compiled is announced by one line of the logger `corekit`, unless a run shows it.
        A kernel that no such step needs (of a solver's fallback, say) is still loaded when it is called.
        """
        self._is_announced = True
        with announced_compilation() if announce else nullcontext():
            kept = self.internal_state()
            components = self.components.values()
            self.system.rehearse(self.integrator, self._now, self._next, self.step_length, components)
            self.restore(kept)
            self.system.forget()

    def rewind(
        self,
        internal_state: Mapping[str, np.ndarray[Any, Any]],
        step_index: int,
        observers: Sequence[Observer] = (),
    ) -> None:
        """Restore an internal state and step from it to a grid step, with other observers or none."""
        ask.check_arguments("Simulation.rewind", step_index=(step_index, ask.COUNT))
        with self._observers.replaced(observers):
            self.restore(internal_state)
            while self.step_index < step_index:
                self.step()

    def run(self, until: float) -> None:
        """Step until `until` [s] after the start time, many steps at once where nothing observes them; if past, not."""
        if not ask.is_number(until):
            raise ControlError(f"a simulation runs until a finite time, not {until!r} s")
        from corekit.simulation.installed_tools import advance  # single steps need no hooks

        self._is_announced = True
        with announced_compilation():
            advance(self, round(until / self.step_length))

    def shape_owner(self, shape: int) -> str:
        """Return `body.number` of a body's shape, or the name of an obstacle, by its index among all shapes."""
        return name_shape(self.bodies, self.shape_owners, shape)

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
        for body in self.bodies:
            kept |= {
                f"inputs/{body.name}/{name}": each for name, each in body.inputs.internal_state().items()
            }
        kept |= {f"sampling/{name}": array for name, array in self._controllers.internal_state().items()}
        return kept | collect_states(self.components)

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `internal_state` returned."""
        with self.turn:
            ask.check_state(internal_state, self._now)
            self._now.time = float(internal_state["time"])
            self.step_index = int(internal_state["step_index"])
            for name in ("q", "v", "aux"):
                getattr(self._now, name)[:] = internal_state[name]
            self._breakpoints = self._new_breakpoints()
            self.system.restore(states_below("system/", internal_state))
            for body in self.bodies:
                body.inputs.restore(states_below(f"inputs/{body.name}/", internal_state))
            self._controllers.restore(states_below("sampling/", internal_state))
            restore_states(self.components, internal_state)
