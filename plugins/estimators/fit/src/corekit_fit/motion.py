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
from scipy import sparse

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import CompositionError
from corekit.linalg.constraint_rows import ConstraintRows
from corekit.roles.estimator import EstimationTask, KnownObstacle
from corekit_fit.config import IpoptFitConfig, KnownContact, Unmodelled
from corekit_fit.distances import signed_distance
from corekit_fit.marker_positions import MarkerPositions, frame_index
from corekit_fit.supported_bodies import check_supported
from corekit_fit.unknowns import Unknown

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
    """Functions of a body in its scenario, each of a column l of unknowns and a column p of numbers.

    Args:
        task: the body in its scenario.
        config: options of the fit.
        contacts: those that are known.
        unknowns: the fitted parameters; z are their coordinates.
        positions: positions of the markers on the body.

    Attributes:
        scheme: integrator of a step.
        step: l = (z, `step_coordinates`, λ, ν), p = (u, poses) → left side of the first equation of (1) without ρ.
        step_jacobian: its derivative by l, or None for that by differentiation.
        step_coordinates: what the loads of a step are evaluated at, as a matrix times (q₀, v₀, q₁, v₁).
        shift: left side of the second equation of (1) without ς, as a matrix times (q₀, v₀, q₁, v₁).
        instant: l = (z, q, v, λ), p = (u, poses) → residuals of all rows at an instant, then Φ [m] of all contacts.
        first: l = (z, q, v), p = (u, poses, poses after a step) → J_b·v of the rigid position-level rows, then Φ̇ [m/s].
        markers: l = q, p = (places, weights) → weight·(marker − place), x, y, z of each marker.
        prescribed_index, free: indices of prescribed and of other coordinates.
        size: nv.
        count: count of rows.
        deviations: σ of each velocity's equation, 0 for an exact equation.
        shifts: s of each coordinate's equation, 0 for an exact equation.
    """

    def __init__(
        self,
        task: EstimationTask,
        config: IpoptFitConfig,
        contacts: Sequence[KnownContact],
        unknowns: Sequence[Unknown],
        positions: MarkerPositions,
    ) -> None:
        check_supported(task)
        self._task = task
        self.scheme = select_scheme(task, config)
        description = task.model.description
        self.size = len(description.velocities)
        self.prescribed_index: IntArray = description.prescribed_velocity_index
        self.free: IntArray = np.setdiff1d(np.arange(self.size), description.prescribed_velocity_index)
        self.contacts = tuple(_contact(each, task) for each in contacts)
        self._numeric = _numeric_rows(task)
        self.count = 0 if self._numeric is None else self._numeric.count
        self.deviations, self.shifts = _deviations(task, config.unmodelled)
        self.step_coordinates, self.shift = self._linear_parts()
        model: Any = task.model
        self._z = ca.SX.sym("z", len(unknowns))
        self._symbols = model.symbolic().with_parameters(
            {each.name: each.value(self._z[i]) for i, each in enumerate(unknowns)}
        )
        self._inputs = ca.SX.sym("u", description.input_size)
        self._poses = ca.SX.sym("poses", 12, len(self.contacts))
        self.step, self.step_jacobian = self._step()
        self.instant, self.first = self._instant()
        self.markers = self._markers(positions)

    def prescribed(self, time: float) -> tuple[Array, Array]:
        """Return p and ṗ of the prescribed coordinates at a time, each (p,)."""
        value, rate = np.zeros(len(self.prescribed_index)), np.zeros(len(self.prescribed_index))
        if len(self.prescribed_index):
            model: Any = self._task.model
            model.compute_prescribed_motion(time, value, rate)
        return value, rate

    def poses(self, time: float) -> Array:
        """Return the poses of the contacts' obstacles at a time, arguments of the functions, (12·contacts,)."""
        columns = np.zeros((len(self.contacts), 12))
        for i, contact in enumerate(self.contacts):
            pose = contact.obstacle.pose(time)
            columns[i, :3], columns[i, 3:] = pose.position, pose.rotation.T.ravel()
        return columns.ravel()

    def _linear_parts(self) -> tuple[Any, Any]:
        """Matrices of what is linear in the states of both ends, by the scheme (2)–(4)."""
        one, none, h = np.eye(self.size), np.zeros((self.size, self.size)), self._task.step
        theta = self.scheme.theta
        before, after = (0.0, 1.0) if theta is None else (1.0 - theta, theta)
        shift = np.hstack([-one, -h * before * one, one, -h * after * one])
        if theta is None:
            rows = [[one, none, none, none], [none, one, none, none], [none, none, none, one]]
        else:
            rows = [
                [one, theta * h * before * one, none, theta * h * after * one],
                [none, before * one, none, after * one],
                [none, -one / h, none, one / h],
            ]
        return sparse.csr_matrix(np.block(rows)), sparse.csr_matrix(shift)

    def _momentum(self, q: Expression, w: Expression) -> Expression:
        """M(q)·w as ∂T/∂v at v = w, which needs no M."""
        product = ca.gradient(self._symbols.kinetic_energy(q, w), w)
        without = ca.substitute(product, w, ca.DM.zeros(self.size))
        return product if without.is_zero() else product - without

    def _step(self) -> tuple[Any, Any]:
        n, h, u = self.size, self._task.step, self._inputs
        q, v, last, w = (ca.SX.sym(name, n) for name in ("q", "v", "last", "w"))
        row_force, contact_force = ca.SX.sym("lambda", self.count), ca.SX.sym("nu", len(self.contacts))
        f = self._symbols.force(q, v, u)
        if self.scheme.name == "semi-implicit-euler":
            f = f + ca.jtimes(f, v, last - v) + self.scheme.beta * h * ca.jtimes(f, q, last)
        momentum = self._momentum(q, w)
        if self.scheme.theta is None:
            momentum = ca.substitute(momentum, w, (last - v) / h)
        else:
            last = w
        balance = momentum - f
        if self._numeric is not None:
            balance -= self._symbols.constraints(q, v, u)[0].T @ row_force
        for i, contact in enumerate(self.contacts):
            gap = self._distance(contact, q, self._poses[:, i])
            balance -= ca.jacobian(gap, q).T * contact_force[i]
        unknowns = ca.vertcat(self._z, q, v, last, row_force, contact_force)
        arguments = [unknowns, ca.vertcat(u, ca.vec(self._poses))]
        step = ca.Function("step", arguments, [ca.densify(balance)])
        if self.scheme.theta is None:
            return step, None
        others = ca.jacobian(balance, ca.vertcat(self._z, q, v, row_force, contact_force))
        split = self._z.numel() + 2 * n
        slope = ca.horzcat(others[:, :split], self._symbols.mass(q), others[:, split:])
        return step, ca.Function("step_jacobian", arguments, [slope])

    def _instant(self) -> tuple[Any, Any]:
        q, v, u = ca.SX.sym("q", self.size), ca.SX.sym("v", self.size), self._inputs
        force, poses = ca.SX.sym("lambda", self.count), self._poses
        residuals, velocity = self._row_residuals(q, v, force, u)
        gaps = [self._distance(each, q, poses[:, i]) for i, each in enumerate(self.contacts)]
        instant = ca.Function(
            "instant",
            [ca.vertcat(self._z, q, v, force), ca.vertcat(u, ca.vec(poses))],
            [ca.densify(ca.vertcat(residuals, *gaps))],
        )
        later = ca.SX.sym("later", 12, len(self.contacts))
        rates = [
            # due to the body, and to its obstacle's motion over one step
            ca.jtimes(gap, q, v) + (self._distance(each, q, later[:, i]) - gap) / self._task.step
            for i, (each, gap) in enumerate(zip(self.contacts, gaps, strict=True))
        ]
        first = ca.Function(
            "first",
            [ca.vertcat(self._z, q, v), ca.vertcat(u, ca.vec(poses), ca.vec(later))],
            [ca.densify(ca.vertcat(velocity, *rates))],
        )
        return instant, first

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

    def _markers(self, positions: MarkerPositions) -> Any:
        q, columns = ca.SX.sym("q", self.size), []
        for frame, local, weight in zip(positions.frame, positions.local, positions.weight, strict=True):
            points = [
                float(w) * self._symbols.point(q, int(f), ca.DM(at))
                for f, at, w in zip(frame, local, weight, strict=True)
                if w != 0.0
            ]
            columns.append(sum(points[1:], points[0]))
        place, weights = (ca.SX.sym(name, 3 * len(columns)) for name in ("place", "weight"))
        error = weights * (ca.vertcat(*columns) - place)
        return ca.Function("markers", [q, ca.vertcat(place, weights)], [ca.densify(error)])

    def _distance(self, contact: ActiveContact, q: Expression, pose: Expression) -> Expression:
        point = self._symbols.point(q, contact.frame, ca.DM(list(contact.local)))
        position, rotation = pose[:3], ca.reshape(pose[3:], 3, 3)
        return signed_distance(contact.obstacle.shape, position, rotation, point) - contact.radius


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
