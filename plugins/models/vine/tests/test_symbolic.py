"""Expressions for estimators beyond the conformance kit: constraints and parameters."""

from __future__ import annotations

import numpy as np
import pytest

from corekit_testing.rounding import rounding

casadi = pytest.importorskip("casadi", reason="the extra `symbolic` is not installed")


@pytest.mark.parametrize("equations", ["regular", "published"])
def test_symbolic_constraints_equal_the_compiled_ones(robot, equations):
    start = {"bend": (0.2,), "bend_rate": (0.5,), "growth_rate": 0.1}
    arm = robot(bodies=6, length=0.3, equations=equations, initial=start)
    arm.inputs[0] = 0.12
    arm.state.q += 1e-3 * np.random.default_rng(0).normal(size=18)
    J, rows = arm.rows()
    symbolic = arm.model.symbolic()
    q, v, u = casadi.SX.sym("q", 18), casadi.SX.sym("v", 18), casadi.SX.sym("u", symbolic.inputs)
    expressions = [symbolic.constraint_jacobian(q, v), symbolic.constraint(q), symbolic.target_rates(u)]
    function = casadi.Function("rows", [q, v, u], expressions)
    matrix, position, target = (np.array(each) for each in function(arm.state.q, arm.state.v, arm.inputs))
    np.testing.assert_allclose(matrix, J, atol=1e-12)
    np.testing.assert_allclose(
        position.ravel(), rows.position_error[~rows.is_velocity_level], atol=rounding(32)
    )
    np.testing.assert_allclose(target.ravel(), rows.target_rate[rows.is_velocity_level], atol=rounding(16))


def test_stiffness_and_damping_arguments_replace_those_of_the_options(robot):
    start = {"bend": (0.2,), "bend_rate": (0.5,)}
    arm = robot(bodies=6, length=0.3, initial=start)
    expected = robot(bodies=6, length=0.3, joint_stiffness=0.7, joint_damping=0.02, initial=start)
    symbolic = arm.model.symbolic()
    K, C = casadi.SX.sym("K"), casadi.SX.sym("C")
    q, v, u = casadi.SX.sym("q", 18), casadi.SX.sym("v", 18), casadi.SX.sym("u", symbolic.inputs)
    function = casadi.Function("f", [q, v, u, K, C], [symbolic.force(q, v, u, K, C)])
    found = np.array(function(arm.state.q, arm.state.v, arm.inputs, 0.7, 0.02)).ravel()
    np.testing.assert_allclose(found, expected.dynamics()[1], atol=1e-12)
