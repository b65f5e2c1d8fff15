"""What `compiled-form` of a contact solver promises: an entry that solves as `solve` does, or leaves it to that."""

from __future__ import annotations

import numpy as np

from corekit.roles.compiled_form import SOLVER_ENTRIES
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.contact_problems import random_problems
from corekit_testing.conformance.entries import Entries
from corekit_testing.conformance.subject import Subject
from corekit_testing.conformance.unreduced_compiled import expect_unreduced_alike

__all__ = ["COMPILED"]


@check(
    "compiled-form-solves-alike",
    "what its entry solves is what `solve` gives, to the bit",
    "compiled-form",
    "impulses",
)
def compiled_form_solves_alike(subject: Subject) -> None:
    solver, solved = subject.build(), 0
    form = solver.compiled_form()
    if isinstance(form, str):
        expect(bool(form.strip()), "it says nothing of why these options have no form")
        raise NotApplicable(f"has none with these options: {form}")
    if "solve" not in form.entries:
        expect_unreduced_alike(subject, form)
        return
    entries = Entries(form, SOLVER_ENTRIES)
    for problem in random_problems():
        expected, found = (np.zeros(len(problem.free_velocity)) for _ in range(2))
        residuals = np.zeros(3)
        info = subject.build().solve(problem, expected)
        if not entries.call(
            "solve", problem.contact_count, problem.delassus().copy(), problem.free_velocity.copy(),
            problem.friction.copy(), problem.start_impulse.copy(), found, residuals,
        ):  # fmt: skip
            continue
        solved += 1
        said = info.residuals
        expect_close("λ of the compiled form", found, expected, 0.0)
        expect_close(
            "residuals of the compiled form",
            residuals,
            np.array([said.normal, said.friction, said.cone]),
            0.0,
        )
    expect(solved > 0, "its entry solves none of the problems")


COMPILED: tuple[Check, ...] = (compiled_form_solves_alike,)
