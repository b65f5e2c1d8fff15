"""Every name by which a world is asked for something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corekit.roles.body import Body
    from corekit.roles.obstacles import Obstacle

__all__ = ["names_of"]


def names_of(
    bodies: Sequence[Body], joints: Sequence[str], obstacles: Sequence[Obstacle]
) -> Mapping[str, tuple[str, ...]]:
    """Return kind → names, whole and in the order of their numbers; those of parts of bodies are `body.part`."""
    of = {
        "coordinates": lambda body: [each.name for each in body.description.coordinates],
        "velocities": lambda body: [each.name for each in body.description.velocities],
        "inputs": lambda body: [each.name for each in body.description.inputs],
        "frames": lambda body: body.description.frames,
    }
    return {
        "bodies": tuple(body.name for body in bodies),
        "obstacles": tuple(each.name for each in obstacles),
        "joints": tuple(joints),
        **{
            kind: tuple(f"{body.name}.{name}" for body in bodies for name in listed(body))
            for kind, listed in of.items()
        },
    }
