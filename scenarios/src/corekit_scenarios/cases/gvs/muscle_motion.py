"""The bump of section 4.1 as a mechanical system of two coordinates, by Lagrange's equations written out here.

A planar inextensible beam has κ = f(X; q, t)/L with f = q₁·exp(−g), g = q₂²·u², u = X − t/t_f, and

    θ(s) = ∫₀ˢ κ,   x = ∫ cos θ,   z = −∫ sin θ,   θ_q, r_q by the same integrals of f_q                (1)

Along a motion with rates q̇₁, q̇₂ and u̇ = −1/t_f,

    ḟ = e⁻ᵍ·(q̇₁ − q₁·ġ),   f̈ = f_q·q̈ + e⁻ᵍ·(−2·q̇₁·ġ + q₁·ġ² − q₁·g̈₀)                               (2)
    ġ = 2·q₂·q̇₂·u² + 2·q₂²·u·u̇,   g̈₀ = 2·q̇₂²·u² + 8·q₂·q̇₂·u·u̇ + 2·q₂²·u̇²                           (3)

and r̈ = r_q·q̈ + r̈₀ with r̈₀ from f̈ − f_q·q̈ and from θ̇². D'Alembert's principle on the two coordinates is

    ∫ ρA·r_qᵀ·r̈ + ρI·θ_qᵀ·θ̈ + κ_qᵀ·(E·I·κ + 3·η·I·κ̇ − M) ds = 0                                       (4)

It shares nothing with `gvs` but the beam: no exponentials, no quadrature of Gauss, no integrator of this project.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from corekit.data.arrays import Array

__all__ = ["bump_tips"]

_LENGTH, _RADIUS, _YOUNG, _DENSITY, _VISCOSITY = 0.8, 0.015, 1e6, 1000.0, 1e4
_PEAK, _DURATION = 0.5, 2.0
_I, _A = math.pi * _RADIUS**4 / 4, math.pi * _RADIUS**2
_CELLS = 500


class _Shape(NamedTuple):
    """Integrands of (4) at the middles of the cells: last axis cells, first that of q where it has one."""

    x_q: Array
    z_q: Array
    angle_q: Array
    curvature_q: Array
    curvature: Array
    curvature_rate: Array
    angle_rest: Array
    x_rest: Array
    z_rest: Array
    tip: Array


def _integral(values: Array) -> Array:
    """∫₀ˢ up to the middles of the cells, by the midpoint rule."""
    return (values.cumsum(axis=-1) - 0.5 * values) * (_LENGTH / _CELLS)


def _shape(time: float, q: Array, rate: Array, clock: float) -> _Shape:
    """(1)–(3); `clock` 0 holds the basis still in time, for f_t."""
    X = (np.arange(_CELLS) + 0.5) / _CELLS
    u, du = X - time / _DURATION, -clock / _DURATION
    g, dg = q[1] ** 2 * u**2, 2 * q[1] * rate[1] * u**2 + 2 * q[1] ** 2 * u * du
    ddg = 2 * rate[1] ** 2 * u**2 + 8 * q[1] * rate[1] * u * du + 2 * q[1] ** 2 * du**2
    bump = np.exp(-g) / _LENGTH
    curvature_q = np.stack([bump, -2 * q[0] * q[1] * u**2 * bump])
    curvature, curvature_rate = q[0] * bump, (rate[0] - q[0] * dg) * bump
    rest = (-2 * rate[0] * dg + q[0] * dg**2 - q[0] * ddg) * bump
    angle, angle_q, angle_rate, angle_rest = map(_integral, (curvature, curvature_q, curvature_rate, rest))
    sine, cosine = np.sin(angle), np.cos(angle)
    return _Shape(
        x_q=_integral(-sine * angle_q),
        z_q=_integral(-cosine * angle_q),
        angle_q=angle_q,
        curvature_q=curvature_q,
        curvature=curvature,
        curvature_rate=curvature_rate,
        angle_rest=angle_rest,
        x_rest=_integral(-sine * angle_rest - cosine * angle_rate**2),
        z_rest=_integral(-cosine * angle_rest + sine * angle_rate**2),
        tip=np.array([cosine.sum(), -sine.sum()]) * (_LENGTH / _CELLS),
    )


def _mass(at: _Shape) -> Array:
    return _DENSITY * (_A * (at.x_q @ at.x_q.T + at.z_q @ at.z_q.T) + _I * at.angle_q @ at.angle_q.T)


def _slope(time: float, y: Array) -> Array:
    """(q̇, q̈) of (4)."""
    at = _shape(time, y[:2], y[2:], 1.0)
    X = (np.arange(_CELLS) + 0.5) / _CELLS
    muscle = _PEAK * np.maximum(0.0, 1.0 - np.abs(X - time / _DURATION) / 0.05)
    moment = _YOUNG * _I * at.curvature + 3 * _VISCOSITY * _I * at.curvature_rate - muscle
    force = -at.curvature_q @ moment - _DENSITY * (
        _A * (at.x_q @ at.x_rest + at.z_q @ at.z_rest) + _I * at.angle_q @ at.angle_rest
    )
    slope: Array = np.concatenate([y[2:], np.linalg.solve(_mass(at), force)], dtype=np.float64)
    return slope


def _start(q: Array) -> Array:
    """q̇ of least kinetic energy: r_q·q̇ nearest to −r_t, which finite steps in t give."""
    step = 1e-5
    still = np.zeros(2)
    at = _shape(0.0, q, still, 0.0)
    X = [_place(sign * step, q) for sign in (1.0, -1.0)]
    x_t, z_t, angle_t = ((a - b) / (2 * step) for a, b in zip(*X, strict=True))
    p = _DENSITY * (_A * (at.x_q @ x_t + at.z_q @ z_t) + _I * at.angle_q @ angle_t)
    return -np.linalg.solve(_mass(at), p)


def _place(time: float, q: Array) -> tuple[Array, Array, Array]:
    X = (np.arange(_CELLS) + 0.5) / _CELLS
    angle = _integral(q[0] * np.exp(-(q[1] ** 2) * (X - time / _DURATION) ** 2) / _LENGTH)
    return _integral(np.cos(angle)), -_integral(np.sin(angle)), angle


def bump_tips(start: tuple[float, float], times: Array) -> Array:
    """Tip (x, z) at times [s] from rest with q = `start`, shape (k, 2) [m], to about 1e-4 of the length."""
    solve: Any = import_module("scipy.integrate").solve_ivp
    q = np.array(start)
    found = solve(
        _slope, (0.0, float(times[-1])), np.concatenate([q, _start(q)]), method="LSODA", t_eval=times,
        rtol=1e-5, atol=1e-5,
    )  # fmt: skip
    still = np.zeros(2)
    return np.stack(
        [_shape(t, y[:2], still, 0.0).tip for t, y in zip(times.tolist(), found.y.T, strict=True)]
    )
