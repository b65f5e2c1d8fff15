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
        kind, name = ir.FunctionType(ir.IntType(32), ()), "PyErr_CheckSignals"
        check = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        raised = builder.icmp_signed("!=", builder.call(check, ()), ir.Constant(kind.return_type, 0))
        with builder.if_then(raised, likely=False):
            # the handler's own error is set: the kernel returns it to Python as it is
            context.call_conv.return_exc(builder)
        return context.get_dummy_value()

    return _TYPES.none(), generate


check_signals: Any = _check_in_python if _CONFIG.DISABLE_JIT else _check_in_compiled
"""Handle pending signals, and leave the kernel by the error that a handler raises, as Ctrl-C does.

A kernel calls it once per iteration of a loop that may last: a call takes some nanoseconds while no signal came. The
kernel holds the interpreter's lock, as every kernel here does; outside of the main thread the call does nothing.
"""
