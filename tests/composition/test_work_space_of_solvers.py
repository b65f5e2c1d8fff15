"""A contact solver whose form asks for work space has one of its own in every thread: nobody else writes there."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from corekit.compiled.entries import array_at, call_entry
from corekit.registry.resolve import load_target, resolve
from corekit.roles.compiled_form import SOLVER_ENTRIES, entries_of
from corekit.scenario.load import load

pytest.importorskip("corekit_batch")
pytest.importorskip("corekit_lcp")
pytest.importorskip("corekit_pcc")

ROOM = 20_000
"""More than all bodies of the world together have."""


def marking(index, numbers, work, contacts, delassus, free, friction, carried, impulse, residuals):
    """`lcp` of a stranger who fills his space, and gives up where it is neither as he left it nor as at first.

    The last integer is the address of the entry of `lcp`, whose numbers and other integers are in front.
    """
    size = array_at(index, (1,))[0]
    space, table = array_at(work, (ROOM,)), array_at(index, (size,))
    mark = space[0]
    for i in range(ROOM):
        if space[i] != mark or (mark != 0.0 and mark != 7.0):
            return 0
        space[i] = 7.0
    return call_entry(
        table[size - 1],
        (
            table[1:], array_at(numbers, (1,)), space, contacts, array_at(delassus, (1,)), array_at(free, (1,)),
            array_at(friction, (1,)), array_at(carried, (1,)), array_at(impulse, (1,)), array_at(residuals, (1,)),
        ),
    )  # fmt: skip


def test_what_a_stranger_s_solver_leaves_in_its_space_stays(monkeypatch):
    lcp = load_target(resolve("contact_solvers", "lcp").target)
    own = lcp.compiled_form

    def compiled_form(self):
        form = own(self)
        table = [len(form.index) + 2, *form.index, form.entries["solve"]]
        return evolve(
            form, index=np.array(table, dtype=np.int64), scratch=ROOM, entries=entries_of(SOLVER_ENTRIES, solve=marking)
        )  # fmt: skip

    monkeypatch.setattr(lcp, "compiled_form", compiled_form)
    scenario, steps = load("matrix/pcc"), 150
    batch, simulation = scenario.batch(3, threads=2), scenario.compose()
    batch.step(steps)
    for _ in range(steps):
        simulation.step()
    assert simulation.contacts().count
    assert np.array_equal(batch.q, np.tile(simulation.state.q, (3, 1)))
    assert np.array_equal(batch.v, np.tile(simulation.state.v, (3, 1)))
    assert batch.compiled_steps >= 0.9 * 3 * steps
