"""Many arrays handed to compiled code as one: a table of where they are.

An array costs a call as much as a hundred of its numbers do. What a kernel takes at every step, out of buffers that
stay, goes in a table with a row an array,

    address, length, width, depth      (lengths an array does not have are 1)                  (1)

and the kernel opens those it reads: `vector(table, 2)` is the array of row 2 itself, not a copy. Rows are opened as
what they were made from: `vector`, `matrix`, `block` for float64 with one, two, three axes, `indices` and
`index_matrix` for int64.
"""

from __future__ import annotations

from typing import Any, final

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray

__all__ = ["ArrayTable", "block_view", "index_matrix_view", "index_view", "matrix_view", "vector_view"]

_NUMBA: Any = numba  # without types
_TYPES: Any = types


class _Memory:
    """The memory of a table, with the arrays that it tells of: whoever has the table keeps them alive."""

    def __init__(self, rows: IntArray, arrays: tuple[Array | IntArray, ...]) -> None:
        self.__array_interface__ = rows.__array_interface__
        self._kept = rows, arrays


@final
class ArrayTable:
    """The table (1) of some arrays; a deep copy is a table of the copies.

    Args:
        arrays: float64 or int64 with one to three axes, C contiguous.

    Attributes:
        arrays: those.
        table: what a kernel takes, shape (k, 4); it keeps the arrays alive.
    """

    __slots__ = ("arrays", "table")

    def __init__(self, *arrays: Array | IntArray) -> None:
        self.arrays = arrays
        rows: IntArray = np.ones((len(arrays), 4), dtype=np.int64)
        for row, array in zip(rows, arrays, strict=True):
            if array.dtype not in (np.float64, np.int64) or not array.flags.c_contiguous or array.ndim > 3:
                raise TypeError("a table holds C contiguous arrays of float64 or int64 with up to three axes")
            row[0] = array.__array_interface__["data"][0]
            row[1 : 1 + array.ndim] = array.shape
        self.table: IntArray = np.asarray(_Memory(rows, arrays))

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrayTable, self.arrays


def _pointer(kind: Any) -> Any:
    """A compiled function from an address to a pointer of a kind."""

    def typed(_context: Any, address: Any) -> Any:  # noqa: ARG001 - numba reads the names
        def built(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return _TYPES.CPointer(kind)(_TYPES.int64), built

    return intrinsic(typed)


_numbers: Any = _pointer(_TYPES.float64)
_integers: Any = _pointer(_TYPES.int64)


@compiled
def vector_view(table: IntArray, row: int) -> Array:
    """The float64 array of a row, one axis."""
    return _NUMBA.carray(_numbers(table[row, 0]), table[row, 1])


@compiled
def matrix_view(table: IntArray, row: int) -> Array:
    """The float64 array of a row, two axes."""
    return _NUMBA.carray(_numbers(table[row, 0]), (table[row, 1], table[row, 2]))


@compiled
def block_view(table: IntArray, row: int) -> Array:
    """The float64 array of a row, three axes."""
    return _NUMBA.carray(_numbers(table[row, 0]), (table[row, 1], table[row, 2], table[row, 3]))


@compiled
def index_view(table: IntArray, row: int) -> IntArray:
    """The int64 array of a row, one axis."""
    return _NUMBA.carray(_integers(table[row, 0]), table[row, 1])


@compiled
def index_matrix_view(table: IntArray, row: int) -> IntArray:
    """The int64 array of a row, two axes."""
    return _NUMBA.carray(_integers(table[row, 0]), (table[row, 1], table[row, 2]))
