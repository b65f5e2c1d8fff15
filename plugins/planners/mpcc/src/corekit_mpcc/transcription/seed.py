"""Where searches begin: a start that touches, a motion at rest there, efforts by statics and inverse dynamics."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_mpcc.situation import Situation
from corekit_mpcc.transcription.bodies import Bodies
from corekit_mpcc.transcription.contact import tip_of
from corekit_mpcc.transcription.gap import touching_point
from corekit_mpcc.transcription.stage import Stage

__all__ = ["at_rest", "inverse_dynamics", "static_efforts", "touching_start"]

_NEAR = 1e-6
"""Distance [m] up to which a start touches where it was asked to."""


def touching_start(situation: Situation) -> Array:
    """The coordinates nearest to the scenario's q at which every contact that starts touches where it is asked to.

        minimise ½·|(l − q₀)/scale|²   subject to   Rᵀ·(c − p(l)) = x_at   for each such contact          (1)

    within the bounds of the coordinates.

    Raises:
        ConfigError: there are none: the object is out of reach.
    """
    bodies, task, q, ball = situation.bodies, situation.config, situation.q, situation.ball
    pose, still = ca.SX.sym("q", bodies.coordinates), ca.DM.zeros(bodies.coordinates)
    centre = ca.DM(ball.position)
    rows = []
    for place, contact in zip(situation.places, task.contacts, strict=True):
        if place.body is None or not contact.starts:
            continue
        at = contact.at or touching_point(place.kind, place.size, ball.radius)
        rows.append(tip_of(place, bodies, pose, still, centre, ca.DM.zeros(3)).position - ca.DM(at))
    if not rows:
        return q
    scale = bodies.coordinate_scale
    z, g = ca.SX.sym("z", bodies.coordinates), 10.0 * ca.vertcat(*rows)
    both = [0.5 * ca.sumsqr((pose - q) / scale), g]
    f, g = ca.Function("start", [pose], both)(scale * z)
    options = {"ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-10}, "print_time": False}
    low, high = task.bounds.coordinate
    solver = ca.nlpsol("start", "ipopt", {"x": z, "f": f, "g": g}, options)
    found = solver(x0=q / scale, lbx=low / scale, ubx=high / scale, lbg=0.0, ubg=0.0)
    missed = float(np.abs(np.asarray(found["g"])).max()) / 10.0
    if not missed <= _NEAR:
        names = ", ".join(place.name for place in situation.places)
        said = (
            f"must be where {names} can touch it within the bounds of the coordinates; the nearest pose misses by "
            f"{missed:.3g} m"
        )
        hint = "move the object or a base, give another `at`, or widen `bounds.coordinate`"
        raise ConfigError([Mistake("object", ball.position.round(6).tolist(), said, hint)], "the task")
    return scale * np.asarray(found["x"], dtype=float).reshape(-1)


def static_efforts(bodies: Bodies, q: Array) -> Array:
    """The smallest inputs that hold the bodies at rest without contact, as nearly as they can, shape (nu,)."""
    lengths, u = ca.SX.sym("q", bodies.coordinates), ca.SX.sym("u", bodies.inputs)
    force = bodies.force(lengths, ca.SX.zeros(bodies.coordinates), u)
    needed, slope = ca.Function("static", [lengths, u], [force, ca.jacobian(force, u)])(q, 0.0)
    return np.linalg.lstsq(np.asarray(slope), -np.asarray(needed).reshape(-1), rcond=None)[0]


def at_rest(stage: Stage, situation: Situation, q: Array) -> dict[str, Array]:
    """The variables of one step, physical, when nothing moves: small contact forces, efforts that hold the bodies."""
    values: dict[str, Any] = {
        "l": q,
        "quat": situation.ball.quat_wxyz,
        "centre": situation.ball.position,
    }
    lengths, still = ca.SX.sym("q", stage.bodies.coordinates), ca.DM.zeros(stage.bodies.coordinates)
    centre = ca.DM(situation.ball.position)
    for place in stage.places:
        at = f".{place.name}"
        values["f_z" + at] = max(situation.config.bounds.normal_force[0], 1.0) if place.holds else 0.0
        values["f_t" + at], values["gamma" + at] = 1e-2, 1e-4
        if place.body is not None:
            tip = tip_of(place, stage.bodies, lengths, still, centre, ca.DM.zeros(3))
            pose = ca.Function("pose", [lengths], [tip.position, ca.vec(ca.SX(tip.rotation))])(q)
            values["x" + at], values["R" + at] = (np.asarray(part).reshape(-1) for part in pose)
    if stage.dynamic:
        values["tau"] = static_efforts(stage.bodies, q)
    return {name: value for name, value in values.items() if name in stage.variables}


def inverse_dynamics(stage: Stage, x: Array, start: Array, shared: Array) -> Array:
    """Efforts that make a motion obey the bodies' dynamics as nearly as they can, within their bounds.

    Args:
        stage: a dynamic one.
        x: the motion, physical, shape (N, n); its efforts are not looked at.
        start: x₋₁, shape (n,).
        shared: parameters.
    Returns:
        shape (N, nu).
    """
    program = stage.program
    row = next(rows for rows in program.rows if rows.name == "dynamics").expression
    place, block = stage.variables["tau"], stage.variables.block("tau")
    tau = program.x[place]
    missing = ca.Function("missing", [*program.arguments()[:3]], [row, ca.jacobian(row, tau)], {"cse": True})
    unforced = x.copy()
    unforced[:, place] = 0.0
    out, before = np.empty((len(x), block.size)), start
    for k, now in enumerate(unforced):
        needed, slope = missing(before, now, shared)
        out[k] = np.linalg.lstsq(np.asarray(slope), -np.asarray(needed).reshape(-1), rcond=None)[0]
        before = now
    return np.clip(out, block.low, block.high)
