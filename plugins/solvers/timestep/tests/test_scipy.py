"""SciPy's solvers on smooth motion: accuracy as asked, the Jacobian, rows settled at their rate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from corekit.roles.component import BuildContext
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.pendulum import Pendulum
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import MODEL_ABILITIES, floor, small_world
from corekit_timestep.scipy_integrator import ScipyIntegrator

from .scipy_worlds import ALL, TWO_RODS, G, K, M, build, counted, oscillator

# — the smooth dynamics —


@ALL
def test_an_oscillator_is_as_accurate_as_asked_whatever_the_step(solver):
    wanted = 0.1 * math.cos(math.sqrt(K / M))
    for relative in (1e-4, 1e-7):
        for h in (0.01, 0.05):
            simulation = build(oscillator(), solver, h, relative=relative, absolute=1e-2 * relative)
            simulation.run(1.0)
            assert simulation.state.q[0] - 1.0 == pytest.approx(wanted, abs=100.0 * 0.1 * relative)


@ALL
def test_steps_go_on_over_grid_points(solver):
    """A finer grid asks for outputs, not for evaluations: most of its steps need none."""
    counts = []
    for h in (1e-2, 1e-3):
        simulation = build(oscillator(), solver, h)
        count = counted(simulation)
        simulation.run(1.0)
        counts.append(count)
    assert sum(counts[1]) == sum(counts[0])
    assert sum(each == 0 for each in counts[1]) > 800


@ALL
def test_a_damped_double_pendulum_follows_its_equations(solver):
    model, force = Pendulum(TWO_RODS), np.zeros(2)
    mass = model.mass_matrix()
    simulation = build(model, solver, relative=1e-8, absolute=1e-10)
    trial = simulation.state.parts[0].copy()

    def rate(_time, y):
        trial.q[:], trial.v[:] = y[:2], y[2:]
        model.dynamics(trial, np.zeros(2), mass, force)
        return np.concatenate([y[2:], np.linalg.solve(mass.dense(), force)])

    start = [*TWO_RODS.angles, *TWO_RODS.rates]
    wanted = solve_ivp(rate, (0.0, 1.0), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    simulation.run(1.0)
    np.testing.assert_allclose(simulation.state.motion, wanted, atol=1e-6)


@pytest.mark.parametrize("solver", ["bdf", "radau"])
def test_stiff_damping_costs_implicit_solvers_few_steps(solver):
    """d = 1e7/s: x creeps as exp(−K·t/C); an explicit solver would need three million steps."""
    damping = 2e7
    simulation = build(oscillator(damping=damping), solver, 100.0)
    count = counted(simulation)
    simulation.run(1e4)
    assert simulation.state.q[0] - 1.0 == pytest.approx(0.1 * math.exp(-K * 1e4 / damping), abs=1e-3 * 0.1)
    assert sum(count) < 2_000


@ALL
def test_a_driven_base_shakes_a_spring(solver):
    k, amplitude, omega = 200.0, 0.1, 2 * math.pi * 1.5

    def right(t, y):
        apart = np.array([y[0] - amplitude * math.sin(omega * t), y[1]])
        length = np.linalg.norm(apart)
        pull = -k / 0.5 * (length - 1.0) / length * apart
        return [y[2], y[3], pull[0], pull[1] - G]

    wanted = solve_ivp(right, (0, 0.5), [0, -1, 0, 0], rtol=1e-12, atol=1e-12).y[:, -1]
    config = PointChainConfig(
        masses=(1.0, 0.5), positions=((0.0, 0.0), (0.0, -1.0)), planar=True, links=("none", "spring"),
        stiffness=k, driven=(0,), drive_amplitude=(amplitude, 0.0, 0.0), drive_frequency=1.5,
    )  # fmt: skip
    simulation = build(PointChain(config), solver, relative=1e-8, absolute=1e-10)
    simulation.run(0.5)
    found = simulation.state
    np.testing.assert_allclose([*found.q[2:], *found.v[2:]], wanted, atol=1e-6)
    assert found.v[0] == pytest.approx(amplitude * omega * math.cos(omega * 0.5), rel=1e-12)
    # what holds the base: its own weight and inertia, and the spring's pull
    apart = np.array([found.q[2] - found.q[0], found.q[3]])
    length = np.linalg.norm(apart)
    spring = k * (length - 1.0) / length * apart
    push = np.array([-amplitude * omega**2 * math.sin(omega * 0.5), G]) - spring
    np.testing.assert_allclose(simulation.system.reaction() / 0.01, push, atol=1e-4)


@ALL
def test_a_ball_on_a_potential_floor_swings_harmonically(solver):
    k, layer = 1e4, 0.1
    rest, amplitude = 0.1 + layer - G / k, 0.5 * G / k
    ball = PointChain(PointChainConfig(positions=((0, 0, rest + amplitude),), shape="sphere", radius=0.1))
    world = {
        "solver": Penalty(PenaltyConfig(stiffness=k, power=1, thickness=layer)), "detector": ReferenceDetector(),
        "obstacles": [floor()],
    }  # fmt: skip
    simulation = build(ball, solver, 1e-3, world, relative=1e-7, absolute=1e-10)
    simulation.run(0.1)
    assert simulation.state.q[2] == pytest.approx(rest + amplitude * math.cos(math.sqrt(k) * 0.1), abs=1e-7)
    force = k * (rest + G / k - simulation.state.q[2])
    assert simulation.contacts().normal_impulse == pytest.approx([1e-3 * force], rel=1e-9)


# — the Jacobian —


def test_the_jacobian_is_that_of_differences():
    """A hanging rod, a compliant rod, springs, dashpots and drag at rest, where what is left out vanishes."""
    chain = PointChain(
        PointChainConfig(
            masses=(1.0, 0.7, 0.4), planar=True, positions=((0.0, -1.0), (0.0, -1.8), (0.3, -2.2)),
            links=("rod", "spring", "spring"), lengths=(1.0, 0.7, 0.6), damping=3.0, drag=0.5, stiffness=150.0,
        )
    )  # fmt: skip
    simulation = build(chain, "bdf")
    system, state, n, tau = simulation.system, simulation.state, 6, 0.05
    smooth = system.smooth
    system.split.begin_step(state, 0.01, 0.02)
    # to rest: there no force is unbalanced that turning rows would turn
    slow = build(chain, "bdf", 5.0, relative=1e-7, absolute=1e-11)
    slow.run(100.0)
    state.copy_from(slow.state)
    by_displacement, by_velocity = np.zeros((n, n)), np.zeros((n, n))
    assert smooth.compute_acceleration_jacobian(state, tau, True, by_displacement, by_velocity)

    def acceleration(displacement, velocity):
        moved, found = system.new_state(), np.zeros(n)
        system.integrate(state, displacement, 1.0, state, moved)
        moved.v[:] = state.v + velocity
        assert smooth.compute_acceleration(moved, found, None, tau)
        return found

    check_slopes(acceleration, by_displacement, by_velocity, 2e-3)
    assert np.abs(by_displacement).max() > 100.0


def test_the_jacobian_has_inertia_s_slope_where_the_model_tells_it():
    """A double pendulum in full swing, whose mass matrix turns with it."""
    simulation = small_world(
        {"body": Pendulum(TWO_RODS)}, ScipyIntegrator(None, BuildContext(step=0.01)), step=0.01,
        abilities=MODEL_ABILITIES | {"balance"},
    )  # fmt: skip
    state, smooth, n = simulation.state, simulation.system.smooth, 2
    simulation.system.split.begin_step(state, 0.01)
    by_displacement, by_velocity = np.zeros((n, n)), np.zeros((n, n))
    assert smooth.compute_acceleration_jacobian(state, 0.05, True, by_displacement, by_velocity)

    def acceleration(displacement, velocity):
        moved, found = state.copy(), np.zeros(n)
        moved.q += displacement
        moved.v += velocity
        assert smooth.compute_acceleration(moved, found, None, 0.05)
        return found

    check_slopes(acceleration, by_displacement, by_velocity, 1e-7)


def check_slopes(acceleration, by_displacement, by_velocity, within):
    n = len(by_velocity)
    small, none = 1e-5, np.zeros(n)
    for j, unit in enumerate(small * np.eye(n)):
        of_q = (acceleration(unit, none) - acceleration(-unit, none)) / (2 * small)
        of_v = (acceleration(none, unit) - acceleration(none, -unit)) / (2 * small)
        np.testing.assert_allclose(by_displacement[:, j], of_q, atol=within)
        np.testing.assert_allclose(by_velocity[:, j], of_v, atol=within)


# — rigid rows —


@ALL
def test_what_a_rod_is_off_decays_as_baumgarte_says(solver):
    """c̈ + (2/τ)·ċ + c/τ² = 0 holds whatever the motion: from rest c = c₀·(1 + t/τ)·e^(−t/τ)."""
    tau, off = 0.05, 1e-3
    config = PointChainConfig(
        planar=True, positions=((math.sin(1.0), -math.cos(1.0)),), links=("rod",), lengths=(1.0 - off,)
    )
    simulation = build(PointChain(config), solver, settling=tau, relative=1e-7, absolute=1e-10)
    for time in (0.05, 0.1, 0.25):
        simulation.run(time)
        wanted = off * (1.0 + time / tau) * math.exp(-time / tau)
        assert np.hypot(*simulation.state.q) - (1.0 - off) == pytest.approx(wanted, abs=2e-8)


@ALL
def test_a_swinging_rod_neither_drifts_nor_loses_energy(solver):
    config = PointChainConfig(planar=True, positions=((math.sin(1.0), -math.cos(1.0)),), links=("rod",))
    simulation = build(PointChain(config), solver, relative=1e-6, absolute=1e-8)
    apart = []
    simulation.observe(lambda run, _report: apart.append(abs(np.hypot(*run.state.q) - 1.0)))
    simulation.run(2.0)
    assert max(apart) < 1e-6
    angle = solve_ivp(
        lambda _t, y: [y[1], -G * math.sin(y[0])], (0, 2.0), [1.0, 0.0], rtol=1e-11, atol=1e-11
    ).y[0, -1]
    np.testing.assert_allclose(simulation.state.q, [math.sin(angle), -math.cos(angle)], atol=1e-4)
