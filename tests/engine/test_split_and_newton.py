"""Split steps in free flight and at rest; contacts that come and go between Newton's iterates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.roles.component import BuildContext
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world
from corekit_testing.velocity_verlet import VelocityVerlet

G = 9.81


def verlet(h):
    return VelocityVerlet(None, BuildContext(step=h))


def order(run, exact, h):
    errors = [np.linalg.norm(run(step) - exact) for step in (h, h / 2)]
    return math.log2(errors[0] / errors[1])


def final(model, h, duration, **options):
    simulation = small_world({"body": model}, verlet(h), step=h, **options)
    simulation.run(duration)
    return simulation.state.q.copy()


def by_midpoint(model, h):
    """Coordinates after 0.5 s: two runs of the midpoint rule, extrapolated to order four."""
    ends = []
    for step in (h, h / 2):
        scheme = ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=step))
        simulation = small_world({"body": model}, scheme, step=step)
        simulation.run(0.5)
        ends.append(simulation.state.q)
    return (4.0 * ends[1] - ends[0]) / 3.0


def test_free_fall_is_exact():
    model = PointChain(PointChainConfig(velocities=((1.0, 0.0, 2.0),)))
    assert final(model, 0.05, 1.0) == pytest.approx([1.0, 0, 2.0 - G / 2], abs=1e-13)


def test_verlet_is_second_order_with_a_configuration_dependent_mass_and_damping():
    model = Pendulum(
        PendulumConfig(lengths=(0.8, 0.5), masses=(1, 0.6), angles=(1.0, 0.3), rates=(0.5, -1.0), damping=0.1)
    )
    assert order(lambda h: final(model, h, 0.5), by_midpoint(model, 2e-3), 0.01) == pytest.approx(
        2.0, abs=0.15
    )


def test_verlet_is_second_order_with_a_driven_node():
    config = PointChainConfig(
        masses=(1.0, 0.5), positions=((0.0, 0.0, 0.0), (0.0, 0.0, -1.0)), links=("none", "spring"), stiffness=200.0,
        driven=(0,), drive_amplitude=(0.1, 0.02, 0.0), drive_frequency=1.5,
    )  # fmt: skip
    reference = final(PointChain(config), 4e-4, 0.3)  # whose error is 0.6 % of that of 5 ms
    run = order(lambda h: final(PointChain(config), h, 0.3), reference, 0.01)
    assert run == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize("compliance", [0.0, 1e-3])
def test_rods_in_split_steps_approach_the_pendulum(compliance):
    """Held at acceleration level and drawn back over ten steps."""
    config = PointChainConfig(
        planar=True, positions=((math.sin(1.0), -math.cos(1.0)),), links=("rod",), compliance=compliance
    )
    reference = by_midpoint(PointChain(config), 4e-3)
    assert np.linalg.norm(final(PointChain(config), 1e-3, 0.5) - reference) < 1e-4


def test_contact_between_a_split_body_and_its_rods_keeps_the_rods_velocity():
    """A pendulum's ball hits a wall: the impulse may not stretch the rod."""
    config = PointChainConfig(
        positions=((-math.sin(0.6), 0.0, -math.cos(0.6)),), links=("rod",), shape="sphere", radius=0.1
    )
    wall = floor((0.1, 0.0, 0.0), rpy=(0.0, -math.pi / 2, 0.0))
    simulation = small_world(
        {"body": PointChain(config)}, verlet(1e-3), step=1e-3, solver=ProjectedGaussSeidel(),
        detector=ReferenceDetector(), obstacles=[wall],
    )  # fmt: skip
    lengths, hits = [], []
    simulation.observe(lambda sim, _report: lengths.append(np.linalg.norm(sim.state.q)))
    simulation.observe(lambda sim, _report: hits.append(sim.contacts().normal_impulse.sum()))
    simulation.run(1.0)
    assert np.abs(np.array(lengths) - 1.0).max() < 1e-4
    assert max(hits) > 0.1
    assert simulation.state.q[0] < 1e-3


# — Newton with contacts that change —


@pytest.mark.parametrize("theta", [1.0, 0.5])
def test_contacts_that_appear_within_a_step_are_found_by_newton(theta):
    """A stiff spring shoots a ball at the floor: at the start of the step it is out of reach, at its end not."""
    h = 5e-3
    config = PointChainConfig(
        positions=((0.0, 0.0, 0.135),), velocities=((0.0, 0.0, 0.0),), links=("spring",), lengths=(0.05,),
        stiffness=2e3, shape="sphere",
    )  # fmt: skip
    integrator = ImplicitEuler(ImplicitEulerConfig(theta=theta), BuildContext(step=h))
    simulation = small_world(
        {"ball": PointChain(config)}, integrator, step=h, solver=ProjectedGaussSeidel(), detector=ReferenceDetector(),
        obstacles=[floor()], margin=5e-3,
    )  # fmt: skip
    lowest, counts = [], []

    def watch(sim, report):
        lowest.append(sim.state.q[2] - 0.1)
        counts.append(sim.contacts().count)
        assert report.iterations < 15

    simulation.observe(watch)
    simulation.run(0.3)
    assert counts[0] == 0
    assert max(counts) == 1
    speed = math.sqrt(2e3) * 0.085
    assert min(lowest) > (-1e-9 if theta == 1.0 else -0.5 * h * speed)
    assert lowest[-1] == pytest.approx(0.0, abs=2e-4)


@pytest.mark.parametrize("theta", [1.0, 0.5])
def test_ball_leaves_a_floor_that_it_is_pulled_from(theta):
    from corekit.data.signals import Ramp

    h = 2e-3
    pull = Ramp(begin=0.0, end=0.1, start=(0.0, 0.0, 0.0), value=(0.0, 0.0, 2 * G))
    integrator = ImplicitEuler(ImplicitEulerConfig(theta=theta), BuildContext(step=h))
    simulation = small_world(
        {"ball": PointChain(PointChainConfig(positions=((0.0, 0.0, 0.1),), shape="sphere"))}, integrator, step=h,
        solver=ProjectedGaussSeidel(), detector=ReferenceDetector(), obstacles=[floor()],
        inputs={"ball": {"pull": pull}},
    )  # fmt: skip
    simulation.run(0.1)
    # net force after lift-off at t = 0.05: 2g·(t/0.1) − g, so z̈ = 20g·(t − 0.05)
    assert simulation.state.q[2] - 0.1 == pytest.approx(
        20 * G * 0.05**3 / 6, rel=0.15 if theta == 1 else 2e-2
    )
    assert simulation.state.v[2] == pytest.approx(20 * G * 0.05**2 / 2, rel=0.1 if theta == 1 else 1e-2)


def test_integrators_agree_on_a_sliding_dense_arm():
    """A damped double pendulum falls on a rough plane; all schemes approach one motion."""

    def run(integrator, h):
        model = Pendulum(
            PendulumConfig(
                lengths=(0.5, 0.5),
                masses=(0.4, 0.6),
                angles=(1.4, 1.5),
                rates=(0.0, 0.0),
                damping=0.2,
                radius=0.1,
            )
        )
        simulation = small_world(
            {"arm": model}, integrator(h), step=h, solver=ProjectedGaussSeidel(), detector=ReferenceDetector(),
            obstacles=[floor((0.0, 0.0, -0.6))], friction=0.3,
        )  # fmt: skip
        simulation.run(0.6)
        assert simulation.contacts().count
        return simulation.state.q.copy()

    ends = [
        run(lambda h: SemiImplicitEuler(None, BuildContext(step=h)), 2e-3),
        run(lambda h: ImplicitEuler(None, BuildContext(step=h)), 2e-3),
        run(lambda h: ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=h)), 4e-3),
        run(verlet, 2e-3),
    ]
    for end in ends[1:]:
        assert end == pytest.approx(ends[0], abs=3e-2)
