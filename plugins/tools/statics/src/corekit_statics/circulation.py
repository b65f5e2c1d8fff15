"""Loads that have no energy: what of K is not symmetric, and small motions with it.

A load that follows the body, or a cable that rubs, gives K a skew part, with which neither ω² need be real nor need
the symmetric part say whether an equilibrium is stable: a column under a force that follows its tip (Beck) bears it
where the symmetric part has long lost its sign, and a round rod under a torque that follows (Nicolai) sways with a
growing amplitude where it has not. Then

    M·ẍ + D·ẋ + K·x = 0,   x = y·exp(s·t),   (s²·M + s·D + K)·y = 0                        (1)

decides: the equilibrium is unstable where Re s > 0, by flutter where s is complex. With D, since damping may take
stability away (Ziegler). With s = p·(1 + σ) and μ = 1/σ, (1) is the linear problem

    μ·z = [[−A⁻¹·B, −A⁻¹·C], [I, 0]]·z,   A = p²·M + p·D + K,  B = 2·p²·M + p·D,  C = p²·M     (2)

whose largest |μ| are the s near p, of the size of the slowest motion: they are known to rounding of these, not of the
stiffest ones. Modes have D = 0, as those of other equilibria: ω² of K·x = ω²·M·x, complex where they flutter.

A dense K comes from the model. Of others, which may hold no skew part, what the efforts u add to the force is
differenced, K_u·x = −∂[f(q, u) − f(q, 0)]/∂q·x, which has the same skew part, since elastic forces and
gravity have energies.

Sources: Bolotin (1963), "Nonconservative problems of the theory of elastic stability"; Beck (1952), ZAMP 3, 225–228,
"Die Knicklast des einseitig eingespannten, tangential gedrückten Stabes"; Tisseur and Meerbergen (2001), "The quadratic
eigenvalue problem", SIAM Review 43, for (2).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eig, eigvals, lu_factor, lu_solve

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit_statics.equilibrium_system import EquilibriumSystem
from corekit_statics.lowest_modes import LowestModes
from corekit_statics.small_motions import SmallMotions

__all__ = ["LARGEST_CIRCULATORY", "Circulation", "circulates", "find_circulation"]

LARGEST_CIRCULATORY = 600
"""Largest number of velocities for which (2) is solved."""
_SEEN = 1e-6
"""Skew part among the slowest modes, relative to their |ω²|, below which it may stem from the residual's rounding."""
_GROWS = 1e-6
"""Re s/|s| from which a motion grows: a pair of modes of one frequency is known to the root of what (2) is known to."""
_SHIFT = 1.618
"""p over the slowest |ω|, so that p is no s of an equilibrium that its slowest mode leaves."""


class Circulation(NamedTuple):
    """Small motions with the skew part of K.

    Attributes:
        growing: s of (1) with Re s > 0 and Im s ≥ 0, the fastest first [1/s].
        neutral: number of motions without stiffness.
        squares: ω² of the modes without D, lowest real part first, of pairs the one with Im ≥ 0 [1/s²], shape (k,).
        shapes: of these, with |x|ᵀ·M·|x| = 1, their real part where its largest entry is real, shape (m, k).
    """

    growing: Array
    neutral: int
    squares: Array
    shapes: Array


def circulates(system: EquilibriumSystem, state: State, motions: SmallMotions, found: LowestModes) -> bool:
    """Whether the skew part of K matters among the slowest motions.

    Args:
        system: evaluated at `state`.
        motions: with the symmetric part of K.
        found: the slowest of them.
    """
    if not len(found.squares):
        return False
    everywhere = np.zeros((motions.size, found.shapes.shape[1]))
    everywhere[motions.free] = found.shapes
    among = everywhere.T @ _stiffness_product(system, state, everywhere)[0]
    skew = np.abs(among - among.T) * 0.5
    known = np.maximum.outer(found.errors, found.errors)
    sizes = np.abs(found.squares)
    return bool((skew > np.maximum(_SEEN * np.maximum.outer(sizes, sizes), 10.0 * known)).any())


def find_circulation(
    system: EquilibriumSystem, state: State, motions: SmallMotions, found: LowestModes
) -> Circulation:
    """The small motions with the skew part of K; arguments as of `circulates`, `LARGEST_CIRCULATORY` at most."""
    sizes = np.abs(found.squares)
    whole, damping = _stiffness_product(system, state, np.eye(motions.size))
    free = np.ix_(motions.free, motions.free)
    stiffness, mass = (_dense(each) for each in (motions.stiffness, motions.mass))
    stiffness, damping = stiffness + 0.5 * (whole - whole.T)[free], damping[free]
    kernel = motions.kernel
    if kernel is not None:
        stiffness, damping, mass = (kernel.T @ each @ kernel for each in (stiffness, damping, mass))
    decided = sizes[sizes > found.errors]
    pace = float(np.sqrt(np.min(decided, initial=np.inf if len(decided) else 1.0)))
    growing, neutral = _growing(stiffness, damping, mass, _SHIFT * pace)
    squares, shapes = _undamped(stiffness, mass, pace)
    return Circulation(growing, neutral, squares, shapes if kernel is None else kernel @ shapes)


def _dense(matrix: Any) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _stiffness_product(system: EquilibriumSystem, state: State, x: Array) -> tuple[Array, Array]:
    """K·x of all bodies but for a symmetric part, and D, from the models as they are, (nv, k) and (nv, nv)."""
    product, damping = np.zeros(x.shape), np.zeros((system.nv, system.nv))
    for each, where, own in zip(system.equilibria, system.slices, state.body_states, strict=True):
        product[where] = each.circulating_product(own, system.time, x[where])
        damping[where, where] = each.damping()
    return product, damping


def _growing(stiffness: Array, damping: Array, mass: Array, pace: float) -> tuple[Array, int]:
    """The s of (1) that grow, by (2) with p = `pace`, and the number of those without stiffness."""
    n = len(stiffness)
    factor = lu_factor(pace**2 * mass + pace * damping + stiffness)
    first = lu_solve(factor, 2.0 * pace**2 * mass + pace * damping)
    last = lu_solve(factor, pace**2 * mass)
    found = eigvals(np.block([[-first, -last], [np.eye(n), np.zeros((n, n))]]))
    size = np.abs(found)
    # motions so fast that rounding of (2) hides whether they grow, and those of coordinates without mass
    found = found[size > n * np.finfo(float).eps * np.max(size) / _SEEN]
    rates = pace * (1.0 + 1.0 / found)
    still = np.abs(rates) < _GROWS * pace
    grows = ~still & (rates.real > _GROWS * np.abs(rates)) & (rates.imag >= 0.0)
    return rates[grows][np.argsort(-rates.real[grows])], (int(np.count_nonzero(still)) + 1) // 2


def _undamped(stiffness: Array, mass: Array, pace: float) -> tuple[Array, Array]:
    """ω² and shapes of K·x = ω²·M·x, slowest first, by the largest θ of M·x = θ·(K + p²·M)·x."""
    shift = (_SHIFT * pace) ** 2
    theta, shapes = eig(np.linalg.solve(stiffness + shift * mass, mass))
    kept = (np.abs(theta) > len(theta) * np.finfo(float).eps * np.max(np.abs(theta))) & (theta.imag <= 0.0)
    squares, shapes = 1.0 / theta[kept] - shift, shapes[:, kept]
    largest = np.take_along_axis(shapes, np.argmax(np.abs(shapes), axis=0)[None], axis=0)
    shapes = np.real(shapes * (np.abs(largest) / largest))
    masses = np.einsum("ik,ij,jk->k", shapes, mass, shapes)
    order = np.argsort(squares.real)
    return squares[order], (shapes / np.sqrt(masses))[:, order]
