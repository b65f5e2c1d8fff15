"""Keeps lines that CasADi prints by itself from the terminal; the status of a solve says what they say."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any, final

__all__ = ["without_casadi_lines"]


@contextlib.contextmanager
def without_casadi_lines() -> Iterator[None]:
    """Drop CasADi's warnings, which go to standard error from compiled code; other output passes."""
    stream: Any = _Filter(sys.stderr)
    with contextlib.redirect_stderr(stream):
        yield


@final
class _Filter:
    """A stream without the lines that begin as CasADi's."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._inside = stream, False

    def write(self, text: str) -> int:
        self._inside = self._inside or text.startswith("CasADi - ")
        if self._inside:
            self._inside = not text.endswith("\n")
            return len(text)
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
