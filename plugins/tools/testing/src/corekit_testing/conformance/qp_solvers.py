"""QP solvers on programs whose answers are found by trying every active set."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.data.status import SolveInfo, Status
from corekit.linalg.matrices import Banded, BlockDiagonal, Diagonal, Sparse, SparsePattern
from corekit.roles.compiled_form import PROGRAM_ENTRIES, ProgramSizes
from corekit.roles.problem import QPProblem
from corekit_testing.conformance.answers import answer_checks
from corekit_testing.conformance.check import (
    Check,
    NotApplicable,
    check,
    expect,
    expect_close,
    expect_own_name,
    expect_unsolved,
)
from corekit_testing.conformance.entries import Entries
from corekit_testing.conformance.qp_programs import enumerated, program, random_program, residual
from corekit_testing.conformance.subject import SERIES, Answer, Session, Subject

__all__ = ["CHECKS"]

_NEAR = 1e-7


def _balance(problem: QPProblem, x: Array, y: Array) -> float:
    return float(np.abs(problem.hessian.dense() @ x + problem.gradient + problem.values.T @ y).max())


def _answer(
    subject: Subject, problem: QPProblem, guess: Array | None = None
) -> tuple[Array, Array, SolveInfo]:
    """x, y and what is said of them; a guess is one of y, and of x its first entries in turn."""
    x, y = np.zeros(len(problem.gradient)), np.zeros(len(problem.lower))
    if guess is not None:
        x[:], y[:] = np.resize(guess, len(x)), guess
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


@check(
    "multipliers-signed", "y ≥ 0 at upper, y ≤ 0 at lower, 0 between; of a weak equality at its own bounds"
)
def multipliers_signed(subject: Subject) -> None:
    one, least, most = np.eye(1), np.array([-0.5]), np.array([0.3])
    for gradient, wanted in ((-5.0, 3.0), (5.0, -3.0), (0.5, 0.0)):
        problem = program(one, np.array([gradient]), one, np.array([-2.0]), np.array([2.0]))
        _, y = _solved(subject, problem, "one variable in a box")
        expect_close("the multiplier", y, np.array([wanted]), _NEAR)
    for gradient, wanted in ((-5.0, 0.3), (5.0, -0.5), (-1.1, 0.1)):
        held = program(
            one,
            np.array([gradient]),
            one,
            np.ones(1),
            np.ones(1),
            multiplier_lower=least,
            multiplier_upper=most,
        )
        x, y = _solved(subject, held, "a weak equality")
        expect_close("the multiplier of a weak equality", y, np.array([wanted]), _NEAR)
        expect_close("x that a weak equality leaves", x, np.array([-gradient - wanted]), _NEAR)


@check("bounds-of-equalities-alone", "bounds of multipliers are those of equalities, and bind no other row")
def bounds_of_equalities_alone(subject: Subject) -> None:
    plain = random_program(np.random.default_rng(58), 5, 1, 4)
    least, most = np.full(5, -1e-3), np.full(5, 1e-3)
    least[0], most[0] = -np.inf, np.inf
    problem = program(
        plain.hessian, plain.gradient, plain.values, plain.lower, plain.upper,
        multiplier_lower=least, multiplier_upper=most,
    )  # fmt: skip
    x, _ = _solved(subject, problem, "a program whose inequalities have bounds of multipliers")
    expect_close(
        "x of a program whose inequalities have bounds of multipliers, which nobody reads",
        x,
        enumerated(plain),
        _NEAR,
    )


@check("rows-gathered", "rows have their entries where `dofs` says; those that are unused add nothing")
def rows_gathered(subject: Subject) -> None:
    random = np.random.default_rng(59)
    n, k, width = 6, 4, 3
    for first in (0, n - 1):
        dofs = np.array([np.roll(random.permutation(n)[:width], row) for row in range(k)])
        values = random.normal(size=(k, width))
        values[1:, -1], dofs[1:, -1] = 0.0, first  # as wide as the widest row: the rest is unused
        dofs[2, 0] = first  # and the index of an unused entry may be that of a used one
        rows = np.zeros((k, n))
        np.add.at(rows, (np.arange(k)[:, None], dofs), values)
        at = rows @ random.normal(size=n)
        lower, upper = at.copy(), at.copy()
        upper[2:] = np.inf
        hessian = np.diag(random.uniform(1.0, 2.0, n)) + 0.1
        dense = program(hessian, 3.0 * random.normal(size=n), rows, lower, upper)
        x, _ = _solved(
            subject, evolve(dense, dofs=dofs, values=values), "a program with rows of three entries"
        )
        expect_close("x of a program with rows of three entries", x, enumerated(dense), _NEAR)


@check("unbound-free", "without rows, or with rows that bind nothing, x = −H⁻¹·g and y = 0")
def unbound_free(subject: Subject) -> None:
    hessian, gradient = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, -2.0])
    for k in (0, 2):
        endless = np.full(k, np.inf)
        x, y = _solved(
            subject,
            program(hessian, gradient, np.eye(2)[:k], -endless, endless),
            f"{k} rows that bind nothing",
        )
        expect_close(f"x with {k} rows that bind nothing", x, -np.linalg.solve(hessian, gradient), _NEAR)
        expect_close(f"y of {k} rows that bind nothing", y, np.zeros(k), _NEAR)


@check("structures-alike", "the same program in another structure has the same answer")
def structures_alike(subject: Subject) -> None:
    diagonal, band, blocks = Diagonal(6), Banded(6, 1), BlockDiagonal(3, 2)
    diagonal.data[:] = [1.0, 2.0, 3.0, 2.0, 1.0, 4.0]
    band.data[0], band.data[1, :5] = 2.0, [-0.5, -0.7, 0.3, -0.5, 0.6]
    blocks.data[:] = [[[2.0, 0.5], [0.5, 1.0]], [[3.0, -1.0], [-1.0, 2.0]], [[1.0, 0.2], [0.2, 4.0]]]
    full = band.dense()
    full[0, 4] = full[4, 0] = -0.4
    sparse = Sparse(SparsePattern.from_entries(6, *np.nonzero(full)))
    sparse.data[sparse.where(*np.nonzero(full))] = full[np.nonzero(full)]
    random = np.random.default_rng(51)
    for matrix in (diagonal, band, blocks, sparse):
        plain = random_program(random, 6, 1, 3)
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
    some = [random_program(random, 4, 1, 4, soft=soft) for soft in (False, True)]
    for problem in [bad, *some, *(evolve(each, tolerance=1e-300) for each in some)]:
        x, y, info = _answer(subject, problem)
        true, said = residual(problem, x, y), info.residuals.normal
        expect(abs(true - said) <= 1e-12 + 1e-6 * true, f"says a residual of {said:.6g}, it is {true:.6g}")
        true, said = _balance(problem, x, y), info.residuals.equation
        expect(abs(true - said) <= 1e-12 + 1e-6 * true, f"says an imbalance of {said:.6g}, it is {true:.6g}")
        true, said = residual(problem, x, y), info.residuals.normal
        met = true <= problem.tolerance * (1 + 1e-6) or said <= problem.tolerance < 1e-12
        what = f"with a residual of {max(true, said):.3g}, the program's tolerance is {problem.tolerance:.3g}"
        expect(met or not info.status.solved, f"is {info.status.name} {what}")


@check("nan-unsolved", "what is not a number, and an infinite H or g, is never said to be solved")
def nan_unsolved(subject: Subject) -> None:
    spoilt = [(name, np.nan) for name in ("hessian", "gradient", "values", "lower", "compliance")]
    for name, number in [*spoilt, ("hessian", np.inf), ("gradient", np.inf)]:
        problem = random_program(np.random.default_rng(56), 3, 1, 2)
        values = problem.hessian.data if name == "hessian" else getattr(problem, name)
        values[-1 if name == "lower" else 0] = number
        expect_unsolved(f"a program with {number} in its {name}", _answer(subject, problem)[2])


@check(
    "compiled-program-solves-alike",
    "what its entry solves is what `solve` gives, to the bit",
    "compiled-form",
)
def compiled_program_solves_alike(subject: Subject) -> None:
    solver, random, solved = subject.build(), np.random.default_rng(57), 0
    form = solver.compiled_form()
    if isinstance(form, str):
        expect(bool(form.strip()), "it says nothing of why these options have no form")
        raise NotApplicable(f"has none with these options: {form}")
    if form.scratch_for is not None:
        form = evolve(form, scratch=form.scratch_for(ProgramSizes(5, 5, 6, 5)))
    entries = Entries(form, PROGRAM_ENTRIES)
    for n, equal, other in ((5, 1, 3), (5, 2, 3), (5, 1, 3), (4, 2, 4), (5, 1, 3)):
        problem = random_program(random, n, equal, other, soft=other == 4)
        x, y, residuals, k = np.zeros(n), np.zeros(equal + other), np.zeros(2), equal + other
        full, band = problem.hessian.dense(), np.zeros((n, n))
        for j in range(n):
            band[j, : n - j] = full[j:, j]
        answered = entries.call(
            "program", np.array([n, n, k, n]), band, problem.gradient, problem.dofs, problem.values, problem.lower,
            problem.upper, problem.compliance, problem.multiplier_lower, problem.multiplier_upper, problem.tolerance, x,
            y, residuals,
        )  # fmt: skip
        expected, multiplier, info = _answer(subject, problem)
        if not answered:
            continue
        solved += 1
        expect(info.status.solved, f"its entry calls solved what is not: {info.status.value}")
        expect_close("x of the compiled form", x, expected, 0.0)
        expect_close("y of the compiled form", y, multiplier, 0.0)
        said = np.array([info.residuals.normal, info.residuals.equation])
        expect_close("residuals of the compiled form", residuals, said, 0.0)
    expect(solved > 0, "its entry solves none of the programs")


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
    bounds_of_equalities_alone,
    rows_gathered,
    unbound_free,
    structures_alike,
    units_harmless,
    dependent_rows_harmless,
    guess_harmless,
    no_false_convergence,
    singular_refused,
    residual_truthful,
    nan_unsolved,
    compiled_program_solves_alike,
    answered_by_itself,
)
"""Checks of the QP solver role."""
