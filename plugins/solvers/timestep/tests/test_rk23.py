"""rk23: its orders against closed forms and another integrator, split damping, contact at rest, reported failures."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh, expm

from corekit.data.signals import Ramp
from corekit.data.state import State
from corekit.errors import StepFailed
from corekit.roles.component import BuildContext
from corekit_testing.conformance import conformance
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.rounding import rounding
from corekit_testing.small_world import floor, small_world
from corekit_timestep.config import Rk23Config
from corekit_timestep.rk23 import Rk23

test_conformance = conformance("integrators", "rk23")
test_conformance_always_split = conformance("integrators", "rk23", options={"split_above": 0.0})

M, K, LENGTH = 2.0, 300.0, 1.0
G = 9.81
LOOSE = {"relative": 0.1, "absolute": 1e9}  # one inner step per step for any error
TWO_RODS = PendulumConfig(
    lengths=(0.8, 0.5), masses=(1.0, 0.6), angles=(1.0, 0.3), rates=(0.5, -1.0), damping=0.1
)


def rk23(h, **options):
    return Rk23(Rk23Config(**options), BuildContext(step=h))


def simulate(model, h, duration, world=None, **options):
    simulation = small_world({"body": model}, rk23(h, **options), step=h, **(world or {}))
    simulation.run(duration)
    return simulation


def end(model, h, duration, **options):
    state = simulate(model, h, duration, **options).state
    return np.concatenate([state.q, state.v])


def orders(error, steps):
    errors = [error(h) for h in steps]
    return [math.log2(coarse / fine) for coarse, fine in pairwise(errors)]


def oscillator(damping, stiffness=K):
    """A mass on a damped spring along x, released at a stretch of 0.1 m, without gravity."""
    config = PointChainConfig(
        masses=(M,), positions=((LENGTH + 0.1, 0.0, 0.0),), links=("spring",), lengths=(LENGTH,),
        stiffness=stiffness, damping=damping,
    )  # fmt: skip
    return PointChain(config, BuildContext(gravity=np.zeros(3)))


def oscillator_error(h, damping, duration=0.4, **options):
    """Error of stretch and speed, against the exponential of the linear system."""
    values = end(oscillator(damping), h, duration, **options)
    expected = expm(np.array([[0.0, 1.0], [-K / M, -damping / M]]) * duration) @ [0.1, 0.0]
    return float(np.max(np.abs(np.array([values[0] - LENGTH, values[3]]) - expected)))


# — the smooth dynamics —


def test_a_damped_double_pendulum_converges_with_order_three():
    model = Pendulum(TWO_RODS)
    mass, force = model.new_mass_matrix(), np.zeros(2)

    def rate(_time, y):
        model.compute_mass_and_force(State(y[:2].copy(), y[2:].copy(), np.zeros(0)), np.zeros(2), mass, force)
        return np.concatenate([y[2:], np.linalg.solve(mass.dense(), force)])

    start = [*TWO_RODS.angles, *TWO_RODS.rates]
    expected = solve_ivp(rate, (0.0, 0.5), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    values = orders(lambda h: np.max(np.abs(end(model, h, 0.5, **LOOSE) - expected)), (0.02, 0.01, 0.005))
    assert values == pytest.approx([3.0, 3.0], abs=0.1)


def test_an_oscillator_whose_damping_is_not_stiff_converges_with_order_three():
    values = orders(lambda h: oscillator_error(h, 4.0, **LOOSE), (0.01, 0.005, 0.0025))
    assert values == pytest.approx([3.0, 3.0], abs=0.1)


def test_inner_steps_satisfy_the_tolerance_at_any_step_size():
    # one step of 0.2 s spans 0.4 periods, which inner steps resolve
    rough, fine = (
        oscillator_error(0.2, 4.0, relative=relative, absolute=1e-9, split_above=math.inf)
        for relative in (1e-3, 1e-6)
    )
    assert fine < 1e-4 < 0.01 * 0.1 * math.sqrt(K / M)
    assert rough < 0.05
    assert fine < 0.02 * rough


def test_a_stiff_spring_costs_inner_steps_and_stays_bounded():
    # h·ω = 11, the pair alone is stable to 1.7
    simulation = small_world({"body": oscillator(0.0, stiffness=2.5e6)}, rk23(0.01), step=0.01)
    for _ in range(20):
        assert simulation.step().iterations > 7
        assert abs(simulation.state.q[0] - LENGTH) < 0.1001


# — damping split off —


def test_split_damping_converges_with_order_two():
    values = orders(
        lambda h: oscillator_error(h, 400.0, split_above=0.0, **LOOSE), (2.5e-3, 1.25e-3, 6.25e-4)
    )
    assert values == pytest.approx([2.0, 2.0], abs=0.1)


@pytest.mark.parametrize("stiffness", [0.5, 2.0, 10.0, 1e4])
def test_no_velocity_changes_its_sign_under_damping_alone(stiffness):
    """d = drag/M: exact v₀·e^(−dt); v⁺ = v₀·(1 − (1 − θ)hd)/(1 + θhd) with θ = max(½, 1 − 1/(1.1·hd))."""
    h = 1e-2
    chain = PointChain(
        PointChainConfig(masses=(M,), velocities=((1.0, 0.0, 0.0),), drag=stiffness * M / h),
        BuildContext(gravity=np.zeros(3)),
    )
    simulation = small_world({"body": chain}, rk23(h), step=h)
    theta = max(0.5, 1.0 - 1.0 / (1.1 * stiffness))
    speed = 1.0
    for _ in range(5):
        simulation.step()
        speed *= (1.0 - (1.0 - theta) * stiffness) / (1.0 + theta * stiffness)
        assert simulation.state.v[0] == pytest.approx(speed, rel=1e-9, abs=1e-14)
        assert simulation.state.v[0] >= 0.0


def test_terminal_velocity_is_exact_at_any_stiffness():
    drag = 1e5
    creep = -M * G / drag
    chain = PointChain(PointChainConfig(masses=(M,), velocities=((0.0, 0.0, creep),), drag=drag))
    simulation = simulate(chain, 1e-2, 0.5)
    assert simulation.state.v[2] == pytest.approx(creep, rel=1e-12)
    assert simulation.state.q[2] == pytest.approx(0.5 * creep, rel=1e-12)


def test_an_overdamped_spring_creeps_exponentially_far_beyond_the_explicit_limit():
    # h·d = 200; x(t) ≈ x₀·exp(−K·t/C)
    damping = 4e4
    assert simulate(oscillator(damping), 0.01, 2.0).state.q[0] - LENGTH == pytest.approx(
        0.1 * math.exp(-K * 2.0 / damping), rel=1e-4
    )


def test_explicit_damping_needs_inner_steps_and_agrees_with_split_damping():
    explicit = oscillator_error(2.5e-3, 4e3, split_above=math.inf)
    split = oscillator_error(2.5e-3, 4e3)
    assert explicit < 1e-5
    assert split < 1e-4


def test_the_damping_rate_is_the_largest_eigenvalue_of_the_pencil():
    model = Pendulum(PendulumConfig(lengths=(0.4,) * 4, masses=(1, 2, 3, 4), angles=(0.1, 0.5, 0.9, -1),
                                    rates=(0,) * 4, damping=2.0))  # fmt: skip
    simulation = small_world({"body": model}, rk23(1e-3), step=1e-3)
    system, state = simulation.system, simulation.state
    system.split.begin_step(state, 1e-3)
    assert system.smooth.compute_acceleration(state, np.zeros(4))
    mass, (stiffness, damping) = model.new_mass_matrix(), model.new_stiffness_and_damping()
    model.compute_mass_and_force(state.body_states[0], np.zeros(4), mass, np.zeros(4))
    model.compute_stiffness_and_damping(state.body_states[0], np.zeros(4), stiffness, damping)
    exact = eigh(damping.dense(), mass.dense(), eigvals_only=True)[-1]
    assert 0.9 * exact <= system.split.max_damping_rate() <= exact * (1.0 + 1e-12)


# — contact, constraints, breakpoints —


@pytest.mark.parametrize("split_above", [0.1, math.inf])
@pytest.mark.parametrize("drag", [0.0, 5.0, 180.0, 2e4])
def test_a_damped_mass_rests_on_exactly_its_weight(drag, split_above):
    """Also if h·d = 0.09 is not stiff, and if damping is never split off away from contacts."""
    h = 1e-3
    chain = PointChain(
        PointChainConfig(masses=(M,), positions=((0.0, 0.0, 0.1),), drag=drag, shape="sphere", radius=0.1)
    )
    world = {"solver": ProjectedGaussSeidel(), "detector": ReferenceDetector(), "obstacles": [floor()]}
    simulation = simulate(chain, h, 0.1, world, split_above=split_above)
    assert simulation.contacts().normal_impulse == pytest.approx([h * M * G], rel=1e-10)
    assert abs(simulation.state.q[2] - 0.1) < 1e-12
    assert np.max(np.abs(simulation.state.v)) < 1e-12


@pytest.mark.parametrize("drag", [0.5, 400.0])
def test_a_damped_mass_slides_at_the_speed_where_drag_and_friction_balance_the_pull(drag):
    h, friction, pull = 1e-3, 0.3, 20.0
    chain = PointChain(
        PointChainConfig(masses=(M,), positions=((0.0, 0.0, 0.1),), drag=drag, shape="sphere", radius=0.1)
    )
    channel = chain.description.inputs[0].name
    world = {
        "solver": ProjectedGaussSeidel(), "detector": ReferenceDetector(), "obstacles": [floor()],
        "friction": friction,
        "inputs": {"body": {channel: Ramp(begin=0.0, end=1e-6, value=(pull, 0.0, 0.0))}},
    }  # fmt: skip
    simulation = simulate(chain, h, 0.3, world)
    net, rate = pull - friction * M * G, drag / M
    expected = net / drag * (1.0 - math.exp(-rate * 0.3))
    assert simulation.state.v[0] == pytest.approx(expected, rel=2e-3)


def test_a_rod_swings_like_the_pendulum_at_constant_length():
    config = PointChainConfig(planar=True, positions=((math.sin(1.0), -math.cos(1.0)),), links=("rod",))
    values = simulate(PointChain(config), 2e-3, 0.5).state
    angle = simulate(Pendulum(PendulumConfig(angles=(1.0,))), 2e-3, 0.5).state.q[0]
    assert np.hypot(*values.q) == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(values.q, [math.sin(angle), -math.cos(angle)], atol=1e-5)


def test_a_contact_potential_is_part_of_the_smooth_motion():
    """A ball bounces on a linear potential: its speed after the contact is that before."""
    chain = PointChain(
        PointChainConfig(masses=(M,), positions=((0.0, 0.0, 0.2),), shape="sphere", radius=0.1)
    )
    world = {
        "solver": Penalty(PenaltyConfig(stiffness=2e4, power=1, thickness=1e-3)), "detector": ReferenceDetector(),
        "obstacles": [floor()],
    }  # fmt: skip
    simulation = small_world({"body": chain}, rk23(1e-3, relative=1e-5, absolute=1e-8), step=1e-3, **world)
    energy = []
    simulation.observe(
        lambda sim, _report: energy.append(0.5 * M * sim.state.v[2] ** 2 + M * G * sim.state.q[2])
    )
    simulation.run(0.3)
    assert min(energy) < 0.9 * energy[0]  # the ball was in contact
    assert simulation.state.q[2] > 0.19  # the ball is near the top again
    assert energy[-1] == pytest.approx(energy[0], rel=1e-4)


def test_steps_end_at_breakpoints_and_retain_their_order_across_them():
    pull = Ramp(begin=0.1234, end=0.2345, value=(1.0, 0.0, 0.0))
    chain = PointChain(PointChainConfig(masses=(M,)), BuildContext(gravity=np.zeros(3)))
    channel = chain.description.inputs[0].name
    simulation = small_world(
        {"body": chain}, rk23(0.05, **LOOSE), step=0.05, inputs={"body": {channel: pull}}
    )
    times = []
    simulation.observe(lambda sim, _report: times.append(sim.time))
    simulation.run(0.3)
    assert times == pytest.approx([0.05, 0.1, 0.1234, 0.15, 0.2, 0.2345, 0.25, 0.3], abs=rounding(8, 0.3))
    # ẍ = s/(w·M) over w = 0.1111 s of rising force, then 1/M: polynomials of degree 3, exact for the pair
    width, remainder = 0.2345 - 0.1234, 0.3 - 0.2345
    speed = width / (2 * M)
    assert simulation.state.v[0] == pytest.approx(speed + remainder / M, rel=1e-12)
    path_length = width**2 / (6 * M) + speed * remainder + remainder**2 / (2 * M)
    assert simulation.state.q[0] == pytest.approx(path_length, rel=1e-12)


def test_other_coordinates_between_two_steps_change_nothing():
    """There is no internal state: an angle shifted by 2π after a step continues the same motion."""
    straight, moved = (
        small_world({"body": Pendulum(TWO_RODS)}, rk23(0.01), step=0.01) for _ in range(2)
    )  # fmt: skip
    for _ in range(10):
        straight.step()
        moved.step()
        moved.state.q += 2.0 * math.pi
    np.testing.assert_allclose(moved.state.q - 20.0 * math.pi, straight.state.q, atol=1e-12)
    np.testing.assert_allclose(moved.state.v, straight.state.v, atol=1e-12)


# — reported failures —


def test_too_few_inner_steps_are_reported():
    simulation = small_world(
        {"body": oscillator(0.0, stiffness=1e9)}, rk23(0.1, max_inner_steps=5), step=0.1
    )  # fmt: skip
    with pytest.raises(StepFailed, match=r"iteration limit .* `max_inner_steps` was reached"):
        simulation.step()


def test_the_error_names_a_velocity_that_is_not_finite():
    chain = PointChain(PointChainConfig(masses=(1.0,)))
    simulation = small_world({"body": chain}, rk23(1e-3), step=1e-3)
    simulation.state.v[0] = math.nan
    with pytest.raises(StepFailed, match="nan"):
        simulation.step()


@pytest.mark.parametrize(
    ("option", "value"),
    [("relative", 0.0), ("absolute", -1.0), ("max_inner_steps", 0), ("split_above", -0.1), ("split_above", math.nan)],
)  # fmt: skip
def test_the_error_names_an_invalid_option(option, value):
    with pytest.raises(ValueError, match=option):
        Rk23Config(**{option: value})
