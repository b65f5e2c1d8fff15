"""Options built in Python are checked as those of a file are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import frozen

from corekit.roles.options import option, refuse_given


@frozen(kw_only=True)
class Own:
    count: int = option(3, "how many", low=1)
    length: float = option(0.1, "how long", unit="m", above=0)
    name: str = option("rod", "what it is called")
    profile: float | str = option(0.0, "a number or a formula")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"count": "4"}, "count = '4': must be a whole number"),
        ({"count": 1.5}, "count = 1.5: must be a whole number"),
        ({"count": True}, "count = True: must be a whole number"),
        ({"length": "0.3"}, "length = '0.3': must be a number"),
        ({"length": None}, "length = None: must be a number"),
        ({"name": 3}, "name = 3: must be a text"),
        ({"length": -1.0}, "length = -1.0: must be > 0"),
    ],
)
def test_a_value_of_another_kind_is_refused_by_name(given, said):
    with pytest.raises(ValueError, match=said):
        Own(**given)


def test_numbers_of_numpy_are_numbers_and_unions_take_either():
    whole: Any = np.int64(4)
    assert Own(count=whole, length=np.float64(0.2), profile="X**2").count == 4
    assert Own(length=1).length == 1


def test_what_is_given_where_nothing_reads_it_is_named_and_a_default_is_not():
    """A resolved scenario writes every default, so one that is given is as one that is left out."""
    refused = refuse_given(Own(count=3, length=0.2, profile="X"), ("count", "length", "name"), "leave it out")
    assert [(each.path, each.found, each.allowed) for each in refused] == [("length", 0.2, "leave it out")]
