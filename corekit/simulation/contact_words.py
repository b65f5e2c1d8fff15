"""Two shapes that touch, in words: whose they are, of what kind, and which detector answers for them."""

from __future__ import annotations

from typing import Any

__all__ = ["pair_in_words"]


def pair_in_words(simulation: Any, shapes: Any) -> str:
    """Return `rod.3 (capsule) and box (box), found by edges` of the indices of two shapes of a world."""
    pipeline = simulation.system.pipeline
    assert pipeline is not None
    names = [simulation.shape_owner(int(each)) for each in shapes]
    one, other = (pipeline.scene.table.kind[int(each)] for each in shapes)
    detector = next(
        each for each in pipeline.detectors if {(one, other), (other, one)} & set(each.supported_pairs)
    )
    found_by = simulation.component_name(detector)
    return f"{names[0]} ({one}) and {names[1]} ({other}), found by {found_by}"
