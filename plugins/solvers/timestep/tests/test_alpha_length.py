"""Generalised α with a bound on its local error, and with matrices reused over steps."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from corekit.data.signals import Ramp
from corekit.roles.component import BuildContext
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import floor, small_world
from corekit_timestep.alpha_integrator import AlphaIntegrator
from corekit_timestep.config import GeneralizedAlphaConfig

GRID = 0.25
SWING = solve_ivp(
    lambda _t, y: [y[1], -9.81 * math.sin(y[0])], (0, 2), [1.0, 0.0], rtol=1e-12, atol=1e-12, dense_output=True
)  # fmt: skip


def swinging(grid=GRID, **options):
    """A pendulum of one rod from 1 rad."""
    integrator = AlphaIntegrator(GeneralizedAlphaConfig(**options), BuildContext(step=grid))
    return small_world({"body": Pendulum(PendulumConfig(angles=(1.0,)))}, integrator, step=grid)


def steps_of(simulation, duration):
    """Ends and sizes of the steps."""
    steps = []
    simulation.observe(lambda run, report: steps.append((run.time, report.step_size)))
    simulation.run(duration)
    return np.array(steps)


def test_a_tenth_of_the_bound_on_the_local_error_halves_the_steps():
    """The bound is on C·h³·|q⃛|, so h falls by ∛10, and the error of the second-order motion by its square."""
    errors, counts = [], []
    for bound in (1e-4, 1e-5, 1e-6):
        simulation = swinging(local_error=bound)
        counts.append(len(steps_of(simulation, 2.0)))
        errors.append(abs(float(simulation.state.q[0]) - float(SWING.y[0, -1])))
    ratios = [later / earlier for earlier, later in pairwise(counts)]
    assert ratios == pytest.approx([10 ** (1 / 3)] * 2, rel=0.15)
    assert all(later < 0.35 * earlier for earlier, later in pairwise(errors))


def test_the_estimate_is_the_error_of_one_step():
    """C·h³·q⃛ of the closed form, if a step starts with the accelerations of previous steps of its size."""
    h, rho = 0.01, 0.8
    simulation = swinging(h, spectral_radius=rho, tolerance=1e-12)
    simulation.run(0.5)
    mass, force = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 + force - mass
    constant = 0.25 * (gamma + 0.5) ** 2 + 0.5 * (mass - force) - 1 / 6
    q, v = float(simulation.state.q[0]), float(simulation.state.v[0])
    exact = solve_ivp(lambda _t, y: [y[1], -9.81 * math.sin(y[0])], (0, h), [q, v], rtol=1e-13, atol=1e-14)
    simulation.step()
    jerk = -9.81 * math.cos(q) * v
    assert float(simulation.state.q[0]) - exact.y[0, -1] == pytest.approx(constant * h**3 * jerk, rel=0.1)


def test_steps_stay_on_the_grid_and_grow_again_where_motion_is_slow():
    """A damped swing comes to rest; a step ends exactly at every grid point."""
    integrator = AlphaIntegrator(GeneralizedAlphaConfig(local_error=1e-6), BuildContext(step=GRID))
    model = Pendulum(PendulumConfig(angles=(1.0,), damping=4.0))
    steps = steps_of(small_world({"body": model}, integrator, step=GRID), 10.0)
    ends, lengths = steps.T
    assert lengths.max() <= GRID * (1 + 1e-12)
    grid = GRID * np.arange(1, 41)
    assert set(grid) <= set(ends.tolist())
    assert lengths[:10].mean() < 0.1 * lengths[-5:].mean()


def test_a_step_ends_at_a_breakpoint_of_an_input():
    """A reel that starts at a time off the grid."""
    model = PointChain(PointChainConfig(positions=((0.0, 0.0, -1.0),), links=("winch",)))
    integrator = AlphaIntegrator(GeneralizedAlphaConfig(local_error=1e-5), BuildContext(step=0.1))
    reel = Ramp(begin=math.sqrt(0.02), end=1.0, value=0.1, start=0.0)
    simulation = small_world({"body": model}, integrator, step=0.1, inputs={"body": {"reel": reel}})
    assert math.sqrt(0.02) in steps_of(simulation, 0.3)[:, 0].tolist()


@pytest.mark.parametrize("bound", [1e-6, math.inf])
def test_restoring_its_own_internal_state_changes_no_bit(bound):
    """The internal state restores the current matrix, its contraction and the size of the next step."""
    one, other = (swinging(0.05, local_error=bound) for _ in range(2))
    for _ in range(20):
        one.step()
        other.step()
        other.restore(other.internal_state())
        assert np.array_equal(one.state.q, other.state.q)


def chained(**options):
    """Two masses, one on a rod and one on a spring below it: stiff, constrained, slowly swinging."""
    model = PointChain(
        PointChainConfig(
            masses=(1.0, 0.5), positions=((0.3, 0.0, -0.95), (0.4, 0.0, -1.95)), links=("rod", "spring"), stiffness=1e4
        )
    )  # fmt: skip
    integrator = AlphaIntegrator(GeneralizedAlphaConfig(**options), BuildContext(step=0.01))
    return small_world({"body": model}, integrator, step=0.01)


def test_matrices_with_constraints_are_reused_over_steps_and_give_the_same_motion():
    results = {}
    for reuse in (0.0, 0.4):
        simulation: Any = chained(reuse=reuse, tolerance=1e-11)
        simulation.run(0.4)
        (body,) = simulation.system.terms.bodies
        results[reuse] = (
            simulation.state.q.copy(),
            simulation.system.terms.factorisation.number,
            body.row_impulse.copy(),
        )
    assert results[0.0][0] == pytest.approx(results[0.4][0], abs=1e-9)
    assert results[0.0][2] == pytest.approx(results[0.4][2], rel=1e-6)
    assert results[0.4][1] < 0.4 * results[0.0][1]


@pytest.mark.parametrize("bound", [1e-5, math.inf])
def test_restoring_its_own_internal_state_changes_no_bit_with_constraints(bound):
    """The reused matrix contains the constraint impulses at its state; a resumed run computes the same matrix."""
    one, other, third = (chained(local_error=bound) for _ in range(3))
    for step in range(20):
        one.step()
        other.step()
        other.restore(other.internal_state())
        if step == 10:
            third.restore(one.internal_state())
        if step > 10:
            third.step()
            assert np.array_equal(one.state.q, third.state.q)
        assert np.array_equal(one.state.q, other.state.q)


def test_a_resumed_run_uses_no_matrix_that_the_run_itself_discarded():
    """A prescribed base needs the contact problem in every step, which factorises another matrix than Newton's."""

    def driven():
        model = PointChain(
            PointChainConfig(
                masses=(1.0, 0.5), positions=((0.0, 0.0, 0.0), (1.1, 0.0, 0.0)), links=("none", "spring"),
                stiffness=400.0, driven=(0,), drive_amplitude=(0.02, 0.0, 0.0), drive_frequency=1.5,
            )
        )  # fmt: skip
        return small_world(
            {"body": model}, AlphaIntegrator(GeneralizedAlphaConfig(), BuildContext(step=0.01)), step=0.01
        )

    run = driven()
    for _ in range(20):
        resumed = driven()
        resumed.restore(run.internal_state())
        run.step(), resumed.step()
        assert np.array_equal(run.state.qv, resumed.state.qv)


def test_reused_matrices_save_factorisations_and_give_the_same_motion():
    results = {}
    for reuse in (0.0, 0.4):
        simulation: Any = swinging(0.01, reuse=reuse, tolerance=1e-11)
        simulation.run(0.5)
        results[reuse] = float(simulation.state.q[0]), simulation.system.terms.factorisation.number
    assert results[0.0][0] == pytest.approx(results[0.4][0], abs=1e-9)
    assert results[0.4][1] < 0.4 * results[0.0][1]


@pytest.mark.parametrize("options", [{}, {"local_error": 1e-2}])
def test_a_step_that_newton_cannot_solve_is_cut(options):
    """Two stiff springs struck sideways."""
    model = PointChain(
        PointChainConfig(
            masses=(1.0, 1.0), positions=((1.0, 0.0, 0.0), (2.0, 0.0, 0.0)), stiffness=1e6,
            velocities=((0.0, 0.0, 0.0), (0.0, 30.0, 0.0)), links=("spring", "spring"),
        )
    )  # fmt: skip
    config = GeneralizedAlphaConfig(max_iterations=4, **options)
    simulation = small_world({"body": model}, AlphaIntegrator(config, BuildContext(step=0.05)), step=0.05)
    assert steps_of(simulation, 0.1)[:, 1].min() < 0.01


def test_a_landing_on_a_contact_potential_is_cut_where_newton_fails():
    """A ball leaves a soft layer as fast as it came. Friction, up to 0.8 N·s/kg, stops its 0.5 m/s on the way.

    The step in which contact sets in errs by the force k·v·h over h at most.
    """
    mass, stiffness, h, speed, slip = 0.5, 1e3, 1e-3, 1.0, 1e-3
    model = PointChain(
        PointChainConfig(
            masses=(mass,), positions=((0.0, 0.0, 0.12),), velocities=((0.5, 0.0, -speed),), shape="sphere", radius=0.1
        ),
        BuildContext(gravity=np.zeros(3)),
    )  # fmt: skip
    simulation = small_world(
        {"ball": model}, AlphaIntegrator(GeneralizedAlphaConfig(), BuildContext(step=h)), step=h,
        solver=Penalty(PenaltyConfig(stiffness=stiffness, power=1, slip_scale=slip)),
        detector=ReferenceDetector(), obstacles=[floor()], friction=0.4,
    )  # fmt: skip
    sizes = steps_of(simulation, 0.15)[:, 1]
    assert sizes.min() < 0.5 * h
    assert sizes[-1] == pytest.approx(h)
    assert simulation.state.v[2] == pytest.approx(speed, abs=stiffness * speed * h * h / mass)
    assert abs(simulation.state.v[0]) < slip
