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
gravity have energies: a load of such a model that follows is an input of it.

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
from corekit_statics.lowest_modes import OPERATIONS, LowestModes
from corekit_statics.small_motions import SmallMotions

__all__ = ["LARGEST_CIRCULATORY", "Circulation", "circulates", "circulates_without_mass", "find_circulation"]

LARGEST_CIRCULATORY = 600
"""Largest number of velocities for which (2) is solved."""
_SEEN = 1e-6
"""Skew part among the slowest modes, relative to their |ω²|, below which it may stem from the residual's rounding."""
_GROWS = 1e-6
"""Re s/|s| from which a motion grows: a pair of modes of one frequency is known to the root of what (2) is known to."""
_STILL = 1e-3
"""|s|/p below which a motion may be one without stiffness."""
_EPS = float(np.finfo(float).eps)
_SHIFT = 1.618
"""p over the slowest |ω|, so that p is no s of an equilibrium that its slowest mode leaves."""


class Circulation(NamedTuple):
    """Small motions with the skew part of K.

    Attributes:
        growing: s of (1) with Re s > 0 and Im s ≥ 0, the fastest first [1/s].
        squares: ω² of the modes without D, lowest real part first, of pairs the one with Im ≥ 0 [1/s²], shape (k,).
        errors: size up to which an ω² may be 0 but for rounding [1/s²], shape (k,).
        shapes: of these, their real part where its largest entry is real, with xᵀ·M·x = 1, shape (m, k).
    """

    growing: Array
    squares: Array
    errors: Array
    shapes: Array

    @property
    def neutral(self) -> int:
        """Number of motions without stiffness."""
        still = self.squares[np.abs(self.squares) <= self.errors]
        return len(still) + int(np.count_nonzero(still.imag))  # a pair stands once


def circulates(system: EquilibriumSystem, state: State, motions: SmallMotions, found: LowestModes) -> bool:
    """Whether the skew part of K matters among the slowest motions.

    Args:
        system: evaluated at `state`.
        motions: with the symmetric part of K.
        found: the slowest of them.
    """
    skew = _skew_among(system, state, motions, found.shapes)
    known, sizes = np.maximum.outer(found.errors, found.errors), np.abs(found.squares)
    return bool((skew > np.maximum(_SEEN * np.maximum.outer(sizes, sizes), 10.0 * known)).any())


def circulates_without_mass(system: EquilibriumSystem, state: State, motions: SmallMotions) -> bool:
    """Whether K has a skew part at all, where coordinates without mass leave no slowest motions to ask."""
    diagonal = np.abs(motions.stiffness.diagonal())
    some = np.random.default_rng(0).standard_normal((len(diagonal), 4))
    some /= np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))[:, None]
    bulk = np.abs(some)
    sizes = bulk.T @ (abs(motions.stiffness) @ bulk)
    return bool((_skew_among(system, state, motions, some) > _SEEN * sizes).any())


def find_circulation(
    system: EquilibriumSystem, state: State, motions: SmallMotions, found: LowestModes
) -> Circulation:
    """The small motions with the skew part of K; arguments as of `circulates`, `LARGEST_CIRCULATORY` at most."""
    whole, damping = _stiffness_product(system, state, np.eye(motions.size)), np.zeros((motions.size,) * 2)
    for each, where in zip(system.equilibria, system.slices, strict=True):
        damping[where, where] = each.damping()
    free = np.ix_(motions.free, motions.free)
    stiffness, mass = (_dense(each) for each in (motions.stiffness, motions.mass))
    stiffness, damping = stiffness + 0.5 * (whole - whole.T)[free], damping[free]
    kernel = motions.kernel
    if kernel is not None:
        stiffness, damping, mass = (kernel.T @ each @ kernel for each in (stiffness, damping, mass))
    first, pace = len(found.squares), _slowest(found.squares, found.errors)
    modes = _undamped(stiffness, mass, pace)
    # with the skew part the slowest motion is another one
    pace = _slowest(modes.squares[:first], modes.errors[:first])
    modes = _undamped(stiffness, mass, pace)
    growing = _growing(stiffness, damping, mass, pace, modes.neutral)
    return modes._replace(growing=growing, shapes=modes.shapes if kernel is None else kernel @ modes.shapes)


def _slowest(squares: Array, errors: Array) -> float:
    """p: `_SHIFT` times the slowest |ω| among some that is not 0 but for rounding."""
    sizes = np.abs(squares)
    decided = sizes[sizes > np.maximum(errors, _SEEN * np.max(sizes))]
    return _SHIFT * float(np.sqrt(np.min(decided) if len(decided) else np.max(errors)))


def _dense(matrix: Any) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _skew_among(system: EquilibriumSystem, state: State, motions: SmallMotions, x: Array) -> Array:
    """½·|xᵀ·(K − Kᵀ)·x| of displacements of the free velocities, (k, k)."""
    everywhere = np.zeros((motions.size, x.shape[1]))
    everywhere[motions.free] = x
    among = everywhere.T @ _stiffness_product(system, state, everywhere)
    return np.abs(among - among.T) * 0.5


def _stiffness_product(system: EquilibriumSystem, state: State, x: Array) -> Array:
    """K·x of all bodies but for a symmetric part, from the models as they are, (nv, k)."""
    product = np.zeros(x.shape)
    for each, where, own in zip(system.equilibria, system.slices, state.body_states, strict=True):
        product[where] = each.circulating_product(own, system.time, x[where])
    return product


def _growing(stiffness: Array, damping: Array, mass: Array, pace: float, neutral: int) -> Array:
    """The s of (1) that grow, by (2) with p = `pace`.

    A motion without stiffness has the root s = 0 once or, where nothing damps it, twice: then rounding moves it by its
    square root, and of the slowest s so many are none.
    """
    n = len(stiffness)
    factor = lu_factor(pace**2 * mass + pace * damping + stiffness)
    first = lu_solve(factor, 2.0 * pace**2 * mass + pace * damping)
    last = lu_solve(factor, pace**2 * mass)
    found = eigvals(np.block([[-first, -last], [np.eye(n), np.zeros((n, n))]]))
    size = np.abs(found)
    # motions so fast that rounding of (2) hides whether they grow, and those of coordinates without mass
    found = found[size > n * _EPS * np.max(size) / _SEEN]
    rates = pace * (1.0 + 1.0 / found)
    rates = rates[np.argsort(np.abs(rates))]
    still = (np.arange(len(rates)) < 2 * neutral) & (np.abs(rates) < _STILL * pace)
    known = n * _EPS * np.max(size) * np.abs(rates - pace) ** 2 / pace
    grows = ~still & (rates.real > np.maximum(_GROWS * np.abs(rates), 10.0 * known)) & (rates.imag >= 0.0)
    return rates[grows][np.argsort(-rates.real[grows])]


def _undamped(stiffness: Array, mass: Array, pace: float) -> Circulation:
    """ω² and shapes of K·x = ω²·M·x by the θ of M·x = θ·(K + p²·M)·x.

    Rounding δK and δM, as in `lowest_modes`, moves ω² by yᵀ·(δK − ω²·δM)·x/(yᵀ·M·x), where yᵀ·(K − ω²·M) = 0.
    """
    shifted = stiffness + pace**2 * mass
    found: Any = eig(np.linalg.solve(shifted, mass), left=True)
    theta, left, shapes = found
    kept = (np.abs(theta) > len(theta) * _EPS * np.max(np.abs(theta))) & (theta.imag <= 0.0)
    squares, shapes, left = 1.0 / theta[kept] - pace**2, shapes[:, kept], left[:, kept]
    left = np.linalg.solve(shifted.T, left)
    order = np.argsort(squares.real)
    bulk = np.einsum("ik,ij,jk->k", np.abs(left), np.abs(stiffness), np.abs(shapes))
    bulk += np.abs(squares) * np.einsum("ik,ij,jk->k", np.abs(left), np.abs(mass), np.abs(shapes))
    errors = OPERATIONS * _EPS * bulk / np.abs(np.einsum("ik,ij,jk->k", left.conj(), mass, shapes))
    # what the search left of the balance turns with the body, and loads of a small residual give it a stiffness
    errors += _SEEN * (pace / _SHIFT) ** 2
    largest = np.take_along_axis(shapes, np.argmax(np.abs(shapes), axis=0)[None], axis=0)
    shapes = np.real(shapes * (np.abs(largest) / largest))
    shapes = shapes / np.sqrt(np.einsum("ik,ij,jk->k", shapes, mass, shapes))
    return Circulation(np.zeros(0, dtype=complex), squares[order], errors[order], shapes[:, order])
