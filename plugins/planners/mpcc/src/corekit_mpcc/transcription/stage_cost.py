"""Cost of one step: every term of `corekit_mpcc.cost`, with parameters as weights."""

from __future__ import annotations

from typing import Any

import casadi as ca

from corekit_mpcc.transcription.quaternion import orientation_error

__all__ = ["WEIGHTS", "stage_cost"]

WEIGHTS = (
    "running",
    "terminal",
    "force_rate",
    "force_reward",
    "acceleration",
    "object_acceleration",
    "quaternion_norm",
    "posture",
    "speed",
    "slip",
    "friction",
    "effort",
    "effort_rate",
)
"""Weights of the cost in the order of the parameters."""


def stage_cost(
    before: dict[str, Any],
    after: dict[str, Any],
    shared: dict[str, Any],
    last: Any,
    contacts: tuple[str, ...],
) -> Any:
    """Return the cost of a step, (1) and (2) of `Cost`; `last` is 1 at the last step, else 0."""
    w = dict(zip(WEIGHTS, ca.vertsplit(shared["weights"]), strict=True))
    error, running = ca.SX(0), ca.SX(0)
    if "quat" in after:
        error += orientation_error(after["quat"], shared["quat_target"])
        running += w["object_acceleration"] * ca.sumsqr(after["omega"] - before["omega"])
        running += w["quaternion_norm"] * (ca.sumsqr(after["quat"]) - 1.0) ** 2
    if "centre" in after:
        error += ca.sumsqr(after["centre"] - shared["centre_target"])
        running += w["object_acceleration"] * ca.sumsqr(after["drift"] - before["drift"])
    running += w["running"] * error
    running += w["acceleration"] * ca.sumsqr(after["v"] - before["v"])
    running += w["posture"] * ca.sumsqr(after["l"] - shared["l_ref"]) + w["speed"] * ca.sumsqr(after["v"])
    for name in contacts:
        f_z, f_t, gamma = after[f"f_z.{name}"], after[f"f_t.{name}"], after[f"gamma.{name}"]
        running += w["force_rate"] * (f_z - before[f"f_z.{name}"]) ** 2 - w["force_reward"] * f_z
        running += w["slip"] * gamma**2 + w["friction"] * ca.sumsqr(f_t)
    if "tau" in after:
        running += w["effort"] * ca.sumsqr(after["tau"])
        running += w["effort_rate"] * ca.sumsqr(after["tau"] - before["tau"])
    return shared["h"] * running + last * w["terminal"] * error
