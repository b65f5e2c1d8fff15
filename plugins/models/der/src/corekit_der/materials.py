"""Which options of limbs may become symbols, and what goes with them.

Linear in an option p are viscous and resistive drag, natural curvature and twist, and in the density mass and weight.
Young's modulus E scales the stiffness of a limb's edges, Poisson's ratio ν their torsion:

    axial, bending:  E/E₀,        torsion:  (E/E₀)·(1 + ν₀)/(1 + ν)                               (1)

A pair bends as its two half edges in series do. With r the share that an edge has in the pair's compliance and s (1),

    stiffness of the pair:  1/(r_e/s_e + r_f/s_f)  of its own                                     (2)

so that limbs joined to others have theirs too. An option that changes along the limb has none to offer, and natural
curvature has where it is given: there is a place then to write what was found.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.symbolic import SymbolicParameter
from corekit_der.config import Limb
from corekit_der.graph import Graph
from corekit_der.numbering import Numbering
from corekit_der.symbolic import Material

__all__ = ["compliance_shares", "materials_of"]


def compliance_shares(graph: Graph) -> Array:
    """r of (2): what either edge has in the compliances κ₁, κ₂ and twist of every pair, (P, 2, 3)."""
    # a ghost before a clamped edge does not bend
    halves = np.where(graph.axial[graph.pair] == 0.0, 0.0, 0.5 * graph.length[graph.pair])
    each = halves[:, :, None] / graph.bend[graph.pair]
    return each / each.sum(axis=1, keepdims=True)


def _to_nodes(graph: Graph, numbering: Numbering, each: Array, along: Array) -> Array:
    """Half of what every edge has, (E,), to the coordinates of either node, times `along` (d,), (n,)."""
    out = np.zeros(numbering.size)
    for end in (0, 1):
        x = numbering.node[graph.edge[:, end], None] + np.arange(len(along))
        np.add.at(out, x, 0.5 * each[:, None] * along)
    return out


def _natural(limb: Limb, planar: bool) -> Iterator[tuple[str, str, float, int]]:
    """Name, unit, value and component of the natural strains that a limb gives."""
    if any(limb.natural_curvature):
        for k in range(1 if planar else 2):
            yield f"natural_curvature[{k}]", "1/m", limb.natural_curvature[k], k
    if not planar:
        yield "natural_twist", "rad/m", limb.natural_twist, 2


def materials_of(graph: Graph, numbering: Numbering, gravity: Array) -> tuple[Material, ...]:
    """What every limb offers; `gravity` in the axes that the coordinates of a node count, (d,) [m/s²]."""
    found: list[Material] = []
    planar, ones = len(gravity) == 2, np.ones(len(gravity))
    for i, limb in enumerate(graph.limbs):
        edges, own = np.flatnonzero(graph.limb == i), graph.limb == i
        bends = bool(np.isin(graph.pair, edges).any())

        def parameter(name: str, unit: str, value: float, i: int = i) -> tuple[str, SymbolicParameter]:
            return f"limbs[{i}].{name}", SymbolicParameter(unit, value)

        length = np.where(own, graph.length, 0.0)
        drag = _to_nodes(graph, numbering, length, ones)
        found.append(Material(*parameter("viscosity", "Pa·s", limb.viscosity), drag=drag))
        for k, (name, value) in enumerate(
            (("drag_normal", limb.drag_normal), ("drag_tangential", limb.drag_tangential))
        ):
            resistive = np.zeros((len(own), 2))
            resistive[:, k] = 0.5 * length
            found.append(Material(*parameter(name, "Pa·s", value), resistive=resistive))
        if len(limb.young) == 1:
            found.append(Material(*parameter("young", "Pa", limb.young[0]), edges=edges, scales="young"))
        if bends and not planar:
            found.append(Material(*parameter("poisson", "-", limb.poisson), edges=edges, scales="poisson"))
        if len(limb.density) == 1:
            line = length * graph.line_mass / limb.density[0]
            mass = _to_nodes(graph, numbering, line, ones)
            if not planar:
                mass[numbering.edge] += length * graph.line_spin / limb.density[0]
            weight = _to_nodes(graph, numbering, line, gravity)
            found.append(Material(*parameter("density", "kg/m³", limb.density[0]), mass=mass, weight=weight))
        for name, unit, value, k in _natural(limb, planar) if (graph.pair_limb == i).any() else ():
            natural = np.zeros((len(graph.pair), 3))
            natural[graph.pair_limb == i, k] = 1.0
            found.append(Material(*parameter(name, unit, value), natural=natural))
    return tuple(found)
