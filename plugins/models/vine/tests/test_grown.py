"""A tube that grew is the tube that it would be if it had been made as long: sag, buckling, frequency and weight."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg

from corekit_testing.rounding import rounding
from corekit_vine.inertia import compute_body_inertia

EI, START = 0.0133, 0.2
TIMES = [1, 2, 4, 7]
# second order in the count of links: 1/(2·N²) of the sag, π²/(48·N²) of the load
BODIES = 30


def grown(robot, times, form):
    """A robot that is several times as long as at the start."""
    options = {"longest": 7 * START} if form == "everting" else {}
    return robot(
        bodies=BODIES, length=START, bending_stiffness=EI, initial={"grown_length": times * START}, form=form, **options
    )  # fmt: skip


FORMS = [*(("tube", times) for times in TIMES), ("everting", 4), ("everting", 7)]
"""Links of an everting tube have their length from the start on: less than half of them are out before."""


def line_density(arm):
    """Mass per length at the start [kg/m]."""
    return compute_body_inertia(arm.config)[0] * BODIES / START


@pytest.mark.parametrize(("form", "times"), FORMS)
def test_a_grown_tube_sags_by_m_g_l3_over_3_e_i(robot, form, times):
    arm, load, length = grown(robot, times, form), 1e-3, times * START
    arm.inputs[-1] = load
    Z = arm.free_motions()
    tip = Z @ np.linalg.solve(Z.T @ arm.stiffness() @ Z, Z.T @ arm.dynamics()[1])
    moved = tip[-2] + 0.25 * arm.state.aux[BODIES // 2 - 1] * tip[-1]
    assert moved == pytest.approx(load * length**3 / (3.0 * EI), rel=0.01)


@pytest.mark.parametrize(("form", "times"), FORMS)
def test_a_grown_tube_buckles_at_its_euler_load(robot, form, times):
    arm, length = grown(robot, times, form), times * START
    Z, bent = arm.free_motions(), arm.stiffness()
    arm.inputs[-2] = -1.0
    pressed = arm.stiffness() - bent - arm.force_gradient(arm.dynamics()[1])
    load = 1.0 / scipy.linalg.eigvalsh(-Z.T @ pressed @ Z, Z.T @ bent @ Z)[-1]
    assert load == pytest.approx(math.pi**2 * EI / (4.0 * length**2), rel=0.01)


@pytest.mark.parametrize(("form", "times"), FORMS)
def test_a_grown_tube_has_the_first_frequency_of_its_length(robot, form, times):
    arm, length = grown(robot, times, form), times * START
    Z, M = arm.free_motions(), arm.dynamics()[0]
    square = scipy.linalg.eigvalsh(Z.T @ arm.stiffness() @ Z, Z.T @ M @ Z)[0]
    beam = 3.51601527 * math.sqrt(EI / (line_density(arm) * length**4))
    assert math.sqrt(square) == pytest.approx(beam, rel=0.01)


@pytest.mark.parametrize(("form", "times"), FORMS)
def test_a_grown_tube_weighs_what_its_length_does(robot, form, times):
    arm, length = grown(robot, times, form), times * START
    M, _ = arm.dynamics()
    along = np.tile([1.0, 0.0, 0.0], BODIES)
    mass = line_density(arm) * length
    assert along @ M @ along == pytest.approx(mass, rel=1e-12)
    # it turns about its base as a rod and its section do
    q = arm.state.q.reshape(-1, 3)
    turn = np.column_stack([-q[:, 1], q[:, 0], np.ones(BODIES)]).ravel()
    _, across = compute_body_inertia(arm.config)
    section = across / compute_body_inertia(arm.config)[0] - (START / BODIES) ** 2 / 12.0
    assert turn @ M @ turn == pytest.approx(mass * (length**2 / 3.0 + section), rel=1e-12)


def test_what_grew_by_its_rate_is_what_was_made_as_long(robot, moving):
    arm = robot(bodies=8, length=START, bending_stiffness=EI, heading=0.4)
    simulation = moving(arm, growth_rate=2.0)
    for _ in range(60):
        simulation.step()
    arm.state.copy_from(simulation.state.body_states[0])
    made = robot(bodies=8, length=7 * START, bending_stiffness=EI, heading=0.4)
    # sums of 60 steps over lengths up to 1.4 m
    near = rounding(60 * 8, 1.4)
    np.testing.assert_allclose(arm.state.q, made.state.q, rtol=0, atol=near)
    np.testing.assert_allclose(arm.dynamics()[0], made.dynamics()[0], rtol=1e-11)
    np.testing.assert_allclose(arm.stiffness(), made.stiffness(), rtol=1e-11)


def test_only_the_papers_telescope_keeps_stiffness_and_mass_of_its_start(robot):
    options = {"bodies": 8, "length": START, "bending_stiffness": EI, "form": "telescope"}
    short, far = robot(**options), robot(**options, initial={"grown_length": 7 * START})
    np.testing.assert_array_equal(far.dynamics()[0], short.dynamics()[0])
    np.testing.assert_array_equal(far.stiffness(), short.stiffness())


@pytest.mark.parametrize("form", ["tube", "telescope"])
def test_stiffness_of_joints_and_mass_of_bodies_are_those_at_the_start(robot, form):
    # an option's number is that with the bodies end to end; a tube then changes as a tube does
    options = {"joint_stiffness": 0.7, "joint_damping": 0.02, "body_mass": 2e-3, "body_inertia": 1e-5}
    arms = [
        robot(bodies=6, length=0.3, form=form, **options, initial={"grown_length": length})
        for length in (0.3, 0.6)
    ]
    for arm, times in zip(arms, (1.0, 2.0 if form == "tube" else 1.0), strict=True):
        assert arm.stiffness()[2, 2] == pytest.approx(0.7 / times, rel=1e-12)
        M, _ = arm.dynamics()
        assert M[0, 0] == pytest.approx(2e-3 * times, rel=1e-12)
        slender = 2e-3 * 0.05**2 / 12.0
        wanted = times * (1e-5 + (times**2 - 1.0) * slender)
        assert M[2, 2] == pytest.approx(wanted, rel=1e-12)
