"""A step looks ahead of its end only where shapes come closer, with a potential that acts at a distance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corekit.data.contacts import ContactSet
from corekit.engine.contact.contact_pipeline import ContactPipeline
from corekit.scenario.load import load

LAYER = 5e-4
"""Half width of the potential's layer in the scenario [m]."""


@pytest.mark.parametrize("falls", [False, True])
def test_a_rod_that_slides_is_not_looked_ahead_for(falls: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It moves along the floor by many times the potential's layer in a step; one that falls comes closer."""
    height = 0.5 if falls else 0.025
    ends = [
        f"bodies[0].options.limbs[0].{end}=[{x}, 0.0, {height}]" for end, x in (("start", -0.5), ("end", 0.5))
    ]
    simulation = load("dismech/friction", ("bodies[0].options.planar=true", *ends)).compose()
    pipeline: Any = simulation.system.pipeline
    for _ in range(40):
        simulation.step()
    looked = 0
    original = type(pipeline).detect_at_start

    def counted(self: ContactPipeline) -> ContactSet:
        nonlocal looked
        looked += 1
        return original(self)

    monkeypatch.setattr(ContactPipeline, "detect_at_start", counted)
    before = simulation.frame("rod.rod-25").position.copy()
    simulation.step()
    moved = float(np.linalg.norm(simulation.frame("rod.rod-25").position - before))
    assert moved > 10 * LAYER
    assert looked == falls
