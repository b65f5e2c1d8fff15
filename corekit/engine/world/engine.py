"""The kernel's engine: it makes a `WorldSystem` of what composition says a world is made of."""

from __future__ import annotations

from corekit.engine.world.assembly import assemble_pipeline
from corekit.engine.world.world_system import WorldSystem
from corekit.roles.world import Engine, WorldSpec

__all__ = ["STEP_EQUATION"]


def _refusal(spec: WorldSpec) -> str:
    """Nothing is refused: composition refuses what no engine of this kind can step."""
    del spec
    return ""


def _make(spec: WorldSpec) -> WorldSystem:
    return WorldSystem(spec.bodies, assemble_pipeline(spec), spec.solver, spec.joints)


STEP_EQUATION = Engine("step-equation", _refusal, _make)
"""Steps every world that can be composed."""
