"""Quadratic programs from dense rows, their answers by every choice of sides in turn, and their residuals."""

from __future__ import annotations

from itertools import product

import numpy as np

from corekit.data.arrays import Array
from corekit.linalg.matrices import Dense, Matrix
from corekit.roles.problem import QPProblem

__all__ = ["enumerated", "program", "random_program", "residual"]


def program(
    hessian: Matrix | Array,
    gradient: Array,
    rows: Array,
    lower: Array,
    upper: Array,
    **more: Array,
) -> QPProblem:
    """A program from dense rows; compliance zero and multipliers unbounded where not given."""
    k, n = rows.shape
    if not isinstance(hessian, Matrix):
        matrix = Dense(n)
        matrix.data[:] = hessian
        hessian = matrix
    return QPProblem(
        hessian=hessian,
        gradient=np.array(gradient, dtype=float),
        dofs=np.tile(np.arange(n), (k, 1)),
        values=np.array(rows, dtype=float),
        lower=np.array(lower, dtype=float),
        upper=np.array(upper, dtype=float),
        compliance=more.get("compliance", np.zeros(k)),
        multiplier_lower=more.get("multiplier_lower", np.full(k, -np.inf)),
        multiplier_upper=more.get("multiplier_upper", np.full(k, np.inf)),
    )


def random_program(
    random: np.random.Generator, n: int, equal: int, other: int, *, soft: bool = False
) -> QPProblem:
    """A feasible program with equalities, one-sided and two-sided rows, and, if `soft`, compliance and weak rows."""
    root = random.normal(size=(n, n))
    rows = random.normal(size=(equal + other, n))
    at = rows @ random.normal(size=n)
    lower, upper = at.copy(), at.copy()
    lower[equal:] -= random.uniform(0.0, 1.0, other)
    upper[equal:] += np.where(random.random(other) < 0.5, np.inf, random.uniform(0.0, 1.0, other))
    more: dict[str, Array] = {}
    if soft:
        k = equal + other
        least, most = np.full(k, -np.inf), np.full(k, np.inf)
        least[:equal], most[:equal] = -random.uniform(0.0, 0.5, equal), random.uniform(0.0, 0.5, equal)
        more = {
            "compliance": random.uniform(0.0, 0.3, k),
            "multiplier_lower": least,
            "multiplier_upper": most,
        }
    return program(root @ root.T / n + np.eye(n), 3.0 * random.normal(size=n), rows, lower, upper, **more)


def enumerated(problem: QPProblem) -> Array:
    """x of a program with dense rows, by every choice of sides in turn."""
    H, k, n = problem.hessian.dense(), len(problem.lower), len(problem.gradient)
    rows, equal = problem.values, problem.lower == problem.upper
    choices = [
        [("hold", low), ("fix", least), ("fix", most)]
        if same
        else [("fix", 0.0), ("hold", low), ("hold", high)]
        for same, low, high, least, most in zip(
            equal,
            problem.lower,
            problem.upper,
            problem.multiplier_lower,
            problem.multiplier_upper,
            strict=True,
        )
    ]
    for sides in product(*choices):
        if any(not np.isfinite(value) for _, value in sides):
            continue
        held = np.array([kind == "hold" for kind, _ in sides], dtype=bool)
        value = np.array([number for _, number in sides])
        y = np.where(held, 0.0, value)
        m = int(held.sum())
        saddle = np.zeros((n + m, n + m))
        saddle[:n, :n], saddle[:n, n:], saddle[n:, :n] = H, rows[held].T, rows[held]
        saddle[n:, n:] = -np.diag(problem.compliance[held])
        right = np.concatenate([-problem.gradient - rows.T @ y, value[held]])
        found: Array = np.asarray(np.linalg.lstsq(saddle, right, rcond=None)[0], dtype=np.float64)
        if np.abs(saddle @ found - right).max(initial=0.0) > 1e-9:
            continue
        y[held] = found[n:]
        if residual(problem, found[:n], y) < 1e-9:
            return found[:n]
    raise ValueError(f"the reference program of {k} rows has no answer")


def residual(problem: QPProblem, x: Array, y: Array) -> float:
    """The largest natural residual, as the role states it."""
    z = problem.values @ x - problem.compliance * y
    equal = problem.lower == problem.upper
    held = np.abs(y - np.clip(y + z - problem.lower, problem.multiplier_lower, problem.multiplier_upper))
    other = np.abs(z - np.clip(z + y, problem.lower, problem.upper))
    return float(np.max(np.where(equal, held, other), initial=0.0))
