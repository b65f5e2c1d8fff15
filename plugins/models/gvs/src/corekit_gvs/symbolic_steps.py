"""The exponential of SE(3) as CasADi expressions, and what damps and drives a turn in exponential coordinates.

The Stumpff functions are polynomials (series of a fixed number of terms, then the recurrence), so derivatives of any
order are right at the straight pose; exact to 1e-14 for steps that turn by less than π.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

__all__ = ["ball_rotor", "ball_torque", "exponential_step"]

Expression = Any
"""A CasADi SX, MX or DM."""

_TERMS, _FAR = 16, 20.0


def _stumpff(s: Expression) -> list[Expression]:
    """c₀ … c₅ of (3) in `exponential` (c₀ unused): by series near 0, where angles are large by quotients."""
    near = ca.fmin(s, _FAR)
    four, five = ca.SX(1.0), ca.SX(1.0)
    for i in range(_TERMS, 0, -1):
        four = 1.0 - near * four / ((2 * i + 3) * (2 * i + 4))
        five = 1.0 - near * five / ((2 * i + 4) * (2 * i + 5))
    c4, c5 = four / 24.0, five / 120.0
    c3 = 1.0 / 6.0 - near * c5
    c2 = 0.5 - near * c4
    series = [1.0 - near * c3, c2, c3, c4, c5]
    far = ca.fmax(s, _FAR)
    angle = ca.sqrt(far)
    c1, c2 = ca.sin(angle) / angle, (1.0 - ca.cos(angle)) / far
    c3, c4 = (1.0 - c1) / far, (0.5 - c2) / far
    quotients = [c1, c2, c3, c4, (1.0 / 6.0 - c3) / far]
    return [ca.SX(0.0), *(ca.if_else(s < _FAR, a, b) for a, b in zip(series, quotients, strict=True))]


def exponential_step(
    omega: Expression, rate: Expression
) -> tuple[Expression, Expression, Expression, Expression]:
    """Rotation and translation of exp(Ω^), and the relative velocity T·Ω̇ in the start frame."""
    k, l = omega[:3], omega[3:]  # noqa: E741
    s, se = ca.dot(k, k), 2.0 * ca.dot(k, l)
    c = _stumpff(s)
    A1, B1, C1 = 0.5 * (c[3] - c[2]), 0.5 * (2.0 * c[4] - c[3]), 0.5 * (3.0 * c[5] - c[4])
    K, L, kk = ca.skew(k), ca.skew(l), k @ k.T
    eye = ca.SX.eye(3)
    T3 = c[1] * eye + c[2] * K + c[3] * kk
    Q = A1 * se * eye + B1 * se * K + c[2] * L + C1 * se * kk + c[3] * (k @ l.T + l @ k.T)
    rotation = (1.0 - c[2] * s) * eye + c[1] * K + c[2] * kk
    return rotation, T3 @ l, T3 @ rate[:3], Q @ rate[:3] + T3 @ rate[3:]


def _turn_operator(k: Expression) -> Expression:
    """T₃ of `exponential`."""
    c, K = _stumpff(ca.dot(k, k)), ca.skew(k)
    return c[1] * ca.SX.eye(3) + c[2] * K + c[3] * (k @ k.T)


def ball_torque(k: Expression, rate: Expression, damping: list[float], torque: Expression) -> Expression:
    """f of `ball_torques`."""
    T3 = _turn_operator(k)
    return T3 @ (torque - ca.DM(damping) * (T3.T @ rate))


def ball_rotor(k: Expression, rate: Expression, armature: float) -> tuple[Expression, Expression]:
    """M of `ball_rotors`, and its f where w = 0."""
    here, held = ca.SX.sym("k", 3), ca.SX.sym("rate", 3)
    T3 = _turn_operator(here)
    pushed = ca.jtimes(T3.T @ held, here, held)
    terms = ca.Function("rotor", [here, held], [armature * (T3 @ T3.T), -armature * (T3 @ pushed)])
    return terms(k, rate)
