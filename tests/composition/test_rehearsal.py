"""A rehearsed step loads what is compiled, and leaves nothing behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corekit.dynamics.contact_pipeline import placeholder_contacts
from corekit.scenario.load import load
from corekit.simulation.loop import Simulation
from corekit_run import warm_up
from corekit_timestep.semi_implicit_euler import SemiImplicitEuler

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
def test_a_second_process_compiles_the_solver_s_part_or_a_whole_step(tmp_path, monkeypatch, words, steps):
    compose(tmp_path)  # writes the file
    monkeypatch.setattr(warm_up.signal, "signal", lambda *_: None)  # this process is not the second one
    made, solved, taken = [], [], []
    simulate, solve, step = Simulation.warm_up, warm_up.warm_up_contact, SemiImplicitEuler.step
    monkeypatch.setattr(Simulation, "warm_up", lambda self: (made.append(self), simulate(self)))
    monkeypatch.setattr(warm_up, "warm_up_contact", lambda made: (solved.append(made), solve(made)))
    monkeypatch.setattr(
        SemiImplicitEuler, "step", lambda self, *given: (taken.append(1), step(self, *given))[1]
    )
    warm_up.main([str(tmp_path / "ball.toml"), *words])
    assert (len(made), len(solved), len(taken)) == (steps, 1 - steps, steps)


def test_the_placeholder_contact_is_solved_for(tmp_path):
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
    assert len(asked) == 1
    assert asked[0] > 0.0


def test_nothing_is_imagined_without_shapes():
    assert placeholder_contacts([], 3) is None
