"""C entries: compiled functions that other compiled code calls by their address, so that neither links the other.

A driver that steps any model calls what the model names at run time. Linked into the driver, every combination of
components would be compiled anew for 14 to 20 s; by address a call costs 5 ns, and each side is compiled once.

    int64 entry(void *, …, int64, …, double, …)                                              (1)

Arrays cross as the address of their first number, so that an entry knows their shapes from elsewhere. An entry must not
raise: nothing would catch it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import ir
from numba import carray, cfunc, config, types
from numba.extending import intrinsic

from corekit.compiled.kernels import is_plain
from corekit.compiled.store import EntryPlace, keeping

__all__ = ["array_at", "call_entry", "entry_address"]

_TYPES: Any = types
_CONFIG: Any = config
_CFUNC: Any = cfunc
_KINDS: dict[str, Any] = {
    "floats": _TYPES.CPointer(_TYPES.float64),
    "integers": _TYPES.CPointer(_TYPES.int64),
    "integer": _TYPES.int64,
    "float": _TYPES.float64,
}

array_at: Any = carray
"""In an entry: the numbers at an address as an array, `array_at(address, shape)`."""


def entry_address(function: Callable[..., int], arguments: str) -> int:
    """Compile a function to a C entry (1), or load its machine code, and return its address; 0 where nothing compiles.

    Args:
        function: returns an int; makes arrays of addresses by `array_at`.
        arguments: kind of each argument, words of `floats integers integer float`.
    """
    return 0 if _CONFIG.DISABLE_JIT else int(_entry(function, arguments).address)


@cache  # machine code must outlive every table that has its address
def _entry(function: Callable[..., int], arguments: str) -> Any:
    signature = _TYPES.int64(*(_KINDS[each] for each in arguments.split()))
    options: dict[str, Any] = {"nopython": True, "cache": True, "error_model": "numpy"}
    if not is_plain():
        from corekit.compiled.internals import EntryCompiler

        options["pipeline_class"] = EntryCompiler
    with keeping(EntryPlace):
        return _CFUNC(signature, **options)(function)


@intrinsic
def _call_entry(_typing_context: Any, _address: Any, arguments: Any) -> Any:
    kinds = tuple(arguments)

    def generate(context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        address, values = given
        lowered = []
        for i, kind in enumerate(kinds):
            value = builder.extract_value(values, i)
            if isinstance(kind, _TYPES.Array):
                value = context.make_array(kind)(context, builder, value).data
                value = builder.bitcast(value, ir.IntType(8).as_pointer())
            elif isinstance(kind, _TYPES.Float):
                value = context.cast(builder, value, kind, _TYPES.float64)
            else:
                value = context.cast(builder, value, kind, _TYPES.int64)
            lowered.append(value)
        word = ir.IntType(64)
        function = ir.FunctionType(word, [each.type for each in lowered])
        return builder.call(builder.inttoptr(address, function.as_pointer()), lowered)

    return _TYPES.int64(_TYPES.int64, arguments), generate


call_entry: Any = _call_entry
"""In a kernel: call the entry at an address, `call_entry(address, (array, integer, float, …))`; returns its int."""
