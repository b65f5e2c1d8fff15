"""Kernels that only look at arrays count no references; all others keep and free memory as numba does."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numba
import numpy as np
import pytest
from numba.core import registry, runtime

from corekit.compiled import compiled, store
from corekit.compiled.front_end import RememberingContext
from corekit.data.arrays import Array

_RUNTIME: Any = runtime


class Pair(NamedTuple):
    """Two arrays."""

    first: Array
    second: Array


@compiled
def _fill(x, y):
    for i in range(x.size):
        y[i] = 2.0 * x[i]


@compiled
def _fresh(x):
    y = np.empty(x.size)
    _fill(x, y)
    return y


@compiled
def _tail(x):
    return x[1:]


@compiled
def _pair(x):
    return Pair(x[:2], x.reshape((2, 2)))


def scalar_of_views(x):
    """Slices, a matrix of the same numbers, its rows and its transpose."""
    total = x[1:][0] + x[-1]
    for row in x.reshape((2, 2)).T:
        total += row[1]
    return total


def two_arrays(x):
    """A tuple of views, one of which is another name."""
    pair = Pair(x, x[1:]) if x[0] > 5.0 else Pair(x[1:], x)
    other = pair.first
    return other[0] - pair.second[1]


def written(x):
    """Numbers written through a view."""
    _fill(x[:2], x[2:])
    return x[3]


def made_and_handed_out(x):
    """A new array."""
    return np.zeros_like(x) + x


def made_by_another(x):
    """A new array of a callee, which is dropped here."""
    return _fresh(x)[1]


def view_of_another(x):
    """A view that a callee hands out, after its owner has gone."""
    return _tail(_fresh(x))


def views_of_another(x):
    """Several views that a callee hands out."""
    pair = _pair(x)
    return pair.first[0] + pair.second[1, 1]


def copied(x):
    """An array written into a part of itself."""
    x[1:] = x[:-1]
    return x[3]


def fancy(x):
    """Numbers by their places."""
    return x[np.array([3, 0])]


def comprehension(x):
    """A list, a closure and an array of it."""
    return np.array([each + 1.0 for each in x])


def text(x):
    """A string, made of others."""
    name = "a" + str(int(x[0]))
    return len(name)


UNCOUNTED = [scalar_of_views, two_arrays, written]
COUNTED = [
    made_and_handed_out,
    made_by_another,
    view_of_another,
    views_of_another,
    copied,
    fancy,
    comprehension,
    text,
]


@pytest.fixture
def balance():
    """How many blocks of memory numba has allocated and not freed."""
    _RUNTIME._nrt_python.memsys_enable_stats()
    yield lambda: _RUNTIME.rtsys.get_allocation_stats().alloc - _RUNTIME.rtsys.get_allocation_stats().free
    _RUNTIME._nrt_python.memsys_disable_stats()


@pytest.fixture
def fresh(monkeypatch):
    """No machine code is found: that of a file cannot be read."""
    monkeypatch.setattr(store.KernelCache, "load_overload", lambda *_: None)


def _plain(function):
    """The function in Python, the kernels that it calls too."""
    names = {name: getattr(value, "py_func", value) for name, value in globals().items()}
    return type(function)(function.__code__, {**function.__globals__, **names})


@pytest.mark.parametrize("function", UNCOUNTED + COUNTED, ids=lambda function: function.__name__)
def test_values_are_pythons_and_no_memory_is_kept_or_freed_twice(function, balance):
    kernel = compiled(function)
    given = np.array([3.0, 1.0, 4.0, 1.5])
    expected = _plain(function)(given.copy())
    kernel(given.copy())
    before = balance()
    for _ in range(3):
        found = kernel(given.copy())
        np.testing.assert_array_equal(found, expected)
        del found
    assert balance() == before


@pytest.mark.parametrize("function", UNCOUNTED + COUNTED, ids=lambda function: function.__name__)
def test_references_are_counted_only_where_something_may_be_left_over(function, fresh):
    kernel = cast("Any", compiled(function))
    kernel(np.array([3.0, 1.0, 4.0, 1.5]))
    (code,) = kernel.inspect_llvm().values()
    assert ("NRT_" in code) == (function in COUNTED)


def test_answers_about_operators_are_remembered_for_all_kernels():
    """Fails if numba no longer asks its typing context, or keeps its state elsewhere."""
    whole = cast("Any", registry.cpu_target.typing_context)
    context = RememberingContext(whole)
    assert context == whole
    assert hash(context) == hash(whole)
    assert context.callstack is whole.callstack

    @compiled
    def difference(x, y):
        return x - y

    assert difference(3.0, 1) == 2.0
    known = [signature for (function, _), signature in context._known.items() if "sub" in str(function)]
    assert numba.float64(numba.float64, numba.float64) in known
