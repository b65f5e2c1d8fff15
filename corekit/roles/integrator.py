"""The integrator role, and the few questions an integrator may ask of the world.

Coupled family, q moved by v̄ = θ·v⁺ + (1 − θ)·v₀. At iterate v_k the trial state is
(advance(start, v̄_k, θh), v̄_k, t + θh); M, f, K, D, J_b, J_c are taken there and

    A·v⁺ = b + J_bᵀ·λ_b + J_cᵀ·λ_c                                                     (1)
    A = M + θ·h·D + θ²·h²·K − h·θ²·∂(J_bᵀλ_b)/∂q,   b = A·v_k − ρ(v_k)
    ρ(v) = M·(v − v₀) − h·f                                                            (2)
    J_b·v⁺ + E_b·λ_b = r_b                                                             (3)
    0 ≤ λ_n ⊥ J_n·v⁺ + φ̃/h ≥ 0,   friction(λ_t, slip; μ, λ_n)                           (4)

Split family: the smooth part gives (q_f, v_f); then one problem with A = M, φ̃ = φ(q_f) − J_n·Δ_f, and
q⁺ = advance(q_f, ½·(v⁺ − v_f), h). Damping D that is stiff in the step is split off: the smooth part keeps
−D·v₀ of it, the problem takes the rest, with D at the start of the step,

    (M + θh·D)·v⁺ = M·v_f + θh·D·v₀ + J_cᵀ·λ_c                                         (5)

so that contact impulses are damped as the motion is: what rests and what creeps at f = D·v stays so exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import SolveInfo
from corekit.data.step import StepReport
from corekit.roles.component import Component
from corekit.roles.smooth import SmoothMotion

__all__ = ["Integrator", "System"]


class System(Protocol):
    """What the world answers an integrator. One step: `begin`, then linearise and solve, then `advance`.

    A linearisation stays current until the next one; `solve`, `residual` and the matrices refer to it.
    """

    @property
    def coordinates(self) -> int:
        """Length of q."""
        ...

    @property
    def velocities(self) -> int:
        """Length of v."""
        ...

    @property
    def smooth(self) -> SmoothMotion:
        """The smooth part as a differential equation."""
        ...

    def new_state(self) -> State:
        """A buffer for a state of the world."""
        ...

    def begin(self, start: State, step: float) -> None:
        """Find the contact candidates of the step from `start` and take the gaps φ(q₀)."""
        ...

    def linearise(
        self,
        start: State,
        velocity: Array,
        step: float,
        theta: float,
        tangent: float = 1.0,
        shift: float = 0.0,
    ) -> None:
        """Build (1)–(4) at v_k = `velocity`; K and ∂(J_bᵀλ)/∂q enter A with the factor `tangent` ∈ [0, 1].

        The prescribed entries of `velocity` are set to ṗ(t + h) first.
        A positive `shift` σ adds σ·M to A, which lifts an indefinite one; ρ keeps the answer exact.
        """
        ...

    def evaluate(self, start: State, velocity: Array, step: float, theta: float) -> None:
        """Take ρ, J_b, contacts and potentials at v_k = `velocity`; A stays that of the last `linearise`.

        As there, the prescribed entries of `velocity` are set to ṗ(t + h) first. Then `residual` and `correction`
        refer to `velocity`; the next `solve` needs a `linearise` first.
        """
        ...

    @property
    def holds_impulses(self) -> bool:
        """Whether the last `linearise` or `evaluate` has impulses, of contacts or of bilateral rows."""
        ...

    @property
    def factorisation(self) -> int | None:
        """Number of the factorisation of A at hand: the same as long as `correction` or a chord step uses the same one.

        None where it failed, or holds contacts, so that making it anew at the same place would need more than the
        place and, with bilateral rows, the `row_forces` there.
        """
        ...

    @property
    def row_forces(self) -> Array:
        """λ_b of all bilateral rows as the last solve or the accepted step left them, a copy [N·s, smooth part: N]."""
        ...

    def take_row_forces(self, forces: Array) -> None:
        """Have these λ_b at hand, of which the next linearisation takes ∂(J_bᵀλ_b)/∂q."""
        ...

    @property
    def reach(self) -> Array | None:
        """Speeds of the surface at a unit of each velocity, by which errors are judged, (nv,); None: all are 1."""
        ...

    def correction(self, out: Array) -> SolveInfo | None:
        """Write −A⁻¹·ρ(v_k), Newton's step or the chord method's, and how far v_k is off [m/s or rad/s].

        A is that of the last `linearise`, ρ that of the last `linearise` or `evaluate`, prescribed entries are zero.
        Answers who solved, or that A is singular and nothing was written; None, with nothing written, where there are
        impulses, of contacts or of bilateral rows.
        """
        ...

    def linearise_start(
        self, start: State, step: float, beta: float, damping: bool, shift: float = 0.0
    ) -> None:
        """Build the one-solve problem at (q₀, v₀, t):  A = M + hD + βh²K,  b = M·v₀ + h·(f + D·v₀).

        Without `damping` D is left out of both. A potential's K_c and D_c always count, with β = 1 where `beta` is 0.
        φ̃ = s(φ(q₀)), r_b = −c(q₀)/h. A positive `shift` σ adds
        σ·M to A and σ·M·v₀ to b: still consistent, and positive definite for σ large enough.
        """
        ...

    def linearise_split(
        self, start: State, smooth: State, step: float, theta: float = 0.0, held: bool = False
    ) -> None:
        """Build the split problem about the smooth end state (q_f, v_f): A = M(q_f) + θh·D.

        D is what `damping_rate` took, a potential's drag included; without θ it is not needed. The free
        velocity is v_f, or that of (5) where the smooth part `held` the damping at its start.
        """
        ...

    def pass_kink(self, state: State, out: State) -> bool:
        """Write the state behind a kink at which prescribed rates jump: M·(v⁺ − v₀) = J_bᵀΛ + the drives' impulses.

        For schemes that integrate accelerations. False, with nothing written, where no rate jumps.
        """
        ...

    def acceleration(self, state: State, out: Array, held: Array | None = None) -> bool:
        """Write v̇ of the smooth part at a state: M·v̇ = f (+ potentials) with bilateral rows at velocity level.

        Rigid rows are held by J_b·v̇ = −(2/τ)·J_b·v − c/τ² (Baumgarte, τ = 10 steps). False if singular.
        `held` = v₀, shape (nv,), holds the damping at its start: D·(v − v₀) is added to f, D as
        `damping_rate` took it, and a potential's force is that of v₀.
        """
        ...

    def smooth_correction(
        self,
        state: State,
        acceleration: Array,
        damping: float,
        stiffness: float,
        out: Array,
        shift: float = 0.0,
        chord: bool = False,
    ) -> float | None:
        """Write the Newton step Δ of the smooth part's acceleration w at a state, for implicit split schemes:

            ((1 + σ)·M + c_v·D + c_q·K)·Δ = f (+ potentials) + J_bᵀλ − M·w,   c = 0, J_b·v = u at the state,

        where v moves by c_v·Δ and the displacement by c_q·Δ: c_v = `damping` [s], c_q = `stiffness` [s²].
        `shift` σ lifts an indefinite matrix. With `chord` the factorisation at hand takes the place of the matrix,
        unless a contact potential acts. Prescribed entries of the state and w are set. Returns the largest
        entry of the right side [N or N·m], None if the matrix is singular.
        """
        ...

    def damping_rate(self, start: State) -> float:
        """Take D at the start of the step, and tell the largest rate at which it slows anything [1/s].

        |λ|_max(M⁻¹·D) on the kernel of the rigid rows, by some iterations of the power method from below;
        M and the contacts are those of the last `acceleration`, asked at `start`. D is that of models with a
        tangent and of contact potentials; 0 without any.
        """
        ...

    def ends_smoothly(self, smooth: State) -> bool:
        """Whether no impulse acts at the end of a split step, so that (q⁺, v⁺) = (q_f, v_f) = `smooth`.

        Then the split problem need not be built; if False it must be. False where coordinates are prescribed.
        """
        ...

    def residual(self) -> float:
        """Largest |M·(v_k − v₀) − h·f − J_bᵀλ_b − J_cᵀλ_c| of the current linearisation with the last
        impulses [N·s or N·m·s], apart from prescribed rows.
        """
        ...

    def solve(self, velocity: Array) -> SolveInfo:
        """Solve the current problem; write v⁺. A status that is not solved still leaves the best answer."""
        ...

    def advance(self, start: State, velocity: Array, step: float, near: State, out: State) -> None:
        """Move every body with v̄ over h; writes q, aux and time of `out`, prescribed coordinates set to p."""
        ...

    def correct(self, smooth: State, velocity: Array, step: float, out: State) -> None:
        """End a split step: q⁺ = advance(q_f, ½·(v⁺ − v_f), h) for v⁺ = `velocity`, at the smooth state's time."""
        ...


class Integrator(Component):
    """Advances a state by one step. Concrete integrators are final, one scheme a file."""

    @abstractmethod
    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        """One step from `state` into `out` (q, v, aux, time), never past `t_stop` [s].

        `state` is not changed and `out` is a different buffer. A step that ends within rounding of
        `t_stop` sets the time to exactly `t_stop`. `accepted = False` leaves `out` without meaning.
        """
