"""A plan between its instants, with the differences of the simulator's steps and the forces about it, for a law.

The planner's steps are implicit Euler's, q_k = integrate(q_{k−1}, v_k, h) with u_k held; a law that is sampled more
often tracks the motion with these velocities,

    q(t) = integrate(q_{k−1}, v_k, t − t_{k−1}),   v(t) = v_k,   u(t) = u_k   for t in (t_{k−1}, t_k]      (1)

What the simulator's own steps miss of it is the offset of `step_differences` (1). A plan file may ask for a motion that
presses more, waits before it begins, or ends at the targets (`firmer_motion`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.roles.planner import Plan
from corekit.scenario.dump import resolved_document
from corekit.scenario.load import from_document
from corekit.scenario.scenario import Scenario
from corekit.simulation.loop import Simulation
from corekit_study.firmer_motion import add_press, holding_inputs, led_to_targets
from corekit_study.motion_balance import WorldForces, balance_motion
from corekit_study.plan_file import TrackingTable
from corekit_study.plan_judge import planned_states
from corekit_study.step_differences import difference_motion

__all__ = ["plan_motion"]


def plan_motion(plan: Plan, scenario: Scenario, asked: TrackingTable) -> dict[str, Array]:
    """Difference the simulator's steps and balance the forces about a plan, sampled at a period.

    Args:
        plan: with inputs.
        scenario: the world that it was planned for.
        asked: its sampling period divides the plan's intervals and the time before it begins, and the scenario's step
            divides that.
    Raises:
        ConfigError: it does not.
        StepFailed: a step from a displaced state has no answer.
    """
    every, simulation = asked.every, _without_sources(scenario)
    shares = [round(float(each) / every) for each in np.diff(plan.time)]
    steps = round(every / simulation.step_length)
    if any(
        abs(share * every - each) > 1e-9 for share, each in zip(shares, np.diff(plan.time), strict=True)
    ) or (not steps or abs(steps * simulation.step_length - every) > 1e-9):
        said = f"must divide the plan's intervals, and be a whole number of steps of {simulation.step_length:g} s"
        raise ConfigError([Mistake("replay.tracking.every", every, said)], "the plan file")
    waits = round(asked.settle / every)
    if abs(waits * every - asked.settle) > 1e-9:
        raise ConfigError(
            [
                Mistake(
                    "replay.tracking.settle",
                    asked.settle,
                    f"must be a whole number of periods of {every:g} s",
                )
            ],
            "the plan file",
        )
    planned = planned_states(plan, scenario)
    inputs: dict[str, Array] = {
        name: motion.inputs[1:] for name, motion in plan.bodies.items() if motion.inputs is not None
    }
    world = WorldForces(simulation, tuple(inputs))
    held = holding_inputs(world, planned[0], inputs)
    held = add_press(world, [planned[0], _at_rest(planned[0])], held, asked.press)
    pressing = add_press(world, planned, inputs, asked.press)
    inputs = {
        name: np.concatenate([np.repeat(held[name], waits, axis=0), np.repeat(each, shares, axis=0)])
        for name, each in pressing.items()
    }
    if asked.ends == "target":
        planned = planned_states(led_to_targets(plan), scenario)
    states = [_at_rest(planned[0]) for _ in range(waits)] + _between(simulation, planned, shares, plan.time)
    time: Array = every * np.arange(len(states), dtype=float)
    differences = difference_motion(simulation, states, time, inputs)
    if any(body.description.constraint_count for body in simulation.bodies):
        return differences.as_arrays()  # forces of constraints are in no balance
    balance = balance_motion(simulation, states, time, inputs, tuple(plan.objects))
    return {**differences.as_arrays(), **balance.as_arrays()}


def _at_rest(state: State) -> State:
    held = state.copy()
    held.v[:] = 0.0
    return held


def _without_sources(scenario: Scenario) -> Simulation:
    """The world with nothing that drives its inputs."""
    document = resolved_document(scenario)
    document.pop("controllers", None)
    document["output"] = {}
    for body in document["bodies"]:
        body["inputs"] = []
    return from_document(document, source=scenario.source, allow_code=scenario.allow_code).compose()


def _between(
    simulation: Simulation, planned: Sequence[State], shares: Sequence[int], time: Array
) -> list[State]:
    """States of (1)."""
    states = [planned[0].copy()]
    for k, share in enumerate(shares):
        interval = float(time[k + 1] - time[k])
        for i in range(1, share + 1):
            state = planned[k + 1].copy()
            if i < share:
                for body in simulation.bodies:
                    start, out = planned[k].body_states[body.index], state.body_states[body.index]
                    body.model.integrate(start, out.v.copy(), interval * i / share, start, out)
            states.append(state)
    return states
