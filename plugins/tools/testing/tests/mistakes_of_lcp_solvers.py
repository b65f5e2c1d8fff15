"""LCP solvers with one small mistake each: a sign, an order, a scale, a tolerance, a buffer kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.status import Residuals, SolveInfo, Status

from .defects import counter, drift

__all__ = ["LCP_SOLVERS"]


def of(change: Any) -> dict[str, Any]:
    """A solver that takes the problem for `change(problem)`, and measures its residual in that one."""
    return {"solve": lambda right, self, problem, z: right(self, change(problem), z)}


def then(change: Any) -> dict[str, Any]:
    """A solver after whose answer `change(self, problem, z, info)` gives what it says of it."""

    def method(right: Any, self: Any, problem: Any, z: Any) -> SolveInfo:
        info = right(self, problem, z)
        return change(self, problem, z, info) or info

    return {"solve": method}


def instead(solve: Any) -> dict[str, Any]:
    """A method of another solver: `solve(problem, z)`, which calls what it finds solved."""

    def method(right: Any, self: Any, problem: Any, z: Any) -> SolveInfo:
        solve(problem, z)
        return SolveInfo(Status.CONVERGED, 1, Residuals(normal=natural(problem, z)))

    return {"solve": method}


def natural(problem: Any, z: Any) -> float:
    w = (problem.matrix @ z + problem.vector) / problem.row_scale
    return float(np.max(np.abs(np.minimum(problem.column_scale * z, w)), initial=0.0))


def told(residual: Any) -> dict[str, Any]:
    """A solver that measures `residual(problem, z)`."""
    return then(lambda self, problem, z, info: evolve(info, residuals=Residuals(normal=residual(problem, z))))


def clipped(problem, z):
    z[:] = np.maximum(np.linalg.lstsq(problem.matrix, -problem.vector, rcond=None)[0], 0.0)


def sweeps(problem, z):
    """Projected Gauss-Seidel, which divides by the diagonal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(300):
            for i in range(len(z)):
                rest = problem.matrix[i] @ z - problem.matrix[i, i] * z[i] + problem.vector[i]
                z[i] = max(0.0, -rest / problem.matrix[i, i])


def few_sweeps(problem, z):
    z[:] = 0.0
    for _ in range(3):
        for i in range(len(z)):
            rest = problem.matrix[i] @ z - problem.matrix[i, i] * z[i] + problem.vector[i]
            z[i] = max(0.0, -rest / problem.matrix[i, i]) if problem.matrix[i, i] else 0.0


def grows(problem, z):
    """Raises z until no w is negative."""
    z[:] = 0.0
    for _ in range(200):
        z += np.maximum(-(problem.matrix @ z + problem.vector), 0.0) / 4.0


def pivots_once_per_row(right, self, problem, z):
    """A limit of pivots that is too small where rows are listed twice, as if nothing could tie."""
    tied = len(np.unique(problem.vector)) < len(problem.vector) and problem.contact_problem is None
    info = right(self, problem, z)
    return evolve(info, status=Status.ITERATION_LIMIT) if tied and len(z) > 2 else info


def leaves_z(right, self, problem, z):
    if (problem.vector >= 0.0).all():
        return SolveInfo(Status.CONVERGED)
    return right(self, problem, z)


def adds_to_the_guess(right, self, problem, z):
    guess = z.copy()
    info = right(self, problem, z)
    z += guess
    return info


def by_groups(problem):
    """All λ_n, then all β, then all γ."""
    behind = problem.contact_problem
    if behind is None or len(behind.friction) < 2:
        return problem
    m, r = len(behind.friction), behind.directions.shape[2]
    first = np.arange(m) * (r + 2)
    order = np.concatenate([first, *(first + 1 + k for k in range(r)), first + r + 1])
    order = np.concatenate([order, np.arange(len(order), len(problem.vector))])
    return evolve(
        problem,
        matrix=np.ascontiguousarray(problem.matrix[np.ix_(order, order)]),
        vector=problem.vector[order].copy(),
    )


def one_bound(problem):
    """One variable a bounded row, whatever its bounds."""
    behind = problem.contact_problem
    if behind is None or not len(behind.lower):
        return problem
    matrix, vector = problem.matrix.copy(), problem.vector.copy()
    at = len(behind.friction) * (behind.directions.shape[2] + 2)
    for high in behind.upper:
        if np.isfinite(high):
            matrix[at, at + 1] = matrix[at + 1, at] = 0.0
            vector[at + 1] = 1.0
        at += 2 if np.isfinite(high) else 1
    return evolve(problem, matrix=matrix, vector=vector)


def pivots_in_the_matrix(self, problem, z, info):
    problem.matrix[0] /= problem.matrix[0, 0] if problem.matrix.size and problem.matrix[0, 0] else 1.0


def scales_the_vector(self, problem, z, info):
    problem.vector[:] /= np.abs(problem.vector).max(initial=1.0)


def factorised_once(right, self, problem, z):
    """Keeps the matrix of the first problem of each size."""
    kept = self.__dict__.setdefault("factors", {})
    matrix = kept.setdefault(len(z), problem.matrix.copy())
    return right(self, evolve(problem, matrix=matrix), z)


def begins_where_it_ended(right, self, problem, z):
    """A warm start that is no internal state, and shows in what it counts."""
    same = getattr(self, "last", np.zeros(0)).size == z.size
    info = right(self, problem, z)
    self.last = z.copy()
    return evolve(info, iterations=max(info.iterations - same, 0))


def own_tolerance(self, problem, z, info):
    return evolve(info, status=Status.CONVERGED) if info.residuals.normal < 1e-6 else None


def hopes_at_the_limit(self, problem, z, info):
    return evolve(info, status=Status.CONVERGED) if info.status is Status.ITERATION_LIMIT else None


def follows_the_ray(self, problem, z, info):
    if info.status is Status.RAY:
        z[:] = np.inf


def hopes_on_a_ray(self, problem, z, info):
    return evolve(info, status=Status.CONVERGED) if info.status is Status.RAY else None


def replaces_nan(problem):
    return evolve(
        problem,
        matrix=np.nan_to_num(problem.matrix, posinf=0.0, neginf=0.0),
        vector=np.nan_to_num(problem.vector),
    )


def looks_for_nan_alone(right, self, problem, z):
    if np.isinf(problem.matrix).any() or np.isinf(problem.vector).any():
        z[:] = 0.0
        return SolveInfo(Status.CONVERGED)
    return right(self, problem, z)


def prints(self, problem, z, info):
    print("pivots:", info.iterations)


def silences(self, problem, z, info):
    np.seterr(all="ignore")


def perturbed_by_lot(self, problem, z, info):
    z += 1e-15 * drift(self) * (1.0 + z)


def counts(self, problem, z, info):
    return evolve(info, iterations=counter(self))


def of_single(problem):
    return evolve(problem, matrix=problem.matrix.astype(np.float32).astype(float))


LCP_SOLVERS = {
    "b with the other sign": (
        of(lambda p: evolve(p, vector=-p.vector)),
        "known-answers",
        "z of a definite problem",
    ),
    "A is transposed": (
        of(lambda p: evolve(p, matrix=np.ascontiguousarray(p.matrix.T))),
        "contacts-answered",
        "impulse of a point",
    ),
    "A is made symmetric": (
        of(lambda p: evolve(p, matrix=0.5 * (p.matrix + p.matrix.T))),
        "contacts-answered",
        "a point with velocity",
    ),
    "A of half the digits": (of(of_single), "residual-truthful", "says a residual of"),
    "solved without bounds, then clipped": (instead(clipped), "known-answers", "z of a definite problem"),
    "divides by a diagonal of zeros": (instead(sweeps), "contacts-answered", "a point with velocity"),
    "stops after three sweeps": (instead(few_sweeps), "residual-truthful", "is CONVERGED with a residual of"),
    "ties are not broken": ({"solve": pivots_once_per_row}, "ties-harmless", "listed twice, are not solved"),
    "b ≥ 0 leaves z as it is": ({"solve": leaves_z}, "trivial-answers", "z where b ≥ 0, from the guess"),
    "adds to the guess": ({"solve": adds_to_the_guess}, "guess-harmless", "z from another guess"),
    "variables by groups": (of(by_groups), "contacts-answered", "one after the other"),
    "bounded rows of one bound": (of(one_bound), "contacts-answered", "bounded rows"),
    "answers in physical units": (
        then(lambda self, problem, z, info: np.multiply(z, problem.column_scale, out=z) is None),
        "scaling-harmless",
        "physical z",
    ),
    "scales are forgotten": (
        told(lambda p, z: float(np.max(np.abs(np.minimum(z, p.matrix @ z + p.vector)), initial=0.0))),
        "residual-truthful",
        "says a residual of",
    ),
    "a residual of products": (
        told(lambda p, z: float(np.abs(z * (p.matrix @ z + p.vector)).max(initial=0.0))),
        "residual-truthful",
        "says a residual of",
    ),
    "content with w ≥ 0": (instead(grows), "known-answers", "z of a definite problem"),
    "a tolerance of its own": (then(own_tolerance), "residual-truthful", "the problem's tolerance is 1e-300"),
    "the limit counts as solved": (
        {
            "__init__": lambda right, self, config, context=None: right(
                self, evolve(config, max_iterations=1), context
            ),
            **then(hopes_at_the_limit),
        },
        "residual-truthful",
        "is CONVERGED with a residual of",
    ),
    "a ray counts as solved": (
        then(hopes_on_a_ray),
        "no-false-convergence",
        "has no answer and is CONVERGED",
    ),
    "a ray to infinity": (then(follows_the_ray), "no-false-convergence", "the best z is not finite"),
    "NaN becomes 0": (of(replaces_nan), "nan-unsolved", "a problem with nan in its"),
    "looks for NaN alone": ({"solve": looks_for_nan_alone}, "nan-unsolved", "a problem with -inf in its"),
    "pivots in the matrix": (then(pivots_in_the_matrix), "inputs-unchanged", "changes its argument matrix"),
    "scales b in place": (then(scales_the_vector), "inputs-unchanged", "changes its argument vector"),
    "factorised once": ({"solve": factorised_once}, "saved-and-loaded", "is not the same"),
    "begins where it ended, in secret": (
        {"solve": begins_where_it_ended},
        "saved-and-loaded",
        "report is not the same",
    ),
    "counts for ever": (then(counts), "saved-and-loaded", "report is not the same"),
    "a random perturbation": (then(perturbed_by_lot), "deterministic", "in a second component"),
    "prints": (then(prints), "leaves-no-trace", "prints 'pivots"),
    "silences NumPy for all": (then(silences), "leaves-no-trace", "NumPy's treatment of errors"),
    "another's name": (
        then(lambda self, problem, z, info: evolve(info, answered_by="pgs")),
        "answered-by-itself",
        "is another component",
    ),
}
