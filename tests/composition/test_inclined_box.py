"""Scenario A of CUSP as a user runs it: what must hold over its two seconds."""

from pathlib import Path

import numpy as np
import pytest

import corekit
from corekit.data.contacts import ContactMode
from corekit.data.status import Status
from corekit_testing.rounding import rounding

pytestmark = pytest.mark.xdist_group("inclined-box")

FILE = Path(__file__).parents[2] / "scenarios" / "cusp" / "inclined_box.toml"
RAMP = 1.0


class Watch:
    """Every step's worst figures and contact modes."""

    def __init__(self, simulation):
        self.depth, self.residuals, self.answered, self.statuses = 0.0, [], [], []
        self.modes = []
        simulation.observe(self)

    def __call__(self, simulation, report):
        record = simulation.contacts()
        self.depth = max(self.depth, -float(np.min(record.gap, initial=0.0)))
        self.residuals.append(report.solve_info.residuals.worst)
        self.answered.append(report.solve_info.answered_by)
        self.statuses.append(report.solve_info.status)
        modes = set(record.mode[record.normal_impulse > 0].tolist()) - {int(ContactMode.SEPARATE)}
        self.modes.append((simulation.time, modes))

    def seen(self, begin, end):
        """Contact modes between two instants."""
        return set().union(*(modes for time, modes in self.modes if begin < time <= end))


def run(*overrides, duration=2.0):
    scenario = corekit.load(FILE, overrides)
    simulation = scenario.compose()
    watch = Watch(simulation)
    simulation.run(duration)
    return simulation, watch


@pytest.fixture(scope="module")
def whole():
    return run()


def test_no_disk_penetrates_deeper_than_a_millimetre(whole):
    assert whole[1].depth <= 1e-3


def test_it_sticks_before_the_ramp_and_slides_after_it_begins(whole):
    watch = whole[1]
    assert watch.seen(0.0, 0.05) == set()
    assert watch.seen(0.2, 0.5) == {ContactMode.STICK}
    assert ContactMode.STICK in watch.seen(0.9, RAMP)
    assert watch.seen(1.2, 2.0) == {ContactMode.SLIDE}


def test_every_step_is_answered_honestly(whole):
    watch = whole[1]
    assert len(watch.residuals) == 2000
    for residual, status, who in zip(watch.residuals, watch.statuses, watch.answered, strict=True):
        assert who
        assert status in (Status.CONVERGED, Status.FALLBACK)
        assert residual <= 1e-8


def test_pressure_lengthens_the_arm_down_the_slope(whole):
    simulation, _ = whole
    elongation = simulation.state.q.reshape(3, 3).mean(axis=1)
    # 40 N on three chambers of 265 N/m would give 0.151 m at rest; the ramp is shorter than B/K = 0.47 s allows
    assert 0.05 < elongation[1] < 0.151
    assert 0.05 < elongation[2] < 0.151
    assert abs(elongation[0]) < 0.03


def test_a_clamped_disk_inside_an_obstacle_changes_nothing():
    # 11 mm higher, the box's face cuts into the base disk, which cannot move, and into no other
    near, watch = run("world.obstacles[0].position=[0.0, -0.1348, -0.2892]", duration=0.02)
    far, _ = run(duration=0.02)
    record = near.contacts()
    assert record.gap.min() < -5e-4
    assert set(watch.statuses) == {Status.CONVERGED}
    assert record.normal_impulse.max() == 0.0
    assert record.residual.max() == 0.0
    # coordinates within 0.1 m through twenty steps, of some fifty operations one after the other
    np.testing.assert_allclose(near.state.q, far.state.q, rtol=0, atol=rounding(20 * 50, 0.1))


@pytest.mark.parametrize("solver", ["pgs", "chain"])
def test_another_lcp_solver_gives_the_same_motion(solver):
    reference, _ = run(duration=0.4)
    other, _ = run(f"contact.solver.options.lcp_solver={solver}", duration=0.4)
    np.testing.assert_allclose(other.state.q, reference.state.q, atol=1e-6)


def test_halving_the_step_moves_the_tip_by_first_order():
    ends = []
    for step in (1e-3, 5e-4, 2.5e-4):
        simulation, _ = run(f"time.step={step}", duration=0.08)  # free fall
        ends.append(simulation.state.q.copy())
    coarse, fine = np.abs(ends[0] - ends[1]).max(), np.abs(ends[1] - ends[2]).max()
    assert coarse / fine == pytest.approx(2.0, abs=0.2)
