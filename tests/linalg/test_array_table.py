"""Tables of arrays: compiled code works on the arrays themselves, and they live as long as the table."""

import copy
import gc
import weakref

import numpy as np
import pytest

from corekit.compiled import compiled
from corekit.linalg.array_table import (
    ArrayTable,
    block_view,
    index_matrix_view,
    index_view,
    matrix_view,
    vector_view,
)


@compiled
def _add_up(table):
    """Write the sum of all arrays of a table into the first entry of its first; the lengths of the others."""
    a, b, c = vector_view(table, 0), matrix_view(table, 1), block_view(table, 2)
    i, j = index_view(table, 3), index_matrix_view(table, 4)
    a[0] += b.sum() + c.sum() + i.sum() + j.sum()
    return len(a), b.shape, c.shape, len(i), j.shape


def _arrays():
    return np.zeros(3), np.ones((2, 4)), np.ones((2, 3, 2)), np.arange(5), np.ones((3, 2), dtype=np.int64)


def test_compiled_code_reads_and_writes_the_arrays_themselves():
    arrays = _arrays()
    assert _add_up(ArrayTable(*arrays).table) == (3, (2, 4), (2, 3, 2), 5, (3, 2))
    assert arrays[0].tolist() == [8.0 + 12.0 + 10.0 + 6.0, 0.0, 0.0]


def test_arrays_live_as_long_as_the_bare_table():
    arrays = _arrays()
    gone = weakref.ref(arrays[0])
    table = ArrayTable(*arrays).table
    del arrays
    gc.collect()
    _add_up(table)
    kept = gone()
    assert kept is not None
    assert kept[0] == 36.0
    del table, kept
    gc.collect()
    assert gone() is None


def test_a_deep_copy_is_a_table_of_the_copies():
    arrays = _arrays()
    first = ArrayTable(*arrays)
    second, own = copy.deepcopy((first, arrays[0]))
    _add_up(second.table)
    assert arrays[0][0] == 0.0
    assert own[0] == second.arrays[0][0] == 36.0


@pytest.mark.parametrize(
    "array",
    [np.zeros((2, 3)).T, np.zeros(3, dtype=np.float32), np.zeros((1, 1, 1, 1))],
    ids=["F", "single", "deep"],
)
def test_what_a_table_cannot_hold_is_refused(array):
    with pytest.raises(TypeError, match="C contiguous"):
        ArrayTable(array)
