"""Bodies and their frames by the names that users give them."""

from __future__ import annotations

from collections.abc import Sequence

from corekit.errors import ControlError
from corekit.registry.resolve import did_you_mean
from corekit.roles.body import Body
from corekit.roles.body_inputs import no_body

__all__ = ["find_body", "find_frame", "name_shape", "shape_bodies"]


def find_body(bodies: Sequence[Body], name: str) -> Body:
    """Return the body of a name.

    Raises:
        ControlError: there is none.
    """
    for body in bodies:
        if body.name == name:
            return body
    raise no_body(name, [body.name for body in bodies])


def find_frame(bodies: Sequence[Body], name: str) -> tuple[Body, int]:
    """Return the body of a name `body.frame`, and the index of the frame.

    Raises:
        ControlError: there is none.
    """
    body_name, dot, own = str(name).partition(".")
    if not dot:
        first = next((f"{b.name}.{b.description.frames[0]}" for b in bodies if b.description.frames), "")
        raise ControlError(f"there is no frame {name!r}: names are body.frame, for example {first!r}")
    body = find_body(bodies, body_name)
    frames = body.description.frames
    if own not in frames:
        names = [f"{body_name}.{each}" for each in frames]
        raise ControlError(
            f"there is no frame {name!r}{did_you_mean(name, names)}; "
            f"body {body_name!r} has {', '.join(names) or 'none'}"
        )
    return body, frames.index(own)


def shape_bodies(bodies: Sequence[Body]) -> list[str]:
    """Return the name of its body for every shape of bodies."""
    return [body.name for body in bodies for _ in body.description.shapes]


def name_shape(bodies: Sequence[Body], owners: Sequence[str], shape: int) -> str:
    """Return `body.number` of a body's shape, or the name of an obstacle.

    Args:
        owners: of every shape. shape: its index among all of them.
    """
    owner, is_carried = owners[shape], shape < len(shape_bodies(bodies))
    return f"{owner}.{shape - find_body(bodies, owner).first_shape}" if is_carried else owner
