"""QP solvers on programs whose answers are found by trying every active set."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo, Status
from corekit.linalg.matrices import Banded, Dense, Diagonal, Matrix
from corekit.roles.problem import QPProblem
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

__all__ = ["CHECKS", "enumerated", "program"]

_NEAR = 1e-7


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


def _balance(problem: QPProblem, x: Array, y: Array) -> float:
    return float(np.abs(problem.hessian.dense() @ x + problem.gradient + problem.values.T @ y).max())


def _answer(
    subject: Subject, problem: QPProblem, guess: Array | None = None
) -> tuple[Array, Array, SolveInfo]:
    x = np.zeros(len(problem.gradient))
    y = np.zeros(len(problem.lower)) if guess is None else guess.copy()
    solver: Any = subject.build()
    info = solver.solve(problem, x, y)
    return x, y, info


def _solved(
    subject: Subject, problem: QPProblem, what: str, guess: Array | None = None
) -> tuple[Array, Array]:
    x, y, info = _answer(subject, problem, guess)
    expect(info.status.solved, f"{what}: not solved: {info.status.value}")
    return x, y


@check("known-answers", "programs with equalities, bounds and soft rows get their one answer")
def known_answers(subject: Subject) -> None:
    random = np.random.default_rng(50)
    for n, equal, other, soft in (
        (1, 0, 1, False),
        (3, 1, 3, False),
        (6, 2, 5, False),
        (5, 2, 3, True),
        (4, 4, 0, False),
    ):
        problem = random_program(random, n, equal, other, soft=soft)
        x, y = _solved(subject, problem, f"{n} variables, {equal} equalities, {other} inequalities")
        expect_close(f"x of {n} variables and {equal + other} rows", x, enumerated(problem), _NEAR)
        expect(_balance(problem, x, y) < _NEAR, "H·x + g + Cᵀ·y is not zero")


@check("multipliers-signed", "y ≥ 0 at upper, y ≤ 0 at lower, 0 between")
def multipliers_signed(subject: Subject) -> None:
    for gradient, wanted in ((-5.0, 3.0), (5.0, -3.0), (0.5, 0.0)):
        problem = program(np.eye(1), np.array([gradient]), np.eye(1), np.array([-2.0]), np.array([2.0]))
        _, y = _solved(subject, problem, "one variable in a box")
        expect_close("the multiplier", y, np.array([wanted]), _NEAR)


@check("structures-alike", "the same program in another structure has the same answer")
def structures_alike(subject: Subject) -> None:
    diagonal, band = Diagonal(5), Banded(5, 1)
    diagonal.data[:] = [1.0, 2.0, 3.0, 2.0, 1.0]
    band.data[0], band.data[1, :4] = 2.0, -0.5
    random = np.random.default_rng(51)
    for matrix in (diagonal, band):
        plain = random_program(random, 5, 1, 3)
        first = program(matrix, plain.gradient, plain.values, plain.lower, plain.upper)
        second = program(matrix.dense(), plain.gradient, plain.values, plain.lower, plain.upper)
        one, two = (_solved(subject, each, "a structured program")[0] for each in (first, second))
        expect_close(f"x of a {type(matrix).__name__} program", one, two, _NEAR)


@check("units-harmless", "other units of length, time and mass leave the answer as it is")
def units_harmless(subject: Subject) -> None:
    plain = random_program(np.random.default_rng(52), 4, 1, 3)
    wanted = enumerated(plain)
    for size, weight in ((1e3, 1e-6), (1e-2, 1e3)):
        rows, bounds = plain.values / size, (plain.lower, plain.upper)
        hessian, gradient = weight * plain.hessian.dense() / size**2, weight * plain.gradient / size
        x, _, _ = _answer(subject, program(hessian, gradient, rows, *bounds))
        expect_close("x in other units", x / size, wanted, 1e-5)


@check("dependent-rows-harmless", "rows given twice leave the answer as it is")
def dependent_rows_harmless(subject: Subject) -> None:
    plain = random_program(np.random.default_rng(53), 4, 1, 3)
    twice = program(
        plain.hessian,
        plain.gradient,
        np.vstack([plain.values, plain.values[1:]]),
        np.concatenate([plain.lower, plain.lower[1:]]),
        np.concatenate([plain.upper, plain.upper[1:]]),
    )
    x, _, _ = _answer(subject, twice)
    expect_close("x with inequalities given twice", x, enumerated(plain), 1e-6)


@check("guess-harmless", "a bad guess does not spoil the answer")
def guess_harmless(subject: Subject) -> None:
    random = np.random.default_rng(54)
    problem = random_program(random, 5, 1, 5)
    for size in (1.0, 1e3):
        x, _ = _solved(subject, problem, f"from a guess of size {size:g}", size * random.normal(size=6))
        expect_close("x from another guess", x, enumerated(problem), _NEAR)


@check("no-false-convergence", "rows that contradict each other are never said to be solved")
def no_false_convergence(subject: Subject) -> None:
    one = np.ones((2, 1))
    for what, problem in (
        (
            "x ≥ 1 and x ≤ −1",
            program(np.eye(1), np.zeros(1), one, np.array([1.0, -np.inf]), np.array([np.inf, -1.0])),
        ),
        ("x = 1 and x = 2", program(np.eye(1), np.zeros(1), one, np.array([1.0, 2.0]), np.array([1.0, 2.0]))),
    ):
        x, y, info = _answer(subject, problem)
        expect(not info.status.solved, f"{what} has no answer and is {info.status.name}")
        expect(bool(np.isfinite(x).all() and np.isfinite(y).all()), f"{what}: the best answer is not finite")


@check("singular-refused", "a Hessian that is not positive definite is SINGULAR, whatever the rows")
def singular_refused(subject: Subject) -> None:
    for hessian in (np.diag([1.0, 0.0]), np.diag([1.0, -1.0])):
        bounds = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
        x, y, info = _answer(subject, program(hessian, np.ones(2), np.eye(2), *bounds))
        expect(
            info.status is Status.SINGULAR,
            f"a Hessian with the entries {np.diag(hessian)} is {info.status.name}",
        )
        expect(
            bool(np.isfinite(x).all() and np.isfinite(y).all()),
            "the answer of a singular program is not finite",
        )


@check("residual-truthful", "reported residuals are those of the program as given, solved or not")
def residual_truthful(subject: Subject) -> None:
    random = np.random.default_rng(55)
    one = np.ones((2, 1))
    bad = program(np.eye(1), np.zeros(1), one, np.array([1.0, -np.inf]), np.array([np.inf, -1.0]))
    for problem in [bad, *(random_program(random, 4, 1, 4, soft=soft) for soft in (False, True))]:
        x, y, info = _answer(subject, problem)
        true, said = residual(problem, x, y), info.residuals.normal
        expect(abs(true - said) <= 1e-12 + 1e-6 * true, f"says a residual of {said:.6g}, it is {true:.6g}")
        true, said = _balance(problem, x, y), info.residuals.equation
        expect(abs(true - said) <= 1e-12 + 1e-6 * true, f"says an imbalance of {said:.6g}, it is {true:.6g}")
        met = residual(problem, x, y) <= problem.tolerance * (1 + 1e-6)
        expect(met or not info.status.solved, f"is {info.status.name} with a residual of {true:.3g}")


@check("nan-unsolved", "what is not a number is never said to be solved")
def nan_unsolved(subject: Subject) -> None:
    for name in ("hessian", "gradient", "values"):
        problem = random_program(np.random.default_rng(56), 3, 1, 2)
        spoilt = problem.hessian.data if name == "hessian" else getattr(problem, name)
        spoilt[0] = np.nan
        expect_unsolved(f"a program with nan in its {name}", _answer(subject, problem)[2])


@check("answered-by-itself", "an answer is not ascribed to another solver")
def answered_by_itself(subject: Subject) -> None:
    random = np.random.default_rng(57)
    for count in (1, 3):
        expect_own_name(subject, _answer(subject, random_program(random, 3, 0, count))[2])


class QPSession(Session):
    """A series of programs."""

    def ask(self, index: int) -> Answer:
        problem = random_program(np.random.default_rng(60 + index), 3 + SERIES[index], 1, 2 + SERIES[index])
        handed = {
            name: getattr(problem, name)
            for name in (
                "gradient",
                "dofs",
                "values",
                "lower",
                "upper",
                "compliance",
                "multiplier_lower",
                "multiplier_upper",
            )
        } | {"hessian": problem.hessian.data}
        before = {name: values.copy() for name, values in handed.items()}
        x, y = np.zeros(len(problem.gradient)), np.zeros(len(problem.lower))
        solver: Any = self.component
        info = solver.solve(problem, x, y)
        said = np.array([info.residuals.normal, info.residuals.equation, info.iterations])
        return Answer(
            {name: (before[name], values) for name, values in handed.items()},
            {"x": x, "y": y, "report": said},
        )


CHECKS: tuple[Check, ...] = (
    *answer_checks(QPSession),
    known_answers,
    multipliers_signed,
    structures_alike,
    units_harmless,
    dependent_rows_harmless,
    guess_harmless,
    no_false_convergence,
    singular_refused,
    residual_truthful,
    nan_unsolved,
    answered_by_itself,
)
"""Checks of the QP solver role."""
