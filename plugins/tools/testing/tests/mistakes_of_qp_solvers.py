"""QP solvers with one small mistake each: a sign, a factor, a bound, an index, a tolerance, a buffer kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.status import SolveInfo, Status
from corekit.linalg.matrices import Dense
from corekit_testing.conformance.qp_programs import residual

from .defects import counter, drift

__all__ = ["QP_SOLVERS"]


def of(**changes: Any) -> dict[str, Any]:
    """A solver that reads some fields of a program otherwise, `field=change(program)`."""

    def method(right: Any, self: Any, problem: Any, x: Any, y: Any) -> SolveInfo:
        return right(
            self, evolve(problem, **{name: change(problem) for name, change in changes.items()}), x, y
        )

    return {"solve": method}


def then(change: Any) -> dict[str, Any]:
    """A solver after whose answer `change(self, problem, x, y, info)` gives what it says of it."""

    def method(right: Any, self: Any, problem: Any, x: Any, y: Any) -> SolveInfo:
        info = right(self, problem, x, y)
        return change(self, problem, x, y, info) or info

    return {"solve": method}


def told(**residuals: Any) -> dict[str, Any]:
    """A solver that measures its residuals by `name=residual(problem, x, y)`."""

    def change(self: Any, problem: Any, x: Any, y: Any, info: SolveInfo) -> SolveInfo:
        found = {name: measure(problem, x, y) for name, measure in residuals.items()}
        return evolve(info, residuals=evolve(info.residuals, **found))

    return then(change)


def dense(matrix: Any) -> Any:
    made = Dense(len(matrix))
    made.data[:] = matrix
    return made


def rows_of(problem: Any) -> Any:
    rows = np.zeros((len(problem.lower), len(problem.gradient)))
    np.add.at(rows, (np.arange(len(rows))[:, None], problem.dofs), problem.values)
    return rows


def scattered(problem):
    """Rows by assignment, by which an unused entry erases the used one of its index."""
    rows = np.zeros((len(problem.lower), len(problem.gradient)))
    rows[np.arange(len(rows))[:, None], problem.dofs] = problem.values
    return rows


def every(problem):
    return np.tile(np.arange(len(problem.gradient)), (len(problem.lower), 1))


def other_convention(self, problem, x, y, info):
    y *= -1.0


def half_of_h(problem):
    return dense(0.5 * problem.hessian.dense())


def diagonal_of_h(problem):
    return dense(np.diag(np.diag(problem.hessian.dense())))


def regularised(problem):
    h = problem.hessian.dense()
    return dense(h + 1e-8 * np.eye(len(h)))


def definite_at_any_price(right, self, problem, x, y):
    """Makes H definite where it is not, and calls that solved."""
    h = problem.hessian.dense()
    least = float(np.linalg.eigvalsh(h).min()) if np.isfinite(h).all() else 1.0
    if least <= 0.0:
        return right(self, evolve(problem, hessian=dense(h + (1e-6 - least) * np.eye(len(h)))), x, y)
    return right(self, problem, x, y)


def no_band_beyond_the_diagonal(problem):
    if type(problem.hessian).__name__ == "BlockDiagonal":
        return dense(np.diag(np.diag(problem.hessian.dense())))
    return problem.hessian


def weak_inequalities(right, self, problem, x, y):
    """Cuts every multiplier at its bounds, and x follows."""
    info = right(self, problem, x, y)
    cut = np.clip(y, problem.multiplier_lower, problem.multiplier_upper)
    if np.isfinite(y).all() and not np.array_equal(cut, y):
        y[:] = cut
        x[:] = -np.linalg.solve(problem.hessian.dense(), problem.gradient + rows_of(problem).T @ y)
    return info


def adds_to_x(right, self, problem, x, y):
    before = x.copy()
    info = right(self, problem, x, y)
    x += before
    return info


def trusts_the_active_set(right, self, problem, x, y):
    """Holds the rows that the guess held, and looks at no other."""
    held = np.abs(y) > 100.0
    info = right(self, problem, x, y)
    if held.any() and info.status.solved:
        rows, bound = rows_of(problem)[held], np.where(y > 0.0, problem.upper, problem.lower)[held]
        x += np.linalg.pinv(rows) @ (np.where(np.isfinite(bound), bound, 0.0) - rows @ x)
    return info


def inverts_the_dual(right, self, problem, x, y):
    """A dual matrix that is singular where a row stands twice."""
    rows = rows_of(problem)
    if len(rows) and len(np.unique(rows, axis=0)) < len(rows) and np.isfinite(rows).all():
        x[:] = 0.0
        return SolveInfo(Status.SINGULAR)
    return right(self, problem, x, y)


def absolute(right, self, problem, x, y):
    """Entries below 1e-2 count as zero, whatever their unit."""
    info = right(self, problem, x, y)
    x[np.abs(x) < 1e-2] = 0.0
    return info


def needs_a_row(right, self, problem, x, y):
    if not len(y):
        x[:] = 0.0
        return SolveInfo()
    return right(self, problem, x, y)


def factorises_in_place(self, problem, x, y, info):
    h = problem.hessian.data
    if h.size and np.isfinite(h).all():
        h[0] = np.sqrt(np.abs(h[0]))


def clips_bounds(self, problem, x, y, info):
    problem.upper[:] = np.minimum(problem.upper, 1e20)


def factorised_once(right, self, problem, x, y):
    """Keeps the H of the first program of each size."""
    kept = self.__dict__.setdefault("factors", {})
    h = kept.setdefault(len(x), problem.hessian.dense())
    return right(self, evolve(problem, hessian=dense(h)), x, y)


def hopes(*statuses: Status) -> dict[str, Any]:
    return then(
        lambda self, problem, x, y, info: (
            evolve(info, status=Status.CONVERGED) if info.status in statuses else None
        )
    )


def own_tolerance(self, problem, x, y, info):
    return evolve(info, status=Status.CONVERGED) if info.residuals.normal < 1e-6 else None


def reads_no_nan(right, self, problem, x, y):
    """Compares bounds, which what is not a number passes."""
    lower = np.where(np.isnan(problem.lower), -np.inf, problem.lower)
    return right(self, evolve(problem, lower=lower), x, y)


def late(self, problem, x, y, info):
    """The last change of y has not reached x."""
    x += 1e-8


def counts(self, problem, x, y, info):
    return evolve(info, iterations=counter(self))


def by_lot(self, problem, x, y, info):
    x += 1e-15 * drift(self) * (1.0 + x)


QP_SOLVERS = {
    "g with the other sign": (of(gradient=lambda p: -p.gradient), "known-answers", "x of"),
    "½ is left out": (of(hessian=half_of_h), "known-answers", "x of"),
    "H is a diagonal": (of(hessian=diagonal_of_h), "known-answers", "x of"),
    "H is regularised": (of(hessian=regularised), "residual-truthful", "says an imbalance of"),
    "H is made definite": (
        {"solve": definite_at_any_price},
        "singular-refused",
        "a Hessian with the entries",
    ),
    "blocks are read as a diagonal": (
        of(hessian=no_band_beyond_the_diagonal),
        "structures-alike",
        "x of a BlockDiagonal program",
    ),
    "y of the other convention": (then(other_convention), "multipliers-signed", "the multiplier at"),
    "compliance is left out": (
        of(compliance=lambda p: 0.0 * p.compliance),
        "known-answers",
        "x of 5 variables",
    ),
    "compliance with the other sign": (
        of(compliance=lambda p: -0.1 * p.compliance),
        "known-answers",
        "5 variables",
    ),
    "weak equalities are hard": (
        of(multiplier_upper=lambda p: np.full(len(p.lower), np.inf)),
        "multipliers-signed",
        "the multiplier of a weak equality",
    ),
    "bounds of multipliers bind all rows": (
        {"solve": weak_inequalities},
        "bounds-of-equalities-alone",
        "which nobody reads",
    ),
    "upper bounds are left out": (
        of(upper=lambda p: np.where(p.lower == p.upper, p.upper, np.inf)),
        "multipliers-signed",
        "the multiplier at",
    ),
    "every row is an equality": (
        of(upper=lambda p: np.where(np.isfinite(p.lower), p.lower, p.upper)),
        "known-answers",
        "x of",
    ),
    "rows are taken as dense": (
        of(values=rows_of, dofs=lambda p: every(p)[:, ::-1].copy()),
        "known-answers",
        "x of",
    ),
    "unused entries erase used ones": (
        of(values=scattered, dofs=every),
        "rows-gathered",
        "rows of three entries",
    ),
    "no rows, no answer": ({"solve": needs_a_row}, "unbound-free", "x with 0 rows that bind nothing"),
    "adds to the guess of x": ({"solve": adds_to_x}, "guess-harmless", "x from another guess"),
    "trusts the guessed rows": ({"solve": trusts_the_active_set}, "guess-harmless", "x from another guess"),
    "inverts a singular dual": (
        {"solve": inverts_the_dual},
        "dependent-rows-harmless",
        "inequalities given twice",
    ),
    "small numbers are zero": ({"solve": absolute}, "units-harmless", "x in other units"),
    "contradictions count as solved": (hopes(Status.INFEASIBLE), "no-false-convergence", "has no answer"),
    "a singular H counts as solved": (hopes(Status.SINGULAR), "singular-refused", "is CONVERGED"),
    "the limit counts as solved": (
        {
            "__init__": lambda right, self, config, context=None: right(
                self, evolve(config, max_iterations=1), context
            ),
            **hopes(Status.ITERATION_LIMIT, Status.INACCURATE, Status.INFEASIBLE),
        },
        "residual-truthful",
        "is CONVERGED with a residual of",
    ),
    "a tolerance of its own": (then(own_tolerance), "residual-truthful", "the program's tolerance is 1e-300"),
    "x of the sweep before": (
        then(late),
        "residual-truthful",
        "says an imbalance of",
    ),
    "the residual of the square": (
        told(normal=lambda p, x, y: residual(p, x, y) ** 2),
        "residual-truthful",
        "says a residual of",
    ),
    "NaN in g becomes 0": (
        of(gradient=lambda p: np.nan_to_num(p.gradient)),
        "nan-unsolved",
        "a program with nan in its gradient is CONVERGED",
    ),
    "NaN in a bound binds nothing": (
        {"solve": reads_no_nan},
        "nan-unsolved",
        "nan in its lower is CONVERGED",
    ),
    "factorises H in place": (then(factorises_in_place), "inputs-unchanged", "changes its argument hessian"),
    "clips bounds in place": (then(clips_bounds), "inputs-unchanged", "changes its argument upper"),
    "factorised once": ({"solve": factorised_once}, "saved-and-loaded", "is not the same"),
    "counts for ever": (then(counts), "saved-and-loaded", "report is not the same"),
    "a random perturbation": (then(by_lot), "deterministic", "in a second component"),
    "another's name": (
        then(lambda self, problem, x, y, info: evolve(info, answered_by="osqp")),
        "answered-by-itself",
        "is another component",
    ),
}
