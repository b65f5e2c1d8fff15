"""Every shipped scenario takes its first steps with every contact solver, LCP solver and QP solver it may have."""

from __future__ import annotations

import tomllib

import pytest

from corekit.errors import CompositionError
from corekit.scenario.load import load, shipped_scenarios

WORDS = {
    "lcp": 'contact.solver={use="lcp"}',
    "lcp, pgs": 'contact.solver={use="lcp", options={lcp_solver="pgs"}}',
    "lcp, semismooth-newton": 'contact.solver={use="lcp", options={lcp_solver="semismooth-newton"}}',
    "lcp, lemke": 'contact.solver={use="lcp", options={lcp_solver="lemke"}}',
    "qp": 'contact.solver={use="qp"}',
    "qp, osqp": 'contact.solver={use="qp", options={qp_solver="osqp"}}',
    "qp, piqp": 'contact.solver={use="qp", options={qp_solver="piqp"}}',
    "cone": 'contact.solver={use="cone"}',
    "imc": 'contact.solver={use="imc"}',
}


def _with_contact() -> list[str]:
    """Names of the shipped scenarios in which something can touch; the other files are plans and fits."""
    tables = {
        name: tomllib.loads(path.read_text(encoding="utf-8")) for name, path in shipped_scenarios().items()
    }
    return [
        name
        for name, table in tables.items()
        if table["format"] == "corekit-scenario/1" and "contact" in table
    ]


@pytest.mark.parametrize("name", _with_contact())
def test_a_scenario_takes_its_first_steps_with_every_solver(name):
    """A step with a rehearsed contact, and two of its own; which solvers the contract refuses it says at once."""
    ran, refused = [], {}
    for word, change in WORDS.items():
        # a search for an equilibrium is a test of its own
        scenario = load(name, [change, "start=initial"], allow_code=True)
        try:
            simulation = scenario.compose()
        except CompositionError as error:
            refused[word] = str(error)
            continue
        simulation.warm_up()
        for _ in range(2):
            assert simulation.step().accepted
        ran.append(word)
    assert ran
    # a potential needs a coupled integrator, and holds no limit; neither it nor a circular cone gives friction with a
    # direction
    told = (
        "choose a coupled integrator",
        "solver 'imc' does not support",
        "solver 'cone' does not support",
        "has rows with force bounds, which only a contact solver that gives impulses can hold",
    )
    assert all(any(words in sentence for words in told) for sentence in refused.values()), refused
