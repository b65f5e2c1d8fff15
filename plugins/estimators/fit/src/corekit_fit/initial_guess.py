"""Initial guess of the program: a shape through the markers at every instant.

At every instant with markers, from the previous shape,

    min  ½·Σ ‖(p̂ − p(q))/σ_p‖² + ½·Σ ((q − q_before)/s)²    s.t.  c(q) = 0, Φ(q) = 0                 (1)

with s the scale of a coordinate, by IPOPT with the Hessian of Gauss and Newton. Between instants q is linear in time
and v its difference.

The weak second sum determines the directions that markers do not show.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit.roles.estimator import EstimationTask
from corekit_fit.observed_motion import ObservedMotion

__all__ = ["guess_motion"]

_PRIOR_SCALE = 1e-2
"""Inverse square root of the weight of the second sum of (1), for s = 1 m or 1 rad; that of markers is 1/σ_p."""


def guess_motion(run: ObservedMotion, z: Array, x: Array) -> None:
    """Write the states of a run into the unknowns: fitted shapes and their differences, with parameters at z."""
    motion, observed, task = run.motion, run.observed, run.task
    n, m = motion.size, 3 * len(observed.names)
    solver = _shape_solver(run, z)
    shapes = np.zeros((len(observed.time), n))
    previous = task.start.q.copy()
    low_q, high_q = np.full(n, -np.inf), np.full(n, np.inf)
    position_rows = len(_position_rows(task))
    for k, time in enumerate(observed.time.tolist()):
        places = observed.position[k].reshape(m)
        seen = np.isfinite(places)
        gap_bound = [0.0 if each.is_active(time) else np.inf for each in motion.contacts]
        low_q[motion.prescribed_index] = high_q[motion.prescribed_index] = motion.prescribed(time)[0]
        solution = solver(
            x0=previous,
            p=np.concatenate(
                [previous, np.where(seen, places, 0.0), seen / run.deviation, task.inputs(time), motion.poses(time)]
            ),
            lbx=low_q, ubx=high_q, lbg=0.0, ubg=np.concatenate([np.zeros(position_rows), gap_bound]),
        )  # fmt: skip
        previous = shapes[k] = np.array(solution["x"]).ravel()
    q = np.column_stack([np.interp(run.times, observed.time, column) for column in shapes.T])
    h = task.step
    x[run.state[:, 0]] = q
    x[run.state[:, 1]] = np.gradient(q, h, axis=0) if len(q) > 2 else np.diff(q, axis=0, append=q[-1:]) / h


def _shape_solver(run: ObservedMotion, z: Array) -> Any:
    """Return IPOPT for (1) as a function of the previous shape, places, weights, inputs and poses."""
    motion, n, m = run.motion, run.motion.size, 3 * len(run.observed.names)
    q, before, given = ca.SX.sym("q", n), ca.SX.sym("before", n), ca.SX.sym("places", 2 * m)
    numbers = ca.SX.sym("numbers", motion.instant.numel_in(1))
    error = motion.markers(q, given)
    slope = ca.jacobian(error, q)
    cost = 0.5 * ca.sumsqr(error) + 0.5 * ca.sumsqr((q - before) / _PRIOR_SCALE)
    rows = motion.instant(ca.vertcat(z, q, ca.DM.zeros(n + motion.count)), numbers)
    # velocity-level rows do not constrain a shape
    kept = [*_position_rows(run.task), *range(motion.count, motion.count + len(motion.contacts))]
    p = ca.vertcat(before, given, numbers)
    lam_f, lam_g = ca.SX.sym("lam_f"), ca.SX.sym("lam_g", len(kept))
    hessian = lam_f * (slope.T @ slope + ca.DM.eye(n) / _PRIOR_SCALE**2)
    ipopt = {"print_level": 0, "sb": "yes", "max_iter": 200, "tol": 1e-4}
    options = {
        "print_time": False, "ipopt": ipopt,
        "hess_lag": ca.Function("nlp_hess_l", [q, p, lam_f, lam_g], [ca.triu(hessian)]),
    }  # fmt: skip
    return ca.nlpsol("shape", "ipopt", {"x": q, "p": p, "f": cost, "g": rows[kept]}, options)


def _position_rows(task: EstimationTask) -> list[int]:
    if "constraints" not in task.abilities:
        return []
    model: Any = task.model
    return [int(i) for i in np.flatnonzero(~model.new_constraints().is_velocity_level)]
