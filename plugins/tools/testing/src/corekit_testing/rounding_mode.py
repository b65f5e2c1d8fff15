"""Rounding of all results to one side, which shows what hangs on rounding.

A processor rounds each sum and product to nearest, unless it is told otherwise. Told otherwise, every result of NumPy,
BLAS, SciPy, numba and CasADi differs by up to a unit in its last place, always to one side. What holds in all modes
does not hang on rounding: neither on the order of a sum, which differs between processors, nor on what cancels to
nothing. `directed_rounding` runs tests so.

The mode belongs to a thread; threads and forked processes begin with that of the one that starts them, and a new
interpreter with nearest. `enter` puts the variable `COREKIT_ROUNDING` and a folder with a `sitecustomize` into the
environment, by which interpreters that a test starts round as it does.

Python converts decimals by an algorithm that presumes rounding to nearest (`Python/dtoa.c`). So what turns text into
numbers or back keeps to nearest: byte code, which is kept on disk, TOML and JSON. `float(text)` and formatting cannot
be wrapped. Modules are loaded to nearest, since some look at the arithmetic then: HDF5 ends the process
(`H5T__init_native`).

Source: IEEE 754-2019, section 4.3; Monniaux (2008), The pitfalls of verifying floating-point computations.
"""

from __future__ import annotations

import builtins
import ctypes
import functools
import importlib.machinery
import json
import os
import platform
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["MODES", "NEAREST", "VARIABLE", "WHY_NOT", "enter", "rounding_mode", "set_rounding"]

VARIABLE = "COREKIT_ROUNDING"
NEAREST = 0
_X86 = {"up": 0x800, "down": 0x400, "zero": 0xC00}
_ARM = {"up": 0x400000, "down": 0x800000, "zero": 0xC00000}
_MACHINE = platform.machine().lower()
MODES = {"x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM}.get(_MACHINE, {})
"""Mode → its number in `fenv.h` of this processor; nothing where it is not known."""
WHY_NOT = (
    "Windows's libraries set a rounding mode of their own" if sys.platform == "win32"
    else "" if MODES
    else f"the numbers of rounding modes are not known for processors of kind {_MACHINE}"
)  # fmt: skip
"""Why there are no modes here, or nothing."""


@cache
def _library() -> Any:
    if WHY_NOT:
        raise OSError(WHY_NOT)
    return ctypes.CDLL(None)


def set_rounding(number: int) -> None:
    """Round by a mode of `MODES`, or 0 for nearest, in this thread from now on."""
    _library().fesetround(number)


@contextmanager
def rounding_mode(number: int) -> Iterator[None]:
    """Round by a mode of `MODES`, or 0 for nearest, in the block."""
    library = _library()
    before = library.fegetround()
    library.fesetround(number)
    try:
        yield
    finally:
        library.fesetround(before)


def _to_nearest(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*arguments: Any, **options: Any) -> Any:
        with rounding_mode(NEAREST):
            return function(*arguments, **options)

    return wrapper


def _keep_to_nearest() -> None:
    source: Any = importlib.machinery.SourceFileLoader
    extension: Any = importlib.machinery.ExtensionFileLoader
    for loader, names in (
        (source, ("get_code", "exec_module")),
        (extension, ("create_module", "exec_module")),
    ):
        for name in names:
            setattr(loader, name, _to_nearest(getattr(loader, name)))
    for module, names in ((json, ("load", "loads", "dump", "dumps")), (tomllib, ("load", "loads"))):
        for name in names:
            setattr(module, name, _to_nearest(getattr(module, name)))
    # of what a tool compiles itself, as pytest does with tests
    builtins.compile = _to_nearest(builtins.compile)
    try:
        import tomli_w
    except ImportError:
        return
    tomli_w.dump, tomli_w.dumps = _to_nearest(tomli_w.dump), _to_nearest(tomli_w.dumps)


def enter(mode: str) -> None:
    """Round by a mode from now on, in this process and in those that it starts."""
    if mode not in MODES:
        raise ValueError(WHY_NOT or f"there is no rounding mode {mode!r}; there are {', '.join(MODES)}")
    if os.environ.get(VARIABLE) != mode:
        folder = str(Path(__file__).parent / "rounded")
        given = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = f"{folder}{os.pathsep}{given}" if given else folder
        os.environ[VARIABLE] = mode
    _keep_to_nearest()
    set_rounding(MODES[mode])
