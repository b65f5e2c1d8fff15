"""An answer of contacts that holds elsewhere, by (1) of `last_answer`."""

from __future__ import annotations

import math

import numpy as np

from corekit.data.contacts import ContactSet
from corekit.data.status import SolveInfo
from corekit.engine.step.last_answer import LastAnswer

RESTS, LEAVES = [0.0, 0.3, 0.0], [0.2, 0.0, 0.0]
LOAD, NONE = [1.0, 0.5, 0.0], [0.0, 0.0, 0.0]


def contacts(ids, friction=0.5):
    made = ContactSet(4)
    made.count = len(ids)
    made.id[: len(ids)] = ids
    made.friction[: len(ids)] = friction
    return made


def missed(ids, impulse, velocity, answer=(RESTS, LEAVES), friction=0.5, movable=None):
    known = LastAnswer.of(contacts([7, 3]), SolveInfo(), np.array(answer), movable)
    return known.misses(contacts(ids, friction), np.array(impulse).ravel(), np.array(velocity))


def test_a_loaded_contact_moves_as_it_did_and_a_free_one_only_apart():
    assert missed([7, 3], [LOAD, NONE], [RESTS, LEAVES]) == 0.0
    assert missed([7, 3], [LOAD, NONE], [[1e-3, 0.3, -2e-3], LEAVES]) == 2e-3
    assert missed([7, 3], [LOAD, NONE], [RESTS, [0.5, 9.0, 0.0]]) == 0.0
    assert missed([7, 3], [LOAD, NONE], [RESTS, [-3e-3, 0.0, 0.0]]) == 3e-3


def test_contacts_are_known_by_their_ids_and_not_by_their_places():
    assert missed([3, 7], [NONE, LOAD], [LEAVES, RESTS]) == 0.0
    assert missed([3, 7], [NONE, LOAD], [RESTS, LEAVES]) > 0.1


def test_other_contacts_or_other_friction_are_no_answer():
    for ids in ([7, 4], [7], [7, 3, 5], [7, 7]):
        assert missed(ids, [LOAD] * len(ids), [RESTS] * len(ids)) == math.inf
    assert missed([7, 3], [LOAD, NONE], [RESTS, LEAVES], friction=0.6) == math.inf
    assert missed([7, 3], [LOAD, NONE], [[math.nan] * 3, LEAVES]) != 0.0


def test_what_no_impulse_can_move_is_not_asked():
    movable = np.array([True, False])
    assert missed([3, 7], [NONE, LOAD], [[-1.0, 0.0, 0.0], RESTS], movable=movable) == 0.0
    known = LastAnswer.of(contacts([7, 3]), SolveInfo(), np.zeros((2, 3)), movable)
    found = known.movable_of(contacts([3, 7]))
    assert found is not None
    assert found.tolist() == [False, True]
