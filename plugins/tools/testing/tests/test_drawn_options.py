"""The kit on options that are drawn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corekit_testing.conformance import conformance_of_drawn, rounded
from corekit_testing.pendulum import Pendulum


@st.composite
def pendulums(draw):
    count = draw(st.integers(1, 3))
    each = {
        "lengths": rounded(0.2, 1),
        "masses": rounded(0.1, 2),
        "angles": rounded(-1, 1),
        "rates": st.just(0),
    }
    lists = {name: st.lists(of, min_size=count, max_size=count) for name, of in each.items()}
    return draw(st.fixed_dictionaries(lists, optional={"damping": rounded(0, 1)}))


test_pendulums = conformance_of_drawn("models", "reference-pendulum", pendulums(), examples=4)


def test_the_smallest_options_with_which_a_check_fails_are_found(monkeypatch):
    right = Pendulum.compute_energies

    def wrong_with_two_rods(self, state):
        kinetic, potential = right(self, state)
        return kinetic * (1.0 if state.q.size == 1 else 1.01), potential

    monkeypatch.setattr(Pendulum, "compute_energies", wrong_with_two_rods)
    counts = st.integers(1, 4).map(
        lambda n: {"lengths": [0.5] * n, "masses": [1.0] * n, "angles": [0.2] * n, "rates": [0.0] * n}
    )
    with pytest.raises(AssertionError, match="kinetic-energy-from-mass") as raised:
        conformance_of_drawn("models", "reference-pendulum", counts, examples=10)()
    assert "'masses': [1.0, 1.0]," in "".join(raised.value.__notes__)


@given(st.data())
def test_drawn_numbers_keep_their_bounds(data):
    low, high = sorted(data.draw(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2, unique=True)))
    assert low <= data.draw(rounded(low, high)) <= high
