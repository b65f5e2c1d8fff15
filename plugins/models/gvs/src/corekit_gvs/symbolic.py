"""A tree's equations as CasADi expressions, for planners (`symbolic`) and estimators (`symbolic-parameters`).

The same sums as in `forward_recursion` and `forces`, with η = (ω, v) of all nodes as expressions of (q, q̇); bias and
generalized forces of wrenches w on the nodes are one forward and one reverse sweep of differentiation,

    η̇ = (∂η/∂q)·q̇,   f = (∂η/∂q̇)ᵀ·w,                                                            (1)

so that energies and forces have as many operations as a tree has nodes, whatever its coordinates; only M needs the
rows ∂η/∂q̇.

Frames of spherical and free joints are those of the rest state.

Bases and wrenches that vary in time are refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit.roles.symbolic import SymbolicParameter
from corekit_gvs.build import Robot
from corekit_gvs.materials import Materials
from corekit_gvs.symbolic_formulas import FUNCTIONS, law_at
from corekit_gvs.symbolic_steps import ball_rotor, ball_torque, exponential_step
from corekit_gvs.tables import (
    BODY_INPUT,
    CHART,
    FIXED,
    MIDPOINT,
    ROOT,
    THREAD,
    WORLD_INPUT,
    WORLD_TABLE,
    WRENCH,
)  # fmt: skip

__all__ = ["SymbolicTree"]

Expression = Any
"""A CasADi SX, MX or DM."""
Wrench = tuple[int, Expression, Expression]
"""A node, and moment and force on it in world axes."""


def _inertia(R: Expression, body: Array) -> tuple[Expression, Expression]:
    """Rotary and translational inertia of a body in world axes, each (3, 3)."""
    return R @ ca.DM(body[:9].reshape(3, 3)) @ R.T, R @ ca.diag(ca.DM(body[9:12])) @ R.T


def _bracket(a: Expression, b: Expression) -> Expression:
    return ca.vertcat(ca.cross(a[:3], b[:3]), ca.cross(a[3:], b[:3]) + ca.cross(a[:3], b[3:]))


@final
class SymbolicTree:
    """Expressions of one tree; built by `GVS.symbolic()`.

    Raises:
        ConfigError: a basis or a distributed wrench that varies in time, a load from Python.
    """

    def __init__(self, robot: Robot, path: str, values: Mapping[str, Expression] | None = None) -> None:
        if robot.varying or robot.state_loads or not all(basis.steady for basis in robot.dependents):
            what = "a basis that varies in time"
            if robot.varying or robot.state_loads:
                what = "a wrench that varies in time" if robot.varying else "a load from Python"
            said = "expressions are of steady bases and wrenches"
            raise ConfigError([Mistake(path, what, said)], "symbolic expressions")
        self._robot, self._path = robot, path
        self._values = dict(values or {})
        own = {law.division for law in robot.laws if not law.holds_rigidity}
        self._materials = Materials(robot.tree, tuple(self._values), own)
        self._inputs = sum(channel.size for channel in robot.acting.channels)
        self._laws = {int(i): (law, k) for law in robot.laws for k, i in enumerate(law.where)}
        self._made: dict[Any, Any] = {}
        self._depending: dict[int, list[tuple[int, Expression]]] = {}

    # — what estimators fit —

    @property
    def parameters(self) -> Mapping[str, SymbolicParameter]:
        """Young's modulus, where it matters, and viscosity of every division whose section is not given."""
        return self._materials.parameters

    def with_parameters(self, values: Mapping[str, Expression]) -> SymbolicTree:
        """The same tree with expressions instead of the options' numbers."""
        return SymbolicTree(self._robot, self._path, {**self._values, **values})

    # — what planners call —

    def mass(self, q: Expression) -> Expression:
        """M, shape (nv, nv)."""
        return self._mass_function()(q)

    def force(self, q: Expression, v: Expression, inputs: Expression) -> Expression:
        """f, shape (nv, 1)."""
        return self._with_values()["force"](q, v, inputs, *self._values.values())

    def kinetic_energy(self, q: Expression, v: Expression) -> Expression:
        """Kinetic energy [J]."""
        return self._with_values()["energy"](q, v, *self._values.values())[0]

    def potential_energy(self, q: Expression) -> Expression:
        """Elastic and gravitational potential [J], heights from the world's origin."""
        still = ca.DM.zeros(self._robot.size)
        return self._with_values()["energy"](q, still, *self._values.values())[1]

    def pose(self, q: Expression, frame: int) -> tuple[Expression, Expression]:
        """World position (3, 1) [m] and rotation (3, 3) of a frame."""
        positions, rotations = self._with_values()["poses"](q)
        return positions[:, frame], rotations[:, 3 * frame : 3 * frame + 3]

    def point(self, q: Expression, frame: int, local: Expression) -> Expression:
        """World position (3, 1) [m] of a point fixed in a frame."""
        position, rotation = self.pose(q, frame)
        return position + rotation @ local

    def point_jacobian(self, q: Expression, frame: int, local: Expression) -> Expression:
        """J of that point, shape (3, nv)."""
        if "rows" not in self._made:
            x, offset = ca.SX.sym("q", self._robot.size), ca.SX.sym("local", 3)
            count = len(self._robot.visible.frames)
            all_rows = [ca.jacobian(self.point(x, k, offset), x) for k in range(count)]
            self._made["rows"] = ca.Function("rows", [x, offset], [ca.vertcat(*all_rows)])
        return self._made["rows"](q, local)[3 * frame : 3 * frame + 3, :]

    def functions(self) -> Mapping[str, Any]:
        """CasADi Functions: mass (q), force (q, v, u), energy (q, v) → (T, V), poses (q) → x (3, f), R (3, 3·f)."""
        if self._values:
            return SymbolicTree(self._robot, self._path).functions()
        return {"mass": self._mass_function(), **self._with_values()}

    def _with_values(self) -> Mapping[str, Any]:
        """Force, energy and poses, with what stands for parameters as further arguments of the first two."""
        if "functions" not in self._made:
            self._made["functions"] = self._build()
        return self._made["functions"]

    def _mass_function(self) -> Any:
        if "mass" not in self._made:
            q, v = ca.SX.sym("q", self._robot.size), ca.SX.sym("v", self._robot.size)
            self._depending = self._dependent_strains(q)
            nodes = self._sweep(q, v)
            tree = self._robot.tree
            moving = [part for node in tree.masses for part in nodes[node][2:]]
            J = ca.jacobian(ca.vertcat(*moving), v) if moving else ca.SX(0, self._robot.size)
            inertia = [
                part
                for node, body in zip(tree.masses, tree.bodies, strict=True)
                for part in _inertia(nodes[node][1], body)
            ]
            mass = (
                ca.diag(ca.DM(self._robot.reals["SPRINGS"][:, 2]))
                + J.T @ ca.diagcat(*inertia, ca.SX(0, 0)) @ J
            )
            for first, *_, armature in self._robot.reals["BALLS"].tolist():
                own = slice(int(first), int(first) + 3)
                mass[own, own] += ball_rotor(q[own], v[own], armature)[0]
            self._made["mass"] = ca.Function("mass", [q], [mass], ["q"], ["M"])
        return self._made["mass"]

    # — the sweep —

    def _build(self) -> dict[str, Any]:
        robot = self._robot
        q, v = ca.SX.sym("q", robot.size), ca.SX.sym("v", robot.size)
        u = ca.SX.sym("u", self._inputs)
        self._depending = self._dependent_strains(q)
        nodes = self._sweep(q, v)
        kinetic, level, wrenches = self._bodies(q, v, nodes)
        applied = self._tensions(q, v, u, nodes)
        elastic, force = self._sections(q, v, applied)
        force = force - ca.DM(robot.reals["SPRINGS"][:, 0]) * q - ca.DM(robot.reals["SPRINGS"][:, 1]) * v
        for first, *d, given, armature in robot.reals["BALLS"].astype(object).tolist():
            own = slice(int(first), int(first) + 3)
            torque = u[int(given) : int(given) + 3] if given >= 0 else ca.SX.zeros(3)
            force[own] += ball_torque(q[own], v[own], d, torque)
            force[own] += ball_rotor(q[own], v[own], armature)[1]
        for first, channel in robot.acting.driven:
            force[first] += u[channel]
        wrenches = [*wrenches, *self._loads(applied, nodes)]
        if wrenches:
            moving = ca.vertcat(*[part for node, *_ in wrenches for part in nodes[node][2:]])
            force += ca.jtimes(
                moving, v, ca.vertcat(*[part for _, *parts in wrenches for part in parts]), True
            )
        frames = [nodes[k] for k in robot.visible.nodes]
        positions = ca.horzcat(*[frame[0] for frame in frames])
        rotations = ca.horzcat(*[frame[1] for frame in frames])
        given = list(self._materials.symbols.values())
        names = [f"p{i}" for i in range(len(given))]
        energies = [kinetic, level + elastic]
        return {
            "force": ca.Function("force", [q, v, u, *given], [force], ["q", "v", "u", *names], ["f"]),
            "energy": ca.Function(
                "energy", [q, v, *given], energies, ["q", "v", *names], ["kinetic", "potential"]
            ),
            "poses": ca.Function("poses", [q], [positions, rotations], ["q"], ["position", "rotation"]),
        }

    def _own(self, point: int, piece: int) -> tuple[Array, slice]:
        """B at a point, (6, own), and the velocities it belongs to."""
        tree = self._robot.tree
        count, first = tree.pieces[piece][1], tree.pieces[piece][3]
        return tree.bases[point].reshape(6, count), slice(first, first + count)

    def _strain(self, point: int, piece: int, q: Expression, v: Expression) -> tuple[Expression, Expression]:
        B, own = self._own(point, piece)
        plain = ca.DM(self._robot.tree.strains[point][:6])
        xi, rate = plain + ca.DM(B) @ q[own], ca.DM(B) @ v[own]
        if point not in self._depending:
            return xi, rate
        further = ca.SX.zeros(6)
        for row, value in self._depending[point]:
            further[row] += value
        return xi + further, rate + ca.jtimes(further, q, v)

    def _dependent_strains(self, q: Expression) -> dict[int, list[tuple[int, Expression]]]:
        """What dependent bases add to ξ, by point."""
        out: dict[int, list[tuple[int, Expression]]] = {}
        for basis in self._robot.dependents:
            own = [q[basis.first + k] for k in range(basis.count)]
            for point, values in zip(basis.points.tolist(), basis.strains_of(own, FUNCTIONS), strict=True):
                out.setdefault(point, []).extend(values)
        return out

    def _sweep(self, q: Expression, v: Expression) -> list[tuple[Expression, ...]]:
        """Position, rotation, ω and velocity of every node."""
        tree = self._robot.tree
        out: list[tuple[Expression, ...]] = []
        for i, (parent, piece, kind, point, *_) in enumerate(tree.nodes):
            if kind == ROOT:
                base = self._robot.reals["WORLD"][3:]
                zero = ca.SX.zeros(3)
                out.append((ca.SX(base[:3]), ca.SX(ca.DM(base[3:].reshape(3, 3))), zero, zero))
                continue
            p, R, w, velocity = out[parent]
            if kind in (FIXED, CHART):
                step = (
                    tree.steps[i][1:] if kind == FIXED else np.concatenate([np.eye(3).ravel(), np.zeros(3)])
                )
                arm = R @ ca.DM(step[9:])
                out.append((p + arm, R @ ca.DM(step[:9].reshape(3, 3)), w, velocity + ca.cross(w, arm)))
                continue
            h = float(tree.steps[i][0])
            xi, rate = self._strain(point, piece, q, v)
            if kind == MIDPOINT:
                omega, turning = h * xi, h * rate
            else:
                after, later = self._strain(point + 1, piece, q, v)
                beta = math.sqrt(3.0) * h * h / 12.0
                omega = 0.5 * h * (xi + after) + beta * _bracket(xi, after)
                turning = 0.5 * h * (rate + later) + beta * (_bracket(rate, after) + _bracket(xi, later))
            E, d, y_w, y_v = exponential_step(omega, turning)
            D = R @ d
            moved = velocity + ca.cross(w, D) + R @ (y_v + ca.cross(y_w, d))
            out.append((p + D, R @ E, w + R @ y_w, moved))
        return out

    def _bodies(
        self, q: Expression, v: Expression, nodes: list[tuple[Expression, ...]]
    ) -> tuple[Expression, Expression, list[Wrench]]:
        """Kinetic and gravitational energy, and the wrenches of inertia, weight and drag."""
        tree, springs = self._robot.tree, self._robot.reals["SPRINGS"]
        gravity = ca.DM(self._robot.reals["WORLD"][:3])
        kinetic = 0.5 * ca.dot(ca.DM(springs[:, 2]) * v, v)
        for first, *_, armature in self._robot.reals["BALLS"].tolist():
            own = slice(int(first), int(first) + 3)
            kinetic += 0.5 * ca.bilin(ball_rotor(q[own], v[own], armature)[0], v[own], v[own])
        level = 0.5 * ca.dot(ca.DM(springs[:, 0]) * q, q)
        wrenches: list[Wrench] = []
        moving = ca.vertcat(*[part for node in tree.masses for part in nodes[node][2:]], ca.SX(0, 1))
        bias = ca.jtimes(moving, q, v)
        for i, (node, body) in enumerate(zip(tree.masses, tree.bodies, strict=True)):
            p, R, w, x = nodes[node]
            alpha, a = bias[6 * i : 6 * i + 3], bias[6 * i + 3 : 6 * i + 6]
            inertia, linear = _inertia(R, body)
            level -= float(body[12]) * ca.dot(gravity, p)
            spin, flow = inertia @ w, linear @ x
            kinetic += 0.5 * (ca.dot(w, spin) + ca.dot(x, flow))
            moment = inertia @ alpha + ca.cross(w, spin) + ca.cross(x, flow)
            push = linear @ (a - ca.cross(w, x)) + ca.cross(w, flow) - float(body[12]) * gravity
            if np.any(body[13:]):
                speed = ca.sqrt(ca.dot(x, x))
                moment += speed * (R @ ca.diag(ca.DM(body[13:16])) @ R.T @ w)
                push += speed * (R @ ca.DM(body[16:25].reshape(3, 3)) @ R.T @ x)
            wrenches.append((node, -moment, -push))
        return kinetic, level, wrenches

    def _tensions(
        self, q: Expression, v: Expression, u: Expression, nodes: list[tuple[Expression, ...]]
    ) -> Expression:
        """The inputs with tensions in place of lengths: (1) of `length_drives`."""
        acting, tree = self._robot.acting, self._robot.tree
        rows = [u[k] for k in range(self._inputs)]
        for drive in acting.length_drives:
            length = -drive.rest
            for where, index, kind, action in acting.actuators:
                if index == drive.channel and kind == THREAD:
                    row = tree.quadrature[where]
                    xi, _ = self._strain(row[0], row[1], q, v)
                    tau = ca.cross(xi[:3], ca.DM(action[:3])) + xi[3:] + ca.DM(action[3:])
                    length = length + float(tree.sections[where][0]) * ca.sqrt(ca.dot(tau, tau))
            for (one, two, channel), ends in zip(acting.tendons, acting.ends, strict=True):
                if channel == drive.channel:
                    chord = nodes[two][0] + nodes[two][1] @ ca.DM(ends[3:])
                    chord = chord - nodes[one][0] - nodes[one][1] @ ca.DM(ends[:3])
                    length = length + ca.sqrt(ca.dot(chord, chord))
            tension = ca.fmax(drive.stiffness * (length + u[drive.channel]), 0.0)
            rows[drive.channel] = tension if math.isinf(drive.limit) else ca.fmin(tension, drive.limit)
        return ca.vertcat(*rows)

    def _sections(self, q: Expression, v: Expression, u: Expression) -> tuple[Expression, Expression]:
        """Elastic energy, and what sections, threads and chambers give to f."""
        tree = self._robot.tree
        elastic, force = ca.SX(0.0), ca.SX.zeros(self._robot.size)
        shares: dict[tuple[int, int], Any] = {}
        for each in self._robot.acting.frictions:
            at = [tree.quadrature[i] for i in each.where]
            rubbed = [self._strain(row[0], row[1], q, v)[0] for row in at]
            shares |= {
                (each.channel, int(i)): g for i, g in zip(each.where, each.shares_of(rubbed, ca), strict=True)
            }
        acting: dict[int, list[tuple[int, int, Array]]] = {}
        for where, index, kind, action in self._robot.acting.actuators:
            acting.setdefault(where, []).append((index, kind, action))
        for i, (row, section) in enumerate(zip(tree.quadrature, tree.sections, strict=True)):
            B, own = self._own(row[0], row[1])
            xi, rate = self._strain(row[0], row[1], q, v)
            away = xi - ca.DM(section[13:19])
            weight = float(section[0])
            rigidity = self._materials.elastic(i, section[1:7])
            energy, stress = law_at(self._laws, i, away, rigidity)
            elastic += weight * energy
            stress = stress + self._materials.viscous(i, section[7:13], section[1:7]) * rate
            for index, kind, action in acting.get(i, []):
                amount = 1.0 if index < 0 else u[index]
                if kind == THREAD:
                    d = ca.DM(action[:3])
                    tau = ca.cross(xi[:3], d) + xi[3:] + ca.DM(action[3:])
                    along = tau / ca.sqrt(ca.dot(tau, tau))
                    amount = amount * shares.get((index, i), 1.0)
                    stress += amount * ca.vertcat(ca.cross(d, along), along)
                elif kind == WRENCH:
                    stress -= amount * ca.DM(action)
            slope = ca.DM(B) if row[0] not in self._depending else ca.jacobian(xi, q)[:, own]
            force[own] -= weight * (slope.T @ stress)
        return elastic, force

    def _loads(self, u: Expression, nodes: list[tuple[Expression, ...]]) -> list[Wrench]:
        """The wrenches of loads and tendons."""
        acting = self._robot.acting
        out: list[Wrench] = []
        for (node, first, kind), wrench in zip(acting.loads, acting.wrenches, strict=True):
            R = nodes[node][1]
            if kind in (WORLD_INPUT, BODY_INPUT):
                given = u[first : first + 6]
            else:
                given = ca.DM(wrench[:6]) * (1.0 if first < 0 else u[first])
            turned = kind not in (WORLD_INPUT, WORLD_TABLE)
            moment, pull = (R @ given[:3], R @ given[3:]) if turned else (given[:3], given[3:])
            out.append((node, moment + ca.cross(R @ ca.DM(wrench[6:]), pull), pull))
        for (one, two, channel), ends in zip(acting.tendons, acting.ends, strict=True):
            arm, other = nodes[one][1] @ ca.DM(ends[:3]), nodes[two][1] @ ca.DM(ends[3:])
            chord = nodes[two][0] + other - nodes[one][0] - arm
            pull = u[channel] * chord / ca.sqrt(ca.dot(chord, chord))
            out += [(one, ca.cross(arm, pull), pull), (two, -ca.cross(other, pull), -pull)]
        return out
