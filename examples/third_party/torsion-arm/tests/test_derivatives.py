"""Mass, rows, tangent and forces against differences and quadrature of the poses."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.data.state import State


def test_mass_matrix_is_that_of_rods_made_of_gauss_points(arm, config, moving, evaluate, differences, places):
    state, inputs = moving
    nodes, weights = np.polynomial.legendre.leggauss(3)
    lengths, masses = (np.broadcast_to(each, config.links) for each in (config.length, config.mass))
    expected = np.zeros((config.links, config.links))
    for i in range(config.links):
        frame, local = np.full(3, i), np.outer(lengths[i] * (nodes + 1) / 2, [0.0, 0.0, 1.0])
        J = differences(lambda q, frame=frame, local=local: places(arm, q, frame, local), state.q)
        expected += masses[i] * np.einsum("c,cxi,cxj->ij", weights / 2, J, J)
    M, _ = evaluate(arm, state.q, state.v, inputs)
    np.testing.assert_allclose(M, expected, atol=1e-8)
    assert np.linalg.eigvalsh(M).min() > 0


def test_rows_are_the_derivative_of_points_of_links(arm, moving, differences, places):
    state, _ = moving
    n = state.q.size
    frame, local = np.arange(n), np.tile([0.01, 0.02, 0.1], (n, 1))
    dofs, values = np.zeros((n, n), dtype=np.int64), np.zeros((n, 3, n))
    arm.compute_point_jacobians(state, frame, local, dofs, values)
    assert (dofs == np.arange(n)).all()
    np.testing.assert_allclose(
        values, differences(lambda q: places(arm, q, frame, local), state.q), atol=1e-8
    )


def test_tangent_matches_differences_of_the_force(arm, moving, evaluate, differences):
    state, inputs = moving
    stiffness, damping = arm.new_stiffness_and_damping()
    arm.compute_stiffness_and_damping(state, inputs, stiffness, damping)
    K = -differences(lambda q: evaluate(arm, q, state.v, inputs)[1], state.q)
    D = -differences(lambda v: evaluate(arm, state.q, v, inputs)[1], state.v)
    np.testing.assert_allclose(stiffness.dense(), K, atol=1e-6)
    np.testing.assert_allclose(damping.dense(), D, atol=1e-6)


def test_weight_and_springs_are_the_slope_of_the_potential(arm, moving, differences):
    state, inputs = moving
    terms = arm.compute_force_terms(state, inputs)
    slope = differences(lambda q: np.array(arm.compute_energies(State(q, state.v, np.zeros(0)))[1]), state.q)
    np.testing.assert_allclose(terms["gravity"] + terms["spring"], -slope, atol=1e-7)


def test_velocity_forces_are_lagrange_s(arm, moving, evaluate, differences):
    # −Ṁ·v + ½·∂(vᵀMv)/∂q
    state, inputs = moving
    dM = differences(lambda q: evaluate(arm, q, state.v, inputs)[0], state.q)
    expected = -np.einsum("ijk,j,k->i", dM, state.v, state.v) + 0.5 * np.einsum(
        "ijk,i,j->k", dM, state.v, state.v
    )
    assert arm.compute_force_terms(state, inputs)["coriolis"] == pytest.approx(expected, abs=1e-6)


def test_kinetic_energy_is_that_of_the_mass_matrix(arm, moving, evaluate):
    state, inputs = moving
    M, _ = evaluate(arm, state.q, state.v, inputs)
    assert arm.compute_energies(state)[0] == pytest.approx(0.5 * state.v @ M @ state.v, rel=1e-12)
