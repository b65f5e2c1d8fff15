"""SciPy's solvers on smooth motion: accuracy to the tolerance, the Jacobian, decay of constraint errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from corekit.data.sampled_signals import Table
from corekit.roles.component import BuildContext
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.pendulum import Pendulum
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import MODEL_ABILITIES, floor, small_world
from corekit_timestep.scipy_integrator import ScipyIntegrator

from .scipy_worlds import ALL, TWO_RODS, G, K, M, build, count_evaluations, oscillator

# — the smooth dynamics —


@ALL
def test_an_oscillator_satisfies_the_tolerance_at_any_step_size(solver):
    expected = 0.1 * math.cos(math.sqrt(K / M))
    for relative in (1e-4, 1e-7):
        for h in (0.01, 0.05):
            simulation = build(oscillator(), solver, h, relative=relative, absolute=1e-2 * relative)
            simulation.run(1.0)
            assert simulation.state.q[0] - 1.0 == pytest.approx(expected, abs=100.0 * 0.1 * relative)


@ALL
def test_steps_continue_over_grid_points(solver):
    """A finer grid needs more outputs, not more evaluations: most of its steps need none."""
    counts = []
    for h in (1e-2, 1e-3):
        simulation = build(oscillator(), solver, h)
        count = count_evaluations(simulation)
        simulation.run(1.0)
        counts.append(count)
    assert sum(counts[1]) == sum(counts[0])
    assert sum(each == 0 for each in counts[1]) > 800


@ALL
def test_a_damped_double_pendulum_follows_its_equations(solver):
    model, force = Pendulum(TWO_RODS), np.zeros(2)
    mass = model.new_mass_matrix()
    simulation = build(model, solver, relative=1e-8, absolute=1e-10)
    trial = simulation.state.body_states[0].copy()

    def rate(_time, y):
        trial.q[:], trial.v[:] = y[:2], y[2:]
        model.compute_mass_and_force(trial, np.zeros(2), mass, force)
        return np.concatenate([y[2:], np.linalg.solve(mass.dense(), force)])

    start = [*TWO_RODS.angles, *TWO_RODS.rates]
    expected = solve_ivp(rate, (0.0, 1.0), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    simulation.run(1.0)
    np.testing.assert_allclose(simulation.state.qv, expected, atol=1e-6)


@pytest.mark.parametrize("solver", ["bdf", "radau"])
def test_stiff_damping_costs_implicit_solvers_few_steps(solver):
    """d = 1e7/s: x creeps as exp(−K·t/C); an explicit solver would need three million steps."""
    damping = 2e7
    simulation = build(oscillator(damping=damping), solver, 100.0)
    count = count_evaluations(simulation)
    simulation.run(1e4)
    assert simulation.state.q[0] - 1.0 == pytest.approx(0.1 * math.exp(-K * 1e4 / damping), abs=1e-3 * 0.1)
    assert sum(count) < 2_000


@ALL
def test_a_driven_base_shakes_a_spring(solver):
    k, amplitude, omega = 200.0, 0.1, 2 * math.pi * 1.5

    def rate(t, y):
        offset = np.array([y[0] - amplitude * math.sin(omega * t), y[1]])
        length = np.linalg.norm(offset)
        spring_force = -k / 0.5 * (length - 1.0) / length * offset
        return [y[2], y[3], spring_force[0], spring_force[1] - G]

    expected = solve_ivp(rate, (0, 0.5), [0, -1, 0, 0], rtol=1e-12, atol=1e-12).y[:, -1]
    config = PointChainConfig(
        masses=(1.0, 0.5), positions=((0.0, 0.0), (0.0, -1.0)), planar=True, links=("none", "spring"),
        stiffness=k, driven=(0,), drive_amplitude=(amplitude, 0.0, 0.0), drive_frequency=1.5,
    )  # fmt: skip
    simulation = build(PointChain(config), solver, relative=1e-8, absolute=1e-10)
    simulation.run(0.5)
    values = simulation.state
    np.testing.assert_allclose([*values.q[2:], *values.v[2:]], expected, atol=1e-6)
    assert values.v[0] == pytest.approx(amplitude * omega * math.cos(omega * 0.5), rel=1e-12)
    # reaction of the base: its own weight and inertia, and the spring force
    offset = np.array([values.q[2] - values.q[0], values.q[3]])
    length = np.linalg.norm(offset)
    spring = k * (length - 1.0) / length * offset
    reaction = np.array([-amplitude * omega**2 * math.sin(omega * 0.5), G]) - spring
    np.testing.assert_allclose(simulation.system.reaction() / 0.01, reaction, atol=1e-4)


@ALL
def test_a_ball_on_a_potential_floor_oscillates_harmonically(solver):
    k, layer = 1e4, 0.1
    equilibrium, amplitude = 0.1 + layer - G / k, 0.5 * G / k
    ball = PointChain(
        PointChainConfig(positions=((0, 0, equilibrium + amplitude),), shape="sphere", radius=0.1)
    )
    world = {
        "solver": Penalty(PenaltyConfig(stiffness=k, power=1, thickness=layer)), "detector": ReferenceDetector(),
        "obstacles": [floor()],
    }  # fmt: skip
    simulation = build(ball, solver, 1e-3, world, relative=1e-7, absolute=1e-10)
    simulation.run(0.1)
    assert simulation.state.q[2] == pytest.approx(
        equilibrium + amplitude * math.cos(math.sqrt(k) * 0.1), abs=1e-7
    )
    force = k * (equilibrium + G / k - simulation.state.q[2])
    assert simulation.contacts().normal_impulse == pytest.approx([1e-3 * force], rel=1e-9)


@ALL
def test_a_state_one_step_before_a_breakpoint_is_restored_at_any_time(solver):
    """The solver's horizon is the breakpoint at t + h; for most t, (t + h) − t rounds to less or to more than h."""
    h, steps = 1.0 / 3000.0, 60
    assert any((k * h + h) - k * h != h for k in range(steps))
    kinks = Table(times=tuple(3 * k * h for k in range(40)), values=tuple((-1.0) ** k for k in range(40)))
    ends = []
    for restored in (False, True):
        simulation = build(oscillator(), solver, h, {"inputs": {"body": {"pull": kinks}}})
        for _ in range(steps):
            simulation.step()
            if restored:
                simulation.restore(simulation.internal_state())
        ends.append([*simulation.state.q, *simulation.state.v])
    assert ends[0] == ends[1]


# — the Jacobian —


def test_the_jacobian_is_that_of_differences():
    """A hanging rod, a compliant rod, springs, dashpots and drag at rest, where the omitted terms vanish."""
    chain = PointChain(
        PointChainConfig(
            masses=(1.0, 0.7, 0.4), planar=True, positions=((0.0, -1.0), (0.0, -1.74), (0.01, -2.36)),
            links=("rod", "spring", "spring"), lengths=(1.0, 0.7, 0.6), damping=3.0, drag=0.5, stiffness=150.0,
        )
    )  # fmt: skip
    simulation = build(chain, "bdf")
    system, state, n, tau = simulation.system, simulation.state, 6, 0.05
    smooth = system.smooth
    system.split.begin_step(state, 0.01, 0.02)
    # at rest no force is out of balance, so rotating constraint rows add no term
    slow = build(chain, "bdf", 5.0, relative=1e-4, absolute=1e-8)
    slow.run(60.0)
    assert np.abs(slow.state.v).max() < 1e-10
    state.copy_from(slow.state)
    da_dq, da_dv = np.zeros((n, n)), np.zeros((n, n))
    assert smooth.compute_acceleration_jacobian(state, tau, True, da_dq, da_dv)

    def acceleration(displacement, velocity):
        moved, values = system.new_state(), np.zeros(n)
        system.integrate(state, displacement, 1.0, state, moved)
        moved.v[:] = state.v + velocity
        assert smooth.compute_acceleration(moved, values, None, tau)
        return values

    check_slopes(acceleration, da_dq, da_dv, 2e-3)
    assert np.abs(da_dq).max() > 100.0


def test_the_jacobian_includes_the_slope_of_inertia_if_the_model_provides_it():
    """A double pendulum in full swing, whose mass matrix turns with it."""
    simulation = small_world(
        {"body": Pendulum(TWO_RODS)}, ScipyIntegrator(None, BuildContext(step=0.01)), step=0.01,
        abilities=MODEL_ABILITIES | {"inverse-dynamics"},
    )  # fmt: skip
    state, smooth, n = simulation.state, simulation.system.smooth, 2
    simulation.system.split.begin_step(state, 0.01)
    da_dq, da_dv = np.zeros((n, n)), np.zeros((n, n))
    assert smooth.compute_acceleration_jacobian(state, 0.05, True, da_dq, da_dv)

    def acceleration(displacement, velocity):
        moved, values = state.copy(), np.zeros(n)
        moved.q += displacement
        moved.v += velocity
        assert smooth.compute_acceleration(moved, values, None, 0.05)
        return values

    check_slopes(acceleration, da_dq, da_dv, 1e-7)


def check_slopes(acceleration, da_dq, da_dv, tolerance):
    n = len(da_dv)
    small, zero = 1e-5, np.zeros(n)
    for j, unit in enumerate(small * np.eye(n)):
        of_q = (acceleration(unit, zero) - acceleration(-unit, zero)) / (2 * small)
        of_v = (acceleration(zero, unit) - acceleration(zero, -unit)) / (2 * small)
        np.testing.assert_allclose(da_dq[:, j], of_q, atol=tolerance)
        np.testing.assert_allclose(da_dv[:, j], of_v, atol=tolerance)


# — rigid constraints —


@ALL
def test_the_position_error_of_a_rod_decays_at_baumgarte_s_rate(solver):
    """c̈ + (2/τ)·ċ + c/τ² = 0 holds for any motion: from rest c = c₀·(1 + t/τ)·e^(−t/τ)."""
    tau, off = 0.05, 1e-3
    config = PointChainConfig(
        planar=True, positions=((math.sin(1.0), -math.cos(1.0)),), links=("rod",), lengths=(1.0 - off,)
    )
    simulation = build(PointChain(config), solver, settling=tau, relative=1e-7, absolute=1e-10)
    for time in (0.05, 0.1, 0.25):
        simulation.run(time)
        expected = off * (1.0 + time / tau) * math.exp(-time / tau)
        assert np.hypot(*simulation.state.q) - (1.0 - off) == pytest.approx(expected, abs=2e-8)


@ALL
def test_a_swinging_rod_neither_drifts_nor_loses_energy(solver):
    config = PointChainConfig(planar=True, positions=((math.sin(1.0), -math.cos(1.0)),), links=("rod",))
    simulation = build(PointChain(config), solver, relative=1e-6, absolute=1e-8)
    offset = []
    simulation.observe(lambda run, _report: offset.append(abs(np.hypot(*run.state.q) - 1.0)))
    simulation.run(1.0)
    assert max(offset) < 1e-6
    angle = solve_ivp(
        lambda _t, y: [y[1], -G * math.sin(y[0])], (0, 1.0), [1.0, 0.0], rtol=1e-11, atol=1e-11
    ).y[0, -1]
    np.testing.assert_allclose(simulation.state.q, [math.sin(angle), -math.cos(angle)], atol=1e-4)
