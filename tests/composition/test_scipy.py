"""SciPy's solvers with whole models: the cable arm, tumbling bodies in either description, an arm in contact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import corekit
from corekit.errors import CompositionError
from corekit.geometry.frames import rotation_from_quat_wxyz
from corekit.scenario.load import from_document

SOLVERS = ("scipy-bdf", "scipy-radau", "scipy-rk45")


def places(simulation):
    """Origins of the frames of the first body."""
    count = len(simulation.bodies[0].description.frames)
    position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
    simulation.bodies[0].model.compute_frame_poses(simulation.state.body_states[0], position, rotation)
    return position


def cable_arm(*overrides):
    simulation = corekit.load("gvs/cable-manipulator", overrides).compose()
    simulation.run(0.4)
    return places(simulation)


def test_implicit_solvers_agree_with_generalized_alpha_on_the_cable_arm():
    """Its fastest mode decays at 2.6e6/s; each scheme to its own tolerance."""
    wanted = cable_arm()
    assert np.linalg.norm(wanted[1] - [0.3, 0.0, 0.0]) > 0.1  # it has moved
    for solver in SOLVERS[:2]:
        found = cable_arm(f"integrator.use={solver}", "integrator.options={}")
        np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_loops_are_held_by_baumgarte_and_by_generalized_alpha_alike():
    """A platform on four ropes with three closed loops and massless links, in the wind."""
    ends = []
    for overrides in (
        ("integrator.use=scipy-bdf", "integrator.options={}"),
        ("integrator.use=scipy-radau", "integrator.options={relative=1e-3}"),
        ("integrator.options={spectral_radius=0.9, tolerance=1e-8, local_error=1e-8}",),
    ):
        simulation = corekit.load("gvs/cdpr", overrides).compose()
        start = simulation.state.q.copy()
        simulation.run(0.2)
        body, part = simulation.bodies[0], simulation.system.terms.bodies[0]
        assert part.rows is not None
        assert part.constraints is not None
        part.constraints.evaluate(simulation.state.body_states[0], body.inputs.value_at(simulation.time))
        assert np.abs(part.rows.position_error).max() < 1e-8
        assert np.abs(part.rows.product(simulation.state.v)).max() < 1e-5
        ends.append(simulation.state.q - start)
    assert np.abs(ends[0]).max() > 2e-3
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-5)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-5)


def tumbling(solver, **options):
    """A box that turns freely, from far off its axes, for 1 s."""
    body = {
        "name": "it", "use": "rigid", "options": {"shape": "box", "size": [0.1, 0.2, 0.3], "mass": 2.0},
        "initial": {"angular_velocity": [1.0, 4.0, 0.5]},
    }  # fmt: skip
    document = {
        "format": "corekit-scenario/1", "name": "top", "time": {"duration": 1.0, "step": 0.01},
        "world": {"gravity": [0.0, 0.0, 0.0]}, "bodies": [body],
        "integrator": {"use": solver, "options": options}, "output": {"every": 1.0},
    }  # fmt: skip
    simulation = from_document(document).compose()
    simulation.run(1.0)
    return simulation


def turned(inertia, start, duration):
    """Attitude and rates in the body's axes by Euler's equations."""

    def right(_t, y):
        turn, rate = y[:9].reshape(3, 3), y[9:]
        across = np.array([[0, -rate[2], rate[1]], [rate[2], 0, -rate[0]], [-rate[1], rate[0], 0]])
        return np.concatenate([(turn @ across).ravel(), -np.cross(rate, inertia * rate) / inertia])

    end = solve_ivp(right, (0, duration), [*np.eye(3).ravel(), *start], rtol=1e-11, atol=1e-12).y[:, -1]
    return end[:9].reshape(3, 3), end[9:]


@pytest.mark.parametrize("solver", SOLVERS)
def test_turns_follow_euler_s_equations_though_rotations_do_not_commute(solver):
    attitude, rates = turned(2.0 / 12.0 * np.array([0.13, 0.1, 0.05]), np.array([1.0, 4.0, 0.5]), 1.0)
    state = tumbling(solver, relative=1e-7, absolute=1e-9).state
    np.testing.assert_allclose(state.v[3:], rates, atol=2e-5)
    np.testing.assert_allclose(rotation_from_quat_wxyz(state.q[3:]), attitude, atol=2e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_free_joint_is_recentred_and_tumbles_on(solver):
    """Its exponential coordinates are moved to a new frame past half a turn, q and v together: a fresh start."""
    inertia, start = np.array([1e-3, 2e-3, 3e-3]), np.array([0.4, 3.0, 0.2])
    link = {
        "name": "box", "kind": "rigid", "mass": 0.5, "inertia": inertia.tolist(), "joint": {"kind": "free"},
        "collision": "none",
    }  # fmt: skip
    document = {
        "format": "corekit-scenario/1", "name": "top", "time": {"duration": 2.5, "step": 0.01},
        "world": {"gravity": [0.0, 0.0, 0.0]},
        "bodies": [{"name": "it", "use": "gvs", "options": {"links": [link]}}],
        "integrator": {"use": solver, "options": {"relative": 1e-7, "absolute": 1e-9}}, "output": {"every": 2.5},
    }  # fmt: skip
    simulation = from_document(document).compose()
    simulation.state.v[:3] = start
    frame = simulation.state.aux.copy()
    frames = len(simulation.bodies[0].description.frames)
    rotation = np.zeros((frames, 3, 3))
    simulation.run(2.5)
    assert not np.array_equal(simulation.state.aux, frame)  # it was
    simulation.bodies[0].model.compute_frame_poses(
        simulation.state.body_states[0], np.zeros((frames, 3)), rotation
    )
    np.testing.assert_allclose(rotation[0], turned(inertia, start, 2.5)[0], atol=5e-5)


def test_an_implicit_one_is_refused_for_a_stiff_arm_that_is_pushed_by_impulses():
    for solver in SOLVERS[:2]:
        with pytest.raises(CompositionError, match="choose a coupled integrator"):
            corekit.load("cusp/inclined-box", (f"integrator.use={solver}", "integrator.options={}")).compose()


def test_the_explicit_one_lands_the_arm_as_the_linearly_implicit_scheme_does():
    arms = [
        corekit.load("cusp/inclined-box", overrides).compose()
        for overrides in ((), ("integrator.use=scipy-rk45", "integrator.options={}"))
    ]
    for arm in arms:
        arm.run(0.15)
    assert math.isfinite(float(arms[1].contacts().normal_impulse.sum()))
    np.testing.assert_allclose(arms[1].state.q, arms[0].state.q, atol=2e-3)
