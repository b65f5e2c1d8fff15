"""Steps with an earlier step's factorisation: the same motion, fewer factorisations, resumed to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.engine.step.theta_step import ThetaStep
from corekit.roles.component import BuildContext
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import floor, small_world
from corekit_timestep.config import ImplicitEulerConfig, ImplicitMidpointConfig
from corekit_timestep.factorisation_cache import FactorisationCache
from corekit_timestep.theta_integrator import ThetaIntegrator


def swinging(reuse, *, tolerance=1e-10, **world):
    """Two masses on springs that swing a little: the stiffness hardly changes from step to step."""
    config = PointChainConfig(
        masses=(1.0, 0.5), positions=((0.05, -1.0), (0.1, -2.0)), planar=True, links=("spring", "spring"),
        stiffness=400.0, shape="sphere", radius=0.1,
    )  # fmt: skip
    stepper = ThetaIntegrator(
        ImplicitMidpointConfig(reuse=reuse, tolerance=tolerance), BuildContext(step=0.02)
    )
    return small_world({"body": PointChain(config)}, stepper, step=0.02, **world)


def linear_solves(simulation, steps):
    return sum(simulation.step().iterations for _ in range(steps))


def test_a_cached_matrix_saves_factorisations_and_changes_nothing_else():
    cached, uncached = swinging(0.5), swinging(0.0)
    cached_count, uncached_count = linear_solves(cached, 60), linear_solves(uncached, 60)
    assert cached_count < uncached_count / 4
    assert cached.state.q == pytest.approx(uncached.state.q, abs=1e-8)


def test_a_resumed_run_recomputes_the_cached_matrix():
    """Bit by bit, although the matrix itself is not stored."""
    first, second = swinging(0.5), swinging(0.5)
    assert linear_solves(first, 40) < 40
    second.restore(first.internal_state())
    again = swinging(0.5)
    again.restore(second.internal_state())  # before its first step a run passes the restored state on
    for _ in range(20):
        first.step(), second.step(), again.step()
    assert np.array_equal(first.state.q, second.state.q)
    assert np.array_equal(first.state.q, again.state.q)


def test_a_matrix_is_given_up_once_it_has_cost_a_new_one():
    """Four chord steps beyond the fewest that a step needed with it; one alone tells nothing of the matrix."""
    world = swinging(0.5)
    world.step()
    system, state = world.system, world.state
    cache, resumed = FactorisationCache(0.5), FactorisationCache(0.5)
    cache.store(system, state, state.v, 0.02, 0.0)
    for chord_steps in (1, 2, 1, 2, 3, 3, 3):
        cache.on_success(chord_steps)
        assert cache.is_usable(system, 0.02)
    resumed.restore(cache.internal_state())
    assert resumed.is_usable(system, 0.02)
    for each in (cache, resumed):
        each.on_success(3)
        assert not each.is_usable(system, 0.02)
        each.store(system, state, state.v, 0.02, 0.0)
        for _ in range(8):  # a motion that needs three steps with any matrix keeps it
            each.on_success(3)
        assert each.is_usable(system, 0.02)


def test_a_body_at_rest_is_evaluated_once_a_step_and_twice_now_and_then(monkeypatch):
    """Sixteen steps in a row may trust the contraction of an earlier one, the next measures it."""
    ball = PointChainConfig(masses=(1.0,), positions=((0.0, -1.0),), planar=True, shape="sphere", radius=0.1)
    world = small_world(
        {"ball": PointChain(ball)}, ThetaIntegrator(ImplicitEulerConfig(), BuildContext(step=0.01)), step=0.01,
        solver=ProjectedGaussSeidel(), detector=ReferenceDetector(), obstacles=[floor((0.0, 0.0, -1.1))],
    )  # fmt: skip
    evaluate, counts = ThetaStep.update_residual, []

    def counted(self, *arguments):
        counts[-1] += 1
        evaluate(self, *arguments)

    monkeypatch.setattr(ThetaStep, "update_residual", counted)
    for _ in range(5 + 3 * 17):
        counts.append(0)
        world.step()
    assert sorted(counts[5:]) == 48 * [1] + 3 * [2]
    assert world.contacts().normal_impulse.sum() == pytest.approx(0.01 * 9.81, rel=1e-9)
    assert np.abs(world.state.v).max() < 1e-12


def test_matrices_with_potentials_are_not_cached():
    """Their terms depend on more than the state: a step after one with contact factorises."""
    touching = swinging(
        0.5, tolerance=1e-6, solver=Penalty(PenaltyConfig()), detector=ReferenceDetector(),
        obstacles=[floor((0.0, 0.0, -2.101))],
    )  # fmt: skip
    touching_steps = []
    for _ in range(12):
        solves = touching.step().iterations
        assert solves or not (touching_steps and touching_steps[-1])
        touching_steps.append(touching.contacts().normal_impulse.sum() > 0.0)
    assert any(touching_steps)


def test_a_run_resumed_near_a_floor_has_the_same_contacts():
    """The recomputation of an older matrix does not change the speeds that determine the contact margin."""
    world = {
        "solver": ProjectedGaussSeidel(), "detector": ReferenceDetector(), "obstacles": [floor((0.0, 0.0, -2.13))],
    }  # fmt: skip
    run, counts = swinging(0.5, **world), set()
    for _ in range(40):
        cached = run.internal_state()
        resumed = swinging(0.5, **world)
        resumed.restore(cached)
        report, again = run.step(), resumed.step()
        counts.add((report.iterations > 0, run.contacts().count))
        assert again.iterations == report.iterations
        assert np.array_equal(resumed.state.qv, run.state.qv)
    # with contact and without, some steps use the old matrix and some a new one
    assert {(True, 0), (False, 0), (False, 1)} <= counts
