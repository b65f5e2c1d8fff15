"""The entry `unreduced` of a contact solver beside its `solve`, on small steps of a planar body with constraints."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import evolve

from corekit.linalg.matrices import Banded
from corekit.roles.compiled_form import SOLVER_ENTRIES, CompiledForm, StepSizes
from corekit.roles.contact import UnreducedStepProblem
from corekit_testing.conformance.check import expect, expect_close
from corekit_testing.conformance.entries import Entries
from corekit_testing.conformance.subject import Subject

__all__ = ["expect_unreduced_alike", "random_step"]

_N: Final = 9
_COLUMNS: Final = 3
_ROWS: Final = 4
_WIDTH: Final = 2


def random_step(random: np.random.Generator, contacts: int, friction: float) -> UnreducedStepProblem:
    """A step with a banded A, bilateral rows, one of them with bounds, and contacts in a plane."""
    matrix = Banded(_N, _COLUMNS - 1)
    matrix.data[0] = random.uniform(3.0, 5.0, _N)
    for d in range(1, _COLUMNS):
        matrix.data[d, : _N - d] = random.uniform(-0.5, 0.5, _N - d)
    low, high = np.full(_ROWS, -np.inf), np.full(_ROWS, np.inf)
    low[0], high[0] = -0.3, 0.2
    step = UnreducedStepProblem(
        matrix, random.normal(size=_N), np.sort(random.permuted(np.tile(np.arange(_N), (_ROWS, 1)), axis=1)[:, :3]),
        random.normal(size=(_ROWS, 3)), random.uniform(0.0, 0.1, _ROWS), random.normal(size=_ROWS), low, high,
        np.zeros(_N), np.zeros(_ROWS), _WIDTH,
    )  # fmt: skip
    step.contact_count, step.step = contacts, 1e-2
    step.id, step.gap = np.arange(contacts) + 7, np.zeros(contacts)
    step.friction, step.friction_record = np.full(contacts, friction), np.zeros((contacts, 0))
    step.contact_dofs = np.repeat(random.integers(0, _N, (contacts, 3)), _WIDTH, axis=0)
    step.contact_values = random.normal(size=(_WIDTH * contacts, 3))
    step.bias, step.start_impulse = random.normal(size=(contacts, _WIDTH)), np.zeros(_WIDTH * contacts)
    return step


def expect_unreduced_alike(subject: Subject, form: CompiledForm) -> None:
    """Expect that what the entry solves is what `solve` gives, to the bit, in turns of different sizes."""
    random, most, solved = np.random.default_rng(3), 3, 0
    expect("unreduced" in form.entries, "its form has neither of the entries `solve` and `unreduced`")
    if form.scratch_for is not None:
        form = evolve(form, scratch=form.scratch_for(StepSizes(_N, _COLUMNS, _ROWS, 3, most, _WIDTH, 3)))
    entries = Entries(form, SOLVER_ENTRIES)
    for contacts, friction in ((0, 0.0), (2, 0.0), (1, 0.4), (2, 0.4), (3, 0.0), (1, 0.4), (2, 0.0)) * 3:
        step = random_step(random, contacts, friction)
        found, rows, change, residuals = (
            np.zeros(_WIDTH * contacts),
            np.zeros(_ROWS),
            np.zeros(_N),
            np.zeros(4),
        )
        sizes = np.array([_N, _COLUMNS, _ROWS, 3, contacts, _WIDTH, 3, 1, most, 3])
        band = np.ascontiguousarray(step.matrix.data.T)
        answer = entries.call(
            "unreduced", sizes, band, step.rhs, step.constraint_dofs, step.constraint_values, step.compliance,
            step.target_rate, step.row_lower, step.row_upper, step.contact_dofs, step.contact_values, step.bias,
            step.friction, step.start_impulse, np.zeros(contacts), change, rows, found, residuals,
        )  # fmt: skip
        expected = np.zeros(_WIDTH * contacts)
        info = subject.build().solve(step, expected)
        if not answer:
            continue
        solved += 1
        said = info.residuals
        told = np.array([said.normal, said.friction, said.cone, said.equation])
        expect(info.status.solved, f"its entry calls solved what is not: {info.status.value}")
        expect_close("λ of the compiled form", found, expected, 0.0)
        expect_close("λ_b of the compiled form", rows, step.row_impulse, 0.0)
        expect_close("Δ of the compiled form", change, step.increment, 0.0)
        expect_close("residuals of the compiled form", residuals, told, 0.0)
    expect(solved > 0, "its entry solves none of the steps")
