"""`corekit check` tells worlds that have more contacts than their solvers serve, and who does serve them."""

import re

import numpy as np
import pytest

from corekit.scenario.load import from_document
from corekit_inspect.doubt_watch import watch_doubts
from corekit_inspect.plausibility import scenario_doubts
from corekit_run.observers import RunContext
from corekit_run.running import run

EDGE = 0.1


def world(count, solver, apart=0.0, beside=0.0):
    """Boxes on four contacts each: in a column, if `apart` with gaps between them, if `beside` on the floor [m]."""
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "stack", "time": {"duration": 1.0, "step": 1e-3},
            "world": {"obstacles": [{"name": "floor", "shape": "half-space"}]},
            "bodies": [
                {
                    "name": f"box{k}", "use": "rigid", "options": {"shape": "box", "size": [EDGE] * 3, "mass": 0.1},
                    "initial": {"position": [beside * k, 0.0, (0.5 + (0 if beside else k)) * EDGE + (k + 1) * apart]},
                }
                for k in range(count)
            ],
            "contact": {"friction": 0.5, "detector": ["sdf", "mpr"], "solver": solver},
            "integrator": {"use": "semi-implicit-euler"}, "output": {"every": 0.1},
        }
    )  # fmt: skip


def doubts(*arguments):
    scenario = world(*arguments)
    return scenario_doubts(scenario, scenario.compose())


@pytest.mark.parametrize(
    ("solver", "height", "named"),
    [
        ({"use": "lcp"}, 11, ["contact.solver: lcp serves some 40", "lcp_solver: lemke serves some 40"]),
        (
            {"use": "lcp", "options": {"lcp_solver": "semismooth-newton"}}, 8,
            ["contact.solver.options.lcp_solver: semismooth-newton serves some 16"],
        ),
        ({"use": "qp"}, 11, ["contact.solver: qp serves some 40", "lcp_solver: lemke serves some 40"]),
        (
            {"use": "lcp", "options": {"lcp_solver": "pgs"}}, 8,
            ["contact.solver.options.lcp_solver: pgs serves some 16"],
        ),
    ],
)  # fmt: skip
def test_a_stack_that_is_too_high_for_a_solver_is_told_with_who_serves_it(solver, height, named):
    found = doubts(height, solver)
    assert len(found) == len(named)
    for sentence, words in zip(found, named, strict=True):
        assert words in sentence
        assert f"{4 * height} touch at the start" in sentence
        # test plugins that another test installed may be named beside
        assert re.search(r"any number is served by contact solver (\S+ or )*cone\b", sentence)


@pytest.mark.parametrize("solver", [{"use": "lcp"}, {"use": "qp"}, {"use": "cone"}])
def test_a_stack_that_is_served_is_not_doubted(solver):
    assert doubts(10, solver) == []


def test_many_bodies_that_do_not_touch_yet_are_told():
    (sentence, _) = doubts(41, {"use": "lcp"}, 0.05)
    assert "41 bodies rest on one at least" in sentence
    assert doubts(40, {"use": "lcp"}, 0.05) == []


def test_contacts_that_no_body_connects_count_apart():
    assert doubts(20, {"use": "lcp"}, 0.0, 0.3) == []


@pytest.mark.parametrize(
    ("apart", "times"), [(0.0, {"the start"}), (5e-3, {f"{k} s" for k in (0.002, 0.004, 0.008)})]
)
def test_a_run_tells_once_of_a_pile_that_is_or_forms(tmp_path, apart, times):
    """Under a hundred times our gravity gaps of 5 mm close within 4 ms."""
    told = []
    document = {**world(12, {"use": "lcp"}, apart).document, "time": {"duration": 0.01, "step": 1e-3}}
    document["world"] = {**document["world"], "gravity": [0.0, 0.0, -981.0]}
    run(from_document({**document, "output": {"every": 1e-3}}), directory=tmp_path / "run", warn=told.append)
    told = [each for each in told if "serves" in each]
    assert len(told) == 2
    for sentence in told:
        found = re.search(
            r"serves some 40 contacts that bodies connect, and (\d+) touch at ([^:]+):", sentence
        )
        assert found is not None
        assert 40 < int(found[1]) <= 48
        assert found[2] in times


def test_a_run_of_a_pile_that_is_served_tells_nothing(tmp_path):
    document = {**world(12, {"use": "cone"}).document, "time": {"duration": 0.004, "step": 1e-3}}
    told = []
    run(from_document({**document, "output": {"every": 1e-3}}), directory=tmp_path / "run", warn=told.append)
    assert told == []


@pytest.mark.parametrize("solver", [{"use": "cone"}, {"use": "lcp"}])
def test_looking_for_doubts_changes_no_bit_of_a_run(tmp_path, solver, monkeypatch):
    """Whatever is done to look, here even two steps of bricks that stand on each other, is undone."""

    def step_twice(_scenario, simulation):
        simulation.step()
        simulation.step()
        assert simulation.contacts().count > 0
        return ["it stepped"]

    monkeypatch.setattr("corekit_inspect.doubt_watch.find_doubts", step_twice)
    document = {**world(5, solver).document, "time": {"duration": 0.02, "step": 1e-3}}
    scenario = from_document({**document, "output": {"every": 1e-3}})
    looked, plain = scenario.compose(), scenario.compose()
    before, told = looked.internal_state(), []
    (watch,) = watch_doubts(RunContext(scenario, looked, tmp_path, lambda *_, **__: None, told.append))
    watch.begin()
    assert told == ["it stepped"]
    assert looked.contacts().count == 0
    after = looked.internal_state()
    assert before.keys() == after.keys()
    for name, array in before.items():
        np.testing.assert_array_equal(after[name], array, err_msg=name)
    for _ in range(20):
        looked.step()
        plain.step()
        np.testing.assert_array_equal(looked.state.qv, plain.state.qv)
