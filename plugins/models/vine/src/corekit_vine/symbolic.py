"""The robot's equations as CasADi expressions, for planners and estimators: ability `symbolic`.

Arguments and results are CasADi expressions (SX, MX or DM): q, v of shape (3n, 1), inputs (m, 1). CasADi differentiates
the energy for the forces and the constraints for their Jacobian, so tests can compare them with the compiled kernels.
Options for estimators may be symbols, see `parameters`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, final

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit.roles.symbolic import SymbolicParameter
from corekit_vine.chain import (
    ACTUATOR,
    COMPLIANCE,
    CURVATURE,
    DAMPING,
    EXTENSIBILITY,
    GRAVITY_X,
    GRAVITY_Y,
    HEADING,
    HEADING_RATES,
    LEAST_LENGTH,
    LINE_MASS,
    MAX_FORCE,
    MEAN_FLOW,
    ONSET,
    PRESSURE_DRIVEN,
    PUBLISHED,
    RATE_COUNT,
    RIGIDITY,
    ROWS_PER_LINK,
    SQUARE_FLOW,
    STEP_SIZE,
    TIP_FLOW,
    YIELD,
    Chain,
    pin_spacing,
)
from corekit_vine.config import VineConfig
from corekit_vine.frames import frame_offset
from corekit_vine.growth import growing_link
from corekit_vine.inertia import compute_body_inertia
from corekit_vine.pin_values import entry_name, is_matrix, pin_entries

__all__ = ["SymbolicVine"]

Expression = Any
"""A CasADi SX, MX or DM."""

_NEWTON_STEPS = 14


def _wrinkle_angle(ratio: Expression) -> Expression:
    """Return w of `wrinkling.wrinkle_angle` for ratio > 1, by unrolled Newton steps."""
    target = math.pi / ratio
    near_onset = ca.sqrt(2.0 * (1.0 - 1.0 / ratio))
    w = ca.if_else(ratio > 3.0, math.pi - (3.0 * target) ** (1.0 / 3.0), near_onset)
    for _ in range(_NEWTON_STEPS):
        value = (math.pi - w) * ca.cos(w) + ca.sin(w) - target
        w = w + value / ((math.pi - w) * ca.sin(w))
    return w


@final
class SymbolicVine:
    """Expressions of one robot, from `Vine.symbolic()`.

    Attributes:
        coordinates, inputs: 3n and m, the lengths of q and of the input vector.
        frames: number of frames, in the order of the model.
        rows: number of constraints.
    """

    def __init__(
        self, chain: Chain, plane: Array, config: VineConfig, values: Mapping[str, Expression] | None = None
    ) -> None:
        self._scalars, lengths, self._pins = self._chain = chain
        self._lengths = lengths.tolist()
        self._half = [0.25 * length for length in self._lengths]
        self._spacing = [float(pin_spacing(lengths, j)) for j in range(len(lengths))]
        self._body = compute_body_inertia(config)
        self._config = config
        self._values = dict(values or {})
        self._plane = plane
        self._links = len(self._pins)
        self.coordinates = 6 * self._links
        self._columns = self._pin_expressions()
        self._mass_diagonal = self._mass_expressions()
        heading = 1 + int(self._scalars[HEADING_RATES])
        self.inputs = int(self._scalars[RATE_COUNT]) + heading + int(self._pins[:, ACTUATOR].max()) + 3
        self.frames = self.coordinates // 3 + 1
        self.rows = self._links * int(self._scalars[ROWS_PER_LINK])

    @property
    def parameters(self) -> Mapping[str, SymbolicParameter]:
        """Stiffness and damping of the joints or of the tube, as in the options; mass and inertia of a body.

        The stiffness is no parameter if the wall can wrinkle, because the onset of wrinkling depends on it.
        """
        config = self._config
        expressions = {
            "body_mass": SymbolicParameter("kg", self._body[0]),
            "body_inertia": SymbolicParameter("kg·m²", self._body[1]),
        }
        if config.moment_law != "wrinkling" and config.joint_stiffness is None:
            expressions["bending_stiffness"] = SymbolicParameter("N·m²", float(self._pins[0, RIGIDITY]))
        if config.bending_damping is not None:
            expressions["bending_damping"] = SymbolicParameter("N·m²·s", config.bending_damping)
        for option, unit in (("joint_stiffness", "N·m/rad"), ("joint_damping", "N·m·s/rad")):
            values = getattr(config, option)
            if values is not None:
                expressions |= {
                    name: SymbolicParameter(unit, value)
                    for name, value in pin_entries(option, values).items()
                }
        return expressions

    def with_parameters(self, values: Mapping[str, Expression]) -> SymbolicVine:
        """Return the same robot with expressions instead of the options' numbers."""
        return SymbolicVine(self._chain, self._plane, self._config, {**self._values, **values})

    def _pin_expressions(self) -> dict[int, list[Expression]]:
        """Return K and C of the pins, by the columns of what they come from."""
        expressions: dict[int, list[Expression]] = {}
        spacing = self._spacing
        for column, of_tube, of_joint in (
            (RIGIDITY, "bending_stiffness", "joint_stiffness"),
            (DAMPING, "bending_damping", "joint_damping"),
        ):
            if of_tube in self._values:
                expressions[column] = [self._values[of_tube] / D for D in spacing]
            elif getattr(self._config, of_joint) is not None:
                own = [self._config.spacing * (0.5 if j == 0 else 1.0) for j in range(len(spacing))]
                expressions[column] = [
                    self._joint_value(of_joint, j, j) * (at / D)
                    for j, (at, D) in enumerate(zip(own, spacing, strict=True))
                ]
            else:
                expressions[column] = (self._pins[:, column] / spacing).tolist()
        return expressions

    def _joint_value(self, option: str, j: int, k: int) -> Expression:
        """Return the entry (j, k ≤ j) of K or C: what stands for it, or the number of the option."""
        given = getattr(self._config, option)
        name = entry_name(option, given, j, k)
        return self._values.get(name, pin_entries(option, given)[name])

    def _couplings(self, option: str) -> list[tuple[int, int, Expression]]:
        """Return (j, k, entry) of K or C below its diagonal."""
        pins = self._links if is_matrix(getattr(self._config, option)) else 0
        return [(j, k, self._joint_value(option, j, k)) for j in range(pins) for k in range(j)]

    def _mass_expressions(self) -> Expression:
        """Return the diagonal of M; an absent inertia scales with the mass."""
        own_mass, own_inertia = self._body
        mass = self._values.get("body_mass", own_mass)
        ratio = mass / own_mass if self._config.body_inertia is None else 1.0
        inertia = self._values.get("body_inertia", own_inertia * ratio)
        body, entries = 2.0 * self._config.half_length, []
        for length in self._lengths:
            each = mass * (0.5 * length / body)
            across = each * (length**2 / 48.0 + inertia / mass - body**2 / 12.0)
            entries += [each, each, across] * 2
        return ca.vertcat(*entries)

    def mass(self, q: Expression) -> Expression:
        """Return the constant M, shape (3n, 3n)."""
        return ca.diag(self._mass_diagonal) + 0.0 * q[0] * ca.DM.eye(self.coordinates)

    def kinetic_energy(self, q: Expression, v: Expression) -> Expression:
        """Return ½·vᵀM·v [J]."""
        return 0.5 * ca.dot(self._mass_diagonal * v, v)

    def potential_energy(
        self, q: Expression, inputs: Expression | None = None, stiffness: Expression | None = None
    ) -> Expression:
        """Return the elastic and gravitational potential [J]; absent inputs are zero.

        Args:
            stiffness: K of the pins [N·m/rad], (1, 1) or (N, 1); replaces that of the options.
        """
        u = ca.DM.zeros(self.inputs) if inputs is None else inputs
        weight = np.tile([self._scalars[GRAVITY_X], self._scalars[GRAVITY_Y], 0.0], self.coordinates // 3)
        potential = -ca.dot(self._mass_diagonal * ca.DM(weight), q)
        angles = self.pin_angles(q, u)
        for j in range(self._links):
            K = self._pin_value(stiffness, RIGIDITY, j)
            potential += self._bend_energy(angles[j], K, j, u)
        for j, k, K in [] if stiffness is not None else self._couplings("joint_stiffness"):
            potential += K * angles[j] * angles[k]
        return potential

    def _bend_energy(self, angle: Expression, K: Expression, j: int, inputs: Expression) -> Expression:
        spacing, linear = self._spacing[j], 0.5 * K * angle**2
        onset: Any = float(self._pins[j, ONSET])
        if not math.isfinite(onset):
            return linear
        EI, size, carries = K * spacing, ca.fabs(angle) / spacing, 1.0
        if self._scalars[PRESSURE_DRIVEN] > 0.0:
            onset, carries = onset * ca.if_else(inputs[0] > 0.0, inputs[0], 1.0), inputs[0] > 0.0
        # the unused branch of if_else must be finite, with its derivatives
        safe = ca.if_else(size > onset, size, 2.0 * onset)
        w = _wrinkle_angle(safe / onset)
        c = ca.cos(w)
        wall = EI / math.pi * safe**2 * ((math.pi - w) * (c * c + 0.5) + 0.75 * ca.sin(2.0 * w))
        bent = ca.if_else(
            size > onset, spacing * (wall - 2.0 * EI * onset * safe * c + EI * onset**2), linear
        )
        return carries * bent

    def _pin_value(self, values: Expression | None, column: int, j: int) -> Expression:
        """Return the value for pin j: from `values` (one, or one per pin) or from the options."""
        if values is None:
            return self._columns[column][j]
        return values[j] if values.shape[0] > 1 else values

    def pin_angles(self, q: Expression, inputs: Expression) -> Expression:
        """Return θ − θ* of every pin [rad], shape (N, 1)."""
        heading = int(self._scalars[RATE_COUNT])
        angles = []
        for j in range(self._links):
            before = self._scalars[HEADING] + inputs[heading] if j == 0 else q[6 * j - 1]
            angle = q[6 * j + 2] - before - self._spacing[j] * float(self._pins[j, CURVATURE])
            actuator = int(self._pins[j, ACTUATOR])
            if actuator >= 0:
                angle -= self._spacing[j] * inputs[heading + 1 + int(self._scalars[HEADING_RATES]) + actuator]
            angles.append(angle)
        return ca.vertcat(*angles)

    def force(
        self,
        q: Expression,
        v: Expression,
        inputs: Expression,
        stiffness: Expression | None = None,
        damping: Expression | None = None,
    ) -> Expression:
        """Return f(q, v, u) [N, N·m], shape (3n, 1); stiffness and damping replace those of the options."""
        force = -ca.gradient(self.potential_energy(q, inputs, stiffness), q)
        heading = int(self._scalars[RATE_COUNT])
        zero_inputs = ca.DM.zeros(self.inputs)
        rates = ca.jtimes(self.pin_angles(q, zero_inputs), q, v)
        if self._scalars[HEADING_RATES] > 0.0:
            rates[0] -= inputs[heading + 1]
        drag = [self._pin_value(damping, DAMPING, j) * rates[j] for j in range(self._links)]
        for j, k, C in [] if damping is not None else self._couplings("joint_damping"):
            drag[j] += C * rates[k]
            drag[k] += C * rates[j]
        force -= ca.jtimes(self.pin_angles(q, zero_inputs), q, ca.vertcat(*drag), True)
        tip, load = self._end(q, self.coordinates // 3 - 1), inputs[self.inputs - 2 :]
        return force + ca.jtimes(tip, q, load, True) + self._matter(inputs)

    def _matter(self, inputs: Expression) -> Expression:
        """Return the force of `matter` at the start, where nothing turns and no load is overcome, shape (3n, 1)."""
        can_slow = self._scalars[COMPLIANCE] > 0.0 or math.isfinite(self._scalars[MAX_FORCE])
        if self._config.form == "telescope" or can_slow:
            return ca.DM.zeros(self.coordinates)
        mean, square, at_tip = (float(self._scalars[k]) for k in (MEAN_FLOW, SQUARE_FLOW, TIP_FLOW))
        least = (float(self._scalars[LEAST_LENGTH]) - ca.DM(self._lengths)) / float(self._scalars[STEP_SIZE])
        rates = self.target_rates(inputs)
        rates = ca.if_else(rates < 0.0, ca.fmax(rates, ca.fmin(least, 0.0)), rates)
        total, place = ca.sum1(rates), 0.0
        angles = self._config.heading + np.cumsum(self._pins[:, CURVATURE] * np.array(self._spacing))
        entries: list[Expression] = []
        for j, angle in enumerate(angles.tolist()):
            axis = float(self._scalars[LINE_MASS]) * ca.DM([math.cos(angle), math.sin(angle), 0.0])
            entries.append(-((square * total - 2.0 * mean * place) * total + place**2) * axis)
            place += rates[j]
            flux = (square * total - 2.0 * mean * place) * total + place**2
            entries.append((at_tip * total**2 if j == self._links - 1 else flux) * axis)
        return ca.vertcat(*entries)

    def constraint(self, q: Expression) -> Expression:
        """Return c(q) of the pins and telescoping joints [m or rad], four per link, shape (4N, 1)."""
        entries: list[Expression] = []
        published = self._scalars[PUBLISHED] > 0.0
        end = ca.DM.zeros(2)
        for j in range(self._links):
            near, far = q[6 * j : 6 * j + 3], q[6 * j + 3 : 6 * j + 6]
            axis = ca.vertcat(ca.cos(near[2]), ca.sin(near[2]))
            entries.append(near[:2] - self._half[j] * axis - end)
            h = far[:2] - near[:2]
            entries.append(axis[0] * h[1] - axis[1] * h[0])
            turned = ca.cos(far[2]) * h[1] - ca.sin(far[2]) * h[0]
            entries.append(turned if published else far[2] - near[2])
            end = self._end(q, 2 * j + 1)
        return ca.vertcat(*entries)

    def growth(self, q: Expression, v: Expression) -> Expression:
        """Return g(q, v), the rates of the links' lengths [m/s], shape (N, 1)."""
        return ca.jtimes(self.extensions(q), q, v)

    def extensions(self, q: Expression) -> Expression:
        """Return s, the distance between the two bodies of every link [m], shape (N, 1)."""
        lengths: list[Expression] = []
        for j in range(self._links):
            near, far = q[6 * j : 6 * j + 3], q[6 * j + 3 : 6 * j + 6]
            h = far[:2] - near[:2]
            axial = ca.cos(near[2]) * h[0] + ca.sin(near[2]) * h[1]
            lengths.append(ca.sqrt(ca.dot(h, h)) if self._scalars[PUBLISHED] > 0.0 else axial)
        return ca.vertcat(*lengths)

    def target_rates(self, inputs: Expression) -> Expression:
        """Return u, the target growth rates without limits of retraction [m/s], shape (N, 1)."""
        if self._scalars[RATE_COUNT] > 1:
            return inputs[: self._links]
        common = inputs[0] / self._links
        if self._scalars[PRESSURE_DRIVEN] > 0.0:
            common = float(self._scalars[EXTENSIBILITY]) * ca.fmax(
                inputs[0] - float(self._scalars[YIELD]), 0.0
            )
            common = common / self._links
        if self._config.form == "everting":
            return self._tip_rates(self._links * common)
        return ca.repmat(common, self._links, 1)

    def _tip_rates(self, rate: Expression) -> Expression:
        """Return the rates of an everting robot as long as `length`, of which one link grows or retracts."""
        lengths = np.array(self._lengths)
        grows, shrinks = (growing_link(self._scalars, lengths, self._links, sign) for sign in (1.0, -1.0))
        each = [
            ca.fmax(rate, 0.0) * float(j == grows) + ca.fmin(rate, 0.0) * float(j == shrinks)
            for j in range(self._links)
        ]
        return ca.vertcat(*each)

    def constraint_jacobian(self, q: Expression, v: Expression) -> Expression:
        """Return J_b of the constraint and growth rows in the order of the model, shape (5N, 3n)."""
        position = ca.jacobian(self.constraint(q), q)
        rate = ca.jacobian(self.growth(q, v), v)
        if self._scalars[PUBLISHED] > 0.0:
            rate = rate + float(self._scalars[STEP_SIZE]) * ca.jacobian(self.growth(q, v), q)
        links = [ca.vertcat(position[4 * j : 4 * j + 4, :], rate[j, :]) for j in range(self._links)]
        return ca.vertcat(*links)

    def constraints(
        self, q: Expression, v: Expression, inputs: Expression
    ) -> tuple[Expression, Expression, Expression]:
        """Return J_b, c and the target rates u with limits of retraction, rows in the order of the model."""
        five, per_link = self.constraint_jacobian(q, v), int(self._scalars[ROWS_PER_LINK])
        position, target = self.constraint(q), self.target_rates(inputs)
        shortest = float(self._scalars[LEAST_LENGTH]) - 2.0 * ca.DM(self._half)
        slowest = ca.fmin((shortest - self.extensions(q)) / float(self._scalars[STEP_SIZE]), 0.0)
        target = ca.if_else(target < 0.0, ca.fmax(target, slowest), target)
        J: list[Expression] = []
        c: list[Expression] = []
        u: list[Expression] = []
        for j in range(self._links):
            J += [five[5 * j : 5 * j + 5, :], *[five[5 * j + 4, :]] * (per_link - 5)]
            c += [position[4 * j : 4 * j + 4], ca.DM.zeros(per_link - 4)]
            u += [ca.DM.zeros(4), target[j], ca.DM.zeros(per_link - 5)]
        return ca.vertcat(*J), ca.vertcat(*c), ca.vertcat(*u)

    def pose(self, q: Expression, frame: int) -> tuple[Expression, Expression]:
        """Return world position (3, 1) [m] and rotation (3, 3) of a frame."""
        origin, first, second, normal = (ca.DM(axis) for axis in self._plane)
        if frame == 0:
            still = 0.0 * q[0]
            return origin + still, ca.horzcat(first, -normal, second) + still
        flat = self._end(q, frame - 1)
        c, s = ca.cos(q[3 * frame - 1]), ca.sin(q[3 * frame - 1])
        position = origin + flat[0] * first + flat[1] * second
        return position, ca.horzcat(c * first + s * second, c * second - s * first, normal)

    def point(self, q: Expression, frame: int, local: Expression) -> Expression:
        """Return the world position (3, 1) [m] of the point `local` (3, 1) [m] fixed in a frame."""
        position, rotation = self.pose(q, frame)
        return position + rotation @ local

    def point_jacobian(self, q: Expression, frame: int, local: Expression) -> Expression:
        """Return J of that point, shape (3, 3n): ẋ = J·v."""
        return ca.jacobian(self.point(q, frame, local), q)

    def functions(self) -> dict[str, Any]:
        """Return CasADi Functions: mass (q), force (q, v, u), energy (q, v) → (T, V), poses (q) → p (3, f), R."""
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

    def _end(self, q: Expression, body: int) -> Expression:
        """Return the frame of a body in the plane, shape (2, 1); that of a link's second body is at its pin."""
        offset = frame_offset(self._scalars, np.array(self._lengths), body)
        angle = q[3 * body + 2]
        return q[3 * body : 3 * body + 2] + offset * ca.vertcat(ca.cos(angle), ca.sin(angle))
