"""Friction that would roll or twist a rod whose collision shapes are edges, and does not.

The material points of an edge are the origins of two frames on its axis. A friction λ_t on the surface at x = c − r·n,
c the nearest point of the axis, would have the moment about the axis' direction a

    M = −r·(n × λ_t)·a = r·λ_t·(n × a)                                                              (1)

At the axis it has none: a rod that lies across a slope does not roll, and what spins about its axis does not slip. So
a run says where the share of friction across the axis is more than a tenth of the load, λ_t·(n × a) > λ_n/10.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from corekit.simulation.loop import Simulation

__all__ = ["edge_friction_doubts"]

_SHARE = 0.1
"""Of the normal impulse, from which on friction across an axis is no small matter."""


def edge_friction_doubts(simulation: Simulation, when: str) -> Iterator[str]:
    """Yield a sentence for every body on whose edges friction pulled across the axis in the last step.

    Args:
        when: now, in words.
    """
    record, names = simulation.contacts(), {body.name: body for body in simulation.bodies}
    first_shape, found = _first_shapes(simulation), dict[str, tuple[float, float]]()
    impulse = record.impulse
    for c, pair in enumerate(record.shape.tolist()):
        along_normal = record.normal_impulse[c] * record.normal[c]
        for shape, owner in zip(pair, record.names[c], strict=True):
            body = names.get(owner)
            if body is None or body.description.plane is not None:
                continue
            own = body.description.shapes[shape - first_shape[owner]]
            if own.kind != "edge" or own.second_frame < 0:
                continue
            begin, end = (
                simulation.frame(f"{owner}.{body.description.frames[frame]}").position
                for frame in (own.frame, own.second_frame)
            )
            across = np.cross(record.normal[c], (end - begin) / np.linalg.norm(end - begin))
            pulled = abs(float((impulse[c] - along_normal) @ across))
            if pulled > max(_SHARE * record.normal_impulse[c], found.get(owner, (0.0, 0.0))[0]):
                found[owner] = pulled, own.size[0]
    for owner, (pulled, radius) in found.items():
        force, size = pulled / record.step_size, 1e3 * radius
        yield (
            f"bodies.{owner}: {when} friction of {force:.3g} N pulls across its axis, and the moment by which that "
            f"would roll or twist it, at its radius of {size:.3g} mm, is left out: friction of edges acts at the axis, "
            'that of shapes in frames which turn, as of der with collision = "capsules", at the surface'
        )


def _first_shapes(simulation: Simulation) -> dict[str, int]:
    """The number of every body's first shape in the world."""
    counts = [len(body.description.shapes) for body in simulation.bodies]
    begins = np.cumsum([0, *counts[:-1]]).tolist()
    return {body.name: begin for body, begin in zip(simulation.bodies, begins, strict=True)}
