"""Integers that the compiler does not specialise on, so that fewer variants are compiled."""

from __future__ import annotations

from corekit.compiled.kernels import compiled

__all__ = ["runtime_int"]


@compiled
def runtime_int(value: int) -> int:
    """Return an integer that is no literal to the compiler, which compiles a callee once per literal argument."""
    return int(value)
