"""A rehearsed step loads what is compiled, and leaves nothing behind."""

from __future__ import annotations

import io
import subprocess
import sys
import tomllib
from typing import Any

import numpy as np
import pytest

from corekit.engine.world.rehearsal import rehearsal_contacts
from corekit.scenario.load import load, shipped_scenarios
from corekit.simulation.loop import Simulation
from corekit_run import warm_up
from corekit_timestep.semi_implicit_euler import SemiImplicitEuler

RUNS = "corekit-scenario/"
BALL = """
format = "corekit-scenario/1"
name = "ball"
[time]
duration = 0.3
step = 1e-2
[[world.obstacles]]
name = "floor"
shape = "half-space"
[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.0, 0.0, 0.15] }
[bodies.options]
size = [0.1]
[contact]
friction = 0.4
detector = { use = "sdf" }
solver = { use = "lcp" }
[integrator]
use = "semi-implicit-euler"
[output]
every = 0.1
"""


def compose(tmp_path):
    file = tmp_path / "ball.toml"
    file.write_text(BALL)
    return load(file).compose()


def test_a_rehearsal_changes_no_bit_and_leaves_no_contact(tmp_path):
    plain, rehearsed = compose(tmp_path), compose(tmp_path)
    for k in range(30):
        if k in (0, 7, 20):
            rehearsed.warm_up()
            assert rehearsed.contacts().count == 0
        plain.step()
        rehearsed.step()
        assert np.array_equal(plain.state.qv, rehearsed.state.qv)
    assert rehearsed.contacts().count == 1


@pytest.mark.parametrize(("words", "steps"), [([], 0), (["--step"], 1)])
def test_a_second_process_compiles_models_and_solver_or_a_whole_step(tmp_path, monkeypatch, words, steps):
    compose(tmp_path)  # writes the file
    given = io.TextIOWrapper(io.BytesIO((tmp_path / "ball.toml").read_bytes()))
    monkeypatch.setattr("sys.stdin", given)
    monkeypatch.setattr(warm_up.signal, "signal", lambda *_: None)  # this process is not the second one
    made, solved, taken = [], [], []
    simulate, solve, step = Simulation.warm_up, warm_up.warm_up_parts, SemiImplicitEuler.step
    monkeypatch.setattr(Simulation, "warm_up", lambda self: (made.append(self), simulate(self)))
    monkeypatch.setattr(warm_up, "warm_up_parts", lambda made: (solved.append(made), solve(made)))
    monkeypatch.setattr(
        SemiImplicitEuler, "step", lambda self, *given: (taken.append(1), step(self, *given))[1]
    )
    warm_up.main(words)
    # two with contact and two without
    assert (len(made), len(solved), len(taken)) == (steps, 1 - steps, 4 * steps)


def test_the_rehearsed_contact_is_solved_for(tmp_path):
    simulation = compose(tmp_path)
    asked = []
    solver: Any = simulation.system.solver
    answer = solver.solve

    def watched(problem, impulse):
        info = answer(problem, impulse)
        asked.append(float(impulse[0]))
        return info

    solver.solve = watched
    simulation.warm_up()
    assert len(asked) == 3  # of two steps, and a rehearsed problem
    assert asked[0] > 0.0


def test_nothing_is_imagined_without_shapes():
    assert rehearsal_contacts([], 3) is None


ROD = """
format = "corekit-scenario/1"
name = "rod"
time = { duration = 0.6, step = 2e-3 }
world = { obstacles = [{ name = "floor", shape = "half-space" }] }
contact = { detector = "sdf", solver = "imc", friction = 0.4 }
integrator = { use = "implicit-euler" }
output = { every = 0.1 }
[[bodies]]
name = "rod"
use = "der"
base = { position = [0.0, 0.0, 0.12] }
[bodies.options]
clamps = [{ at = "rod.start", kind = "pin" }]
collision = "spheres"
[[bodies.options.limbs]]
start = [0, 0, 0]
end = [0.2, 0, 0.02]
nodes = 9
young = 1e5
"""
WATCHED = """
import sys, time
from numba.core.dispatcher import Dispatcher
from corekit.scenario.load import load

scenario = load(sys.argv[1], allow_code=True)
simulation = scenario.compose()
simulation.warm_up(announce=False)
compile_kernel, late = Dispatcher.compile, []
def compile_late(self, of):
    if self.py_func.__module__.startswith("corekit"):
        late.append(self.py_func.__name__)
    return compile_kernel(self, of)
Dispatcher.compile = compile_late
touched = turned = 0
before = simulation.state.body_states[0].aux.copy()
begun = time.process_time()
while simulation.time < scenario.time.duration - 1e-9 and time.process_time() - begun < float(sys.argv[2]):
    simulation.step()
    touched = max(touched, simulation.contacts().count)
    turned |= (simulation.state.body_states[0].aux != before).any()
print(bool(touched), bool(turned), *late)
"""


def watched(scenario, seconds):
    """Whether a run touched and turned an edge in so much processor time, and what it compiled."""
    told = subprocess.run(
        [sys.executable, "-c", WATCHED, str(scenario), str(seconds)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert told.returncode == 0, told.stderr
    return told.stdout.split()


def test_a_run_compiles_nothing_after_its_rehearsal(tmp_path):
    """A rod that swings onto the floor: free steps, cut ones, contact with friction, edges that turn far."""
    for plugin in ("corekit_der", "corekit_imc"):
        pytest.importorskip(plugin)
    file = tmp_path / "rod.toml"
    file.write_text(ROD)
    assert watched(file, 60.0) == ["True", "True"]


SAMPLE = ("gvs/cdpr", "teaching/balls-in-a-tray")
"""Those whose runs compiled in their middle most recently."""


def pytest_generate_tests(metafunc):
    if "shipped" in metafunc.fixturenames:
        files = shipped_scenarios()
        runs = {
            name for name, file in files.items() if tomllib.loads(file.read_text())["format"].startswith(RUNS)
        }
        metafunc.parametrize(
            "shipped", sorted(runs if metafunc.config.getoption("full") else runs & set(SAMPLE))
        )


def test_no_shipped_scenario_compiles_in_the_middle_of_its_run(shipped, request):
    """To its end, or as far as it gets; with `--full` all of them."""
    _, _, *late = watched(shipped, 90.0 if request.config.getoption("full") else 3.0)
    assert not late
