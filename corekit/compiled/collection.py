"""Garbage is collected seldom while numba compiles."""

from __future__ import annotations

import gc
from typing import Any

from numba.core import event

__all__ = ["collect_seldom_while_compiling"]

_SELDOM = 200_000
"""New objects before a collection while a kernel is compiled."""


class _SeldomCollection(event.Listener):
    """Raises the threshold of the collector: nearly all that numba makes lives on, a third of the time went there."""

    def __init__(self) -> None:
        self._depth = 0
        self._usual = gc.get_threshold()

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._usual = gc.get_threshold()
            if self._usual[0]:  # 0 is never
                gc.set_threshold(max(_SELDOM, self._usual[0]), *self._usual[1:])

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            gc.set_threshold(*self._usual)


def collect_seldom_while_compiling() -> None:
    """From now on, for every kernel that this process compiles."""
    event.register("numba:compile", _SeldomCollection())
