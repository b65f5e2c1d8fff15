"""Obstacles on paths: they lift, drag and follow, in every integrator."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.data.signals import Constant, Ramp, Sine
from corekit.geometry.shapes import Shape
from corekit.roles.component import BuildContext
from corekit.roles.obstacles import Obstacle
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world
from corekit_testing.velocity_verlet import VelocityVerlet

G = 9.81
INTEGRATORS = {
    "semi-implicit": lambda h: SemiImplicitEuler(None, BuildContext(step=h)),
    "euler": lambda h: ImplicitEuler(None, BuildContext(step=h)),
    "midpoint": lambda h: ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=h)),
    "verlet": lambda h: VelocityVerlet(None, BuildContext(step=h)),
}
every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS)


def world(integrator, obstacle, h=1e-3, solver=None, velocity=(0.0, 0.0, 0.0), height=0.1, **options):
    ball = PointChain(
        PointChainConfig(positions=((0.0, 0.0, height),), velocities=(velocity,), shape="sphere")
    )
    return small_world(
        {"ball": ball},
        INTEGRATORS[integrator](h),
        step=h,
        solver=solver or ProjectedGaussSeidel(),
        detector=ReferenceDetector(),
        obstacles=[obstacle],
        **options,
    )


def ramp(velocity, until=10.0):
    return Ramp(begin=0.0, end=until, value=tuple(until * np.array(velocity)), start=(0.0, 0.0, 0.0))


@every_integrator
def test_rising_plane_lifts_a_ball_at_its_own_speed(integrator):
    simulation = world(integrator, floor(ramp((0.0, 0.0, 0.3))), velocity=(0.0, 0.0, 0.3))
    simulation.run(0.2)
    assert simulation.state.q[2] == pytest.approx(0.1 + 0.06, abs=4e-12)
    assert simulation.state.v[2] == pytest.approx(0.3, abs=1e-10)
    assert simulation.contacts().normal_impulse == pytest.approx([1e-3 * G], rel=1e-7)


@every_integrator
def test_ball_hit_by_a_rising_plane_takes_its_speed(integrator):
    simulation = world(integrator, floor(ramp((0.0, 0.0, 1.0))), height=0.15, friction=0.2)
    simulation.run(0.25)
    assert simulation.state.v[2] == pytest.approx(1.0, abs=1e-2)
    assert simulation.state.q[2] == pytest.approx(0.1 + 0.25, abs=1e-3)


def test_ball_is_not_missed_by_a_plane_faster_than_the_margin():
    """1 cm a step towards a resting ball, with a margin of a tenth of that."""
    simulation = world("semi-implicit", floor(ramp((0.0, 0.0, 10.0), 1.0)), height=0.1555, margin=1e-3)
    lowest = []
    simulation.observe(lambda sim, _r: lowest.append(sim.state.q[2] - 0.1 - 10.0 * sim.time))
    simulation.run(0.05)
    assert min(lowest) > -1e-9


@every_integrator
def test_conveyor_drags_by_friction_until_it_carries(integrator):
    mu, belt = 0.4, np.array([0.6, 0.3, 0.0])
    simulation = world(integrator, floor(ramp(belt)), friction=mu)
    simulation.run(0.1)
    direction = belt / np.linalg.norm(belt)
    assert simulation.state.v == pytest.approx(mu * G * 0.1 * direction, abs=1e-9)
    simulation.run(0.25)
    assert simulation.state.v == pytest.approx(belt, abs=1e-9)
    assert np.abs(simulation.contacts().slip).max() < 1e-9
    when = np.linalg.norm(belt) / (mu * G)
    way = np.linalg.norm(belt) * (0.25 - when / 2)
    assert simulation.state.q[:2] @ direction[:2] == pytest.approx(way, abs=1e-3)


@every_integrator
def test_turntable_carries_a_ball_that_sticks_to_it(integrator):
    """One turn in 2π s at radius 0.2: friction holds ω²r = 0.2 m/s² easily."""
    turn = Ramp(begin=0.0, end=10.0, value=(0.0, 0.0, 10.0), start=(0.0, 0.0, 0.0))
    table = Obstacle(
        name="table", shape=Shape("half-space", ()), position=Constant((-0.2, 0.0, 0.0)), rotation_rpy=turn
    )
    simulation = world(integrator, table, h=2e-3, velocity=(0.0, 0.2, 0.0), friction=0.8)
    simulation.run(0.5)
    expected = [-0.2 + 0.2 * math.cos(0.5), 0.2 * math.sin(0.5)]
    error = 2e-3 if integrator == "semi-implicit" else 5e-4
    assert simulation.state.q[:2] == pytest.approx(expected, abs=error)


@pytest.mark.parametrize("integrator", ["semi-implicit", "euler", "midpoint"])
def test_ball_on_a_swinging_plane_penetrates_at_most_by_the_square_of_the_step(integrator):
    """Amplitude and frequency keep the ball on the plane: A·ω² = 7.1 < g."""
    path = Sine(amplitude=(0.0, 0.0, 0.02), frequency=3.0)

    def worst(h):
        rise = 0.02 * 6 * math.pi
        simulation = world(integrator, floor(path), h=h, velocity=(0.0, 0.0, rise))
        gaps = []
        simulation.observe(
            lambda sim, _r: gaps.append(sim.state.q[2] - 0.1 - 0.02 * math.sin(6 * math.pi * sim.time))
        )
        simulation.run(0.35)  # a period
        assert max(gaps) < 1e-2
        return max(-min(gaps), 1e-12)

    coarse, fine = worst(4e-3), worst(2e-3)
    bound = 0.5 * 0.02 * (6 * math.pi) ** 2
    assert coarse < 2 * bound * (4e-3) ** 2 + 1e-9
    assert fine < 2 * bound * (2e-3) ** 2 + 1e-9


def test_potential_sees_the_obstacle_move():
    """A conveyor under a soft layer drags at μ·m·g; the lift follows the rising layer."""
    for integrator in ("semi-implicit", "euler", "midpoint"):
        layer = Penalty(PenaltyConfig(stiffness=1e4 * G, power=1, thickness=1e-4, slip_scale=1e-4))
        simulation = world(
            integrator, floor(ramp((0.5, 0.0, 0.2))), solver=layer, velocity=(0.0, 0.0, 0.2), friction=0.3
        )
        simulation.run(0.1)
        assert simulation.state.v == pytest.approx([0.3 * G * 0.1, 0, 0.2], abs=1e-6)
        assert simulation.state.q[2] == pytest.approx(0.1 + 0.02, abs=1e-7)


def test_midpoint_on_an_accelerating_layer_is_second_order():
    """A ball on a linear layer over a swinging plane: a driven oscillator with a closed answer."""
    omega, drive, rise = 60.0, 8.0, 0.01
    mass_stiffness = omega**2
    path = Sine(amplitude=(0.0, 0.0, rise), frequency=drive / (2 * math.pi))
    rest = 0.1 + 0.1 - G / mass_stiffness
    # z̈ = ω²·(path − (z − rest)): start on the forced motion
    forced = rise * omega**2 / (omega**2 - drive**2)

    def error(h):
        layer = Penalty(PenaltyConfig(stiffness=mass_stiffness, power=1, thickness=0.1, dissipation=0.0))
        simulation = world(
            "midpoint", floor(path), h=h, solver=layer, height=rest, velocity=(0.0, 0.0, forced * drive)
        )
        simulation.run(0.4)
        return abs(simulation.state.q[2] - rest - forced * math.sin(drive * 0.4))

    assert math.log2(error(4e-3) / error(2e-3)) == pytest.approx(2.0, abs=0.2)


def test_velocity_at_a_breakpoint_is_that_of_the_motion_before_it():
    """A plane that rises and stops on a grid point: the ball is lifted exactly to where it stops."""
    stop = Ramp(begin=0.0, end=0.1, value=(0.0, 0.0, 0.05), start=(0.0, 0.0, 0.0))
    simulation = world("midpoint", floor(stop), velocity=(0.0, 0.0, 0.5))
    simulation.run(0.1)
    assert simulation.state.q[2] == pytest.approx(0.15, abs=1e-12)
    assert simulation.state.v[2] == pytest.approx(0.5, abs=1e-12)


def test_twist_is_the_derivative_of_the_pose():
    position = Sine(amplitude=(0.3, 0.2, 0.1), frequency=(1.0, 2.0, 0.5))
    rpy = Sine(amplitude=(0.5, 0.4, 1.0), frequency=(0.7, 1.1, 0.3), phase=(0.1, 0.2, 0.3))
    obstacle = Obstacle(name="o", shape=Shape("half-space", ()), position=position, rotation_rpy=rpy)
    velocity, spin = obstacle.twist(0.37)
    poses = []
    for t in (0.37 - 1e-6, 0.37, 0.37 + 1e-6):
        p, r = np.zeros(3), np.zeros((3, 3))
        obstacle.place(t, p, r)
        poses.append((p, r))
    assert velocity == pytest.approx((poses[2][0] - poses[0][0]) / 2e-6, abs=1e-8)
    skew = (poses[2][1] - poses[0][1]) / 2e-6 @ poses[1][1].T
    assert spin == pytest.approx([skew[2, 1], skew[0, 2], skew[1, 0]], abs=1e-8)
