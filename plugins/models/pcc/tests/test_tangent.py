import numpy as np
import pytest

from corekit.data.state import State


def _difference(function, x, step=1e-3):
    """Fourth-order central difference, one column a coordinate."""
    columns = []
    for e in step * np.eye(x.size):
        near, far = function(x + e) - function(x - e), function(x + 2 * e) - function(x - 2 * e)
        columns.append((8 * near - far) / (12 * step))
    return np.array(columns).T


@pytest.mark.parametrize("coriolis", [False, True])
def test_stiffness_and_damping_are_differences_of_the_force(options, coriolis, build, moving, evaluate):
    model, _ = build(**options, coriolis=coriolis)
    state, inputs = moving(model)
    K, D = model.new_stiffness_and_damping()
    model.compute_stiffness_and_damping(state, inputs, K, D)

    def force(q, v):
        return evaluate(model, State(q, v, np.zeros(0)), inputs)[1]

    by_q = -_difference(lambda q: force(q, state.v), state.q)
    by_v = -_difference(lambda v: force(state.q, v), state.v)
    assert by_q == pytest.approx(K.data, abs=1e-6 * np.abs(K.data).max())
    assert by_v == pytest.approx(D.data, abs=1e-9 * np.abs(D.data).max())


def test_stiffness_and_damping_are_exact_to_rounding(options, build, moving):
    casadi = pytest.importorskip("casadi")
    model, _ = build(**options, coriolis=True)
    state, inputs = moving(model)
    K, D = model.new_stiffness_and_damping()
    model.compute_stiffness_and_damping(state, inputs, K, D)
    n, arm = state.q.size, model.symbolic()
    q, v = casadi.SX.sym("q", n), casadi.SX.sym("v", n)
    force = arm.force(q, v, inputs)
    exact = casadi.Function("exact", [q, v], [-casadi.jacobian(force, q), -casadi.jacobian(force, v)])
    by_q, by_v = (np.array(matrix) for matrix in exact(state.q, state.v))
    assert K.data == pytest.approx(by_q, abs=1e-12 * np.abs(by_q).max())
    assert D.data == pytest.approx(by_v, abs=1e-12 * np.abs(by_v).max())


def test_stiffness_is_symmetric_without_coriolis_forces(options, build, moving):
    model, _ = build(**options)
    state, inputs = moving(model)
    K, D = model.new_stiffness_and_damping()
    model.compute_stiffness_and_damping(state, inputs, K, D)
    assert K.data == pytest.approx(K.data.T, abs=1e-12 * np.abs(K.data).max())
    assert np.array_equal(D.data, D.data.T)
