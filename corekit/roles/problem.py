"""The problem solver roles: linear complementarity and quadratic programs, apart from any contact.

Five different things: the problem, the guess, the result, the parameters (config), the statistics.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.status import SolveInfo
from corekit.linalg.matrices import Matrix
from corekit.roles.component import Component

__all__ = ["LCPProblem", "LCPSolver", "PhysicalContactProblem", "QPProblem", "QPSolver"]


@frozen(eq=False)
class PhysicalContactProblem:
    """The physical contact problem behind an LCP, for solvers that work contact by contact.

    Args:
        delassus: W, shape (R, R), rows as in `StepProblem`.
        free: w₀ [m/s], shape (R,).
        friction: μ, shape (m,).
        directions: friction pyramid, unit columns, shape (m, width − 1, r).
        lower, upper: bounds of the bounded rows, shape (p,).
    """

    delassus: Array
    free: Array
    friction: Array
    directions: Array
    lower: Array
    upper: Array


@frozen(eq=False)
class LCPProblem:
    """w = A·z + b,   z ≥ 0,   w ≥ 0,   zᵀ·w = 0.

    A may be a conditioned form of a physical problem: z_phys = column_scale·z, w_phys = w / row_scale.

    Args:
        matrix: A, shape (n, n), C-contiguous.
        vector: b, shape (n,).
        row_scale, column_scale: positive, shape (n,); ones if unscaled.
        tolerance: largest natural residual max |min(z_phys, w_phys)|.
        contact_problem: the physical contact problem behind it, if there is one. Its LCP variables stand contact
            by contact as (λ_n, β₁…β_r, γ), then row by row those of the bounded rows: z ≥ 0 of one with one finite
            bound, (z, s) of one with both, (z⁺, z⁻) of one with none.
    """

    matrix: Array
    vector: Array
    row_scale: Array
    column_scale: Array
    tolerance: float = 1e-10
    contact_problem: PhysicalContactProblem | None = None


class LCPSolver(Component, ABC):
    """Solves a linear complementarity problem."""

    @abstractmethod
    def solve(self, problem: LCPProblem, z: Array) -> SolveInfo:
        """Write z, shape (n,); what it held before is a guess (zeros: none).

        Status CONVERGED only if the natural residual max |min(z_phys, w_phys)| meets the tolerance,
        measured after the solve; it is reported as `residuals.normal`.
        """


@frozen(eq=False)
class QPProblem:
    """minimise ½·xᵀ·H·x + gᵀ·x   subject to   lower ≤ C·x − E·y ≤ upper,   y the multipliers of the rows,

        H·x + g + Cᵀ·y = 0,   y ≥ 0 at `upper`, y ≤ 0 at `lower`, y = 0 between                     (1)

    Equal bounds make a row an equality, E > 0 a soft one. An equality whose multiplier is bounded, least ≤ y ≤ most,
    holds only as hard as that: C·x − E·y may be above the bound where y = most, and below it where y = least.

    Args:
        hessian: H, positive definite, in whatever structure it has.
        gradient: g, shape (n,).
        dofs, values: C by rows of w entries, shapes (k, w); unused entries have value 0 and a valid index.
        lower, upper: shape (k,), possibly infinite.
        compliance: E ≥ 0, shape (k,).
        multiplier_lower, multiplier_upper: least and most, of the multipliers of equalities, shape (k,), possibly
            infinite; not read for other rows.
        tolerance: largest `residuals.normal` of a solved problem.
    """

    hessian: Matrix
    gradient: Array
    dofs: IntArray
    values: Array
    lower: Array
    upper: Array
    compliance: Array
    multiplier_lower: Array
    multiplier_upper: Array
    tolerance: float = 1e-9


class QPSolver(Component, ABC):
    """Solves a strictly convex quadratic program."""

    @abstractmethod
    def solve(self, problem: QPProblem, x: Array, multiplier: Array) -> SolveInfo:
        """Write x (n,) and y (k,); what they held before is a guess.

        Status CONVERGED only if the residuals, measured after the solve in the problem as given, meet the
        tolerance; a problem whose rows contradict each other is never said to be solved, and one whose H is not
        positive definite is SINGULAR. `residuals.normal` is the
        largest natural residual of a row, z = C·x − E·y:

            |z − clip(z + y, lower, upper)|,   of an equality  |y − clip(y + z − lower, least, most)|     (2)

        and `residuals.equation` the largest entry of H·x + g + Cᵀ·y.
        """
