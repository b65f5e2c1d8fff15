"""Functions of users in Python where a formula may stand: by name, `module:function`, or from Python themselves.

They are called between sweeps, with arrays of places. A name can be kept in a scenario; its module has to be importable
where the scenario runs.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake

__all__ = ["call", "function_of", "is_function"]

_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def is_function(entry: object) -> bool:
    """Whether an entry is a Python function or names one, and no formula."""
    return callable(entry) or (isinstance(entry, str) and _NAME.fullmatch(entry.strip()) is not None)


def function_of(entry: Any, path: str) -> Callable[..., Any]:
    """The function of an entry.

    Raises:
        ConfigError: a name that cannot be imported, or is no function's.
    """
    if callable(entry):
        return entry
    module, _, name = entry.strip().partition(":")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except Exception as error:
        said = f"must name a function of a module that can be imported; {module!r}: {error} (PYTHONPATH names folders)"
        raise ConfigError([Mistake(path, entry, said)], "a Python function") from error
    if not callable(found):
        said = f"must name a function of {module!r}; there is none called {name!r}"
        raise ConfigError([Mistake(path, entry, said)], "a Python function")
    return found


def call(entry: Any, path: str, shape: tuple[int, ...], *arguments: Any) -> Array:
    """What the function of an entry returns, as numbers of a shape; a number for all places will do.

    Raises:
        ConfigError: it cannot be found, fails, or returns something else.
    """
    function = function_of(entry, path)
    try:
        return np.array(np.broadcast_to(np.asarray(function(*arguments), dtype=np.float64), shape))
    except Exception as error:
        name = getattr(function, "__name__", entry)
        said = f"must return numbers of shape {shape}; {name} does not: {type(error).__name__}: {error}"
        raise ConfigError([Mistake(path, entry, said)], "a Python function") from error
