"""Bodies in contact by potentials with implicit steps: rest, slopes, energy, momentum."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from corekit.data.signals import Constant
from corekit.engine.potentials.coupled_step_matrix import CoupledStepMatrix
from corekit.linalg.matrices import Sparse
from corekit.roles.component import BuildContext
from corekit_imc.barrier import barrier
from corekit_imc.config import ImplicitContactConfig
from corekit_imc.edges import EdgeDetector
from corekit_imc.imc import ImplicitContact
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.rounding import rounding
from corekit_testing.small_world import floor, small_world

G, LAYER, NU = 9.81, 5e-4, 1e-3


def stepper(h, theta=1.0):
    return ImplicitEuler(ImplicitEulerConfig(theta=theta), BuildContext(step=h))


def imc(distance_tolerance=LAYER, stiffness=1e4, *, adapt=True, restitution=0.0):
    return ImplicitContact(
        ImplicitContactConfig(
            distance_tolerance=distance_tolerance, stiffness=stiffness, slip_tolerance=NU, adapt=adapt,
            restitution=restitution,
        )
    )  # fmt: skip


def resting_gap(weight, stiffness):
    """Gap at which −k·φ′(g) supports a weight [N]."""
    return brentq(lambda g: -stiffness * barrier(g, LAYER)[1] - weight, -0.1, LAYER)


def ball(height, *, mass=1.0, speed=(0.0, 0.0, 0.0), gravity=(0.0, 0.0, -G)):
    return PointChain(
        PointChainConfig(
            masses=(mass,), positions=((0.0, 0.0, height),), velocities=(speed,), shape="sphere", radius=0.1
        ),
        BuildContext(gravity=np.array(gravity)),
    )


def on_floor(model, h, theta=1.0, friction=0.0, solver=None, **options):
    return small_world(
        {"ball": model}, stepper(h, theta), step=h, solver=solver or imc(adapt=False), detector=ReferenceDetector(),
        obstacles=[floor()], friction=friction, **options,
    )  # fmt: skip


def test_a_ball_comes_to_rest_where_the_potential_balances_its_weight():
    simulation = on_floor(ball(0.1 - 4e-4), 2e-3)
    simulation.run(1.0)
    gap = resting_gap(G, 1e4)
    assert simulation.state.q[2] - 0.1 == pytest.approx(gap, abs=1e-8)
    assert abs(gap) < LAYER
    assert simulation.contacts().normal_impulse == pytest.approx([2e-3 * G], rel=1e-6)


def test_an_adapting_stiffness_lifts_a_heavy_ball_to_a_fifth_of_the_layer():
    solver = imc(adapt=True, stiffness=1e3)
    simulation = on_floor(ball(0.1, mass=20.0), 1e-3, solver=solver)
    simulation.run(2.0)
    depth = 0.1 - simulation.state.q[2]
    assert depth == pytest.approx(LAYER / 5, rel=0.05)
    pipeline = simulation.system.pipeline
    assert pipeline is not None
    assert solver.springs(pipeline.contacts)[0, 0] == pytest.approx(20.0 * G * 2.5 / LAYER, rel=0.02)


@pytest.mark.parametrize("restitution", [0.05, 0.3, 0.7, 1.0])
@pytest.mark.parametrize(("mass", "speed", "adapt"), [(1.0, 1.0, True), (0.01, 8.0, True), (1.0, 0.5, False)])
def test_a_ball_returns_with_the_share_of_its_speed_that_was_asked_for(restitution, mass, speed, adapt):
    """Whatever spring it meets. A tenth of δ in a step leaves some thousandths of the second order."""
    model = ball(0.1 + 1.5 * LAYER, mass=mass, speed=(0.0, 0.0, -speed), gravity=(0.0, 0.0, 0.0))
    simulation = on_floor(model, 1e-4, 0.5, solver=imc(adapt=adapt, restitution=restitution))
    while simulation.state.v[2] < 0.0 or simulation.state.q[2] < 0.1 + LAYER:
        simulation.step()
        assert simulation.time < 0.5
    assert simulation.state.v[2] / speed == pytest.approx(restitution, abs=5e-3)


@pytest.mark.parametrize("below", [True, False])
def test_the_threshold_of_sliding_on_a_slope_is_its_tangent(below):
    """μ = 0.5. Below: it creeps as tanh(7.5·u/ν) = tan(slope)/μ. Above: it slides with g·(sin − μ·cos)."""
    mu, h = 0.5, 1e-3
    slope = math.atan(mu * (0.9 if below else 1.2))
    gravity = (G * math.sin(slope), 0.0, -G * math.cos(slope))
    gap = resting_gap(G * math.cos(slope), 1e4)
    simulation = on_floor(ball(0.1 + gap, gravity=gravity), h, friction=mu)
    simulation.run(0.2)
    v = simulation.state.v[0]
    if below:
        assert v == pytest.approx(NU / 7.5 * math.atanh(0.9), rel=1e-4)
    else:
        expected = G * (math.sin(slope) - mu * math.cos(slope)) * 0.2
        assert v == pytest.approx(expected, abs=2 * NU)


def test_a_bounce_without_friction_conserves_energy_under_midpoint():
    """Kinetic, potential and contact energy: bounded in every contact, the same height after it."""
    h, drop = 2e-4, 2e-3
    solver = imc(adapt=False, distance_tolerance=2e-3, restitution=1.0)
    simulation = on_floor(ball(0.1 + drop), h, 0.5, solver=solver)
    samples = []
    simulation.observe(lambda run, _report: samples.append(run.state.q[2] - 0.1))
    simulation.run(0.25)
    heights = np.array(samples)
    peaks = heights[1:-1][(heights[1:-1] > heights[:-2]) & (heights[1:-1] > heights[2:])]
    assert len(peaks) >= 3
    assert np.abs(peaks - drop).max() < 1e-3 * drop


def rod(points, velocities, masses):
    return PointChain(
        PointChainConfig(
            masses=masses, positions=points, velocities=velocities, links=("none", "spring"), stiffness=2e3,
            shape="edge", radius=0.02,
        ),
        BuildContext(gravity=np.zeros(3)),
    )  # fmt: skip


@pytest.mark.parametrize("theta", [1.0, 0.5])
@pytest.mark.parametrize(("friction", "restitution"), [(0.0, 1.0), (0.4, 1.0), (0.0, 0.3)])
def test_colliding_edges_conserve_momentum_and_angular_momentum(theta, friction, restitution):
    """Two dumbbells hit crosswise, off centre; forces are equal, opposite and along the line between the edges."""
    masses = np.array([0.2, 0.3, 0.15, 0.25])
    one = rod(((-0.2, 0, 0.05), (0.2, 0, 0.05)), ((0, 0, -0.8), (0, 0, -0.8)), (0.2, 0.3))
    two = rod(((0.05, -0.2, 0), (0.05, 0.2, 0)), ((0.1, 0, 0), (0.1, 0, 0)), (0.15, 0.25))
    simulation = small_world(
        {"one": one, "two": two}, stepper(2e-4, theta), step=2e-4, friction=friction,
        solver=imc(stiffness=2e4, adapt=False, distance_tolerance=2e-3, restitution=restitution),
        detector=EdgeDetector(),
    )  # fmt: skip

    def momenta():
        x, v = simulation.state.q.reshape(4, 3), simulation.state.v.reshape(4, 3)
        return masses @ v, masses @ np.cross(x, v)

    linear, angular = momenta()
    impulses = []
    simulation.observe(lambda run, _report: impulses.append(run.contacts().normal_impulse.sum()))
    simulation.run(0.06)
    assert max(impulses) > 1e-4
    assert impulses[-1] == 0.0
    after = momenta()
    assert after[0] == pytest.approx(linear, abs=1e-12)
    if theta == 0.5 and friction == 0.0:
        # midpoint conserves quadratic invariants; friction acts at the axes, not at the surfaces
        assert after[1] == pytest.approx(angular, abs=1e-10)


def test_newton_converges_quadratically_on_crossing_edges():
    """The Hessian is exact: each increment of the velocity is of the order of the square of the previous one."""
    h = 2e-3
    one = rod(((-0.2, 0, 0.041), (0.2, 0.03, 0.041)), ((0, 0, -0.4), (0, 0, -0.1)), (0.2, 0.3))
    two = rod(((0.05, -0.2, 0), (0.02, 0.2, 0)), ((0.1, 0, 0), (0.0, 0.2, 0)), (0.15, 0.25))
    simulation = small_world(
        {"one": one, "two": two}, stepper(h), step=h, friction=0.0,
        solver=imc(stiffness=1e4, adapt=False, distance_tolerance=5e-3), detector=EdgeDetector(),
    )  # fmt: skip
    step, state = simulation.system.theta, simulation.state
    step.begin_step(state, h)
    v, after, changes = state.v.copy(), np.zeros(12), []
    for _ in range(9):
        step.linearise(v, 1.0)
        step.solve(after)
        changes.append(float(np.abs(after - v).max()))
        v = after.copy()
    assert changes[0] > 1e-2
    assert changes[-1] < 1e-12
    small = [(a, b) for a, b in pairwise(changes) if 1e-5 < a < 1e-1]
    assert small
    assert all(b < 30.0 * a * a for a, b in small)


def test_a_pushed_edge_sticks_below_the_cone_and_slides_beyond():
    """A bar of two nodes on the floor, pushed along: E = t²·(F − μ·m·g)²/(2m), or rest (the creep of ν)."""
    mu, mass, h = 0.4, 0.5, 1e-3
    weight = 0.5 * mass * G
    height = 0.02 + resting_gap(weight, 1e4)
    for load_factor in (0.8, 1.6):
        bar = PointChain(
            PointChainConfig(
                masses=(0.5 * mass, 0.5 * mass), positions=((0.0, 0, height), (0.3, 0, height)),
                links=("none", "spring"), stiffness=1e6, shape="edge", radius=0.02,
            )
        )  # fmt: skip
        force = load_factor * mu * mass * G
        simulation = small_world(
            {"bar": bar}, stepper(h, 0.5), step=h, solver=imc(adapt=False), detector=EdgeDetector(),
            obstacles=[floor()], friction=mu, inputs={"bar": {"pull": Constant((force, 0.0, 0.0))}},
        )  # fmt: skip
        simulation.run(0.3)
        v = simulation.state.v.reshape(2, 3)[:, 0].mean()
        if load_factor < 1.0:
            assert abs(simulation.state.q[0]) < 1e-3
        else:
            assert v == pytest.approx((force - mu * mass * G) / mass * 0.3, rel=2e-3)


def crossing_chains(h, height=0.0296):
    """A chain on the floor and one across it, 60 velocities: their end nodes on one side are driven apart."""

    def chain(points, **options):
        return PointChain(
            PointChainConfig(
                masses=(0.02,) * 10, positions=tuple(map(tuple, points)), links=("none", *["spring"] * 9),
                stiffness=500.0, damping=0.05, drag=0.05, shape="edge", radius=0.01, **options,
            )
        )  # fmt: skip

    along = np.linspace(-0.2, 0.2, 10)
    lying = np.column_stack([along, np.zeros(10), np.full(10, 0.0099)])
    across = np.column_stack([np.full(10, 0.013), along, np.full(10, height)])
    return small_world(
        {"lying": chain(lying), "across": chain(across, driven=(0,), drive_rate=(0.3, -0.02, 0.0))},
        stepper(h), step=h, solver=imc(2e-3, adapt=False), detector=EdgeDetector(), obstacles=[floor()],
    )  # fmt: skip


def test_the_coupled_matrix_of_two_bodies_is_the_slope_of_their_residual():
    """Along Newton's increment Δ the residual falls as (1 − s)·ρ: by differences of ρ, without A itself."""
    h = 2e-3
    simulation = crossing_chains(h)
    simulation.run(0.02)
    system: Any = simulation.system
    state = simulation.state
    system.theta.begin_step(state, h)
    v, after = state.v.copy(), np.zeros(60)
    system.theta.linearise(v, 1.0)
    system.theta.solve(after)
    # the velocity of the driven node is prescribed
    assert after[30:33] == pytest.approx([0.3, -0.02, 0.0], abs=rounding(16))
    v[30:33] = after[30:33]
    step = after - v
    assert np.abs(step).max() > 1e-4

    def residual(velocity):
        system.theta.update_residual(velocity, 1.0)
        return system.equation.residual()

    size = 1e-4
    slope = (residual(v + size * step) - residual(v - size * step)) / (2 * size)
    before = residual(v)
    pairs = {tuple(pair) for pair in simulation.contacts().shape.tolist()}
    assert any(first < 9 <= second < 18 for first, second in pairs)  # the chains touch each other
    assert np.abs(slope + before).max() < 1e-5 * np.abs(before).max()


def test_contacts_with_floors_leave_the_matrix_a_band_with_the_same_solution():
    """Contacts of one node add no coupling, two chains in contact do. Both agree with dense algebra."""
    rhs = np.random.default_rng(2).normal(size=60)
    for height, banded in ((1.0, True), (0.0296, False)):
        simulation = crossing_chains(2e-3, height)
        simulation.run(0.02)
        system: Any = simulation.system
        coupled = system.terms.factorisation.coupled
        assert system.record().count
        assert coupled is not None
        assert coupled.factor is not None
        assert isinstance(coupled.matrix, Sparse)
        row, column = coupled.matrix.pattern.row, coupled.matrix.pattern.column
        widest = max(int(np.max(rows - columns)) for rows, columns, _ in coupled._entries)
        assert (np.max(row - column) <= widest) is np.bool_(banded)
        solution, held = np.zeros(60), coupled.prescribed
        coupled.factor.solve(rhs, np.zeros(len(held)), solution, np.zeros(0))
        dense = coupled.matrix.dense()
        left = dense @ solution - rhs
        left[held] = solution[held]
        # the backward error of LU is n·ε·|L|·|U|·|x|; without pivoting of a definite matrix |L|·|U| is of A's size
        assert np.abs(left).max() < rounding(60, float(np.abs(dense).max()), float(np.abs(solution).max()))


def test_a_run_through_changing_couplings_resumes_to_the_bit():
    """The order of elimination depends on earlier contacts: a resumed run and an uninterrupted one discard them."""
    first, resumed = crossing_chains(2e-3), crossing_chains(2e-3)
    first.run(0.12)
    internal_state = first.internal_state()
    for simulation in (first, resumed):
        simulation.restore(internal_state)
        simulation.run(0.16)
    assert first.state.q.tobytes() == resumed.state.q.tobytes()
    assert first.state.v.tobytes() == resumed.state.v.tobytes()


def test_contacts_with_new_couplings_enter_the_matrix(monkeypatch):
    """The crossing moves along the chains, from edge to edge, and every step converges.

    Pitfall: the symbolic analysis is repeated for a new coupling, not in every iteration.
    """
    analysed = []
    analyse = CoupledStepMatrix._analyse
    monkeypatch.setattr(CoupledStepMatrix, "_analyse", lambda matrix: (analysed.append(1), analyse(matrix)))
    simulation = crossing_chains(2e-3)
    pairs, iteration_counts = set(), []
    simulation.observe(lambda run, _report: pairs.update(map(tuple, run.contacts().shape.tolist())))
    simulation.observe(lambda _run, report: iteration_counts.append(report.iterations))
    simulation.run(0.2)
    crossings = {pair for pair in pairs if pair[0] < 9 <= pair[1] < 18}
    assert len(crossings) >= 2
    assert 0 < len(analysed) <= 2 * len(crossings) < sum(iteration_counts) / 10
    assert max(iteration_counts) < 15
    assert simulation.state.q.reshape(20, 3)[:, 2].min() > 0.01 - 2e-3
