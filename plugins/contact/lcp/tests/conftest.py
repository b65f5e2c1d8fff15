"""A contact problem from dense M and J, and an LCP solver that needs no other package."""

from itertools import product

import numpy as np
import pytest

from corekit.data.status import Residuals, SolveInfo, Status
from corekit.roles.component import BuildContext, Stateful
from corekit.roles.contact import StepProblem
from corekit.roles.options import ComponentRef
from corekit.roles.problem import LCPSolver
from corekit_lcp.config import LCPContactConfig
from corekit_lcp.lcp import LCPContact


class DenseProblem(StepProblem):
    """One step's contact problem of a system with mass matrix M, rows J and free velocity v_f."""

    def __init__(
        self, mass, rows, velocity, friction=0.0, *, width=3, bounds=(), stabilisation=None, gap=None, id=None
    ):
        self.mass, self.rows, self.velocity = (np.array(a, float) for a in (mass, rows, velocity))
        self.rows_per_contact, self.bounded_count = width, len(bounds)
        self.contact_count = (len(self.rows) - self.bounded_count) // width
        self.friction = np.broadcast_to(np.array(friction, float), (self.contact_count,)).copy()
        self.friction_record = np.zeros((self.contact_count, 0))
        self.free_velocity = self.rows @ self.velocity
        if stabilisation is not None:
            self.free_velocity = self.free_velocity + stabilisation
        self.start_impulse = np.zeros(len(self.rows))
        self.gap = np.zeros(self.contact_count) if gap is None else np.array(gap, float)
        limits = np.array(bounds, float).reshape(-1, 2)
        self.lower, self.upper = limits[:, 0].copy(), limits[:, 1].copy()
        self.id = np.arange(self.contact_count) if id is None else np.array(id)
        self.step = 1e-3
        matrix = self.rows @ np.linalg.solve(self.mass, self.rows.T)
        self._delassus = 0.5 * (matrix + matrix.T)

    def delassus(self):
        return self._delassus

    def after(self, impulse):
        """v⁺ = v_f + M⁻¹·Jᵀ·λ."""
        return self.velocity + np.linalg.solve(self.mass, self.rows.T @ impulse)


class Enumeration(LCPSolver):
    """A solver that tries every active set: slow and independent, for a few variables."""

    def solve(self, problem, z):
        matrix, vector = problem.matrix, problem.vector
        for mask in product([False, True], repeat=len(vector)):
            active = np.array(mask)
            z[:] = 0.0
            if active.any():
                block = matrix[np.ix_(active, active)]
                z[active] = np.linalg.lstsq(block, -vector[active], rcond=None)[0]
            w = matrix @ z + vector
            error = np.abs(np.minimum(problem.column_scale * z, w / problem.row_scale)).max()
            if error <= 1e-12:
                return SolveInfo(Status.CONVERGED, 1, Residuals(normal=float(error)))
        z[:] = 0.0
        return SolveInfo(Status.RAY, 1, Residuals(normal=np.inf))


class Refuses(LCPSolver, Stateful):
    """A solver that keeps the guess and reports a ray."""

    def __init__(self):
        self.guesses: list = []

    def solve(self, problem, z):
        self.guesses.append(z.copy() * problem.column_scale)
        return SolveInfo(Status.RAY, 1, Residuals(normal=1.0))

    def internal_state(self):
        return {"calls": np.array([float(len(self.guesses))])}

    def restore(self, internal_state):
        self.guesses = [None] * int(internal_state["calls"][0]) if internal_state else []


class PlainLemke(LCPSolver):
    """Lemke's method on the full tableau [q B⁻¹ | …], lexicographic, in numpy: short rather than fast."""

    def solve(self, problem, z):
        matrix, vector = problem.matrix, problem.vector
        n = len(vector)
        table = np.hstack([vector[:, None], np.eye(n), -matrix, -np.ones((n, 1))])
        basis = list(range(n))
        enter, row, ray = 2 * n, int(np.argmin(vector)) if n else 0, False
        for _ in range(50 * n + 50 if vector.min(initial=0.0) < 0 else 0):
            table[row] /= table[row, 1 + enter]
            others = np.arange(n) != row
            table[others] -= np.outer(table[others, 1 + enter], table[row])
            left, basis[row] = basis[row], enter
            if left == 2 * n:
                break
            enter = left + n if left < n else left - n
            column = table[:, 1 + enter]
            rows = np.flatnonzero(column > 1e-9 * np.abs(column).max())
            ray = rows.size == 0
            if ray:
                break
            for k in range(n + 1):
                ratio = table[rows, k] / column[rows]
                rows = rows[ratio <= ratio.min() + 1e-11 * np.abs(ratio).max()]
                artificial = [i for i in rows if basis[i] == 2 * n]
                rows = np.array(artificial) if artificial else rows
            row = int(rows[0])
        active = np.array([i - n for i in basis if n <= i < 2 * n], dtype=int)
        z[:] = 0.0
        z[active] = np.maximum(np.linalg.lstsq(matrix[np.ix_(active, active)], -vector[active])[0], 0.0)
        w = matrix @ z + vector
        error = np.abs(np.minimum(problem.column_scale * z, w / problem.row_scale)).max(initial=0.0)
        good = error <= problem.tolerance
        status = Status.CONVERGED if good else Status.RAY if ray else Status.ITERATION_LIMIT
        return SolveInfo(status, 1, Residuals(normal=float(error)))


class Quitter(LCPSolver):
    """A solver that keeps the guess and reports that its sweeps ran out."""

    def solve(self, problem, z):
        return SolveInfo(Status.ITERATION_LIMIT, 1, Residuals(normal=1.0))


MAKERS = {"enumeration": Enumeration, "refuses": Refuses, "lemke": PlainLemke, "quitter": Quitter}


@pytest.fixture
def problem_of():
    return DenseProblem


@pytest.fixture
def solver_of():
    """`solver_of(lcp_solver="lemke", **options)`: `lcp` without fallback unless the options name one."""

    def make(**options):
        options.setdefault("fallback", ())
        config = LCPContactConfig(**options)
        return LCPContact(
            config, BuildContext(build=lambda _role, use: MAKERS[ComponentRef.from_value(use).use]())
        )

    return make
