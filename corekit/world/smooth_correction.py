"""One Newton step of the smooth part alone, for implicit split integrators.

At a state whose velocity moves by c_v·Δ and whose displacement by c_q·Δ when its acceleration w moves by Δ,

    ((1 + σ)·M + c_v·D + c_q·K − c_q·∂(J_bᵀλ)/∂q)·Δ = f + Pᵀf_c + J_bᵀ·λ − M·w                  (1)
    position row:  c_q·J_b·Δ + α·λ = −c,     rate row:  c_v·J_b·Δ + α·λ = u − J_b·v       (2)

with λ the whole force of the rows, and σ > 0 to lift an indefinite matrix. Bounded rows stay out: like
contacts they act at the end of a split step.
Prescribed coordinates have w = p̈(t), which is written there. K is that of f − M·w where the model gives it: without
∂(M·w)/∂q Newton's steps converge linearly, and not at all where accelerations are large.

A chord step takes the factorisation at hand, with matrix and rows A₀, J₀ of another state, and the forces λ_k so far:

    A₀·Δ − J₀ᵀ·δλ = f + J_bᵀ·λ_k − M·w,   J₀·Δ + (α/c)·δλ = right side of (2) − (α/c)·λ_k,   λ = λ_k + δλ     (3)

whose fixed points are those of (1)–(2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.linalg.vectors import max_abs
from corekit.world.body_system import BodySystem
from corekit.world.smooth import potential_force, prescribed_acceleration

if TYPE_CHECKING:
    from corekit.world.step_problem import StepSystem

__all__ = ["smooth_correction"]


def _assemble(
    part: BodySystem, state: State, acceleration: Array, damping: float, stiffness: float, shift: float, chord: bool
) -> None:  # fmt: skip
    """A, right side and rows of (1)–(2) of one body, contact potentials apart; without A those of (3)."""
    model, u = part.body.model, part.body.inputs.at(state.time)
    part.take_balance(state, u, acceleration, mass=not chord)
    if not chord:
        part.matrix.zero()
        part.matrix.add(part.mass, 1.0 + shift)
        part.add_tangent(state, u, acceleration, damping, stiffness)
    joints = part.joints
    if joints is not None:
        model.bilateral(state, u, joints.rows)
        joints.correct(state.v, damping, stiffness, chord)
        if chord and part.eliminated is not None:
            part.eliminated.add_transpose_product(part.row_impulse[joints.kept], part.right)


def smooth_correction(
    system: StepSystem,
    state: State,
    acceleration: Array,
    damping: float,
    stiffness: float,
    out: Array,
    shift: float = 0.0,
    chord: bool = False,
) -> float | None:
    """Write Δ of (1)–(2), or with `chord` that of (3) where no contact potential acts.

    Returns the largest |right side of (1)| with the last λ, None if A is singular.
    """
    step, extra = system.problem.step, potential_force(system, state)
    chord = chord and extra is None and system.factor.ready and system.factor.plain
    worst = 0.0
    for part, where, own in zip(system.parts, system.slices, state.parts, strict=True):
        part.impose(own, own.time)
        prescribed_acceleration(part, own, 1e-3 * step)
        if len(part.prescribed):
            # taken at once: a Newton step as large would hide how well the others converge
            acceleration[where][part.prescribed] = part.fixed
            part.fixed[:] = 0.0
        _assemble(part, own, acceleration[where], damping, stiffness, shift, chord)
        unbalanced = part.right if extra is None else part.right + extra[where]
        if part.rows is not None and not chord:
            unbalanced = unbalanced.copy()
            part.add_row_impulses(unbalanced)
        if len(part.prescribed):
            unbalanced = unbalanced[part.free]
        worst = max(worst, max_abs(unbalanced))
    if chord:
        _chord(system, out)
        return worst
    if not system.solve_smooth(extra, damping, stiffness, out):
        return None
    for part, where in zip(system.parts, system.slices, strict=True):
        part.begin()  # of Newton's steps only the last tells the reaction
        part.keep_smooth_reaction(None if extra is None else extra[where], out[where])
    return worst


def _chord(system: StepSystem, out: Array) -> None:
    """Solve (3) with the bodies' factorisations at hand."""
    for part, where in zip(system.parts, system.slices, strict=True):
        joints = part.joints
        so_far = part.row_impulse if joints is None else part.row_impulse[joints.kept]
        part.solve(None, out[where])
        part.begin()
        part.keep_smooth_reaction(None, out[where])
        if joints is not None:
            part.impulse += so_far
            joints.take_eliminated()
