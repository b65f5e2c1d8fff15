"""Imported once by the process that the command lines of the tests are forked from; and where each begins.

Of the kernel it imports what the verbs need, but asks it nothing: what is installed, where machine code is kept and
what the environment says is found out by every command line itself.
"""

from __future__ import annotations

import gc
import importlib
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

import numba
import numpy as np
import rich.progress
import rich.table  # noqa: F401

import corekit_testing.blocks  # noqa: F401
from corekit.cli import VERBS
from corekit.compiled.kernels import is_plain
from corekit.distributions import entry_points
from corekit.hooks.installed import GROUP, Hooks
from corekit_testing.rounding_mode import VARIABLE, enter

# those of hooks are asked for without keeping who answered: a command line looks for itself
added = [verb for _, verb in Hooks(entry_points(GROUP)).verbs()]
for _, function, _ in (*VERBS, *added):
    importlib.import_module(function.partition(":")[0])

# records are read and written by it where they are installed
if find_spec("h5netcdf") is not None:
    importlib.import_module("h5netcdf")

# numba gathers what it can compile at the first compilation, not when it is imported
numba.njit(lambda numbers: numbers.sum())(np.zeros(1))

# what lives here stays in every process that is forked: none searches it for garbage, as pytest does time and again
gc.collect()
gc.freeze()


def begin(
    module: str,
    arguments: Sequence[str],
    folder: str,
    environment: Mapping[str, str],
    paths: Sequence[str],
    out: str,
    err: str,
) -> None:
    """`python -m MODULE ARGUMENTS` in a folder and an environment, its output in two files.

    Args:
        paths: `sys.path` of an interpreter in another folder, without PYTHONPATH.
    """
    for descriptor, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    is_plain.cache_clear()  # the way of compiling is chosen by the environment
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    if mode := environment.get(VARIABLE):
        enter(mode)
    given = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [folder, *filter(None, given), *paths]
    importlib.invalidate_caches()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
