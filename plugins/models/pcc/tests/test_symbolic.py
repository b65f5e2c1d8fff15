import itertools

import mpmath
import numpy as np
import pytest

from corekit_testing.rounding import rounding

casadi = pytest.importorskip("casadi")


def test_expressions_equal_the_compiled_model(options, build, moving, evaluate):
    model, _ = build(**options, coriolis=True)
    state, inputs = moving(model)
    functions = model.symbolic().functions()
    mass, force = evaluate(model, state, inputs)
    assert np.array(functions["mass"](state.q)) == pytest.approx(mass, abs=1e-12)
    assert np.array(functions["force"](state.q, state.v, inputs)).ravel() == pytest.approx(force, abs=1e-10)
    energies = np.array([float(value) for value in functions["energy"](state.q, state.v)])
    assert energies == pytest.approx(model.compute_energies(state), abs=1e-12)
    count = len(model.description.frames)
    position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
    model.compute_frame_poses(state, position, rotation)
    positions, rotations = functions["poses"](state.q)
    # three sections of a frame's product and a section's functions each
    rounded = rounding(3 * 48)
    assert pytest.approx(position, abs=rounded) == np.array(positions).T
    assert np.array(rotations).reshape(3, count, 3).transpose(1, 0, 2) == pytest.approx(rotation, abs=rounded)


def test_expressions_leave_out_coriolis_forces_when_the_model_does(build, moving, evaluate):
    model, _ = build()
    state, inputs = moving(model)
    force = model.symbolic().functions()["force"](state.q, state.v, inputs)
    assert np.array(force).ravel() == pytest.approx(evaluate(model, state, inputs)[1], abs=1e-10)


def test_point_rows_equal_carrier_rows(options, build, moving):
    model, _ = build(**options)
    state, _ = moving(model)
    arm, n, last = model.symbolic(), state.q.size, len(model.description.frames) - 1
    q, local = casadi.SX.sym("q", n), np.array([[0.03, -0.05, 0.01]])
    rows = casadi.Function("rows", [q], [arm.point_jacobian(q, last, local[0])])
    dofs, values = np.zeros((1, n), dtype=np.int64), np.zeros((1, 3, n))
    model.compute_point_jacobians(state, np.array([last]), local, dofs, values)
    assert np.array(rows(state.q)) == pytest.approx(values[0], abs=1e-13)


def test_forces_can_be_built_from_matrix_expressions(build, moving, evaluate):
    model, _ = build(coriolis=True)
    state, inputs = moving(model)
    q, v, u = (casadi.MX.sym(name, 9) for name in "qvu")
    force = casadi.Function("force", [q, v, u], [model.symbolic().force(q, v, u)])
    assert np.array(force(state.q, state.v, inputs)).ravel() == pytest.approx(
        evaluate(model, state, inputs)[1], abs=1e-10
    )


def test_third_derivatives_at_the_straight_pose_are_those_of_the_exponential(build):
    model, reference = build(sections=1, mass=1.0, chambers=4, chamber_radius=1.0, disks=0)
    arm, q = model.symbolic(), casadi.SX.sym("q", 3)
    position = reference.base[:3, :3].T @ (arm.pose(q, 1)[0] - reference.base[:3, 3])
    for axis in range(3):
        for a, b, c in itertools.combinations_with_replacement(range(3), 3):
            expression = position[axis]
            for variable in (a, b, c):
                expression = casadi.gradient(expression, q)[variable]
            value = float(casadi.Function("third", [q], [expression])(np.zeros(3)))
            assert value == pytest.approx(_third_derivative(axis, (a, b, c)), abs=1e-12)


def _third_derivative(axis, variables):
    """The same from the exponential of the twist, by central differences in 80 digits."""
    with mpmath.workdps(80):
        step, total = mpmath.mpf(10) ** -15, mpmath.mpf(0)
        for signs in itertools.product((1, -1), repeat=3):
            extension, bx, by = (
                step * sum(sign for sign, k in zip(signs, variables, strict=True) if k == y) for y in range(3)
            )
            twist = mpmath.matrix(4, 4)
            twist[0, 2], twist[2, 0], twist[1, 2], twist[2, 1] = bx, -bx, by, -by
            twist[2, 3] = mpmath.mpf("0.15") + extension
            total += signs[0] * signs[1] * signs[2] * mpmath.expm(twist, method="taylor")[axis, 3]
        return float(total / (2 * step) ** 3)
