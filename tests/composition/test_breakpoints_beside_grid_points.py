"""Breakpoints at all distances from a grid point, early and late: every family of integrators steps onto them."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import loads

H, PULL, MASS = 1e-3, 6.0, 2.0
SHARES = (1e-11, 3e-10, 2e-9, 1e-8, 5e-7, 2e-6, 1e-5, 1e-4, 5e-4, 2e-3, 0.4)
FIRST_ORDER = ("semi-implicit-euler", "implicit-euler")
BALL = """
format = "corekit-scenario/1"
name = "pushed-ball"
time = { duration = 0.01, step = 1e-3 }
world = { gravity = [0.0, 0.0, 0.0] }
integrator = { use = "INTEGRATOR" }

[[bodies]]
name = "ball"
use = "rigid"
options = { shape = "sphere", size = [0.1], mass = 2.0 }
[[bodies.inputs]]
channel = "wrench"
signal = { kind = "ramp", from = BEGIN, to = END, value = [6.0, 0, 0, 0, 0, 0] }
"""
EVERY = (
    "semi-implicit-euler", "implicit-euler", "implicit-midpoint", "generalized-alpha", "newmark", "rk23", "verlet",
    "scipy-bdf", "scipy-radau", "scipy-rk45",
)  # fmt: skip


def stops(grid_step, breaks, count):
    """Where steps end, in words: a breakpoint within 1e-12·t of a grid point is that, and within 1e-9·h moves it."""
    ends = []
    for n in range(grid_step + 1, grid_step + count + 1):
        before, point, end = (n - 1) * H, n * H, n * H
        bound = max(1e-9 * H, 1e-12 * point)
        for each in breaks:
            if bound < each - before and bound < point - each:
                ends.append(each)
            if 1e-12 * point < abs(each - point) <= bound:
                end = each
        ends.append(end)
    return ends


def watched_steps(simulation, count):
    """Ends and sizes of the steps that so many grid steps are made of."""
    seen, sizes = [], []
    simulation.observe(lambda sim, report: (seen.append(sim.time), sizes.append(report.step_size)))
    for _ in range(count):
        simulation.step()
    return seen, sizes


@pytest.mark.parametrize("integrator", EVERY)
@pytest.mark.parametrize("grid_step", [0, 1_000_000, 1_000_000_000])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("share", SHARES)
def test_steps_end_where_breakpoints_are_and_none_is_shorter_than_the_bound(
    side, share, grid_step, integrator
):
    """By a share of h beside the third grid point and the fifth, at t = 0, 1e3 and 1e6 s."""
    begin, end = ((grid_step + n) * H + side * share * H for n in (3, 5))
    text = BALL.replace("INTEGRATOR", integrator).replace("BEGIN", repr(begin)).replace("END", repr(end))
    simulation = loads(text).compose()
    late = {"time": np.array(grid_step * H), "step_index": np.array(grid_step)}
    simulation.restore(simulation.internal_state() | late)
    seen, sizes = watched_steps(simulation, 8)
    assert seen == stops(grid_step, (begin, end), 8)
    assert min(sizes) >= (1.0 - 1e-6) * max(1e-9 * H, 1e-12 * grid_step * H)
    # a size is of the time that passes, but for the last places of t
    assert sizes == pytest.approx(np.diff([grid_step * H, *seen]), rel=1e-9, abs=4.0 * np.spacing(seen[-1]))
    # the integral of the pull; schemes of first order miss up to half a step of the whole pull
    pushed = PULL * (0.5 * (end - begin) + (seen[-1] - end)) / MASS
    missed = 0.5 * H * PULL / MASS if integrator in FIRST_ORDER else 0.0
    assert simulation.state.v[0] == pytest.approx(pushed, rel=1e-3, abs=1.001 * missed)
