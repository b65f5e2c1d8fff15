"""What a world remembers: unwrapped angles, and everything a resumed run needs to be the same bit for bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from corekit.data.signals import Ramp, Sine
from corekit.errors import StepFailed
from corekit.roles.component import BuildContext
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world
from corekit_testing.velocity_verlet import VelocityVerlet

H = 5e-3
INTEGRATORS = {
    "semi-implicit": lambda: SemiImplicitEuler(None, BuildContext(step=H)),
    "euler": lambda: ImplicitEuler(None, BuildContext(step=H)),
    "midpoint": lambda: ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=H)),
    "verlet": lambda: VelocityVerlet(None, BuildContext(step=H)),
}


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("turns", [2, -2])
def test_winding_angle_counts_whole_turns(integrator, turns):
    """A weightless mass circles on a rod once a second."""
    rate = math.copysign(2 * math.pi, turns)
    config = PointChainConfig(
        planar=True, positions=((1.0, 0.0),), velocities=((0.0, rate),), links=("rod",), winding=0
    )
    model = PointChain(config, BuildContext(gravity=np.zeros(3)))
    simulation = small_world({"a": model}, INTEGRATORS[integrator](), step=H)
    angles = [0.0]
    simulation.observe(lambda sim, _report: angles.append(sim.state.aux[0]))
    simulation.run(abs(turns))
    assert angles[-1] == pytest.approx(2 * math.pi * turns, rel=0.25 if integrator == "euler" else 1e-2)
    assert np.abs(np.diff(angles)).max() < 1.1 * abs(rate) * H
    x, z = simulation.state.q
    assert math.remainder(angles[-1] - math.atan2(z, x), 2 * math.pi) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("theta", [1.0, 0.5])
def test_spiral_spring_winds_up_over_more_than_a_turn_and_brings_the_mass_back(theta):
    """The force depends on the counted angle: without it the energy would not return."""
    config = PointChainConfig(
        planar=True, positions=((1.0, 0.0),), velocities=((0.0, 9.0),), links=("rod",), winding=0,
        winding_stiffness=1.0,
    )  # fmt: skip
    model = PointChain(config, BuildContext(gravity=np.zeros(3)))
    integrator = ImplicitEuler(ImplicitEulerConfig(theta=theta), BuildContext(step=H))
    simulation = small_world({"a": model}, integrator, step=H)
    angles = []
    simulation.observe(lambda sim, _report: angles.append(sim.state.aux[0]))
    simulation.run(math.pi)
    # ψ(t) = 9·sin(t) for unit mass, length and stiffness
    times = H * np.arange(1, len(angles) + 1)
    error = np.abs(angles - 9 * np.sin(times)).max()
    assert max(angles) > 2 * math.pi
    assert error < (2.0 if theta == 1.0 else 0.05)


def everything(integrator, solver):
    """A world with all that remembers: contact, friction, rows, bounds, a winding angle, moving things, breakpoints."""
    chain = PointChain(
        PointChainConfig(
            masses=(1.0, 0.5, 0.7),
            positions=((0.0, 0.0, 0.3), (0.3, 0.0, 0.2), (0.6, 0.05, 0.11)),
            velocities=((0.0, 0.0, 0.0), (0.0, 0.5, 0.0), (0.4, 0.6, -0.5)),
            links=("none", "spring", "rod") if solver == "potential" else ("brake", "spring", "rod"),
            stiffness=400.0,
            shape="sphere",
            winding=2,
            winding_stiffness=0.01,
        )
    )
    ball = PointChain(
        PointChainConfig(positions=((0.62, 0.2, 0.12),), velocities=((0.0, -0.5, 0.0),), shape="sphere")
    )
    lift = Sine(amplitude=(0.0, 0.0, 0.01), frequency=2.0)
    pull = Ramp(begin=0.0512, end=0.1033, start=(0.0, 0.0, 0.0), value=(1.0, -2.0, 0.5))
    made = (
        ProjectedGaussSeidel()
        if solver == "impulses"
        else Penalty(PenaltyConfig(stiffness=1e5, thickness=5e-3))
    )
    return small_world(
        {"chain": chain, "ball": ball},
        INTEGRATORS[integrator](),
        step=H,
        solver=made,
        detector=ReferenceDetector(),
        obstacles=[floor(lift)],
        friction=0.4,
        inputs={"chain": {"pull": pull}},
    )


@pytest.mark.parametrize("solver", ["impulses", "potential"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_run_continues_bit_for_bit_from_what_it_remembers_after_any_step(integrator, solver):
    live = everything(integrator, solver)
    kept, ends = [live.internal_state()], []
    for _ in range(30):
        live.step()
        kept.append(live.internal_state())
        ends.append(
            np.concatenate([live.state.q, live.state.v, live.state.aux, live.contacts().normal_impulse])
        )
    assert max(end[25:].max(initial=0.0) for end in ends) > 0
    for start in range(0, 30, 4):
        resumed = everything(integrator, solver)
        resumed.restore(kept[start])
        for step in range(start, min(start + 3, 30)):
            resumed.step()
            state = resumed.state
            end = np.concatenate([state.q, state.v, state.aux, resumed.contacts().normal_impulse])
            assert np.array_equal(end, ends[step]), (start, step)
            assert resumed.time == H * (step + 1)


def test_a_world_without_contact_restores_the_internal_state_of_one_with_contact():
    """A planar one: its contacts have two rows each."""

    def planar(**contact):
        rods = PointChainConfig(
            masses=(1.0, 1.0),
            positions=((0.0, 0.1), (0.3, 0.1)),
            links=("none", "brake"),
            shape="sphere",
            planar=True,
        )
        return small_world({"a": PointChain(rods)}, INTEGRATORS["euler"](), step=H, **contact)

    resting = planar(solver=ProjectedGaussSeidel(), detector=ReferenceDetector(), obstacles=[floor()])
    resting.run(0.05)
    assert resting.contacts().count == 2
    falling = planar(solver=ProjectedGaussSeidel())
    falling.restore(resting.internal_state())
    assert np.array_equal(falling.state.q, resting.state.q)
    falling.step()
    np.testing.assert_allclose(falling.state.v, resting.state.v + H * np.tile([0.0, -9.81], 2), atol=1e-9)


def test_internal_state_is_a_copy_and_holds_plain_arrays():
    simulation = everything("midpoint", "impulses")
    for _ in range(5):
        simulation.step()
    kept = simulation.internal_state()
    before = {name: array.copy() for name, array in kept.items()}
    for _ in range(5):
        simulation.step()
    assert all(np.array_equal(kept[name], before[name]) for name in kept)
    assert all(array.dtype.kind in "fi" for array in kept.values())


def test_going_back_in_time_in_the_same_simulation_repeats_it():
    simulation = everything("euler", "impulses")
    simulation.run(0.04)
    kept = simulation.internal_state()
    simulation.run(0.15)
    first = simulation.state.q.copy()
    simulation.restore(kept)
    simulation.run(0.15)
    assert np.array_equal(first, simulation.state.q)


def test_failed_step_leaves_what_is_needed_to_repeat_it():
    """A force that turns nan stops the run; once mended, the step is the same as if it had never failed."""
    simulation = everything("midpoint", "impulses")
    simulation.run(0.05)
    kept = simulation.internal_state()
    model: Any = simulation.bodies[0].model
    healthy = model._gravity.copy()
    model._gravity[2] = np.nan
    with pytest.raises(StepFailed):
        simulation.step()
    after = simulation.internal_state()
    assert all(np.array_equal(kept[name], after[name]) for name in kept)
    model._gravity[:] = healthy
    simulation.step()
    resumed = everything("midpoint", "impulses")
    resumed.restore(kept)
    resumed.step()
    assert np.array_equal(resumed.state.q, simulation.state.q)
    assert np.array_equal(resumed.state.v, simulation.state.v)
