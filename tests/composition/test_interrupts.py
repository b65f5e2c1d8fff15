"""Ctrl-C is heard within a second inside every contact solver, however long it would take."""

import signal
import time
from typing import Any

import numpy as np
import pytest

from corekit.scenario.load import load
from corekit_testing.conformance.contact_problems import feasible

OPTIONS = "contact.solver.options"
SOLVERS = {
    # contacts of a problem that takes seconds to days, the solver, and more options for that
    "modes": (500, "use='lcp'", []),
    "lemke": (250, "use='lcp', options={lcp_solver='lemke', warm_start=false}", []),
    "pgs": (
        100,
        "use='lcp', options={lcp_solver={use='pgs'}, warm_start=false}",
        [f"{OPTIONS}.tolerance=1e-30", f"{OPTIONS}.lcp_solver.options={{max_iterations=1000000000}}"],
    ),
    "semismooth-newton": (200, "use='lcp', options={lcp_solver='semismooth-newton', warm_start=false}", []),
    "qp": (250, "use='qp'", []),
    "cone": (
        100,
        "use='cone', options={}",
        [f"{OPTIONS}.tolerance=1e-30", f"{OPTIONS}.max_iterations=1000000000"],
    ),
}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm")
@pytest.mark.parametrize("name", SOLVERS)
def test_a_long_solve_is_left_at_ctrl_c(name):
    count, solver, more = SOLVERS[name]
    random, impulse = np.random.default_rng(1), np.zeros(3 * count)
    problem = feasible(random, contacts=count, friction=0.5)
    overrides = [f"contact.solver={{{solver}}}"]
    # the same kernels, on a problem that ends
    usual: Any = load("cusp/inclined-box", overrides).compose().system.solver
    usual.solve(feasible(random, contacts=2, friction=0.5), np.zeros(6))
    endless: Any = load("cusp/inclined-box", [*overrides, *more]).compose().system.solver
    handler = signal.signal(signal.SIGALRM, signal.default_int_handler)
    before = time.process_time()  # what others do with the processor does not count
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            endless.solve(problem, impulse)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
    assert time.process_time() - before < 1.0
