"""A motion that holds its contacts more firmly than the plan it is made of, so that a law can track it.

A plan that presses with tenths of a newton is lost to errors of the world or of its own scheme: an arm of chambers of
265 N/m, 10 % stiffer than planned, pulls back by 1.8 N. Where a contact does not slip, the object follows the frame
that touches it whatever it is pressed with. There every contact may press by p more, by inputs

    B·δu = −p·Σ_c n_c                                                                       (1)

n_c the row of a gap's rate; so the differences of the simulator's steps, too, are of contacts that stay closed. Where
it slips, p more would rub, and nothing is added. Before the plan begins, the inputs of

    f(q_0, 0, u) = 0                                                                        (2)

hold its start for a while, pressing: what differs there is found and made up for before anything moves. And where the
plan leaves an object a turn θ and a distance d from its target, as a cost in place of a constraint does, the object may
be led on by s·θ and s·d, s its share of the way that it has gone, 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.planner import ObjectTrajectory, Plan
from corekit_study.motion_balance import WorldForces

__all__ = ["add_press", "holding_inputs", "led_to_targets"]


def add_press(
    world: WorldForces, states: Sequence[State], inputs: Mapping[str, Array], press: float
) -> dict[str, Array]:
    """Return inputs by (1): over each interval those of its end, where the plan's scheme is exact.

    Args:
        world: of the plan. states: at its instants. inputs: per driven body, over each interval, shape (N, nu).
        press: p [N].
    """
    u = np.concatenate([np.zeros((len(states) - 1, 0)), *inputs.values()], axis=1)
    for k, state in enumerate(states[1:]):
        normals = world.sticking(state)
        if press and len(normals):
            drive = world.drive(state, u[k])
            u[k] -= press * np.linalg.pinv(drive) @ normals.sum(axis=0)
    ends = np.cumsum([each.shape[1] for each in inputs.values()])
    return dict(zip(inputs, np.split(u, ends[:-1], axis=1), strict=True))


def holding_inputs(world: WorldForces, start: State, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return inputs by (2), of driven bodies at rest in the coordinates of a state, by least squares, shape (1, nu)."""
    at_rest = start.copy()
    at_rest.v[:] = 0.0
    sizes = [each.shape[1] for each in inputs.values()]
    none = np.zeros(sum(sizes))
    driven = world.is_driven()
    u = -np.linalg.pinv(world.drive(at_rest, none)) @ (driven * world.force(at_rest, none))
    return dict(zip(inputs, np.split(u[None], np.cumsum(sizes)[:-1], axis=1), strict=True))


def led_to_targets(plan: Plan) -> Plan:
    """Return a plan whose objects end at their targets, led on along their way."""
    return attrs.evolve(plan, objects={name: _led(moved) for name, moved in plan.objects.items()})


def _led(moved: ObjectTrajectory) -> ObjectTrajectory:
    from scipy.spatial.transform import Rotation

    planned = Rotation.from_quat(moved.quat_wxyz, scalar_first=True)
    left = (Rotation.from_matrix(moved.target.rotation) * planned[-1].inv()).as_rotvec()
    turned = np.asarray((planned[1:] * planned[:-1].inv()).magnitude(), dtype=float)
    led = Rotation.from_rotvec(_shares(turned)[:, None] * left) * planned
    went = np.linalg.norm(np.diff(moved.position, axis=0), axis=1)
    away = moved.target.position - moved.position[-1]
    return attrs.evolve(
        moved,
        quat_wxyz=led.as_quat(scalar_first=True),
        position=moved.position + _shares(went)[:, None] * away,
    )


def _shares(lengths: Array) -> Array:
    """s at the instants between which lengths lie; that of time where nothing moves."""
    gone = np.concatenate([[0.0], np.cumsum(lengths)])
    return gone / gone[-1] if gone[-1] > 0.0 else np.linspace(0.0, 1.0, len(gone))
