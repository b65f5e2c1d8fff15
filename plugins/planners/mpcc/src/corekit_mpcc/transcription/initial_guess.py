"""Initial guess of a search: touching coordinates, variables at rest, efforts by statics and inverse dynamics."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_mpcc.resolved_task import ResolvedTask
from corekit_mpcc.transcription.bodies import Bodies
from corekit_mpcc.transcription.contact import compute_contact_kinematics
from corekit_mpcc.transcription.gap import touching_centre
from corekit_mpcc.transcription.stage import Stage

__all__ = [
    "compute_inverse_dynamics",
    "compute_rest_variables",
    "compute_static_efforts",
    "find_touching_coordinates",
]

_NEAR = 1e-6
"""Largest distance [m] of a start from its contact point."""


def find_touching_coordinates(resolved_task: ResolvedTask) -> Array:
    """Return the coordinates nearest to the scenario's q that close every contact with `starts` at its point.

        minimise ½·|(l − q₀)/scale|²   subject to   Rᵀ·(c − p(l)) = x_at   for each such contact          (1)

    within the bounds of the coordinates.

    Raises:
        ConfigError: the object is out of reach.
    """
    bodies, task, q, ball = resolved_task.bodies, resolved_task.config, resolved_task.q, resolved_task.ball
    pose, zero_velocity = ca.SX.sym("q", bodies.coordinates), ca.DM.zeros(bodies.coordinates)
    centre = ca.DM(ball.position)
    rows = []
    for shape, contact in zip(resolved_task.contact_shapes, task.contacts, strict=True):
        if shape.body is None or not contact.starts:
            continue
        point = contact.at or touching_centre(shape.kind, shape.size, ball.radius)
        rows.append(
            compute_contact_kinematics(shape, bodies, pose, zero_velocity, centre, ca.DM.zeros(3)).position
            - ca.DM(point)
        )
    if not rows:
        return q
    scale = bodies.coordinate_scale
    z, g = ca.SX.sym("z", bodies.coordinates), 10.0 * ca.vertcat(*rows)
    objective_and_constraints = [0.5 * ca.sumsqr((pose - q) / scale), g]
    f, g = ca.Function("start", [pose], objective_and_constraints)(scale * z)
    options = {"ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-10}, "print_time": False}
    low, high = task.bounds.coordinate
    solver = ca.nlpsol("start", "ipopt", {"x": z, "f": f, "g": g}, options)
    result = solver(x0=q / scale, lbx=low / scale, ubx=high / scale, lbg=0.0, ubg=0.0)
    error = float(np.abs(np.asarray(result["g"])).max()) / 10.0
    if not error <= _NEAR:
        names = ", ".join(shape.name for shape in resolved_task.contact_shapes)
        reason = (
            f"must be within reach of {names} and the bounds of the coordinates; the nearest pose misses by "
            f"{error:.3g} m"
        )
        hint = "move the object or a base, give another `at`, or widen `bounds.coordinate`"
        raise ConfigError([Mistake("object", ball.position.round(6).tolist(), reason, hint)], "the task")
    return scale * np.asarray(result["x"], dtype=float).reshape(-1)


def compute_static_efforts(bodies: Bodies, q: Array) -> Array:
    """Return the least-squares inputs for equilibrium of the bodies without contact, shape (nu,)."""
    lengths, u = ca.SX.sym("q", bodies.coordinates), ca.SX.sym("u", bodies.inputs)
    force = bodies.force(lengths, ca.SX.zeros(bodies.coordinates), u)
    residual, jacobian = ca.Function("static", [lengths, u], [force, ca.jacobian(force, u)])(q, 0.0)
    return np.linalg.lstsq(np.asarray(jacobian), -np.asarray(residual).reshape(-1), rcond=None)[0]


def compute_rest_variables(stage: Stage, resolved_task: ResolvedTask, q: Array) -> dict[str, Array]:
    """Return the physical variables of one step at rest: small contact forces and static efforts."""
    values: dict[str, Any] = {
        "l": q,
        "quat": resolved_task.ball.quat_wxyz,
        "centre": resolved_task.ball.position,
    }
    lengths, zero_velocity = ca.SX.sym("q", stage.bodies.coordinates), ca.DM.zeros(stage.bodies.coordinates)
    centre = ca.DM(resolved_task.ball.position)
    for shape in stage.contact_shapes:
        suffix = f".{shape.name}"
        values["f_z" + suffix] = max(resolved_task.config.bounds.normal_force[0], 1.0) if shape.holds else 0.0
        values["f_t" + suffix], values["gamma" + suffix] = 1e-2, 1e-4
        if shape.body is not None:
            kinematics = compute_contact_kinematics(
                shape, stage.bodies, lengths, zero_velocity, centre, ca.DM.zeros(3)
            )
            pose = ca.Function("pose", [lengths], [kinematics.position, ca.vec(ca.SX(kinematics.rotation))])(
                q
            )
            values["x" + suffix], values["R" + suffix] = (np.asarray(part).reshape(-1) for part in pose)
    if stage.dynamic:
        values["tau"] = compute_static_efforts(stage.bodies, q)
    return {name: value for name, value in values.items() if name in stage.variables}


def compute_inverse_dynamics(stage: Stage, x: Array, start: Array, shared: Array) -> Array:
    """Return the least-squares efforts (N, nu) of a motion by the bodies' dynamics, clipped to their bounds.

    Args:
        stage: a dynamic stage.
        x: the motion, physical, shape (N, n); its efforts are ignored.
        start: x₋₁, shape (n,).
        shared: parameters.
    """
    program = stage.program
    row = next(rows for rows in program.rows if rows.name == "dynamics").expression
    columns, block = stage.variables["tau"], stage.variables.block("tau")
    tau = program.x[columns]
    residual_function = ca.Function(
        "missing", [*program.arguments()[:3]], [row, ca.jacobian(row, tau)], {"cse": True}
    )
    unforced = x.copy()
    unforced[:, columns] = 0.0
    out, before = np.empty((len(x), block.size)), start
    for k, after in enumerate(unforced):
        residual, jacobian = residual_function(before, after, shared)
        out[k] = np.linalg.lstsq(np.asarray(jacobian), -np.asarray(residual).reshape(-1), rcond=None)[0]
        before = after
    return np.clip(out, block.low, block.high)
