"""Newmark, generalised α and Verlet on motions with an independent solution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from corekit.data.signals import Ramp
from corekit.errors import StepFailed
from corekit.roles.component import BuildContext
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import floor, small_world
from corekit_timestep.alpha_integrator import AlphaIntegrator
from corekit_timestep.config import GeneralizedAlphaConfig, NewmarkConfig, VerletConfig
from corekit_timestep.verlet import Verlet

GRAVITY = 9.81
SCHEMES = {
    "newmark": lambda h: AlphaIntegrator(NewmarkConfig(tolerance=1e-11), BuildContext(step=h)),
    "generalized-alpha": lambda h: AlphaIntegrator(
        GeneralizedAlphaConfig(tolerance=1e-11), BuildContext(step=h)
    ),
    "verlet": lambda h: Verlet(None, BuildContext(step=h)),
    "position-verlet": lambda h: Verlet(VerletConfig(form="position"), BuildContext(step=h)),
}
ALL = pytest.mark.parametrize("scheme", SCHEMES)
IMPLICIT = pytest.mark.parametrize("scheme", ["newmark", "generalized-alpha"])


def final(model, scheme, h, duration, **world):
    simulation = small_world({"body": model}, SCHEMES[scheme](h), step=h, **world)
    simulation.run(duration)
    return simulation.state.q.copy()


def assert_second_order(run, exact, h, tolerance=0.15):
    errors = [np.linalg.norm(run(step) - exact) for step in (h, h / 2)]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=tolerance)


def oscillator(stiffness=400.0, stretch=0.1):
    return PointChain(
        PointChainConfig(
            positions=((1.0 + stretch, 0.0, 0.0),), links=("spring",), lengths=(1.0,), stiffness=stiffness
        ),
        BuildContext(gravity=np.zeros(3)),
    )


@ALL
def test_double_pendulum_with_friction_in_its_hinges(scheme):
    m1, m2, l1, l2, c, g = 1.0, 0.6, 0.8, 0.5, 0.1, GRAVITY
    model = Pendulum(
        PendulumConfig(lengths=(l1, l2), masses=(m1, m2), angles=(1.0, 0.3), rates=(0.5, -1.0), damping=c)
    )

    def rate_of(_t, y):
        """Lagrange's equations for the angles from the vertical, solved as a 2 × 2 system."""
        a, b, w, u = y
        couple = m2 * l1 * l2
        mass = np.array(
            [[(m1 + m2) * l1**2, couple * math.cos(a - b)], [couple * math.cos(a - b), m2 * l2**2]]
        )
        force = np.array(
            [
                -couple * u * u * math.sin(a - b) - (m1 + m2) * g * l1 * math.sin(a) - c * w + c * (u - w),
                couple * w * w * math.sin(a - b) - m2 * g * l2 * math.sin(b) - c * (u - w),
            ]
        )
        return [w, u, *np.linalg.solve(mass, force)]

    exact = solve_ivp(rate_of, (0, 0.5), [1.0, 0.3, 0.5, -1.0], rtol=1e-12, atol=1e-12).y[:2, -1]
    assert_second_order(lambda h: final(model, scheme, h, 0.5), exact, 0.005)


@ALL
def test_driven_base_shakes_a_spring(scheme):
    k, amplitude, omega = 200.0, 0.1, 2 * math.pi * 1.5

    def rate_of(t, y):
        x, z, vx, vz = y
        offset = np.array([x - amplitude * math.sin(omega * t), z])
        length = np.linalg.norm(offset)
        spring_force = -k / 0.5 * (length - 1.0) / length * offset
        return [vx, vz, spring_force[0], spring_force[1] - GRAVITY]

    exact = solve_ivp(rate_of, (0, 0.3), [0, -1, 0, 0], rtol=1e-12, atol=1e-12).y[:2, -1]
    config = PointChainConfig(
        masses=(1.0, 0.5), positions=((0.0, 0.0), (0.0, -1.0)), planar=True, links=("none", "spring"),
        stiffness=k, driven=(0,), drive_amplitude=(amplitude, 0.0, 0.0), drive_frequency=1.5,
    )  # fmt: skip
    assert_second_order(lambda h: final(PointChain(config), scheme, h, 0.3)[2:], exact, 2.5e-3)


@ALL
def test_ball_on_a_potential_floor_oscillates_harmonically(scheme):
    k, layer = 1e4, 0.1
    static = GRAVITY / k
    equilibrium, amplitude = 0.1 + layer - static, 0.5 * static
    exact = np.array([0, 0, equilibrium + amplitude * math.cos(math.sqrt(k) * 0.05)])

    def run(h):
        ball = PointChain(
            PointChainConfig(positions=((0, 0, equilibrium + amplitude),), shape="sphere", radius=0.1)
        )
        return final(
            ball, scheme, h, 0.05, solver=Penalty(PenaltyConfig(stiffness=k, power=1, thickness=layer)),
            detector=ReferenceDetector(), obstacles=[floor()],
        )  # fmt: skip

    assert_second_order(run, exact, 0.05 / 128)


@IMPLICIT
def test_newmark_conserves_the_amplitude_and_generalized_alpha_that_of_slow_modes(scheme):
    """Energy of an oscillator after 500 steps at h·ω = 0.2, and of one with h·ω = 200."""
    h, steps = 0.01, 500
    for k, stretch in (
        (400.0, 0.1),
        (4e8, 1e-6),
    ):  # a stretch so small that the spring does not buckle sideways
        simulation = small_world({"body": oscillator(k, stretch)}, SCHEMES[scheme](h), step=h)
        simulation.run(steps * h)
        x, v = simulation.state.q[0] - 1.0, simulation.state.v[0]
        ratio = (k * x * x + v * v) / (stretch**2 * k)
        if scheme == "newmark":
            assert ratio == pytest.approx(1.0, abs=1e-6)
        else:
            # the fast one falls by 0.8 per step to nothing; the slow one loses at order (h·ω)³ per step
            assert ratio > 0.9 if k < 1e3 else ratio < 1e-12


def test_fast_modes_fall_by_the_spectral_radius():
    """For h·ω → ∞ all three roots of the recursion are −ρ: the amplitude falls as n²·ρⁿ."""
    h, rho = 0.01, 0.6
    scheme = AlphaIntegrator(GeneralizedAlphaConfig(spectral_radius=rho), BuildContext(step=h))
    simulation = small_world({"body": oscillator(1e9, 1e-6)}, scheme, step=h)
    stretches = []
    simulation.observe(lambda run, _report: stretches.append(abs(run.state.q[0] - 1.0)))
    simulation.run(30 * h)
    rate = (stretches[29] / 30**2 / (stretches[9] / 10**2)) ** (1 / 20)
    assert rate == pytest.approx(rho, abs=0.02)


@ALL
def test_free_fall_is_exact(scheme):
    model = PointChain(PointChainConfig(velocities=((1.0, 0.0, 2.0),)))
    assert final(model, scheme, 0.05, 1.0) == pytest.approx([1.0, 0, 2.0 - GRAVITY / 2], abs=1e-12)


def test_rigid_rods_under_generalized_alpha_hold_in_position_and_are_second_order():
    """Against the closed form of a pendulum, integrated in its angle."""
    start = (math.sin(1.0), -math.cos(1.0))
    angle = solve_ivp(
        lambda _t, y: [y[1], -GRAVITY * math.sin(y[0])], (0, 0.5), [1, 0], rtol=1e-12, atol=1e-12
    )
    exact = np.array([math.sin(angle.y[0, -1]), -math.cos(angle.y[0, -1])])
    model = PointChain(PointChainConfig(planar=True, positions=(start,), links=("rod",)))
    position = final(model, "generalized-alpha", 0.01, 0.5)
    assert np.linalg.norm(position) == pytest.approx(1.0, abs=1e-9)
    assert_second_order(lambda h: final(model, "generalized-alpha", h, 0.5), exact, 0.01, tolerance=0.25)


@IMPLICIT
def test_compliant_rod_and_spring_step_alike(scheme):
    """The same force, once in f with K and once as a constraint with its compliance."""
    start = (math.sin(1.0), -math.cos(1.0))
    ends = [
        final(
            PointChain(
                PointChainConfig(
                    planar=True, positions=(start,), links=(link,), stiffness=400.0, compliance=1 / 400.0
                )
            ),
            scheme, 0.01, 0.5,
        )
        for link in ("spring", "rod")
    ]  # fmt: skip
    assert np.allclose(*ends, rtol=0, atol=1e-7)


def test_winch_under_generalized_alpha_moves_at_its_rate():
    model = PointChain(
        PointChainConfig(positions=((0.0, 0.0, -1.0),), links=("winch",), velocities=((0.0, 0.0, -0.2),))
    )
    reel = Ramp(begin=0.0, end=1.0, value=-0.2, start=0.2)
    position = final(model, "generalized-alpha", 5e-3, 1.0, inputs={"body": {"reel": reel}})
    assert position[2] == pytest.approx(-1.0 - (0.2 * 1.0 - 0.4 * 0.5), abs=1e-4)


@IMPLICIT
def test_a_resumed_step_is_the_same_and_a_changed_state_restarts(scheme):
    one, other = (small_world({"body": oscillator()}, SCHEMES[scheme](0.01), step=0.01) for _ in range(2))
    one.run(0.1)
    other.run(0.1)
    again = small_world({"body": oscillator()}, SCHEMES[scheme](0.01), step=0.01)
    again.restore(one.internal_state())
    one.run(0.3)
    again.run(0.3)
    assert np.array_equal(one.state.q, again.state.q)
    # stopped by hand: the integrator must discard the stored acceleration
    other.state.q[:], other.state.v[:] = [1.0, 0, 0], 0.0
    other.run(0.3)
    assert other.state.q == pytest.approx([1.0, 0, 0], abs=1e-12)


@IMPLICIT
def test_newton_that_converges_in_no_shorter_step_is_a_failed_step(scheme):
    build: dict[str, tuple[Any, Any]] = {
        "newmark": (AlphaIntegrator, NewmarkConfig),
        "generalized-alpha": (AlphaIntegrator, GeneralizedAlphaConfig),
    }
    make, config = build[scheme]
    model = PointChain(
        PointChainConfig(
            masses=(1.0, 1.0), positions=((1.0, 0.0, 0.0), (2.0, 0.0, 0.0)), stiffness=1e6,
            velocities=((0.0, 0.0, 0.0), (0.0, 30.0, 0.0)), links=("spring", "spring"),
        )
    )  # fmt: skip
    integrator = make(config(max_iterations=1, tolerance=1e-15), BuildContext(step=0.05))
    simulation = small_world({"body": model}, integrator, step=0.05)
    with pytest.raises(StepFailed, match="iteration limit"):
        simulation.run(0.3)


@pytest.mark.parametrize(
    ("config", "option", "value"),
    [
        (NewmarkConfig, "gamma", 0.4),
        (GeneralizedAlphaConfig, "spectral_radius", 1.1),
        (VerletConfig, "form", "x"),
    ],
)
def test_the_error_names_an_invalid_option(config, option, value):
    with pytest.raises(ValueError, match=option):
        config(**{option: value})
