"""Other materials of limbs: of a graph of rods only stiffness, mass and drag change."""

from __future__ import annotations

from attrs import evolve

from corekit.roles.options import all_but
from corekit_der.config import DERConfig, Limb
from corekit_der.graph import MATTER, Graph, compute_matter, compute_pair_stiffness

__all__ = ["is_same_but_for_matter", "with_matter_of"]

_OF_RODS = all_but(DERConfig, "limbs")
_OF_LIMB = all_but(
    Limb, "young", "poisson", "density", "viscosity", "viscous_drag", "drag_normal", "drag_tangential"
)


def is_same_but_for_matter(one: DERConfig, other: DERConfig) -> bool:
    """Whether two graphs of rods differ at most in the materials and the drag of their limbs."""
    return (
        _OF_RODS(one) == _OF_RODS(other)
        and len(one.limbs) == len(other.limbs)
        and all(a is b or _OF_LIMB(a) == _OF_LIMB(b) for a, b in zip(one.limbs, other.limbs, strict=True))
    )


def with_matter_of(graph: Graph, config: DERConfig) -> Graph:
    """Return the graph with the materials and the drag of a config that is the same in all else."""
    values = {name: getattr(graph, name).copy() for name in MATTER}
    for number, (before, limb) in enumerate(zip(graph.limbs, config.limbs, strict=True)):
        if limb is before:
            continue
        own = graph.limb == number
        for name, value in compute_matter(limb, graph.length[own]).items():
            values[name][own] = value
    # ghosts keep their bending stiffness, which no pair reads: they do not bend
    other = evolve(graph, limbs=config.limbs, **values)
    other.pair_stiffness = compute_pair_stiffness(other)
    return other
