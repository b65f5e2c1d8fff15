"""Pins, telescoping joints and growth: misprints of the paper, and properties of the constraints."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit_testing.rounding import rounding


def pins(arm, simulation):
    """Where base, pins and tip are in the plane, (N + 1, 2)."""
    frames = len(arm.model.description.frames)
    position, rotation = np.zeros((frames, 3)), np.zeros((frames, 3, 3))
    arm.model.compute_frame_poses(simulation.state.body_states[0], position, rotation)
    return position[::2, [0, 2]]


@pytest.mark.parametrize("equations", ["regular", "published"])
@pytest.mark.parametrize(("heading", "bend"), [(0.0, 0.0), (1.1, 0.3), (-2.5, -0.5)])
def test_every_constraint_holds_in_any_bent_and_grown_shape(robot, equations, heading, bend):
    # with the cosine of the paper's equation (2), only a robot along x satisfies the constraints
    arm = robot(
        bodies=8,
        length=0.4,
        heading=heading,
        equations=equations,
        initial={"bend": (bend,), "grown_length": 0.7, "bend_rate": (0.4,), "growth_rate": 0.08},
    )
    J, rows = arm.rows()
    # eight bodies in series, eight operations each, below 1 m and 1 m/s
    rounded = rounding(8 * 8)
    np.testing.assert_allclose(rows.position_error, 0.0, atol=rounded)
    rate = np.where(rows.is_velocity_level, 0.02, 0.0)
    h, v = 0.01, arm.state.v
    if equations == "published":
        # g at the end of the step, after the links turned
        np.testing.assert_allclose((J @ v)[~rows.is_velocity_level], 0.0, atol=rounded)
        assert (J @ v)[rows.is_velocity_level] == pytest.approx(0.02, abs=h)
    else:
        np.testing.assert_allclose(J @ v, rate, atol=rounded)


def test_published_rate_rows_constrain_the_rate_at_the_end_of_the_step(robot):
    # Ḡ·v = g(q + h·v, v) + O(h²), without a constant and without the extra v of the paper
    def compute_error(h):
        start = {"bend": (0.2,), "grown_length": 0.5, "bend_rate": (2.0,), "growth_rate": 0.1}
        arm = robot(bodies=6, length=0.3, equations="published", step=h, initial=start)
        J, rows = arm.rows()
        bound = (J @ arm.state.v)[rows.is_velocity_level]
        end = (arm.state.q + h * arm.state.v).reshape(-1, 2, 3)
        speed = arm.state.v.reshape(-1, 2, 3)
        reach, run = (each[:, 1, :2] - each[:, 0, :2] for each in (end, speed))
        wanted = np.einsum("ji,ji->j", reach, run) / np.linalg.norm(reach, axis=1)
        return float(np.abs(bound - wanted).max())

    assert compute_error(0.002) > 1e-8
    assert compute_error(0.002) / compute_error(0.001) == pytest.approx(4.0, rel=0.1)


def test_regular_rows_keep_their_rank_where_published_rows_lose_it(robot):
    least = {}
    for equations in ("regular", "published"):
        # the bodies of a telescope slide over each other, those of a tube keep half of their link
        start = {"grown_length": 0.1000002}
        arm = robot(bodies=4, length=0.2, equations=equations, form="telescope", initial=start)
        least[equations] = np.linalg.svd(arm.rows()[0], compute_uv=False)[-1]
    assert least["published"] < 1e-4
    assert least["regular"] > 1e-2


@pytest.mark.parametrize("form", ["tube", "telescope"])
@pytest.mark.parametrize("growth_input", ["total", "links"])
def test_a_straight_robot_grows_by_the_integral_of_its_rate(robot, moving, growth_input, form):
    arm = robot(bodies=6, length=0.3, heading=0.7, growth_input=growth_input, form=form)
    rates = 0.05 if growth_input == "total" else (0.01, 0.03, 0.01)
    simulation = moving(arm, growth_rate=rates)
    # a robot at rest has its rate after the first step
    for _ in range(80):
        simulation.step()
    ends = pins(arm, simulation)
    assert math.hypot(*ends[-1]) == pytest.approx(0.3 + 80 * 0.01 * 0.05, abs=1e-12)
    grown = np.linalg.norm(np.diff(ends, axis=0), axis=1) - 0.1
    np.testing.assert_allclose(
        grown, 0.8 * np.broadcast_to(rates if growth_input == "links" else 0.05 / 3, 3), atol=1e-12
    )


@pytest.mark.parametrize("form", ["tube", "telescope"])
def test_retraction_ends_where_the_bodies_overlap(robot, moving, form):
    arm = robot(bodies=4, length=0.2, shortest=0.01, form=form)
    simulation = moving(arm, growth_rate=-0.2)
    reach = []
    for _ in range(60):
        simulation.step()
        reach.append(pins(arm, simulation)[1, 0])
    assert reach[9] == pytest.approx(0.1 - 10 * 0.01 * 0.1, abs=1e-12)
    np.testing.assert_allclose(reach[-5:], 0.06, atol=1e-12)
    assert np.abs(simulation.state.v).max() < 1e-12


def test_drift_of_the_joints_is_of_second_order_and_does_not_accumulate(robot, moving):
    worst = []
    for h in (0.02, 0.01, 0.005):
        arm = robot(
            bodies=8,
            length=0.3,
            bending_stiffness=0.01,
            body_mass=1e-3,
            body_inertia=1e-4,
            initial={"bend": (0.15,)},
        )
        simulation = moving(arm, step=h, growth_rate=0.04)
        found = []
        for _ in range(round(0.6 / h)):
            simulation.step()
            arm.state.copy_from(simulation.state)
            rows = arm.rows()[1]
            found.append(float(np.abs(rows.position_error[~rows.is_velocity_level]).max()))
        worst.append(max(found))
        half = len(found) // 2
        assert max(found[half:]) <= 1.2 * max(found[:half])
    assert worst[1] < 1e-3
    assert worst[0] / worst[1] == pytest.approx(4.0, rel=0.4)
    assert worst[1] / worst[2] == pytest.approx(4.0, rel=0.4)


@pytest.mark.parametrize("form", ["tube", "telescope", "everting"])
@pytest.mark.parametrize("growth", ["rate", "pressure"])
def test_a_load_slows_growth_by_the_pressure_law(robot, moving, growth, form):
    # g = φ·(P − Y − F/A), for any count of links
    phi, pressure, least, tip_load = 2e-6, 30e3, 5e3, 4.0
    options = {"extensibility": phi, "growth": growth, "form": form}
    options |= {"yield_pressure": least} if growth == "pressure" else {}
    options |= {"longest": 0.5} if form == "everting" else {}
    drive = {"pressure": pressure} if growth == "pressure" else {"growth_rate": phi * (pressure - least)}
    for bodies in (2, 10):
        arm = robot(bodies=bodies, length=0.3, diameter=0.02, **options)
        simulation = moving(arm, tip_force=(-tip_load, 0.0), **drive)
        for _ in range(5):
            simulation.step()
        area = math.pi * 0.01**2
        wanted = phi * (pressure - least - tip_load / area)
        assert simulation.state.v[-3] == pytest.approx(wanted, rel=1e-5)
        assert wanted < 0.8 * phi * (pressure - least)
