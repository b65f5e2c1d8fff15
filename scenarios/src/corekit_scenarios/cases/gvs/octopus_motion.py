"""The octopus's arm of section 5.4 as a mechanical system of six coordinates, by Lagrange's equations written out here.

A planar inextensible arm has κ = f(X; q)/L with f = q₁/g + q₄ + q₅·X + q₆·X², g = 1 + u², u = q₂·(X − q₃), and

    θ(s) = ∫₀ˢ κ,   x = ∫ cos θ,   z = −∫ sin θ,   t = (cos θ, −sin θ),   n = (sin θ, cos θ)                (1)
    f̈ = f_q·q̈ + f_qq·q̇·q̇,   f_qq·q̇·q̇ = −2·q̇₁·ġ/g² + q₁·(2·ġ²/g³ − g̈₀/g²)                            (2)
    ġ = 2·u·u̇,   g̈₀ = 2·u̇² + 2·u·ü₀,   u̇ = q̇₂·(X − q₃) − q₂·q̇₃,   ü₀ = −2·q̇₂·q̇₃                     (3)

It weighs nothing in water, which drags it by ρ_w·r·C·|v|·v_n a length across its axis, and moves along with it, of
m = B·ρ_w·A a length: ½·m·v_n² with v_n = ṙ·n, v_t = ṙ·t. With n_θ = t, Lagrange's equations are

    ∫ ρA·r_qᵀ·r̈ + ρI·θ_qᵀ·θ̈ + m·(v̇_n·r_qᵀ·n + v_n·(θ̇·r_qᵀ·t − v_t·θ_qᵀ)) + κ_qᵀ·(E·I·κ − M)
      + ρ_w·r·C·|v|·v_n·r_qᵀ·n ds = 0,     v̇_n = r̈·n + θ̇·v_t                                             (4)

The program of the paper takes (2) without f_qq·q̇·q̇, and so do these equations where they are asked to. They share
nothing with `gvs` but the arm: no exponentials, no quadrature of Gauss, no integrator of this project.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

from corekit.data.arrays import Array

__all__ = ["arm_tips"]

_LENGTH, _YOUNG, _DENSITY, _WATER, _DRAG, _ADDED = 0.2, 1e4, 1000.0, 1000.0, 1.1, 0.6
_CELLS = 400
_X = (np.arange(_CELLS) + 0.5) / _CELLS
_RADIUS = 0.01 - 0.009 * _X
_A, _I = math.pi * _RADIUS**2, math.pi * _RADIUS**4 / 4
_START = (-14.5, 10.7, 0.5, 0.0, 0.0, 0.0)


def _integral(values: Array) -> Array:
    """∫₀ˢ up to the middles of the cells, by the midpoint rule."""
    return (values.cumsum(axis=-1) - 0.5 * values) * (_LENGTH / _CELLS)


def _strain(q: Array) -> tuple[Array, Array]:
    """f and f_q, (cells,) and (6, cells)."""
    s = _X - q[2]
    g = 1.0 + (q[1] * s) ** 2
    slope = [
        1.0 / g,
        -2.0 * q[0] * q[1] * s**2 / g**2,
        2.0 * q[0] * q[1] ** 2 * s / g**2,
        0 * _X + 1.0,
        _X,
        _X**2,
    ]
    return q[0] / g + q[3] + q[4] * _X + q[5] * _X**2, np.stack(slope)


def _curving(q: Array, rate: Array) -> Array:
    """f_qq·q̇·q̇ of (2)."""
    s = _X - q[2]
    u, du, ddu = q[1] * s, rate[1] * s - q[1] * rate[2], -2.0 * rate[1] * rate[2]
    g, dg, ddg = 1.0 + u**2, 2.0 * u * du, 2.0 * du**2 + 2.0 * u * ddu
    return -2.0 * rate[0] * dg / g**2 + q[0] * (2.0 * dg**2 / g**3 - ddg / g**2)


def _muscle(time: float, gain: float) -> Array:
    extent, place = 53.4 - 10.0 * time, 0.5 + 0.2 * time
    return -_YOUNG * _I * gain * extent / (1.0 + (extent * _LENGTH * (_X - place)) ** 2)


def _slope(time: float, y: Array, share: float, gain: float) -> Array:
    """(q̇, q̈) of (4) with a share of f_qq·q̇·q̇."""
    q, rate = y[:6], y[6:]
    strain, slope = (each / _LENGTH for each in _strain(q))
    angle, turn_q = _integral(strain), _integral(slope)
    turning, turn_rest = rate @ turn_q, _integral(share * _curving(q, rate) / _LENGTH)
    sine, cosine = np.sin(angle), np.cos(angle)
    x_q, z_q = _integral(-sine * turn_q), _integral(-cosine * turn_q)
    x_rest = _integral(-sine * turn_rest - cosine * turning**2)
    z_rest = _integral(-cosine * turn_rest + sine * turning**2)
    across, along = x_q * sine + z_q * cosine, x_q * cosine - z_q * sine
    v_n, v_t = rate @ across, rate @ along
    added, mass = _ADDED * _WATER * _A, _DENSITY * _A
    inertia = (mass * x_q) @ x_q.T + (mass * z_q) @ z_q.T + (_DENSITY * _I * turn_q) @ turn_q.T
    inertia += (added * across) @ across.T
    pushed = (
        added * (x_rest * sine + z_rest * cosine + turning * v_t)
        + _WATER * _RADIUS * _DRAG * np.hypot(v_n, v_t) * v_n
    )
    force = (
        x_q @ (mass * x_rest) + z_q @ (mass * z_rest) + turn_q @ (_DENSITY * _I * turn_rest) + across @ pushed
    )
    force += along @ (added * v_n * turning) - turn_q @ (added * v_n * v_t)
    force += slope @ (_YOUNG * _I * strain - _muscle(time, gain))
    rates: Array = np.concatenate([rate, -np.linalg.solve(inertia, force)], dtype=np.float64)
    return rates


def arm_tips(times: Array, convective: bool = True, gain: float = 1.36) -> Array:
    """Tip (x, z) in the base's axes at times [s] from rest, shape (k, 2) [m], to about 1e-4 of the length.

    Args:
        convective: whether strains accelerate by f_qq·q̇·q̇ too. gain: k of the muscle, 1.65 in the paper's text.
    """
    solve: Any = import_module("scipy.integrate").solve_ivp
    share = 1.0 if convective else 0.0
    start = np.concatenate([_START, np.zeros(6)])
    found = solve(
        lambda t, y: _slope(t, y, share, gain), (0.0, float(times[-1])), start, method="LSODA", t_eval=times,
        rtol=1e-6, atol=1e-6,
    )  # fmt: skip
    angle = _integral(np.stack([_strain(y[:6])[0] for y in found.y.T]) / _LENGTH)
    return np.stack([np.cos(angle).sum(axis=1), -np.sin(angle).sum(axis=1)], axis=1) * (_LENGTH / _CELLS)
