"""Contact potentials inside Newton's method: its convergence, its rest, and rows beside it."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from corekit.data.contacts import ContactSet
from corekit.roles.component import BuildContext
from corekit.roles.contact import PotentialTerms
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.rounding import rounding
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world

H, G = 1e-3, 9.81
LAYER = 1e-3


def newton(theta, h=H):
    return ImplicitEuler(ImplicitEulerConfig(theta=theta), BuildContext(step=h))


def world(model, integrator, solver, h=H, friction=0.5, **options):
    return small_world(
        {"body": model},
        integrator,
        step=h,
        solver=solver,
        detector=ReferenceDetector(),
        obstacles=[floor()],
        friction=friction,
        **options,
    )


def test_stiffness_and_damping_are_the_derivatives_of_the_force():
    """Against central differences over the carriers' positions and velocities, on a plane."""
    potential = Penalty(
        PenaltyConfig(stiffness=3e4, power=3, thickness=0.05, dissipation=0.1, slip_scale=0.2)
    )
    normal = np.array([0.6, 0.0, 0.8])

    def evaluate(position, velocity):
        contacts = ContactSet(1)
        contacts.count = 1
        contacts.normal[0], contacts.tangent[0], contacts.friction[0] = normal, [0.8, 0.0, -0.6], 0.7
        contacts.frame[0], contacts.weight[0] = [0, 1, -1, -1], [0.7, 0.3, 0, 0]
        contacts.gap[0] = normal @ (contacts.weight[0] @ position)
        terms = PotentialTerms(
            np.zeros(1), np.zeros((1, 12)), np.zeros((1, 12, 12)), np.zeros((1, 12, 12)), np.zeros(1),
            np.zeros((1, 2)),
        )  # fmt: skip
        potential.evaluate(contacts, position[None], velocity[None], 1e-3, terms)
        return terms

    rng = np.random.default_rng(1)
    position, velocity = np.zeros((4, 3)), np.zeros((4, 3))
    position[:2], velocity[:2] = rng.normal(0, 0.01, (2, 3)), rng.normal(0, 0.3, (2, 3))
    terms = evaluate(position, velocity)
    for column in range(6):
        shift = np.zeros(12)
        shift[column] = 1e-6
        ahead, behind = (evaluate(position + s * shift.reshape(4, 3), velocity) for s in (1, -1))
        slope = (ahead.force - behind.force)[0] / 2e-6
        assert np.allclose(-slope, terms.stiffness[0, :, column], rtol=1e-6, atol=1e-5)
        energy = (ahead.energy - behind.energy)[0] / 2e-6
        elastic = evaluate(position, np.zeros((4, 3))).force[0, column]
        assert -energy == pytest.approx(elastic, rel=1e-6, abs=1e-8)
        ahead, behind = (evaluate(position, velocity + s * shift.reshape(4, 3)) for s in (1, -1))
        slope = (ahead.force - behind.force)[0] / 2e-6
        assert np.allclose(-slope, terms.damping[0, :, column], rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("theta", [1.0, 0.5])
def test_newton_converges_quadratically_with_a_potential(theta):
    """Changes of the velocity from iterate to iterate: each about the square of the one before."""
    model = PointChain(
        PointChainConfig(positions=((0.0, 0.0, 0.1005),), velocities=((0.2, 0.1, -1.0),), shape="sphere")
    )
    solver = Penalty(PenaltyConfig(stiffness=1e8, power=2, thickness=LAYER, slip_scale=0.1))
    simulation = world(model, newton(theta), solver)
    step, state = simulation.system.theta, simulation.state
    step.begin_step(state, H)
    v, after, changes, residuals = state.v.copy(), np.zeros(3), [], []
    for _ in range(8):
        step.linearise(v, theta)
        residuals.append(step.momentum_residual())
        step.solve(after)
        changes.append(np.abs(after - v).max())
        v = after.copy()
    steps = [(first, second) for first, second in pairwise(changes) if first > 1e-6]
    assert len(steps) >= 2
    assert all(second < 0.3 * first**2 for first, second in steps)
    # m·v of 1 N·s; and the force, whose slope 2·k·d multiplies the rounding of the gap, height and radius of 0.1 m
    rounded = rounding(16, 1.0) + H * 2e8 * LAYER * rounding(8, 0.1)
    assert residuals[-1] < rounded
    assert changes[-1] < rounded / 1.0  # the mass is 1 kg, the spring only adds to it


@pytest.mark.parametrize("theta", [1.0, 0.5])
def test_impulses_and_potential_come_to_the_same_rest(theta):
    """A ball slides to a stop; both agree within the penalty's layer and its creep."""
    rests = []
    height = LAYER - math.sqrt(G / 1e8)
    for start, solver in (
        (0.1, ProjectedGaussSeidel()),
        (0.1 + height, Penalty(PenaltyConfig(stiffness=1e8, thickness=LAYER, slip_scale=1e-4))),
    ):
        model = PointChain(
            PointChainConfig(positions=((0.0, 0.0, start),), velocities=((0.8, 0.0, 0.0),), shape="sphere")
        )
        simulation = world(model, newton(theta), solver)
        simulation.run(0.4)
        rests.append(simulation)
    exact, soft = (simulation.state.q for simulation in rests)
    assert soft[2] - exact[2] == pytest.approx(height, rel=1e-6)
    assert soft[0] == pytest.approx(exact[0], abs=LAYER)
    impulses = [simulation.contacts().normal_impulse[0] for simulation in rests]
    assert impulses[1] == pytest.approx(impulses[0], rel=1e-6)
    assert impulses[0] == pytest.approx(H * G)


@pytest.mark.parametrize("theta", [1.0, 0.5])
def test_rods_and_a_potential_share_the_load(theta):
    """A two-rod chain lies with its last ball on a soft floor: the rods' impulses must answer the floor."""
    model = PointChain(
        PointChainConfig(
            planar=False,
            masses=(0.4, 0.6),
            positions=((0.5, 0.0, 0.0), (1.0, 0.0, 0.0)),
            links=("rod", "rod"),
            shape="sphere",
            radius=0.1,
            drag=5.0,
        ),
        BuildContext(),
    )
    solver = Penalty(PenaltyConfig(stiffness=1e6, thickness=LAYER, dissipation=1.0))
    simulation = small_world(
        {"chain": model}, newton(theta, 5e-3), step=5e-3, solver=solver, detector=ReferenceDetector(),
        obstacles=[floor((0.0, 0.0, -0.3))], friction=0.2,
    )  # fmt: skip
    iterations = []
    simulation.observe(lambda _sim, report: iterations.append(report.iterations))
    simulation.run(1.5)
    q, v = simulation.state.q.reshape(2, 3), simulation.state.v
    assert np.abs(v).max() < 1e-3
    lengths = np.linalg.norm(np.diff(np.vstack([np.zeros(3), q]), axis=0), axis=1)
    assert lengths == pytest.approx([0.5, 0.5], abs=1e-6)
    # vertical balance: what the floor does not carry hangs on the first rod's anchor
    record = simulation.contacts()
    tension = simulation.system.terms.bodies[0].row_impulse[0] / 5e-3
    lifted = -tension * q[0, 2] / 0.5
    assert record.normal_impulse.sum() / 5e-3 - lifted == pytest.approx(1.0 * G, rel=1e-3)
    assert max(iterations) <= 15


def test_potential_on_a_dense_body_with_rotating_frames_agrees_with_impulses():
    """A double pendulum leans on a floor. Its tangent is unsymmetric while it swings."""
    rests = []
    for solver in (ProjectedGaussSeidel(), Penalty(PenaltyConfig(stiffness=1e9, thickness=1e-4))):
        model = Pendulum(
            PendulumConfig(
                lengths=(0.5, 0.5), masses=(0.4, 0.6), angles=(1.2, 1.4), rates=(0.0, 0.0), damping=0.5,
                radius=0.1,
            )
        )  # fmt: skip
        simulation = small_world(
            {"arm": model}, newton(1.0, 0.01), step=0.01, solver=solver, detector=ReferenceDetector(),
            obstacles=[floor((0.0, 0.0, -0.8))],
        )  # fmt: skip
        simulation.run(3.0)
        assert simulation.contacts().normal_impulse.max() > 0
        rests.append(simulation.state.q.copy())
    assert rests[0] == pytest.approx(rests[1], abs=3e-3)


@pytest.mark.parametrize("stiffness", [1e5, 1e9])
def test_linearly_implicit_step_is_stable_on_any_stiffness(stiffness):
    model = PointChain(PointChainConfig(positions=((0.0, 0.0, 0.101),), shape="sphere"))
    solver = Penalty(PenaltyConfig(stiffness=stiffness, power=1, thickness=LAYER))
    simulation = world(model, SemiImplicitEuler(None, BuildContext(step=H)), solver)
    simulation.run(1.0)
    assert simulation.state.q[2] == pytest.approx(0.1 + LAYER - G / stiffness, abs=1e-6)


def test_potential_energy_is_kept_by_midpoint_over_many_bounces():
    model = PointChain(PointChainConfig(positions=((0.0, 0.0, 0.15),), shape="sphere"))
    solver = Penalty(PenaltyConfig(stiffness=5e5, power=2, thickness=0.02))
    simulation = world(model, newton(0.5), solver, friction=0.0)
    before = sum(model.compute_energies(simulation.state.body_states[0]))
    highest = []
    simulation.observe(lambda sim, _report: highest.append(sim.state.q[2]))
    simulation.run(2.0)
    assert max(highest[-400:]) == pytest.approx(0.15, abs=2e-3)
    assert before == pytest.approx(G * 0.15)
