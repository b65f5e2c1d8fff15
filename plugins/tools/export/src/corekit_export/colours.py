"""Colours of bodies and obstacles, by Paul Tol's light scheme, which colour-blind readers tell apart."""

from __future__ import annotations

from corekit_export.scene import Scene

__all__ = ["colour_of"]

_BODIES = ((0.47, 0.67, 0.87), (0.93, 0.87, 0.53), (1.0, 0.67, 0.73), (0.6, 0.87, 1.0), (0.27, 0.73, 0.6))
_OBSTACLE = (0.75, 0.75, 0.75)


def colour_of(scene: Scene, owner: int) -> tuple[float, float, float]:
    """Return red, green and blue, 0 to 1, of a body or obstacle by its index."""
    return _BODIES[owner % len(_BODIES)] if owner < scene.bodies else _OBSTACLE
