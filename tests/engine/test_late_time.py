"""Late in a run rounding of t is more than 1e-9 of a step: every grid step still is one step, breakpoints or not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.data.instants import beside_grid, same_instant
from corekit.data.signals import Ramp
from corekit.roles.component import BuildContext
from corekit.roles.integrator import next_step, step_towards
from corekit.simulation.breakpoints import Breakpoints, cut_steps
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import small_world
from corekit_timestep.config import SemiImplicitEulerConfig
from corekit_timestep.semi_implicit_euler import SemiImplicitEuler as SingleSolve

INTEGRATORS = {
    "reference": lambda h: SemiImplicitEuler(None, BuildContext(step=h)),
    "semi-implicit-euler": lambda h: SingleSolve(SemiImplicitEulerConfig(), BuildContext(step=h)),
}
every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS)


def steps_from(grid_step, h, begin, count=4, integrator="reference"):
    """Ends of the steps that follow a grid step, and their sizes; a pull ramps up from an instant on."""
    pull = Ramp(begin=begin, end=begin + 1e3, start=(0.0, 0.0, 0.0), value=(6.0, 0.0, 0.0))
    simulation = small_world(
        {"mass": PointChain(PointChainConfig(), BuildContext())},
        INTEGRATORS[integrator](h),
        step=h,
        inputs={"mass": {"pull": pull}},
    )
    late = simulation.internal_state()
    simulation.restore(
        late | {"time": late["time"] + grid_step * h, "step_index": late["step_index"] + grid_step}
    )
    seen = []
    simulation.observe(lambda sim, report: seen.append((sim.time, report.step_size)))
    for _ in range(count):
        simulation.step()
    return seen


@every_integrator
@pytest.mark.parametrize("grid_step", [2_000, 10_000, 1_000_000, 20_000_000])
@pytest.mark.parametrize("beside", [-0.9, -0.5, -0.01, 0.01, 0.5, 0.9])
def test_a_breakpoint_within_rounding_of_a_grid_point_makes_no_step_of_its_own(grid_step, beside, integrator):
    """By a share of how far apart instants are the same."""
    h = 1e-3
    point = (grid_step + 2) * h
    seen = steps_from(grid_step, h, point + beside * same_instant(point), integrator=integrator)
    assert [time for time, _ in seen] == [(grid_step + n) * h for n in range(1, 5)]


@pytest.mark.parametrize("side", [-math.inf, math.inf])
@pytest.mark.parametrize("grid_step", [6_000_000, 20_000_000])
def test_a_breakpoint_that_rounding_puts_beside_a_grid_point_makes_none(grid_step, side):
    h = 1e-4
    seen = steps_from(grid_step, h, math.nextafter((grid_step + 2) * h, side))
    assert [time for time, _ in seen] == [(grid_step + n) * h for n in range(1, 5)]


@every_integrator
@pytest.mark.parametrize(
    ("grid_step", "h"),
    [(20_000_000, 1e-4), (100_000_000, 1e-4), (100_000_000, 1e-3 / 3), (10_000_000_000, 1e-4)],
)
def test_a_grid_step_whose_ends_are_rounded_is_one_step_of_h(grid_step, h, integrator):
    """Not one that ends a last place before the grid point, and another from there."""
    count = 200
    seen = steps_from(grid_step, h, 2.0 * (grid_step + count) * h, count, integrator)
    assert seen == [((grid_step + n) * h, h) for n in range(1, count + 1)]


@every_integrator
def test_a_step_between_breakpoints_beside_both_its_grid_points_is_one_step(integrator):
    """The first a little early, the second a little late: it is longer than h by nearly 2e-9 of it."""
    h, times = 0.01, []
    breaks = {3: 0.03 - 0.9e-9 * h, 4: 0.04 + 0.9e-9 * h}
    pull = Ramp(begin=breaks[3], end=breaks[4], start=(0.0, 0.0, 0.0), value=(6.0, 0.0, 0.0))
    simulation = small_world(
        {"mass": PointChain(PointChainConfig(), BuildContext())}, INTEGRATORS[integrator](h), step=h,
        inputs={"mass": {"pull": pull}},
    )  # fmt: skip
    simulation.observe(lambda sim, _report: times.append(sim.time))
    simulation.run(0.06)
    assert times == [breaks.get(n, n * h) for n in range(1, 7)]


@pytest.mark.parametrize("share", [0.9995, 0.999999, 1.0 - 1e-6, 0.5])
def test_a_step_that_is_shorter_than_h_by_more_than_rounding_keeps_its_size(share):
    """However late: what moves over h, and is a rate by h, must be of the time that passes."""
    time, h = 1e6, 1e-3
    stop = time + share * h
    assert next_step(h, time, stop) == (stop - time, stop)


@pytest.mark.parametrize("grid_step", [0, 1_000_000, 100_000_000, 10_000_000_000])
def test_parts_of_a_late_step_are_as_many_as_of_an_early_one(grid_step):
    h, parts = 1e-4, 7
    time, stop, sizes = grid_step * h, (grid_step + 1) * h, []
    while time < stop:
        size, time = step_towards(h, h / parts, time, stop)
        sizes.append(size)
    assert len(sizes) == parts
    assert sizes == pytest.approx([h / parts] * parts, abs=parts * math.ulp(stop))


class _Instants:
    def __init__(self, instants):
        self._instants = instants

    def breakpoints(self, t0, t1):
        return [t for t in self._instants if t0 < t <= t1]


@pytest.mark.parametrize("start", [0, 1_000, 1_000_000, 1_000_000_000])
@pytest.mark.parametrize("seed", range(4))
def test_steps_that_are_not_cut_are_those_that_the_loop_makes_from_one_grid_point_to_the_next(start, seed):
    """Breakpoints at all distances from grid points, single ones and close ones; and no step is too short."""
    h, count, stream = 1e-3, 300, np.random.default_rng(seed)
    grid = (start + np.arange(count + 1)) * h
    points = stream.choice(grid[1:-1], 60)
    far = stream.choice([-1.0, 1.0], 60) * 10.0 ** stream.uniform(-16.0, -4.0, 60)
    sources = [_Instants(points + far), _Instants([])]
    cut, stops, now = cut_steps(sources, grid, h), Breakpoints(sources, h), float(grid[0])
    for n in range(count):
        target = stops.at_grid(now, float(grid[n + 1]))
        made = [now]
        while made[-1] != target:
            made.append(stops.next_stop(made[-1], target))
            assert made[-1] - made[-2] >= (1.0 - 1e-6) * beside_grid(made[-1], h)
        if not cut[n]:
            assert made == [grid[n], grid[n + 1]]
        now = target
        around = 3.0 * beside_grid(target, h)
        if not np.any((grid[n] - around <= points + far) & (points + far <= grid[n + 1] + around)):
            assert not cut[n]
    assert cut.any()
