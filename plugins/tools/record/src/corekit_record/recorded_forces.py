"""Contact forces between named things, from the records of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ResultsError
from corekit.registry.resolve import did_you_mean
from corekit_record.replay_data import shapes_from_text

if TYPE_CHECKING:
    from corekit_record.results import Results

__all__ = ["contact_force", "contact_forces", "contact_records", "shape_places"]


def contact_records(results: Results) -> np.ndarray:
    """Return the record of every contact, shape (n,)."""
    return np.repeat(np.arange(len(results.time)), results.contact_count)


def contact_forces(results: Results) -> Array:
    """Return the mean force of every contact on the first of its two [N], world axes, shape (n, 3).

    f = (λ_n·n + λ_1·t + λ_2·(n × t))/h with the impulses λ over the grid step of length h that the record ended.
    """
    normal, tangent = results["contact_normal"], results["contact_tangent"]
    across = results["contact_tangential_impulse"]
    impulse = (
        results["contact_normal_impulse"][:, None] * normal
        + across[:, :1] * tangent
        + across[:, 1:] * np.cross(normal, tangent)
    )
    step = results["step_length"][contact_records(results)]
    return np.divide(impulse, step[:, None], out=np.zeros_like(impulse), where=step[:, None] > 0.0)


def shape_places(results: Results) -> list[tuple[str, str]]:
    """Return for every shape its body with the frame that carries it, `body.frame`; of obstacles the name twice."""
    places: list[tuple[str, str]] = []
    for i, body in enumerate(results.bodies):
        first = int(results["body_first_frame"][i])
        shapes = shapes_from_text(results["body_shapes"][i])
        places += [(body, results.frames[first + shape.frame]) for shape in shapes]
    return [*places, *((name, name) for name in results.obstacles)]


def contact_force(results: Results, body: str, other: str | None) -> Array:
    """Return the force on a body, a part of one, or an obstacle at every record [N], shape (T, 3)."""
    places = shape_places(results)
    own = _named(results, body, places)
    theirs = np.ones(len(places), dtype=bool) if other is None else _named(results, other, places)
    first, second = results["contact_shape"].T
    sign = (own[first] & theirs[second]) * 1.0 - (own[second] & theirs[first]) * 1.0
    total = np.zeros((len(results.time), 3))
    np.add.at(total, contact_records(results), sign[:, None] * contact_forces(results))
    return total


def _named(results: Results, name: str, places: list[tuple[str, str]]) -> np.ndarray:
    """Return which shapes a name means, shape (shapes,)."""
    within = (f"{name}.", f"{name}/")
    found = np.array([name in place or place[1].startswith(within) for place in places], dtype=bool)
    if not found.any():
        if name in results.bodies:
            return found  # it has no shapes, so nothing touches it
        known = [*results.bodies, *results.obstacles]
        raise ResultsError(
            f"{results.file} has no body or obstacle {name!r}{did_you_mean(name, known)}; it has "
            f"{', '.join(known)}, and parts of bodies by the names of their frames"
        )
    return found
