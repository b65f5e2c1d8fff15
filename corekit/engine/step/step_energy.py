"""Whether contacts gave bodies more energy than a step has for them.

In the norm of the step equation, E(v) = ½·vᵀ·A·v ≥ ½·vᵀ·M·v, impulses λ that obey the laws of contact lead from the
free velocity v_f to

    E(v⁺) = E(v_f) + λᵀ·(u_o + c) − ½·δᵀ·A·δ − (what friction takes),     δ = G·Jᵀ·λ                       (1)

E(v_f) has the energy of the start with what forces, drives and stored energy do in the step. u_o is the velocity of
obstacles, and c ≤ cap the speed at which a row pushes out of an overlap. What obstacles do, λᵀ·u_o, is work without a
bound. Pushing out is no physics but a repair, so that it may bring only what its speed explains: along a direction in
which a body can hardly move, c at the contact's normal is any speed across it. Hence

    E(v⁺) ≤ E(v_f) + λᵀ·u_o + |λ_b|ᵀ·|J_b·v⁺| + E(K·c·v⁺/s)                                               (2)

with the work of bounded rows, drives that may stall. s is the largest speed of a point in contact, and the last term
the energy of the same motion at K·c. (2) need not be evaluated where s ≤ K times the speeds at the start, of
obstacles, of pushing out or without contact: a light body that heavier ones hit is not a hundred times as fast.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from corekit.data.arrays import Array
from corekit.engine.bodies.body_terms import BodyTerms
from corekit.engine.step.step_equation import StepEquation
from corekit.engine.step.theta_step import ThetaStep
from corekit.linalg.matrices import Matrix
from corekit.linalg.vectors import max_abs

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["exceeds_energy"]

_FACTOR: Final = 100.0
"""K of (2)."""
_LOST: Final = 1e-3
"""Share of its momentum that a step may have out of balance."""


def exceeds_energy(
    world: WorldTerms, equation: StepEquation, theta: ThetaStep, start: Array, end: Array, residual: float
) -> bool:
    """Whether a step from v₀ = `start` to v⁺ = `end`, both (nv,), breaks (2).

    Args:
        residual: momentum that is out of balance, at the surface [N·s]. A step that came out of contact so fast that it
            is no longer resolved has no impulses to judge by, but it does not balance.
    """
    pipeline, jacobian = world.pipeline, world.jacobian
    if pipeline is None or not (equation.contact_count or pipeline.start.count):
        return False
    if not equation.contact_count:
        momentum = _product(world, end, lambda terms: terms.mass) / equation.bound.scale
        return residual > _LOST * _largest(momentum)
    rate = equation.obstacle_velocity
    speed = jacobian.largest(end) if rate is None else _largest(jacobian.multiply(end) - rate)
    if not pipeline.negligible_motion < speed * equation.step < math.inf:
        return False
    pushed = pipeline.push_out_speed(equation.step)
    known = max(pushed, 0.0 if rate is None else _largest(rate), jacobian.largest(start))
    if speed <= _FACTOR * known:
        return False
    # so far out a linearisation says nothing of what is free
    iterated = equation.point is not None and equation.point.is_iterated
    if iterated:
        theta.linearise_bodies(start.copy())
    free = equation.free_velocity()
    at_most = max(
        _energy(world, free, lambda terms: terms.matrix), _energy(world, free, lambda terms: terms.mass)
    )
    if iterated:
        theta.linearise_bodies(end)
    if speed <= _FACTOR * jacobian.largest(free):
        return False
    by_obstacles = 0.0 if rate is None else float(equation.impulses.of_contacts @ rate.ravel())
    given = max(0.0, by_obstacles) + _work_of_drives(world, end)
    energy = _energy(world, end, lambda terms: terms.mass)
    return energy * (1.0 - (_FACTOR * pushed / speed) ** 2) > at_most + given


def _largest(velocity: Array) -> float:
    return max_abs(velocity.ravel())


def _work_of_drives(world: WorldTerms, velocity: Array) -> float:
    """|λ_b|ᵀ·|J_b·v| of the bounded rows, which the free motion is without [J]."""
    total = 0.0
    for terms, where in zip(world.bodies, world.slices, strict=True):
        if terms.rows is not None and len(terms.bounded):
            rate = terms.rows.product(velocity[where])[terms.bounded]
            total += float(np.abs(rate) @ np.abs(terms.row_impulse[terms.bounded]))
    return total


def _energy(world: WorldTerms, velocity: Array, matrix: Callable[[BodyTerms], Matrix]) -> float:
    return 0.5 * float(velocity @ _product(world, velocity, matrix))


def _product(world: WorldTerms, velocity: Array, matrix: Callable[[BodyTerms], Matrix]) -> Array:
    """The bodies' matrices times v, shape (nv,)."""
    out = np.empty(world.nv)
    for terms, where in zip(world.bodies, world.slices, strict=True):
        matrix(terms).multiply(velocity[where], out[where])
    return out
