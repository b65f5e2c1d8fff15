"""Gradients by numbers of a body that enter more than its own equations, against twins of the world.

A push-out that is limited near a clamp follows the mobility there, by a few billionths of what the rod itself does:
twins, which evaluate all of a step, are met to rounding. Where a clamp stands follows a rod's ends.
"""

from __future__ import annotations

import pytest

from corekit.scenario.load import from_document

from .test_push_out import clamped_document
from .test_step_derivative import SOLVERS

pytest.importorskip("corekit_der")
pytest.importorskip("corekit_gradients")

LIMB = "bodies.rod.options.limbs[0]"


def tip(instant):
    place = instant.frame("rod.rod-6").position
    return float(place[2] + 0.1 * place[0])


def both(path, integrator, monkeypatch, until=0.02):
    """By other models, and by twins of the world."""
    document = clamped_document(2e-4, SOLVERS["cone"], integrator)
    found = []
    for by_twins in (False, True):
        simulation = from_document(document).compose()
        if by_twins:
            monkeypatch.setattr(type(simulation.renew), "other_models", lambda *_: None)
        simulation.step()  # at rest the next motion towards the ball is an impact: a kink
        (value,) = simulation.gradient(tip, until=until, parameters=[path]).parameters.values()
        found.append(value)
    return found


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "implicit-euler"])
@pytest.mark.parametrize("number", ["young[0]", "density[0]", "end[0]"])
def test_a_rod_that_is_pushed_out_near_its_clamp_has_the_derivatives_of_twins(
    number, integrator, monkeypatch
):
    found, expected = both(f"{LIMB}.{number}", integrator, monkeypatch)
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-20)
    assert expected != 0.0
