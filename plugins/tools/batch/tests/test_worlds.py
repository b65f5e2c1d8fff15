"""`scenario.batch(n)`: n worlds in one compiled call are the worlds that single steps make, bit for bit."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from corekit.compiled.kernels import is_plain
from corekit.data.state import State
from corekit.errors import ConfigError, ControlError, StepFailed
from corekit.scenario.load import loads
from corekit_batch.driver import advance

from .free_worlds import GVS, HEAD, PCC, PENDULUM, ROD, TOP, make_steps, scenario_of

WORLDS = {
    "rigid body": TOP,
    "pendulum": PENDULUM,
    "pcc": PCC,
    "gvs": GVS,
    "rods": ROD,
    "three bodies": TOP + PENDULUM + PCC,
}
FORMS = ["linearly-implicit", "explicit"]


def shifted(state, w):
    """Another start for every world: velocities grow with its number."""
    other = state.copy()
    other.v[:] += 0.01 * w
    return other


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bodies", WORLDS.values(), ids=WORLDS)
def test_every_world_is_what_single_steps_make_bit_for_bit(bodies, form):
    scenario, threads = scenario_of(bodies, form), 2
    batch, simulation = scenario.batch(5, threads=threads), scenario.compose()
    assert not batch.refusal
    start = simulation.state.copy()
    batch.reset(state={w: shifted(start, w) for w in range(5)})
    batch.step(37)
    batch.step(23)
    for w in (0, 3, 4):
        simulation.reset(state=shifted(start, w))
        state = make_steps(simulation, 60)
        assert np.array_equal(batch.q[w], state.q)
        assert np.array_equal(batch.v[w], state.v)
        assert batch.time[w] == state.time
    assert batch.compiled_steps + batch.ordinary_steps == 5 * 60
    cut = 5 if "ramp" in bodies and form == "linearly-implicit" else 0  # the ramp ends within a step
    assert batch.ordinary_steps == cut


@pytest.mark.parametrize("beside", [-0.5, 0.5])
@pytest.mark.parametrize("step", [0, 1, 30])
def test_worlds_stand_at_breakpoints_beside_grid_points(step, beside):
    """By half of 1e-9 of a step, in the time that a batch tells and in what it makes of the next step."""
    begin = 1e-3 * step + beside * 1e-12
    scenario = scenario_of(TOP.replace("from = 0.01, to = 0.0305", f"from = {begin!r}, to = 0.1"))
    batch, simulation = scenario.batch(2, threads=1), scenario.compose()
    for count in (30, 1, 20):
        batch.step(count)
        state = make_steps(simulation, count)
        for w in range(2):
            assert batch.time[w] == state.time
            assert np.array_equal(batch.q[w], state.q)
            assert np.array_equal(batch.v[w], state.v)
    assert batch.compiled_steps >= 2 * 49


def test_a_rod_that_turns_far_takes_other_sources_in_the_driver():
    scenario = scenario_of(ROD)
    batch, simulation = scenario.batch(1, threads=1), scenario.compose()
    sources = simulation.state.aux.copy()
    batch.step(60)
    assert not np.array_equal(make_steps(simulation, 60).aux, sources)
    assert batch.ordinary_steps == 0
    batch.step(20)
    assert np.array_equal(batch.q[0], make_steps(simulation, 20).q)


@pytest.mark.skipif(is_plain(), reason="numba alone counts references in every kernel")
def test_the_driver_counts_no_references():
    scenario_of(TOP).batch(1, threads=1).step(1)
    where = advance.stats.cache_path  # pyrefly: ignore[missing-attribute]
    stored = list(Path(where).glob("driver.advance-*.nbc"))
    assert stored
    for each in stored:
        machine_code = each.read_bytes()
        assert b"advance" in machine_code
        assert b"NRT_" not in machine_code


def test_worlds_do_not_depend_on_the_number_of_threads_or_on_each_other():
    scenario, ends = scenario_of(GVS + PCC), []
    start = scenario.compose().state
    for threads, count in ((1, 7), (2, 7), (3, 4)):
        batch = scenario.batch(count, threads=threads)
        batch.reset(state={w: shifted(start, w) for w in range(count)})
        batch.step(30)
        ends.append(batch.q[:4].copy())
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])


def test_one_world_is_reset_while_the_others_go_on():
    scenario = scenario_of(PCC)
    batch, simulation = scenario.batch(3, threads=1), scenario.compose()
    batch.step(10)
    batch.reset([1])
    batch.step(15)
    assert batch.step_index.tolist() == [25, 15, 25]
    ends = [make_steps(simulation, 15).q.copy(), make_steps(simulation, 10).q.copy()]
    assert np.array_equal(batch.q[1], ends[0])
    assert np.array_equal(batch.q[0], ends[1])
    assert np.array_equal(batch.q[2], ends[1])


def test_worlds_with_other_numbers_are_those_of_a_scenario_with_them():
    given = "sections = 3, stiffness = 1700.0, damping = 110.0"
    arm = PCC.replace("sections = 3", given)
    batch = scenario_of(arm).batch(3, threads=1)
    batch.reset([1], parameters={"bodies.arm.options.damping": 30.0})
    batch.reset([2], parameters={"bodies.arm.options.stiffness": 900.0})
    batch.step(20)
    for w, (old, new) in enumerate((("", ""), ("110.0", "30.0"), ("1700.0", "900.0"))):
        other = arm.replace(given, given.replace(old, new) if old else given)
        assert np.array_equal(batch.q[w], make_steps(scenario_of(other).compose(), 20).q)
    assert not np.array_equal(batch.q[0], batch.q[1])
    for more in ({"world.gravity": [0.0, 0.0, -1.6]}, {"bodies.arm.options.mass_nodes": 7}):
        with pytest.raises(ControlError, match="numbers among the options of bodies alone"):
            batch.reset([0], parameters=more)
    before = batch.q.copy()
    batch.step(1)
    assert not np.array_equal(batch.q, before)


def test_inputs_that_are_written_replace_their_signal_world_by_world():
    scenario, forces = scenario_of(PCC), np.arange(18.0).reshape(2, 9)
    batch = scenario.batch(2, threads=1)
    batch.step(5)
    batch.inputs["arm"]["chamber-force"] = forces
    batch.step(20)
    for w in range(2):
        simulation = scenario.compose()
        make_steps(simulation, 5)
        simulation.inputs["arm"]["chamber-force"] = forces[w]
        assert np.array_equal(batch.q[w], make_steps(simulation, 20).q)
    assert np.array_equal(batch.inputs["arm"]["chamber-force"], forces)


def test_a_world_that_the_driver_does_not_step_is_stepped_one_by_one_and_says_why():
    head = HEAD.replace("semi-implicit-euler", "verlet").replace(', options = { form = "%s" }', "") % "1e-4"
    scenario = loads(head + PCC)
    batch, simulation = scenario.batch(2), scenario.compose()
    assert batch.refusal == "the integrator 'verlet' makes more than one solve a step"
    batch.step(4)
    batch.step(6)
    assert np.array_equal(batch.q[1], make_steps(simulation, 10).q)
    assert (batch.compiled_steps, batch.ordinary_steps) == (0, 20)


def test_a_rod_whose_clamp_stands_elsewhere_is_another_world():
    """Its held nodes would go back to where the worlds were laid out."""
    batch = scenario_of(ROD).batch(2, threads=1)
    batch.reset([1], parameters={"bodies.rod.options.limbs[0].young[0]": 3e5})
    for part in ("start[0]", "end[0]"):
        with pytest.raises(ControlError, match="numbers among the options of bodies alone"):
            batch.reset([1], parameters={f"bodies.rod.options.limbs[0].{part}": 0.02})


@pytest.mark.to_nearest("what overflows is the largest finite number", "zero")
def test_a_world_that_fails_stops_alone_with_the_error_of_a_single_step():
    scenario = scenario_of(TOP)
    batch, simulation = scenario.batch(3, threads=1), scenario.compose()
    batch.step(3)
    good = batch.q[1].copy()
    batch.inputs["top"]["wrench"] = np.array([[0.0] * 6, [1e308] * 6, [0.0] * 6])
    make_steps(simulation, 3)
    simulation.inputs["top"]["wrench"] = np.full(6, 1e308)
    with pytest.raises(StepFailed) as alone:
        make_steps(simulation, 5)
    with pytest.raises(StepFailed, match="became nan") as among_others:
        batch.step(5)
    assert str(among_others.value) == str(alone.value)
    assert batch.step_index.tolist()[0] == batch.step_index.tolist()[2] == 8
    assert np.array_equal(batch.q[1], good) == (batch.step_index[1] == 3)
    batch.step(2, on_failure="record")
    assert set(batch.failures) == {1}
    batch.inputs["top"]["wrench"] = 0.0
    batch.reset([1])
    batch.step(2)
    assert batch.step_index.tolist() == [12, 2, 12]


def test_frames_of_all_worlds_stand_where_single_worlds_have_them():
    scenario = scenario_of(TOP + PCC)
    batch, simulation = scenario.batch(2, threads=1), scenario.compose()
    batch.step(10)
    make_steps(simulation, 10)
    position, rotation = batch.frame_poses()
    names = [f"{body.name}.{frame}" for body in simulation.bodies for frame in body.description.frames]
    assert position.shape == (2, len(names), 3)
    for i, name in enumerate(names):
        assert np.array_equal(position[1, i], simulation.frame(name).position)
        assert np.array_equal(rotation[1, i], simulation.frame(name).rotation)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda batch: batch.step(-1), "0 or more, not -1"),
        (lambda batch: batch.step(1, [3]), "numbered from 0 to 1"),
        (lambda batch: batch.step(1, on_failure="wait"), "'raise' or 'record'"),
        (lambda batch: batch.inputs["leg"], "no body 'leg'"),
        (lambda batch: batch.inputs["arm"].__setitem__("force", 1.0), "no channel 'force'.*chamber-force"),
        (lambda batch: batch.inputs["arm"].__setitem__("chamber-force", np.ones((3, 9))), r"shape \(2, 9\)"),
        (lambda batch: batch.inputs["arm"].__setitem__("chamber-force", np.nan), "finite"),
        (lambda batch: batch.reset(state=State.zeros(2, 2)), "not one of this world"),
    ],
)
def test_bad_input_is_one_sentence(call, says):
    batch = scenario_of(PCC).batch(2, threads=1)
    with pytest.raises((ControlError, ConfigError), match=says):
        call(batch)


@pytest.mark.parametrize(("count", "threads"), [(0, 1), (2, 0), (True, 1), (1.5, 1)])
def test_numbers_of_worlds_and_threads_are_counts(count, threads):
    with pytest.raises(ControlError, match="1 or more"):
        scenario_of(PCC).batch(count, threads=threads)


def test_where_nothing_is_compiled_worlds_are_stepped_one_by_one(tmp_path):
    program = tmp_path / "batch.py"
    program.write_text(
        f"""
from corekit.scenario.load import loads
batch = loads({(HEAD % ("1e-3", "explicit") + PENDULUM)!r}).batch(2)
batch.step(2)
print(batch.refusal, batch.ordinary_steps)
"""
    )
    done = subprocess.run(
        [sys.executable, program], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout == "nothing is compiled in this process (NUMBA_DISABLE_JIT) 4\n"
