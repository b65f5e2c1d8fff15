"""The equations of one step and of one instant as CasADi functions, for any model with the ability `symbolic`.

A step from (q₀, v₀) to (q₁, v₁) has constraint forces λ and forces ν ≥ 0 of known contacts, in generalized units [N]:

    M(q)·(v₁ − v₀)/h − f − J_b(q)ᵀ·λ − Σ ν·∂Φ/∂q = σ·ρ,     q₁ − q₀ − h·v̄ = s·ς                  (1)

with ρ the unmodelled force, in standard deviations σ of a generalized force, and ς the unmodelled shift, in standard
deviations s of a coordinate's change in one step. Both together are r of the source. By scheme,

    explicit-euler:        f(q₀, v₀),  v̄ = v₁                                                      (2)
    semi-implicit-euler:   f(q₀, v₀) + ∂f/∂v·(v₁ − v₀) + β·h·∂f/∂q·v₁,  v̄ = v₁,  all at (q₀, v₀)      (3)
    implicit (θ = 1, ½):   f, M, J at (q₀ + θ·h·v̄, v̄),  v̄ = θ·v₁ + (1 − θ)·v₀                        (4)

as in the integrators of these names. An instant has the residuals c(q) + α·λ = 0 of position-level rows,
J_b·v − u + α·λ = 0 of velocity-level rows, and Φ(q) = 0 of active contacts. The first instant also has Φ̇ = 0 and
J_b·v = 0 of rigid position-level rows: otherwise the first impulse would remove this velocity.

Source: Jitosho et al. (2021), equation (16), with the multipliers as unknowns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import CompositionError
from corekit.linalg.constraint_rows import ConstraintRows
from corekit.roles.estimator import EstimationTask, KnownObstacle
from corekit_fit.config import IpoptFitConfig, KnownContact, Unmodelled
from corekit_fit.distances import signed_distance
from corekit_fit.marker_positions import MarkerPositions, frame_index

__all__ = ["ActiveContact", "Motion", "Scheme", "select_scheme"]

Expression = Any
_THETA = {"implicit-euler": 1.0, "implicit-midpoint": 0.5}
"""θ of the implicit schemes."""


@frozen(eq=False)
class ActiveContact:
    """A known contact: obstacle, frame, point, radius and interval of time."""

    obstacle: KnownObstacle
    frame: int
    local: tuple[float, float, float]
    radius: float
    begin: float
    end: float

    def is_active(self, time: float) -> bool:
        """Return whether the contact is active at a time [s]."""
        return self.begin - 1e-9 <= time <= self.end + 1e-9


@frozen
class Scheme:
    """Integrator of a step: the name in (2)–(4), θ of (4) or None, and β of (3)."""

    name: str
    theta: float | None
    beta: float

    @property
    def fraction(self) -> float:
        """Fraction of the step at which the loads are evaluated."""
        return 0.0 if self.theta is None else self.theta


def select_scheme(task: EstimationTask, config: IpoptFitConfig) -> Scheme:
    """Return the scheme of the options, or that of the scenario's integrator.

    Raises:
        CompositionError: no option, and an unsupported integrator of the scenario.
    """
    integrator = task.integrator
    name = config.scheme or integrator.use.rpartition(":")[2]
    is_same = name == integrator.use.rpartition(":")[2]
    if not config.scheme and is_same and integrator.options.get("form") == "explicit":
        name = "explicit-euler"
    if name not in {"semi-implicit-euler", "explicit-euler", *_THETA}:
        raise CompositionError(
            f"ipopt-fit does not support the integrator {integrator.use!r}: give `scheme`, one of "
            f"semi-implicit-euler, explicit-euler, {', '.join(_THETA)}; the fit is valid for this one."
        )
    beta = config.beta
    if beta is None:
        beta = float(integrator.options.get("beta", 1.0)) if is_same else 1.0
    return Scheme(name, _THETA.get(name), beta)


@final
class Motion:
    """Functions of a body in its scenario.

    Args:
        task: the body in its scenario.
        config: options of the fit.
        names: names of the fitted parameters.
        positions: positions of the markers on the body.

    Attributes:
        scheme: integrator of a step.
        step: (q₀, v₀, q₁, v₁, λ, ν, u, θ, poses) → both left sides of (1).
        rows: (q, v, λ, u, θ) → residuals of all rows at an instant.
        constraint_velocity: (q, v, u, θ) → J_b·v of the rigid position-level rows.
        distance: (q, pose) → Φ [m], one function per contact.
        markers: q → positions (3, m) [m].
        prescribed_index, free: indices of prescribed and of other coordinates.
        size: nv.
        count: count of rows.
        deviations: σ of each velocity's equation, 0 for an exact equation.
        shifts: s of each coordinate's equation, 0 for an exact equation.
    """

    def __init__(
        self, task: EstimationTask, config: IpoptFitConfig, names: Sequence[str], positions: MarkerPositions
    ) -> None:
        _check_supported(task)
        self._task = task
        self.scheme = select_scheme(task, config)
        description = task.model.description
        self.size = n = len(description.velocities)
        self.prescribed_index: IntArray = description.prescribed_velocity_index
        self.free: IntArray = np.setdiff1d(np.arange(n), description.prescribed_velocity_index)
        self.contacts = tuple(_contact(each, task) for each in config.contacts)
        self._numeric = _numeric_rows(task)
        self.count = 0 if self._numeric is None else self._numeric.count
        self.deviations, self.shifts = _deviations(task, config.unmodelled)
        q, v, theta = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("theta", len(names))
        u = ca.SX.sym("u", description.input_size)
        model: Any = task.model
        self._symbols = model.symbolic().with_parameters({name: theta[i] for i, name in enumerate(names)})
        self.markers = ca.Function("markers", [q], [self._marker_points(q, positions)])
        pose = ca.SX.sym("pose", 12)
        self.distance = [
            ca.Function(f"distance_{i}", [q, pose], [self._distance(each, q, pose)])
            for i, each in enumerate(self.contacts)
        ]
        force = ca.SX.sym("lambda", self.count)
        residuals, constraint_velocity = self._row_residuals(q, v, force, u)
        self.rows = ca.Function("rows", [q, v, force, u, theta], [residuals])
        self.constraint_velocity = ca.Function("across", [q, v, u, theta], [constraint_velocity])
        self.step = self._step(u, theta)

    def prescribed(self, time: float) -> tuple[Array, Array]:
        """Return p and ṗ of the prescribed coordinates at a time, each (p,)."""
        value, rate = np.zeros(len(self.prescribed_index)), np.zeros(len(self.prescribed_index))
        if len(self.prescribed_index):
            model: Any = self._task.model
            model.compute_prescribed_motion(time, value, rate)
        return value, rate

    def _marker_points(self, q: Expression, positions: MarkerPositions) -> Expression:
        columns = []
        for frame, local, weight in zip(positions.frame, positions.local, positions.weight, strict=True):
            points = [
                float(w) * self._symbols.point(q, int(f), ca.DM(at))
                for f, at, w in zip(frame, local, weight, strict=True)
                if w != 0.0
            ]
            columns.append(sum(points[1:], points[0]))
        return ca.horzcat(*columns)

    def _distance(self, contact: ActiveContact, q: Expression, pose: Expression) -> Expression:
        point = self._symbols.point(q, contact.frame, ca.DM(list(contact.local)))
        position, rotation = pose[:3], ca.reshape(pose[3:], 3, 3)
        return signed_distance(contact.obstacle.shape, position, rotation, point) - contact.radius

    def poses(self, time: float) -> Array:
        """Return the poses of the contacts' obstacles at a time, arguments of the functions, (12, contacts)."""
        columns = np.zeros((12, len(self.contacts)))
        for i, contact in enumerate(self.contacts):
            pose = contact.obstacle.pose(time)
            columns[:3, i], columns[3:, i] = pose.position, pose.rotation.T.ravel()
        return columns

    def _row_residuals(
        self, q: Expression, v: Expression, force: Expression, u: Expression
    ) -> tuple[Expression, Expression]:
        rows = self._numeric
        if rows is None:
            return ca.SX.zeros(0, 1), ca.SX.zeros(0, 1)
        J, c, target = self._symbols.constraints(q, v, u)
        velocity = J @ v
        compliant = ca.DM(rows.compliance) * force
        residuals = [
            (velocity[i] - target[i] if rows.is_velocity_level[i] else c[i]) + compliant[i]
            for i in range(self.count)
        ]
        rigid = np.flatnonzero(~rows.is_velocity_level & (rows.compliance == 0.0))
        return ca.vertcat(*residuals), ca.vertcat(*[velocity[int(i)] for i in rigid])

    def gap_rate(self, i: int, q: Expression, v: Expression, time: float) -> Expression:
        """Return Φ̇ of a contact [m/s] due to the body and to its obstacle's motion over one step."""
        h = self._task.step
        poses, next_poses = self.poses(time)[:, i], self.poses(time + h)[:, i]
        gap = self.distance[i](q, poses)
        return ca.jtimes(gap, q, v) + (self.distance[i](q, next_poses) - gap) / h

    def _step(self, u: Expression, theta: Expression) -> Any:
        n, h = self.size, self._task.step
        q0, v0, q1, v1 = (ca.SX.sym(name, n) for name in ("q0", "v0", "q1", "v1"))
        row_force, contact_force = ca.SX.sym("lambda", self.count), ca.SX.sym("nu", len(self.contacts))
        poses = ca.SX.sym("poses", 12, len(self.contacts))
        implicit = self.scheme.theta
        mean = v1 if implicit is None else implicit * v1 + (1.0 - implicit) * v0
        q, v = (q0, v0) if implicit is None else (q0 + implicit * h * mean, mean)
        eval_q, eval_v = ca.SX.sym("q", n), ca.SX.sym("v", n)
        f = self._symbols.force(eval_q, eval_v, u)
        if self.scheme.name == "semi-implicit-euler":
            f = f + ca.jtimes(f, eval_v, v1 - v0) + self.scheme.beta * h * ca.jtimes(f, eval_q, v1)
        balance = self._symbols.mass(eval_q) @ (v1 - v0) / h - f
        if self._numeric is not None:
            balance -= self._symbols.constraints(eval_q, eval_v, u)[0].T @ row_force
        for i, contact in enumerate(self.contacts):
            gap = self._distance(contact, eval_q, poses[:, i])
            balance -= ca.jacobian(gap, eval_q).T * contact_force[i]
        balance = ca.substitute(balance, ca.vertcat(eval_q, eval_v), ca.vertcat(q, v))
        arguments = [q0, v0, q1, v1, row_force, contact_force, u, theta, poses]
        return ca.Function("step", arguments, [balance, q1 - q0 - h * mean])


def _check_supported(task: EstimationTask) -> None:
    """Raise CompositionError for a body with unsupported equations."""
    description, abilities = task.model.description, task.abilities
    if description.constraint_count and "symbolic-constraints" not in abilities:
        raise CompositionError(
            f"body {task.body!r} has constraints, but its model does not provide `symbolic-constraints`"
        )
    start, n = task.start, len(description.velocities)
    if len(description.coordinates) == n and np.array_equal(
        description.prescribed_velocity_index, description.prescribed_coordinate_index
    ):
        out, v = start.copy(), np.random.default_rng(0).normal(size=n)
        v[description.prescribed_velocity_index] = 0.0
        task.model.integrate(start, v, 1e-3, start, out)
        if np.allclose(out.q, start.q + 1e-3 * v, rtol=0.0, atol=1e-12):
            return
    raise CompositionError(f"ipopt-fit needs a body that integrates as q + h·v, unlike body {task.body!r}")


def _numeric_rows(task: EstimationTask) -> ConstraintRows | None:
    if "constraints" not in task.abilities or not task.model.description.constraint_count:
        return None
    model: Any = task.model
    rows: ConstraintRows = model.new_constraints()
    state: State = task.start
    model.compute_constraints(state, task.inputs(0.0), rows)
    if rows.bounded.any():
        raise CompositionError(
            f"body {task.body!r} has constraints with force bounds, which ipopt-fit does not support: remove the bounds"
        )
    return rows


def _deviations(task: EstimationTask, unmodelled: Sequence[Unmodelled]) -> tuple[Array, Array]:
    by_unit: Mapping[str, Unmodelled] = {each.unit: each for each in unmodelled}
    units = [each.unit for each in task.model.description.velocities]
    unknown = sorted(set(by_unit) - set(units))
    if unknown:
        raise CompositionError(
            f"`unmodelled` names the units {', '.join(unknown)}; the velocities of body {task.body!r} have "
            f"{', '.join(sorted(set(units)))}"
        )
    found = [by_unit.get(unit) for unit in units]
    return (
        np.array([0.0 if each is None else each.force for each in found]),
        np.array([0.0 if each is None else each.shift for each in found]),
    )


def _contact(contact: KnownContact, task: EstimationTask) -> ActiveContact:
    description = task.model.description
    obstacles = {each.name: each for each in task.obstacles}
    if contact.obstacle not in obstacles:
        known = ", ".join(obstacles) or "none"
        raise CompositionError(
            f"contacts: there is no obstacle {contact.obstacle!r}; the scenario has {known}"
        )
    frame = frame_index(description, contact.frame or description.frames[-1], "contacts.frame")
    radius = contact.radius
    if radius is None:
        balls = [each.size[0] for each in description.shapes if each.kind == "sphere" and each.frame == frame]
        radius = balls[0] if balls else 0.0
    return ActiveContact(
        obstacles[contact.obstacle], frame, contact.local, radius, contact.begin, contact.end
    )
