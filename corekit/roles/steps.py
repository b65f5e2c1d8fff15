"""What an integrator may call for one step of the world, split by the families of integrators.

`ThetaStep` solves for the end velocity together with contact. The trial state of an iterate v_k is
(integrate(start, v̄_k, θh), v̄_k, t + θh) with v̄ = θ·v⁺ + (1 − θ)·v₀; M, f, K, D, J_b, J_c are evaluated there, and

    A·v⁺ = b + J_bᵀ·λ_b + J_cᵀ·λ_c                                                     (1)
    A = M + θ·h·D + θ²·h²·K − h·θ²·∂(J_bᵀλ_b)/∂q,   b = A·v_k − ρ(v_k)
    ρ(v) = M·(v − v₀) − h·f                                                            (2)
    J_b·v⁺ + E_b·λ_b = r_b                                                             (3)
    0 ≤ λ_n ⊥ J_n·v⁺ + φ̃/h ≥ 0,   friction(λ_t, slip; μ, λ_n)                           (4)

Rigid position-level rows hold at the end of the step, whatever their rates were before (index 3). A scheme that makes
such a solve in each of several stages is of first order with them, and λ_b of a stage is no force of the rods: use
`SmoothDynamics`, whose differentiated rows (index 1) keep the order of a scheme.

`SmoothDynamics` is the motion without impulses as a differential equation; δ is the displacement, by which q moves:

    δ̇ = v,   v̇ = a(q, v, t):   M·a = f + Pᵀf_c + J_bᵀ·λ                                  (5)

`SplitStep` ends a step of that motion at the free state (q_f, v_f). One problem with φ̃ = φ(q_f) − J_n·Δ_f follows,

    (M + θh·D)·v⁺ = M·v_f + θh·D·v₀ + J_bᵀ·λ_b + J_cᵀ·λ_c,   q⁺ = integrate(q_f, ½·(v⁺ − v_f), h)      (6)

θ = 0 if the smooth dynamics contain the damping. Otherwise they keep −D·v₀ of it, with D of the start of the step,
and (6) adds the rest: contact impulses are damped as the motion is, and a body that rests or creeps at f = D·v stays
so exactly.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo

__all__ = ["DEFAULT_TOLERANCE", "SmoothDynamics", "SplitOutlook", "SplitStep", "ThetaStep"]

DEFAULT_TOLERANCE = 1e-8
"""Largest error of an entry of v⁺ that a θ step may leave, relative to the speeds of the step."""


class ThetaStep(Protocol):
    """One step of the θ family: `begin_step`, then linearise and solve.

    The start and the step size are those of `begin_step`. A linearisation stays current until the next one; `solve`,
    `compute_newton_increment` and `momentum_residual` refer to it.
    """

    def begin_step(
        self,
        start: State,
        step: float,
        *,
        contacts_at_start: bool = False,
        tolerance: float = DEFAULT_TOLERANCE,
    ) -> None:
        """Find the contact candidates of a step h [s] from `start` and compute the gaps φ(q₀).

        Pairs that the velocities of the start would bring to the wrong side of each other within the step keep the
        contacts of the start, and the kernel moves them apart at its end. With `contacts_at_start` all pairs that have
        contacts there do, for integrators that linearise there alone, or that hold contacts which do not settle. The
        `tolerance` is that to which the integrator solves: the kernel solves what impacts change to the same.
        """

    def linearise_at_start(self, beta: float, damped: bool, shift: float = 0.0) -> None:
        """Build the one-solve problem at (q₀, v₀, t):  A = M + hD + βh²K,  b = M·v₀ + h·(f + D·v₀).

        If not `damped`, D is left out of both. A contact potential is solved for at the end of the step, by Newton's
        method of its own. φ̃ = s(φ(q₀)), r_b = −c(q₀)/h. A positive `shift` σ adds σ·M to A and σ·M·v₀ to b: the problem
        stays consistent, and A is positive definite for σ large enough.
        """

    def linearise(
        self, velocity: Array, theta: float, stiffness_factor: float = 1.0, shift: float = 0.0
    ) -> None:
        """Build (1)–(4) at v_k = `velocity`; K and ∂(J_bᵀλ)/∂q enter A with the `stiffness_factor` ∈ [0, 1].

        The prescribed entries of `velocity` are set to ṗ(t + h) first.
        A positive `shift` σ adds σ·M to A, which makes it positive definite; ρ keeps the solution exact.
        """

    def update_residual(self, velocity: Array, theta: float) -> None:
        """Compute ρ, J_b, contacts and potentials at v_k = `velocity`; A stays that of the last `linearise`.

        The prescribed entries of `velocity` are set to ṗ(t + h) first. What follows is `compute_newton_increment`,
        `solve` by a chord or another `linearise`.
        """

    def compute_newton_increment(self, out: Array) -> SolveInfo | None:
        """Write −A⁻¹·ρ(v_k), the increment of Newton's method or of a chord step [m/s or rad/s].

        A is that of the last `linearise`, ρ that of the last `linearise` or `update_residual`; prescribed entries are
        zero. None, with nothing written, where impulses act, of contacts or of constraints: there `solve` is needed.
        If A is singular, the returned status says so and nothing is written.
        """

    def momentum_residual(self) -> float:
        """Return max|M·(v_k − v₀) − h·f − J_bᵀλ_b − J_cᵀλ_c|/r with the last impulses [N·s].

        r is the `velocity_scale`: torques count as forces at the surface. Prescribed rows do not count.
        """

    def solve(self, velocity: Array, *, chord: bool = False) -> SolveInfo:
        """Solve the current problem and write v⁺. A status that is not solved still leaves the best iterate.

        With `chord` A is that of the last `linearise`, ρ and contacts are those of the last `update_residual`. Then the
        status is SINGULAR, and nothing is written, where rows of constraints or joints are factorised with A too.
        """


class SplitOutlook(NamedTuple):
    """What is known of a split step when it begins.

    may_have_impulses: whether contacts are near, or bounded constraints exist. Then the smooth dynamics must freeze
        the damping, so that an impulse carries a resting body by exactly its weight.
    valid_only_in_lookahead: whether (5) is known within the lookahead alone, because a contact potential acts among
        the contact candidates of the step.
    """

    may_have_impulses: bool
    valid_only_in_lookahead: bool


class SplitStep(Protocol):
    """One step of the split family: `begin_step`, the smooth dynamics to the free state, then one problem (6)."""

    def begin_step(
        self, start: State, step: float, lookahead: float = 0.0, *, potential_last: bool = False
    ) -> SplitOutlook:
        """Find the contact candidates of a step h [s] from `start`.

        With a `lookahead` longer than h [s] the integrator may evaluate the smooth dynamics that far ahead.
        With `potential_last`, as explicit schemes want it, a contact potential is no part of the smooth dynamics but of
        (6), which is then solved for v⁺ with its force in the middle of the step, by Newton's method of its own.
        """

    def apply_rate_jump(self, state: State, out: State) -> bool:
        """Write the state after a jump of prescribed rates: M·(v⁺ − v₀) = J_bᵀΛ + the drives' impulses.

        An integrator that prescribes rates in the smooth dynamics calls it before `begin_step`. False, with nothing
        written, where no rate jumps.
        """

    def max_damping_rate(self) -> float:
        """Evaluate D at the start and return the largest damping rate |λ|_max(M⁻¹·D) [1/s].

        The last acceleration must be that of the start. Some iterations of the power method approach the rate from
        below, on the kernel of the rigid constraints. D is that of models with force derivatives; 0 without any.
        """

    def linearise(self, free_state: State, theta: float = 0.0, frozen_damping: bool = False) -> None:
        """Build (6) about the free state (q_f, v_f).

        D is that of the last `max_damping_rate`, which θ = 0 does not need. Without `frozen_damping` the free
        velocity is v_f, since the smooth dynamics contain the damping.
        """

    def is_impulse_free(self, free_state: State) -> bool:
        """Return whether no impulse acts at the free state, so that it is the end of the step.

        If False, (6) must be solved; also where coordinates are prescribed.
        """

    def solve(self, velocity: Array) -> SolveInfo:
        """Solve (6) and write v⁺. A status that is not solved still leaves the best iterate."""

    def apply_velocity_change(self, free_state: State, velocity: Array, out: State) -> None:
        """Write q⁺ of (6) for v⁺ = `velocity`, at the time of the free state."""


class SmoothDynamics(Protocol):
    """The differential equation (5), at any states of a step that `SplitStep.begin_step` began.

    Rigid constraints are differentiated (index 1) and stabilised with Baumgarte's time constant τ,
    J_b·v̇ = −(2/τ)·J_b·v − c/τ², see `corekit.engine.split.smooth_dynamics`.
    """

    def smooth_until(self, time: float, horizon: float) -> float:
        """Return the first breakpoint of an input or an obstacle in (time, time + horizon] [s], or the end of it.

        `time` itself where an input is set from outside between steps, since nothing is known of it.
        """

    def set_prescribed_velocities(self, state: State) -> None:
        """Set the prescribed velocities of a state to ṗ at its time."""

    def compute_acceleration(
        self,
        state: State,
        out: Array,
        frozen_damping_velocity: Array | None = None,
        baumgarte_time: float | None = None,
    ) -> bool:
        """Write a of (5) at a state; False if the mass matrix is singular on the constraints' kernel.

        Args:
            state: where.
            out: a, shape (nv,).
            frozen_damping_velocity: v₀, shape (nv,), freezes the damping at its start: D·(v − v₀) is added to f, D as
                `SplitStep.max_damping_rate` evaluated it.
            baumgarte_time: τ [s]; None: ten steps.
        """

    def compute_acceleration_increment(
        self,
        state: State,
        acceleration: Array,
        damping_factor: float,
        stiffness_factor: float,
        out: Array,
        shift: float = 0.0,
        chord: bool = False,
    ) -> float | None:
        """Write Newton's increment Δ of an acceleration w at a state, for implicit schemes:

            ((1 + σ)·M + c_v·D + c_q·K)·Δ = f (+ potentials) + J_bᵀλ − M·w,   c = 0, J_b·v = u at the state,

        where v moves by c_v·Δ and the displacement by c_q·Δ: c_v = `damping_factor` [s], c_q = `stiffness_factor`
        [s²]. `shift` σ makes an indefinite matrix positive definite. With `chord` the current factorisation replaces
        the matrix, unless a contact potential acts. Prescribed entries of the state and of w are set. Returns the
        largest entry of the right side [N or N·m], None if the matrix is singular.
        """

    def compute_acceleration_jacobian(
        self, state: State, baumgarte_time: float, damped: bool, da_dq: Array, da_dv: Array
    ) -> bool:
        """Write ∂a/∂δ and ∂a/∂v, both (nv, nv), from K, D, ∂(J_bᵀλ)/∂q and Baumgarte's terms; False if singular.

        The derivatives of J_b, and of M for models without inverse dynamics, are left out: Newton's method needs some
        more iterations. If not `damped`, the models' D is frozen and does not count.
        """

    def end_step(self, state: State, frozen_damping_velocity: Array | None, baumgarte_time: float) -> None:
        """Set the prescribed velocities of the free state, and evaluate there what a record needs of (5)."""
