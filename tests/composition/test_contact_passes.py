"""What a detector says of contacts when frames move: in one compiled call as pass by pass in Python, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.data.contacts import ContactSet
from corekit.engine.world.world_system import WorldSystem
from corekit.roles.compiled_form import DETECTOR_ENTRIES
from corekit_gradients.adjoint import contact_passes
from corekit_gradients.adjoint.contact_slopes import ContactSlopes

from .test_step_derivative import falling

pytest.importorskip("corekit_rigid")
pytest.importorskip("corekit_sdf")


def test_the_entry_of_detectors_is_called_with_its_arguments():
    """With others a process would end: then Python makes the passes."""
    assert DETECTOR_ENTRIES["contacts"] == contact_passes._ARGUMENTS


def test_a_detector_whose_spec_promises_no_form_is_not_asked_for_one():
    """The word decides, not a method of that name."""
    system = falling("sphere", 0.9, "cone", "semi-implicit-euler").system
    assert isinstance(system, WorldSystem)
    pipeline = system.pipeline
    assert pipeline is not None
    assert pipeline.abilities == (frozenset({"compiled-form"}),)
    assert contact_passes.ContactPasses.form_of(pipeline) is not None
    pipeline.abilities = (frozenset({"another-word"}),)
    assert contact_passes.ContactPasses.form_of(pipeline) is None


@pytest.mark.parametrize("shape", ["sphere", "capsule"])
def test_one_call_says_what_python_says_pass_by_pass(shape):
    simulation = falling(shape, 0.9, "cone", "semi-implicit-euler")
    for _ in range(8):
        simulation.step()
    system, found = simulation.system, []
    assert isinstance(system, WorldSystem)
    terms, pipeline = system.terms, system.pipeline
    assert pipeline is not None
    pipeline.begin_step(simulation.state, 1e-3)
    contacts = ContactSet()
    pipeline.measure(contacts)
    assert contacts.count > 0
    for compiled in (True, False):
        slopes = ContactSlopes(terms)
        assert slopes._passes is not None
        if not compiled:
            slopes._passes = None
        table = slopes.measure(simulation.state, contacts)
        found.append([each.copy() for each in (*table.changes, table.scale)])
    for one, other in zip(*found, strict=True):
        assert one.tobytes() == other.tobytes()
    assert any(np.abs(each).max() > 0.0 for each in found[0][:-1])
