"""About what the step equation is expanded: one line of the table below, for every scheme.

    A·Δ = r + J_bᵀ·λ_b + J_cᵀ·λ_c,     v⁺ = v_k + Δ                                                        (1)
    A = (1 + σ)·M + c_v·D + c_q·(K − ∂(J_bᵀλ_b/h)/∂q)
    r = h_f·f + M·(p − v_k) + c_v·D·(d − v_k) + c_q·K·(s − v_k)                                             (2)

M, f, K, D and J are taken at the state `at`; gaps and constraint values at the state `end`, to which v̄ leads from the
start of the step. p, d and s are the velocities about which momentum, damping and stiffness are expanded.

| scheme                | at, end     | v_k | v̄            | p   | d          | s   | h_f | c_v    | c_q  |
|-----------------------|-------------|-----|---------------|-----|------------|-----|-----|--------|------|
| semi-implicit Euler   | start       | v₀  | 0             | v₀  | v₀         | 0   | h   | h or 0 | β·h² |
| θ family              | trial, end  | v_k | θv_k+(1−θ)v₀  | v₀  | v_k        | v_k | h   | θ·h    | θ²h² |
| split family          | free end    | v_f | ½·(v₀ + v_f)  | v_f | v_f        | v_f | 0   | θ·h    | 0    |
| … with frozen damping | free end    | v₀  | ½·(v₀ + v_f)  | v_f | v₀         | v₀  | 0   | θ·h    | 0    |
| acceleration, h = 1   | a state     | 0   | 0             | –   | 0          | 0   | 1   | c_v    | c_q  |

In the last line Δ is the increment of an acceleration and the momentum term is the model's own f − M·w.
"""

from __future__ import annotations

from typing import NamedTuple

from corekit.data.arrays import Array
from corekit.data.state import State

__all__ = ["LinearisationPoint"]


class LinearisationPoint(NamedTuple):
    """One line of the table, of a world or of one of its bodies.

    Its fields stand as the columns of the table do.

    Args:
        step: h [s].
        at, end: where matrices and rows, and where gaps and constraints are evaluated.
        end_time: time of prescribed motion and of rates that hold at the end of the step [s].
        velocity: v_k, shape (nv,).
        mean: v̄, shape (nv,).
        momentum, damped, stiffened: p, d and s, shape (nv,); None stands for v_k.
        force_factor: h_f [s].
        damping_factor: c_v [s].
        stiffness_factor: c_q [s²].
        rate_factor, position_factor: c_v and c_q of compliant constraints, which are always implicit.
        shift: σ [-], which lifts an indefinite A.
        has_force_gradient: whether A contains the gradient of the constraint forces.
        is_after_smooth_motion: whether constraints without bounds were satisfied by a motion before.
    """

    step: float
    at: State
    end: State
    end_time: float
    velocity: Array
    mean: Array
    momentum: Array | None
    damped: Array | None
    stiffened: Array | None
    force_factor: float
    damping_factor: float
    stiffness_factor: float
    rate_factor: float
    position_factor: float
    shift: float = 0.0
    has_force_gradient: bool = False
    is_after_smooth_motion: bool = False

    @property
    def is_single_solve(self) -> bool:
        """Whether its solution is the step's, with no iteration of Newton's method behind it."""
        return self.stiffened is not None

    @property
    def is_iterated(self) -> bool:
        """Whether it is an iterate of the θ family, at whose solution the balance of momentum holds exactly."""
        return self.stiffened is None and not self.is_after_smooth_motion

    @property
    def share(self) -> float:
        """θ of the mean velocity (1 − θ)·v₀ + θ·v⁺ that leads to q⁺ [-]."""
        return 0.5 if self.is_after_smooth_motion else self.rate_factor / self.step

    def of_body(self, index: int, where: slice) -> LinearisationPoint:
        """The same line for one body, its states and its entries of the velocities."""
        at, p, d, s = self.at.body_states[index], self.momentum, self.damped, self.stiffened
        return LinearisationPoint(
            self.step, at, at if self.end is self.at else self.end.body_states[index], self.end_time,
            self.velocity[where], self.mean[where],
            None if p is None else p[where], None if d is None else d[where], None if s is None else s[where],
            self.force_factor, self.damping_factor, self.stiffness_factor, self.rate_factor, self.position_factor,
            self.shift, self.has_force_gradient, self.is_after_smooth_motion,
        )  # fmt: skip


# named arguments would take two thirds of the time of a line, once a linearisation and body


def at_start(
    start: State, step: float, zero: Array, beta: float, damping: bool, shift: float
) -> LinearisationPoint:
    """Semi-implicit Euler; `zero` is a vector of zeros, shape (nv,)."""
    h = step
    return LinearisationPoint(
        h, start, start, start.time + h, start.v, zero, None, None, zero,
        h, h if damping else 0.0, beta * h * h, h, h * h, shift,
    )  # fmt: skip


def in_step(
    start: State, trial: State, end: State, velocity: Array, step: float, theta: float, stiffness: float, shift: float
) -> LinearisationPoint:  # fmt: skip
    """The θ family at v_k = `velocity`; `stiffness` in [0, 1] scales K and the gradient of the constraint forces."""
    h, rate = step, theta * step
    return LinearisationPoint(
        h, trial, end, start.time + h, velocity, trial.v, start.v, None, None,
        h, rate, stiffness * rate * rate, rate, rate * rate, shift, stiffness != 0.0,
    )  # fmt: skip


def after_smooth_motion(
    start: State, free: State, mean: Array, step: float, theta: float, frozen: bool
) -> LinearisationPoint:
    """The split family about the free state (q_f, v_f); `frozen`: the motion before held the damping of v₀.

    Then v_f may be far beyond v⁺, where damping is stiff, and the increment is counted from v₀.
    """
    h, (v_k, p) = step, (start.v, free.v) if frozen else (free.v, None)
    return LinearisationPoint(
        h, free, free, free.time, v_k, mean, p, None, None,
        0.0, theta * h, 0.0, h, h * h, 0.0, False, True,
    )  # fmt: skip


def of_acceleration(
    state: State, zero: Array, damping: float, stiffness: float, shift: float
) -> LinearisationPoint:
    """Newton's step of an acceleration that moves v by `damping` [s] and displacements by `stiffness` [s²]."""
    return LinearisationPoint(
        1.0, state, state, state.time, zero, zero, None, None, None,
        1.0, damping, stiffness, damping, stiffness, shift, True,
    )  # fmt: skip
