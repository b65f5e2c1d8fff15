"""The cost of one step: every term of `corekit_mpcc.cost`, weighted by parameters."""

from __future__ import annotations

from typing import Any

import casadi as ca

from corekit_mpcc.transcription.quaternion import orientation_error

__all__ = ["WEIGHTS", "price"]

WEIGHTS = (
    "running",
    "terminal",
    "force_rate",
    "force_reward",
    "acceleration",
    "turning",
    "unit",
    "shape",
    "speed",
    "slip",
    "friction",
    "effort",
    "effort_rate",
)
"""Weights of the cost in the order of the parameters."""


def price(
    before: dict[str, Any], now: dict[str, Any], shared: dict[str, Any], last: Any, contacts: tuple[str, ...]
) -> Any:
    """Cost of the step, equations (1) and (2) of `Cost`; `last` is 1 at the last step, else 0."""
    w = dict(zip(WEIGHTS, ca.vertsplit(shared["weights"]), strict=True))
    missing, running = ca.SX(0), ca.SX(0)
    if "quat" in now:
        missing += orientation_error(now["quat"], shared["quat_target"])
        running += w["turning"] * ca.sumsqr(now["omega"] - before["omega"])
        running += w["unit"] * (ca.sumsqr(now["quat"]) - 1.0) ** 2
    if "centre" in now:
        missing += ca.sumsqr(now["centre"] - shared["centre_target"])
        running += w["turning"] * ca.sumsqr(now["drift"] - before["drift"])
    running += w["running"] * missing
    running += w["acceleration"] * ca.sumsqr(now["v"] - before["v"])
    running += w["shape"] * ca.sumsqr(now["l"] - shared["l_ref"]) + w["speed"] * ca.sumsqr(now["v"])
    for name in contacts:
        f_z, f_t, gamma = now[f"f_z.{name}"], now[f"f_t.{name}"], now[f"gamma.{name}"]
        running += w["force_rate"] * (f_z - before[f"f_z.{name}"]) ** 2 - w["force_reward"] * f_z
        running += w["slip"] * gamma**2 + w["friction"] * ca.sumsqr(f_t)
    if "tau" in now:
        running += w["effort"] * ca.sumsqr(now["tau"])
        running += w["effort_rate"] * ca.sumsqr(now["tau"] - before["tau"])
    return shared["h"] * running + last * w["terminal"] * missing
