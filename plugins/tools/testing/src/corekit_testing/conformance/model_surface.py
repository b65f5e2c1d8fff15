"""A model's surface: where its edges lie, and how fast its velocities move what can touch."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from corekit.data.arrays import Array
from corekit.geometry.shapes import Shape
from corekit.roles.model import Outline
from corekit_testing.conformance.check import Check, NotApplicable, check, expect
from corekit_testing.conformance.model_states import Probe, displacement_scales, moved, rest_state
from corekit_testing.conformance.subject import Subject
from corekit_testing.rounding import rounding

__all__ = ["SURFACE"]

_FACTOR = 30.0
"""By which a `velocity_scale` may miss the speed of the surface: it weighs errors, and nothing else."""
_ALONG = (0.25, 0.5, 0.75)
_ASTRAY = 0.1
"""How far from the outline an edge may be, as a share of its length, beside both radii: the chord of a bent link."""


@check(
    "velocity-scale-of-surface",
    "velocity_scale is how fast each velocity moves the surface, within a factor of thirty",
)
def velocity_scale_of_surface(subject: Subject) -> None:
    probe = Probe(subject)
    scale = probe.description.velocity_scale
    if scale is None:
        raise NotApplicable("weighs all velocities alike")
    found = np.asarray(scale, dtype=float)
    names = [each.name for each in probe.description.velocities]
    expect(
        found.shape == (len(names),),
        f"velocity_scale has the shape {found.shape} for {len(names)} velocities",
    )
    expect((np.isfinite(found) & (found > 0.0)).all(), "velocity_scale has entries that are not above 0")
    speeds, unsure = _surface_speeds(probe)
    for name, told, speed, left in zip(names, found, speeds, unsure, strict=True):
        moves = speed > max(1e-6 * speeds.max(), left)
        expect(
            not moves or speed / _FACTOR <= told <= speed * _FACTOR,
            f"velocity_scale of {name} is {told:.3g}, and it moves the surface by {speed:.3g} m",
        )


def _surface_speeds(probe: Probe) -> tuple[Array, Array]:
    """How far a unit of each velocity moves some point of the surface in the rest state, by differences, (nv,).

    The second is what rounding of places may make of it, which is no motion.
    """
    model, description = probe.model, probe.description
    rest = rest_state(model)
    reach = np.zeros(len(description.frames))
    for shape in description.shapes:
        size = shape.bounding_radius if math.isfinite(shape.bounding_radius) else max(shape.size)
        reach[shape.frame] = max(reach[shape.frame], size + float(np.linalg.norm(shape.offset.position)))
    position, rotation = probe.poses(rest)
    most = float(np.abs(position).max(initial=0.0)) + float(reach.max(initial=0.0))
    speeds, unsure = [], []
    for direction, scale in zip(np.eye(rest.v.size), displacement_scales(model, rest), strict=True):
        step = 1e-4 * scale
        at, turned = probe.poses(moved(model, rest, direction, step))
        # |ΔR|_F = √2·|turn|
        turn = np.linalg.norm(turned - rotation, axis=(1, 2)) / math.sqrt(2.0)
        far = np.linalg.norm(at - position, axis=1) + reach * turn
        speeds.append(float(far.max(initial=0.0)) / step)
        unsure.append(rounding(64, most) / step)
    return np.array(speeds), np.array(unsure)


@check(
    "edges-along-outline", "every edge is between two frames of its own, and lies where the outline is drawn"
)
def edges_along_outline(subject: Subject) -> None:
    probe = Probe(subject)
    edges = [shape for shape in probe.description.shapes if shape.kind == "edge"]
    if not edges:
        raise NotApplicable("has no edges with these options")
    between = [frozenset({edge.frame, edge.second_frame}) for edge in edges]
    expect(all(len(ends) == 2 for ends in between), "an edge begins and ends at one frame")
    expect(len(set(between)) == len(between), "two edges are between the same two frames")
    for state in probe.states:
        position, _ = probe.poses(state)
        outline = probe.model.compute_outline(state)
        begin, end, radius = _segments(outline)
        if not len(begin):
            raise NotApplicable("draws no line")
        for place, edge, names in _points_on(edges, position, probe.description.frames):
            away = float((_distances(place, begin, end) - radius).min())
            length = float(np.linalg.norm(position[edge.frame] - position[edge.second_frame]))
            expect(
                away <= edge.size[0] + _ASTRAY * length,
                f"the edge between {names} runs {away:.3g} m beside what the outline draws: is it between these?",
            )


def _points_on(
    edges: list[Shape], position: Array, frames: tuple[str, ...]
) -> Iterator[tuple[Array, Shape, str]]:
    for edge in edges:
        one, other = position[edge.frame], position[edge.second_frame]
        for share in _ALONG:
            yield one + share * (other - one), edge, f"{frames[edge.frame]} and {frames[edge.second_frame]}"


def _segments(outline: Outline) -> tuple[Array, Array, Array]:
    """Begin and end of all segments of polylines [m], and the larger radius of both [m]."""
    ends = [*outline.starts[1:], len(outline.points)]
    first = [i for begin, end in zip(outline.starts, ends, strict=True) for i in range(begin, end - 1)]
    index = np.array(first, dtype=np.int64)
    radius = np.maximum(outline.radius[index], outline.radius[index + 1]) if first else np.zeros(0)
    return outline.points[index], outline.points[index + 1], radius


def _distances(place: Array, begin: Array, end: Array) -> Array:
    """From a point to segments [m]."""
    along = end - begin
    length = np.maximum(np.einsum("si,si->s", along, along), np.finfo(float).tiny)
    share = np.clip(np.einsum("si,si->s", place - begin, along) / length, 0.0, 1.0)
    return np.linalg.norm(place - begin - share[:, None] * along, axis=1)


SURFACE: tuple[Check, ...] = (velocity_scale_of_surface, edges_along_outline)
"""Checks of the surface."""
