"""How many functions are compiled, of how many: what a user sees while waiting for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType, FunctionType
from typing import Any

from corekit.compiled.watching import is_kernel, ready_functions, watch_compilation

__all__ = ["counted_compilation"]


@contextmanager
def counted_compilation(report: Callable[[int, int], object]) -> Iterator[None]:
    """Call `report` whenever a function begins to be compiled, here or by a process waited for, until the block ends.

    Args:
        report: called with the number of functions whose machine code this process has, whichever process compiled
            it, and with that of all that are known to be needed: these, those begun, and what both call. It grows
            when Python calls a kernel that nothing known so far calls.
    """
    begun: set[FunctionType] = set()

    def begin(function: FunctionType) -> None:
        begun.update(_with_all_it_calls(function))
        ready = {each for whole in ready_functions() for each in _with_all_it_calls(whole)}
        report(len(ready), len(ready | begun))

    with watch_compilation(begin):
        yield


@cache
def _with_all_it_calls(function: FunctionType) -> frozenset[FunctionType]:
    """Return a function and all kernels that its machine code holds."""
    found: set[FunctionType] = set()
    waiting = [function]
    while waiting:
        caller = waiting.pop()
        if caller not in found:
            found.add(caller)
            named: list[Any] = [caller.__globals__.get(name) for name in _names(caller.__code__)]
            named += [cell.cell_contents for cell in caller.__closure__ or ()]
            waiting += [each.py_func for each in named if is_kernel(each)]
    return frozenset(found)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):  # a function or comprehension within
            yield from _names(constant)
