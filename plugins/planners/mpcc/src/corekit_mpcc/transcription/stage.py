"""One step of the horizon as a program with complementarity constraints.

Everything is taken at the end of the step (implicit Euler); h the step, ₋ the step before:

    l − l₋ − h·v = 0                                                                             (1)
    M(l)·(v − v₋)/h − f(l, v, τ) − Q = 0                                      dynamic stage only (2)
    I·(ω − ω₋) − h·(Σ torque − d·ω) = 0,   q − exp(h·ω) ⊗ q₋ = 0                                 (3)
    m·(w − w₋) − h·(Σ R·F + m·g − d·w) = 0,   c − c₋ − h·w = 0                                   (4)
    0 ≤ φ ⊥ f_z ≥ 0,   0 ≤ μ·f_z − Σf_t ⊥ γ ≥ 0,   0 ≤ f_t ⊥ Dᵀ·ν_t + γ ≥ 0                      (5)

The state of every contact (x, y, R, Ω of `contact`) is a variable with an equation of its own: rows of contact are
short then, and third derivatives of the bodies stay out of them. Beside (5) stand the rows φ = 0, ν_t = 0 and
μ·f_z − Σf_t ≥ 0 of rolling, which a search takes in place of (5) or leaves out.

Source: CUSP, equations (17)–(19).
"""

from __future__ import annotations

from typing import Any, final

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit_mpcc.complementarity.problem import Family, Mpcc, Rows
from corekit_mpcc.config import MpccConfig
from corekit_mpcc.situation import Situation
from corekit_mpcc.transcription.contact import Tip, Touch, friction_directions, tip_of, touch_of
from corekit_mpcc.transcription.price import WEIGHTS, price
from corekit_mpcc.transcription.quaternion import quat_conjugate, quat_exp, quat_product
from corekit_mpcc.transcription.variables import Block, Blocks

__all__ = ["Stage"]


@final
class Stage:
    """The expressions of one step.

    Args:
        situation: the driven bodies, the contacts' shapes, how the object moves, friction directions, bounds and
            number of steps; everything else about it is a parameter.
        dynamic: whether the bodies obey (2), else they move as they like.
        lifted: whether contacts' states are variables, else they follow from the bodies (for certificates).

    Attributes:
        variables, shared: the blocks of x and s.
        rows, families: the constraints, physical.
        program: the whole.
    """

    def __init__(self, situation: Situation, *, dynamic: bool, lifted: bool = True) -> None:
        task = situation.config
        self.bodies, self.places = situation.bodies, situation.places
        self.dynamic, self._lift = dynamic, lifted
        self._turns, self._translates = situation.ball.turns, situation.ball.translates
        self._directions = task.directions
        self.variables = Blocks(self._variable_blocks(task))
        self.shared = Blocks(self._parameter_blocks())
        self._within = task.target.within
        self._distance = task.target.distance
        self.rows: list[Rows] = []
        self.families: list[Family] = []
        before = {block.name: ca.SX.sym(f"{block.name}_before", block.size) for block in self.variables}
        now = {block.name: ca.SX.sym(block.name, block.size) for block in self.variables}
        shared = {block.name: ca.SX.sym(block.name, block.size) for block in self.shared}
        last = ca.SX.sym("last")
        self._write(before, now, shared)
        names = tuple(place.name for place in self.places)
        self.program = Mpcc(
            x=ca.vertcat(*now.values()),
            before=ca.vertcat(*before.values()),
            shared=ca.vertcat(*shared.values()),
            own=last,
            cost=price(before, now, shared, last, names),
            rows=tuple(self.rows),
            families=tuple(self.families),
            low=self.variables.stacked("low"),
            high=self.variables.stacked("high"),
            scale=self.variables.stacked("scale"),
            stages=task.horizon.steps,
            names=tuple(f"{b.name}[{i}]" for b in self.variables for i in range(b.size)),
        )

        columns = [self.program.cost, *(row.expression for row in self.rows)]
        columns += [side for family in self.families for side in (family.first, family.second)]
        self._stated = ca.Function("stage", self.program.arguments(), columns, {"cse": True})

    @property
    def fingerprint(self) -> str:
        """Equal for stages whose expressions are equal."""
        return self._stated.serialize()

    @property
    def rolling_rows(self) -> frozenset[str]:
        """Names of the rows of rolling."""
        return frozenset(row.name for row in self.rows if row.name.split(".")[0] in ("touch", "roll", "grip"))

    @property
    def pairs(self) -> frozenset[str]:
        """Names of the families (5)."""
        return frozenset(family.name for family in self.families)

    def own(self) -> Array:
        """o_k of every step: whether it is the last, shape (N, 1)."""
        out = np.zeros((self.program.stages, 1))
        out[-1] = 1.0
        return out

    def _variable_blocks(self, task: MpccConfig) -> list[Block]:
        n, limits = self.bodies.coordinates, task.bounds
        scale = self.bodies.coordinate_scale
        blocks = [
            Block.of("l", n, scale, *limits.coordinate),
            Block.of("v", n, scale, -limits.velocity, limits.velocity),
        ]
        if self._turns:
            fast = limits.angular_velocity
            blocks += [Block.of("quat", 4), Block.of("omega", 3, 1.0, -fast, fast, "rad/s")]
        if self._translates:
            fast = limits.linear_velocity
            blocks += [Block.of("centre", 3, 0.1, unit="m"), Block.of("drift", 3, 0.1, -fast, fast, "m/s")]
        for place in self.places:
            least, most = limits.normal_force
            at = f".{place.name}"
            blocks += [
                Block.of("f_z" + at, 1, 1.0, least if place.holds else 0.0, most, "N"),
                Block.of("f_t" + at, self._directions, 1.0, 0.0, limits.friction_force, "N"),
                Block.of("gamma" + at, 1, 0.1, 0.0, limits.slip, "m/s"),
            ]
            if place.body is not None and self._lift:
                blocks += [
                    Block.of("x" + at, 3, 0.1, unit="m"),
                    Block.of("y" + at, 3, 0.1, unit="m/s"),
                    Block.of("R" + at, 9),
                    Block.of("spin" + at, 3, unit="rad/s"),
                ]
        if self.dynamic:
            blocks.append(Block.of("tau", self.bodies.inputs, self.bodies.input_scale, *limits.effort))
        return blocks

    def _parameter_blocks(self) -> list[Block]:
        sizes = {
            "h": 1, "mu": 1, "eps_sd": 1, "radius": 1, "mass": 1, "moment": 1, "angular_damping": 1,
            "linear_damping": 1, "weight": 3, "centre0": 3, "quat0": 4, "quat_target": 4, "centre_target": 3,
            "l_ref": self.bodies.coordinates, "weights": len(WEIGHTS),
        }  # fmt: skip
        return [Block.of(name, size) for name, size in sizes.items()]

    def _row(self, name: str, value: Any, scale: float, unit: str, **more: Any) -> None:
        self.rows.append(Rows(name=name, expression=value, scale=scale, unit=unit, **more))

    def _write(self, a: dict[str, Any], b: dict[str, Any], s: dict[str, Any]) -> None:
        omega = b["omega"] if self._turns else ca.SX.zeros(3)
        centre = b["centre"] if self._translates else s["centre0"]
        drift = b["drift"] if self._translates else ca.SX.zeros(3)
        self._row("motion", b["l"] - a["l"] - s["h"] * b["v"], 10.0, "m")
        torque, push, pull = ca.SX.zeros(3), ca.SX.zeros(3), ca.SX.zeros(self.bodies.coordinates)
        for place in self.places:
            at = f".{place.name}"
            moved = tip_of(place, self.bodies, b["l"], b["v"], centre, drift)
            tip = self._lifted(b, at, moved) if self._lift and place.body is not None else moved
            touch = touch_of(place, tip, s["radius"], omega, b["f_z" + at], b["f_t" + at], s["eps_sd"])
            if place.body is not None and self.dynamic:
                power = ca.dot(touch.force, moved.velocity)
                power += s["radius"] * ca.dot(touch.lever, moved.turning)
                pull += ca.gradient(power, b["v"])
            torque -= s["radius"] * (tip.rotation @ touch.lever)
            push += tip.rotation @ touch.force
            self._contact(at, b, s, touch)
        self._object(a, b, s, torque, push)
        if self.dynamic:
            change = self.bodies.mass_times(b["l"], b["v"] - a["v"])
            force = self.bodies.force(b["l"], b["v"], b["tau"]) + pull
            self._row("dynamics", change / s["h"] - force, 0.1, "N")

    def _lifted(self, b: dict[str, Any], at: str, moved: Tip) -> Tip:
        tip = Tip(b["x" + at], b["y" + at], ca.reshape(b["R" + at], 3, 3), b["spin" + at])
        self._row("lift_x" + at, tip.position - moved.position, 10.0, "m")
        self._row("lift_y" + at, tip.velocity - moved.velocity, 10.0, "m/s")
        self._row("lift_R" + at, ca.vec(tip.rotation - moved.rotation), 1.0, "")
        self._row("lift_spin" + at, tip.turning - moved.turning, 1.0, "rad/s")
        return tip

    def _contact(self, at: str, b: dict[str, Any], s: dict[str, Any], touch: Touch) -> None:
        """The families (5) and the rows of rolling."""
        f_z, f_t, gamma = b["f_z" + at], b["f_t" + at], b["gamma" + at]
        cone = s["mu"] * f_z - ca.sum1(f_t)
        slip = ca.DM(friction_directions(self._directions).T) @ touch.slip + gamma
        self.families += [
            Family(
                name="normal" + at,
                first=touch.gap,
                second=f_z,
                first_scale=100.0,
                product_scale=1e3,
                units=("m", "N"),
            ),
            Family(name="cone" + at, first=cone, second=gamma, product_scale=1e3, units=("N", "m/s")),
            Family(
                name="friction" + at,
                first=f_t,
                second=slip,
                second_scale=10.0,
                product_scale=1e3,
                lumped=True,
                units=("N", "m/s"),
            ),
        ]
        self._row("touch" + at, touch.gap, 100.0, "m")
        self._row("roll" + at, touch.slip, 10.0, "m/s")
        self._row("grip" + at, cone, 1.0, "N", high=np.inf)

    def _object(
        self, a: dict[str, Any], b: dict[str, Any], s: dict[str, Any], torque: Any, push: Any
    ) -> None:
        h = s["h"]
        if self._turns:
            damped = torque - s["angular_damping"] * b["omega"]
            self._row("turning", s["moment"] * (b["omega"] - a["omega"]) - h * damped, 1e3, "N·m·s")
            self._row("quaternion", b["quat"] - quat_product(quat_exp(h * b["omega"]), a["quat"]), 1.0, "")
            if self._within is not None:
                missing = 2.0 * quat_product(b["quat"], quat_conjugate(s["quat_target"]))[1:4]
                bound = {"low": -self._within, "high": self._within}
                self._row("orientation", missing, 1.0, "rad", at="last", **bound)
        if self._translates:
            damped = push + s["weight"] - s["linear_damping"] * b["drift"]
            self._row("drifting", s["mass"] * (b["drift"] - a["drift"]) - h * damped, 1e2, "N·s")
            self._row("centre", b["centre"] - a["centre"] - h * b["drift"], 10.0, "m")
            bound = {"low": -self._distance, "high": self._distance}
            self._row("place", b["centre"] - s["centre_target"], 10.0, "m", at="last", **bound)
