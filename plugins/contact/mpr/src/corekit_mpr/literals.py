"""What keeps the number of compiled variants small."""

from __future__ import annotations

from corekit.compiled import compiled

__all__ = ["number"]


@compiled
def number(value: int) -> int:
    """An integer that is not a literal to the compiler, which would compile callees anew for every literal."""
    return int(value)
