"""What a user waits for once: the functions that are compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType, FunctionType
from typing import Any, final

from numba.core import event

from corekit.compiled.kernels import Callee, Kernel
from corekit.compiled.store import WAITING

__all__ = ["watch_compilation"]

Report = Callable[[int, int], object]


@contextmanager
def watch_compilation(report: Report) -> Iterator[None]:
    """Call `report` whenever a function begins to be compiled, here or by a process waited for, until the block ends.

    Args:
        report: called with the number of functions whose machine code this process has, whichever process compiled
            it, and with that of all that are known to be needed: these, those begun, and what both call. It grows
            when Python calls a kernel that nothing known so far calls.
    """
    listener = _Listener(report)
    with event.install_listener("numba:compile", listener), event.install_listener(WAITING, listener):
        yield


@final
class _Listener(event.Listener):
    def __init__(self, report: Report) -> None:
        self._report = report
        self._begun: set[FunctionType] = set()

    def on_start(self, event: Any) -> None:
        if event.kind == WAITING:
            function = event.data["function"]
        elif isinstance(event.data["dispatcher"], Kernel | Callee):
            function = event.data["dispatcher"].py_func
        else:
            return
        self._begun |= _with_all_it_calls(function)
        ready = {each for whole in Kernel.ready for each in _with_all_it_calls(whole)}
        self._report(len(ready), len(ready | self._begun))

    def on_end(self, event: Any) -> None:
        """Do nothing: numba's listener requires the method."""


@cache
def _with_all_it_calls(function: FunctionType) -> frozenset[FunctionType]:
    """Return a function and all kernels that its machine code holds."""
    found: set[FunctionType] = set()
    waiting = [function]
    while waiting:
        caller = waiting.pop()
        if caller not in found:
            found.add(caller)
            named = [caller.__globals__.get(name) for name in _names(caller.__code__)]
            named += [cell.cell_contents for cell in caller.__closure__ or ()]
            waiting += [each.py_func for each in named if isinstance(each, Kernel)]
    return frozenset(found)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):  # a function or comprehension within
            yield from _names(constant)
