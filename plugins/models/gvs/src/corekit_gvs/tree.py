"""From links to computational points: the tree of nodes, pieces and points that the tables hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit.geometry.frames import rotation_from_rpy
from corekit_gvs.basis import Basis
from corekit_gvs.discretise import columns_at, discretise, scaled_columns, zanna_points
from corekit_gvs.joints import Joint
from corekit_gvs.links import Division, Link
from corekit_gvs.mistakes import near
from corekit_gvs.options import Triple
from corekit_gvs.sections import Section, reference_strain, section_at
from corekit_gvs.tables import CHART, FIXED, MIDPOINT, ROOT, ZANNA

if TYPE_CHECKING:
    from corekit_gvs.dependent import DependentBasis

__all__ = ["Part", "Tree", "joint_axes", "quadrature_rows"]

_STILL: Triple = (0.0, 0.0, 0.0)
_IDENTITY = np.concatenate([np.eye(3).ravel(), np.zeros(3)])


class Part(NamedTuple):
    """A division as built: where it starts along the link, its piece, places X of its nodes, and its quadrature:
    numbers, places, nodes and masses of the points.
    """

    division: Division
    path: str
    start: float
    piece: int
    X: Array
    node: list[int]
    quadrature: list[int]
    quadrature_place: list[float]
    quadrature_node: list[int]
    quadrature_mass: list[int]


def quadrature_rows(section: Section, weights: Array, plain: Array) -> tuple[Array, Array]:
    """The rows of SECTIONS and BODIES of all places of a section, (p, 19) and (p, 25).

    Args:
        section: at p places.
        weights: the length that each stands for [m], (p,).
        plain: ξ* there, (p, 6).
    """
    weight = weights[:, None]
    elastic = np.hstack([weight, section.rigidity, section.viscous, plain])
    body = np.zeros((len(weights), 25))
    body[:, [0, 4, 8]] = weight * section.inertia[:, :3]
    body[:, 9:12] = weight * section.inertia[:, 3:]
    body[:, 12] = weights * section.weight
    body[:, 16:] = weight * section.drag
    return elastic, body


def joint_axes(joint: Joint) -> list[Array]:
    """B_J as one matrix (6, own) a step; universal, planar and free joints are two steps, see `Joint`."""
    unit = np.eye(6)
    if isinstance(joint.axis, str):
        axis = "xyz".index(joint.axis)
        turn, shift = unit[:, [axis]], unit[:, [3 + axis]]
    else:
        axis, along = 0, np.array(joint.axis)[:, None] / math.hypot(*joint.axis)
        turn, shift = unit[:, :3] @ along, unit[:, 3:] @ along
    after = [3 + (axis + 1) % 3, 3 + (axis + 2) % 3]
    return {
        "fixed": [],
        "revolute": [turn],
        "prismatic": [shift],
        "helical": [turn + joint.pitch * shift],
        "cylindrical": [np.hstack([turn, shift])],
        "universal": [turn, unit[:, ["xyz".index(joint.second)]]],
        "planar": [unit[:, after], turn],
        "spherical": [unit[:, :3]],
        "free": [unit[:, 3:], unit[:, :3]],
    }[joint.kind]


@frozen(eq=False)
class Tree:
    """The tree while it grows; every list has one entry a node, piece, point or body (see `tables`).

    Attributes:
        places: place → node.
        parts: soft link → its divisions.
        dependents: dependent bases with the index of their first point.
        charts: first velocity and place in aux of every joint in exponential coordinates.
        lines: nodes from base to tip of every link, with the radii there, for drawing.
        point_place: X and ξ* of every point.
    """

    fluid: float
    nodes: list[list[int]] = field(factory=list)
    steps: list[Array] = field(factory=list)
    pieces: list[list[int]] = field(factory=list)
    columns: list[list[int]] = field(factory=list)
    points: list[list[int]] = field(factory=list)
    bases: list[Array] = field(factory=list)
    strains: list[Array] = field(factory=list)
    quadrature: list[list[int]] = field(factory=list)
    sections: list[Array] = field(factory=list)
    masses: list[int] = field(factory=list)
    bodies: list[Array] = field(factory=list)
    places: dict[str, int] = field(factory=dict)
    parts: dict[str, list[Part]] = field(factory=dict)
    dependents: list[DependentBasis] = field(factory=list)
    charts: list[tuple[int, int]] = field(factory=list)
    links: dict[str, Link] = field(factory=dict)
    first: dict[str, int] = field(factory=dict)
    sizes: list[int] = field(factory=lambda: [0, 0, 0])

    def begin(self) -> None:
        """The base: node 0 in a piece without columns."""
        self._piece([], 0)
        self._node(0, 0, ROOT, np.zeros(13))
        self.places[""] = self.places["world"] = 0

    # — nodes —

    def _piece(self, above: list[int], own: int, first: int | None = None) -> int:
        """A new piece below one with the columns `above`; its own begin at `first`, else after all others."""
        first = self.sizes[0] if first is None else first
        self.pieces.append([len(above) + own, own, 0, first, 0, 0])
        self.columns.append([*above, *range(first, first + own)])
        self.sizes[0] += own
        return len(self.pieces) - 1

    def _node(self, parent: int, piece: int, kind: int, step: Array, point: int = -1, aux: int = -1) -> int:
        self.nodes.append([parent, piece, kind, point, 0, aux, 0, 0])
        self.steps.append(step)
        return len(self.nodes) - 1

    def fixed(self, parent: int, position: Triple, rotation_rpy: Triple = _STILL) -> int:
        """The node itself, or a new one moved from it by a fixed transform."""
        if not any(position) and not any(rotation_rpy):
            return parent
        step = np.concatenate([[0.0], rotation_from_rpy(rotation_rpy).ravel(), position])
        return self._node(parent, self.nodes[parent][1], FIXED, step)

    def _point(self, B: Array, plain: Array, curvatures: int = -1) -> int:
        """A new place of a basis: B (6, own), ξ* (6,)."""
        self.points.append([self.sizes[1], B.shape[1], curvatures])
        self.sizes[1] += B.size
        self.bases.append(B.ravel())
        self.strains.append(np.concatenate([plain, np.zeros(12)]))
        return len(self.points) - 1

    def _step(self, parent: int, piece: int, length: float, points: list[int]) -> int:
        kind = ZANNA if len(points) == 2 else MIDPOINT
        return self._node(parent, piece, kind, np.concatenate([[length], _IDENTITY]), points[0])

    def joint(self, joint: Joint, parent: int) -> int:
        """The steps of a joint."""
        start, steps = self.sizes[0], joint_axes(joint)
        firsts = [start + sum(B.shape[1] for B in steps[:i]) for i in range(len(steps))]
        if joint.kind in ("planar", "free"):
            # the shift comes first along the chain, and the turn first among the coordinates
            firsts = [start + steps[1].shape[1], start]
        for i, (B, first) in enumerate(zip(steps, firsts, strict=True)):
            if joint.kind in ("spherical", "free") and i == len(steps) - 1:
                aux = 12 * len(self.charts)
                self.charts.append((first, aux))
                parent = self._node(parent, self.nodes[parent][1], CHART, np.zeros(13), aux=aux)
            piece = self._piece(self.columns[self.nodes[parent][1]], B.shape[1], first)
            parent = self._step(parent, piece, 1.0, [self._point(B, np.zeros(6))])
        return parent

    def mass(self, node: int, inertia: Array, linear: Array, weight: float, drag: Array) -> None:
        """A mass at a node: I (9), A (3), mass of its weight, rotational and linear drag (12)."""
        self.masses.append(node)
        self.bodies.append(np.concatenate([inertia, linear, [weight], drag]))

    # — links —

    def add(self, link: Link, path: str) -> None:
        """A link with its joint."""
        carrier = self.node_of(link.on, f"{path}.on")
        self.links[link.name], self.first[link.name] = link, self.sizes[0]
        base = self.joint(link.joint, self.fixed(carrier, link.position, link.rotation_rpy))
        self.places[f"{link.name}.base"] = base
        if link.kind == "rigid":
            self._rigid(link, base)
            return
        self.parts[link.name] = []
        start = 0.0
        for i, division in enumerate(link.divisions):
            base = self._division(link.name, division, base, start, f"{path}.divisions[{i}]")
            start += division.length
        self.places[f"{link.name}.tip"] = base

    def _rigid(self, link: Link, base: int) -> None:
        self.places[f"{link.name}.tip"] = self.fixed(base, link.tip, link.tip_rpy)
        centre = self.fixed(base, link.centre)
        self.places[f"{link.name}.centre"] = centre
        xx, yy, zz, xy, xz, yz = (*link.inertia, 0.0, 0.0, 0.0)[:6]
        inertia = np.array([xx, xy, xz, xy, yy, yz, xz, yz, zz])
        added, drag = np.array(link.added_mass or (0.0,) * 6), np.array(link.drag or (0.0,) * 6)
        inertia[[0, 4, 8]] += added[:3]
        rows = np.concatenate([drag[:3], np.diag(drag[3:]).ravel()])
        if link.mass or inertia.any() or added.any() or rows.any():
            self.mass(
                centre, inertia, link.mass + added[3:], link.mass - self.fluid * link.buoyant_volume, rows
            )

    def _division(self, link: str, division: Division, parent: int, start: float, path: str) -> int:
        own, (X, weights, inner, shapes) = division.size, discretise(division, path)
        piece = self._piece(self.columns[self.nodes[parent][1]], own)
        L, count = division.length, inner.shape[1]
        at = np.concatenate([inner.ravel(), X])
        first_point = len(self.points)
        dependent = [(i, basis) for i, basis in enumerate(division.strain) if basis.kind == "dependent"]
        B, plain = scaled_columns(division, shapes), reference_strain(division, at, path)
        for each, strain in zip(B, plain, strict=True):
            self._point(each, strain, self._curvature(own) if dependent else -1)
        self._depend(division, dependent, at, first_point, piece, path)
        section = section_at(division, X, self.fluid, path)
        elastic, body = quadrature_rows(section, weights * L, plain[inner.size :])
        if weights[0] > 0.0:
            parent = self._node(parent, piece, FIXED, np.concatenate([[0.0], _IDENTITY]))
        part = Part(division, path, start, piece, X, [parent], [], [], [], [])
        self.parts[link].append(part)
        for i in range(len(X)):
            if i:
                points = [first_point + count * (i - 1) + k for k in range(count)]
                part.node.append(self._step(part.node[-1], piece, (X[i] - X[i - 1]) * L, points))
            if weights[i] > 0.0:
                part.quadrature.append(len(self.quadrature))
                part.quadrature_place.append(X[i])
                part.quadrature_node.append(part.node[-1])
                part.quadrature_mass.append(len(self.masses))
                point = first_point + inner.size + i
                self.quadrature.append([point, piece, 0, 0])
                self.sections.append(elastic[i])
                self.masses.append(part.node[-1])
                self.bodies.append(body[i])
        return part.node[-1]

    def _curvature(self, own: int) -> int:
        place = self.sizes[2]
        self.sizes[2] += 6 * own * own
        return place

    def _depend(
        self, division: Division, dependent: list[tuple[int, Basis]], at: Array, first: int, piece: int, path: str
    ) -> None:  # fmt: skip
        """Compute the points from `first` on of dependent bases."""
        if not dependent:
            return
        from corekit_gvs.dependent import DependentBasis  # brings SymPy

        scale = np.array([1.0 / division.length] * 3 + [1.0] * 3)
        column = sum(basis.size for basis in division.strain if basis.kind != "dependent")
        for i, _ in dependent:
            basis = division.strain[i]
            velocity = self.pieces[piece][3] + column
            made = DependentBasis(basis, at, scale, velocity, column, division.size, f"{path}.strain[{i}]")
            plain = np.array([strain[:6] for strain in self.strains[first : first + len(at)]])
            made.place(self.points[first][0], first, self.points[first][2], plain)
            self.dependents.append(made)
            column += basis.size

    # — places —

    def node_of(self, place: str, path: str) -> int:
        """The node at a place such as `arm.tip` or `arm.0.25`; made where it has none yet."""
        if place in self.places:
            return self.places[place]
        name, dot, where = place.partition(".")
        if not dot or name not in self.links:
            known = ", ".join(self.links) or "none before it"
            said = f"must be LINK.tip, LINK.base, LINK.centre or LINK.0.25; links: {known}"
            raise ConfigError([Mistake(path, place, said, near(place, self.places))], "a place")
        try:
            share = float(where)
        except ValueError:
            share = -1.0
        if name not in self.parts or not 0.0 <= share <= 1.0:
            said = "a rigid link has base, tip and centre" if name not in self.parts else (
                "a soft link has base, tip and shares of its length from 0 to 1"
            )  # fmt: skip
            raise ConfigError([Mistake(path, place, said, near(place, self.places))], "a place")
        self.places[place] = self.between(name, share)
        return self.places[place]

    def between(self, name: str, share: float) -> int:
        """The node at a share of a soft link's length: one there, or a new one a part of a step from the last."""
        s = share * self.links[name].length
        part = [each for each in self.parts[name] if each.start <= s or each.start == 0.0][-1]
        L = part.division.length
        X = min(max((s - part.start) / L, 0.0), 1.0)
        i = int(np.searchsorted(part.X, X + 1e-12)) - 1
        if X - part.X[i] < 1e-12:
            return part.node[i]
        at = np.array(zanna_points(part.X[i], X, part.division.magnus))
        B, plain = columns_at(part.division, at, part.path), reference_strain(part.division, at, part.path)
        dependent = [(k, basis) for k, basis in enumerate(part.division.strain) if basis.kind == "dependent"]
        first = len(self.points)
        points = [
            self._point(each, strain, self._curvature(part.division.size) if dependent else -1)
            for each, strain in zip(B, plain, strict=True)
        ]
        self._depend(part.division, dependent, at, first, part.piece, part.path)
        return self._step(part.node[i], part.piece, (X - part.X[i]) * L, points)
