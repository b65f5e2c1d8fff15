"""Kernels keep and free memory as numba does: an array lives as long as a view of it, and no longer."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core import runtime

from corekit.compiled import compiled
from corekit.data.arrays import Array

_RUNTIME: Any = runtime


class Pair(NamedTuple):
    """Two arrays."""

    first: Array
    second: Array


@compiled
def _fresh(x):
    return 2.0 * x


@compiled
def _tail(x):
    return x[1:]


@compiled
def _pair(x):
    return Pair(x[:2], x.reshape((2, 2)))


@compiled
def _sum(given):
    whole, (part, factor) = given
    return whole[0] + factor * part[-1]


@compiled
def _overwrite(count):
    """Fill memory that was freed with other numbers."""
    total = 0.0
    for i in range(count):
        total += np.full(4, -7.0 - i)[0]
    return total


def views_in_a_loop(x):
    """Slices, a matrix of the same numbers, its rows and its transpose."""
    total = x[1:][0] + x[-1]
    for row in x.reshape((2, 2)).T:
        total += row[1]
    return total


def view_whose_owner_has_gone(x):
    """A view of an array that only a callee knew."""
    view = _tail(_fresh(x))
    _overwrite(8)
    return view


def views_whose_owner_has_gone(x):
    """A tuple of views, of which one is another name of an array that is then replaced."""
    pair = _pair(_fresh(x))
    first = pair.first
    pair = _pair(x)
    _overwrite(8)
    return first[0] + pair.second[1, 1]


def part_of_the_argument(x):
    """A view of an array that Python frees once the call is over."""
    return x[1:]


def tuple_with_the_argument(x):
    """The same in a tuple, beside a number."""
    return Pair(x[1:], x), x[0]


def argument_from_a_list(x):
    """The same by way of a list, whose memory goes with the call."""
    kept = [x[2:], x]
    return kept[0]


def argument_of_a_tuple(x):
    """A tuple of arrays, of which a number is returned."""
    return _sum((x, (x[1:], 2.0)))


def one_of_two(x):
    """An array or a new one, by a number."""
    y = x if x[0] > 5.0 else _fresh(x)
    for _ in range(3):
        y = _tail(_fresh(y)) if y.size > 2 else y
    _overwrite(8)
    return y


def written_into_itself(x):
    """An array written into a part of itself, by way of a buffer."""
    x[1:] = x[:-1]
    return x[3]


def list_of_arrays(x):
    """A list that holds arrays, and a comprehension."""
    kept = [_fresh(x), x]
    _overwrite(8)
    return np.array([each[1] for each in kept])


KINDS = [
    views_in_a_loop,
    view_whose_owner_has_gone,
    views_whose_owner_has_gone,
    part_of_the_argument,
    tuple_with_the_argument,
    argument_from_a_list,
    argument_of_a_tuple,
    one_of_two,
    written_into_itself,
    list_of_arrays,
]


@pytest.fixture
def balance():
    """How many blocks of memory numba has allocated and not freed."""
    _RUNTIME._nrt_python.memsys_enable_stats()
    yield lambda: _RUNTIME.rtsys.get_allocation_stats().alloc - _RUNTIME.rtsys.get_allocation_stats().free
    _RUNTIME._nrt_python.memsys_disable_stats()


def _in_python(function):
    """The function in Python, the kernels that it calls too."""
    names = {name: getattr(value, "py_func", value) for name, value in globals().items()}
    return type(function)(function.__code__, {**function.__globals__, **names})


@pytest.mark.parametrize("function", KINDS, ids=lambda function: function.__name__)
def test_values_are_pythons_and_no_memory_is_kept_or_freed_twice(function, balance):
    kernel = compiled(function)
    given = np.array([3.0, 1.0, 4.0, 1.5])
    expected = _in_python(function)(given.copy())
    kernel(given.copy())
    before = balance()
    for _ in range(3):
        returned = kernel(given.copy())
        _overwrite(8)
        reused = [np.full(4, -7.0) for _ in range(8)]
        for one, other in zip(_arrays(returned), _arrays(expected), strict=True):
            np.testing.assert_array_equal(one, other)
        del returned, one, other, reused
    assert balance() == before
    count = sys.getrefcount(given)
    kernel(given)
    assert sys.getrefcount(given) == count


def _arrays(value):
    if not isinstance(value, tuple):
        return [value]
    return [array for each in value for array in _arrays(each)]


@pytest.mark.parametrize(
    "arrays", [(np.ones(3), (np.arange(4.0), 0.5)), (np.ones(3), (np.ones(9)[::2], 0.5))]
)
def test_python_hands_over_tuples_of_arrays(arrays):
    count = [sys.getrefcount(arrays[0]), sys.getrefcount(arrays[1][0])]
    for _ in range(3):
        assert _sum(arrays) == arrays[0][0] + 0.5 * arrays[1][0][-1]
    assert [sys.getrefcount(arrays[0]), sys.getrefcount(arrays[1][0])] == count
