"""LCP solvers on problems whose answers are found by trying every active set."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo
from corekit.roles.problem import LCPProblem, PhysicalContactProblem
from corekit_testing.conformance.answers import answer_checks
from corekit_testing.conformance.check import (
    Check,
    check,
    expect,
    expect_close,
    expect_own_name,
    expect_unsolved,
)
from corekit_testing.conformance.subject import SERIES, Answer, Session, Subject

__all__ = ["CHECKS", "contact_lcp", "enumerated"]

_NEAR = 1e-7


def _problem(matrix: Array, vector: Array) -> LCPProblem:
    ones = np.ones(len(vector))
    return LCPProblem(
        np.ascontiguousarray(matrix, dtype=float), np.array(vector, dtype=float), ones, ones.copy()
    )


def _definite(random: np.random.Generator, n: int) -> LCPProblem:
    """A symmetric positive definite matrix: exactly one answer."""
    root = random.normal(size=(n, n))
    return _problem(root @ root.T / n + np.eye(n), random.normal(size=n))


def _scaled(problem: LCPProblem, random: np.random.Generator) -> LCPProblem:
    """The same physical problem with rows and columns scaled."""
    row, column = (10.0 ** random.uniform(-2, 2, len(problem.vector)) for _ in range(2))
    matrix = row[:, None] * problem.matrix * column
    return evolve(problem, matrix=matrix, vector=row * problem.vector, row_scale=row, column_scale=column)


def enumerated(problem: LCPProblem) -> Array:
    """The answer of a problem with exactly one, by every active set in turn."""
    n = len(problem.vector)
    for mask in product([False, True], repeat=n):
        active, z = np.array(mask), np.zeros(n)
        if active.any():
            z[active] = np.linalg.solve(problem.matrix[np.ix_(active, active)], -problem.vector[active])
        if np.minimum(z, problem.matrix @ z + problem.vector).min() >= -1e-12:
            return z
    raise ValueError("the reference problem has no answer")


def contact_lcp(
    velocities: Array,
    friction: Array,
    bounds: Sequence[tuple[float, float]] = (),
    rates: Sequence[float] = (),
) -> tuple[LCPProblem, Array]:
    """Unit point masses on floors and unit masses between stops, and the impulses that answer them.

    Of a contact the variables are (λ_n, β₁…β₄, γ), of a bounded row z = λ − lower, and s where both bounds are finite:

    w_n = λ_n + v_n,   w_β = Dᵀ(D·β + v_t) + γ·e,   w_γ = μ·λ_n − eᵀβ                    (1)
    w_z = z + lower + v + s,   w_s = upper − lower − z                                   (2)

    Args:
        velocities: of the points, the second tangent at rest [m/s], shape (m, 3). friction: μ, shape (m,).
        bounds: finite lower and any upper impulse of every bounded row [N·s]. rates: velocity of each [m/s].
    """
    directions = np.array([[1.0, 0, -1, 0], [0, 1.0, 0, -1]])
    point = np.zeros((6, 6))
    point[0, 0], point[1:5, 1:5] = 1.0, directions.T @ directions
    point[1:5, 5], point[5, 1:5] = 1.0, -1.0
    blocks, vector, wanted = list[Array](), list[float](), list[float]()
    for velocity, mu in zip(velocities, friction, strict=True):
        block = point.copy()
        block[5, 0] = mu
        blocks.append(block)
        vector += [float(velocity[0]), *(directions.T @ velocity[1:]).tolist(), 0.0]
        normal = max(0.0, -float(velocity[0]))
        size = min(abs(float(velocity[1])), float(mu) * normal)
        wanted += [normal, -float(np.sign(velocity[1])) * size, 0.0]
    for (low, high), rate in zip(bounds, rates, strict=True):
        two = np.isfinite(high)
        blocks.append(np.array([[1.0, 1.0], [-1.0, 0.0]]) if two else np.eye(1))
        vector += [rate + low, high - low] if two else [rate + low]
        wanted.append(float(np.clip(-rate, low, high)))
    matrix, at = np.zeros((len(vector), len(vector))), 0
    for block in blocks:
        matrix[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    limits = np.array(bounds, dtype=float).reshape(-1, 2)
    behind = PhysicalContactProblem(
        np.eye(len(wanted)), np.concatenate([velocities.ravel(), np.array(rates, dtype=float)]), friction.copy(),
        np.tile(directions, (len(friction), 1, 1)), limits[:, 0].copy(), limits[:, 1].copy(),
    )  # fmt: skip
    return evolve(_problem(matrix, np.array(vector)), contact_problem=behind), np.array(wanted)


def _sliding() -> LCPProblem:
    """One point that slides."""
    return contact_lcp(np.array([[-1.0, 0.9, 0.3]]), np.array([0.5]))[0]


def _impulse(problem: LCPProblem, z: Array) -> Array:
    """Impulses of a problem that `contact_lcp` makes."""
    behind = problem.contact_problem
    assert behind is not None
    physical, at, impulse = problem.column_scale * z, 0, list[float]()
    for directions in behind.directions:
        impulse += [float(physical[at]), *(directions @ physical[at + 1 : at + 5]).tolist()]
        at += 6
    for low, high in zip(behind.lower, behind.upper, strict=True):
        impulse.append(float(low + physical[at]))
        at += 2 if np.isfinite(high) else 1
    return np.array(impulse)


def _residual(problem: LCPProblem, z: Array) -> float:
    w = (problem.matrix @ z + problem.vector) / problem.row_scale
    return float(np.max(np.abs(np.minimum(problem.column_scale * z, w)), initial=0.0))


def _answer(subject: Subject, problem: LCPProblem, guess: Array | None = None) -> tuple[Array, SolveInfo]:
    z = np.zeros(len(problem.vector)) if guess is None else guess.copy()
    solver: Any = subject.build()
    return z, solver.solve(problem, z)


def _without_answer() -> list[tuple[str, LCPProblem]]:
    """Problems that no z answers."""
    opposed = np.array([[1.0, -1.0], [-1.0, 1.0]])
    return [
        ("w = 0·z − 1", _problem(np.zeros((1, 1)), np.array([-1.0]))),
        ("w = −z − 1", _problem(-np.eye(1), np.array([-1.0]))),
        ("two rows that contradict each other", _problem(opposed, np.array([-1.0, -1.0]))),
    ]


@check("known-answers", "problems with exactly one answer get it")
def known_answers(subject: Subject) -> None:
    random = np.random.default_rng(30)
    for n in (1, 2, 3, 4, 6, 8):
        problem = _definite(random, n)
        z, info = _answer(subject, problem)
        expect(info.status.solved, f"a definite problem of size {n} is not solved: {info.status.value}")
        expect_close(f"z of a definite problem of size {n}", z, enumerated(problem), _NEAR)


@check("trivial-answers", "b ≥ 0 is answered by z = 0 from any guess, and an empty problem by nothing")
def trivial_answers(subject: Subject) -> None:
    problem = _problem(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([0.0, 3.0]))
    for guess in (np.zeros(2), np.array([0.7, 0.2])):
        z, info = _answer(subject, problem, guess)
        expect(info.status.solved, f"b ≥ 0 is not solved: {info.status.value}")
        expect_close(f"z where b ≥ 0, from the guess {guess}", z, np.zeros(2), _NEAR)
    _, info = _answer(subject, _problem(np.zeros((0, 0)), np.zeros(0)))
    expect(info.status.solved, f"an empty problem is not solved: {info.status.value}")


@check("contacts-answered", "points with friction stick, slide or separate as on paper, alone and together")
def contacts_answered(subject: Subject) -> None:
    moving = ([-1.0, 0.2, 0.0], [-1.0, 0.9, 0.0], [-1.0, -0.9, 0.0], [0.3, 0.5, 0.0])
    for velocity, mu in product(moving, (0.5, 0.0)):
        problem, wanted = contact_lcp(np.array([velocity]), np.array([mu]))
        z, info = _answer(subject, problem)
        what = f"a point with velocity {velocity} and friction {mu:g}"
        expect(info.status.solved, f"{what} is not solved: {info.status.value}")
        expect_close(f"impulse of {what} [N·s]", _impulse(problem, z), wanted, _NEAR)
    several = np.array([moving[1], [-0.4, -0.7, 0.0], moving[3]])
    bounds, rates = [(-0.2, 0.3), (0.0, np.inf), (-0.1, 0.4)], [0.5, -0.6, -0.7]
    problem, wanted = contact_lcp(several, np.array([0.5, 0.2, 0.8]), bounds, rates)
    z, info = _answer(subject, problem)
    expect(info.status.solved, f"three points and three bounded rows are not solved: {info.status.value}")
    expect_close(
        "impulses of three points, one after the other as (λ_n, β, γ), and then of three bounded rows [N·s]",
        _impulse(problem, z), wanted, _NEAR,
    )  # fmt: skip


@check("ties-harmless", "contacts that are listed twice are solved, with the same velocities")
def ties_harmless(subject: Subject) -> None:
    random = np.random.default_rng(36)
    for n in (2, 3, 5):
        once = _definite(random, n)
        twice = np.vstack([np.eye(n), np.eye(n)])
        problem = _problem(twice @ once.matrix @ twice.T, twice @ once.vector)
        z, info = _answer(subject, problem)
        expect(info.status.solved, f"{n} rows, each listed twice, are not solved: {info.status.value}")
        expect_close(f"sums of z of {n} rows, each listed twice", twice.T @ z, enumerated(once), _NEAR)


@check("scaling-harmless", "rows and columns scaled leave the physical answer")
def scaling_harmless(subject: Subject) -> None:
    random = np.random.default_rng(31)
    for n in (2, 4, 6):
        problem = _definite(random, n)
        scaled = _scaled(problem, random)
        z, info = _answer(subject, scaled)
        expect(info.status.solved, f"a scaled problem of size {n} is not solved: {info.status.value}")
        expect_close("physical z of a scaled problem", scaled.column_scale * z, enumerated(problem), _NEAR)


@check("guess-harmless", "a bad guess does not spoil the answer")
def guess_harmless(subject: Subject) -> None:
    random = np.random.default_rng(32)
    problem = _definite(random, 5)
    for size in (1.0, 1e3):
        z, info = _answer(subject, problem, size * random.normal(size=5))
        expect(info.status.solved, f"from a guess of size {size:g} it is not solved: {info.status.value}")
        expect_close("z from another guess", z, enumerated(problem), _NEAR)


@check("no-false-convergence", "a problem without answer is never said to be solved")
def no_false_convergence(subject: Subject) -> None:
    for what, problem in _without_answer():
        z, info = _answer(subject, problem)
        expect(not info.status.solved, f"{what} has no answer and is {info.status.name}")
        expect(np.isfinite(z).all(), f"{what}: the best z is not finite")


@check("residual-truthful", "the reported residual is that of the physical problem, solved or not")
def residual_truthful(subject: Subject) -> None:
    random = np.random.default_rng(33)
    problems = [problem for _, problem in _without_answer()]
    problems += [
        _sliding(),
        *(_scaled(each, random) for each in (*problems, *(_definite(random, n) for n in (2, 4, 6)))),
    ]
    strict = [evolve(_scaled(_definite(random, n), random), tolerance=1e-300) for n in (3, 5, 7, 8)]
    for problem in [*problems, *strict]:
        z, info = _answer(subject, problem)
        true, said = _residual(problem, z), info.residuals.normal
        expect(abs(true - said) <= 1e-12 + 1e-6 * true, f"says a residual of {said:.6g}, it is {true:.6g}")
        met = true <= problem.tolerance * (1 + 1e-6) or said <= problem.tolerance < 1e-12
        what = f"with a residual of {max(true, said):.3g}, the problem's tolerance is {problem.tolerance:.3g}"
        expect(met or not info.status.solved, f"is {info.status.name} {what}")


@check("nan-unsolved", "what is not a finite number is never said to be solved")
def nan_unsolved(subject: Subject) -> None:
    for problem in (_definite(np.random.default_rng(34), 3), _sliding()):
        for name, number in product(("matrix", "vector"), (np.nan, -np.inf)):
            spoilt = evolve(problem, **{name: getattr(problem, name).copy()})
            getattr(spoilt, name)[0] = number
            expect_unsolved(f"a problem with {number} in its {name}", _answer(subject, spoilt)[1])


@check("answered-by-itself", "an answer is not ascribed to another solver")
def answered_by_itself(subject: Subject) -> None:
    for problem in (_definite(np.random.default_rng(35), 3), _without_answer()[0][1]):
        expect_own_name(subject, _answer(subject, problem)[1])


class LCPSession(Session):
    """A series of definite problems, and one with friction."""

    def ask(self, index: int) -> Answer:
        random = np.random.default_rng(40 + index)
        problem = _definite(random, 2 + SERIES[index])
        if index == 3:
            problem = _sliding()
        handed = {
            "matrix": problem.matrix, "vector": problem.vector,
            "row_scale": problem.row_scale, "column_scale": problem.column_scale,
        }  # fmt: skip
        if problem.contact_problem is not None:
            handed |= {
                "blocks.delassus": problem.contact_problem.delassus,
                "blocks.free": problem.contact_problem.free,
                "blocks.friction": problem.contact_problem.friction,
                "blocks.directions": problem.contact_problem.directions,
            }
        before = {name: values.copy() for name, values in handed.items()}
        z = np.zeros(len(problem.vector))
        solver: Any = self.component
        info = solver.solve(problem, z)
        given = {name: (before[name], values) for name, values in handed.items()}
        return Answer(given, {"z": z, "report": np.array([info.residuals.normal, info.iterations])})


CHECKS: tuple[Check, ...] = (
    *answer_checks(LCPSession),
    known_answers,
    trivial_answers,
    contacts_answered,
    ties_harmless,
    scaling_harmless,
    guess_harmless,
    no_false_convergence,
    residual_truthful,
    nan_unsolved,
    answered_by_itself,
)
"""Checks of the LCP solver role."""
