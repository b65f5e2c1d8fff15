"""What a scenario is told of names that several plugins bring."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from attrs import evolve

from corekit.scenario.catalogue import Catalogue
from corekit.scenario.structure import ComponentTables


def test_a_name_taken_twice_is_not_said_to_be_that_of_another_role():
    catalogue = Catalogue()
    row = next(each for each in catalogue.installed if each.role == "integrators")
    catalogue.installed = (*catalogue.installed, evolve(row, distribution="corekit-other"))
    told: Any = SimpleNamespace(mistakes=[])
    given = ComponentTables(row.name, {})
    assert catalogue.complete(told, "integrators", given, "integrator", "integrator.use") is None
    (mistake,) = told.mistakes
    assert f"`corekit-other:{row.name}`" in mistake.hint
    assert "another role" not in mistake.hint
