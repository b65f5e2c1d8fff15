"""Orders of accuracy of the coupled family on motions with an independent answer.

The single pendulum has a closed form; as a rod between points, as a bead inside a ring and in its own
angle it is the same motion. Other references are integrated in other coordinates to 1e-12.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

from corekit.data.signals import Constant, Ramp
from corekit.geometry.frames import Pose
from corekit.roles.component import BuildContext
from corekit.roles.world import Stabilisation
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector, ReferenceDetectorConfig
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world, sphere

GRAVITY = 9.81
ANGLE = 1.0


def swing(t, length=1.0, angle=ANGLE):
    """Angle of a pendulum released from rest at `angle`: sin(θ/2) = k·sn(K − ω·t), k = sin(angle/2)."""
    k = math.sin(angle / 2)
    sn, *_ = ellipj(ellipk(k * k) - math.sqrt(GRAVITY / length) * t, k * k)
    return 2 * math.asin(k * sn)


def integrated(right, start, t):
    return solve_ivp(right, (0, t), start, rtol=1e-12, atol=1e-12).y[:, -1]


def newton(h, theta):
    return ImplicitEuler(ImplicitEulerConfig(theta=theta), BuildContext(step=h))


def final(model, integrator, h, duration, **world):
    simulation = small_world({"body": model}, integrator, step=h, **world)
    simulation.run(duration)
    return simulation.state.q.copy()


def observed_order(run, exact, h, halvings=1):
    """log₂ of the error ratio between h/2^(halvings−1)… and its half."""
    errors = [np.linalg.norm(run(h / 2**i) - exact) for i in range(halvings - 1, halvings + 1)]
    return math.log2(errors[0] / errors[1])


def expected(theta):
    return pytest.approx(1.0 if theta == 1.0 else 2.0, abs=0.12)


def chain(*points, **options):
    return PointChain(PointChainConfig(positions=points, **options))


def on_circle(angle, length=1.0):
    return (length * math.sin(angle), -length * math.cos(angle))


THETAS = pytest.mark.parametrize("theta", [1.0, 0.5])


@THETAS
def test_pendulum_in_its_angle(theta):
    model = Pendulum(PendulumConfig(angles=(ANGLE,)))
    assert observed_order(lambda h: final(model, newton(h, theta), h, 1.0), swing(1.0), 0.01) == expected(
        theta
    )


def textbook(_t, y):
    """Rates of angles and angular velocities of a double pendulum, 1 kg on 0.8 m and 0.6 kg on 0.5 m."""
    m1, m2, l1, l2 = 1.0, 0.6, 0.8, 0.5
    g = GRAVITY
    a, b, w, u = y
    d = a - b
    bottom = 2 * m1 + m2 - m2 * math.cos(2 * d)
    first = (
        -g * (2 * m1 + m2) * math.sin(a)
        - m2 * g * math.sin(a - 2 * b)
        - 2 * math.sin(d) * m2 * (u * u * l2 + w * w * l1 * math.cos(d))
    )
    second = (
        2
        * math.sin(d)
        * (w * w * l1 * (m1 + m2) + g * (m1 + m2) * math.cos(a) + u * u * l2 * m2 * math.cos(d))
    )
    return [w, u, first / (l1 * bottom), second / (l2 * bottom)]


@THETAS
def test_double_pendulum_with_its_configuration_dependent_mass(theta):
    exact = integrated(textbook, [1.0, 0.3, 0.5, -1.0], 0.5)[:2]
    model = Pendulum(
        PendulumConfig(lengths=(0.8, 0.5), masses=(1.0, 0.6), angles=(1.0, 0.3), rates=(0.5, -1.0))
    )
    assert observed_order(lambda h: final(model, newton(h, theta), h, 0.5), exact, 0.005) == expected(theta)


@THETAS
def test_pendulum_on_a_rigid_rod(theta):
    model = chain(on_circle(ANGLE), planar=True, links=("rod",))
    exact = on_circle(swing(1.0))
    assert observed_order(lambda h: final(model, newton(h, theta), h, 1.0), exact, 0.01) == expected(theta)


@THETAS
def test_double_pendulum_on_rigid_rods_agrees_with_its_angles(theta):
    first, second = on_circle(1.0, 0.8), on_circle(0.3, 0.5)
    model = chain(first, tuple(np.add(first, second)), planar=True, masses=(1.0, 0.6), links=("rod", "rod"))
    a, b, *_ = integrated(textbook, [1.0, 0.3, 0.0, 0.0], 0.5)
    exact = np.concatenate([on_circle(a, 0.8), np.add(on_circle(a, 0.8), on_circle(b, 0.5))])
    assert observed_order(lambda h: final(model, newton(h, theta), h, 0.5), exact, 0.01) == expected(theta)


@THETAS
def test_bead_sliding_inside_a_ring(theta):
    """The bead hangs on contact alone. The papers' φ/h: a fixed rate of pushing out leaves a drift of order h."""
    reach = 1.0 - 0.1
    model = chain(on_circle(ANGLE, reach), planar=True, shape="sphere", radius=0.1)
    exact = on_circle(swing(0.4, reach), reach)

    def run(h):
        return final(
            model,
            newton(h, theta),
            h,
            0.4,
            solver=ProjectedGaussSeidel(),
            detector=ReferenceDetector(ReferenceDetectorConfig(hollow=True)),
            obstacles=[sphere(1.0)],
            stabilisation=Stabilisation(push_out=math.inf, cap=math.inf),
        )

    assert observed_order(run, exact, 0.005) == expected(theta)


SPRING = 400.0


def elastic_pendulum(_t, y):
    x, z, vx, vz = y
    length = math.hypot(x, z)
    pull = -SPRING * (length - 1.0) / length
    return [vx, vz, pull * x, pull * z - GRAVITY]


@THETAS
@pytest.mark.parametrize("link", ["spring", "rod"])
def test_spring_pendulum_as_a_force_and_as_a_compliant_row(theta, link):
    model = chain(on_circle(ANGLE), planar=True, links=(link,), stiffness=SPRING, compliance=1 / SPRING)
    exact = integrated(elastic_pendulum, [*on_circle(ANGLE), 0, 0], 0.5)[:2]
    assert observed_order(lambda h: final(model, newton(h, theta), h, 0.5), exact, 0.002) == expected(theta)


def test_spring_as_a_force_and_as_a_compliant_row_step_alike():
    """Both discretise the same force at the same trial state, so they agree to rounding at any h."""
    for theta in (1.0, 0.5):
        ends = [
            final(
                chain(on_circle(ANGLE), planar=True, links=(link,), stiffness=SPRING, compliance=1 / SPRING),
                newton(0.02, theta),
                0.02,
                1.0,
            )
            for link in ("spring", "rod")
        ]
        assert np.allclose(*ends, rtol=0, atol=1e-8)


@THETAS
@pytest.mark.parametrize("alpha", [0.0, 0.05])
def test_winch_reels_a_pendulum_in(theta, alpha):
    """Rigid: the length follows ∫u dt. Compliant: a damper with 1/α N·s/m whose rest is the rate u(t)."""
    reel = Ramp(begin=-1.0, end=3.0, value=-0.6, start=0.2)

    def u(t):
        return 0.2 - 0.8 * (t + 1) / 4

    def rigid(t, y):
        angle, rate, length = y
        return [rate, -(GRAVITY * math.sin(angle) + 2 * u(t) * rate) / length, u(t)]

    def damped(t, y):
        angle, rate, length, speed = y
        turn = -(GRAVITY * math.sin(angle) + 2 * speed * rate) / length
        return [rate, turn, speed, length * rate**2 + GRAVITY * math.cos(angle) - (speed - u(t)) / alpha]

    start = [ANGLE, 0.0, 1.0]
    angle, _, length, *_ = integrated(damped, [*start, 0.0], 0.5) if alpha else integrated(rigid, start, 0.5)
    # a rigid winch starts at its rate: at rest it would first jump
    begin = () if alpha else (tuple(u(0) * np.array(on_circle(ANGLE))),)
    model = chain(on_circle(ANGLE), planar=True, links=("winch",), compliance=alpha, velocities=begin)

    def run(h):
        return final(model, newton(h, theta), h, 0.5, inputs={"body": {"reel": reel}})

    assert observed_order(run, on_circle(angle, length), 0.005) == expected(theta)


@THETAS
def test_stiff_chain_oscillates_at_its_frequencies(theta):
    """Two equal masses on springs, modes (3 ∓ √5)/2·k/m, started in the slow one: x(t) = cos(ω·t)·mode."""
    k, slow = 1e4, (3 - math.sqrt(5)) / 2
    mode = 1e-3 * np.array([1.0, (1 + math.sqrt(5)) / 2])
    omega = math.sqrt(slow * k)
    exact = np.array([0, -1.0, 0, -2.0])
    exact[1::2] += mode * math.cos(omega * 0.05)
    model = chain(
        (0, -1 + mode[0]), (0, -2 + mode[1]),
        planar=True, masses=(1.0, 1.0), links=("spring", "spring"), lengths=(1.0, 1.0), stiffness=k,
    )  # fmt: skip
    weightless = PointChain(model._config, BuildContext(gravity=np.zeros(3)))
    order = observed_order(lambda h: final(weightless, newton(h, theta), h, 0.05), exact, 0.05 / 64, 2)
    assert order == expected(theta)


@THETAS
def test_ball_on_a_penalty_floor(theta):
    """Small oscillation inside the layer of a linear penalty is harmonic about the static depth."""
    k, layer = 1e4, 0.1
    static = GRAVITY / k
    amplitude, omega = 0.5 * static, math.sqrt(k)
    # φ = thickness − depth
    start = 0.1 + layer - static + amplitude
    exact = np.array([0, 0, 0.1 + layer - static + amplitude * math.cos(omega * 0.05)])

    def run(h):
        return final(
            chain((0.0, 0.0, start), shape="sphere", radius=0.1),
            newton(h, theta),
            h,
            0.05,
            solver=Penalty(PenaltyConfig(stiffness=k, power=1, thickness=layer)),
            detector=ReferenceDetector(),
            obstacles=[floor()],
        )

    assert observed_order(run, exact, 0.05 / 64, 2) == expected(theta)


def test_semi_implicit_euler_is_first_order_and_symplectic_when_explicit():
    model = Pendulum(PendulumConfig(angles=(ANGLE,)))

    def run(h):
        return final(model, SemiImplicitEuler(None, BuildContext(step=h)), h, 1.0)

    assert observed_order(run, swing(1.0), 0.01) == pytest.approx(1.0, abs=0.12)


def test_base_pose_turns_the_whole_motion():
    turn = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    base = Pose(position=np.array([1.0, 2.0, 3.0]), rotation=turn)
    config = PointChainConfig(
        positions=(tuple(turn.T @ [math.sin(ANGLE), 0, -math.cos(ANGLE)]),), links=("rod",)
    )
    model = PointChain(config, BuildContext(base=base))
    simulation = small_world({"body": model}, newton(0.005, 0.5), step=0.005)
    simulation.run(0.5)
    position, rotation = np.zeros((1, 3)), np.zeros((1, 3, 3))
    model.compute_frame_poses(simulation.state.body_states[0], position, rotation)
    x, z = on_circle(swing(0.5))
    assert np.allclose(position[0], [1 + x, 2, 3 + z], atol=2e-4)


def test_constant_input_pulls_a_spring_to_its_static_stretch():
    pull = Constant((0.0, 0.0, -5.0))
    model = chain((0.0, 0.0, -1.0), links=("rod",), compliance=1e-3, drag=20.0)
    simulation = small_world({"body": model}, newton(0.02, 1.0), step=0.02, inputs={"body": {"pull": pull}})
    simulation.run(4.0)
    assert simulation.state.q[2] == pytest.approx(-1 - 1e-3 * (GRAVITY + 5), abs=1e-12)
