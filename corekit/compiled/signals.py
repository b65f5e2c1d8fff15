"""Signals inside a long compiled loop, which Python would see only once the loop has ended."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

__all__ = ["check_signals"]

_CONFIG: Any = config
_TYPES: Any = types


def _check_in_python() -> None:
    """Do nothing: the interpreter itself handles signals between two lines of Python."""


@intrinsic
def _check_in_compiled(_typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        # a kernel that runs without the interpreter's lock may not enter the interpreter
        with builder.if_then(_is_nonzero(builder, "PyGILState_Check")):
            raised = _is_nonzero(builder, "PyErr_CheckSignals")
            with builder.if_then(raised, likely=False):
                # the handler's own error is set: the kernel returns it to Python as it is
                context.call_conv.return_exc(builder)
        return context.get_dummy_value()

    return _TYPES.none(), generate


def _is_nonzero(builder: Any, name: str) -> Any:
    """Call a function of Python's C interface that takes nothing and returns an int; whether that is not 0."""
    kind = ir.FunctionType(ir.IntType(32), ())
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    return builder.icmp_signed("!=", builder.call(function, ()), ir.Constant(kind.return_type, 0))


check_signals: Any = _check_in_python if _CONFIG.DISABLE_JIT else _check_in_compiled
"""Handle pending signals, and leave the kernel by the error that a handler raises, as Ctrl-C does.

A kernel calls it once per iteration of a loop that may last: a call takes some nanoseconds while no signal came.
Outside of the main thread it does nothing, nor in a kernel that runs without the interpreter's lock (`nogil=True`): its
caller must end that one by an argument which the kernel reads.
"""
