"""The rods' equations as CasADi expressions, for planners (`symbolic`) and estimators (`symbolic-parameters`).

CasADi differentiates the energies, so tests can compare the compiled forces, Hessians and Jacobians with an
independent derivation. Reference directors start from the sources of the rest shape. The expressions therefore hold
until an edge turns by half a turn from the rest shape or the model updates its sources. They suit some hundred
coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.roles.symbolic import SymbolicParameter
from corekit_der.symbolic_cables import CableExpressionData, cable_shares
from corekit_der.symbolic_spin import spin_force, spin_mass
from corekit_der.tables import Rods

__all__ = ["Material", "RodExpressionData", "SymbolicRods"]

Expression = Any
"""A CasADi SX, MX or DM."""

_NO_EDGES: IntArray = np.zeros(0, dtype=np.int64)


@frozen(eq=False)
class Material:
    """Option of a limb that may become a symbol, see `materials`.

    Args:
        name: path of the option, for example `limbs[0].young`.
        parameter: unit and value of the option.
        edges: edges with a stiffness that depends on the option.
        scales: this dependence: `young`, `poisson` or empty.
        drag, mass, weight: derivatives of the diagonals of viscous D and M and of the weight, (n,), or None.
        resistive, natural, viscous: derivatives of ½L·(c_n, c_t), (E, 2), of natural curvatures, (P, 3), and of η,
            (E,), or None.
    """

    name: str
    parameter: SymbolicParameter
    edges: IntArray = _NO_EDGES
    scales: str = ""
    drag: Array | None = None
    mass: Array | None = None
    weight: Array | None = None
    resistive: Array | None = None
    natural: Array | None = None
    viscous: Array | None = None


@frozen(eq=False)
class RodExpressionData:
    """Constant data of the expressions.

    Args:
        rods: the kernels' tables.
        aux: aux of the rest shape.
        mass, weight, drag: diagonals of M, weight, diagonal of viscous D, (n,).
        resistive: ½L·(c_n, c_t) of every edge, (E, 2).
        shape, natural: strains of the rest shape and natural curvatures, (P, 3).
        voronoi: V, (P,).
        first: first curvature input of every pair, or −1, (P,).
        strains: count of curvature inputs of a pair.
        forces: first index of the node, edge or −1, and first input of every force.
        axes, rotation, origin: the base's axes of a node's coordinates (3, d), all axes (3, 3), and origin (3,).
        nodes: first index of the node of every node frame.
        edges, along: edge of every edge frame, and how far along it the frame lies.
        compliance_fractions: fractions of the two edges in the compliances of every pair, (P, 2, 3).
        viscosity: η of every edge, (E,).
        retardation: retardation times per viscosity of every edge, (E, 3).
        cables: cables along limbs.
        spinning: whether edges have the inertia of `gyroscopic`.
        materials: options that may become symbols.
    """

    rods: Rods
    aux: Array
    mass: Array
    weight: Array
    drag: Array
    resistive: Array
    shape: Array
    natural: Array
    voronoi: Array
    first: IntArray
    strains: int
    forces: Sequence[tuple[int, int, int]]
    axes: Array
    rotation: Array
    origin: Array
    nodes: IntArray
    edges: IntArray
    along: Array
    compliance_fractions: Array
    viscosity: Array
    retardation: Array
    cables: Sequence[CableExpressionData]
    spinning: bool = False
    materials: Sequence[Material] = ()


def _transport(a: Expression, b: Expression, v: Expression) -> Expression:
    """Return P(a, b)·v, see `vectors.transport`."""
    c = ca.cross(a, b)
    cosine = ca.dot(a, b)
    return cosine * v + ca.cross(c, v) + c * (ca.dot(c, v) / (1.0 + cosine))


@final
class SymbolicRods:
    """Expressions of one graph of rods, from `DER.symbolic()`.

    Attributes:
        coordinates, inputs: lengths of q and of the input vector.
        frames: number of frames, in the order of the model's description.
    """

    def __init__(
        self, parts: RodExpressionData, inputs: int, values: Mapping[str, Expression] | None = None
    ) -> None:
        self._parts = parts
        self._values = dict(values or {})
        self._axial: dict[int, Expression] = {}
        self._torsion: dict[int, Expression] = {}
        materials = [each for each in parts.materials if each.name in self._values]
        for each in materials:
            value, number = self._values[each.name], each.parameter.value
            if each.scales == "young":
                self._axial |= dict.fromkeys(each.edges.tolist(), value / number)
            elif each.scales:
                self._torsion |= dict.fromkeys(each.edges.tolist(), (1.0 + number) / (1.0 + value))

        def with_values(own: Array, slope: Callable[[Material], Array | None]) -> Expression:
            total = ca.DM(own)
            for each in materials:
                derivative = slope(each)
                if derivative is not None:
                    total = total + ca.DM(derivative) * (self._values[each.name] - each.parameter.value)
            return total

        self._mass = with_values(parts.mass, lambda each: each.mass)
        self._weight = with_values(parts.weight, lambda each: each.weight)
        self._drag = with_values(parts.drag, lambda each: each.drag)
        self._resistive = with_values(parts.resistive, lambda each: each.resistive)
        self._natural = with_values(parts.natural, lambda each: each.natural)
        self._viscosity = with_values(parts.viscosity, lambda each: each.viscous)
        self.coordinates = len(parts.mass)
        self.inputs = inputs
        self.frames = len(parts.nodes) + len(parts.edges)

    @property
    def parameters(self) -> Mapping[str, SymbolicParameter]:
        """Drags, moduli, density and natural strains of every limb, if constant along it."""
        return {each.name: each.parameter for each in self._parts.materials}

    def with_parameters(self, values: Mapping[str, Expression]) -> SymbolicRods:
        """Return the same rods with expressions instead of the options' numbers."""
        return SymbolicRods(self._parts, self.inputs, {**self._values, **values})

    def mass(self, q: Expression) -> Expression:
        """Return M, shape (n, n)."""
        return ca.diag(self._mass) + (spin_mass(self._parts, self._mass, q) if self._parts.spinning else 0)

    def kinetic_energy(self, q: Expression, v: Expression) -> Expression:
        """Return ½·vᵀM·v [J]."""
        return 0.5 * ca.dot(self.mass(q) @ v if self._parts.spinning else self._mass * v, v)

    def potential_energy(self, q: Expression) -> Expression:
        """Return elastic energy without inputs and gravitational potential [J], heights from the world's origin."""
        parts = self._parts
        width = parts.axes.shape[1]
        # the weight of all nodes times the height of the base
        total = sum(self._weight[node : node + width] for node in np.unique(parts.rods.edge[:, :2]).tolist())
        level = ca.dot(total, ca.DM(parts.axes.T @ parts.origin))
        return self._elastic_energy(q, None) - ca.dot(self._weight, q) - level

    def force(self, q: Expression, v: Expression, inputs: Expression) -> Expression:
        """Return f(q, v, u) [N, N·m], shape (n, 1)."""
        parts = self._parts
        f = self._weight - self._drag * v - ca.gradient(self._elastic_energy(q, inputs), q)
        f = f + self._viscous_force(q, v) + self._cable_force(q, inputs)
        if parts.spinning:
            f = f + spin_force(parts, self._mass, q, v)
        rows = [f[k] for k in range(self.coordinates)]

        def add(node: int, force: Expression) -> None:
            for k in range(force.shape[0]):
                rows[node + k] = rows[node + k] + force[k]

        for j in range(len(parts.resistive)):
            across, extra = self._resistive[j, 0], self._resistive[j, 1] - self._resistive[j, 0]
            if across.is_zero() and extra.is_zero():
                continue
            t = self._tangent(q, j)[0]
            for node in parts.rods.edge[j, :2].tolist():
                u = v[node : node + parts.axes.shape[1]]
                add(node, -across * u - extra * t * ca.dot(t, u))
        for node, edge, first in parts.forces:
            u = inputs[first : first + 3]
            own = [0, 2] if parts.axes.shape[1] == 2 else [0, 1, 2]
            add(node, (self._directors(q, edge) @ u)[own] if edge >= 0 else ca.DM(parts.axes.T) @ u)
        return ca.vertcat(*rows)

    def pose(self, q: Expression, frame: int) -> tuple[Expression, Expression]:
        """Return world position (3, 1) [m] and rotation (3, 3) of a frame."""
        parts = self._parts
        if frame < len(parts.nodes):
            node = int(parts.nodes[frame])
            local, rotation = q[node : node + parts.axes.shape[1]], ca.DM(parts.rotation)
        else:
            edge, share = (
                int(parts.edges[frame - len(parts.nodes)]),
                float(parts.along[frame - len(parts.nodes)]),
            )
            start, end = parts.rods.edge[edge, :2].tolist()
            width = parts.axes.shape[1]
            local = (1.0 - share) * q[start : start + width] + share * q[end : end + width]
            rotation = ca.DM(parts.rotation) @ self._directors(q, edge)
        return ca.DM(parts.axes) @ local + ca.DM(parts.origin), rotation

    def point(self, q: Expression, frame: int, local: Expression) -> Expression:
        """Return the world position (3, 1) [m] of a point fixed in a frame."""
        position, rotation = self.pose(q, frame)
        return position + rotation @ ca.DM(local)

    def point_jacobian(self, q: Expression, frame: int, local: Expression) -> Expression:
        """Return J of that point, shape (3, n)."""
        return ca.jacobian(self.point(q, frame, local), q)

    def functions(self) -> Mapping[str, Any]:
        """Return CasADi Functions mass (q), force (q, v, u), energy (q, v) and poses (q), with the options' numbers."""
        if self._values:
            return SymbolicRods(self._parts, self.inputs).functions()
        q, v, u = (
            ca.SX.sym(s, k) for s, k in (("q", self.coordinates), ("v", self.coordinates), ("u", self.inputs))
        )
        poses = [self.pose(q, frame) for frame in range(self.frames)]
        energies = [self.kinetic_energy(q, v), self.potential_energy(q)]
        return {
            "mass": ca.Function("mass", [q], [self.mass(q)]),
            "force": ca.Function("force", [q, v, u], [self.force(q, v, u)]),
            "energy": ca.Function("energy", [q, v], energies),
            "poses": ca.Function(
                "poses", [q], [ca.horzcat(*(x for x, _ in poses)), ca.horzcat(*(R for _, R in poses))]
            ),
        }

    def _tangent(self, q: Expression, edge: int) -> tuple[Expression, Expression]:
        """Return unit tangent and length of an edge."""
        width = self._parts.axes.shape[1]
        start, end = self._parts.rods.edge[edge, :2].tolist()
        e = q[end : end + width] - q[start : start + width]
        length = ca.sqrt(ca.dot(e, e))
        return e / length, length

    def _directors(self, q: Expression, edge: int) -> Expression:
        """Return m₁, m₂, t of an edge as columns, (3, 3)."""
        parts = self._parts
        t, _ = self._tangent(q, edge)
        if parts.axes.shape[1] == 2:
            return ca.horzcat(ca.vertcat(t[1], 0, -t[0]), ca.DM([0, 1, 0]), ca.vertcat(t[0], 0, t[1]))
        a, d = (ca.DM(parts.aux[6 * edge + 3 * k : 6 * edge + 3 * k + 3]) for k in range(2))
        d1 = _transport(a, t, d)
        theta = q[int(parts.rods.edge[edge, 2])]
        m1 = ca.cos(theta) * d1 + ca.sin(theta) * ca.cross(t, d1)
        return ca.horzcat(m1, ca.cross(t, m1), t)

    def _rest_strains(self, p: int, inputs: Expression) -> list[Expression]:
        """Return k̄₁, k̄₂, τ̄ of a pair: equation (1) of `actuation`."""
        parts, rest = self._parts, []
        for i in range(3):
            kappa = self._natural[p, i]
            if inputs is not None and parts.first[p] >= 0 and i < parts.strains:
                kappa = kappa + inputs[int(parts.first[p]) + i]
            turn = 2.0 * ca.tan(0.5 * kappa * parts.voronoi[p]) if i < 2 else kappa * parts.voronoi[p]
            rest.append(float(parts.shape[p, i]) + turn)
        return rest

    def _elastic_energy(self, q: Expression, inputs: Expression) -> Expression:
        """Return the energy (1)–(3) of `elastic_forces`, or (1) of `planar` [J]."""
        rods = self._parts.rods
        edges = range(len(rods.length))
        energy = 0.0
        for j in edges:
            if rods.axial[j]:
                strain = self._tangent(q, j)[1] / rods.length[j] - 1.0
                energy += 0.5 * rods.axial[j] * rods.length[j] * strain**2 * self._axial.get(j, 1.0)
        for p, strains in enumerate(self._pair_strains(q, range(len(rods.pair)))):
            for i, (k, rest) in enumerate(zip(strains, self._rest_strains(p, inputs), strict=False)):
                energy += 0.5 * rods.pair_stiffness[p, i] * (k - rest) ** 2 * self._stiffness_factor(p, i)
        return energy

    def _viscous_force(self, q: Expression, v: Expression) -> Expression:
        """Return (1) of `viscosity` [N, N·m]."""
        rods, strains, damping = self._parts.rods, [], []
        viscous = [not self._viscosity[j].is_zero() for j in range(len(rods.length))]
        for j in np.flatnonzero(viscous).tolist():
            if rods.axial[j]:
                strains.append(self._tangent(q, j)[1])
                time = self._viscosity[j] * self._parts.retardation[j, 0]
                damping.append(time * rods.axial[j] / rods.length[j])
        pairs = [p for p in range(len(rods.pair)) if any(viscous[j] for j in rods.pair[p])]
        for p, pair_strains in zip(pairs, self._pair_strains(q, pairs), strict=True):
            strains += pair_strains
            damping += [self._pair_damping(p, i) for i in range(len(pair_strains))]
        if not strains:
            return ca.DM.zeros(self.coordinates)
        strain = ca.vertcat(*strains)
        rate = ca.jtimes(strain, q, v)
        return -ca.jtimes(strain, q, ca.vertcat(*damping) * rate, True)

    def _cable_force(self, q: Expression, inputs: Expression) -> Expression:
        """Return (1) of `cables` [N, N·m]."""
        rods, total = self._parts.rods, ca.DM.zeros(self.coordinates)
        for cable in self._parts.cables:
            pairs = cable.pairs.tolist()
            strains = self._pair_strains(q, pairs)
            parts = [self._tangent(q, int(j))[1] - rods.length[j] for j in cable.edges]
            for p, strain in zip(pairs, strains, strict=True):
                bent = zip(strain, cable.arm[p], cable.rest[p], strict=False)
                parts.append(-sum((float(y) * (k - float(rest)) for k, y, rest in bent), start=ca.DM(0)))
            length = ca.sum1(ca.vertcat(*parts))
            tension = inputs[cable.first]
            if cable.stiffness is not None:
                tension = ca.fmin(ca.fmax(cable.stiffness * (length + tension), 0.0), min(cable.limit, 1e300))
            shares = cable_shares(cable, strains)
            total = total - tension * ca.jtimes(ca.vertcat(*parts), q, shares, True)
        return total

    def _pair_damping(self, p: int, i: int) -> Expression:
        """Return c of strain i of a pair: (3) of `viscosity`, where r = (fraction/factor)/Σ(fraction/factor)."""
        parts, compliance, total = self._parts, 0.0, 0.0
        for edge, fraction in zip(
            parts.rods.pair[p].tolist(), parts.compliance_fractions[p, :, i], strict=True
        ):
            factor = self._edge_factor(edge, i)
            compliance = compliance + fraction / factor
            total = total + self._viscosity[edge] * parts.retardation[edge, i] * fraction / factor**2
        return parts.rods.pair_stiffness[p, i] * total / compliance**2

    def _pair_strains(self, q: Expression, pairs: Sequence[int]) -> list[tuple[Expression, ...]]:
        """Return k₁, k₂, τ, or k in the plane, of pairs."""
        planar, edges = self._parts.axes.shape[1] == 2, range(len(self._parts.rods.length))
        frames = [self._tangent(q, j)[0] if planar else self._directors(q, j) for j in edges] if pairs else []
        return [
            self._planar_strains(frames, p) if planar else self._spatial_strains(q, frames, p) for p in pairs
        ]

    def _edge_factor(self, edge: int, i: int) -> Expression:
        """Return the factor of an edge's stiffness against strain i."""
        return self._axial.get(edge, 1.0) * (self._torsion.get(edge, 1.0) if i == 2 else 1.0)

    def _stiffness_factor(self, p: int, i: int) -> Expression:
        """Return the stiffness factor of strain i of a pair: (2) of `materials`."""
        compliance, changed = 0.0, False
        for edge, fraction in zip(
            self._parts.rods.pair[p].tolist(), self._parts.compliance_fractions[p, :, i], strict=True
        ):
            scale = self._edge_factor(edge, i)
            changed = changed or edge in self._axial or (i == 2 and edge in self._torsion)
            compliance = compliance + fraction / scale
        return 1.0 / compliance if changed else 1.0

    def _planar_strains(self, frames: Sequence[Expression], p: int) -> tuple[Expression, ...]:
        """Return k of a planar pair."""
        (e, f), (se, sf) = self._parts.rods.pair[p], self._parts.rods.sign[p]
        te, tf = se * frames[e], sf * frames[f]
        return (2.0 * (te[1] * tf[0] - te[0] * tf[1]) / (1.0 + ca.dot(te, tf)),)

    def _spatial_strains(self, q: Expression, frames: Sequence[Expression], p: int) -> tuple[Expression, ...]:
        """Return k₁, k₂, τ of a pair."""
        rods = self._parts.rods
        (e, f), (se, sf), (c, d) = rods.pair[p], rods.sign[p], rods.phase[p]
        m1e, m2e, te = frames[e][:, 0], se * frames[e][:, 1], se * frames[e][:, 2]
        m1f, m2f, tf = frames[f][:, 0], sf * frames[f][:, 1], sf * frames[f][:, 2]
        m1f, m2f = c * m1f + d * m2f, c * m2f - d * m1f
        kb = 2.0 * ca.cross(te, tf) / (1.0 + ca.dot(te, tf))
        previous = (
            sf * q[int(rods.pair_dofs[p, 3])]
            - se * q[int(rods.pair_dofs[p, 1])]
            + self._parts.aux[6 * len(rods.length) + p]
        )
        u = _transport(te, tf, m1e)
        sine, cosine = ca.dot(ca.cross(u, m1f), tf), ca.dot(u, m1f)
        # subtract `previous` inside atan2, to stay on the branch
        rest = ca.atan2(
            sine * ca.cos(previous) - cosine * ca.sin(previous),
            cosine * ca.cos(previous) + sine * ca.sin(previous),
        )
        return 0.5 * ca.dot(kb, m2e + m2f), -0.5 * ca.dot(kb, m1e + m1f), previous + rest
