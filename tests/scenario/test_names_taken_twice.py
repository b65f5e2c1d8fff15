"""What a scenario is told of names that several plugins bring."""

from __future__ import annotations

from attrs import evolve, frozen

from corekit.errors import Mistake
from corekit.registry.discover import discover
from corekit.roles.options import ComponentRef, component_option
from corekit.scenario.structure import structure


@frozen
class Stepped:
    integrator: ComponentRef = component_option("integrators")


def test_a_name_taken_twice_is_not_said_to_be_that_of_another_role(monkeypatch):
    row = evolve(next(each for each in discover() if each.role == "integrators"), name="lab-step")
    rows = (*discover(), row, evolve(row, distribution="corekit-other"))
    monkeypatch.setattr("corekit.scenario.structure.discover", lambda: rows)
    mistakes: list[Mistake] = []
    assert structure(Stepped, {"integrator": {"use": row.name}}, "", mistakes, components=True) is None
    (mistake,) = mistakes
    assert mistake.path == "integrator.use"
    assert f"`corekit-other:{row.name}`" in mistake.hint
    assert "another role" not in mistake.hint
