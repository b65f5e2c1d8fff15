"""Gradients of runs in which a ball would pass a plate within a step: it moves by 20 times the plate's thickness."""

from __future__ import annotations

import pytest

from corekit.errors import GradientError
from corekit.scenario.load import from_document

STEP, DOWN, ALONG, FRICTION = 1e-3, 40.0, 50.0, 0.05


def thrown(integrator, level="velocity"):
    """A ball without weight above a plate of 2 mm."""
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "thrown", "time": {"duration": 0.004, "step": STEP},
            "world": {
                "gravity": [0.0, 0.0, 0.0],
                "obstacles": [{"name": "plate", "shape": "box", "size": [2.0, 2.0, 0.002]}],
                "friction": [{"between": ["ball", "plate"], "value": FRICTION}],
            },
            "bodies": [{
                "name": "ball", "use": "rigid", "options": {"shape": "sphere", "size": [0.01], "mass": 2.0},
                "initial": {"position": [0.0, 0.0, 0.07], "velocity": [ALONG, 0.0, -DOWN]},
            }],
            "contact": {"detector": "sdf", "solver": {"use": "lcp"}, "impact": {"level": level}},
            "integrator": {"use": integrator}, "output": {"every": STEP},
        }
    )  # fmt: skip


def speed(instant):
    return instant.body("ball").v[0]


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "implicit-euler"])
def test_the_impact_has_the_gradient_of_coulomb_s_law(integrator):
    """It slides throughout. The plate takes m·v_n, friction μ times as much: ∂v_x/∂μ = −v_n, ∂v_x/∂v_n = μ."""
    pytest.importorskip("corekit_lcp")
    path = "world.friction[0].value"
    found = thrown(integrator).compose().gradient(speed, until=0.004, parameters=[path])
    assert found.value == pytest.approx(ALONG - FRICTION * DOWN, rel=1e-9)
    assert found.parameters == {path: pytest.approx(-DOWN, rel=1e-7)}
    assert found.initial.velocity[0] == pytest.approx(1.0, rel=1e-7)
    assert found.initial.velocity[2] == pytest.approx(FRICTION, rel=1e-7)


def test_by_implicit_midpoint_it_is_refused():
    pytest.importorskip("corekit_lcp")
    with pytest.raises(GradientError, match="would pass each other"):
        thrown("implicit-midpoint").compose().gradient(speed, until=0.004)


@pytest.mark.parametrize("level", ["velocity", "position"])
@pytest.mark.parametrize("integrator", ["implicit-euler", "implicit-midpoint", "verlet"])
def test_at_both_levels_it_stays_above_the_plate(integrator, level):
    pytest.importorskip("corekit_lcp")
    simulation = thrown(integrator, level).compose()
    simulation.run(0.004)
    assert simulation.state.q[2] > 0.0109
