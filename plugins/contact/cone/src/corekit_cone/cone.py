"""The contact solver `cone`: Coulomb's law itself, without a pyramid and without relaxation.

For each contact with normal n, tangents t and friction coefficient μ, the law is non-penetration 0 ≤ λ_n ⊥ w_n ≥ 0
with friction that opposes the slip:

    w_t = 0:  |λ_t| ≤ μ·λ_n        w_t ≠ 0:  λ_t = −μ·λ_n·w_t/|w_t|                               (1)

**De Saxcé's formulation.** Let K = { |λ_t| ≤ μ·λ_n } and K* = { μ·|w_t| ≤ w_n } its dual cone. Then (1) with
non-penetration is

    K* ∋ ŵ ⊥ λ ∈ K,    ŵ = (w_n + μ·|w_t|, w_t),    w = W·λ + w₀                                  (2)

(⇒) ŵ is in K* as w_n ≥ 0, and λᵀ·ŵ = λ_n·w_n + μ·λ_n·|w_t| + λ_tᵀ·w_t = 0 by (1). (⇐) ŵ ∈ K* is w_n ≥ 0. As λ ∈ K,
λ_tᵀ·w_t ≥ −μ·λ_n·|w_t|, so that 0 = λᵀ·ŵ ≥ λ_n·w_n ≥ 0: each term is zero. Hence λ_n ⊥ w_n, and λ_t is the point of
the disk of radius μ·λ_n with λ_tᵀ·w_t = −μ·λ_n·|w_t|, which is (1).

Without the term μ·|w_t|, (2) is the optimality condition of min ½·λᵀ·W·λ + w₀ᵀ·λ over K: sliding contacts then
separate at μ times their slip. With the term it is not a convex program; for given slips s in its place it is one.
A solution exists if some motion opens all contacts with w ∈ int K* (Acary et al.), and may not be unique. Where
contacts are redundant, `least_loads` chooses one of fewer than 24 contacts.

**Search.** `newton` solves the equations of Alart and Curnier, whose zeros are those of (2). `gauss_seidel` solves one
contact after the other exactly. `interior_point` follows a central path, first with the slips as unknowns, then with
given slips s ← |w_t|. `search` combines them: a step like the last one takes one or two Newton iterations; what Newton
and sweeps do not solve, the central path mostly does. `block_search` does the same for many contacts, with compliant
contacts and patches in place of the central path.

**Verdict.** `residuals` measures the natural map of (2) relative to the free velocity, so that grams and tonnes are
judged alike. Above the tolerance nothing is called solved; contacts that contradict each other are INFEASIBLE with a
proof (`infeasibility`), the rest is INACCURATE. AMBIGUOUS is a solution with a connected part whose choice
`least_loads` has not found.

Sources: De Saxcé, Feng (1998), The bipotential method, Math. Comput. Modelling 28; Acary, Cadoux, Lemaréchal, Malick
(2011), A formulation of the linear discrete Coulomb friction problem via convex optimization, ZAMM 91; Acary, Brogliato
(2008), Numerical Methods for Nonsmooth Dynamical Systems, chapter 13.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import BuildContext, Rehearsed
from corekit.roles.contact import ImpulseSolver, StepProblem
from corekit.roles.contact_blocks import ContactBlocks, multiply_blocks
from corekit.roles.contact_laws import relative_velocity
from corekit_cone.block_search import BlockSearch
from corekit_cone.compiled_form import form_of
from corekit_cone.config import ConeContactConfig
from corekit_cone.infeasibility import contradict
from corekit_cone.least_loads import MANY, search_least
from corekit_cone.rehearsal import rehearse_blocks
from corekit_cone.residuals import measure_residuals
from corekit_cone.search import WORK_ROWS

__all__ = ["ConeContact"]

_MOST_DENSE = 300
"""Contacts up to which the dense search goes on where that by blocks, of `MANY` and more, finds no solution."""
_METHODS = ("guess", "newton", "gauss-seidel", "interior-point")
"""By the numbers that `search` returns."""


@final
class ConeContact(ImpulseSolver, Rehearsed):
    """Contact impulses in Coulomb's cone. `answered_by` names the last method that was needed, “cone: newton”.

    Args:
        config: tolerance and limit.
        context: not needed.
    """

    def __init__(self, config: ConeContactConfig, context: BuildContext | None = None) -> None:
        self._tolerance, self._limit = config.tolerance, config.max_iterations
        self._work: Array = np.zeros((WORK_ROWS, 0))
        self._matrices: Array = np.zeros((2, 0, 0))
        self._index: IntArray = np.zeros((2, 0), dtype=np.int64)

    def compiled_form(self) -> CompiledForm:
        """The entry of `compiled_form`."""
        return form_of(self._tolerance, self._limit)

    def solve(self, problem: StepProblem, impulse: Array) -> SolveInfo:
        """Write λ; see `ImpulseSolver.solve`."""
        rows, width, friction = impulse.size, problem.rows_per_contact, problem.friction
        if rows == 0:
            return SolveInfo(answered_by="cone")
        blocks = problem.blocks() if problem.contact_count >= MANY else None
        if blocks is not None:
            info = self._solve_blocks(problem, blocks, impulse)
            if info.status is not Status.INACCURATE or problem.contact_count > _MOST_DENSE:
                return info
        delassus, free = np.ascontiguousarray(problem.delassus()), problem.free_velocity
        if not (np.isfinite(delassus).all() and np.isfinite(free).all()):
            impulse[:] = 0.0
            return SolveInfo(Status.NON_FINITE, 0, Residuals(normal=np.inf), "cone")
        if self._index.shape[1] != rows:
            self._work, self._matrices = np.zeros((WORK_ROWS, rows)), np.zeros((2, rows, rows))
            self._index = np.zeros((2, rows), dtype=np.int64)
        scales = np.zeros((2, problem.contact_count + problem.bounded_count))
        error, iterations, method, is_least = search_least(
            delassus, free, width, friction, problem.lower, problem.upper, self._tolerance, self._limit, scales,
            self._index, self._work, self._matrices, impulse,
        )  # fmt: skip
        velocity = self._work[0]
        relative_velocity(delassus, free, impulse, velocity)
        found = measure_residuals(width, friction, problem.lower, problem.upper, impulse, velocity)
        status = Status.CONVERGED if is_least else Status.AMBIGUOUS
        if not error <= self._tolerance:
            impossible = contradict(delassus, free, width, problem.contact_count)
            status = Status.INFEASIBLE if impossible else Status.INACCURATE
        return SolveInfo(status, iterations, Residuals(*found), f"cone: {_METHODS[method]}")

    def rehearse(self, width: int, *, many_contacts: bool) -> None:
        """Load what is called where many contacts touch."""
        if many_contacts:
            rehearse_blocks(width, self._tolerance)

    def _solve_blocks(self, problem: StepProblem, blocks: ContactBlocks, impulse: Array) -> SolveInfo:
        """Solve with W by blocks."""
        jacobian, response, free = blocks.jacobian, blocks.response, problem.free_velocity
        if not (np.isfinite(jacobian).all() and np.isfinite(response).all() and np.isfinite(free).all()):
            impulse[:] = 0.0
            return SolveInfo(Status.NON_FINITE, 0, Residuals(normal=np.inf), "cone")
        search_ = BlockSearch(problem, blocks, self._tolerance, self._limit)
        is_solved = search_.search(impulse)
        impulse[:] = search_.impulse
        velocity, width = search_.velocity, problem.rows_per_contact
        multiply_blocks(blocks, width, free, impulse, np.empty(blocks.velocity_count), velocity)
        found = measure_residuals(width, problem.friction, problem.lower, problem.upper, impulse, velocity)
        status = Status.CONVERGED if is_solved else Status.INACCURATE
        return SolveInfo(status, search_.iterations, Residuals(*found), f"cone: {search_.method}, by blocks")
