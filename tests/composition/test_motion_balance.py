"""Forces about a motion, and how it moves with its object: against closed forms and the simulator's own steps."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import loads
from corekit_study.motion_balance import balance_motion

from .test_planning import WORLD
from .test_tracking import BALL, DAMPING, INERTIA

DURATION, COUNT = 0.02, 3


def test_the_balance_of_a_damped_ball():
    """I·ω̇ = −d·ω: M, D and the part `damping` of a ball that turns about its centre."""
    simulation = loads(BALL).compose()
    states = [simulation.state.copy() for _ in range(2)]
    for state in states:
        state.v[:] = [1.0, 2.0, 3.0]
    found = balance_motion(simulation, states, np.array([0.0, DURATION]), {}, ("ball",))
    np.testing.assert_allclose(found.mass[0], INERTIA * np.eye(3), rtol=1e-12)
    # a linear force, differenced by 1e-6 of numbers of size 1
    np.testing.assert_allclose(found.damping[0], DAMPING * np.eye(3), atol=1e-11)
    np.testing.assert_allclose(found.stiffness[0], 0.0, atol=1e-11)
    np.testing.assert_allclose(found.force[0], -DAMPING * states[0].v, rtol=1e-12)
    part = found.terms[0][found.term_names.index("ball.damping")]
    np.testing.assert_allclose(part, -DAMPING * states[0].v, rtol=1e-12)
    # nothing touches it, so there is no motion to move with it
    assert (found.object, found.unknown.shape, found.normals.shape) == ("", (1, 0, 3), (1, 0, 3))


@pytest.fixture(scope="module")
def pressed():
    """A short arm at rest on its ball, bent aside, with the inputs that press it on with some newtons."""
    simulation = loads(WORLD).compose()
    start = simulation.state.copy()
    start.q[:3] = [0.024, 0.024, 0.026]
    u = np.tile(265.0 * start.q[:3] + [2.0, 2.0, 3.0], (COUNT, 1))
    simulation.reset(state=start)
    simulation.inputs["arm"]["chamber-force"] = u[0]
    states = []
    for k in range(COUNT + 1):
        simulation.run(0.2 + k * DURATION)
        states.append(simulation.state.copy())
    pushed = simulation.contacts()
    simulation.reset()
    time = DURATION * np.arange(COUNT + 1.0)
    return simulation, states, pushed, balance_motion(simulation, states, time, {"arm": u}, ("ball",))


def test_the_balance_tells_what_a_contact_presses_with(pressed):
    """r of the motion is Uᵀ·w, and G·w the normal force, of steps that the simulator made."""
    _, states, pushed, found = pressed
    assert pushed.force.shape == (1, 3)
    normal = np.linalg.norm(pushed.normal_impulse) / pushed.step_size
    assert normal > 1.0
    left = found.mass[-1] @ (states[-1].v - states[-2].v) / DURATION - found.force[-1]
    w = np.linalg.lstsq(found.unknown[-1].T, left, rcond=None)[0]
    # the arm has three coordinates: force and moment of its end are not told apart but by the least w
    np.testing.assert_allclose(found.unknown[-1].T @ w, left * found.driven, atol=1e-6)
    across = np.linalg.lstsq(found.normals[-1].T * found.driven[:, None], left * found.driven, rcond=None)[0]
    assert across == pytest.approx([normal], rel=0.05)


def test_the_motion_moves_with_its_object(pressed):
    """By S·p the frame that touches it goes by p and keeps its axes, where three coordinates can do that: along z."""
    simulation, states, _, found = pressed
    assert found.object == "ball"
    np.testing.assert_allclose(found.place, [0.0, 0.0, 0.225])
    body, places = simulation.body("arm"), []
    for share in (-1e-3, 1e-3):
        moved = states[0].copy()
        moved.q[:3] += share * found.carried[0][:3, 2]
        frames = np.zeros((len(body.description.frames), 3))
        body.model.compute_frame_poses(moved.body_states[0], frames, np.zeros((len(frames), 3, 3)))
        places.append(frames[-1])
    rate = (places[1] - places[0]) / 2e-3
    assert rate[2] == pytest.approx(1.0, abs=0.05)
