"""From limbs, joints and clamps to nodes, edges and pairs of edges.

Limbs keep their nodes and edges in order; a joint makes several nodes one (the first named stays); every inner
node of a limb and every two edges at an elastic joint make a pair. The stiffness of a pair is that of half of
either edge in series,

    EI/V = 1/(L_e/(2·EI_e) + L_f/(2·EI_f)),                                                 (1)

which is EI/V of equal edges and exact where the material changes at the node.

A clamp adds a *ghost* edge before the first: a node behind the clamped one, both held, an angle that is held,
no mass and no axial stiffness. Only half of the real edge bends against it: EI/V = EI/(L/2), so that with n edges the
tip of a cantilever moves by the trapezoidal rule for ∫(L − s)²·ds, exact to order 1/n².
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define, field

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.errors import ConfigError, Mistake
from corekit_der.config import Clamp, DERConfig, Limb
from corekit_der.frames import directors_along
from corekit_der.sections import section_of

__all__ = ["Graph", "build_graph"]

_FOLDED = 1e-3
"""1 + cos of the angle between edges below which they lie on each other."""


@define(eq=False)
class Graph:
    """Nodes (N), edges (E) and pairs (P) of all limbs, ghosts last, in the base's axes.

    Attributes:
        position: rest places [m], (N, 3).
        node_name, edge_name: for messages and results.
        node_order, edge_order: sort keys that make chains contiguous, (N,) and (E,).
        first: limb name → indices of its nodes, in order.
        edge: start and end node, (E, 2).
        length: rest length [m], (E,).
        tangent, director: unit, (E, 3).
        axial, bend, line_mass, line_spin, area, radius: see `Section`; 0 of ghosts but for bend and radius.
        drag: viscosity, normal and tangential drag [Pa·s], (E, 3).
        fluid: density of the fluid [kg/m³] and added mass share, (E, 2).
        limb: index of the limb, −1 of ghosts, (E,).
        pair, sign: edges of a pair and how it traverses them, (P, 2).
        pair_node: far, common and far node, (P, 3).
        voronoi: V [m], (P,).
        pair_bend: EI₁/V, EI₂/V, GJ/V [N·m], (P, 3).
        natural: natural curvatures and twist [1/m], (P, 3).
        pair_limb: the limb whose curvature input it takes, −1 of joints, (P,).
        held_node, held_edge: masks.
        clamps: (clamp, its node, its nodes, its edges) of every clamp.
    """

    position: Array
    node_name: list[str]
    node_order: Array
    limbs: tuple[Limb, ...]
    nodes_of: list[IntArray]
    edge: IntArray
    edge_name: list[str]
    edge_order: Array
    length: Array
    tangent: Array
    director: Array
    axial: Array
    bend: Array
    line_mass: Array
    line_spin: Array
    area: Array
    radius: Array
    drag: Array
    fluid: Array
    limb: IntArray
    pair: IntArray = field(factory=lambda: np.zeros((0, 2), dtype=np.int64))
    sign: Array = field(factory=lambda: np.zeros((0, 2)))
    pair_node: IntArray = field(factory=lambda: np.zeros((0, 3), dtype=np.int64))
    voronoi: Array = field(factory=lambda: np.zeros(0))
    pair_bend: Array = field(factory=lambda: np.zeros((0, 3)))
    natural: Array = field(factory=lambda: np.zeros((0, 3)))
    pair_limb: IntArray = field(factory=lambda: np.zeros(0, dtype=np.int64))
    held_node: BoolArray = field(factory=lambda: np.zeros(0, dtype=bool))
    held_edge: BoolArray = field(factory=lambda: np.zeros(0, dtype=bool))
    clamps: list[tuple[Clamp, int, IntArray, IntArray]] = field(factory=list)

    def place(self, words: str, where: str, wrong: list[Mistake]) -> int:
        """The node that `limb.start`, `limb.end` or `limb.7` means; −1 after a mistake."""
        name, _, which = words.partition(".")
        names = [limb.name for limb in self.limbs]
        if name not in names:
            wrong.append(Mistake(where, words, f"there is no limb {name!r}; limbs are {', '.join(names)}"))
            return -1
        nodes = self.nodes_of[names.index(name)]
        try:
            index = {"start": 0, "end": -1}[which] if which in ("start", "end") else int(which)
            return int(nodes[index])
        except (ValueError, IndexError):
            allowed = f"write {name}.start, {name}.end or {name}.0 … {name}.{len(nodes) - 1}"
            wrong.append(Mistake(where, words, allowed))
            return -1


def build_graph(config: DERConfig) -> Graph:
    """Nodes, edges, pairs and held parts of a graph of rods.

    Raises:
        ConfigError: places that do not exist, joints whose nodes are apart, edges folded back on each other,
            nodes held twice.
    """
    graph = _limbs(config.limbs)
    wrong: list[Mistake] = []
    elastic = _join(graph, config, wrong)
    if not wrong:
        _pairs(graph, elastic, wrong)
        _clamps(graph, config.clamps, wrong)
    if wrong:
        raise ConfigError(wrong, "the rods")
    return graph


def _limbs(limbs: Sequence[Limb]) -> Graph:
    """Nodes and edges of the limbs, none joined yet."""
    parts: list[dict[str, Any]] = []
    first_node = 0
    for number, limb in enumerate(limbs):
        position, vector = limb.positions(), limb.edges()
        length = np.linalg.norm(vector, axis=1)
        tangent = vector / length[:, None]
        n, e = len(position), len(length)
        k = np.arange(e)
        section = section_of(limb, length)
        hint = (
            np.array(limb.director) if limb.director is not None else np.eye(3)[np.argmin(np.abs(tangent[0]))]
        )
        across = hint - (hint @ tangent[0]) * tangent[0]
        if np.linalg.norm(across) < 1e-6 * np.linalg.norm(hint) or not np.any(hint):
            found = list(limb.director or ())
            raise ConfigError(
                [Mistake("director", found, "must not lie along the rod")], f"limb {limb.name!r}"
            )
        parts.append(
            {
                "position": position,
                "node_name": [f"{limb.name}-{i}" for i in range(n)],
                "node_order": number * 4.0e6 + 2.0 * np.arange(n),
                "nodes_of": first_node + np.arange(n),
                "edge": first_node + np.column_stack([k, (k + 1) % n]),
                "edge_name": [f"{limb.name}-{i}" for i in range(e)],
                "edge_order": number * 4.0e6 + 2.0 * k + 1.0,
                "length": length,
                "tangent": tangent,
                "director": directors_along(tangent, across),
                "axial": section.axial,
                "bend": section.bend,
                "line_mass": section.line_mass,
                "line_spin": section.line_spin,
                "area": section.area,
                "radius": section.radius,
                "drag": np.tile([limb.viscosity, limb.drag_normal, limb.drag_tangential], (e, 1)),
                "fluid": np.tile([limb.fluid_density, limb.added_mass], (e, 1)),
                "limb": np.full(e, number),
            }
        )
        first_node += n
    listed = ("node_name", "edge_name")
    merged: dict[str, Any] = {
        name: [entry for part in parts for entry in part[name]]
        if name in listed
        else np.concatenate([p[name] for p in parts])
        for name in parts[0]
        if name != "nodes_of"
    }
    return Graph(limbs=tuple(limbs), nodes_of=[part["nodes_of"] for part in parts], **merged)


def _join(graph: Graph, config: DERConfig, wrong: list[Mistake]) -> dict[int, float]:
    """Make joined nodes one; returns the nodes of elastic joints with their factor of stiffness."""
    same = np.arange(len(graph.position))
    at_joint: list[tuple[int, float]] = []
    for i, joint in enumerate(config.joints):
        nodes = [graph.place(words, f"joints[{i}].at[{k}]", wrong) for k, words in enumerate(joint.at)]
        if len(joint.at) < 2:
            wrong.append(Mistake(f"joints[{i}].at", list(joint.at), "name at least two places"))
        if len(nodes) < 2 or min(nodes) < 0:
            continue
        reach = 1e-6 * float(np.min(graph.length))
        apart = np.linalg.norm(graph.position[nodes] - graph.position[nodes[0]], axis=1)
        if np.max(apart) > reach:
            far = int(np.argmax(apart))
            said = f"its nodes must be at one place; {joint.at[far]} is {apart[far]:.3g} m from the first"
            wrong.append(Mistake(f"joints[{i}].at", list(joint.at), said))
            continue
        kept = same[nodes[0]]
        same[np.isin(same, same[nodes])] = kept
        if joint.kind == "elastic":
            at_joint.append((int(nodes[0]), joint.stiffness))
    kept_nodes, index = np.unique(same, return_inverse=True)
    graph.position = graph.position[kept_nodes]
    graph.node_order = graph.node_order[kept_nodes]
    graph.node_name = [graph.node_name[k] for k in kept_nodes]
    graph.edge = index[graph.edge]
    graph.nodes_of = [index[nodes] for nodes in graph.nodes_of]
    graph.held_node = np.zeros(len(kept_nodes), dtype=bool)
    graph.held_edge = np.zeros(len(graph.edge), dtype=bool)
    return {int(index[node]): factor for node, factor in at_joint}


def _pairs(graph: Graph, elastic: dict[int, float], wrong: list[Mistake]) -> None:
    """Pairs along the limbs, and of every two edges at an elastic joint that are not yet a pair."""
    pairs: list[IntArray] = []
    signs: list[Array] = []
    limbs: list[IntArray] = []
    first = 0
    for number, limb in enumerate(graph.limbs):
        edges = len(limb.edges())
        k = first + np.arange(edges if limb.closed else edges - 1)
        pairs.append(np.column_stack([k, first + (k - first + 1) % edges]))
        signs.append(np.ones((len(k), 2)))
        limbs.append(np.full(len(k), number))
        first += edges
    pair, sign, limb = np.concatenate(pairs), np.concatenate(signs), np.concatenate(limbs)
    common = graph.edge[pair[:, 0], 1]
    scale = np.ones(len(pair))
    for node, factor in elastic.items():
        here = np.flatnonzero((graph.edge == node).any(axis=1))
        known = {frozenset(p.tolist()) for p in pair[common == node]}
        scale[common == node] = factor
        new = [
            (a, b)
            for i, a in enumerate(here)
            for b in here[i + 1 :]
            if frozenset((int(a), int(b))) not in known
        ]
        if new:
            added = np.array(new, dtype=np.int64)
            into = np.where(graph.edge[added[:, 0], 1] == node, 1.0, -1.0)
            out = np.where(graph.edge[added[:, 1], 0] == node, 1.0, -1.0)
            pair, sign = np.concatenate([pair, added]), np.concatenate([sign, np.column_stack([into, out])])
            limb = np.concatenate([limb, np.full(len(added), -1)])
            common = np.concatenate([common, np.full(len(added), node)])
            scale = np.concatenate([scale, np.full(len(added), factor)])
    _add_pairs(graph, pair, sign, limb, scale, half=False)
    folded = 1.0 + np.einsum("pi,pi->p", *(sign[:, i, None] * graph.tangent[pair[:, i]] for i in (0, 1)))
    for p in np.flatnonzero(folded < _FOLDED):
        names = " and ".join(graph.edge_name[j] for j in pair[p])
        said = "two edges that meet must not be folded back on each other; move a node"
        wrong.append(Mistake("limbs", f"edges {names}", said))


def _add_pairs(
    graph: Graph, pair: IntArray, sign: Array, limb: IntArray, scale: Array, *, half: bool
) -> None:
    """Append pairs; of a `half` one the ghost does not bend."""
    ghost = graph.axial[pair] == 0.0 if half else np.zeros(pair.shape, dtype=bool)
    halves = np.where(ghost, 0.0, 0.5 * graph.length[pair])
    compliance = np.einsum("pi,pik->pk", halves, 1.0 / graph.bend[pair])
    far = np.where(sign[:, 0] > 0, graph.edge[pair[:, 0], 0], graph.edge[pair[:, 0], 1])
    common = np.where(sign[:, 0] > 0, graph.edge[pair[:, 0], 1], graph.edge[pair[:, 0], 0])
    end = np.where(sign[:, 1] > 0, graph.edge[pair[:, 1], 1], graph.edge[pair[:, 1], 0])
    natural = np.array([[*each.natural_curvature, each.natural_twist] for each in graph.limbs] + [[0.0] * 3])
    graph.pair = np.concatenate([graph.pair, pair])
    graph.sign = np.concatenate([graph.sign, sign])
    graph.pair_node = np.concatenate([graph.pair_node, np.column_stack([far, common, end])])
    graph.voronoi = np.concatenate([graph.voronoi, halves.sum(axis=1)])
    graph.pair_bend = np.concatenate([graph.pair_bend, scale[:, None] / compliance])
    graph.natural = np.concatenate([graph.natural, natural[limb]])
    graph.pair_limb = np.concatenate([graph.pair_limb, limb])


def _clamps(graph: Graph, clamps: Sequence[Clamp], wrong: list[Mistake]) -> None:
    """Mark what is held, and add ghosts."""
    for i, clamp in enumerate(clamps):
        where = f"clamps[{i}]"
        node = graph.place(clamp.at, f"{where}.at", wrong)
        if node < 0:
            continue
        if graph.held_node[node]:
            wrong.append(Mistake(f"{where}.at", clamp.at, "is held by another clamp already"))
            continue
        nodes, edges = np.array([node]), np.zeros(0, dtype=np.int64)
        here = np.flatnonzero((graph.edge == node).any(axis=1))
        if clamp.kind == "edge":
            limb = [each.name for each in graph.limbs].index(clamp.at.partition(".")[0])
            edges = here[graph.limb[here] == limb]
            if len(edges) != 1:
                said = "holds the one edge that begins or ends there: name the start or end of an open limb"
                wrong.append(Mistake(f"{where}.at", clamp.at, said))
                continue
            nodes = graph.edge[edges[0]].copy()
            nodes = nodes if nodes[0] == node else nodes[::-1]
        elif clamp.kind == "clamp":
            ghosts, edges = _add_ghosts(graph, node, here)
            nodes = np.concatenate([nodes, ghosts])
        if graph.held_node[nodes].any():
            wrong.append(Mistake(f"{where}.at", clamp.at, "holds a node that another clamp holds already"))
        graph.held_node[nodes] = True
        graph.held_edge[edges] = True
        graph.clamps.append((clamp, node, nodes, edges))


def _add_ghosts(graph: Graph, node: int, here: IntArray) -> tuple[IntArray, IntArray]:
    """A ghost behind every edge that meets at a node, replacing the pairs there; their nodes and edges."""
    kept = graph.pair_node[:, 1] != node
    for name in ("pair", "sign", "pair_node", "voronoi", "pair_bend", "natural", "pair_limb"):
        setattr(graph, name, getattr(graph, name)[kept])
    count, n, e = len(here), len(graph.position), len(graph.edge)
    outward = np.where(graph.edge[here, 0] == node, 1.0, -1.0)
    nodes, edges = n + np.arange(count), e + np.arange(count)
    # the ghost continues the edge straight, in the same direction
    vector = graph.tangent[here] * graph.length[here, None]
    graph.position = np.concatenate([graph.position, graph.position[node] - outward[:, None] * vector])
    graph.node_name += [
        f"clamp-{graph.node_name[node]}" + (f"-{k}" if count > 1 else "") for k in range(count)
    ]
    graph.node_order = np.concatenate([graph.node_order, graph.node_order[node] - 1.8 * outward])
    ends = np.column_stack([np.where(outward > 0, nodes, node), np.where(outward > 0, node, nodes)])
    graph.edge = np.concatenate([graph.edge, ends])
    graph.edge_name += [f"clamp-{graph.edge_name[j]}" for j in here]
    graph.edge_order = np.concatenate([graph.edge_order, graph.node_order[node] - 0.9 * outward])
    for name in ("length", "tangent", "director", "bend", "radius"):
        values = getattr(graph, name)
        setattr(graph, name, np.concatenate([values, values[here]]))
    for name in ("axial", "line_mass", "line_spin", "area", "drag", "fluid"):
        values = getattr(graph, name)
        setattr(graph, name, np.concatenate([values, np.zeros_like(values[here])]))
    limb = graph.limb[here]
    graph.limb = np.concatenate([graph.limb, np.full(count, -1)])
    graph.held_node = np.concatenate([graph.held_node, np.zeros(count, dtype=bool)])
    graph.held_edge = np.concatenate([graph.held_edge, np.zeros(count, dtype=bool)])
    forward = np.where(outward[:, None] > 0, np.column_stack([edges, here]), np.column_stack([here, edges]))
    _add_pairs(graph, forward, np.ones((count, 2)), limb, np.ones(count), half=True)
    return nodes, edges
