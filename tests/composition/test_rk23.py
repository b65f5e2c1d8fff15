"""rk23 with whole models: the arm whose damping is stiff, and bodies that tumble."""

import math

import numpy as np
import pytest

import corekit
from corekit.data.contacts import ContactMode
from corekit.data.status import Status
from corekit.errors import StepFailed
from corekit.geometry.frames import rotation_from_quat_wxyz
from corekit.scenario.load import from_document

RK23 = ("integrator.use=rk23", "integrator.options={}")


def arm(*overrides):
    return corekit.load("cusp/inclined-box", overrides).compose()


def watched(simulation, duration):
    """Kinds of contact that carry load, and the deepest penetration, over a run."""
    modes, depth = [], [0.0]

    def watch(sim, report):
        assert report.solve_info.status is Status.CONVERGED
        record = sim.contacts()
        modes.append((sim.time, set(record.mode[record.normal_impulse > 0].tolist())))
        depth.append(-float(np.min(record.gap, initial=0.0)))

    simulation.observe(watch)
    simulation.run(duration)
    return modes, max(depth)


def test_the_arm_s_damping_is_beyond_explicit_steps_of_a_millisecond():
    explicit = arm("integrator.options={form='explicit'}")
    with np.errstate(all="ignore"), pytest.raises(StepFailed):
        explicit.run(0.3)


def test_rk23_lands_the_arm_as_the_linearly_implicit_scheme_does():
    euler, rk23 = arm(), arm(*RK23)
    euler_modes, _ = watched(euler, 0.3)
    rk23_modes, depth = watched(rk23, 0.3)
    assert depth < 2e-3  # at the impact, half a step's way
    for modes in (euler_modes, rk23_modes):
        later = [kinds for time, kinds in modes if time > 0.2]
        assert all(kinds == {ContactMode.STICK} for kinds in later)
    np.testing.assert_allclose(rk23.state.q, euler.state.q, atol=2e-4)


def test_rk23_carries_the_resting_arm_with_the_same_force():
    """The impulse of a step that is nearly at rest, split damping (h·d = 10) or all implicit."""
    forces = []
    for overrides in ((), RK23):
        simulation = arm(*overrides)
        simulation.run(0.5)
        record = simulation.contacts()
        forces.append((record.normal_impulse[:, None] * record.normal).sum(axis=0) / 1e-3)
    assert np.linalg.norm(forces[0]) > 1.0
    np.testing.assert_allclose(forces[1], forces[0], rtol=0.01, atol=0.01 * float(np.linalg.norm(forces[0])))


def tumbling(step, **options):
    """A box that turns freely, from far off its axes, for 1 s: end of R·(I·ω) and the attitude."""
    body = {
        "name": "it", "use": "rigid", "options": {"shape": "box", "size": [0.1, 0.2, 0.3], "mass": 2.0},
        "initial": {"angular_velocity": [1.0, 4.0, 0.5]},
    }  # fmt: skip
    document = {
        "format": "corekit-scenario/1", "name": "top", "time": {"duration": 1.0, "step": step},
        "world": {"gravity": [0.0, 0.0, 0.0]}, "bodies": [body],
        "integrator": {"use": "rk23", "options": {"relative": 0.1, "absolute": 1e9, **options}},
        "output": {"every": 1.0},
    }  # fmt: skip
    simulation = from_document(document).compose()
    simulation.run(1.0)
    turned = rotation_from_quat_wxyz(simulation.state.q[3:])
    inertia = 2.0 / 12.0 * np.array([0.13, 0.1, 0.05])
    return turned, turned @ (inertia * simulation.state.v[3:]) - inertia * (1.0, 4.0, 0.5)


def test_a_tumbling_body_keeps_its_angular_momentum_to_third_order():
    errors = [np.linalg.norm(tumbling(step, split_above=math.inf)[1]) for step in (0.02, 0.01, 0.005)]
    found = [math.log2(errors[i] / errors[i + 1]) for i in range(2)]
    assert found == pytest.approx([3.0, 3.0], abs=0.25)


def test_turns_in_sequence_make_the_attitude_of_third_order_too():
    """Rotations do not commute: one turn by the mean rate would be of second order."""
    exact = tumbling(5e-4, split_above=math.inf)[0]
    errors = [np.max(np.abs(tumbling(step, split_above=math.inf)[0] - exact)) for step in (0.02, 0.01, 0.005)]
    found = [math.log2(errors[i] / errors[i + 1]) for i in range(2)]
    assert found == pytest.approx([3.0, 3.0], abs=0.25)
