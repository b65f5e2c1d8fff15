"""Ctrl-C ends a call of the driver between two steps; what was made stays, and goes on to the same end."""

import signal
import threading
import time

import numpy as np
import pytest

from .free_worlds import PCC, make_steps, scenario_of

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
FAR = 10**7
"""Steps that would take minutes."""


@pytest.fixture
def alarm():
    """Sets an alarm that raises KeyboardInterrupt in the main thread, as Ctrl-C does; gives when it rang."""

    def ring(_number, _frame):
        rang.append(time.process_time())
        raise KeyboardInterrupt

    rang = []
    usual = signal.signal(signal.SIGALRM, ring)
    yield lambda: (signal.setitimer(signal.ITIMER_REAL, 0.1), rang)[1]
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, usual)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_that_is_stopped_goes_on_to_the_same_end(alarm, threads):
    scenario = scenario_of(PCC)
    batch, simulation = scenario.batch(3, threads=threads), scenario.compose()
    batch.step(2)
    rang = alarm()
    with pytest.raises(KeyboardInterrupt):
        batch.step(FAR)
    assert time.process_time() - rang[0] < 1.0
    made = batch.step_index
    assert made.max() > 2
    assert (made < FAR).all()
    for w in range(3):
        batch.step(int(made.max()) + 1 - int(made[w]), [w])
    make_steps(simulation, int(made.max()) + 1)
    assert np.array_equal(batch.q, np.tile(simulation.state.q, (3, 1)))


def test_a_run_that_is_stopped_goes_on_to_the_same_end(alarm):
    scenario = scenario_of(PCC)
    run, stepped = scenario.compose(), scenario.compose()
    run.run(0.01)
    rang = alarm()
    with pytest.raises(KeyboardInterrupt):
        run.run(FAR * 1e-3)
    assert time.process_time() - rang[0] < 1.0
    assert 10 < run.step_index < FAR
    run.step()
    make_steps(stepped, run.step_index)
    assert np.array_equal(run.state.q, stepped.state.q)


def test_two_batches_step_in_two_threads_of_the_caller():
    scenario, ends = scenario_of(PCC), {}

    def advance(name):
        batch = scenario.batch(2, threads=1)
        batch.step(300)
        ends[name] = batch.q.copy()

    callers = [threading.Thread(target=advance, args=(name,)) for name in ("one", "other")]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    simulation = scenario.compose()
    make_steps(simulation, 300)
    assert np.array_equal(ends["one"][0], simulation.state.q)
    assert np.array_equal(ends["other"][1], simulation.state.q)
