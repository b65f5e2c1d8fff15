"""Small displacements of a world's states, the chart in which derivatives are taken.

    q(δ) = integrate(q, δ, 1),       δq₁ = T_q·δq₀ + h·T_v·δv̄   for   q₁ = integrate(q₀, v̄, h)               (1)
    δ = E⁺·(q′ − q) for q′ near q,   E = ∂integrate(q, δ, 1)/∂δ at δ = 0                                    (2)

A body whose coordinates add up, integrate(q, v, h) = q + h·v, has T_q = T_v = E = 1. Which ones do is found by moving
the body to random places. Of others, as orientations are, the order in which displacements follow each other counts:

    B(x) = d/dε T_q(ε·x) at ε = 0,   T_q(ε·x) of a motion by ε·x                                           (3)

Where motions make a group and its velocities are those of its algebra, B is linear in x and the same everywhere, and

    T_q = exp(h·B(v̄)),       T_v = Σ_k (h·B(v̄))^k/(k + 1)!                                                 (4)

which is found by differences of `integrate` at two places, once. Else T_q, T_v and E are such differences every time.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Final, final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.engine.bodies.body_terms import BodyTerms

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["Charts"]

_STEP: Final = 2.0**-17
_ROUNDING: Final = 1e-12
_LONG_STEP: Final = 2.0**-9
"""Of differences of fourth order."""
_ALIKE: Final = 1e-8
"""Within which two B are one, and (4) holds."""
_LARGEST_GROUP: Final = 24
"""Velocities up to which a group is looked for."""


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
        commute_known: whether (3) is known of all others.
    """

    def __init__(self, world: WorldTerms, state: State) -> None:
        self._world = world
        self.adds_up = tuple(
            _adds_up(terms, own) for terms, own in zip(world.bodies, state.body_states, strict=True)
        )
        ends = np.cumsum([0, *(terms.body.nq for terms in world.bodies)]).tolist()
        self._places = [slice(a, b) for a, b in pairwise(ends)]
        self._brackets: list[Array | None] = [
            None if adds_up else _brackets(terms, own)
            for terms, own, adds_up in zip(world.bodies, state.body_states, self.adds_up, strict=True)
        ]
        self.commute_known = all(self.commutes_or_is_known(b) for b in range(len(world.bodies)))

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

    def bracket_product(self, displacement: Array, covector: Array) -> Array:
        """B(x)ᵀ·a of (3), shape (nv,); zero where coordinates add up."""
        out = np.zeros_like(covector)
        for b, where in enumerate(self._world.slices):
            if self._brackets[b] is not None:
                out[where] = self.bracket_of_body(b, displacement[where], covector[where])
        return out

    def bracket_of_body(self, b: int, displacement: Array, covector: Array) -> Array:
        """The same of one body for its own x and a; zero where (3) is not known."""
        own, out = self._brackets[b], np.zeros_like(covector)
        if own is not None:
            _add_bracket(own, displacement, covector, out)
        return out

    def commutes_or_is_known(self, b: int) -> bool:
        """Whether coordinates of a body add up, or (3) is known of it."""
        return self.adds_up[b] or self._brackets[b] is not None

    def transports(self, start: State, velocity: Array, step: float, end: State) -> _Transports:
        """T_q and h·T_v of a motion from `start` to `end` with v̄ = `velocity` over h [s]."""
        blocks: list[tuple[slice, Array, Array]] = []
        for b, (terms, where) in enumerate(zip(self._world.bodies, self._world.slices, strict=True)):
            if self.adds_up[b]:
                continue
            own, model, mean = start.body_states[b], terms.body.model, velocity[where]
            brackets = self._brackets[b]
            if brackets is not None:
                turned = np.zeros((len(mean), len(mean)))
                _add_generator(brackets, step * mean, turned)
                blocks.append((where, *_group_transports(turned, step)))
                continue
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


@compiled
def _add_bracket(brackets: Array, x: Array, a: Array, out: Array) -> None:
    """Add B(x)ᵀ·a."""
    for k in range(len(x)):
        for i in range(len(a)):
            for j in range(len(a)):
                out[j] += brackets[k, i, j] * x[k] * a[i]


@compiled
def _add_generator(brackets: Array, x: Array, out: Array) -> None:
    """Add B(x)."""
    for k in range(len(x)):
        for i in range(len(x)):
            for j in range(len(x)):
                out[i, j] += brackets[k, i, j] * x[k]


@compiled
def _product(one: Array, other: Array, factor: float, out: Array) -> None:
    """Write a multiple of a product of square matrices."""
    for i in range(len(one)):
        for j in range(len(one)):
            total = 0.0
            for k in range(len(one)):
                total += one[i, k] * other[k, j]
            out[i, j] = factor * total


@compiled
def _group_transports(b: Array, step: float) -> tuple[Array, Array]:
    """T_q and h·T_v of (4) for h·B(v̄)."""
    n, size, halvings = len(b), 0.0, 0
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += abs(b[i, j])
        size = max(size, total)
    while size > 0.5 and halvings < 60:
        size, halvings = 0.5 * size, halvings + 1
    small = b / 2.0**halvings
    whole, term, power = np.eye(n), np.eye(n), np.empty((n, n))
    mean = np.eye(n)
    for k in range(1, 18):
        _product(term, small, 1.0 / k, power)
        term, power = power, term
        whole += term
        mean += term / (k + 1)
    for _ in range(halvings):
        # of twice the motion, the mean over its halves
        _product(whole, mean, 1.0, power)
        mean = 0.5 * (mean + power)
        _product(whole, whole, 1.0, power)
        whole, power = power, whole
    return whole, step * mean


def _fourth_order(values: Callable[[float], Array], step: float) -> Array:
    """The derivative of a function at 0 by differences of fourth order."""
    near, far = values(step) - values(-step), values(2.0 * step) - values(-2.0 * step)
    return (8.0 * near - far) / (12.0 * step)


def _displacement_slopes(terms: BodyTerms, state: State, out: State, move: Array) -> Array:
    """T_q of a motion by `move` over h = 1 from a state of a body, shape (nv, nv)."""
    model, nv, at = terms.body.model, terms.body.nv, state.copy()
    end = state.copy()
    model.integrate(state, move, 1.0, state, end)
    unit = np.eye(nv)

    def moved(j: int) -> Array:
        def ahead(size: float) -> Array:
            model.integrate(state, size * unit[j], 1.0, state, at)
            model.integrate(at, move, 1.0, at, out)
            return out.q.copy()

        return _fourth_order(ahead, _LONG_STEP)

    def basis(j: int) -> Array:
        def ahead(size: float) -> Array:
            model.integrate(end, size * unit[j], 1.0, end, out)
            return out.q.copy()

        return _fourth_order(ahead, _LONG_STEP)

    slopes, own = (np.array([each(j) for j in range(nv)]).T for each in (moved, basis))
    return np.asarray(np.linalg.lstsq(own, slopes)[0], dtype=float)


def _brackets(terms: BodyTerms, state: State) -> Array | None:
    """B of (3) for every unit of x, shape (nv, nv, nv); None where it varies or (4) does not hold."""
    nv = terms.body.nv
    if nv > _LARGEST_GROUP:
        return None
    draw, scratch, unit = np.random.default_rng(0), state.copy(), np.eye(nv)
    there = state.copy()
    terms.body.model.integrate(state, 0.3 * draw.standard_normal(nv), 1.0, state, there)
    found = []
    for place in (state, there):

        def of_motion(k: int, place: State = place) -> Array:
            return _fourth_order(
                lambda size: _displacement_slopes(terms, place, scratch, size * unit[k]), _LONG_STEP
            )

        found.append(np.array([of_motion(k) for k in range(nv)]))
    if not np.abs(found[0] - found[1]).max(initial=0.0) <= _ALIKE:
        return None
    move = 0.3 * draw.standard_normal(nv)
    here = _displacement_slopes(terms, state, scratch, move)
    group, _ = _group_transports(np.einsum("kij,k->ij", found[0], move), 1.0)
    if not np.abs(here - group).max(initial=0.0) <= _ALIKE:
        return None
    # differences leave 1e-11 of zeros and ones
    whole = np.round(found[0])
    return np.where(np.abs(found[0] - whole) <= _ALIKE, whole, found[0])


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
