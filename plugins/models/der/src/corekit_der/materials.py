"""Which options of limbs may become symbols, and what goes with them.

Viscous drag is linear in a limb's viscosity. Axial and bending stiffness are linear in its Young's modulus where that
is one all along the limb; where limbs meet, a pair bends as both in series do, so joined limbs have none to offer.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.roles.symbolic import SymbolicParameter
from corekit_der.graph import Graph
from corekit_der.numbering import Numbering
from corekit_der.symbolic import Material

__all__ = ["materials_of"]

_NONE: IntArray = np.zeros(0, dtype=np.int64)


def _drag_of(graph: Graph, numbering: Numbering, limb: int, width: int) -> Array:
    """Diagonal of viscous D of a limb with unit viscosity, (n,): half an edge to either node."""
    drag = np.zeros(numbering.size)
    half = 0.5 * graph.length * (graph.limb == limb)
    for end in (0, 1):
        np.add.at(drag, numbering.node[graph.edge[:, end], None] + np.arange(width), half[:, None])
    return drag


def materials_of(graph: Graph, numbering: Numbering, width: int) -> tuple[Material, ...]:
    """What every limb offers; `width` is the number of coordinates of a node."""
    found: list[Material] = []
    limbs = graph.limb[graph.pair]
    for i, limb in enumerate(graph.limbs):
        viscosity = SymbolicParameter("Pa·s", limb.viscosity)
        drag = _drag_of(graph, numbering, i, width)
        found.append(Material(f"limbs[{i}].viscosity", viscosity, _NONE, _NONE, drag))
        mine = (limbs == i).any(axis=1)
        # a ghost, −1, bends as the edge it stands before
        alone = np.isin(limbs[mine], (i, -1)).all()
        if len(limb.young) == 1 and alone:
            edges, pairs = np.flatnonzero(graph.limb == i), np.flatnonzero(mine)
            young = SymbolicParameter("Pa", limb.young[0])
            found.append(Material(f"limbs[{i}].young", young, edges, pairs, np.zeros(0)))
    return tuple(found)
