"""What a user hands to the Python API and cannot be right is one clear mistake, before anything is changed."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import corekit
from corekit.data.state import State
from corekit.errors import ConfigError, ControlError
from corekit.scenario.load import from_document, loads, with_values

PENDULUM = """
format = "corekit-scenario/1"
name = "swing"
time = { duration = 0.3, step = 0.01 }
integrator = { use = "reference-implicit-euler" }
[[bodies]]
name = "arm"
use = "reference-pendulum"
options = { lengths = [0.5, 0.3], masses = [1.0, 2.0], angles = [0.4, 0.9], rates = [0.0, 0.0] }
"""


def no_inputs(_simulation: Any) -> dict[str, Any]:
    return {}


def scenario() -> Any:
    return loads(PENDULUM)


def simulation() -> Any:
    return scenario().compose()


anything: Any = corekit
PATHS = [3, None, b"x", [1], True]
FUNCTIONS = [3, "x", [1]]
WRONG = {
    "corekit.load": ("path", PATHS, anything.load),
    "overrides": ("overrides", [3, None, b"x", {"a": 1}], lambda wrong: loads(PENDULUM, wrong)),
    "one override": ("--set", [[3], [None]], lambda wrong: loads(PENDULUM, wrong)),
    "allow_code": ("allow_code", ["no", 1, None], lambda wrong: loads(PENDULUM, allow_code=wrong)),
    "loads": ("text", [3, None, b"x"], loads),
    "from_document": ("source", [3, b"x"], lambda wrong: from_document({}, source=wrong)),
    "with_values": ("values", [3, None, "x"], lambda wrong: with_values(scenario(), wrong)),
    "a value": ("seed", [None, 1j], lambda wrong: with_values(scenario(), {"seed": wrong})),
    "with_controller": ("controller", [3, None, "x"], lambda wrong: scenario().with_controller(wrong)),
    "with_controller, every": (
        "every", ["1", math.nan, math.inf, -1, 0, True, [1]],
        lambda wrong: scenario().with_controller(no_inputs, every=wrong),
    ),
    "with_controller, name": (
        "name", [3, None, "", ["x"]], lambda wrong: scenario().with_controller(no_inputs, name=wrong)
    ),
    "add_controller": ("controller", [3, None, "x"], lambda wrong: simulation().add_controller(wrong)),
    "add_controller, every": (
        "every", ["1", math.nan, True], lambda wrong: simulation().add_controller(no_inputs, every=wrong)
    ),
    "observe": ("observer", [None, *FUNCTIONS], lambda wrong: simulation().observe(wrong)),
    "reset, parameters": ("parameters", [3, "x", [1]], lambda wrong: simulation().reset(parameters=wrong)),
    "reset, a parameter": (
        "bodies.arm.options.masses", [None, 1j],
        lambda wrong: simulation().reset(parameters={"bodies.arm.options.masses": wrong}),
    ),
    "reset, state": ("state", [3, "x", [1]], lambda wrong: simulation().reset(state=wrong)),
    "restore": ("state", [3, None, "x"], lambda wrong: simulation().restore(wrong)),
    "rewind": ("step_index", ["a", 1.5, -1], lambda wrong: simulation().rewind({}, wrong)),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "call", "wrong"),
    [(name, call, each) for name, all_wrong, call in WRONG.values() for each in all_wrong],
    ids=[f"{key}, {each!r}"[:40] for key, (_, all_wrong, _) in WRONG.items() for each in all_wrong],
)
def test_what_cannot_be_right_is_a_mistake_that_names_the_argument(name, call, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=rf"\n  {re.escape(name)}.*: found .*must be ") as caught:
        call(wrong)
    assert len(caught.value.mistakes) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("until", ["1", None, math.nan, math.inf, True, 1j, [1]])
def test_a_run_ends_at_a_finite_time(until):
    with pytest.raises(ControlError, match=rf"until a finite time, not {re.escape(repr(until))} s"):
        simulation().run(until)


@pytest.mark.parametrize("ask", ["body", "controller", "frame"])
@pytest.mark.parametrize("name", [3, None, ["a"]])
def test_a_name_that_is_no_text_is_a_name_that_is_not_there(ask, name):
    with pytest.raises(ControlError, match=f"there is no {ask} {re.escape(repr(name))}"):
        getattr(simulation(), ask)(name)


@pytest.mark.parametrize("name", [3, None, ["arm"], "am"])
def test_inputs_are_found_by_names_alone(name):
    sim = simulation()
    with pytest.raises(ControlError, match=f"there is no body {re.escape(repr(name))}.*there are arm"):
        sim.inputs[name]
    for ask in (sim.inputs["arm"].__getitem__, lambda wrong: sim.inputs["arm"].__setitem__(wrong, 1.0)):
        with pytest.raises(ControlError, match=f"no channel {re.escape(repr(name))}; this body has torque"):
            ask(name)


@pytest.mark.parametrize(
    "wrong", [True, [True, False], "3", ["3", "4"], 1j, None, [1.0, None], [[1.0, 2.0]], math.nan]
)
def test_an_input_is_real_numbers(wrong):
    sim = simulation()
    sim.inputs["arm"]["torque"] = [1.0, 2.0]
    with pytest.raises(ControlError, match=f"takes 2 finite numbers.*not {re.escape(repr(wrong))}"):
        sim.inputs["arm"]["torque"] = wrong
    assert sim.inputs["arm"]["torque"].tolist() == [1.0, 2.0]


def test_a_slip_in_the_name_of_a_channel_is_answered_by_the_one_meant():
    with pytest.raises(ControlError, match="no channel 'torqe', did you mean 'torque'"):
        simulation().inputs["arm"]["torqe"] = 1.0


def test_numbers_of_numpy_are_numbers():
    sim = simulation()
    sim.run(np.float64(0.05))
    sim.run(np.array(0.1))
    sim.reset(seed=np.int64(3))
    sim.inputs["arm"]["torque"] = np.array([1, 2], dtype=np.int8)
    sim.add_controller(no_inputs, every=np.float64(0.02))
    sim.step()


@pytest.mark.parametrize("seed", [1.5, -1, "a", True, [1], math.nan])
def test_a_wrong_seed_leaves_the_simulation_as_it_was(seed):
    sim = simulation()
    sim.run(0.1)
    before, report = sim.internal_state(), sim.report
    with pytest.raises(ConfigError, match=r"seed: found .*must be a whole number, 0 or more, or None"):
        sim.reset(seed=seed)
    after = sim.internal_state()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert sim.report is report


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("time", "x"), ("time", np.zeros(2)), ("step_index", 1.5), ("step_index", None), ("q", np.zeros(7)),
        ("v", "x"), ("aux", None),
    ],
)  # fmt: skip
def test_an_internal_state_of_another_world_is_refused_before_any_of_it_is_taken(part, wrong):
    sim = simulation()
    kept = {**sim.internal_state(), part: wrong}
    sim.run(0.1)
    before = sim.internal_state()
    with pytest.raises(
        ConfigError, match=rf"not one of this world.*\n  {part}: found .*must be (whole )?numbers"
    ):
        sim.restore(kept)
    del kept[part]
    with pytest.raises(ConfigError, match=f"{part}: found None"):
        sim.restore(kept)
    assert all(np.array_equal(each, sim.internal_state()[name]) for name, each in before.items())


def test_a_state_of_another_world_is_no_start():
    sim = simulation()
    with pytest.raises(ConfigError, match=r"q: found .*must be numbers of shape \(2,\)"):
        sim.reset(state=State.zeros(3, 2, 0))
    assert sim.time == 0.0


def step(sim):
    sim.step()


def run_on(sim):
    sim.run(0.2)


def reset(sim):
    sim.reset()


def restore(sim):
    sim.restore(sim.internal_state())


def sample(sim):
    sim.sample_controllers()


ASK = [step, run_on, reset, restore, sample]


@pytest.mark.parametrize("ask", ASK)
def test_a_controller_does_not_step_the_simulation_that_asks_it(ask):
    sim = simulation()

    def look_ahead(sim):
        ask(sim)
        return {}

    sim.add_controller(look_ahead, name="ahead")
    with pytest.raises(ControlError, match=r"controller 'ahead' must not step.*compose another one"):
        sim.step()
    with pytest.raises(ControlError, match="controller 'ahead' must not step"):
        sim.sample_controllers()
    assert sim.step_index == 0
    sim.restore(sim.internal_state())  # outside of the answer it may


@pytest.mark.parametrize("ask", ASK)
def test_an_observer_does_not_step_the_simulation_that_calls_it(ask):
    sim = simulation()
    sim.observe(lambda sim, _report: ask(sim))
    with pytest.raises(ControlError, match="an observer of steps must not step"):
        sim.step()


def test_a_controller_may_step_another_simulation_of_the_same_scenario():
    sim, other = simulation(), simulation()

    def look_ahead(sim):
        other.reset(state=sim.state)
        other.run(0.05)
        return {"arm": {"torque": [-other.state.q[0], 0.0]}}

    sim.add_controller(look_ahead)
    sim.run(0.1)
    assert sim.step_index == 10
