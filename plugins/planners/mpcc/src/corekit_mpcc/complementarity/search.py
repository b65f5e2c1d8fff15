"""One search: relaxed programs one after another, watched, certified from outside, with a trail of what was tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from corekit.data.arrays import Array

__all__ = ["Progress", "Search"]

Progress = Callable[[Mapping[str, float]], None]
Bounds = tuple[Array, Array, Array, Array]
