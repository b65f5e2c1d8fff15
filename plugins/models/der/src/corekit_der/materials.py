"""Options of limbs that may become symbols, and their effect.

Viscous and resistive drag, natural curvature and twist are linear in their options. Mass and weight are linear in the
density. Young's modulus E scales the stiffness of a limb's edges, Poisson's ratio ν their torsion:

    axial, bending:  E/E₀,        torsion:  (E/E₀)·(1 + ν₀)/(1 + ν)                               (1)

A pair bends like its two half edges in series. With r the fraction of an edge in the pair's compliance and s of (1),

    factor of the pair's stiffness:  1/(r_e/s_e + r_f/s_f)                                        (2)

so the options of joined limbs may become symbols too. An option that varies along the limb may not. Natural curvature
may only where the user gives it, so that the scenario has an entry for the fitted value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from corekit.data.arrays import Array
from corekit.roles.symbolic import SymbolicParameter
from corekit_der.config import Limb
from corekit_der.free_ghosts import FreeGhost
from corekit_der.graph import Graph
from corekit_der.numbering import Numbering
from corekit_der.symbolic import Material

__all__ = ["limb_materials"]


def _to_nodes(graph: Graph, numbering: Numbering, each: Array, direction: Array) -> Array:
    """Return half of every edge's value (E,) at the coordinates of both nodes, times `direction` (d,), (n,)."""
    out = np.zeros(numbering.size)
    for end in (0, 1):
        x = numbering.node[graph.edge[:, end], None] + np.arange(len(direction))
        np.add.at(out, x, 0.5 * each[:, None] * direction)
    return out


def _natural_strains(limb: Limb, planar: bool) -> Iterator[tuple[str, str, float, int]]:
    """Yield name, unit, value and component of the natural strains of a limb."""
    if any(limb.natural_curvature):
        for k in range(1 if planar else 2):
            yield f"natural_curvature[{k}]", "1/m", limb.natural_curvature[k], k
    if not planar:
        yield "natural_twist", "rad/m", limb.natural_twist, 2


def limb_materials(
    graph: Graph, numbering: Numbering, gravity: Array, ghosts: Sequence[FreeGhost] = ()
) -> tuple[Material, ...]:
    """Return the materials of all limbs.

    Args:
        gravity: in the axes of a node's coordinates, (d,) [m/s²].
        ghosts: free ones, which share mass and axial stiffness of the edges that they continue.
    """
    materials: list[Material] = []
    planar, ones = len(gravity) == 2, np.ones(len(gravity))
    for i, limb in enumerate(graph.limbs):
        is_own = graph.limb == i
        own_ghosts = [each for each in ghosts if is_own[each.first]]
        edges = np.append(np.flatnonzero(is_own), [each.edge for each in own_ghosts]).astype(np.int64)
        has_pairs = bool(np.isin(graph.pair, edges).any())

        def parameter(name: str, unit: str, value: float, i: int = i) -> tuple[str, SymbolicParameter]:
            return f"limbs[{i}].{name}", SymbolicParameter(unit, value)

        length = np.where(is_own, graph.length, 0.0)
        drag = _to_nodes(graph, numbering, length, ones)
        materials.append(Material(*parameter("viscous_drag", "Pa·s", limb.viscous_drag), drag=drag))
        for k, (name, value) in enumerate(
            (("drag_normal", limb.drag_normal), ("drag_tangential", limb.drag_tangential))
        ):
            resistive = np.zeros((len(is_own), 2))
            resistive[:, k] = 0.5 * length
            materials.append(Material(*parameter(name, "Pa·s", value), resistive=resistive))
        if len(limb.young) == 1:
            materials.append(Material(*parameter("young", "Pa", limb.young[0]), edges=edges, scales="young"))
        if has_pairs and not planar:
            materials.append(
                Material(*parameter("poisson", "-", limb.poisson), edges=edges, scales="poisson")
            )
        if len(limb.viscosity) == 1:
            materials.append(Material(*parameter("viscosity", "Pa·s", limb.viscosity[0]), viscous=is_own))
        if len(limb.density) == 1:
            line = length * graph.line_mass / limb.density[0]
            mass = _to_nodes(graph, numbering, line, ones)
            if not planar:
                mass[numbering.edge] += length * graph.line_spin / limb.density[0]
            weight = _to_nodes(graph, numbering, line, gravity)
            for each in own_ghosts:
                each.share_mass(numbering, mass, weight)
            materials.append(
                Material(*parameter("density", "kg/m³", limb.density[0]), mass=mass, weight=weight)
            )
        for name, unit, value, k in _natural_strains(limb, planar) if (graph.pair_limb == i).any() else ():
            natural = np.zeros((len(graph.pair), 3))
            natural[graph.pair_limb == i, k] = 1.0
            materials.append(Material(*parameter(name, unit, value), natural=natural))
    return tuple(materials)
