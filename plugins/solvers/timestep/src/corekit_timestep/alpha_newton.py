"""Newton's method for the end acceleration of a generalised-α step, with a matrix that is kept while it serves.

    A·Δ = f + J_bᵀλ − M·w₁,   A = (1 + σ)·M + c_v·D + c_q·K,   c_v = γ·h·κ,   c_q = β·h²·κ             (1)

w₁ ← w₁ + Δ with κ = (1 − α_f)/(1 − α_m), σ > 0 only if A is not positive definite without it. It ends when

    c_v·max|Δ| ≤ ε/(1 + σ)   or   c_v·max|Δ|·r/(1 − r) ≤ ε,   ε = tolerance·(1 + max|v₁|)               (2)

the second after Δ is taken, with r how fast steps with this matrix shrink, max(0.3·r_before, |Δ|/|Δ_before|), at first
at least 0.1. A and its factorisation are kept while r ≤ `reuse`, also over steps of about equal size; with contact
potentials A is made again every time. With constraints λ is improved along with w₁. Where a matrix does not even serve
the step after its own, the next ones are not tried over steps for a while, which is longer the more often that happens.

Source: Hairer and Wanner (1996), "Solving Ordinary Differential Equations II", IV.8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import Status
from corekit.linalg.vectors import max_abs
from corekit.roles.component import Memory
from corekit.roles.integrator import System
from corekit_timestep.alpha_vectors import accelerate, average, move_ends
from corekit_timestep.config import Averages

__all__ = ["AlphaNewton"]

_LARGEST_SHIFT = 1e12
_DEPTH = 4
_ALIKE = 0.1
"""How much the sizes of steps that share a matrix may differ."""
_LONGEST_WAIT = 16
"""Steps without a trial of an older step's matrix, at most."""


class _Chain:
    """The last iterates w_j and their increments Δ_j, for `accelerate`; shape (`_DEPTH`, n) each."""

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
    """Solves steps, and stores the place of the current matrix.

    Args:
        averages: the scheme.
        tolerance, limit, reuse: of the equations above, and the most iterations.
    """

    def __init__(self, averages: Averages, tolerance: float, limit: int, reuse: float) -> None:
        self._averages, self._tolerance, self._limit, self._reuse = averages, tolerance, limit, reuse
        self._id: int | None = None
        self._place: State | None = None
        self._step, self._rate = 0.0, 1.0
        self._rows = self._acceleration = np.zeros(0)
        self._a1 = self._mean = self._change = self._first = np.zeros(0)
        self._chain = _Chain(0)
        self._patience = self._wait = self._served = 0
        self._restored: Memory = {}

    def memory(self) -> Memory:
        """The place of the factorisation, from which `remember` makes it again."""
        waiting: Memory = {"wait": np.array([self._patience, self._wait, self._served])}
        if self._restored:
            return waiting | {name: array.copy() for name, array in self._restored.items()}
        if self._id is None or self._place is None:
            return waiting
        at = self._place
        return waiting | {
            "matrix.q": at.q.copy(), "matrix.v": at.v.copy(), "matrix.aux": at.aux.copy(),
            "matrix.at": np.array([at.time, self._step, self._rate]), "matrix.rows": self._rows.copy(),
            "matrix.w": self._acceleration.copy(),
        }  # fmt: skip

    def remember(self, memory: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `memory` saved, or forget."""
        self._id = None
        self._patience, self._wait, self._served = memory.get("wait", np.zeros(3, dtype=np.int64)).tolist()
        self._restored = {name: array.copy() for name, array in memory.items() if name.startswith("matrix.")}

    def solve(
        self, system: System, state: State, smooth: State, h: float, a0: Array, w0: Array, w1: Array,
        *, plain: bool = False,
    ) -> tuple[Status, int, float]:  # fmt: skip
        """Improve w₁ and leave the free state in `smooth`; returns status, linear solves, last residual [N or N·m].

        `plain` is Newton's method with a new matrix at every iterate, for where the kept one failed.
        """
        own = self._averages
        if len(self._a1) != len(w1):
            self._a1, self._mean, self._change, self._first = np.zeros((4, len(w1)))
            self._chain = _Chain(len(w1))
        chord = older = not plain and self._is_usable(system, h)
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
                self._id = None
                return Status.SINGULAR, iteration, residual
            residual = found
            size = own.gamma * h * own.end_weight * max_abs(change)
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

    def drop_matrix(self) -> None:
        """Forget the current matrix, since the system factorised another one: a resumed run must not use it either."""
        self._id, self._restored = None, {}

    def averaged(self, a0: Array, w0: Array, w1: Array) -> Array:
        """a₁ of the scheme for the accelerations at both ends."""
        a1 = np.empty(len(w1))
        average(self._averages.mass, self._averages.force, a0, w0, w1, a1)
        return a1

    def _move(
        self, system: System, state: State, h: float, a0: Array, w0: Array, w1: Array, near: State, out: State
    ) -> None:  # fmt: skip
        """Write the free state for w₁: q₁ = integrate(q₀, v̄, h) and v₁."""
        own = self._averages
        average(own.mass, own.force, a0, w0, w1, self._a1)
        move_ends(own.beta, own.gamma, h, state.v, a0, self._a1, self._mean, out.v)
        system.integrate(state, self._mean, h, near, out)

    def _correct(
        self, system: System, smooth: State, w1: Array, h: float, change: Array, shift: float, chord: bool
    ) -> tuple[float | None, float]:
        """Δ of (1) into `change`; the residual and the shift σ that A needed."""
        own = self._averages
        damping, stiffness = own.gamma * h * own.end_weight, own.beta * h * h * own.end_weight
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
            self._store(system, smooth, w1, rows, h, shift)
            self._rate = 1.0
        return found, shift

    def _give_up(self) -> bool:
        """Drop an older step's matrix, and wait with the next ones if it served no step at all."""
        self._patience = 0 if self._served else min(2 * self._patience + 1, _LONGEST_WAIT)
        self._wait = self._patience
        return False

    def _store(self, system: System, place: State, w1: Array, rows: Array, h: float, shift: float) -> None:
        self._id = None if shift or not self._reuse else system.factorisation_id
        self._served = 0
        if self._id is not None:
            self._place = self._place or system.new_state()
            self._place.copy_from(place)
            self._acceleration, self._rows, self._step = w1.copy(), rows, h

    def _is_usable(self, system: System, h: float) -> bool:
        """Whether the current factorisation is that of the last matrix, of a step about as long."""
        if self._restored:
            given, self._restored = self._restored, {}
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
            self._id is not None and self._id == system.factorisation_id and abs(h - self._step) <= _ALIKE * h
        )
