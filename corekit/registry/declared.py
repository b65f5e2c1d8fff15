"""The kernel API that a plugin's specs declare, read from their text: the listing imports no plugin."""

from __future__ import annotations

import ast
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec

__all__ = ["declared_api"]


def declared_api(module: str) -> str | None:
    """The one text that the module's calls give as `api=`; None if there is none, or more than one.

    Importing the spec decides; this is what can be known before.
    """
    source = _source(module)
    if source is None:
        return None
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    found = {
        keyword.value.value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "api" and isinstance(keyword.value, ast.Constant)
    }
    only = found.pop() if len(found) == 1 else None
    return only if isinstance(only, str) else None


def _source(module: str) -> bytes | None:
    """The text of a module, found without running the packages above it."""
    try:
        found = _found(module)
        if found is None or found.origin is None or not found.origin.endswith(".py"):
            return None
        with open(found.origin, "rb") as file:
            return file.read()
    except (ImportError, OSError, ValueError):
        return None


def _found(module: str) -> ModuleSpec | None:
    top, *inner = module.split(".")
    found, name = find_spec(top), top
    for part in inner:
        if found is None:
            return None
        name = f"{name}.{part}"
        found = PathFinder.find_spec(name, found.submodule_search_locations)
    return found
