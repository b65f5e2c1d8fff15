"""The arm's equations as CasADi expressions, for planners and estimators: ability `symbolic`.

Every method gets and returns CasADi expressions (SX, MX or DM): q, v of shape (n, 1), inputs of shape (m, 1). The
entire functions are polynomials after a fixed number of argument quarterings, so that derivatives of any order are
right at the straight pose:

    S_1(4u) = S_0·S_1,   S_2(4u) = ½·S_1(u)²,   S_0 = 1 − u·S_2                            (1)

Kinetic energy, forces and rows follow from the positions by differentiation, not by copying the compiled kernels;
tests hold both against each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import casadi as ca
import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.roles.symbolic import SymbolicParameter
from corekit_pcc.arm import Arm, SectionMatrix
from corekit_pcc.cables import SMOOTHING, Cables
from corekit_pcc.stumpff import series_coefficients

__all__ = ["SymbolicArm"]

Expression = Any
"""A CasADi SX, MX or DM."""

_QUARTERINGS = 2
_TERMS = 12


def _series(u: Expression, n: int) -> Expression:
    """S_n(u) by Horner's rule; exact to 1e-13 for u ≤ π² (θ ≤ 4π after the quarterings)."""
    coefficients = series_coefficients(n, _TERMS)
    value = float(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * u + float(coefficient)
    return value


def _entire(u: Expression) -> tuple[Expression, Expression]:
    """S_1(u) and S_2(u): equation (1)."""
    u = u / 4.0**_QUARTERINGS
    s1, s2 = _series(u, 1), _series(u, 2)
    for _ in range(_QUARTERINGS):
        s0 = 1.0 - u * s2
        s2 = 0.5 * s1 * s1
        s1 = s0 * s1
        u = 4.0 * u
    return s1, s2


@final
class SymbolicArm:
    """Expressions of one arm; built by `PCC.symbolic()`.

    Attributes:
        coordinates, inputs: n and m, the lengths of q and of the input vector.
        frames: number of frames, in the order of the model's description.
    """

    def __init__(
        self,
        arm: Arm,
        section: IntArray,
        place: Array,
        *,
        coriolis: bool,
        matrices: tuple[SectionMatrix, SectionMatrix],
        cables: Cables,
        values: Mapping[str, Expression] | None = None,
    ) -> None:
        self._arm = arm
        self._section, self._place = section, place
        self._coriolis = coriolis
        self._matrices, self._cables = matrices, cables
        self._values = dict(values or {})
        self.coordinates = 3 * arm.length.size
        self.inputs = len(arm.chamber) + len(cables.friction)
        self.frames = len(section)

    @property
    def parameters(self) -> Mapping[str, SymbolicParameter]:
        """Stiffness and damping of a chamber, or Young's modulus and viscosity, where all sections have the same."""
        alike = [each for each in self._matrices if len(set(each.values)) == 1]
        return {each.option: SymbolicParameter(each.unit, each.values[0]) for each in alike}

    def with_parameters(self, values: Mapping[str, Expression]) -> SymbolicArm:
        """The same arm with expressions instead of the options' numbers."""
        given = {**self._values, **values}
        return SymbolicArm(
            self._arm,
            self._section,
            self._place,
            coriolis=self._coriolis,
            matrices=self._matrices,
            cables=self._cables,
            values=given,
        )

    def _of_section(self, matrix: SectionMatrix, i: int) -> Expression:
        """K or D of a section, with the option's value or with what was given."""
        return self._values.get(matrix.option, matrix.values[i]) * ca.DM(matrix.per_unit[i])

    def mass(self, q: Expression) -> Expression:
        """M(q), shape (n, n): Σ m·JᵀJ over `particles`."""
        positions, masses = self.particles(q)
        jacobian = ca.jacobian(positions, q)
        weights = np.repeat(masses, 3)
        return jacobian.T @ (weights * jacobian)

    def kinetic_energy(self, q: Expression, v: Expression) -> Expression:
        """½·vᵀM(q)v [J]."""
        positions, masses = self.particles(q)
        speed = ca.jtimes(positions, q, v)
        return 0.5 * ca.dot(np.repeat(masses, 3) * speed, speed)

    def potential_energy(self, q: Expression) -> Expression:
        """Elastic and gravitational potential [J], heights from the world's origin."""
        nodes, masses = self._nodes(q)
        arm = self._arm
        elastic = sum(
            (
                0.5 * ca.dot(x, self._of_section(self._matrices[0], i) @ x)
                for i, x in enumerate(self._split(q))
            ),
            start=ca.DM(0),
        )
        weight = np.array([mass * arm.gravity for mass in masses]).reshape(-1)
        return elastic - ca.dot(weight, ca.vertcat(*[arm.base_position + node for node in nodes]))

    def force(self, q: Expression, v: Expression, inputs: Expression) -> Expression:
        """f(q, v, u) [N], shape (n, 1), with the options of the model."""
        arm = self._arm
        rows = []
        for i, velocity in enumerate(self._split(v)):
            first, last = int(arm.chamber_start[i]), int(arm.chamber_start[i + 1])
            drag = self._of_section(self._matrices[1], i) @ velocity
            # of one input alone CasADi makes an empty row, not an empty column
            push = arm.chamber[first:last].T @ inputs[first:last] if last > first else 0.0
            rows.append(push - drag)
        force = ca.vertcat(*rows) - ca.gradient(self.potential_energy(q), q) + self._cable_force(q, inputs)
        if self._coriolis:
            positions, masses = self.particles(q)
            acceleration = ca.jtimes(ca.jtimes(positions, q, v), q, v)
            weighted = np.repeat(masses, 3) * acceleration
            force -= ca.jtimes(positions, q, weighted, True)
        return force

    def _cable_force(self, q: Expression, inputs: Expression) -> Expression:
        """(2) of `cables` [N]; a slack cable has no tension."""
        cables, total = self._cables, ca.DM.zeros(self.coordinates)
        for c, mu in enumerate(cables.friction):
            tension, slope = inputs[int(cables.first[0]) + c], cables.slope[c].reshape(-1)
            if cables.stiffness[c]:
                stretched = float(cables.stiffness[c]) * (ca.dot(slope, q) + tension)
                tension = ca.fmax(stretched, 0.0)
                tension = tension if np.isinf(cables.limit[c]) else ca.fmin(tension, float(cables.limit[c]))
            rows, turned = [], 0.0
            for x, to_bend, along in zip(self._split(q), cables.to_bend, cables.slope[c], strict=True):
                bend = ca.DM(to_bend) @ x
                size = ca.sqrt(ca.dot(bend, bend) + SMOOTHING**2)
                turn = float(mu) * (size - SMOOTHING)
                small = 1.0 - turn * (0.5 - turn * (1.0 / 6.0 - turn / 24.0))
                mean = ca.if_else(turn < 1e-3, small, -ca.expm1(-turn) / ca.fmax(turn, 1e-3))
                rows.append(ca.exp(-turned) * mean * along)
                turned = turned + turn
            total = total - tension * ca.vertcat(*rows)
        return total

    def pose(self, q: Expression, frame: int) -> tuple[Expression, Expression]:
        """World position (3, 1) [m] and rotation (3, 3) of a frame of the description."""
        i = int(self._section[frame])
        start, turn = self._starts(q)[i]
        position, rotation = self._local(self._arcs(q)[i], float(self._place[frame]))
        return self._arm.base_position + start + turn @ position, turn @ rotation

    def point(self, q: Expression, frame: int, local: Expression) -> Expression:
        """World position (3, 1) [m] of the point `local` (3, 1) [m] fixed in a frame."""
        position, rotation = self.pose(q, frame)
        return position + rotation @ local

    def point_jacobian(self, q: Expression, frame: int, local: Expression) -> Expression:
        """J of that point, shape (3, n): ẋ = J·v."""
        return ca.jacobian(self.point(q, frame, local), q)

    def particles(self, q: Expression) -> tuple[Expression, Array]:
        """What carries inertia: stacked places (3k, 1) [m] and their k masses [kg].

        The Gauss nodes from the base's origin, then the rotary "particles" of `dynamics`, equation (3), which are
        axes with inertia in place of positions with mass.
        """
        nodes, masses = self._nodes(q)
        arm, arcs, starts = self._arm, self._arcs(q), self._starts(q)
        for i, place, inertia in zip(
            arm.turning_section, arm.turning_place, arm.turning_inertia, strict=True
        ):
            rotation = starts[i][1] @ self._local(arcs[i], float(place))[1]
            nodes += [rotation[:, 0], rotation[:, 1]]
            masses += [float(inertia)] * 2
        return ca.vertcat(*nodes), np.array(masses)

    def functions(self) -> dict[str, Any]:
        """CasADi Functions by name: mass (q), force (q, v, u), energy (q, v) → (T, V), poses (q) → p (3, f), R."""
        q, v = ca.SX.sym("q", self.coordinates), ca.SX.sym("v", self.coordinates)
        u = ca.SX.sym("u", self.inputs)
        poses = [self.pose(q, frame) for frame in range(self.frames)]
        positions = ca.horzcat(*[position for position, _ in poses])
        rotations = ca.horzcat(*[rotation for _, rotation in poses])
        energies = [self.kinetic_energy(q, v), self.potential_energy(q)]
        return {
            "mass": ca.Function("mass", [q], [self.mass(q)], ["q"], ["M"]),
            "force": ca.Function("force", [q, v, u], [self.force(q, v, u)], ["q", "v", "u"], ["f"]),
            "energy": ca.Function("energy", [q, v], energies, ["q", "v"], ["kinetic", "potential"]),
            "poses": ca.Function("poses", [q], [positions, rotations], ["q"], ["position", "rotation"]),
        }

    def _split(self, x: Expression) -> list[Expression]:
        return [x[3 * i : 3 * i + 3] for i in range(self._arm.length.size)]

    def _arcs(self, q: Expression) -> list[Expression]:
        """(L, b_x, b_y) of each section."""
        arm = self._arm
        return [np.array([arm.length[i], 0.0, 0.0]) + arm.to_arc[i] @ x for i, x in enumerate(self._split(q))]

    def _local(self, arc: Expression, s: float) -> tuple[Expression, Expression]:
        """p and R of equations (1) and (2) in `section`."""
        x, y, length = s * arc[1], s * arc[2], s * arc[0]
        s1, s2 = _entire(x * x + y * y)
        position = length * ca.vertcat(s2 * x, s2 * y, s1)
        rotation = ca.vertcat(
            ca.horzcat(1.0 - s2 * x * x, -s2 * x * y, s1 * x),
            ca.horzcat(-s2 * x * y, 1.0 - s2 * y * y, s1 * y),
            ca.horzcat(-s1 * x, -s1 * y, 1.0 - s2 * (x * x + y * y)),
        )
        return position, rotation

    def _starts(self, q: Expression) -> list[tuple[Expression, Expression]]:
        """x_i from the base's origin and R_i of every section: equation (1) of `chain`."""
        start, turn = ca.DM.zeros(3), ca.DM(self._arm.base_rotation)
        starts = [(start, turn)]
        for i, arc in enumerate(self._arcs(q)):
            position, rotation = self._local(arc, 1.0)
            start = start + turn @ position
            turn = turn @ rotation
            start = start + self._arm.plate[i] * turn[:, 2]
            starts.append((start, turn))
        return starts

    def _nodes(self, q: Expression) -> tuple[list[Expression], list[float]]:
        """Gauss nodes from the base's origin, and their masses."""
        arcs, starts = self._arcs(q), self._starts(q)
        nodes, masses = [], []
        for i, arc in enumerate(arcs):
            start, turn = starts[i]
            for node, mass in zip(self._arm.node, self._arm.node_mass[i], strict=True):
                nodes.append(start + turn @ self._local(arc, float(node))[0])
                masses.append(float(mass))
        return nodes, masses
