"""The kernel's engine: it makes a `WorldSystem` of what composition says a world is made of."""

from __future__ import annotations

from corekit.engine.contact.contact_pipeline import ContactPipeline
from corekit.engine.world.world_system import WorldSystem
from corekit.roles.world import Engine, WorldSpec

__all__ = ["STEP_EQUATION"]


def _refusal(spec: WorldSpec) -> str:
    """Nothing is refused: composition refuses what no engine of this kind can step."""
    del spec
    return ""


def _make(spec: WorldSpec) -> WorldSystem:
    own, pipeline = spec.contact, None
    if own is not None:
        pipeline = ContactPipeline(
            spec.bodies, own.scene, own.detectors, own.friction, own.stabilisation, own.margin, spec.plane,
            own.restitution,
        )  # fmt: skip
    return WorldSystem(spec.bodies, pipeline, spec.solver, spec.joints)


STEP_EQUATION = Engine("step-equation", _refusal, _make)
"""Steps every world that can be composed."""
