"""Losses of how contacts push at the end of a run, whose derivatives mechanics knows."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import GradientError
from corekit.scenario.load import from_document

GRAVITY, FRICTION, MASS, FORCE, STEPS = 9.81, 0.3, 2.0, 5.0, 6
WORLD = {
    "format": "corekit-scenario/1", "name": "ball", "time": {"duration": STEPS * 1e-3, "step": 1e-3},
    "world": {
        "gravity": [0.0, 0.0, -GRAVITY], "obstacles": [{"name": "floor", "shape": "half-space"}],
        "friction": [{"between": ["ball", "floor"], "value": FRICTION}],
    },
    "bodies": [{
        "name": "ball", "use": "rigid", "options": {"shape": "sphere", "size": [0.1], "mass": MASS},
        "initial": {"position": [0.0, 0.0, 0.1], "velocity": [1.0, 0.0, 0.0]},
        "inputs": [{"channel": "wrench", "signal": [0.0, 0.0, -FORCE, 0.0, 0.0, 0.0]}],
    }],
    "contact": {"detector": "sdf", "solver": {"use": "lcp"}},
    "integrator": {"use": "semi-implicit-euler"}, "output": {"every": 1e-3},
}  # fmt: skip


def normal(instant):
    assert instant.contacts.names == (("ball", "floor"),)
    return instant.contacts.normal[0]


def drag(instant):
    return np.linalg.norm(instant.contacts.tangential[0])


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "implicit-euler"])
@pytest.mark.parametrize("solver", ["lcp", "qp", "cone"])
@pytest.mark.parametrize(("loss", "share"), [(normal, 1.0), (drag, FRICTION)])
def test_a_ball_that_slides_pushes_with_its_weight_and_what_presses_it(integrator, solver, loss, share):
    """N = m·g + F and T = μ·N of the last step, whatever the earlier ones held."""
    document = {**WORLD, "integrator": {"use": integrator}, "contact": {"detector": "sdf", "solver": solver}}
    paths = ["bodies.ball.options.mass", "world.gravity[2]", "world.friction[0].value"]
    found = from_document(document).compose().gradient(
        loss, until=STEPS * 1e-3, inputs=True, parameters=paths
    )  # fmt: skip
    assert found.value == pytest.approx(share * (MASS * GRAVITY + FORCE), rel=1e-7)
    by_friction = MASS * GRAVITY + FORCE if loss is drag else 0.0
    assert list(found.parameters.values()) == pytest.approx(
        [share * GRAVITY, -share * MASS, by_friction], rel=1e-6, abs=1e-6
    )
    by_force = found.inputs["ball"]["wrench"][:, 2]
    assert by_force == pytest.approx([0.0] * (STEPS - 1) + [-share], abs=1e-6)
    # a start above the floor by δ presses less by what closes the gap
    assert found.initial.velocity[0] == pytest.approx(0.0, abs=1e-6)


def test_a_loss_that_knows_its_derivative_in_the_state_is_differentiated_in_what_contacts_did():
    """N + c·v_x with ∂/∂v_x = c given: v_x is what (T − μ·N)·h/m of every step leaves, N as above."""
    weight = 3.0

    class Known:
        def __call__(self, instant):
            return normal(instant) + weight * instant.v[0]

        def covector(self, instant):
            return np.zeros(6), np.array([weight, 0.0, 0.0, 0.0, 0.0, 0.0])

    paths = ["world.gravity[2]", "world.friction[0].value"]
    found = from_document(WORLD).compose().gradient(
        Known(), until=STEPS * 1e-3, inputs=True, parameters=paths
    )  # fmt: skip
    slowed = weight * STEPS * 1e-3
    expected = [-MASS + slowed * FRICTION, -slowed * (GRAVITY + FORCE / MASS)]
    assert list(found.parameters.values()) == pytest.approx(expected, rel=1e-6)
    by_force = found.inputs["ball"]["wrench"][:, 2]
    of_speed = weight * 1e-3 * FRICTION / MASS
    assert by_force == pytest.approx([of_speed] * (STEPS - 1) + [of_speed - 1.0], rel=1e-6)


def test_contacts_are_known_at_the_end_of_a_run_alone():
    simulation = from_document(WORLD).compose()
    with pytest.raises(GradientError, match=r"asks for contacts at t = 0\.001 s"):
        simulation.gradient(lambda instant: 0.0, until=STEPS * 1e-3, running=normal)
    with pytest.raises(GradientError, match="without checkpoints"):
        from_document(WORLD).compose().gradient(normal, until=STEPS * 1e-3, checkpoints=2)


def test_a_ball_that_nothing_touches_has_no_contacts():
    above = {**WORLD["bodies"][0], "initial": {"position": [0.0, 0.0, 0.3]}}
    found = from_document({**WORLD, "bodies": [above]}).compose().gradient(
        lambda instant: float(len(instant.contacts.names)), until=STEPS * 1e-3
    )  # fmt: skip
    assert found.value == 0.0
    assert not found.initial.velocity.any()
