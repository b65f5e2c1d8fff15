"""The stage solver in the hands of an integrator that the kernel does not know, and its norms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corekit.data.status import StepReport
from corekit.roles.component import BuildContext
from corekit.roles.integrator import Integrator, next_step
from corekit.roles.stage_solver import StageSettings, StageSolver, velocity_norms
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import floor, small_world

M, K, STRETCH = 2.0, 300.0, 0.1
SETTINGS = StageSettings(tolerance=1e-12)


class HalfStages(Integrator):
    """Half a step of implicit Euler and half a step of explicit Euler: together the midpoint rule."""

    def __init__(self, step):
        self.size = step
        self.solver = None

    def step(self, system, state, t_stop, out):
        h, t_end = next_step(self.size, state.time, t_stop)
        solver = self.solver = self.solver or StageSolver(system, 1.0, SETTINGS)
        system.theta.begin_step(state, 0.5 * h)
        solver.velocity[:] = state.v
        found = solver.solve()
        out.v[:] = 2.0 * solver.velocity - state.v
        system.integrate(state, solver.velocity, h, state, out)
        out.time = t_end
        return StepReport(found.converged, h, found.iterations, found.info)


def oscillator(h):
    """A mass on a spring along x, released stretched, without gravity."""
    chain = PointChain(
        PointChainConfig(
            masses=(M,),
            positions=((1.0 + STRETCH, 0.0, 0.0),),
            links=("spring",),
            lengths=(1.0,),
            stiffness=K,
        ),
        BuildContext(gravity=np.zeros(3)),
    )
    return small_world({"mass": chain}, HalfStages(h), step=h)


def test_stages_of_a_third_party_scheme_have_its_frequency_and_keep_its_energy():
    """The midpoint rule turns (ω·x, v) by 2·atan(½·h·ω) in every step, whatever h."""
    omega, h, steps = math.sqrt(K / M), 0.05, 200
    simulation = oscillator(h)
    for _ in range(steps):
        simulation.step()
    angle = 2.0 * steps * math.atan(0.5 * h * omega)
    found = [simulation.state.q[0] - 1.0, simulation.state.v[0]]
    wanted = [STRETCH * math.cos(angle), -STRETCH * omega * math.sin(angle)]
    # a stage errs by the tolerance times 1 + |v|, the end velocity by twice that; turning adds no length
    speed = STRETCH * omega
    within = steps * 2.0 * SETTINGS.tolerance * (1.0 + speed)
    assert found[1] == pytest.approx(wanted[1], abs=within)
    assert found[0] == pytest.approx(wanted[0], abs=within / omega)


def stage(world, h, velocity=None):
    """A stage of implicit Euler that has begun at the world's state."""
    solver = StageSolver(world.system, 1.0, StageSettings(tolerance=1e-10))
    world.system.theta.begin_step(world.state, h)
    solver.velocity[:] = world.state.v if velocity is None else velocity
    return solver


def test_chord_steps_solve_a_stage_with_the_matrix_of_another():
    """Without a linear solve, to the velocity that Newton's method finds."""
    model = Pendulum(
        PendulumConfig(lengths=(1.0, 0.7), masses=(1.0, 0.5), angles=(0.3, 0.2), rates=(0.1, 0.0))
    )
    world = small_world({"body": model}, HalfStages(1e-3), step=1e-3)
    newton = stage(world, 1e-3)
    found = newton.solve()
    assert found.converged
    assert found.iterations >= 1
    world.state.q[0] += 1e-3
    chord, fresh = stage(world, 1e-3), stage(world, 1e-3)
    solved = chord.solve_by_chord_steps()
    assert solved is not None
    assert (solved.converged, solved.iterations) == (True, 0)
    assert fresh.solve().converged
    assert np.abs(chord.velocity - newton.velocity).max() > 1e-6  # it is another stage
    assert chord.velocity == pytest.approx(fresh.velocity, abs=2e-10 * (1.0 + np.abs(fresh.velocity).max()))


def resting(links=("none",)):
    """A ball on the floor."""
    ball = PointChain(
        PointChainConfig(masses=(M,), positions=((0.0, 0.0, 0.1),), links=links, shape="sphere", radius=0.1)
    )
    return small_world(
        {"ball": ball}, HalfStages(1e-3), step=1e-3, solver=ProjectedGaussSeidel(), detector=ReferenceDetector(),
        obstacles=[floor()],
    )  # fmt: skip


def test_impulses_are_solved_for():
    """A ball on the floor keeps no velocity into it: h·g is what the impulse takes away."""
    solver = stage(resting(), 1e-3, np.array([0.0, 0.0, -1.0]))
    assert solver.solve().converged
    assert solver.velocity == pytest.approx(np.zeros(3), abs=1e-9)


def test_no_chord_step_is_made_without_a_matrix_or_with_rows_in_it():
    fresh, held = resting(), resting(("rod",))
    assert stage(fresh, 1e-3).solve_by_chord_steps() is None
    assert stage(held, 1e-3).solve().converged
    assert stage(held, 1e-3).solve_by_chord_steps() is None


def test_chord_steps_solve_a_stage_with_impulses_to_its_tolerance():
    """A double pendulum whose end slides on the floor, with the matrix of an earlier angle.

    What is accepted solves the contact problem about itself, with the matrix that belongs there, to the tolerance.
    """
    h, angles = 2e-3, (0.9, 0.4)
    model = Pendulum(
        PendulumConfig(lengths=(1.0, 0.7), masses=(1.0, 0.5), angles=angles, rates=(-1.0, 0.5), radius=0.05)
    )
    low = -math.cos(angles[0]) - 0.7 * math.cos(angles[1]) - 0.05
    world = small_world(
        {"body": model}, HalfStages(h), step=h, solver=ProjectedGaussSeidel(), detector=ReferenceDetector(),
        obstacles=[floor((0.0, 0.0, low))], friction=0.3,
    )  # fmt: skip
    theta = world.system.theta
    assert stage(world, h).solve().converged
    world.state.q[:] += 2e-3, -1e-3
    chord, fresh = stage(world, h), stage(world, h)
    guess = chord.velocity.copy()
    solved = chord.solve_by_chord_steps()
    assert solved is not None
    assert (solved.converged, solved.iterations) == (True, 0)
    system: Any = world.system
    assert system.equation.impulses.impulse[0] > 0.0
    assert np.abs(chord.velocity - guess).max() > 1e-3
    around, within = chord.velocity.copy(), 1e-10 * (1.0 + np.abs(chord.velocity).max())
    theta.linearise(around, 1.0)
    theta.solve(around)
    assert np.abs(around - chord.velocity).max() <= within
    assert fresh.solve().converged
    assert np.abs(fresh.velocity - chord.velocity).max() <= 2.0 * within


@given(seed=st.integers(0, 2**31), count=st.integers(1, 40))
def test_both_norms_are_those_of_the_weighted_vector(seed, count):
    random = np.random.default_rng(seed)
    vector, scale = random.normal(size=count), random.uniform(0.0, 2.0, size=count)
    norm, largest = velocity_norms(vector, scale)
    assert norm == pytest.approx(np.linalg.norm(vector * scale), rel=1e-12)
    assert largest == np.abs(vector * scale).max()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_entry_that_is_not_finite_is_not_lost(bad):
    found = velocity_norms(np.array([1.0, bad, 2.0]), np.ones(3))
    assert not math.isfinite(found[0])
    assert not math.isfinite(found[1])
