"""A long kernel ends by what a signal's handler raises, in whichever function of it the signal falls; without Python's
lock it does not ask."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from corekit.compiled import check_signals, compiled

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")


@compiled
def add_slowly(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    check_signals()
    return total


@compiled
def spin(x, count):
    """Goes on for some 10⁴ s."""
    for _ in range(count):
        x[0] = 1e-9 * add_slowly(x)
    return x[0]


@compiled(nogil=True)
def spin_unlocked(x, count):
    """As `spin`, while other threads run Python."""
    for _ in range(count):
        x[0] = 1e-9 * add_slowly(x)
    return x[0]


@pytest.fixture
def alarm():
    """Sets an alarm whose handler raises the given error, or raises nothing for None."""

    def arm(error):
        def handle(_number, _frame):
            calls.append(time.process_time())  # what others do with the processor does not count
            if error is not None:
                raise error

        calls.clear()
        signal.signal(signal.SIGALRM, handle)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        return calls

    calls = []
    usual = signal.getsignal(signal.SIGALRM)
    yield arm
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, usual)


def test_the_handler_s_own_error_leaves_the_kernel(alarm):
    x = np.ones(3)
    spin(x, 1)
    calls = alarm(KeyboardInterrupt("why"))
    with pytest.raises(KeyboardInterrupt, match="why"):
        spin(x, 10**12)
    assert time.process_time() - calls[0] < 1.0


def test_a_handler_that_raises_nothing_leaves_the_kernel_as_it_is(alarm):
    x = np.ones(3)
    calls, before = alarm(None), time.perf_counter()
    while time.perf_counter() - before < 0.1:
        spin(x, 10**6)
    assert len(calls) == 1
    assert np.isfinite(x).all()


def test_kernels_without_the_lock_run_in_threads_while_the_main_thread_handles_a_signal(alarm):
    """They called into the interpreter before, which ended the process by a segmentation fault."""
    columns = np.ones((2, 3))
    spin_unlocked(columns[0], 1)
    calls = alarm(None)
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(spin_unlocked, column, 2 * 10**7) for column in columns]
        while not calls:
            time.sleep(0.01)
        handled_while_running = not all(each.done() for each in running)
        first, second = (each.result() for each in running)
    assert handled_while_running
    assert first == second == columns[0, 0]


def test_a_kernel_without_the_lock_leaves_a_signal_to_the_main_thread(alarm):
    x = np.ones(3)
    spin_unlocked(x, 1)
    alarm(KeyboardInterrupt("later"))
    with pytest.raises(KeyboardInterrupt, match="later"):
        all(spin_unlocked(x, 10**6) for _ in range(1000))
    assert x[0] == pytest.approx(1e-9 * 2.0)
