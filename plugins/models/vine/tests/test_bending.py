"""Bending against beam theory: deflection, frequency, buckling, and the numerical damping of the implicit spring."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg

EI, LENGTH = 0.02, 0.5


@pytest.mark.parametrize("bodies", [2, 10, 30])
def test_a_small_load_deflects_the_tip_by_the_chain_formula(robot, bodies):
    arm = robot(bodies=bodies, length=LENGTH, bending_stiffness=EI)
    load = 1e-3
    arm.inputs[-1] = load
    Z, n = arm.free_motions(), bodies // 2
    # a transverse dead load adds nothing to K
    arm_stiffness = Z.T @ arm.stiffness() @ Z
    tip = Z @ np.linalg.solve(arm_stiffness, Z.T @ arm.dynamics()[1])
    d = arm.config.half_length
    moved = tip[-2] + d * tip[-1]
    assert moved == pytest.approx(load * LENGTH**3 / EI * (1 / 3 + 1 / (6 * n * n)), rel=1e-9)


def test_only_with_bending_stiffness_is_the_robot_independent_of_the_body_count(robot):
    def compute_deflection(**options):
        arm = robot(length=LENGTH, **options)
        arm.inputs[-1] = 1e-3
        Z = arm.free_motions()
        tip = Z @ np.linalg.solve(Z.T @ arm.stiffness() @ Z, Z.T @ arm.dynamics()[1])
        return tip[-2]

    same = compute_deflection(bodies=40, bending_stiffness=EI) / compute_deflection(
        bodies=20, bending_stiffness=EI
    )
    other = compute_deflection(bodies=40, joint_stiffness=0.4) / compute_deflection(
        bodies=20, joint_stiffness=0.4
    )
    assert same == pytest.approx(1.0, abs=0.03)
    assert other == pytest.approx(2.0, abs=0.2)


def test_the_first_frequency_converges_to_that_of_a_cantilever_beam(robot):
    errors = []
    for bodies in (10, 20, 40):
        arm = robot(bodies=bodies, length=LENGTH, bending_stiffness=EI, diameter=0.02)
        Z = arm.free_motions()
        M, _ = arm.dynamics()
        square = scipy.linalg.eigvalsh(Z.T @ arm.stiffness() @ Z, Z.T @ M @ Z)[0]
        line_density = M[0, 0] * bodies / LENGTH
        beam = 3.51601527 * math.sqrt(EI / (line_density * LENGTH**4))
        errors.append(math.sqrt(square) / beam - 1.0)
    # the error is the rotary inertia of the tube, a few 1e-4, and 1/N²
    assert abs(errors[2]) < 2e-3
    assert (errors[0] - errors[1]) / (errors[1] - errors[2]) == pytest.approx(4.0, rel=0.25)


def test_the_compressed_chain_buckles_at_the_euler_load(robot):
    loads = []
    for bodies in (20, 40):
        arm = robot(bodies=bodies, length=LENGTH, bending_stiffness=EI)
        Z, bent = arm.free_motions(), arm.stiffness()
        arm.inputs[-2] = -1.0
        pressed = arm.stiffness() - bent - arm.force_gradient(arm.dynamics()[1])
        loads.append(1.0 / scipy.linalg.eigvalsh(-Z.T @ pressed @ Z, Z.T @ bent @ Z)[-1])
    euler = math.pi**2 * EI / (4.0 * LENGTH**2)
    assert loads[1] == pytest.approx(euler, rel=2e-3)
    assert abs(loads[1] - euler) < 0.3 * abs(loads[0] - euler)


@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_the_implicit_spring_damps_as_predicted(robot, moving, beta):
    # one link cache about its base: |λ|² = 1/(1 + β·(h·Ω)²)
    h, propagation = 0.01, np.zeros((2, 2))
    arm = robot(bodies=2, length=0.1, bending_stiffness=EI)
    Z, M = arm.free_motions(), arm.dynamics()[0]
    square = float((Z.T @ arm.stiffness() @ Z)[0, 0] / (Z.T @ M @ Z)[0, 0])
    for column, initial in enumerate(({"bend": (1e-5,)}, {"bend_rate": (1e-3,)})):
        turned = robot(bodies=2, length=0.1, bending_stiffness=EI, initial=initial)
        turn = (1e-5, 1e-3)
        simulation = moving(turned, step=h, beta=beta)
        simulation.step()
        propagation[:, column] = [simulation.state.q[2] / turn[column], simulation.state.v[2] / turn[column]]
    assert abs(np.linalg.det(propagation)) == pytest.approx(1.0 / (1.0 + beta * h * h * square), rel=1e-4)


def test_with_true_inertia_the_explicit_spring_explodes_and_the_implicit_one_does_not(robot, moving):
    ends = {}
    for implicit in (False, True):
        arm = robot(bodies=20, length=0.3, bending_stiffness=EI, initial={"bend": (0.02,)})
        simulation = moving(arm, step=0.003, implicit=implicit)
        sizes = []
        for _ in range(25):
            simulation.step()
            sizes.append(float(np.abs(simulation.state.v[2::3]).max()))
            if sizes[-1] > 1e4:
                break
        ends[implicit] = max(sizes)
    assert ends[False] > 1e3
    assert ends[True] < 100.0


def test_mirrored_robots_move_as_mirror_images(robot, moving):
    paths = []
    for sign in (1.0, -1.0):
        arm = robot(bodies=8, length=0.3, heading=0.3 * sign, initial={"bend": (0.2 * sign,)})
        simulation = moving(arm, growth_rate=0.05, tip_force=(0.01, 0.02 * sign))
        for _ in range(20):
            simulation.step()
        paths.append(simulation.state.q.reshape(-1, 3) * [1.0, sign, sign])
    np.testing.assert_allclose(paths[1], paths[0], atol=1e-12)


def test_an_actuator_bends_its_pins_to_its_curvature(robot):
    arm = robot(bodies=12, length=0.36, actuators=((0, 2), (3, 5)), natural_curvature=(0.5,))
    arm.inputs[2:4] = 4.0, -2.0
    curvature = 0.5 + np.array([4.0, 4.0, 4.0, -2.0, -2.0, -2.0])
    angle = curvature * 0.06
    angle[0] *= 0.5
    bent = robot(
        bodies=12, length=0.36, actuators=((0, 2), (3, 5)), natural_curvature=(0.5,), initial={"bend": angle}
    )
    arm.state.q[:] = bent.state.q
    np.testing.assert_allclose(arm.dynamics()[1], 0.0, atol=1e-12)
    arm.inputs[1] = 0.1
    assert arm.dynamics()[1][2] == pytest.approx(0.1 * 2.0 * 0.0133 / 0.06)
