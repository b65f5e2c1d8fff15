"""Newton's method for the end acceleration of a generalised-α step, with a reused matrix.

    A·Δ = f + J_bᵀλ − M·w₁,   A = (1 + σ)·M + c_v·D + c_q·K,   c_v = γ·h·κ,   c_q = β·h²·κ             (1)

w₁ ← w₁ + Δ with κ = (1 − α_f)/(1 − α_m), σ > 0 only if A is not positive definite without it. It ends when

    c_v·max|Δ| ≤ ε/(1 + σ)   or   c_v·max|Δ|·r/(1 − r) ≤ ε,   ε = ε(v₁)                                  (2)

with max|Δ| and ε weighed by the world (`System.velocity_scale`, `System.error_bound`); the second after Δ is added. r
is the contraction of the increments with this matrix, max(0.3·r_before, |Δ|/|Δ_before|), initially at least 0.1. A and
its factorisation are reused while r ≤ `reuse`, also over steps of about equal size; with contact potentials A is new
at every iterate. With constraints λ improves along with w₁. If a matrix fails in the step after its own, the solver
does not try older matrices for some steps. That wait grows with the number of such failures.

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
from corekit.roles.component import InternalState
from corekit.roles.integrator import System
from corekit.roles.stage_solver import velocity_norms
from corekit_timestep.alpha_vectors import accelerate_increment, average, compute_end_velocities
from corekit_timestep.config import Averages

__all__ = ["AlphaNewton", "rehearse_acceleration"]

_LARGEST_SHIFT = 1e12
_DEPTH = 4
_SIMILAR = 0.1
"""Largest relative difference of the sizes of steps that use one matrix."""
_LONGEST_WAIT = 16
"""Largest number of steps without a trial of an older step's matrix."""


class _AndersonHistory:
    """The last iterates w_j and their increments Δ_j, for `accelerate_increment`; shape (`_DEPTH`, n) each."""

    def __init__(self, size: int) -> None:
        self._iterates, self._increments = np.zeros((2, _DEPTH, size))
        self._count = 0

    def clear(self) -> None:
        """Remove all iterates."""
        self._count = 0

    def accelerate_increment(self, iterate: Array, increment: Array) -> None:
        """Store w_k and Δ_k, and overwrite Δ_k by the accelerated increment."""
        iterates, increments = self._iterates, self._increments
        if self._count == _DEPTH:
            iterates[:-1], increments[:-1] = iterates[1:].copy(), increments[1:].copy()
        else:
            self._count += 1
        last = self._count - 1
        iterates[last], increments[last] = iterate, increment
        if last:
            accelerate_increment(self._count, iterates, increments, increment)


def rehearse_acceleration() -> None:
    """Accelerate increments once, so that the kernel is loaded."""
    history = _AndersonHistory(1)
    for _ in range(2):
        history.accelerate_increment(np.zeros(1), np.zeros(1))


@final
class AlphaNewton:
    """Solves steps, and stores the state of the current matrix.

    Args:
        averages: the scheme.
        tolerance, limit, reuse: of the equations above, and the largest number of iterations.
    """

    def __init__(self, averages: Averages, tolerance: float, limit: int, reuse: float) -> None:
        self._averages, self._tolerance, self._limit, self._reuse = averages, tolerance, limit, reuse
        self._id: int | None = None
        self._matrix_state: State | None = None
        self._step, self._rate = 0.0, 1.0
        self._rows = self._acceleration = np.zeros(0)
        self._a1 = self._mean = self._increment = self._start_iterate = self._scale = np.zeros(0)
        self._anderson = _AndersonHistory(0)
        self._max_wait = self._waiting = self._use_count = 0
        self._restored: InternalState = {}

    def internal_state(self) -> InternalState:
        """Return the state of the factorisation, from which `remember` restores it."""
        waiting: InternalState = {"wait": np.array([self._max_wait, self._waiting, self._use_count])}
        if self._restored:
            return waiting | {name: array.copy() for name, array in self._restored.items()}
        if self._id is None or self._matrix_state is None:
            return waiting
        state = self._matrix_state
        return waiting | {
            "matrix.q": state.q.copy(), "matrix.v": state.v.copy(), "matrix.aux": state.aux.copy(),
            "matrix.at": np.array([state.time, self._step, self._rate]), "matrix.rows": self._rows.copy(),
            "matrix.w": self._acceleration.copy(),
        }  # fmt: skip

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore the output of `internal_state`, or reset."""
        self._id = None
        self._max_wait, self._waiting, self._use_count = internal_state.get(
            "wait", np.zeros(3, dtype=np.int64)
        ).tolist()
        self._restored = {
            name: array.copy() for name, array in internal_state.items() if name.startswith("matrix.")
        }

    def solve(
        self, system: System, state: State, free_state: State, h: float, a0: Array, w0: Array, w1: Array,
        *, plain: bool = False,
    ) -> tuple[Status, int, float]:  # fmt: skip
        """Improve w₁ and write the free state; return status, linear solves, last residual [N or N·m].

        `plain` is Newton's method with a new matrix at every iterate, for steps in which a reused one failed.
        """
        scheme = self._averages
        if len(self._a1) != len(w1):
            self._a1, self._mean, self._increment, self._start_iterate = np.zeros((4, len(w1)))
            self._anderson = _AndersonHistory(len(w1))
            self._scale = np.ones(len(w1)) if system.velocity_scale is None else system.velocity_scale
        chord = from_earlier_step = not plain and self._is_usable(system, h)
        start_iterate, increment, anderson, previous = (
            self._start_iterate,
            self._increment,
            self._anderson,
            state,
        )
        start_iterate[:] = w1
        anderson.clear()
        impulses = system.constraint_impulses
        last_size, residual, shift = math.inf, math.inf, 0.0
        for iteration in range(1, self._limit + 1):
            self._compute_free_state(system, state, h, a0, w0, w1, previous, free_state)
            previous = free_state
            is_chord = chord
            if from_earlier_step and not is_chord:
                from_earlier_step = self._reject_old_matrix()
            new_residual, shift = self._compute_increment(
                system, free_state, w1, h, increment, shift, is_chord
            )
            if new_residual is None:
                self._id = None
                return Status.SINGULAR, iteration, residual
            residual = new_residual
            size = scheme.gamma * h * scheme.end_weight * velocity_norms(increment, self._scale)[1]
            rate = size / last_size
            if is_chord and not rate < 1.0:
                # an old matrix diverged: restart with a new one
                w1[:], last_size, chord, previous = start_iterate, math.inf, False, state
                anderson.clear()
                system.constraint_impulses = impulses
                continue
            if not math.isfinite(size):
                return Status.NON_FINITE, iteration, residual
            limit = system.error_bound(free_state.v, self._tolerance)
            if (1.0 + shift) * size <= limit:
                self._use_count += from_earlier_step
                return Status.CONVERGED, iteration, residual
            if not plain:
                anderson.accelerate_increment(w1, increment)
            w1 += increment
            if last_size < math.inf:
                self._rate = max((0.1 if self._rate == 1.0 else 0.3) * self._rate, rate)
            if not shift and self._rate < 1.0 and size * self._rate <= limit * (1.0 - self._rate):
                self._compute_free_state(system, state, h, a0, w0, w1, previous, free_state)
                self._use_count += from_earlier_step
                return Status.CONVERGED, iteration, residual
            chord = (
                not plain
                and not shift
                and self._reuse > 0.0
                and (last_size == math.inf or rate <= self._reuse)
            )
            if not is_chord:
                start_iterate[:], impulses = w1, system.constraint_impulses
            last_size = size
        return Status.ITERATION_LIMIT, self._limit, residual

    def drop_matrix(self) -> None:
        """Discard the current matrix after the system factorised another one: a resumed run must not use it either."""
        self._id, self._restored = None, {}

    def averaged(self, a0: Array, w0: Array, w1: Array) -> Array:
        """Return a₁ of the scheme for the accelerations at both ends."""
        a1 = np.empty(len(w1))
        average(self._averages.mass, self._averages.force, a0, w0, w1, a1)
        return a1

    def _compute_free_state(
        self, system: System, state: State, h: float, a0: Array, w0: Array, w1: Array, previous: State,
        out: State,
    ) -> None:  # fmt: skip
        """Write the free state for w₁: q₁ = integrate(q₀, v̄, h) and v₁."""
        scheme = self._averages
        average(scheme.mass, scheme.force, a0, w0, w1, self._a1)
        compute_end_velocities(scheme.beta, scheme.gamma, h, state.v, a0, self._a1, self._mean, out.v)
        system.integrate(state, self._mean, h, previous, out)

    def _compute_increment(
        self, system: System, free_state: State, w1: Array, h: float, increment: Array, shift: float,
        chord: bool,
    ) -> tuple[float | None, float]:  # fmt: skip
        """Write Δ of (1); return the residual and the shift σ of A."""
        scheme = self._averages
        damping, stiffness = (
            scheme.gamma * h * scheme.end_weight,
            scheme.beta * h * h * scheme.end_weight,
        )
        rows = self._rows if chord else system.constraint_impulses
        new_residual = system.smooth.compute_acceleration_increment(
            free_state, w1, damping, stiffness, increment, shift, chord
        )
        while new_residual is None and shift < _LARGEST_SHIFT:
            shift = max(1.0, 4.0 * shift)
            new_residual = system.smooth.compute_acceleration_increment(
                free_state, w1, damping, stiffness, increment, shift
            )
        if not chord:
            self._store_matrix(system, free_state, w1, rows, h, shift)
            self._rate = 1.0
        return new_residual, shift

    def _reject_old_matrix(self) -> bool:
        """Drop an older step's matrix, and wait before the next trial if it served no step at all; return False."""
        self._max_wait = 0 if self._use_count else min(2 * self._max_wait + 1, _LONGEST_WAIT)
        self._waiting = self._max_wait
        return False

    def _store_matrix(
        self, system: System, state: State, w1: Array, rows: Array, h: float, shift: float
    ) -> None:
        self._id = None if shift or not self._reuse else system.factorisation_id
        self._use_count = 0
        if self._id is not None:
            self._matrix_state = self._matrix_state or system.new_state()
            self._matrix_state.copy_from(state)
            self._acceleration, self._rows, self._step = w1.copy(), rows, h

    def _is_usable(self, system: System, h: float) -> bool:
        """Whether the current factorisation is that of the last matrix, of a step of about this size."""
        if self._restored:
            restored, self._restored = self._restored, {}
            matrix_state, (time, step, rate) = system.new_state(), restored["matrix.at"].tolist()
            matrix_state.q[:], matrix_state.v[:], matrix_state.aux[:] = (
                restored["matrix.q"],
                restored["matrix.v"],
                restored["matrix.aux"],
            )
            matrix_state.time = time
            w1, impulses, use_count = restored["matrix.w"], system.constraint_impulses, self._use_count
            system.constraint_impulses = restored["matrix.rows"]
            self._compute_increment(system, matrix_state, w1, step, np.zeros(len(w1)), 0.0, chord=False)
            system.constraint_impulses = impulses
            self._rate, self._use_count = rate, use_count
        if self._waiting:
            self._waiting -= 1
            return False
        return (
            self._id is not None
            and self._id == system.factorisation_id
            and abs(h - self._step) <= _SIMILAR * h
        )
