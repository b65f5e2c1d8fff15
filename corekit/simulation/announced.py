"""One line in the log when kernels are compiled in Python, where no run shows it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from corekit.compiled.watch import watch_compilation

__all__ = ["announced_compilation"]

_LOG = logging.getLogger("corekit")


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Log once, by the logger `corekit`, if anything is compiled in the block; Python prints that on stderr."""
    told = False

    def tell(_ready: int, _needed: int) -> None:
        nonlocal told
        if not told:
            told = True
            _LOG.warning("compiling kernels, once for this installation: this takes up to a minute …")

    with watch_compilation(tell):
        yield
