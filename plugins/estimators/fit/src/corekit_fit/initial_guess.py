"""Initial guess of the program: a shape through the markers at every instant.

At every instant with markers, from the previous shape,

    min  ½·Σ ‖(p̂ − p(q))/σ_p‖² + ½·Σ ((q − q_before)/s)²    s.t.  c(q) = 0, Φ(q) = 0                 (1)

with s the scale of a coordinate. Between instants q is linear in time and v its difference.

The weak second sum determines the directions that markers do not show.
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

__all__ = ["compute_initial_guess"]

_PRIOR_SCALE = 1e-2
"""Inverse square root of the weight of the second sum of (1), for s = 1 m or 1 rad; that of markers is 1/σ_p."""


def compute_initial_guess(
    task: EstimationTask, config: IpoptFitConfig, observed: Observations, program: Program
) -> Array:
    """Return the initial unknowns: fitted shapes, their differences, no forces, parameters at their start."""
    motion, n = program.motion, program.motion.size
    shapes = np.zeros((len(observed.time), n))
    previous = task.start.q.copy()
    zero_velocity = np.zeros(n)
    theta = program.values(np.zeros(program.size))
    q = ca.MX.sym("q", n)
    before, position = ca.MX.sym("before", n), ca.MX.sym("place", 3, len(observed.names))
    weight, poses = ca.MX.sym("weight", 3, len(observed.names)), ca.MX.sym("poses", 12, len(motion.contacts))
    inputs = ca.MX.sym("u", task.model.description.input_size)
    error = (motion.markers(q) - position) * weight
    cost = 0.5 * ca.sumsqr(error) / config.markers.deviation**2 + 0.5 * ca.sumsqr((q - before) / _PRIOR_SCALE)
    row_residuals = motion.rows(q, zero_velocity, np.zeros(motion.count), inputs, theta)
    # velocity-level rows do not constrain a shape
    positions = _position_rows(task)
    gaps = [f(q, poses[:, i]) for i, f in enumerate(motion.distance)]
    constraints = ca.vertcat(*[row_residuals[i] for i in positions], *gaps)
    options: dict[str, Any] = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "max_iter": 200}}
    parameters = ca.vertcat(
        before, ca.reshape(position, -1, 1), ca.reshape(weight, -1, 1), ca.reshape(poses, -1, 1), inputs
    )
    solver = ca.nlpsol("shape", "ipopt", {"x": q, "p": parameters, "f": cost, "g": constraints}, options)
    for k, time in enumerate(observed.time):
        is_observed = np.isfinite(observed.position[k])
        parameter_values = np.concatenate(
            [
                previous, np.where(is_observed, observed.position[k], 0.0).ravel(), is_observed.astype(float).ravel(),
                motion.poses(float(time)).T.ravel(), task.inputs(float(time)),
            ]
        )  # fmt: skip
        gap_bound = [0.0 if each.is_active(float(time)) else np.inf for each in motion.contacts]
        bounds = np.concatenate([np.zeros(len(positions)), gap_bound])
        low = np.concatenate([np.zeros(len(positions)), np.zeros(len(gap_bound))])
        low_q, high_q = np.full(n, -np.inf), np.full(n, np.inf)
        low_q[motion.prescribed_index] = high_q[motion.prescribed_index] = motion.prescribed(float(time))[0]
        solution = solver(x0=previous, p=parameter_values, lbx=low_q, ubx=high_q, lbg=low, ubg=bounds)
        previous = shapes[k] = np.array(solution["x"]).ravel()
    return _unknowns(program, observed.time, shapes)


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
