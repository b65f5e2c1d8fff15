"""One step of the horizon as a program with complementarity constraints.

All terms are at the end of the step (implicit Euler); h is the step size, ₋ marks the step before:

    l − l₋ − h·v = 0                                                                             (1)
    M(l)·(v − v₋)/h − f(l, v, τ) − Q = 0                                      dynamic phase only (2)
    I·(ω − ω₋) − h·(Σ torque − d·ω) = 0,   q − exp(h·ω) ⊗ q₋ = 0                                 (3)
    m·(w − w₋) − h·(Σ R·F + m·g − d·w) = 0,   c − c₋ − h·w = 0                                   (4)
    0 ≤ φ ⊥ f_z ≥ 0,   0 ≤ μ·f_z − Σf_t ⊥ γ ≥ 0,   0 ≤ f_t ⊥ Dᵀ·ν_t + γ ≥ 0                      (5)

At the last step the object is within a distance t of its target: the error d has ‖d‖ ≤ t, as

    −t ≤ (‖d‖² − t²)/(2·t) ≤ 0                                                                  (6)

which is smooth and near t the distance beyond it, so that a residual r of (6) means ‖d‖ ≤ t + r. The lower bound always
holds; between two bounds an interior point method finds its way as it does in a box. The error of the centre is
c − c*. That of the orientation is 2·vec(q ⊗ q*⁻¹), whose norm 2·sin(θ/2) grows with the angle θ.

The kinematics of every contact (x, y, R, Ω of `contact`) are variables with their own equations. The rows of contact
are then short and contain no third derivatives of the bodies. The program also has the rows of rolling, φ = 0,
ν_t = 0 and μ·f_z − Σf_t ≥ 0; a search uses either these or (5). A contact that holds is closed by its force where that
is bounded away from 0, φ·f_z ≤ ε; where the force may vanish, φ = 0 takes the place of its first pair.

Source: CUSP, equations (17)–(19).
"""

from __future__ import annotations

import math
from typing import Any, final

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit_mpcc.complementarity.problem import Family, Mpcc, Rows
from corekit_mpcc.config import MpccConfig
from corekit_mpcc.resolved_task import ResolvedTask
from corekit_mpcc.transcription.contact import (
    ContactKinematics,
    ContactTerms,
    compute_contact_kinematics,
    compute_contact_terms,
    friction_directions,
)
from corekit_mpcc.transcription.quaternion import quat_conjugate, quat_exp, quat_product
from corekit_mpcc.transcription.stage_cost import WEIGHTS, stage_cost
from corekit_mpcc.transcription.variables import Block, Blocks

__all__ = ["Stage"]


@final
class Stage:
    """Expressions of one step.

    Args:
        resolved_task: driven bodies, contact shapes, freedom of the object, friction directions, bounds and count of
            steps; all its other values are parameters.
        dynamic: whether the bodies obey (2); otherwise their motion is free.
        lifted: whether contact kinematics are variables; otherwise they follow from the bodies (for certificates).

    Attributes:
        variables, shared: blocks of x and s.
        rows, families: the constraints, physical.
        program: the program over the horizon.
    """

    def __init__(self, resolved_task: ResolvedTask, *, dynamic: bool, lifted: bool = True) -> None:
        task = resolved_task.config
        self.bodies, self.contact_shapes = resolved_task.bodies, resolved_task.contact_shapes
        self.dynamic, self._lifted_states = dynamic, lifted
        self._turns, self._translates = resolved_task.ball.turns, resolved_task.ball.translates
        self._directions = task.directions
        may_vanish = task.bounds.normal_force[0] == 0.0
        self._closed_contacts = tuple(
            shape.name for shape in resolved_task.contact_shapes if shape.holds and may_vanish
        )
        self.variables = Blocks(self._variable_blocks(task))
        self.shared = Blocks(self._parameter_blocks())
        self._angle_tolerance = task.target.angle_tolerance
        self._position_tolerance = task.target.position_tolerance
        self.rows: list[Rows] = []
        self.families: list[Family] = []
        before = {block.name: ca.SX.sym(f"{block.name}_before", block.size) for block in self.variables}
        after = {block.name: ca.SX.sym(block.name, block.size) for block in self.variables}
        shared = {block.name: ca.SX.sym(block.name, block.size) for block in self.shared}
        is_last = ca.SX.sym("last")
        self._add_equations(before, after, shared)
        names = tuple(shape.name for shape in self.contact_shapes)
        self.program = Mpcc(
            x=ca.vertcat(*after.values()),
            before=ca.vertcat(*before.values()),
            shared=ca.vertcat(*shared.values()),
            own=is_last,
            cost=stage_cost(before, after, shared, is_last, names),
            rows=tuple(self.rows),
            families=tuple(self.families),
            low=self.variables.stack("low"),
            high=self.variables.stack("high"),
            scale=self.variables.stack("scale"),
            stages=task.horizon.steps,
            names=tuple(f"{block.name}[{i}]" for block in self.variables for i in range(block.size)),
        )

        columns = [self.program.cost, *(row.expression for row in self.rows)]
        columns += [side for family in self.families for side in (family.first, family.second)]
        self._function = ca.Function("stage", self.program.arguments(), columns, {"cse": True})

    @property
    def fingerprint(self) -> str:
        """Text that is equal for stages with equal expressions."""
        return self._function.serialize()

    @property
    def rolling_rows(self) -> frozenset[str]:
        """Names of the rows of rolling that are no rows of the program with complementarity."""
        kinds = ("touch", "roll", "grip")
        return frozenset(row.name for row in self.rows if row.name.split(".")[0] in kinds) - self._closed(
            "touch"
        )

    @property
    def excluded(self) -> frozenset[str]:
        """Names of the rows and families that the program with complementarity leaves out."""
        return self.rolling_rows | self._closed("normal")

    def _closed(self, kind: str) -> frozenset[str]:
        """Names of a kind of the contacts that have φ = 0 as a row instead of their pair 0 ≤ φ ⊥ f_z ≥ 0."""
        return frozenset(f"{kind}.{name}" for name in self._closed_contacts)

    @property
    def pairs(self) -> frozenset[str]:
        """Names of the families (5)."""
        return frozenset(family.name for family in self.families)

    def own(self) -> Array:
        """Return o_k of every step: 1 at the last step, else 0, shape (N, 1)."""
        out = np.zeros((self.program.stages, 1))
        out[-1] = 1.0
        return out

    def _variable_blocks(self, task: MpccConfig) -> list[Block]:
        n, bounds = self.bodies.coordinates, task.bounds
        scale = self.bodies.coordinate_scale
        blocks = [
            Block.create("l", n, scale, *bounds.coordinate),
            Block.create("v", n, scale, -bounds.velocity, bounds.velocity),
        ]
        if self._turns:
            limit = bounds.angular_velocity
            blocks += [Block.create("quat", 4), Block.create("omega", 3, 1.0, -limit, limit, "rad/s")]
        if self._translates:
            limit = bounds.linear_velocity
            blocks += [
                Block.create("centre", 3, 0.1, unit="m"),
                Block.create("drift", 3, 0.1, -limit, limit, "m/s"),
            ]
        for shape in self.contact_shapes:
            force_low, force_high = bounds.normal_force
            suffix = f".{shape.name}"
            blocks += [
                Block.create("f_z" + suffix, 1, 1.0, force_low if shape.holds else 0.0, force_high, "N"),
                Block.create("f_t" + suffix, self._directions, 1.0, 0.0, bounds.friction_force, "N"),
                Block.create("gamma" + suffix, 1, 0.1, 0.0, bounds.slip, "m/s"),
            ]
            if shape.body is not None and self._lifted_states:
                blocks += [
                    Block.create("x" + suffix, 3, 0.1, unit="m"),
                    Block.create("y" + suffix, 3, 0.1, unit="m/s"),
                    Block.create("R" + suffix, 9),
                    Block.create("spin" + suffix, 3, unit="rad/s"),
                ]
        if self.dynamic:
            blocks.append(Block.create("tau", self.bodies.inputs, self.bodies.input_scale, *bounds.effort))
        return blocks

    def _parameter_blocks(self) -> list[Block]:
        sizes = {
            "h": 1, "mu": 1, "eps_sd": 1, "radius": 1, "mass": 1, "moment": 1, "angular_damping": 1,
            "linear_damping": 1, "weight": 3, "centre0": 3, "quat0": 4, "quat_target": 4, "centre_target": 3,
            "l_ref": self.bodies.coordinates, "weights": len(WEIGHTS),
        }  # fmt: skip
        return [Block.create(name, size) for name, size in sizes.items()]

    def _add_row(self, name: str, value: Any, scale: float, unit: str, **more: Any) -> None:
        self.rows.append(Rows(name=name, expression=value, scale=scale, unit=unit, **more))

    def _add_equations(self, before: dict[str, Any], after: dict[str, Any], shared: dict[str, Any]) -> None:
        omega = after["omega"] if self._turns else ca.SX.zeros(3)
        centre = after["centre"] if self._translates else shared["centre0"]
        drift = after["drift"] if self._translates else ca.SX.zeros(3)
        self._add_row("motion", after["l"] - before["l"] - shared["h"] * after["v"], 10.0, "m")
        torque, object_force = ca.SX.zeros(3), ca.SX.zeros(3)
        body_force = ca.SX.zeros(self.bodies.coordinates)
        for shape in self.contact_shapes:
            suffix = f".{shape.name}"
            from_bodies = compute_contact_kinematics(
                shape, self.bodies, after["l"], after["v"], centre, drift
            )
            kinematics = (
                self._add_lifted_state(after, suffix, from_bodies)
                if self._lifted_states and shape.body is not None
                else from_bodies
            )
            terms = compute_contact_terms(
                shape,
                kinematics,
                shared["radius"],
                omega,
                after["f_z" + suffix],
                after["f_t" + suffix],
                shared["eps_sd"],
            )
            if shape.body is not None and self.dynamic:
                power = ca.dot(terms.force, from_bodies.velocity)
                power += shared["radius"] * ca.dot(terms.lever, from_bodies.spin)
                body_force += ca.gradient(power, after["v"])
            torque -= shared["radius"] * (kinematics.rotation @ terms.lever)
            object_force += kinematics.rotation @ terms.force
            self._add_contact(suffix, after, shared, terms)
        self._add_object(before, after, shared, torque, object_force)
        if self.dynamic:
            change = self.bodies.multiply_mass(after["l"], after["v"] - before["v"])
            force = self.bodies.force(after["l"], after["v"], after["tau"]) + body_force
            self._add_row("dynamics", change / shared["h"] - force, 0.1, "N")

    def _add_lifted_state(
        self, after: dict[str, Any], suffix: str, from_bodies: ContactKinematics
    ) -> ContactKinematics:
        kinematics = ContactKinematics(
            after["x" + suffix],
            after["y" + suffix],
            ca.reshape(after["R" + suffix], 3, 3),
            after["spin" + suffix],
        )
        self._add_row("lift_x" + suffix, kinematics.position - from_bodies.position, 10.0, "m")
        self._add_row("lift_y" + suffix, kinematics.velocity - from_bodies.velocity, 10.0, "m/s")
        self._add_row("lift_R" + suffix, ca.vec(kinematics.rotation - from_bodies.rotation), 1.0, "")
        self._add_row("lift_spin" + suffix, kinematics.spin - from_bodies.spin, 1.0, "rad/s")
        return kinematics

    def _add_contact(
        self, suffix: str, after: dict[str, Any], shared: dict[str, Any], terms: ContactTerms
    ) -> None:
        """Add the families (5) and the rows of rolling."""
        f_z, f_t, gamma = after["f_z" + suffix], after["f_t" + suffix], after["gamma" + suffix]
        cone = shared["mu"] * f_z - ca.sum1(f_t)
        slip = ca.DM(friction_directions(self._directions).T) @ terms.slip + gamma
        self.families += [
            Family(
                name="normal" + suffix,
                first=terms.gap,
                second=f_z,
                first_scale=100.0,
                product_scale=1e3,
                units=("m", "N"),
            ),
            Family(name="cone" + suffix, first=cone, second=gamma, product_scale=1e3, units=("N", "m/s")),
            Family(
                name="friction" + suffix,
                first=f_t,
                second=slip,
                second_scale=10.0,
                product_scale=1e3,
                lumped=True,
                units=("N", "m/s"),
            ),
        ]
        self._add_row("touch" + suffix, terms.gap, 100.0, "m")
        self._add_row("roll" + suffix, terms.slip, 10.0, "m/s")
        self._add_row("grip" + suffix, cone, 1.0, "N", high=np.inf)

    def _add_object(
        self,
        before: dict[str, Any],
        after: dict[str, Any],
        shared: dict[str, Any],
        torque: Any,
        object_force: Any,
    ) -> None:
        h = shared["h"]
        if self._turns:
            net = torque - shared["angular_damping"] * after["omega"]
            self._add_row(
                "turning", shared["moment"] * (after["omega"] - before["omega"]) - h * net, 1e3, "N·m·s"
            )
            self._add_row(
                "quaternion",
                after["quat"] - quat_product(quat_exp(h * after["omega"]), before["quat"]),
                1.0,
                "",
            )
            if self._angle_tolerance is not None and self._angle_tolerance < math.pi:
                turned = quat_product(after["quat"], quat_conjugate(shared["quat_target"]))
                chord = 2.0 * math.sin(0.5 * self._angle_tolerance)
                self._add_distance("orientation", 2.0 * turned[1:4], chord, 1.0, "rad")
        if self._translates:
            net = object_force + shared["weight"] - shared["linear_damping"] * after["drift"]
            self._add_row(
                "drifting", shared["mass"] * (after["drift"] - before["drift"]) - h * net, 1e2, "N·s"
            )
            self._add_row("centre", after["centre"] - before["centre"] - h * after["drift"], 10.0, "m")
            away = after["centre"] - shared["centre_target"]
            self._add_distance("place", away, self._position_tolerance, 10.0, "m")

    def _add_distance(self, name: str, error: Any, tolerance: float, scale: float, unit: str) -> None:
        """Add (6)."""
        value = 0.5 * (ca.sumsqr(error) / tolerance - tolerance)
        self._add_row(name, value, scale, unit, steps="last", low=-tolerance)
