"""Newton's method for the end acceleration of a generalised-α step, with a matrix that is kept while it does.

    A·Δ = f + J_bᵀλ − M·w₁,   A = (1 + σ)·M + c_v·D + c_q·K,   c_v = γ·h·κ,   c_q = β·h²·κ             (1)

w₁ ← w₁ + Δ with κ = (1 − α_f)/(1 − α_m), σ > 0 only if A is not positive definite without it. It ends when

    c_v·max|Δ| ≤ ε/(1 + σ)   or   c_v·max|Δ|·r/(1 − r) ≤ ε,   ε = tolerance·(1 + max|v₁|)               (2)

the second after Δ is taken, with r how fast steps with this matrix shrink, max(0.3·r_before, |Δ|/|Δ_before|), at first
at least 0.1. A and its factorisation are kept while r ≤ `reuse`, over steps of about equal length too; with contact
potentials A is made anew every time. With bilateral rows λ is improved along with w₁. Where a matrix does not even
serve the step after the one it was made for, the next are not tried over steps for a while, the longer the more often
that was so.

Source: Hairer and Wanner (1996), "Solving Ordinary Differential Equations II", IV.8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import Status
from corekit.linalg.vectors import max_abs
from corekit.roles.component import Memory
from corekit.roles.integrator import System
from corekit_timestep.alpha_vectors import accelerate, average, move_ends

__all__ = ["AlphaNewton", "Averages"]

_LARGEST_SHIFT = 1e12
_DEPTH = 4
_ALIKE = 0.1
"""How much the length of steps that share a matrix may differ."""
_LONGEST_WAIT = 16
"""Steps without a trial of an older step's matrix, at most."""


@frozen
class Averages:
    """β, γ, α_m and α_f of `alpha_step`."""

    beta: float = 0.25
    gamma: float = 0.5
    mass: float = 0.0
    force: float = 0.0

    @property
    def share(self) -> float:
        """κ = ∂a₁/∂w₁."""
        return (1.0 - self.force) / (1.0 - self.mass)

    @property
    def error(self) -> float:
        """|C| of the local error C·h³·q⃛ of a displacement: a is w at t + (α_m − α_f)·h."""
        return abs(self.beta + 0.5 * (self.mass - self.force) - 1.0 / 6.0)


class _Chain:
    """The last iterates w_j and their steps Δ_j, for `accelerate`; shape (`_DEPTH`, n) each."""

    def __init__(self, size: int) -> None:
        self._places, self._steps = np.zeros((2, _DEPTH, size))
        self._count = 0

    def clear(self) -> None:
        """Begin anew."""
        self._count = 0

    def extend(self, place: Array, step: Array) -> None:
        """Take w_k and Δ_k, and overwrite Δ_k by the accelerated step."""
        places, steps = self._places, self._steps
        if self._count == _DEPTH:
            places[:-1], steps[:-1] = places[1:].copy(), steps[1:].copy()
        else:
            self._count += 1
        last = self._count - 1
        places[last], steps[last] = place, step
        if last:
            accelerate(self._count, places, steps, step)


@final
class AlphaNewton:
    """Solves steps, and remembers where the matrix at hand was made.

    Args:
        averages: the scheme.
        tolerance, limit, reuse: of the equations above, and the most iterations.
    """

    def __init__(self, averages: Averages, tolerance: float, limit: int, reuse: float) -> None:
        self._averages, self._tolerance, self._limit, self._reuse = averages, tolerance, limit, reuse
        self._number: int | None = None
        self._place: State | None = None
        self._step, self._rate = 0.0, 1.0
        self._rows = self._acceleration = np.zeros(0)
        self._a1 = self._mean = self._change = self._first = np.zeros(0)
        self._chain = _Chain(0)
        self._patience = self._wait = self._served = 0
        self._given: Memory = {}

    def memory(self) -> Memory:
        """What `remember` takes; the factorisation itself is made anew from it."""
        waiting: Memory = {"wait": np.array([self._patience, self._wait, self._served])}
        if self._given:
            return waiting | {name: array.copy() for name, array in self._given.items()}
        if self._number is None or self._place is None:
            return waiting
        at = self._place
        return waiting | {
            "matrix.q": at.q.copy(), "matrix.v": at.v.copy(), "matrix.aux": at.aux.copy(),
            "matrix.at": np.array([at.time, self._step, self._rate]), "matrix.rows": self._rows.copy(),
            "matrix.w": self._acceleration.copy(),
        }  # fmt: skip

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Take over what `memory` gave, or forget."""
        self._number = None
        self._patience, self._wait, self._served = memory.get("wait", np.zeros(3, dtype=np.int64)).tolist()
        self._given = {name: array.copy() for name, array in memory.items() if name.startswith("matrix.")}

    def solve(
        self, system: System, state: State, smooth: State, h: float, a0: Array, w0: Array, w1: Array,
        *, plain: bool = False,
    ) -> tuple[Status, int, float]:  # fmt: skip
        """Improve w₁ and leave the end of the smooth motion in `smooth`; the last residual is in N or N·m.

        `plain` is Newton's method with a new matrix at every iterate, for where the thrifty way did not arrive.
        """
        own = self._averages
        if len(self._a1) != len(w1):
            self._a1, self._mean, self._change, self._first = np.zeros((4, len(w1)))
            self._chain = _Chain(len(w1))
        chord = older = not plain and self._usable(system, h)
        first, change, chain, near = self._first, self._change, self._chain, state
        first[:] = w1
        chain.clear()
        forces = system.constraint_impulses
        before, residual, shift = math.inf, math.inf, 0.0
        for iteration in range(1, self._limit + 1):
            self._move(system, state, h, a0, w0, w1, near, smooth)
            near = smooth
            kept = chord
            if older and not kept:
                older = self._give_up()
            found, shift = self._correct(system, smooth, w1, h, change, shift, kept)
            if found is None:
                self._number = None
                return Status.SINGULAR, iteration, residual
            residual = found
            size = own.gamma * h * own.share * max_abs(change)
            rate = size / before
            if kept and not rate < 1.0:
                # an old matrix led away: begin again with a new one
                w1[:], before, chord, near = first, math.inf, False, state
                chain.clear()
                system.constraint_impulses = forces
                continue
            if not math.isfinite(size):
                return Status.NON_FINITE, iteration, residual
            small = self._tolerance * (1.0 + max_abs(smooth.v))
            if (1.0 + shift) * size <= small:
                self._served += older
                return Status.CONVERGED, iteration, residual
            if not plain:
                chain.extend(w1, change)
            w1 += change
            if before < math.inf:
                self._rate = max((0.1 if self._rate == 1.0 else 0.3) * self._rate, rate)
            if not shift and self._rate < 1.0 and size * self._rate <= small * (1.0 - self._rate):
                self._move(system, state, h, a0, w0, w1, near, smooth)
                self._served += older
                return Status.CONVERGED, iteration, residual
            chord = (
                not plain and not shift and self._reuse > 0.0 and (before == math.inf or rate <= self._reuse)
            )
            if not kept:
                first[:], forces = w1, system.constraint_impulses
            before = size
        return Status.ITERATION_LIMIT, self._limit, residual

    def averaged(self, a0: Array, w0: Array, w1: Array) -> Array:
        """a₁ of the scheme for the accelerations at both ends."""
        a1 = np.empty(len(w1))
        average(self._averages.mass, self._averages.force, a0, w0, w1, a1)
        return a1

    def _move(
        self, system: System, state: State, h: float, a0: Array, w0: Array, w1: Array, near: State, out: State
    ) -> None:  # fmt: skip
        """Write the end of the smooth motion for w₁: q₁ = integrate(q₀, v̄, h) and v₁."""
        own = self._averages
        average(own.mass, own.force, a0, w0, w1, self._a1)
        move_ends(own.beta, own.gamma, h, state.v, a0, self._a1, self._mean, out.v)
        system.integrate(state, self._mean, h, near, out)

    def _correct(
        self, system: System, smooth: State, w1: Array, h: float, change: Array, shift: float, chord: bool
    ) -> tuple[float | None, float]:
        """Δ of (1) into `change`; the residual and the shift σ that A needed."""
        own = self._averages
        damping, stiffness = own.gamma * h * own.share, own.beta * h * h * own.share
        rows = self._rows if chord else system.constraint_impulses
        found = system.smooth.compute_acceleration_increment(
            smooth, w1, damping, stiffness, change, shift, chord
        )
        while found is None and shift < _LARGEST_SHIFT:
            shift = max(1.0, 4.0 * shift)
            found = system.smooth.compute_acceleration_increment(
                smooth, w1, damping, stiffness, change, shift
            )
        if not chord:
            self._take(system, smooth, w1, rows, h, shift)
            self._rate = 1.0
        return found, shift

    # — the matrix at hand —

    def _give_up(self) -> bool:
        """An older step's matrix is not good enough: wait with the next ones if it served no step at all."""
        self._patience = 0 if self._served else min(2 * self._patience + 1, _LONGEST_WAIT)
        self._wait = self._patience
        return False

    def _take(self, system: System, place: State, w1: Array, rows: Array, h: float, shift: float) -> None:
        self._number = None if shift or not self._reuse else system.factorisation_id
        self._served = 0
        if self._number is not None:
            self._place = self._place or system.new_state()
            self._place.copy_from(place)
            self._acceleration, self._rows, self._step = w1.copy(), rows, h

    def _usable(self, system: System, h: float) -> bool:
        """Whether the factorisation at hand is that of the last matrix, of a step as long."""
        if self._given:
            given, self._given = self._given, {}
            place, (time, step, rate) = system.new_state(), given["matrix.at"].tolist()
            place.q[:], place.v[:], place.aux[:] = given["matrix.q"], given["matrix.v"], given["matrix.aux"]
            place.time = time
            w1, now, served = given["matrix.w"], system.constraint_impulses, self._served
            system.constraint_impulses = given["matrix.rows"]
            self._correct(system, place, w1, step, np.zeros(len(w1)), 0.0, chord=False)
            system.constraint_impulses = now
            self._rate, self._served = rate, served
        if self._wait:
            self._wait -= 1
            return False
        return (
            self._number is not None
            and self._number == system.factorisation_id
            and abs(h - self._step) <= _ALIKE * h
        )
