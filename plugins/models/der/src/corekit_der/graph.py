"""Nodes, edges and pairs of edges from limbs, joints and clamps.

A limb's nodes and edges stay in order. A joint merges several nodes; the first one remains. Every inner
node of a limb and every two edges at an elastic joint make a pair. Its stiffness is that of the two half edges in
series,

    EI/V = 1/(L_e/(2·EI_e) + L_f/(2·EI_f)),                                                 (1)

which is EI/V of equal edges and exact if the material changes at the node.

A clamp adds a *ghost* edge before the first: a node behind the clamped one, both prescribed, a prescribed angle,
no mass and no axial stiffness. Only half of the real edge bends against it: EI/V = EI/(L/2). With n edges the
deflection of a cantilever is then the trapezoidal rule for ∫(L − s)²·ds, exact to order 1/n².
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import asdict, define, field, fields_dict

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.errors import ConfigError, Mistake
from corekit_der.config import Clamp, DERConfig, Limb
from corekit_der.frames import transport_directors
from corekit_der.sections import Section, compute_section

__all__ = [
    "MATTER",
    "Graph",
    "build_graph",
    "compliance_fractions",
    "compute_matter",
    "compute_pair_stiffness",
]

MATTER = (*fields_dict(Section), "drag")
"""What of a graph follows from the sections, materials and drag of its limbs, without the pairs."""

_FOLDED = 1e-3
"""Least 1 + cos of the angle between two edges; below it they are folded back."""


@define(eq=False)
class Graph:
    """Nodes (N), edges (E) and pairs (P) of all limbs, ghosts last, in the base's axes.

    Attributes:
        position: rest positions [m], (N, 3).
        node_name, edge_name: for messages and results.
        node_order, edge_order: sort keys that make chains contiguous, (N,) and (E,).
        nodes_of: indices of the nodes of every limb, in order.
        edge: start and end node, (E, 2).
        length: rest length [m], (E,).
        tangent, director: unit, (E, 3).
        axial, bend, line_mass, line_spin, area, radius, viscosity, retardation: see `Section`; of ghosts only bend and
            radius are not 0.
        drag: viscous, normal and tangential drag [Pa·s], (E, 3).
        fluid: density of the fluid [kg/m³] and added mass fraction, (E, 2).
        limb: index of the limb, −1 of ghosts, (E,).
        pair, sign: edges of a pair and their orientation in it, (P, 2).
        pair_node: far, common and far node, (P, 3).
        halves: lengths of the half edges that bend [m], 0 of ghosts, (P, 2).
        voronoi: V, their sum [m], (P,).
        scale: factor of the joint on the stiffness, (P,).
        pair_stiffness: EI₁/V, EI₂/V, GJ/V [N·m], (P, 3).
        natural: natural curvatures and twist [1/m], (P, 3).
        pair_limb: the limb of its curvature input, −1 of joints, (P,).
        prescribed_node, prescribed_edge: masks of prescribed nodes and angles.
        clamps: clamp, clamped node, all its nodes and its edges, per clamp.
        end_frames: name, node and ghost edge of every end whose section has a frame.
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
    viscosity: Array
    retardation: Array
    drag: Array
    fluid: Array
    limb: IntArray
    pair: IntArray = field(factory=lambda: np.zeros((0, 2), dtype=np.int64))
    sign: Array = field(factory=lambda: np.zeros((0, 2)))
    pair_node: IntArray = field(factory=lambda: np.zeros((0, 3), dtype=np.int64))
    halves: Array = field(factory=lambda: np.zeros((0, 2)))
    voronoi: Array = field(factory=lambda: np.zeros(0))
    scale: Array = field(factory=lambda: np.zeros(0))
    pair_stiffness: Array = field(factory=lambda: np.zeros((0, 3)))
    natural: Array = field(factory=lambda: np.zeros((0, 3)))
    pair_limb: IntArray = field(factory=lambda: np.zeros(0, dtype=np.int64))
    prescribed_node: BoolArray = field(factory=lambda: np.zeros(0, dtype=bool))
    prescribed_edge: BoolArray = field(factory=lambda: np.zeros(0, dtype=bool))
    clamps: list[tuple[Clamp, int, IntArray, IntArray]] = field(factory=list)
    end_frames: list[tuple[str, int, int]] = field(factory=list)

    def find_node(self, text: str, where: str, mistakes: list[Mistake]) -> int:
        """Return the node of `limb.start`, `limb.end` or `limb.7`; −1 after a mistake."""
        name, _, which = text.partition(".")
        names = [limb.name for limb in self.limbs]
        if name not in names:
            mistakes.append(Mistake(where, text, f"there is no limb {name!r}; limbs are {', '.join(names)}"))
            return -1
        nodes = self.nodes_of[names.index(name)]
        try:
            index = {"start": 0, "end": -1}[which] if which in ("start", "end") else int(which)
            return int(nodes[index])
        except (ValueError, IndexError):
            allowed = f"write {name}.start, {name}.end or {name}.0 … {name}.{len(nodes) - 1}"
            mistakes.append(Mistake(where, text, allowed))
            return -1


def build_graph(config: DERConfig) -> Graph:
    """Build the nodes, edges, pairs and prescribed parts of a graph of rods.

    Raises:
        ConfigError: unknown nodes, joints between distant nodes, edges folded back on each other, or nodes with two
            clamps.
    """
    graph = _build_limbs(config.limbs)
    mistakes: list[Mistake] = []
    elastic = _merge_joined_nodes(graph, config, mistakes)
    if not mistakes:
        _add_limb_and_joint_pairs(graph, elastic, mistakes)
        _add_clamps(graph, config.clamps, mistakes)
        _add_end_frames(graph, config.end_frames, mistakes)
    if mistakes:
        raise ConfigError(mistakes, "the rods")
    graph.pair_stiffness = compute_pair_stiffness(graph)
    return graph


def _build_limbs(limbs: Sequence[Limb]) -> Graph:
    """Build the nodes and edges of the limbs, without joints."""
    parts: list[dict[str, Any]] = []
    first_node = 0
    for number, limb in enumerate(limbs):
        position, vector = limb.positions(), limb.edges()
        length = np.linalg.norm(vector, axis=1)
        tangent = vector / length[:, None]
        n, e = len(position), len(length)
        k = np.arange(e)
        hint = (
            np.array(limb.director) if limb.director is not None else np.eye(3)[np.argmin(np.abs(tangent[0]))]
        )
        across = hint - (hint @ tangent[0]) * tangent[0]
        if np.linalg.norm(across) < 1e-6 * np.linalg.norm(hint) or not np.any(hint):
            mistake = Mistake("director", list(limb.director or ()), "must not lie along the rod")
            raise ConfigError([mistake], f"limb {limb.name!r}")
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
                "director": transport_directors(tangent, across),
                **compute_matter(limb, length),
                "fluid": np.tile([limb.fluid_density, limb.added_mass], (e, 1)),
                "limb": np.full(e, number),
            }
        )
        first_node += n
    lists = ("node_name", "edge_name")
    merged: dict[str, Any] = {
        name: [entry for part in parts for entry in part[name]]
        if name in lists
        else np.concatenate([p[name] for p in parts])
        for name in parts[0]
        if name != "nodes_of"
    }
    return Graph(limbs=tuple(limbs), nodes_of=[part["nodes_of"] for part in parts], **merged)


def compute_matter(limb: Limb, length: Array) -> dict[str, Array]:
    """Return the values of `MATTER` for the edges of a limb with rest lengths `length` (e,) [m]."""
    drag = np.tile([limb.viscous_drag, limb.drag_normal, limb.drag_tangential], (len(length), 1))
    return {**asdict(compute_section(limb, length), recurse=False), "drag": drag}


def compute_pair_stiffness(graph: Graph) -> Array:
    """Return (1) of every pair, times the factor of its joint, (P, 3)."""
    return graph.scale[:, None] / np.einsum("pi,pik->pk", graph.halves, 1.0 / graph.bend[graph.pair])


def _merge_joined_nodes(graph: Graph, config: DERConfig, mistakes: list[Mistake]) -> dict[int, float]:
    """Merge joined nodes and return the stiffness factor of every elastic joint, by node."""
    same = np.arange(len(graph.position))
    elastic_joints: list[tuple[int, float]] = []
    for i, joint in enumerate(config.joints):
        nodes = [graph.find_node(text, f"joints[{i}].at[{k}]", mistakes) for k, text in enumerate(joint.at)]
        if len(joint.at) < 2:
            mistakes.append(Mistake(f"joints[{i}].at", list(joint.at), "name at least two nodes"))
        if len(nodes) < 2 or min(nodes) < 0:
            continue
        tolerance = 1e-6 * float(np.min(graph.length))
        apart = np.linalg.norm(graph.position[nodes] - graph.position[nodes[0]], axis=1)
        if np.max(apart) > tolerance:
            far = int(np.argmax(apart))
            reason = f"its nodes must coincide; {joint.at[far]} is {apart[far]:.3g} m from the first"
            mistakes.append(Mistake(f"joints[{i}].at", list(joint.at), reason))
            continue
        kept = same[nodes[0]]
        same[np.isin(same, same[nodes])] = kept
        if joint.kind == "elastic":
            elastic_joints.append((int(nodes[0]), joint.stiffness))
    kept_nodes, index = np.unique(same, return_inverse=True)
    graph.position = graph.position[kept_nodes]
    graph.node_order = graph.node_order[kept_nodes]
    graph.node_name = [graph.node_name[k] for k in kept_nodes]
    graph.edge = index[graph.edge]
    graph.nodes_of = [index[nodes] for nodes in graph.nodes_of]
    graph.prescribed_node = np.zeros(len(kept_nodes), dtype=bool)
    graph.prescribed_edge = np.zeros(len(graph.edge), dtype=bool)
    return {int(index[node]): factor for node, factor in elastic_joints}


def _add_limb_and_joint_pairs(graph: Graph, elastic: dict[int, float], mistakes: list[Mistake]) -> None:
    """Add the pairs along limbs, and one for every other two edges at an elastic joint."""
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
        meeting = np.flatnonzero((graph.edge == node).any(axis=1))
        known = {frozenset(p.tolist()) for p in pair[common == node]}
        scale[common == node] = factor
        new = [
            (a, b)
            for i, a in enumerate(meeting)
            for b in meeting[i + 1 :]
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
    _add_pairs(graph, pair, sign, limb, scale)
    folded = 1.0 + np.einsum("pi,pi->p", *(sign[:, i, None] * graph.tangent[pair[:, i]] for i in (0, 1)))
    for p in np.flatnonzero(folded < _FOLDED):
        names = " and ".join(graph.edge_name[j] for j in pair[p])
        reason = "two edges at a node must not fold back on each other; move a node"
        mistakes.append(Mistake("limbs", f"edges {names}", reason))


def _add_pairs(graph: Graph, pair: IntArray, sign: Array, limb: IntArray, scale: Array) -> None:
    """Append pairs; a ghost does not bend."""
    halves = np.where(graph.limb[pair] < 0, 0.0, 0.5 * graph.length[pair])
    far = np.where(sign[:, 0] > 0, graph.edge[pair[:, 0], 0], graph.edge[pair[:, 0], 1])
    common = np.where(sign[:, 0] > 0, graph.edge[pair[:, 0], 1], graph.edge[pair[:, 0], 0])
    end = np.where(sign[:, 1] > 0, graph.edge[pair[:, 1], 1], graph.edge[pair[:, 1], 0])
    natural = np.array([[*each.natural_curvature, each.natural_twist] for each in graph.limbs] + [[0.0] * 3])
    graph.pair = np.concatenate([graph.pair, pair])
    graph.sign = np.concatenate([graph.sign, sign])
    graph.pair_node = np.concatenate([graph.pair_node, np.column_stack([far, common, end])])
    graph.halves = np.concatenate([graph.halves, halves])
    graph.voronoi = np.concatenate([graph.voronoi, halves.sum(axis=1)])
    graph.scale = np.concatenate([graph.scale, scale])
    graph.natural = np.concatenate([graph.natural, natural[limb]])
    graph.pair_limb = np.concatenate([graph.pair_limb, limb])


def _add_clamps(graph: Graph, clamps: Sequence[Clamp], mistakes: list[Mistake]) -> None:
    """Mark prescribed nodes and edges, and add ghosts."""
    for i, clamp in enumerate(clamps):
        where = f"clamps[{i}]"
        node = graph.find_node(clamp.at, f"{where}.at", mistakes)
        if node < 0:
            continue
        if graph.prescribed_node[node]:
            mistakes.append(
                Mistake(f"{where}.at", clamp.at, "has another clamp already; use one clamp per node")
            )
            continue
        nodes, edges = np.array([node]), np.zeros(0, dtype=np.int64)
        meeting = np.flatnonzero((graph.edge == node).any(axis=1))
        if clamp.kind == "edge":
            limb = [each.name for each in graph.limbs].index(clamp.at.partition(".")[0])
            edges = meeting[graph.limb[meeting] == limb]
            if len(edges) != 1:
                reason = "kind edge clamps the first or last edge: name the start or end of an open limb"
                mistakes.append(Mistake(f"{where}.at", clamp.at, reason))
                continue
            nodes = graph.edge[edges[0]].copy()
            nodes = nodes if nodes[0] == node else nodes[::-1]
        elif clamp.kind == "clamp":
            ghosts, edges = _add_ghosts(graph, node, meeting)
            nodes = np.concatenate([nodes, ghosts])
        if graph.prescribed_node[nodes].any():
            mistakes.append(
                Mistake(f"{where}.at", clamp.at, "shares a node with another clamp; use one per node")
            )
        graph.prescribed_node[nodes] = True
        graph.prescribed_edge[edges] = True
        graph.clamps.append((clamp, node, nodes, edges))


def _add_end_frames(graph: Graph, ends: Sequence[str], mistakes: list[Mistake]) -> None:
    """Add free ghosts, see `free_ghosts`."""
    for i, text in enumerate(ends):
        where = f"end_frames[{i}]"
        node = graph.find_node(text, where, mistakes)
        if node < 0:
            continue
        meeting = np.flatnonzero((graph.edge == node).any(axis=1))
        if text.partition(".")[2] not in ("start", "end") or len(meeting) != 1 or graph.prescribed_node[node]:
            said = "must be LIMB.start or LIMB.end, an end that no joint, clamp or other frame has"
            mistakes.append(Mistake(where, text, said))
            continue
        _, (edge,) = _add_ghosts(graph, node, meeting, "end")
        graph.end_frames.append((text, node, int(edge)))


def _add_ghosts(graph: Graph, node: int, meeting: IntArray, kind: str = "clamp") -> tuple[IntArray, IntArray]:
    """Replace the pairs at a node by one ghost behind every edge; return the ghosts' nodes and edges.

    `kind` begins their names.
    """
    kept = graph.pair_node[:, 1] != node
    for name in ("pair", "sign", "pair_node", "halves", "voronoi", "scale", "natural", "pair_limb"):
        setattr(graph, name, getattr(graph, name)[kept])
    count, n, e = len(meeting), len(graph.position), len(graph.edge)
    outward = np.where(graph.edge[meeting, 0] == node, 1.0, -1.0)
    nodes, edges = n + np.arange(count), e + np.arange(count)
    # the ghost continues the edge in a straight line
    vector = graph.tangent[meeting] * graph.length[meeting, None]
    graph.position = np.concatenate([graph.position, graph.position[node] - outward[:, None] * vector])
    graph.node_name += [
        f"{kind}-{graph.node_name[node]}" + (f"-{k}" if count > 1 else "") for k in range(count)
    ]
    graph.node_order = np.concatenate([graph.node_order, graph.node_order[node] - 1.8 * outward])
    ends = np.column_stack([np.where(outward > 0, nodes, node), np.where(outward > 0, node, nodes)])
    graph.edge = np.concatenate([graph.edge, ends])
    graph.edge_name += [f"{kind}-{graph.edge_name[j]}" for j in meeting]
    graph.edge_order = np.concatenate([graph.edge_order, graph.node_order[node] - 0.9 * outward])
    for name in ("length", "tangent", "director", "bend", "radius"):
        values = getattr(graph, name)
        setattr(graph, name, np.concatenate([values, values[meeting]]))
    for name in ("axial", "line_mass", "line_spin", "area", "viscosity", "retardation", "drag", "fluid"):
        values = getattr(graph, name)
        setattr(graph, name, np.concatenate([values, np.zeros_like(values[meeting])]))
    limb = graph.limb[meeting]
    graph.limb = np.concatenate([graph.limb, np.full(count, -1)])
    graph.prescribed_node = np.concatenate([graph.prescribed_node, np.zeros(count, dtype=bool)])
    graph.prescribed_edge = np.concatenate([graph.prescribed_edge, np.zeros(count, dtype=bool)])
    forward = np.where(
        outward[:, None] > 0, np.column_stack([edges, meeting]), np.column_stack([meeting, edges])
    )
    _add_pairs(graph, forward, np.ones((count, 2)), limb, np.ones(count))
    return nodes, edges


def compliance_fractions(graph: Graph) -> Array:
    """Return the fractions of its two edges in the compliances of every pair: κ₁, κ₂ and twist, (P, 2, 3)."""
    each = graph.halves[:, :, None] / graph.bend[graph.pair]
    return each / each.sum(axis=1, keepdims=True)
