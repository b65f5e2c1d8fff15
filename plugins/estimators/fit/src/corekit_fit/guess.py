"""Where the program begins: the body laid through the markers instant by instant.

At every instant with markers, from the shape before,

    min  ½·Σ ‖(p̂ − p(q))/σ_p‖² + ½·Σ ((q − q_before)/s)²    s.t.  c(q) = 0, Φ(q) = 0                 (1)

with s the scale of a coordinate, weak against markers; between them q is linear in time and v its difference.

Without the second sum (1) would leave open what no marker shows.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit.roles.estimator import EstimationTask
from corekit_fit.config import IpoptFitConfig
from corekit_fit.observations import Observations
from corekit_fit.program import Program

__all__ = ["first_guess"]

_WEAK = 1e-2
"""Square root of the weight of the second sum of (1), in units of 1/s with s = 1 m or 1 rad; markers weigh 1/σ_p."""


def first_guess(task: EstimationTask, config: IpoptFitConfig, seen: Observations, program: Program) -> Array:
    """Unknowns to begin with: fitted shapes, their differences, no forces, parameters at their start."""
    motion, n = program.motion, program.motion.size
    shapes = np.zeros((len(seen.time), n))
    near = task.start.q.copy()
    still = np.zeros(n)
    theta = program.values(np.zeros(program.size))
    q = ca.MX.sym("q", n)
    before, place = ca.MX.sym("before", n), ca.MX.sym("place", 3, len(seen.names))
    weight, poses = ca.MX.sym("weight", 3, len(seen.names)), ca.MX.sym("poses", 12, len(motion.contacts))
    inputs = ca.MX.sym("u", task.model.description.input_size)
    off = (motion.markers(q) - place) * weight
    cost = 0.5 * ca.sumsqr(off) / config.markers.deviation**2 + 0.5 * ca.sumsqr((q - before) / _WEAK)
    held = motion.rows(q, still, np.zeros(motion.count), inputs, theta)
    # rows of rates say nothing of a shape
    positions = _position_rows(task)
    gaps = [f(q, poses[:, i]) for i, f in enumerate(motion.distance)]
    constraints = ca.vertcat(*[held[i] for i in positions], *gaps)
    options: dict[str, Any] = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "max_iter": 200}}
    parameters = ca.vertcat(
        before, ca.reshape(place, -1, 1), ca.reshape(weight, -1, 1), ca.reshape(poses, -1, 1), inputs
    )
    solver = ca.nlpsol("shape", "ipopt", {"x": q, "p": parameters, "f": cost, "g": constraints}, options)
    for k, time in enumerate(seen.time):
        known = np.isfinite(seen.place[k])
        numbers = np.concatenate(
            [
                near, np.where(known, seen.place[k], 0.0).ravel(), known.astype(float).ravel(),
                motion.poses(float(time)).T.ravel(), task.inputs(float(time)),
            ]
        )  # fmt: skip
        free = [0.0 if each.holds(float(time)) else np.inf for each in motion.contacts]
        bounds = np.concatenate([np.zeros(len(positions)), free])
        low = np.concatenate([np.zeros(len(positions)), np.zeros(len(free))])
        least, most = np.full(n, -np.inf), np.full(n, np.inf)
        least[motion.held] = most[motion.held] = motion.prescribed(float(time))[0]
        answer = solver(x0=near, p=numbers, lbx=least, ubx=most, lbg=low, ubg=bounds)
        near = shapes[k] = np.array(answer["x"]).ravel()
    return _unknowns(program, seen.time, shapes)


def _position_rows(task: EstimationTask) -> list[int]:
    if "constraints" not in task.abilities:
        return []
    model: Any = task.model
    return [int(i) for i in np.flatnonzero(~model.new_constraints().is_velocity_level)]


def _unknowns(program: Program, time: Array, shapes: Array) -> Array:
    x = np.zeros(program.size)
    q = np.column_stack([np.interp(program.times, time, column) for column in shapes.T])
    h = program.times[1] - program.times[0]
    v = np.gradient(q, h, axis=0) if len(q) > 2 else np.diff(q, axis=0, append=q[-1:]) / h
    x[program.state[:, 0]] = q
    x[program.state[:, 1]] = v
    return x
