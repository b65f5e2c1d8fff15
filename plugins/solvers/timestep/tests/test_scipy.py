"""SciPy's solvers: accuracy as asked, kinks landed on, bits kept, rows settled at their rate, weights, failure."""

from __future__ import annotations

import math
from typing import ClassVar, final

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from corekit.data.signal_base import Signal, Still
from corekit.data.signals import Ramp, Table
from corekit.errors import StepFailed
from corekit.roles.component import BuildContext
from corekit.testing.penalty import Penalty, PenaltyConfig
from corekit.testing.pendulum import Pendulum, PendulumConfig
from corekit.testing.point_chain import PointChain
from corekit.testing.point_chain_config import PointChainConfig
from corekit.testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit.testing.reference_detector import ReferenceDetector
from corekit.testing.small_world import MODEL_ABILITIES, floor, small_world
from corekit_timestep.config import ScipyConfig
from corekit_timestep.scipy_bdf import ScipyBdf
from corekit_timestep.scipy_radau import ScipyRadau
from corekit_timestep.scipy_rk45 import ScipyRk45

G, M, K = 9.81, 2.0, 300.0
SOLVERS = {"bdf": ScipyBdf, "radau": ScipyRadau, "rk45": ScipyRk45}
ALL = pytest.mark.parametrize("solver", SOLVERS)
TWO_RODS = PendulumConfig(
    lengths=(0.8, 0.5), masses=(1.0, 0.6), angles=(1.0, 0.3), rates=(0.5, -1.0), damping=0.1
)
WEIGHTLESS = BuildContext(gravity=np.zeros(3))


def build(model, solver, h=0.01, world=None, **options):
    scheme = SOLVERS[solver](ScipyConfig(**options), BuildContext(step=h))
    return small_world({"body": model}, scheme, step=h, **(world or {}))


def oscillator(**options):
    """A mass on a spring along x, let go stretched by 0.1 m, without gravity."""
    config = PointChainConfig(
        masses=(M,), positions=((1.1, 0.0, 0.0),), links=("spring",), lengths=(1.0,), stiffness=K, **options
    )
    return PointChain(config, WEIGHTLESS)


def counted(simulation):
    """Evaluations of the right side, step by step."""
    found = []
    simulation.observe(lambda _simulation, report: found.append(report.iterations))
    return found


# — the smooth part —


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
    smooth.begin(state, 0.01, 0.02)
    # to rest: there no force is unbalanced that turning rows would turn
    slow = build(chain, "bdf", 5.0, relative=1e-7, absolute=1e-11)
    slow.run(100.0)
    state.copy_from(slow.state)
    by_displacement, by_velocity = np.zeros((n, n)), np.zeros((n, n))
    assert smooth.jacobian(state, tau, True, by_displacement, by_velocity)

    def acceleration(displacement, velocity):
        moved, found = system.new_state(), np.zeros(n)
        system.advance(state, displacement, 1.0, state, moved)
        moved.v[:] = state.v + velocity
        assert smooth.acceleration(moved, found, None, tau)
        return found

    check_slopes(acceleration, by_displacement, by_velocity, 2e-3)
    assert np.abs(by_displacement).max() > 100.0


def test_the_jacobian_has_inertia_s_slope_where_the_model_tells_it():
    """A double pendulum in full swing, whose mass matrix turns with it."""
    simulation = small_world(
        {"body": Pendulum(TWO_RODS)}, ScipyBdf(None, BuildContext(step=0.01)), step=0.01,
        abilities=MODEL_ABILITIES | {"balance"},
    )  # fmt: skip
    state, smooth, n = simulation.state, simulation.system.smooth, 2
    smooth.begin(state, 0.01, 0.01)
    by_displacement, by_velocity = np.zeros((n, n)), np.zeros((n, n))
    assert smooth.jacobian(state, 0.05, True, by_displacement, by_velocity)

    def acceleration(displacement, velocity):
        moved, found = state.copy(), np.zeros(n)
        moved.q += displacement
        moved.v += velocity
        assert smooth.acceleration(moved, found, None, 0.05)
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


# — kinks —


def pulled(signal, solver, h, **options):
    chain = PointChain(PointChainConfig(masses=(M,)), WEIGHTLESS)
    inputs = {"inputs": {"body": {chain.layout.inputs[0].name: signal}}}
    return build(chain, solver, h, inputs, **options)


@ALL
def test_a_short_pulse_after_a_long_calm_is_not_stepped_over(solver):
    """1 ms of 3 N after 0.7003 s of nothing, in which steps become as long as they like."""
    pulse = Table(
        times=(0.0, 0.7003, 0.7003 + 1e-9, 0.7013, 0.7013 + 1e-9),
        values=((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (3.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    )
    simulation = pulled(pulse, solver, 0.05)
    simulation.run(1.0)
    assert simulation.state.v[0] == pytest.approx(3.0 * 1e-3 / M, rel=1e-4)


@ALL
def test_steps_land_on_the_kinks_of_a_ramp(solver):
    """Between kinks speeds are of degree two: nothing is lost where a step ends on each."""
    simulation = pulled(
        Ramp(begin=0.1234, end=0.2345, value=(1.0, 0.0, 0.0)), solver, 0.05, relative=1e-10, absolute=1e-12
    )
    simulation.run(0.3)
    width, rest = 0.2345 - 0.1234, 0.3 - 0.2345
    assert simulation.state.v[0] == pytest.approx((0.5 * width + rest) / M, rel=1e-9)


@ALL
def test_kinks_that_rounding_puts_beside_their_grid_point_are_its(solver):
    """0.3 < 3·0.1 and 0.7 < 7·0.1 in floating point: a ramp between them, on a solver that goes on to its kinks."""
    assert 3 * 0.1 > 0.3
    simulation = pulled(
        Ramp(begin=0.3, end=0.7, value=(1.0, 0.0, 0.0)), solver, 0.1, relative=1e-9, absolute=1e-11
    )
    simulation.run(1.0)
    assert simulation.state.v[0] == pytest.approx((0.5 * 0.4 + 0.3) / M, rel=1e-8)


@final
class _Set(Still):
    """An input that somebody sets between steps."""

    kind: ClassVar[str] = "set"

    def __init__(self):
        self.now = np.zeros(3)

    size = property(lambda self: 3)
    constant = property(lambda self: False)

    def value(self, t, out):
        out[:] = self.now


@ALL
def test_an_input_set_between_steps_acts_from_there(solver):
    """Nothing that was computed ahead with the old value is kept."""
    force = _Set()
    simulation = pulled(force, solver, 0.1)
    for k in range(10):
        force.now[0] = float(k)
        simulation.step()
    assert simulation.state.v[0] == pytest.approx(sum(range(10)) * 0.1 / M, rel=1e-9)


# — bits —


@ALL
@pytest.mark.parametrize("kind", ["pendulum", "rod", "falling"])
def test_a_resumed_run_and_one_that_was_saved_keep_every_bit(solver, kind):
    """Saved after every step in turn: wherever the solver stands, it is made again as it was."""
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
        motions.append(plain.state.motion.copy())
    watched = worlds[kind]()
    for k in range(24):
        watched.step()
        watched.remember(watched.memory())
        assert np.array_equal(watched.state.motion, motions[k]), f"after {k} savings"
    for k in (1, 9):
        first, again = worlds[kind](), worlds[kind]()
        for _ in range(k):
            first.step()
        again.remember(first.memory())
        for motion in motions[k:]:
            again.step()
            assert np.array_equal(again.state.motion, motion)


@ALL
def test_a_state_changed_by_hand_is_started_from(solver):
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


# — honest failure —


@final
class _Diverging(Signal):
    """1/(½ − t)², which no step length follows to the end."""

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
def test_a_force_that_no_step_follows_ends_with_what_scipy_says(solver):
    simulation = pulled(_Diverging(), solver, 0.1)
    with pytest.raises(StepFailed, match=r"Error control .* SciPy says: Required step size|non-finite"):
        simulation.run(1.0)
    assert simulation.time <= 0.5


def test_too_few_inner_steps_are_said_to_be_too_few():
    simulation = build(oscillator(damping=2e6), "rk45", 0.1, max_inner_steps=5)
    with pytest.raises(StepFailed, match=r"iteration limit .*max_inner_steps"):
        simulation.step()


@ALL
def test_a_speed_that_is_not_a_number_is_named(solver):
    simulation = build(oscillator(), solver)
    simulation.step()
    simulation.state.v[0] = math.nan
    with pytest.raises(StepFailed, match="nan"):
        simulation.step()


@ALL
def test_an_infinite_force_is_named_by_its_term(solver):
    force = _Set()
    simulation = pulled(force, solver, 0.1)
    simulation.step()
    force.now[1] = math.inf
    with pytest.raises(StepFailed, match=r"force on .* became inf.*'pull'"):
        simulation.step()


@pytest.mark.parametrize(
    ("option", "value"), [("relative", 0.0), ("absolute", -1.0), ("settling", 0.0), ("max_inner_steps", 0)]
)
def test_bad_options_are_refused_by_name(option, value):
    with pytest.raises(ValueError, match=option):
        ScipyConfig(**{option: value})
