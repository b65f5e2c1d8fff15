"""Numbers among the options of bodies: by other models of a body as by twins, and without composing any."""

from __future__ import annotations

import pytest

from corekit.scenario.load import with_values
from corekit_gradients.losses import Instant
from corekit_gradients.parameters import find_parameters, make_pair

from .test_run_gradient import arm, ball, tip

ARM = [f"bodies.arm.options.{name}" for name in ("stiffness", "damping", "mass", "length")]
BALL = [f"bodies.ball.options.{name}" for name in ("mass", "linear_damping", "angular_damping")]


def moving(instant: Instant) -> float:
    """Of the speed and the spin of a ball."""
    v = instant.body("ball").v
    return float(v[0] + 0.3 * v[4] + 0.1 * v[1])


def sliding(solver: str):
    """A ball that slides, slowed by drag too, so that its mass counts."""
    drag = {"bodies.ball.options.linear_damping": 0.4, "bodies.ball.options.angular_damping": 1e-3}
    return with_values(ball(solver), drag)


def by_twins(simulation, monkeypatch):
    """The same simulation, which says that models are not all that changes."""
    monkeypatch.setattr(type(simulation.renew), "other_models", lambda *_: None)
    return simulation


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "implicit-midpoint"])
def test_numbers_of_an_arm_have_the_derivatives_that_twins_give(integrator, monkeypatch):
    """Its length moves frames, so that a step is evaluated whole; the others are in its own equations alone."""
    scenario = arm(integrator=integrator)
    found = scenario.compose().gradient(tip, until=0.1, parameters=ARM).parameters
    other = by_twins(scenario.compose(), monkeypatch)
    expected = other.gradient(tip, until=0.1, parameters=ARM).parameters
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-12)
    assert all(abs(value) > 1e-9 for value in found.values())


@pytest.mark.parametrize("solver", ["lcp", "cone"])
def test_numbers_of_a_ball_that_slides_have_the_derivatives_that_twins_give(solver, monkeypatch):
    """Pyramids that turn follow the mass; beside the cone it is in the ball's own equations alone."""
    pytest.importorskip(f"corekit_{solver}")
    found = sliding(solver).compose().gradient(moving, until=0.05, parameters=BALL).parameters
    other = by_twins(sliding(solver).compose(), monkeypatch)
    expected = other.gradient(moving, until=0.05, parameters=BALL).parameters
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-10)
    assert abs(found[BALL[0]]) > 1e-6


def test_options_of_bodies_need_no_other_world_and_the_simulation_stays(monkeypatch):
    simulation = arm().compose()
    monkeypatch.setattr(type(simulation.renew), "twin", lambda *_: pytest.fail("composed a twin"))
    before, model = simulation.internal_state(), simulation.bodies[0].model
    pairs = [make_pair(simulation, each) for each in find_parameters(simulation, ARM)]
    assert all(each.models is not None and each.ahead is None for each in pairs)
    assert simulation.bodies[0].model is model
    for name, value in simulation.internal_state().items():
        assert value.tobytes() == before[name].tobytes()
    simulation.gradient(tip, until=0.1, parameters=ARM)
    assert simulation.bodies[0].model is model
    kept = arm().compose()
    kept.run(0.1)
    assert simulation.state.qv.tobytes() == kept.state.qv.tobytes()
