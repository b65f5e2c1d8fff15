"""Who steps a world: the one place that knows the kernel's engine, and those of installed distributions."""

from __future__ import annotations

from corekit.engine.world.engine import STEP_EQUATION
from corekit.errors import CompositionError
from corekit.extensions import Extensions
from corekit.roles.world import Engine, World, WorldSpec

__all__ = ["GROUP", "make_world"]

GROUP = "corekit.engines"
"""Entry-point group of engines; an entry is named as its engine is."""
_ENGINES = Extensions(GROUP, Engine, "engine", "name", {STEP_EQUATION.name: STEP_EQUATION})


def make_world(spec: WorldSpec, engine: str = STEP_EQUATION.name) -> World:
    """Make a world by the engine of a name.

    Raises:
        CompositionError: there is no such engine, or it cannot step such a world and says why.
        PluginError: it cannot be loaded.
    """
    try:
        chosen = _ENGINES.find(engine)
    except ValueError as error:
        raise CompositionError(str(error)) from error
    reason = chosen.refusal(spec)
    if reason:
        raise CompositionError(f"engine {engine!r} cannot step this world: {reason}")
    return chosen.make(spec)
