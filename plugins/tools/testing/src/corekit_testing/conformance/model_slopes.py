"""Derivatives that a model gives, against differences: of f by coordinates, velocities and inputs, and of f − M·w."""

from __future__ import annotations

from functools import partial

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.differences import expect_slope
from corekit_testing.conformance.model_states import Probe, directions, displacement_scales
from corekit_testing.conformance.subject import Subject
from corekit_testing.rounding import rounding

__all__ = ["SLOPES"]

_SLOPE_ERROR = 1e-6
"""Error of K and D relative to the largest entry of a slope, unless the model declares a larger one."""


@check("stiffness-is-slope", "K = −∂f(advance(q, δ, 1))/∂δ", "force-derivatives")
def stiffness_is_slope(subject: Subject) -> None:
    probe = Probe(subject)
    for state in probe.states:
        stiffness = probe.tangent(state)[0]
        for direction in directions(probe.model, state):
            force = probe.along(state, direction, probe.force)
            expect_slope("−K·δ", -stiffness @ direction, force, **_scales(probe, state))


@check("damping-is-slope", "D = −∂f/∂v", "force-derivatives")
def damping_is_slope(subject: Subject) -> None:
    probe = Probe(subject)
    for state in probe.states:
        damping = probe.tangent(state)[1]

        for direction in directions(probe.model, state):
            force = partial(_force_faster, probe, state, direction)
            expect_slope("−D·v", -damping @ direction, force, **_scales(probe, state))


@check("dissipation-apart", "D₀ damps, and D − D₀ is of forces quadratic in v, without work", "dissipation")
def dissipation_apart(subject: Subject) -> None:
    probe = Probe(subject)
    for state in probe.states:
        back = state.copy()
        back.v *= -1.0
        damped, turned = zip(*(_dissipation(probe, each) for each in (state, back)), strict=True)
        size = max(float(np.abs(each).max()) for each in (*damped, *turned))
        # D − D₀ is what is left of products of M and v, which cancel if the body is a ball
        left = rounding(2 * state.v.size, np.abs(probe.mass(state)).max(), np.abs(state.v).max())
        expect_close("D₀ᵀ", damped[0].T, damped[0], 1e-12 * size)
        least = float(np.linalg.eigvalsh(damped[0])[0])
        expect(least >= -1e-12 * size, f"D₀ gives energy: its least eigenvalue is {least:.3g}")
        expect_close("D − D₀ at −v", turned[1], -turned[0], 1e-12 * size + left)
        power = float(state.v @ turned[0] @ state.v)
        bound = (1e-12 * size + left) * float(state.v @ state.v)
        expect(abs(power) <= bound, f"the forces of D − D₀ do work: {power:.3g} W")


def _dissipation(probe: Probe, state: State) -> tuple[Array, Array]:
    """D₀ and D − D₀."""
    damped = probe.model.new_stiffness_and_damping()[1]
    damped.data[...] = np.nan
    probe.model.compute_dissipation(state, probe.inputs, damped)
    return damped.dense(), probe.tangent(state)[1] - damped.dense()


def _scales(probe: Probe, state: State) -> dict[str, float]:
    """Of the slopes of f: their error, and the size of terms that may cancel."""
    error = max(_SLOPE_ERROR, probe.description.derivative_error)
    return {"relative": error, "terms": probe.inertial_terms(state)}


def _force_faster(probe: Probe, state: State, velocity: Array, s: float) -> Array:
    """f at v + s·velocity."""
    faster = state.copy()
    faster.v += s * velocity
    return probe.force(faster)


@check("balance-is-force-less-inertia", "balance is f − M·w, and gives M", "inverse-dynamics")
def balance_is_force_less_inertia(subject: Subject) -> None:
    probe = Probe(subject)
    for state in probe.states:
        for w in directions(probe.model, state):
            wanted = probe.force(state) - probe.mass(state) @ w
            size = float(np.abs(probe.force(state)).max() + np.abs(probe.mass(state) @ w).max())
            mass = probe.model.new_mass_matrix()
            expect_close("f − M·w", probe.balance(state, w), wanted, 1e-10 * size)
            expect_close("f − M·w beside M", probe.balance(state, w, mass), wanted, 1e-10 * size)
            expect_close("M beside f − M·w", mass.dense(), probe.mass(state), 1e-10 * size)


@check(
    "balance-tangent-is-slope",
    "of f − M·w too, K and D are the slopes",
    "inverse-dynamics",
    "force-derivatives",
)
def balance_tangent_is_slope(subject: Subject) -> None:
    probe = Probe(subject)
    for state in probe.states:
        w = _acceleration(probe, state)
        stiffness, damping = probe.model.new_stiffness_and_damping()
        probe.model.compute_residual_derivatives(state, probe.inputs, w, stiffness, damping)
        expect_close("D with and without w", damping.dense(), probe.tangent(state)[1], 1e-10)
        for direction in directions(probe.model, state):
            unbalanced = probe.along(state, direction, partial(_balance_at, probe, w))
            found = -stiffness.dense() @ direction
            expect_slope("−K·δ at w", found, unbalanced, **_scales(probe, state))
        if probe.description.constraint_count:
            impulse = np.random.default_rng(5).normal(size=probe.description.constraint_count)
            held, curvature = probe.model.new_stiffness_and_damping()
            probe.model.compute_constraint_force_gradient(state, impulse, curvature)
            probe.model.compute_residual_derivatives(state, probe.inputs, w, held, damping, impulse)
            wanted = stiffness.dense() - curvature.dense()
            expect_close(
                "K with the rows' impulses", held.dense(), wanted, 1e-9 * float(np.abs(wanted).max())
            )


def _acceleration(probe: Probe, state: State) -> Array:
    """An acceleration w that no entry of ∂(M·w)/∂q is blind to, drawn at random; M·w is as large as f."""
    w = np.random.default_rng(16).normal(size=state.v.size) * displacement_scales(probe.model, state)
    inertia, force = (
        float(np.abs(each).max(initial=0.0)) for each in (probe.mass(state) @ w, probe.force(state))
    )
    return w * (force / inertia if force and inertia else 1.0)


def _balance_at(probe: Probe, w: Array, state: State) -> Array:
    """f − M·w at a state."""
    return probe.balance(state, w)


@check("mass-gradient-is-slope", "∂(wᵀ·M·x)/∂δ is the slope of wᵀ·M·x", "mass-gradient")
def mass_gradient_is_slope(subject: Subject) -> None:
    probe = Probe(subject)
    for state in probe.states:
        # a pair that no entry of ∂M/∂q is blind to
        w, x = np.random.default_rng(17).normal(size=(2, state.v.size))
        found = np.full(state.v.size, np.nan)
        probe.model.compute_mass_gradient(state, w, x, found)
        for direction in directions(probe.model, state):
            energy = probe.along(state, direction, partial(_energy_between, probe, w, x))
            expect_slope("∂(wᵀ·M·x)·δ", np.array([found @ direction]), energy, **_scales(probe, state))


def _energy_between(probe: Probe, w: Array, x: Array, state: State) -> Array:
    """wᵀ·M·x at a state, shape (1,)."""
    return np.array([w @ probe.mass(state) @ x])


@check("input-jacobian-is-slope", "∂f/∂u is the slope of f in every input", "input-jacobian")
def input_jacobian_is_slope(subject: Subject) -> None:
    probe = Probe(subject)
    size = probe.description.input_size
    if not size:
        raise NotApplicable("has no inputs with these options")
    for state in probe.states:
        found = np.full((state.v.size, size), np.nan)
        probe.model.compute_input_jacobian(state, probe.inputs, found)
        for direction in np.eye(size):
            expect_slope("∂f/∂u", found @ direction, partial(_force_of_inputs, probe, state, direction))


def _force_of_inputs(probe: Probe, state: State, direction: Array, s: float) -> Array:
    """f with the inputs moved by s·direction."""
    return probe.force(state, probe.inputs + s * direction)


SLOPES: tuple[Check, ...] = (
    stiffness_is_slope,
    damping_is_slope,
    dissipation_apart,
    balance_is_force_less_inertia,
    balance_tangent_is_slope,
    mass_gradient_is_slope,
    input_jacobian_is_slope,
)
"""Checks of derivatives."""
