"""SciPy's solvers in a scenario: steps at breakpoints, exact resumption, supported weights, reported failures."""

from __future__ import annotations

import math
from typing import ClassVar, final

import numpy as np
import pytest

from corekit.data.signal_base import HeldSignal, Signal
from corekit.data.signals import Ramp, Table
from corekit.errors import StepFailed
from corekit_testing.pendulum import Pendulum
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.rounding import rounding
from corekit_testing.small_world import floor
from corekit_timestep.config import ScipyBdfConfig

from .scipy_worlds import ALL, TWO_RODS, WEIGHTLESS, G, M, build, oscillator

# — breakpoints —


def build_pulled(signal, solver, h, **options):
    chain = PointChain(PointChainConfig(masses=(M,)), WEIGHTLESS)
    inputs = {"inputs": {"body": {chain.description.inputs[0].name: signal}}}
    return build(chain, solver, h, inputs, **options)


@ALL
def test_a_short_pulse_after_a_long_calm_is_not_stepped_over(solver):
    """1 ms of 3 N after 0.7003 s of zero force, in which steps grow without bound."""
    pulse = Table(
        times=(0.0, 0.7003, 0.7003 + 1e-9, 0.7013, 0.7013 + 1e-9),
        values=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    )
    simulation = build_pulled(pulse, solver, 0.05)
    simulation.run(1.0)
    assert simulation.state.v[0] == pytest.approx(3.0 * 1e-3 / M, rel=1e-4)


@ALL
def test_steps_end_at_the_breakpoints_of_a_ramp(solver):
    """Between breakpoints speeds are of degree two: steps that end at each are exact."""
    simulation = build_pulled(
        Ramp(begin=0.1234, end=0.2345, value=(1.0, 0.0, 0.0)), solver, 0.05, relative=1e-10, absolute=1e-12
    )
    simulation.run(0.3)
    width, remainder = 0.2345 - 0.1234, 0.3 - 0.2345
    assert simulation.state.v[0] == pytest.approx((0.5 * width + remainder) / M, rel=1e-9)


@pytest.mark.parametrize("side", [0.0, 1.0])
@ALL
def test_breakpoints_beside_a_grid_point_by_rounding_belong_to_it(solver, side):
    """A ramp between two grid points, but for rounding to either side, on a solver that ends there."""
    begin, end = (math.nextafter(math.nextafter(k * 0.1, side), side) for k in (3, 7))
    simulation = build_pulled(
        Ramp(begin=begin, end=end, value=(1.0, 0.0, 0.0)), solver, 0.1, relative=1e-9, absolute=1e-11
    )
    simulation.run(1.0)
    assert simulation.state.v[0] == pytest.approx((0.5 * 0.4 + 0.3) / M, rel=1e-8)


@final
class _Set(HeldSignal):
    """An input that the test sets between steps."""

    kind: ClassVar[str] = "set"

    def __init__(self):
        self.now = np.zeros(3)

    size = property(lambda self: 3)
    constant = property(lambda self: False)

    def value(self, t, out):
        out[:] = self.now


@ALL
def test_an_input_set_between_steps_acts_from_there(solver):
    """The solver discards all that it computed ahead with the old value."""
    force = _Set()
    simulation = build_pulled(force, solver, 0.1)
    for k in range(10):
        force.now[0] = float(k)
        simulation.step()
    assert simulation.state.v[0] == pytest.approx(sum(range(10)) * 0.1 / M, rel=1e-9)


# — bits —


@ALL
@pytest.mark.parametrize("kind", ["pendulum", "rod", "falling"])
def test_a_resumed_run_and_one_that_was_saved_repeat_every_bit(solver, kind):
    """Saved after every step: the solver is restored exactly at any time."""
    worlds = {
        "pendulum": lambda: build(Pendulum(TWO_RODS), solver, 0.02),
        "rod": lambda: build(
            PointChain(PointChainConfig(planar=True, positions=((0.8, -0.6),), links=("rod",))), solver, 0.02
        ),
        "falling": lambda: build(
            PointChain(PointChainConfig(positions=((0, 0, 0.2),), velocities=((0.3, 0, 0),), shape="sphere")),
            solver, 0.02,
            {
                "solver": ProjectedGaussSeidel(), "detector": ReferenceDetector(), "obstacles": [floor()],
                "friction": 0.3,
            },
        ),
    }  # fmt: skip
    plain = worlds[kind]()
    motions = []
    for _ in range(24):
        plain.step()
        motions.append(plain.state.qv.copy())
    watched = worlds[kind]()
    for k in range(24):
        watched.step()
        watched.restore(watched.internal_state())
        assert np.array_equal(watched.state.qv, motions[k]), f"after {k} savings"
    for k in (1, 9):
        first, again = worlds[kind](), worlds[kind]()
        for _ in range(k):
            first.step()
        again.restore(first.internal_state())
        for motion in motions[k:]:
            again.step()
            assert np.array_equal(again.state.qv, motion)


@ALL
def test_the_solver_restarts_from_a_state_changed_by_hand(solver):
    simulation = build(oscillator(), solver)
    simulation.run(0.1)
    simulation.state.q[:], simulation.state.v[:] = [1.0, 0, 0], 0.0
    simulation.run(0.3)
    assert simulation.state.q == pytest.approx([1.0, 0, 0], abs=1e-12)


# — contact —


@ALL
@pytest.mark.parametrize("drag", [0.0, 20.0, 2e4])
def test_a_damped_mass_rests_on_exactly_its_weight(solver, drag):
    h = 1e-3
    chain = PointChain(
        PointChainConfig(masses=(M,), positions=((0.0, 0.0, 0.1),), drag=drag, shape="sphere", radius=0.1)
    )
    world = {"solver": ProjectedGaussSeidel(), "detector": ReferenceDetector(), "obstacles": [floor()]}
    simulation = build(chain, solver, h, world)
    simulation.run(0.05)
    assert simulation.contacts().normal_impulse == pytest.approx([h * M * G], rel=1e-10)
    assert abs(simulation.state.q[2] - 0.1) < 1e-12


@ALL
def test_a_ball_falls_freely_lands_and_stays(solver):
    ball = PointChain(PointChainConfig(positions=((0, 0, 0.3),), shape="sphere", radius=0.1))
    world = {"solver": ProjectedGaussSeidel(), "detector": ReferenceDetector(), "obstacles": [floor()]}
    simulation = build(ball, solver, 2e-3, world)
    simulation.run(0.2)
    assert simulation.state.q[2] == pytest.approx(0.3 - 0.5 * G * 0.04, abs=1e-5)
    simulation.run(0.4)
    assert simulation.state.q[2] == pytest.approx(0.1, abs=1e-4)
    assert abs(simulation.state.v[2]) < 1e-3


# — reported failures —


@final
class _Diverging(Signal):
    """1/(½ − t)², which no step size resolves to the end."""

    kind: ClassVar[str] = "diverging"
    size = property(lambda self: 3)
    constant = property(lambda self: False)

    def value(self, t, out):
        out.fill(0.0)
        out[0] = 1.0 / (0.5 - t) ** 2

    def rate(self, t, out):
        out.fill(0.0)

    acceleration = rate

    def breakpoints(self, t0, t1):
        return []


@ALL
def test_a_force_that_no_step_resolves_ends_with_scipy_s_message(solver):
    simulation = build_pulled(_Diverging(), solver, 0.1)
    with pytest.raises(StepFailed, match=r"Error control .* SciPy says: Required step size|non-finite"):
        simulation.run(1.0)
    assert simulation.time <= 0.5 * (1.0 + rounding(5))


def test_too_few_inner_steps_are_reported():
    simulation = build(oscillator(damping=2e6), "rk45", 0.1, max_inner_steps=5)
    with pytest.raises(StepFailed, match=r"iteration limit .*max_inner_steps"):
        simulation.step()


@ALL
def test_the_error_names_a_speed_that_is_not_a_number(solver):
    simulation = build(oscillator(), solver)
    simulation.step()
    simulation.state.v[0] = math.nan
    with pytest.raises(StepFailed, match="nan"):
        simulation.step()


@ALL
def test_the_error_names_the_term_of_an_infinite_force(solver):
    force = _Set()
    simulation = build_pulled(force, solver, 0.1)
    simulation.step()
    force.now[1] = math.inf
    with pytest.raises(StepFailed, match=r"force on .* became inf.*'pull'"):
        simulation.step()


@pytest.mark.parametrize(
    ("option", "value"), [("relative", 0.0), ("absolute", -1.0), ("settling", 0.0), ("max_inner_steps", 0)]
)
def test_the_error_names_an_invalid_option(option, value):
    with pytest.raises(ValueError, match=option):
        ScipyBdfConfig(**{option: value})
