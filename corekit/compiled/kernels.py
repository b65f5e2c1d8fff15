"""The decorator `compiled`, and which of two ways it goes.

| way | when | what it is |
|---|---|---|
| `internals` | a minor version of numba in `TESTED` | half the processor time of a first run |
| plain | any other numba, or `COREKIT_COMPILER=plain` | `numba.njit`, told where to keep its code |

Both keep machine code by the digest of its sources, and compute the same. On the plain way processes do not wait for
one another, so that two may compile the same; a damaged file of the cache ends the run; a number written in the
source of a caller, or a disk that is full, is numba's affair.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, overload

import numba

from corekit.compiled.store import PlainPlace, keeping
from corekit.compiled.watching import made_kernel, say_at_first_compilation
from corekit.errors import ConfigError, Mistake

__all__ = ["TESTED", "compiled", "is_plain"]

TESTED = ("0.66", "0.67", "0.68")
"""Minor versions of numba whose private parts `internals` is tested with."""

_NUMBA: Any = numba
F = TypeVar("F", bound=Callable[..., Any])


@overload
def compiled(function: F, /) -> F: ...


@overload
def compiled(**options: Any) -> Callable[[F], F]: ...


def compiled(function: Any = None, /, **options: Any) -> Any:
    """Compile by numba without Python's objects, and keep the machine code.

    Division by zero gives inf or nan, as in NumPy, to be seen.

    Args:
        function: what to compile, in numba's part of Python; without it, a decorator is returned.
        options: others of `numba.njit`, for example `fastmath`.
    """

    def make_kernel(function: Any) -> Any:
        given = {"error_model": "numpy", **options}
        if _NUMBA.config.DISABLE_JIT:
            return function
        if is_plain():
            return _plain(function, given)
        from corekit.compiled.internals import Kernel

        return Kernel(function, given)

    return make_kernel if function is None else make_kernel(function)


@cache
def is_plain() -> bool:
    """Whether kernels of this process are numba's own; if so, the first that is compiled says why."""
    asked = os.environ.get("COREKIT_COMPILER", "")
    if asked not in {"", "plain"}:
        mistake = Mistake("COREKIT_COMPILER", asked, "'plain', or unset for what is fastest with this numba")
        raise ConfigError([mistake], source="the environment")
    version = _NUMBA.__version__
    if not asked and ".".join(version.split(".")[:2]) in TESTED:
        return False
    why = "COREKIT_COMPILER=plain" if asked else f"numba {version} is none of {', '.join(TESTED)}"
    say_at_first_compilation(
        f"{why}: kernels are compiled by numba alone, which takes about twice as long, once for this installation"
    )
    return True


def _plain(function: Any, options: dict[str, Any]) -> Any:
    """Return numba's own kernel, whose code is kept by content, or not at all: never by the time stamp of one file."""
    with keeping(PlainPlace):
        kernel = _NUMBA.njit(cache=True, **options)(function)
    if kernel.stats.cache_path != PlainPlace(function).get_cache_path():
        kernel = _NUMBA.njit(**options)(function)
    made_kernel(kernel)
    return kernel
