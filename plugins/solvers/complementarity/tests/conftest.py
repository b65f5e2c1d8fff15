"""Problems with known structure, and an independent measure of the residual."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from corekit.data.arrays import Array
from corekit.roles.problem import LCPProblem, PhysicalContactProblem
from corekit_testing.rounding import rounding


def plain(matrix: Array, vector: Array, tolerance: float = 1e-9) -> LCPProblem:
    """An unscaled problem without contacts."""
    ones = np.ones(len(vector))
    return LCPProblem(
        np.ascontiguousarray(matrix, dtype=float), np.array(vector, float), ones, ones, tolerance
    )


def residual(problem: LCPProblem, z: Array) -> float:
    """max |min(z_phys, w_phys)|, by its definition."""
    w = problem.matrix @ z + problem.vector
    return float(np.max(np.abs(np.minimum(z * problem.column_scale, w / problem.row_scale)), initial=0.0))


def residual_rounding(problem: LCPProblem, z: Array) -> float:
    """Bound of the rounding difference between two evaluations of `residual`: sums of n products, in physical units."""
    largest = np.abs(problem.matrix) @ np.abs(z) + np.abs(problem.vector)
    return rounding(len(z) + 4, float(np.max(largest / problem.row_scale, initial=0.0)))


def every_solution(matrix: Array, vector: Array) -> list[Array]:
    """One solution per active set that has any, by enumeration of all 2ⁿ sets."""
    solutions = []
    for mask in product([False, True], repeat=len(vector)):
        active = np.array(mask)
        z = np.zeros(len(vector))
        if active.any():
            z[active] = np.linalg.lstsq(matrix[np.ix_(active, active)], -vector[active], rcond=None)[0]
        w = matrix @ z + vector
        if z.min() > -1e-10 and w.min() > -1e-9 and np.abs(w[active]).max(initial=0.0) < 1e-9:
            solutions.append(z)
    return solutions


def pyramid(width: int, count: int) -> Array:
    """Friction directions in the order of their angle, shape (width − 1, count)."""
    if width == 2:
        return np.array([[1.0, -1.0]])
    angle = 2 * np.pi * np.arange(count) / count
    return np.array([np.cos(angle), np.sin(angle)])


def frictional(
    rng: np.random.Generator,
    contacts: int = 4,
    coordinates: int = 7,
    count: int = 4,
    width: int = 3,
    bounds: tuple[tuple[float, float], ...] = (),
    scaled: bool = False,
) -> LCPProblem:
    """A random contact problem and its LCP, variables written out one by one as the contract states them."""
    rows = contacts * width + len(bounds)
    jacobian = rng.normal(size=(rows, coordinates))
    mass = rng.uniform(0.5, 2.0, coordinates)
    delassus = np.ascontiguousarray(jacobian @ np.diag(1 / mass) @ jacobian.T)
    free = jacobian @ rng.normal(size=coordinates)
    friction = rng.uniform(0.1, 0.9, contacts)
    one = pyramid(width, count)
    columns: list[Array] = []
    offset = np.zeros(rows)
    coupling: list[tuple[int, int, float]] = []
    constant: dict[int, float] = {}
    for i in range(contacts):
        column = len(columns)
        normal = np.zeros(rows)
        normal[i * width] = 1.0
        columns.append(normal)
        for k in range(one.shape[1]):
            tangent = np.zeros(rows)
            tangent[i * width + 1 : (i + 1) * width] = one[:, k]
            columns.append(tangent)
            coupling += [
                (column + 1 + k, column + 1 + one.shape[1], 1.0),
                (column + 1 + one.shape[1], column + 1 + k, -1.0),
            ]
        coupling.append((column + 1 + one.shape[1], column, friction[i]))
        columns.append(np.zeros(rows))
    for b, (low, high) in enumerate(bounds):
        unit = np.zeros(rows)
        unit[contacts * width + b] = 1.0
        column = len(columns)
        if np.isfinite(low):
            offset += low * unit
            columns.append(unit)
            if np.isfinite(high):
                columns.append(np.zeros(rows))
                coupling += [(column, column + 1, 1.0), (column + 1, column, -1.0)]
                constant[column + 1] = high - low
        elif np.isfinite(high):
            offset += high * unit
            columns.append(-unit)
        else:
            columns += [unit, -unit]
    to_rows = np.array(columns).T
    matrix = to_rows.T @ delassus @ to_rows
    vector = to_rows.T @ (free + delassus @ offset)
    for i, j, value in coupling:
        matrix[i, j] += value
    for i, value in constant.items():
        vector[i] += value
    n = len(vector)
    row_scale = rng.uniform(0.2, 5.0, n) if scaled else np.ones(n)
    column_scale = rng.uniform(0.2, 5.0, n) if scaled else np.ones(n)
    limits = np.array(bounds, float).reshape(-1, 2)
    blocks = PhysicalContactProblem(
        delassus,
        free,
        friction,
        np.repeat(one[None], contacts, axis=0),
        np.ascontiguousarray(limits[:, 0]),
        np.ascontiguousarray(limits[:, 1]),
    )
    conditioned = row_scale[:, None] * matrix * column_scale
    return LCPProblem(conditioned, row_scale * vector, row_scale, column_scale, 1e-9, blocks)


@pytest.fixture
def true_residual() -> Callable[[LCPProblem, Array], float]:
    return residual


@pytest.fixture
def true_residual_rounding() -> Callable[[LCPProblem, Array], float]:
    return residual_rounding


@pytest.fixture
def plain_problem() -> Callable[..., LCPProblem]:
    return plain


@pytest.fixture
def frictional_problem() -> Callable[..., LCPProblem]:
    return frictional


@pytest.fixture
def enumerate_solutions() -> Callable[[Array, Array], list[Array]]:
    return every_solution
