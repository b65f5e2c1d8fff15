"""The matrix of models, contact solvers and integrators: the steps it takes, and how it judges a cell."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from corekit.registry.discover import discover
from corekit.scenario.load import load
from corekit_scenarios.cases.matrix.cell import LAYER, Cell, with_distances
from corekit_scenarios.cases.matrix.steps import Task, schemes
from corekit_scenarios.cases.matrix.weight import Carried, carried


def test_every_installed_integrator_is_a_row_and_coupled_ones_come_first():
    found = schemes()
    assert {scheme.name for scheme in found} == {
        row.name for row in discover() if row.role == "integrators" and row.usable and not row.reference
    }
    coupled = ["coupled" in scheme.abilities for scheme in found]
    assert coupled == sorted(coupled, reverse=True)


def test_explicit_steps_follow_the_stretching_of_a_rod():
    """ω = 2/l·√(E/ρ) of a chain of equal springs and masses, l its edges: h ≤ 1/ω for those who do not take K."""
    task = Task.from_scenario("matrix/der")
    (limb,) = load("matrix/der").document["bodies"][0]["options"]["limbs"]
    edge = (limb["end"][0] - limb["start"][0]) / (limb["nodes"] - 1)
    omega = 2.0 / edge * (limb["young"][0] / limb["density"][0]) ** 0.5
    assert task.omega == pytest.approx(omega, rel=1e-2)
    steps = {scheme.name: task.step_of(scheme) for scheme in schemes()}
    assert steps["implicit-euler"] == steps["semi-implicit-euler"] == task.step
    assert 0.5 / omega < steps["verlet"] == steps["rk23"] <= 1.001 / omega
    parts = np.array([task.every / step for step in steps.values()])
    assert parts == pytest.approx(np.round(parts), abs=1e-9)


def test_a_plank_at_rest_carries_its_weight(tmp_path):
    results = load("matrix/rigid", ["time.duration=0.5"]).run(directory=tmp_path / "plank")
    told = carried(results)
    assert told.weight == pytest.approx(0.2 * 9.81, rel=1e-9)
    assert told.contacts == pytest.approx(0.2 * 9.81, rel=1e-6)


def test_the_best_cell_is_the_solved_one_whose_sides_differ_least():
    def made(x, error, unsolved=0, speed=1e-3):
        frames = np.array([[0.0, 0.0, 0.0], [x, 0.0, 0.0]])
        return evolve(
            Cell("pcc", "lcp", "verlet", 1e-3),
            frames=frames,
            carried=Carried(1.0, 1.0 + error),
            unsolved=unsolved,
            speed=speed,
        )

    refused = Cell("pcc", "lcp", "newmark", 1e-3).without_run("not  sound", failed=False)
    cells = with_distances(
        [made(0.0, 1e-3), made(4e-4, 1e-6), made(1e-3, 0.0, unsolved=1), made(0.0, 0.02), refused]
    )
    assert not made(0.0, 1e-3, speed=0.01).good
    assert [cell.away for cell in cells[:4]] == pytest.approx([4e-4, 0.0, 6e-4, 4e-4])
    assert [cell.good for cell in cells] == [True, True, False, False, True]
    assert cells[2].away > LAYER
    assert refused.refused == "not sound"
    assert not refused.without_run("blew up", failed=True).good
