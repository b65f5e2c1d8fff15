"""The lowest solutions of K·x = ω²·M·x: frequencies, shapes, and how well they are known with rounding.

With a shift s above −ω²_min the matrix A = K + s·M is positive definite, and

    M·x = θ·A·x,   ω² = 1/θ − s                                                         (1)

has the lowest ω² as its largest θ, which a symmetric solver finds to rounding, whatever the stiffest ω² is (10¹² times
the lowest in a rod that hardly stretches). M may be singular: massless coordinates have θ = 0.

s is found from below, by factors of 100 from the rounding of the stiffest ω², until A has a Cholesky factor. (1) is
then solved once more, with the s of the lowest ω² that is known, so that rigid motions stand apart from the others.

Dense matrices are solved as such, on the basis N of permitted displacements. Sparse ones are solved by Lanczos's
method on A⁻¹·M. A Krylov space of one vector holds one of several modes of equal ω², such as six rigid motions: what
was found is deflated, and (1) solved again until nothing lower comes.                                  (2)

An entry of K comes out of about c operations, so that K is K + δK with |δK| ≤ c·ε·|K|, entry by entry, and M likewise.
To first order this moves the ω² of a mode by at most

    τ = c·ε·(|x|ᵀ·|K|·|x| + |ω²|·|x|ᵀ·|M|·|x|)/(xᵀ·M·x) + c·ε·s                           (3)

the last term being what is lost where A is rounded. An ω² within ±τ cannot be distinguished from 0.

Sources: Ericsson and Ruhe (1980), "The spectral transformation Lanczos method", Math. Comp. 35; Lehoucq, Sorensen and
Yang (1998), "ARPACK users' guide", ch. 4; Stewart and Sun (1990), "Matrix perturbation theory", ch. VI for (3).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from corekit.data.arrays import Array
from corekit_statics.small_motions import SmallMotions

__all__ = ["OPERATIONS", "IndefiniteError", "LowestModes", "lowest_modes"]

OPERATIONS = 64.0
"""c of (3): bending strains, their first and second derivatives and their sum over the terms that meet in an entry."""
_MOST_RUNS = 40
"""Deflated runs of (2)."""
_EPS = float(np.finfo(float).eps)


class IndefiniteError(Exception):
    """No shift makes K + s·M positive definite: massless coordinates without, or of negative stiffness."""


class LowestModes(NamedTuple):
    """The lowest modes in ascending order.

    Attributes:
        squares: ω² [1/s²], shape (k,).
        errors: τ of (3) [1/s²], shape (k,).
        shapes: x with xᵀ·M·x = 1, shape (m, k).
    """

    squares: Array
    errors: Array
    shapes: Array


def lowest_modes(motions: SmallMotions, count: int) -> LowestModes:
    """At least the `count` lowest modes, or all there are; modes without mass are none.

    Raises:
        IndefiniteError: K is not positive definite on displacements without mass.
    """
    problem = _Dense(motions) if isinstance(motions.stiffness, np.ndarray) else _Sparse(motions)
    size = problem.size
    if not size:
        return LowestModes(np.zeros(0), np.zeros(0), np.zeros((len(motions.free), 0)))
    count = min(count, size)
    stiffest = _stiffest(problem.stiffness, problem.mass)
    shift = size * _EPS * stiffest
    while not problem.factor(shift):
        shift *= 100.0
        if not shift <= 1e6 * size * stiffest:
            raise IndefiniteError
    first = _with_errors(motions, problem.solve(shift, count), shift)
    better = _better_shift(first, shift)
    # the bound on the lowest ω² may lie within rounding of it
    return _with_errors(motions, problem.solve(better, count), better) if problem.factor(better) else first


def _better_shift(found: LowestModes, shift: float) -> float:
    """A shift of the size of the lowest ω² that is not 0 to rounding."""
    known = np.abs(found.squares) > found.errors
    if not known.any():
        return shift
    lowest = float(found.squares[known][0])
    return lowest if lowest > 0 else -1.5 * lowest


def _stiffest(stiffness: Any, mass: Any) -> float:
    """Gershgorin's bound on |ω²| for the mass of the diagonal, over entries that have mass; 1 without stiffness."""
    diagonal = mass.diagonal()
    scale = np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 0.0)
    found = float(np.max(scale * (abs(stiffness) @ scale), initial=0.0))
    return found if found > 0 else 1.0


def _with_errors(motions: SmallMotions, shapes: Array, shift: float) -> LowestModes:
    """ω² of shapes by Rayleigh's quotient, which is exact to second order, in ascending order, with (3)."""
    stiffness, mass = motions.stiffness, motions.mass
    masses = np.einsum("ik,ik->k", shapes, mass @ shapes)
    shapes = shapes / np.sqrt(masses)
    squares = np.einsum("ik,ik->k", shapes, stiffness @ shapes)
    bulk = np.abs(shapes)
    errors = np.einsum("ik,ik->k", bulk, abs(stiffness) @ bulk)
    errors = errors + np.abs(squares) * np.einsum("ik,ik->k", bulk, abs(mass) @ bulk)
    errors = OPERATIONS * _EPS * (errors + shift)
    order = np.argsort(squares)
    return LowestModes(squares[order], errors[order], shapes[:, order])


class _Dense:
    """(1) by a dense solver, on the basis N."""

    def __init__(self, motions: SmallMotions) -> None:
        kernel = motions.kernel
        self.stiffness, self.mass = motions.stiffness, motions.mass
        self._kernel = kernel
        if kernel is not None:
            self.stiffness = kernel.T @ self.stiffness @ kernel
            self.mass = kernel.T @ self.mass @ kernel
        self.size = len(self.stiffness)

    def factor(self, shift: float) -> bool:
        """Whether A is positive definite."""
        try:
            cholesky(self.stiffness + shift * self.mass, check_finite=False)
        except LinAlgError:
            return False
        return True

    def solve(self, shift: float, count: int) -> Array:
        """Shapes of the largest θ > 0, (m, ≤ count)."""
        n = self.size
        try:
            theta, shapes = eigh(
                self.mass, self.stiffness + shift * self.mass, subset_by_index=(n - count, n - 1)
            )
        except LinAlgError as error:
            raise IndefiniteError from error
        shapes = shapes[:, theta > n * _EPS * max(float(theta[-1]), 0.0)]
        return cast("Array", shapes if self._kernel is None else self._kernel @ shapes)


class _Sparse:
    """(1) by Lanczos's method."""

    def __init__(self, motions: SmallMotions) -> None:
        self.stiffness, self.mass = motions.stiffness, motions.mass
        self.size = len(motions.free)
        self._solve: Callable[[Array], Array] | None = None

    def factor(self, shift: float) -> bool:
        """Factorise A without pivoting, which is stable if A is positive definite; whether it is."""
        matrix = (self.stiffness + shift * self.mass).tocsc()
        try:
            factors = splu(
                matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError:
            # a pivot is exactly 0
            return False
        self._solve = factors.solve
        symmetric = np.array_equal(factors.perm_r, factors.perm_c)
        return bool(symmetric and (factors.U.diagonal() > 0).all())

    def solve(self, shift: float, count: int) -> Array:
        """Shapes of the largest θ, (m, ≥ count), by deflated runs."""
        found = np.zeros((self.size, 0))
        squares = np.zeros(0)
        missing = min(count, self.size - 1)
        for _ in range(_MOST_RUNS):
            new = self._run(shift, found, missing)
            values = np.einsum("ik,ik->k", new, self.stiffness @ new)
            highest = float(np.sort(squares)[count - 1]) if len(squares) >= count else math.inf
            found, squares = np.hstack([found, new]), np.concatenate([squares, values])
            # a further mode that is higher than all wanted ones ends the search
            if float(np.min(values, initial=math.inf)) >= highest or found.shape[1] >= self.size - 1:
                break
            missing = 1
        return found[:, np.argsort(squares)[:count]]

    def _run(self, shift: float, known: Array, count: int) -> Array:
        """Shapes of the largest θ among those M-orthogonal to known ones, M-orthonormal."""
        weighted = self.mass @ known
        solve = self._solve
        assert solve is not None

        def project(x: Array) -> Array:
            return x - known @ (weighted.T @ x)

        inverse = LinearOperator(
            (self.size, self.size), matvec=lambda x: project(solve(np.asarray(x, dtype=np.float64).ravel()))
        )
        start = project(np.random.default_rng(0).standard_normal(self.size))
        _, shapes = eigsh(
            self.stiffness, k=count, M=self.mass, sigma=-shift, OPinv=inverse, v0=start,
            ncv=min(self.size, max(2 * count + 1, 24)),
        )  # fmt: skip
        shapes = project(shapes)
        lengths = np.sqrt(np.einsum("ik,ik->k", shapes, self.mass @ shapes))
        return cast("Array", shapes / lengths)
