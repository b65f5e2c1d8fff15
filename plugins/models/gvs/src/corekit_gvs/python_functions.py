"""Functions of users in Python where a formula may stand: by name, or from Python themselves.

They are called between sweeps, with arrays of places. A name can be kept in a scenario, and its user has to allow it:
`corekit.roles.code`. Names become functions while the robot is built.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit.roles.code import import_function, names_function

__all__ = ["call", "function_of", "is_function"]


def is_function(entry: object) -> bool:
    """Whether an entry is a Python function or names one, and no formula."""
    return callable(entry) or names_function(entry)


def function_of(entry: Any, path: str) -> Callable[..., Any]:
    """The function of an entry.

    Raises:
        ConfigError: a name that may not or cannot be imported, or is no function's.
    """
    return entry if callable(entry) else import_function(entry, path)


def call(function: Callable[..., Any], path: str, shape: tuple[int, ...], *arguments: Any) -> Array:
    """What a function returns, as numbers of a shape; a number for all places will do.

    Raises:
        ConfigError: it fails, or returns something else.
    """
    try:
        return np.array(np.broadcast_to(np.asarray(function(*arguments), dtype=np.float64), shape))
    except Exception as error:
        name = getattr(function, "__name__", repr(function))
        said = f"must return numbers of shape {shape}; {name} does not: {type(error).__name__}: {error}"
        raise ConfigError([Mistake(path, name, said)], "a Python function") from error
