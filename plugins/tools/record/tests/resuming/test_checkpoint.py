"""A killed run goes on to the same end, bit for bit."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from corekit.scenario.load import load, loads
from corekit.simulation.loop import Simulation
from corekit_record.results import Results
from corekit_run.checkpoint import newest_checkpoint, read_checkpoint
from corekit_run.folder import read_status
from corekit_run.observers import Runnable
from corekit_run.running import replay, resume, run

from .killing import SETTING, STEPS, arrays, assert_same, killed, reached, started, wait_for


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
@pytest.mark.parametrize("seed", range(2))
def test_runs_killed_at_random_instants_resume_to_the_same_end(whole, scenario_file, now_and_then, seed):
    """Five a seed: one while it starts, four under way, in steps, publications and checkpoints alike."""
    _, expected = whole
    slow = load(scenario_file, (*SETTING, "integrator.options.nap=0.0005"))
    draw = random.Random(seed)
    were_killed = went_on = 0
    for k in range(5):
        folder = Path(f"run-{k}")
        child = started(slow, str(folder))
        wait_for((folder / "resolved.toml").exists)
        if k:
            instant = draw.uniform(0, 0.8 * STEPS)
            wait_for(lambda folder=folder, instant=instant: reached(folder) >= instant)
        time.sleep(draw.uniform(0.0, 0.02))
        were_killed += killed(child)
        found, _ = newest_checkpoint(folder)
        before = np.zeros(0) if found is None else Results(folder).time
        if found is not None:
            went_on += 0 < found.step < STEPS
            assert len(before) >= found.run["recorder/time_length"]
        if read_status(folder).status == "finished":
            continue
        results = resume(folder)
        assert results.status == "finished"
        assert np.array_equal(results.time[: len(before)], before)
        assert_same(arrays(folder), expected)
        assert not list(folder.glob(".*"))
    assert were_killed >= 4
    assert went_on >= 3


def test_where_checkpoints_fall_changes_nothing(whole, often):
    scenario, expected = whole
    results = scenario.run(directory="often")
    assert_same(arrays(results.path), expected)


def test_a_run_that_was_stopped_goes_on_from_the_very_step(whole, ctrl_c):
    scenario, expected = whole
    stopped: list[int] = []

    class Stopped:
        """The scenario, its user pressing Ctrl-C at step 27."""

        def __getattr__(self, name):
            return getattr(scenario, name)

        def compose(self):
            simulation = scenario.compose()

            def press(simulation, _report):
                if simulation.step_index == 27 and not stopped:
                    stopped.append(27)
                    ctrl_c()

            simulation.observe(press)
            return simulation

    with pytest.raises(KeyboardInterrupt) as caught:
        run(cast("Runnable", Stopped()), directory="stopped")
    assert caught.value.__notes__[-1] == "To go on: corekit run --resume stopped"
    found, _ = newest_checkpoint(Path("stopped"))
    assert found is not None
    assert found.step == 28
    results = resume("stopped")
    assert_same(arrays(results.path), expected)
    assert [event["event"] for event in results.events] == ["composed", "interrupted", "resumed", "finished"]
    last, left = results.events[-1], scenario.time.duration - 28 * scenario.time.step
    assert last["real_time_factor"] * last["loop_s"] == pytest.approx(left)


def test_two_checkpoints_are_kept_while_running_and_the_end_state_after(whole, often):
    scenario, _ = whole
    seen: list[int] = []

    class Watched:
        def __getattr__(self, name):
            return getattr(scenario, name)

        def compose(self):
            simulation = scenario.compose()
            simulation.observe(lambda *_: seen.append(len(list(Path("watched").glob("checkpoint-*.npz")))))
            return simulation

    results = run(cast("Runnable", Watched()), directory="watched")
    assert set(seen) == {1, 2}
    (last,) = results.path.glob("checkpoint-*.npz")
    assert last.name == "checkpoint-000000000060.npz"
    assert read_checkpoint(last).time == pytest.approx(0.06)


@pytest.mark.parametrize("integrator", ["reference-semi-implicit-euler", "reference-implicit-euler"])
@pytest.mark.parametrize("solver", ["reference-gauss-seidel", "reference-penalty"])
def test_restoring_the_internal_state_after_every_step_changes_nothing(integrator, solver):
    """A chain of springs and rods that falls on a floor, with an input that has breakpoints between steps."""
    text = f"""
    format = "corekit-scenario/1"
    name = "chain"
    time = {{ duration = 0.1, step = 2e-3 }}
    output = {{ every = 0.02 }}
    contact = {{ detector = "reference-detector", solver = "{solver}", friction = 0.4 }}
    integrator = {{ use = "{integrator}" }}
    [[world.obstacles]]
    name = "floor"
    shape = "half-space"
    position = {{ kind = "sine", amplitude = [0.0, 0.0, 0.01], frequency = 3.0 }}
    [[bodies]]
    name = "chain"
    use = "reference-point-chain"
    [bodies.options]
    masses = [1.0, 0.5, 0.7]
    positions = [[0.0, 0.0, 0.3], [0.3, 0.0, 0.2], [0.6, 0.05, 0.11]]
    velocities = [[0.0, 0.0, 0.0], [0.0, 0.5, 0.0], [0.4, 0.6, -0.5]]
    links = ["none", "spring", "rod"]
    shape = "sphere"
    [[bodies.inputs]]
    channel = "pull"
    signal = {{ kind = "ramp", from = 0.0512, to = 0.0733, value = [1.0, -2.0, 0.5] }}
    """
    scenario = loads(text)
    ends: list[list[bytes]] = []
    for again in (False, True):
        simulation: Simulation = scenario.compose()
        states: list[bytes] = []
        while simulation.step_index < 40:
            simulation.step()
            states.append(simulation.contacts().normal_impulse.tobytes() + simulation.state.q.tobytes())
            if again:
                simulation.restore(simulation.internal_state())
        ends.append(states)
    assert simulation.report.solve_info.status.solved
    assert ends[0] == ends[1]


def test_the_command_line_resumes_a_killed_run(cut, shell, whole):
    told = shell.corekit("run", "--resume", str(cut))
    assert told.returncode == 0, told.stderr
    assert "60, 31 records" in told.stdout
    assert_same(arrays(cut), whole[1])
    told = shell.corekit("run", "--resume", str(cut))
    assert told.returncode == 2
    assert "has finished: there is nothing to go on with" in told.stderr
    assert "Traceback" not in told.stderr
    told = shell.corekit("run", "--resume", str(cut), "--out", "elsewhere")
    assert told.returncode == 2
    assert "--out does not go with --resume" in told.stderr


def test_any_checkpoint_can_be_stepped_from(cut):
    report = replay(max(cut.glob("checkpoint-*.npz")))
    assert report.accepted
