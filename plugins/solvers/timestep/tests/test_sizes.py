"""How large a velocity is: weighed norms, and what is not finite."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corekit_timestep.sizes import sizes


@given(seed=st.integers(0, 2**31), count=st.integers(1, 40))
def test_both_norms_are_those_of_the_weighed_vector(seed, count):
    random = np.random.default_rng(seed)
    vector, reach = random.normal(size=count), random.uniform(0.0, 2.0, size=count)
    norm, largest = sizes(vector, reach)
    assert norm == pytest.approx(np.linalg.norm(vector * reach), rel=1e-12)
    assert largest == np.abs(vector * reach).max()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_entry_that_is_not_finite_is_not_lost(bad):
    found = sizes(np.array([1.0, bad, 2.0]), np.ones(3))
    assert not math.isfinite(found[0])
    assert not math.isfinite(found[1])
