"""No component ships without the conformance kit in the tests of its distribution."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from attrs import evolve

from corekit.registry.contract import contract_problem
from corekit.registry.discover import discover
from corekit.registry.first_party import FIRST_PARTY
from corekit.registry.resolve import load_target, resolve

ROOT = Path(__file__).parents[2]
OURS = {"corekit-testing", *(each.distribution for each in FIRST_PARTY)}


def checked(source):
    """Role and name of every `conformance("role", "name", …)` in a text."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return {
        tuple(ast.literal_eval(word) for word in call.args[:2])
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "conformance" and len(call.args) > 1
    }


def unchecked(rows):
    """`role.name` of the components whose distribution's tests never call the kit for them."""
    found = {}
    for folder in ROOT.glob("plugins/*/*/tests"):
        owner = f"corekit-{folder.parent.name}"
        for path in folder.rglob("test_*.py"):
            found.setdefault(owner, set()).update(checked(path.read_text(encoding="utf-8")))
    return [f"{row.role}.{row.name}" for row in rows if (row.role, row.name) not in found[row.distribution]]


def ours():
    rows = [row for row in discover() if row.distribution in OURS]
    assert len(rows) > 30
    return rows


def test_every_component_of_ours_goes_through_the_kit():
    assert unchecked(ours()) == []


@pytest.mark.parametrize(
    ("role", "name"), [("models", "pcc"), ("integrators", "rk23"), ("lcp_solvers", "chain")]
)
def test_one_that_does_not_is_named(role, name):
    rows = [evolve(row, name="new") if (row.role, row.name) == (role, name) else row for row in ours()]
    assert unchecked(rows) == [f"{role}.new"]


@pytest.mark.parametrize("name", ["der", "gvs", "pcc", "vine"])
def test_a_model_keeps_its_contract_where_the_modules_of_its_abilities_are_missing(name):
    spec = resolve("models", name)
    without = evolve(spec, provides=spec.provides - spec.ability_modules.keys())
    assert without.provides < spec.provides
    assert contract_problem(load_target(spec.target), without) == ""
