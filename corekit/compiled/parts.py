"""Parts of flat arrays in kernels, without the checks and calls of slicing and reshaping.

`array[start:stop].reshape(shape)` clamps both ends, and calls C code that looks for a shape without a copy. Tables and
work buffers of compiled forms are taken apart some sixty times a step.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

__all__ = ["part"]

_TYPES: Any = types
_CONFIG: Any = config


@intrinsic
def _part(_typing_context: Any, array: Any, start: Any, shape: Any) -> Any:
    kind = _TYPES.Array(array.dtype, len(shape), "C", readonly=not array.mutable, aligned=array.aligned)

    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        whole = context.make_array(array)(context, builder, given[0])
        out = context.make_array(kind)(context, builder)
        word = context.get_value_type(_TYPES.intp)
        first = context.cast(builder, given[1], start, _TYPES.intp)
        lengths = [
            context.cast(builder, builder.extract_value(given[2], i), shape[i], _TYPES.intp)
            for i in range(len(shape))
        ]
        size = context.get_constant(_TYPES.intp, context.get_abi_sizeof(context.get_data_type(array.dtype)))
        strides, count = [size], ir.Constant(word, 1)
        for length in reversed(lengths[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        for length in lengths:
            count = builder.mul(count, length)
        out.meminfo, out.parent, out.itemsize, out.nitems = whole.meminfo, whole.parent, size, count
        out.data = builder.gep(whole.data, [first])
        out.shape, out.strides = ir.Constant(out.shape.type, None), ir.Constant(out.strides.type, None)
        for i, (length, stride) in enumerate(zip(lengths, strides, strict=True)):
            out.shape = builder.insert_value(out.shape, length, i)
            out.strides = builder.insert_value(out.strides, stride, i)
        if context.enable_nrt:
            context.nrt.incref(builder, array, given[0])
        return out._getvalue()  # noqa: SLF001 - how numba's own functions return an array

    return kind(array, start, shape), generate


def _python_part(array: Any, start: int, shape: tuple[int, ...]) -> Any:
    return array[start : start + math.prod(shape)].reshape(shape)


part: Any = _python_part if _CONFIG.DISABLE_JIT else _part
"""In a kernel: the numbers of a flat contiguous array from `start` on in a shape, `part(array, start, (n, k))`.

Nothing checks that the array is so long.
"""
