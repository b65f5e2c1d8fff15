"""Pushing out of an overlap is a repair: it must not throw what can hardly move along a normal.

A contact in a penetration −φ asks for the speed c = −s(φ)/h along its normal n. Alone it would give the bodies

    v = c·δ,   δ = G·J_nᵀ/W_nn,   W_nn = J_n·G·J_nᵀ,     r = max|J_f·δ|                                   (1)

J_f are the rows of the frames' origins: r is the speed of the fastest one per speed at the contact. It is 1 at most
where a rigid body is free, and ℓ/a where one of the length ℓ turns about a clamp or a joint at the distance a. 30 µm
of overlap at 25 µm from the clamp of a rod then ask for a turn of a radian, for c·r in the first step, and for the
impulse c/W_nn of an effective mass that grows with r². So the contact asks for

    c·min(1, K/r)²                                                                                   (2)

No law of contact says how fast an overlap recedes. With (2) no part of a body moves by it faster than K·c, and the
impulse is at most that of the leverage K, wherever the contact is. What moves into the obstacle there is stopped by the
law of the lever, with an impulse that grows with 1/a: that is no repair, and stays.

A free rigid body is no lever. In heaps, whose contacts are mostly those of such bodies, (1) is evaluated for contacts
of the others alone: bodies of several frames, and what constraints, joints or given motion hold. For solvers that
eliminate for themselves G is factorised in steps alone in which such a push counts.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.state import State
from corekit.engine.step.normal_response import AT_ONCE, mobility, normal_responses
from corekit.roles.body import Body

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["NOTICED", "limit_push_out", "share_of", "update_fastest"]

_LEVERAGE: Final = 10.0
"""K of (2): nothing is changed for an arm that is pushed at a tenth of its length."""
NOTICED: Final = 1e-3
"""Motion of a step from which a push counts, relative to `negligible_motion`, to which a leverage of 1,000 leads."""

_TINY: Final = sys.float_info.min


def limit_push_out(
    world: WorldTerms, state: State, step: float, bias: Array, factorise: Callable[[], object]
) -> Array:
    """The bias of the current contacts, (m, width), with (2) for c, by the matrix of the step.

    Args:
        state: of the world where frames are looked at.
        step: h [s].
        bias: with c; it is returned where (2) changes nothing.
        factorise: what factorises the matrix where that has not been done.
    """
    pipeline = world.pipeline
    if pipeline is None:
        return bias
    least = NOTICED * pipeline.negligible_motion / step
    if pipeline.fastest_push <= least:
        return bias
    noticed = np.flatnonzero(pipeline.push > least)
    if len(noticed) and world.has_many_contacts(len(bias)):
        owner = pipeline.scene.table.body[pipeline.contacts.shape[noticed]]
        noticed = noticed[((owner >= 0) & _may_lever(world)[owner]).any(axis=1)]
    if not len(noticed):
        return bias
    factorise()
    if not world.factorisation.succeeded:
        return bias
    limited = bias.copy()
    for begin in range(0, len(noticed), AT_ONCE):
        some = noticed[begin : begin + AT_ONCE]
        limited[some, 0] += pipeline.push[some] * (1.0 - _shares(world, state, some) ** 2)
    return limited


def _may_lever(world: WorldTerms) -> BoolArray:
    """Of which bodies a frame may move much faster than what an impulse pushes, shape (bodies,)."""
    found = np.array(
        [
            len(terms.body.description.frames) > 1 or terms.rows is not None or len(terms.prescribed) > 0
            or terms.body.nv != (6 if terms.body.description.plane is None else 3)
            for terms in world.bodies
        ]
    )  # fmt: skip
    for cluster in world.factorisation.clusters:
        if cluster.elimination is not None:
            found[list(cluster.bodies)] = True
    return found


@compiled
def share_of(row: Array, moved: Array, fastest: float) -> float:
    """min(1, K/r) of (2) of one contact.

    Args:
        row, moved: J_n and G·J_nᵀ, both (nv,). fastest: max|J_f·G·J_nᵀ|.
    """
    # of what cannot move nothing is asked
    return min(_LEVERAGE * mobility(row, moved) / max(fastest, _TINY), 1.0)


@compiled
def update_fastest(first: int, dofs: IntArray, values: Array, moved: Array, fastest: Array) -> None:
    """Raise the speeds of the fastest frame, (k,), to those of a body's frames.

    Args:
        first: where the body's velocities begin. dofs, values: rows of its frames' origins, (f, w) and (f, 3, w).
        moved: velocities of the world for each of k contacts, (k, nv).
    """
    for c in range(len(fastest)):
        for f in range(len(dofs)):
            square = 0.0
            for a in range(3):
                speed = 0.0
                for j in range(dofs.shape[1]):
                    speed += values[f, a, j] * moved[c, first + dofs[f, j]]
                square += speed * speed
            fastest[c] = max(fastest[c], math.sqrt(square))


def _shares(world: WorldTerms, state: State, some: IntArray) -> Array:
    """min(1, K/r) of (2) of some contacts, shape (k,)."""
    rows, moved = normal_responses(world, some)
    fastest = np.zeros(len(some))
    for terms, where, own in zip(world.bodies, world.slices, state.body_states, strict=True):
        if moved[:, where].any():
            update_fastest(where.start, *_frame_rows(terms.body, own), moved, fastest)
    return np.array([share_of(*each) for each in zip(rows, moved, fastest, strict=True)])


def _frame_rows(body: Body, state: State) -> tuple[IntArray, Array]:
    """Rows of the origins of a body's frames, (f, w) and (f, 3, w)."""
    own, model = body.description, body.abilities.point_jacobian
    assert model is not None  # composition refuses contact of others
    count, width = len(own.frames), own.jacobian_width
    dofs, values = np.zeros((count, width), dtype=np.int64), np.zeros((count, 3, width))
    model.compute_point_jacobians(state, np.arange(count), np.zeros((count, 3)), dofs, values)
    return dofs, values
