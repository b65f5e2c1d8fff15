"""What this distribution brings is whole where nothing else of the project is installed."""

from __future__ import annotations

import tomllib

import pytest

from corekit.errors import ConfigError
from corekit.registry.first_party import FIRST_PARTY
from corekit.registry.resolve import load_target
from corekit.scenario.load import load, shipped_scenarios
from corekit_study.reproduce import installed_cases

TABLES = {name: tomllib.loads(path.read_text(encoding="utf-8")) for name, path in shipped_scenarios().items()}
SCENARIOS = {name: table for name, table in TABLES.items() if table["format"] == "corekit-scenario/1"}
OURS = {(known.role, known.name) for known in FIRST_PARTY}


def word(part):
    return part["use"] if isinstance(part, dict) else part


def test_every_paper_has_scenarios_and_every_file_says_its_format():
    assert {name.partition("/")[0] for name in SCENARIOS} >= {"cusp", "dismech", "gvs", "teaching", "vine"}
    formats = {table["format"].partition("/")[0] for table in TABLES.values()}
    assert formats <= {"corekit-scenario", "corekit-plan", "corekit-fit"}


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_a_scenario_names_components_of_this_project(name):
    table = SCENARIOS[name]
    used = {("models", body["use"]) for body in table["bodies"]} | {
        ("integrators", word(table["integrator"]))
    }
    contact = table.get("contact", {})
    detectors = contact.get("detector", [])
    for each in detectors if isinstance(detectors, list) else [detectors]:
        used.add(("contact_detectors", word(each)))
    if "solver" in contact:
        used.add(("contact_solvers", word(contact["solver"])))
    assert used <= OURS


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_it_loads_or_says_which_distributions_to_install(name):
    try:
        assert load(name).time.duration > 0
    except ConfigError as error:
        for mistake in error.mistakes:
            assert "pip install corekit-" in str(mistake)


def test_every_case_is_imported_with_what_is_declared():
    cases, troubles = installed_cases()
    assert troubles == []
    assert len(cases) > 20
    for case in cases:
        assert callable(load_target(case.target)), case.path
