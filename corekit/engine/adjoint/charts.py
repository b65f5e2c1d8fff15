"""Small displacements of a world's states, the chart in which derivatives are taken.

    q(δ) = integrate(q, δ, 1),       δq₁ = T_q·δq₀ + h·T_v·δv̄   for   q₁ = integrate(q₀, v̄, h)               (1)
    δ = E⁺·(q′ − q) for q′ near q,   E = ∂integrate(q, δ, 1)/∂δ at δ = 0                                    (2)

A body whose coordinates add up, integrate(q, v, h) = q + h·v, has T_q = T_v = E = 1. Which ones do is found by moving
the body to random places. For all others, as orientations are, T_q, T_v and E are central differences of `integrate`,
body by body.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Final, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.bodies.body_terms import BodyTerms

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["Charts"]

_STEP: Final = 2.0**-17
_ROUNDING: Final = 1e-12


def _adds_up(terms: BodyTerms, state: State) -> bool:
    """Whether integrate(q, v, h) is q + h·v at a state of the body and at one far from it."""
    body = terms.body
    if body.nq != body.nv:
        return False
    draw, here, there = np.random.default_rng(0), state.copy(), state.copy()
    for _ in range(2):
        move = 0.3 * draw.standard_normal(body.nv)
        body.model.integrate(here, move, 0.5, here, there)
        error = np.abs(there.q - here.q - 0.5 * move).max(initial=0.0)
        if not error <= _ROUNDING * (1.0 + np.abs(here.q).max(initial=0.0)):
            return False
        here, there = there, here
    return True


@final
class Charts:
    """Displacements of the states of a world.

    Args:
        world: its terms. state: one of its states.

    Attributes:
        adds_up: of every body whether its coordinates add up.
    """

    def __init__(self, world: WorldTerms, state: State) -> None:
        self._world = world
        self.adds_up = tuple(
            _adds_up(terms, own) for terms, own in zip(world.bodies, state.body_states, strict=True)
        )
        ends = np.cumsum([0, *(terms.body.nq for terms in world.bodies)]).tolist()
        self._places = [slice(a, b) for a, b in pairwise(ends)]

    def displace(self, state: State, displacement: Array, out: State) -> None:
        """Write q(δ) and its aux; time and v are those of the state."""
        for terms, where, own, moved in zip(
            self._world.bodies, self._world.slices, state.body_states, out.body_states, strict=True
        ):
            terms.body.model.integrate(own, displacement[where], 1.0, own, moved)
        out.v[:], out.time = state.v, state.time

    def _basis(self, b: int, state: State) -> Array:
        """E of a body, shape (nq, nv)."""
        terms, own = self._world.bodies[b], state.body_states[b]
        return _columns(terms, own, lambda move, out: terms.body.model.integrate(own, move, 1.0, own, out))

    def difference(self, state: State, other: Array) -> Array:
        """δ of (2) for q′ = `other` (nq,) or (nq, k) less q of the state, given as a difference."""
        out = np.zeros((self._world.nv, *other.shape[1:]))
        for b, (where, place) in enumerate(zip(self._world.slices, self._places, strict=True)):
            own = other[place]
            out[where] = own if self.adds_up[b] else np.linalg.lstsq(self._basis(b, state), own)[0]
        return out

    def transports(self, start: State, velocity: Array, step: float, end: State) -> _Transports:
        """T_q and h·T_v of a motion from `start` to `end` with v̄ = `velocity` over h [s]."""
        blocks: list[tuple[slice, Array, Array]] = []
        for b, (terms, where) in enumerate(zip(self._world.bodies, self._world.slices, strict=True)):
            if self.adds_up[b]:
                continue
            own, model, mean = start.body_states[b], terms.body.model, velocity[where]
            inverse = np.linalg.pinv(self._basis(b, end))
            begin = own.copy()

            def by_place(move: Array, out: State) -> None:
                model.integrate(own, move, 1.0, own, begin)  # noqa: B023 - called before the next body
                model.integrate(begin, mean, step, begin, out)  # noqa: B023

            def by_velocity(move: Array, out: State) -> None:
                model.integrate(own, mean + move, step, own, out)  # noqa: B023

            blocks.append(
                (where, inverse @ _columns(terms, own, by_place), inverse @ _columns(terms, own, by_velocity))
            )
        return _Transports(step, blocks)


def _columns(terms: BodyTerms, state: State, write: Callable[[Array, State], None]) -> Array:
    """Central differences of a place that depends on a vector like v, shape (nq, nv), at 0."""
    one, other = state.copy(), state.copy()
    out, move = np.zeros((terms.body.nq, terms.body.nv)), np.zeros(terms.body.nv)
    for j in range(terms.body.nv):
        move[j] = _STEP
        write(move, one)
        move[j] = -_STEP
        write(move, other)
        move[j] = 0.0
        out[:, j] = (one.q - other.q) / (2.0 * _STEP)
    return out


@final
class _Transports:
    """T_q and h·T_v: the identity and h times it, but for some bodies."""

    def __init__(self, step: float, blocks: list[tuple[slice, Array, Array]]) -> None:
        self._step, self._blocks = step, blocks

    def apply(self, displacement: Array, velocity: Array) -> Array:
        """T_q·δq₀ + h·T_v·δv̄, shape (nv,) or (nv, k)."""
        out = displacement + self._step * velocity
        for where, by_place, by_velocity in self._blocks:
            out[where] = by_place @ displacement[where] + by_velocity @ velocity[where]
        return out

    def pull(self, covector: Array) -> tuple[Array, Array]:
        """T_qᵀ·a and h·T_vᵀ·a."""
        to_place, to_velocity = covector.copy(), self._step * covector
        for where, by_place, by_velocity in self._blocks:
            to_place[where], to_velocity[where] = (
                by_place.T @ covector[where],
                by_velocity.T @ covector[where],
            )
        return to_place, to_velocity
