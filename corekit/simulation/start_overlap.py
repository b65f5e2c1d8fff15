"""A start that overlaps so deeply that nothing says on which side of each other two shapes belong."""

from __future__ import annotations

from typing import Any

import numpy as np

from corekit.errors import CompositionError
from corekit.geometry.shape_specs import shape_spec
from corekit.geometry.shapes import ShapeTable

__all__ = ["refuse_deep_overlap"]


def refuse_deep_overlap(simulation: Any) -> None:
    """Look for shapes that overlap at the state now by more than the largest ball in each of them.

    Each of the two then has its middle behind the surface of the other: the shortest way out, along which contacts
    push, may be the wrong one. A half-space has no such depth. What no motion moves may stand in anything.

    Raises:
        CompositionError: it names the deepest pair.
    """
    system = simulation.system
    pipeline = system.pipeline
    if pipeline is None or not pipeline.detect_anew(simulation.state, 0.0):
        return
    contacts, table = pipeline.contacts, pipeline.scene.table
    inside = np.array(
        [max(_inradius(table, i), _inradius(table, j)) for i, j in contacts.shape[: contacts.count]]
    )
    deep = np.flatnonzero(-contacts.gap[: contacts.count] > inside)
    if not len(deep):
        return
    free = np.concatenate([terms.free for terms in system.terms.bodies])
    sizes = abs(pipeline.rows_at(simulation.state)) @ free.astype(float)
    moves = sizes.reshape(contacts.count, -1).max(axis=1) > 0.0
    for c in deep[np.argsort(contacts.gap[deep])]:
        if moves[c]:
            one, other = (simulation.shape_owner(i) for i in contacts.shape[c].tolist())
            raise CompositionError(
                f"{one} starts {-1e3 * contacts.gap[c]:.3g} mm inside {other}, with the middle of each behind the "
                "surface of the other, so that nothing says on which side it belongs: move one of them, or check "
                "their sizes"
            )


def _inradius(table: ShapeTable, shape: int) -> float:
    """Radius of the largest ball inside a shape [m], or more."""
    spec = shape_spec(table.kind[shape])
    return spec.inradius(table.size[shape, : len(spec.sizes)].tolist(), table.vertices[shape])
