"""Options of the model that a scenario names, and of its start."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attrs import frozen

from corekit.roles.code import names_function
from corekit.roles.options import option

__all__ = ["LagrangianInitial", "NamedConfig"]


def _wrong_name(name: str) -> str | None:
    return (
        None
        if names_function(name)
        else "must name a Python function, `file.py:function` or `module:function`"
    )


@frozen(kw_only=True)
class NamedConfig:
    """Equations that a Python function of the user writes, `function(system, option)`."""

    equations: str = option(
        help="Python function that writes them, `file.py:function` of a file beside the scenario or `module:function`; "
        "it is allowed with --allow-code",
        check=_wrong_name,
    )
    parameters: Mapping[str, float | tuple[float, ...]] = option(
        MappingProxyType({}), help="numbers and lists of numbers that it finds in `option`, by name"
    )


@frozen(kw_only=True)
class LagrangianInitial:
    """Where a model from energies starts."""

    coordinates: tuple[float, ...] = option(
        (), "one number a coordinate, in their units; empty: the rest state", converter=tuple
    )
    velocities: tuple[float, ...] = option((), "one number a coordinate; empty: at rest", converter=tuple)
