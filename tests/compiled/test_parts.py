"""Parts of flat arrays in kernels are those of slicing and reshaping."""

import numpy as np
import pytest

from corekit.compiled import compiled
from corekit.compiled.parts import part


@compiled
def _take(array, start, rows, columns):
    return part(array, start, (rows, columns))


@compiled
def _take_three(array, start, n):
    return part(array, start, (n, 2, 3))


@compiled
def _write(array, start, rows, columns):
    own = part(array, start, (rows, columns))
    for i in range(rows):
        for j in range(columns):
            own[i, j] = 10 * i + j


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_a_part_is_the_slice_in_its_shape(dtype):
    array = np.arange(30).astype(dtype)
    np.testing.assert_array_equal(_take(array, 5, 3, 4), array[5:17].reshape(3, 4))
    np.testing.assert_array_equal(_take_three(array, 2, 4), array[2:26].reshape(4, 2, 3))
    assert _take(array, 30, 0, 4).shape == (0, 4)


def test_a_part_is_a_view_that_holds_its_array():
    array = np.zeros(12)
    _write(array, 3, 2, 4)
    np.testing.assert_array_equal(array, [0, 0, 0, 0, 1, 2, 3, 10, 11, 12, 13, 0])
    found = _take(array, 3, 2, 4)
    assert np.shares_memory(found, array)
    kept = array.copy()
    del array
    np.testing.assert_array_equal(found, kept[3:11].reshape(2, 4))
