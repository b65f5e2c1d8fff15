"""LCP solvers on problems whose answers are found by trying every active set."""

from __future__ import annotations

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


def contact_lcp(velocity: Array, friction: float) -> tuple[LCPProblem, Array]:
    """A unit point mass on a floor, as (λ_n, β₁…β₄, γ), and the impulse (λ_n, λ_t) that answers it.

    w_n = λ_n + v_n,   w_β = Dᵀ(D·β + v_t) + γ·e,   w_γ = μ·λ_n − eᵀβ                    (1)
    """
    directions = np.array([[1.0, 0, -1, 0], [0, 1.0, 0, -1]])
    matrix, vector = np.zeros((6, 6)), np.zeros(6)
    matrix[0, 0] = 1.0
    matrix[1:5, 1:5] = directions.T @ directions
    matrix[1:5, 5], matrix[5, 1:5], matrix[5, 0] = 1.0, -1.0, friction
    vector[0], vector[1:5] = velocity[0], directions.T @ velocity[1:]
    limits = np.zeros(0)
    blocks = PhysicalContactProblem(
        np.eye(3), velocity.copy(), np.array([friction]), directions[None].copy(), limits, limits.copy()
    )
    normal = max(0.0, -velocity[0])
    size = min(abs(velocity[1]), friction * normal)
    return evolve(_problem(matrix, vector), contact_problem=blocks), np.array(
        [normal, -np.sign(velocity[1]) * size, 0.0]
    )


def _impulse(problem: LCPProblem, z: Array) -> Array:
    assert problem.contact_problem is not None
    physical = problem.column_scale * z
    return np.concatenate([physical[:1], problem.contact_problem.directions[0] @ physical[1:5]])


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


@check("trivial-answers", "b ≥ 0 is answered by z = 0, and an empty problem by nothing")
def trivial_answers(subject: Subject) -> None:
    problem = _problem(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([0.0, 3.0]))
    z, info = _answer(subject, problem)
    expect(info.status.solved, f"b ≥ 0 is not solved: {info.status.value}")
    expect_close("z where b ≥ 0", z, np.zeros(2), _NEAR)
    _, info = _answer(subject, _problem(np.zeros((0, 0)), np.zeros(0)))
    expect(info.status.solved, f"an empty problem is not solved: {info.status.value}")


@check("contacts-answered", "a point with friction sticks, slides or separates as on paper")
def contacts_answered(subject: Subject) -> None:
    for velocity in ([-1.0, 0.2, 0.0], [-1.0, 0.9, 0.0], [-1.0, -0.9, 0.0], [0.3, 0.5, 0.0]):
        problem, wanted = contact_lcp(np.array(velocity), 0.5)
        z, info = _answer(subject, problem)
        expect(info.status.solved, f"a point with velocity {velocity} is not solved: {info.status.value}")
        expect_close(f"impulse at velocity {velocity} [N·s]", _impulse(problem, z), wanted, _NEAR)


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
    problems += [_scaled(_definite(random, n), random) for n in (2, 4, 6)]
    problems += [contact_lcp(np.array([-1.0, 0.9, 0.3]), 0.5)[0]]
    for problem in problems:
        z, info = _answer(subject, problem)
        true, said = _residual(problem, z), info.residuals.normal
        expect(abs(true - said) <= 1e-12 + 1e-6 * true, f"says a residual of {said:.6g}, it is {true:.6g}")
        met = true <= problem.tolerance * (1 + 1e-6)
        expect(met or not info.status.solved, f"is {info.status.name} with a residual of {true:.3g}")


@check("nan-unsolved", "what is not a number is never said to be solved")
def nan_unsolved(subject: Subject) -> None:
    for problem in (_definite(np.random.default_rng(34), 3), contact_lcp(np.array([-1.0, 0.9, 0.3]), 0.5)[0]):
        for name in ("matrix", "vector"):
            spoilt = evolve(problem, **{name: getattr(problem, name).copy()})
            getattr(spoilt, name)[0] = np.nan
            expect_unsolved(f"a problem with nan in its {name}", _answer(subject, spoilt)[1])


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
            problem = contact_lcp(np.array([-1.0, 0.9, 0.3]), 0.5)[0]
        handed = {
            "matrix": problem.matrix, "vector": problem.vector,
            "row_scale": problem.row_scale, "column_scale": problem.column_scale,
        }  # fmt: skip
        if problem.contact_problem is not None:
            handed |= {
                "blocks.delassus": problem.contact_problem.delassus,
                "blocks.free": problem.contact_problem.free,
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
    scaling_harmless,
    guess_harmless,
    no_false_convergence,
    residual_truthful,
    nan_unsolved,
    answered_by_itself,
)
"""Checks of the LCP solver role."""
