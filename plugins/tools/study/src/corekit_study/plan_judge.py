"""Whether a plan is what it claims to be: judged by the scenario's own model, whatever its planner says.

A plan is certified where it is finite, begins where the scenario does or where its file lets it begin, keeps the bounds
of inputs, and every interval is a motion of the world. For that the scenario is simulated over each interval alone,
from the planned states at its start and with the planned inputs, and must end at the planned states. Any scheme of
order one that a planner may use takes the velocity of an interval between those at its two ends, so that the gap d of a
place may be

    d ≤ Σ_bodies |x(q₋ ⊕ h·v₋) − x(q₋ ⊕ h·v₊)| + s                                               (1)

with x the frames of a body, the largest of each, and s the size of the body times 1e-3. What is left out is of the
second order. Coordinates must follow from velocities within (1), too: d of q₋ ⊕ h·v₊, which is all that is judged where
no inputs are planned. Nothing may be deeper in anything than the watchdog's limit.

Objects are planned by the poses of their first shape. Their coordinates are found by Gauss and Newton's method from
these, and their velocities from two of them: that at the start of an interval is the mean of the one before, and off by
as much as the velocity changes there. So their part of (1) of the interval before is added.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import CorekitError, PluginError
from corekit.geometry.frames import rotation_from_quat_wxyz
from corekit.roles.body import Body
from corekit.roles.planner import Plan
from corekit.scenario.dump import resolved_document
from corekit.scenario.load import from_document
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation

__all__ = ["PlanVerdict", "check_form", "judge_plan", "planned_states"]

_SHARE = 1e-3
_DEEPEST = 0.01
_SLACK = 1e-9
_RELAXED = 1e-6
"""Of the largest input, by which it may leave bounds: optimisers relax them by 1e-8, and the simulation clips it."""
_STEP, _ITERATIONS = 1e-6, 8


@frozen
class PlanVerdict:
    """What the plan is worth.

    Args:
        reasons: why it is not certified, in sentences; none if it is.
        figures: what was measured, by name with its unit: plain data for JSON.
    """

    reasons: tuple[str, ...]
    figures: Mapping[str, float]

    @property
    def certified(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.reasons

    def as_data(self) -> dict[str, Any]:
        """Return the verdict as JSON can hold it."""
        return {"certified": self.certified, "reasons": list(self.reasons), **self.figures}


def check_form(plan: Any, simulation: Simulation, planner: str) -> Plan:
    """Return a plan whose arrays fit the world.

    Raises:
        PluginError: naming the planner and what is wrong with what it returned.
    """
    if not isinstance(plan, Plan):
        raise PluginError(
            f"the planner {planner!r} answered with a {type(plan).__name__}, not with a `Plan`: it is to be called "
            "from Python, with a task of its own"
        )
    count, bodies = len(np.atleast_1d(plan.time)), {body.name: body for body in simulation.bodies}
    wanted: list[tuple[str, Any, tuple[int, ...]]] = [("time", plan.time, (max(count, 2),))]
    for name in (*plan.bodies, *plan.objects):
        if name not in bodies:
            raise PluginError(
                f"the planner {planner!r} answered with a motion of {name!r}, and the bodies are {', '.join(bodies)}"
            )
    for name, motion in plan.bodies.items():
        body = bodies[name]
        wanted += [(f"{name}.q", motion.q, (count, body.nq)), (f"{name}.v", motion.v, (count, body.nv))]
        if motion.inputs is not None:
            wanted.append((f"{name}.inputs", motion.inputs, (count, body.description.input_size)))
    for name, moved in plan.objects.items():
        wanted += [
            (f"{name}.position", moved.position, (count, 3)),
            (f"{name}.quat_wxyz", moved.quat_wxyz, (count, 4)),
        ]
    for name, values, shape in wanted:
        if np.shape(values) != shape:
            raise PluginError(
                f"the planner {planner!r} answered with {name} of shape {np.shape(values)} instead of {shape}"
            )
    return plan


def judge_plan(plan: Plan, scenario: Scenario, begins_freely: frozenset[str]) -> PlanVerdict:
    """Judge a plan that `check_form` let pass.

    Args:
        begins_freely: bodies that may begin elsewhere than in the scenario, as the plan's file says.
    """
    arrays: dict[str, Array] = {"time": plan.time}
    for name, motion in plan.bodies.items():
        arrays |= {f"{name}.q": motion.q, f"{name}.v": motion.v}
        arrays |= {} if motion.inputs is None else {f"{name}.inputs": motion.inputs}
    for name, moved in plan.objects.items():
        arrays |= {f"{name}.position": moved.position, f"{name}.quat_wxyz": moved.quat_wxyz}
    if bad := [name for name, values in arrays.items() if not np.isfinite(values).all()]:
        return PlanVerdict((f"{', '.join(bad)} is not finite",), {})
    steps = np.diff(plan.time)
    if plan.time[0] != 0.0 or not (steps > 0.0).all():
        return PlanVerdict(("its instants do not begin at 0 and grow",), {})
    if bad := [name for name, moved in plan.objects.items() if not _is_unit(moved.quat_wxyz)]:
        return PlanVerdict((f"the quaternions of {', '.join(bad)} are no unit ones",), {})
    try:
        return _Judge(plan, scenario).judge(begins_freely)
    except CorekitError as error:
        return PlanVerdict((f"the scenario cannot be simulated along it: {error}",), {})


def _is_unit(quat: Array) -> bool:
    return bool(np.abs(np.linalg.norm(quat, axis=1) - 1.0).max() <= 1e-6)


class _Judge:
    """Simulates a plan interval by interval."""

    def __init__(self, plan: Plan, scenario: Scenario) -> None:
        self._plan = plan
        self._scenario, self._simulations = scenario, dict[float, Simulation]()
        self._world = self._simulation(float(plan.time[1]))
        self._of_objects = 0.0
        self._names = {body.name: body for body in self._world.bodies}
        self._states = [self._world.state.copy() for _ in plan.time]
        self._sizes = {
            name: float(np.linalg.norm(np.ptp(self._outline(body), axis=0)))
            for name, body in self._names.items()
        }

    def _outline(self, body: Body) -> Array:
        return body.model.compute_outline(self._world.state.body_states[body.index]).points

    def _simulation(self, interval: float) -> Simulation:
        """The scenario with steps that divide an interval [s]."""
        step = self._scenario.time.step
        own = interval / max(1, round(interval / step))
        key = round(own, 15)
        if key not in self._simulations:
            document = resolved_document(self._scenario)
            document["time"] = {"duration": own, "step": own}
            document["output"] = {}
            document.pop("controllers", None)
            given = self._scenario
            self._simulations[key] = from_document(
                document, source=given.source, allow_code=given.allow_code
            ).compose()
        return self._simulations[key]

    def states(self) -> list[State]:
        """The planned states of the whole world."""
        reasons = [each for body in self._names.values() for each in self._place(body)]
        if reasons:
            raise PluginError(f"the plan cannot be tracked: {reasons[0]}")
        return self._states

    def judge(self, begins_freely: frozenset[str]) -> PlanVerdict:
        plan, figures, reasons = self._plan, dict[str, float](), list[str]()
        for body in self._names.values():
            reasons += self._place(body)
        figures["start_m"], said = self._start(begins_freely)
        reasons += [*said, *self._bounds()]
        worst, where, at = 0.0, "", 0.0
        for k in range(1, len(plan.time)):
            for name, gap, bound in self._gaps(k):
                if gap / bound > worst:
                    worst, where, at = gap / bound, name, float(plan.time[k])
                    figures["largest_gap_m"], figures["its_bound_m"] = gap, bound
        if worst > 1.0:
            reasons.append(
                f"the scenario's own model ends {1e3 * figures['largest_gap_m']:.3g} mm from the planned place of "
                f"{where} at {at:.4g} s, beginning at the planned state before it; "
                f"{1e3 * figures['its_bound_m']:.3g} mm are what schemes may differ by"
            )
        figures["deepest_m"], pair = self._deepest()
        limit = self._scenario.watchdog.penetration.limit or _DEEPEST
        if figures["deepest_m"] > limit:
            reasons.append(f"{pair} are {1e3 * figures['deepest_m']:.3g} mm inside each other")
        return PlanVerdict(tuple(reasons), figures)

    # — the planned states —

    def _place(self, body: Body) -> list[str]:
        """Write the planned states of a body; those of one that is not planned are its start's."""
        plan = self._plan
        own = [state.body_states[body.index] for state in self._states]
        if body.name in plan.bodies:
            motion = plan.bodies[body.name]
            for k, state in enumerate(own):
                state.q[:], state.v[:] = motion.q[k], motion.v[k]
        elif body.name in plan.objects:
            moved = plan.objects[body.name]
            for k, state in enumerate(own):
                before = own[max(k - 1, 0)]
                error = self._reach(body, before, moved.position[k], moved.quat_wxyz[k], state)
                if error > _SHARE * self._sizes[body.name]:
                    return [f"no state of {body.name} has the planned pose at {plan.time[k]:.4g} s"]
                state.v[:] = 0.0 if k == 0 else state.v / (plan.time[k] - plan.time[k - 1])
        return []

    def _reach(self, body: Body, before: State, position: Array, quat: Array, out: State) -> float:
        """Write a state with the first shape at a pose, its displacement as v; return what is left [m]."""
        wanted, size = rotation_from_quat_wxyz(quat), self._sizes[body.name] or 1.0
        moved, trial = np.zeros(body.nv), before.copy()

        def miss(displacement: Array) -> Array:
            body.model.integrate(before, displacement, 1.0, before, trial)
            place, turned = self._first_shape(body, trial)
            return np.concatenate([place - position, (0.5 * size * (turned - wanted)).ravel()])

        for _ in range(_ITERATIONS):
            here = miss(moved)
            slopes = np.stack(
                [(miss(moved + _STEP * each) - here) / _STEP for each in np.eye(body.nv)], axis=1
            )
            moved -= np.linalg.lstsq(slopes, here, rcond=1e-8)[0]
        left = float(np.linalg.norm(miss(moved)))
        out.q[:], out.aux[:], out.v[:] = trial.q, trial.aux, moved
        return left

    def _first_shape(self, body: Body, state: State) -> tuple[Array, Array]:
        """Place and axes of the first shape, or of the first frame where there is none."""
        places, axes = self._frames(body, state)
        if not body.description.shapes:
            return places[0], axes[0]
        shape = body.description.shapes[0]
        place, turned = places[shape.frame], axes[shape.frame]
        return place + turned @ shape.offset.position, turned @ shape.offset.rotation

    def _frames(self, body: Body, state: State) -> tuple[Array, Array]:
        count = len(body.description.frames)
        places, axes = np.zeros((count, 3)), np.zeros((count, 3, 3))
        body.model.compute_frame_poses(state, places, axes)
        return places, axes

    def _apart(self, body: Body, one: State, other: State) -> float:
        """The most by which a frame is elsewhere, or by what its turn moves the body's end [m]."""
        (place, axes), (there, turned) = self._frames(body, one), self._frames(body, other)
        turn = np.linalg.norm(turned - axes, axis=(1, 2)) / np.sqrt(2.0)
        extent = self._sizes[body.name] if len(place) == 1 else 0.0
        return float((np.linalg.norm(there - place, axis=1) + 0.5 * extent * turn).max())

    # — what is judged —

    def _start(self, begins_freely: frozenset[str]) -> tuple[float, list[str]]:
        most, reasons = 0.0, []
        for name in (*self._plan.bodies, *self._plan.objects):
            body = self._names[name]
            start, planned = (each.body_states[body.index] for each in (self._world.state, self._states[0]))
            apart = self._apart(body, start, planned)
            faster = float(np.abs(planned.v - start.v).max(initial=0.0)) if name in self._plan.bodies else 0.0
            most = max(most, apart)
            if name not in begins_freely and apart > _SHARE * self._sizes[name]:
                reasons.append(f"{name} begins {1e3 * apart:.3g} mm from where the scenario has it")
            elif name not in begins_freely and faster > _SLACK * (1.0 + float(np.abs(planned.v).max())):
                reasons.append(
                    f"{name} begins with velocities that are {faster:.3g} off those of the scenario"
                )
        return most, reasons

    def _bounds(self) -> list[str]:
        reasons = []
        for name, motion in self._plan.bodies.items():
            first = 0
            for channel in self._names[name].description.inputs if motion.inputs is not None else ():
                assert motion.inputs is not None
                u = motion.inputs[1:, first : first + channel.size]
                first += channel.size
                slack = _RELAXED * float(np.abs(u).max(initial=0.0))
                if (u < channel.lower - slack).any() or (u > channel.upper + slack).any():
                    reasons.append(
                        f"{name}.{channel.name} goes from {u.min():.4g} to {u.max():.4g} {channel.unit}, and its "
                        f"bounds are {channel.lower:g} and {channel.upper:g}"
                    )
        return reasons

    def _gaps(self, k: int) -> list[tuple[str, float, float]]:
        """Name, gap and bound (1) of every planned body over the interval that ends at instant k."""
        plan, before, after = self._plan, self._states[k - 1], self._states[k]
        h = float(plan.time[k] - plan.time[k - 1])
        planned = [self._names[name] for name in (*plan.bodies, *plan.objects)]
        early, late = self._world.state.copy(), self._world.state.copy()
        spread, of_objects = 0.0, 0.0
        for body in planned:
            start = before.body_states[body.index]
            for end, state in ((early, before), (late, after)):
                v = state.body_states[body.index].v
                body.model.integrate(start, v, h, start, end.body_states[body.index])
            own = self._apart(body, early.body_states[body.index], late.body_states[body.index])
            spread, of_objects = spread + own, of_objects + (own if body.name in plan.objects else 0.0)
        spread, self._of_objects = spread + self._of_objects, of_objects
        is_driven = any(motion.inputs is not None for motion in plan.bodies.values())
        ends = [late, *([self._simulated(k, h)] if is_driven else [])]
        return [
            (
                body.name,
                self._apart(body, end.body_states[body.index], after.body_states[body.index]),
                spread + _SHARE * (self._sizes[body.name] or 1.0),
            )
            for end in ends
            for body in planned
        ]

    def _simulated(self, k: int, h: float) -> State:
        simulation = self._simulation(h)
        simulation.reset(state=self._states[k - 1])
        for name, motion in self._plan.bodies.items():
            first, body = 0, simulation.body(name)
            for channel in body.description.inputs if motion.inputs is not None else ():
                assert motion.inputs is not None
                u = motion.inputs[k, first : first + channel.size]
                simulation.inputs[name][channel.name] = np.clip(u, channel.lower, channel.upper)
                first += channel.size
        simulation.run(h)
        return simulation.state

    def _deepest(self) -> tuple[float, str]:
        pipeline, worst, pair = self._world.system.pipeline, 0.0, ""
        for state in self._states if pipeline is not None else ():
            assert pipeline is not None
            contacts = pipeline.contacts_at_end(state)
            gap = contacts.gap[: contacts.count]
            if contacts.count and -gap.min() > worst:
                worst = float(-gap.min())
                names = (self._world.shape_owner(int(each)) for each in contacts.shape[int(gap.argmin())])
                pair = " and ".join(names)
        return worst, pair


def planned_states(plan: Plan, scenario: Scenario) -> list[State]:
    """Return the states of the whole world at the plan's instants; what is not planned is as at the start.

    Raises:
        PluginError: an object has no state with its planned pose.
    """
    return _Judge(plan, scenario).states()
