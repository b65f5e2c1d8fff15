"""`Simulation.run` lets the driver make the steps that nothing looks at: it ends as single steps do, bit for bit."""

import numpy as np
import pytest

from corekit.roles.component import BuildContext
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import small_world

from .free_worlds import GVS, PCC, TOP, make_steps, scenario_of


def expect_alike(one, other):
    """Whether both would go on alike and report the same of their last step."""
    first, second = one.internal_state(), other.internal_state()
    assert first.keys() == second.keys()
    for name, array in first.items():
        assert np.array_equal(array, second[name]), name
    for name in ("id", "gap", "point", "normal_impulse", "tangential_impulse", "slip", "mode"):
        assert np.array_equal(getattr(one.contacts(), name), getattr(other.contacts(), name))
    assert one.report == other.report


@pytest.mark.parametrize("bodies", [TOP, PCC, GVS, TOP + PCC], ids=["rigid body", "pcc", "gvs", "two bodies"])
def test_a_run_ends_where_single_steps_end(bodies):
    scenario = scenario_of(bodies)
    run, stepped = scenario.compose(), scenario.compose()
    run.run(1.2)
    make_steps(stepped, 1200)
    expect_alike(run, stepped)
    assert 1190 <= run.steps_ahead < 1200
    run.run(1.21)  # few steps, made one by one
    make_steps(stepped, 10)
    expect_alike(run, stepped)


BESIDE = TOP.replace("from = 0.01, to = 0.0305", "from = %r, to = %r")


@pytest.mark.parametrize(
    ("step", "beside"), [(0, 0.5), (1, -0.5), (500, -0.5), (500, 0.5), (1199, 0.5), (1200, -0.5)]
)
def test_a_run_lands_on_breakpoints_beside_grid_points_as_single_steps_do(step, beside):
    """By half of 1e-9 of a step, where a step, a run and what is looked ahead begin and end."""
    begin = 1e-3 * step + beside * 1e-12
    scenario = scenario_of(BESIDE % (begin, begin + 0.1))
    run, stepped = scenario.compose(), scenario.compose()
    run.run(1.2)
    make_steps(stepped, 1200)
    expect_alike(run, stepped)
    assert run.steps_ahead > 1190
    run.run(2.4)
    make_steps(stepped, 1200)
    expect_alike(run, stepped)


@pytest.mark.parametrize("start", [1_000_000, 1_000_000_000])
@pytest.mark.parametrize(
    ("step", "share"), [(1, -0.5e-9), (500, 0.5e-6), (500, 5e-6), (999, 1e-3), (1000, -0.5e-9), (1000, -2e-3)]
)  # fmt: skip
def test_a_late_run_makes_the_single_steps_where_breakpoints_lie_beside_grid_points(start, step, share):
    """By a share of a step, at t = 1e3 and 1e6 s, where rounding of t is a millionth of a step and a thousandth."""
    begin = (start + step) * 1e-3 + share * 1e-3
    scenario = scenario_of(TOP.replace("from = 0.01, to = 0.0305", f"from = {begin!r}, to = {begin + 0.1!r}"))
    run, stepped = scenario.compose(), scenario.compose()
    late = {"time": np.array(start * 1e-3), "step_index": np.array(start)}
    for simulation in (run, stepped):
        simulation.restore(simulation.internal_state() | late)
    for count in (1000, 2000):
        run.run((start + count) * 1e-3)
        make_steps(stepped, 1000)
        expect_alike(run, stepped)
    assert run.steps_ahead > 1990


def test_breakpoints_on_grid_points_are_left_to_the_driver():
    """As those of a table with a row a step are, but for rounding of t."""
    simulation = scenario_of(BESIDE % (0.5, float(np.nextafter(0.7, 1.0)))).compose()
    simulation.run(1.2)
    assert simulation.steps_ahead == 1199


def test_inputs_that_python_wrote_hold_during_a_run():
    scenario = scenario_of(PCC)
    run, stepped = scenario.compose(), scenario.compose()
    for simulation in (run, stepped):
        simulation.inputs["arm"]["chamber-force"] = np.arange(9.0)
    run.run(1.0)
    make_steps(stepped, 1000)
    expect_alike(run, stepped)


def test_whoever_watches_steps_sees_every_one():
    simulation, seen = scenario_of(PCC).compose(), []
    simulation.observe(lambda sim, _report: seen.append(sim.step_index))
    simulation.run(1.0)
    assert len(seen) == 1000
    assert simulation.steps_ahead == 0


def test_components_that_no_distribution_registers_are_stepped_one_by_one():
    chain = PointChain(PointChainConfig(), BuildContext())
    simulation = small_world({"chain": chain}, SemiImplicitEuler(None, BuildContext(step=1e-3)), step=1e-3)
    simulation.run(1.1)
    assert simulation.step_index == 1100
    assert simulation.steps_ahead == 0
