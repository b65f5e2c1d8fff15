"""Two simulations of one scenario step at the same time, and know nothing of each other."""

import sys
import threading

import numpy as np
import pytest

from corekit.scenario.load import load

for _package in ("pcc", "vine", "rigid", "der", "sdf", "mpr", "lcp", "qp", "cone", "timestep", "scenarios"):
    pytest.importorskip(f"corekit_{_package}")

STEPS = 40


def stepped(simulation, states):
    for _ in range(STEPS):
        simulation.step()
        states.append(simulation.state.qv.copy())


@pytest.fixture
def threads_that_change_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize(
    "name", ["cusp/inclined-box", "vine/wall", "mixed/arm-ball-rod", "teaching/balls-in-a-tray"]
)
@pytest.mark.usefixtures("threads_that_change_often")
def test_two_threads_step_as_one_after_the_other(name):
    """Every state, bit for bit, and the threads did alternate."""
    scenario, alone = load(name), []
    stepped(scenario.compose(), alone)
    both: tuple[list, list] = ([], [])
    behind = []

    def watched(simulation, states, others):
        for _ in range(STEPS):
            simulation.step()
            states.append(simulation.state.qv.copy())
            behind.append(len(states) - len(others))

    threads = [
        threading.Thread(target=watched, args=(scenario.compose(), both[i], both[1 - i])) for i in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(both[0], alone)
    np.testing.assert_array_equal(both[1], alone)
    # one after the other, the first would be ahead by all of its steps
    assert min(map(abs, behind)) < STEPS
