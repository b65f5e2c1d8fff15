"""Resting, sticking, sliding: what a point mass on a plane must do, whatever integrator steps it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from attrs import evolve

from corekit.data.contacts import ContactMode
from corekit.engine.contact.contact_kernels import gap_terms
from corekit.roles.component import BuildContext
from corekit.roles.integrator import Integrator
from corekit.roles.world import Stabilisation
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel, ProjectedGaussSeidelConfig
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.rounding import rounding
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world
from corekit_testing.velocity_verlet import VelocityVerlet

H, MASS, G = 1e-3, 0.7, 9.81

INTEGRATORS = {
    "semi-implicit": lambda h: SemiImplicitEuler(None, BuildContext(step=h)),
    "euler": lambda h: ImplicitEuler(None, BuildContext(step=h)),
    "midpoint": lambda h: ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=h)),
    "verlet": lambda h: VelocityVerlet(None, BuildContext(step=h)),
}
every_integrator = pytest.mark.parametrize("integrator", INTEGRATORS)


def ball(height=0.1, velocity=(0.0, 0.0, 0.0), **options):
    config = PointChainConfig(
        masses=(MASS,), positions=((0.0, 0.0, height),), velocities=(velocity,), shape="sphere", **options
    )
    return PointChain(config)


def world(models, integrator, *, h=H, obstacles=None, tolerance=1e-12, **options):
    return small_world(
        models if isinstance(models, dict) else {"ball": models},
        INTEGRATORS[integrator](h),
        step=h,
        solver=ProjectedGaussSeidel(ProjectedGaussSeidelConfig(tolerance=tolerance)),
        detector=ReferenceDetector(),
        obstacles=[floor()] if obstacles is None else obstacles,
        **options,
    )


def on_slope(angle):
    """A plane tilted about y, downhill along +x, and the start of a ball of radius 0.1 that touches it."""
    normal = np.array([math.sin(angle), 0.0, math.cos(angle)])
    config = PointChainConfig(masses=(MASS,), positions=(tuple(0.1 * normal),), shape="sphere")
    return PointChain(config), floor(rpy=(0.0, angle, 0.0)), normal


@every_integrator
def test_resting_impulse_is_weight_times_step_and_nothing_moves(integrator):
    simulation = world(ball(), integrator, friction=0.5)
    simulation.run(0.1)
    record = simulation.contacts()
    assert record.normal_impulse == pytest.approx([H * MASS * G], rel=1e-12)
    assert np.abs(record.tangential_impulse).max() < rounding(64, H * MASS * G)
    assert record.mode.tolist() == [ContactMode.STICK]
    assert np.abs(simulation.state.v).max() < 1e-12
    assert simulation.state.q[2] == pytest.approx(0.1, abs=1e-13)


class TwoStages(Integrator):
    """A step as two of implicit Euler, of 0.3·h and 0.7·h or the other way round: the last solve is not the step."""

    def __init__(self, first):
        self._stages = [ImplicitEuler(None, BuildContext(step=share * H)) for share in (first, 1.0 - first)]
        self._first = first

    def step(self, system, state, t_stop, out):
        middle = system.new_state()
        self._stages[0].step(system, state, state.time + self._first * H, middle)
        return evolve(self._stages[1].step(system, middle, t_stop, out), step_size=H)


@pytest.mark.parametrize("first", [0.3, 0.7])
@pytest.mark.parametrize("solver", ["impulses", "potential"])
def test_forces_are_those_of_the_whole_step_whatever_stages_it_has(first, solver):
    stiffness = 1e5
    soft = Penalty(PenaltyConfig(stiffness=stiffness, power=1, thickness=1e-3))
    height = 0.1 if solver == "impulses" else 0.1 + 1e-3 - MASS * G / stiffness
    simulation = small_world(
        {"ball": ball(height=height)}, TwoStages(first), step=H, obstacles=[floor()], detector=ReferenceDetector(),
        solver=soft if solver == "potential" else ProjectedGaussSeidel(ProjectedGaussSeidelConfig(tolerance=1e-12)),
    )  # fmt: skip
    simulation.run(0.01)
    assert simulation.contacts().normal_impulse == pytest.approx([H * MASS * G], rel=1e-9)


@pytest.mark.parametrize("integrator", ["semi-implicit", "euler"])
@pytest.mark.parametrize(
    "bodies", [1, 2]
)  # rows kept dense and sparse, both more than there is room for at first
def test_many_balls_rest_as_one_does(bodies, integrator):
    many = 35
    rows = {
        f"row {y}": PointChain(
            PointChainConfig(
                masses=(MASS,) * many,
                positions=tuple((0.5 * x, float(y), 0.1) for x in range(many)),
                shape="sphere",
                self_contact=False,
            )
        )
        for y in range(bodies)
    }
    simulation = world(rows, integrator, friction=0.5)
    for _ in range(2):
        simulation.step()
        record = simulation.contacts()
        assert record.normal_impulse == pytest.approx(np.full(bodies * many, H * MASS * G), rel=1e-12)
        assert record.slip == pytest.approx(0.0, abs=1e-12)
    kept = simulation.system.internal_state()
    assert len(kept["tangent_id"]) == len(kept["impulse_id"]) == bodies * many


@pytest.mark.parametrize("integrator", ["semi-implicit", "euler"])
def test_balls_that_land_later_than_there_is_room_for_leave_resting_ones_at_rest(integrator):
    many, first, fall = 40, 10, 2e-3
    heights = np.where(np.arange(many) < first, 0.1, 0.1 + fall)
    model = PointChain(
        PointChainConfig(
            masses=(MASS,) * many,
            positions=tuple((0.5 * x, 0.0, z) for x, z in enumerate(heights)),
            shape="sphere",
        )
    )
    simulation = world(model, integrator, friction=0.5, margin=1e-6)
    seen = []
    for _ in range(40):
        simulation.step()
        record = simulation.contacts()
        seen.append(record.count)
        weight = np.full(first, H * MASS * G)
        assert record.normal_impulse[:first] == pytest.approx(weight, rel=1e-11)
        assert np.abs(simulation.state.q.reshape(many, 3)[:first, 2] - 0.1).max() < 1e-13
    assert seen[0] == first and seen[-1] == many
    assert record.normal_impulse == pytest.approx(np.full(many, H * MASS * G), rel=1e-10)
    kept = simulation.internal_state()
    assert kept["system/impulse_id"].tolist() == kept["system/tangent_id"].tolist() == record.id.tolist()


@pytest.mark.parametrize("integrator", ["semi-implicit", "midpoint"])
def test_rest_does_not_grow_over_two_thousand_steps(integrator):
    """Each step may add 1e-17 m, less than the rounding of the height, and 1e-17 m/s."""
    simulation = world(ball(), integrator, friction=0.5)
    simulation.run(2_000 * H)
    assert simulation.step_index == 2_000
    assert np.abs(simulation.state.q - [0, 0, 0.1]).max() < 2e-14
    assert np.abs(simulation.state.v).max() < 2e-14
    assert simulation.contacts().normal_impulse == pytest.approx([H * MASS * G], rel=1e-11)


@every_integrator
@pytest.mark.parametrize("margin", [-0.01, 0.01])
def test_ball_on_a_slope_slides_exactly_if_the_slope_is_steeper_than_friction(integrator, margin):
    mu = 0.4
    angle = math.atan(mu + margin)
    model, plane, normal = on_slope(angle)
    # what a solver leaves is normal velocity, of which next to nothing is to be left below
    simulation = world(model, integrator, obstacles=[plane], friction=mu, tolerance=1e-15)
    simulation.run(0.1)
    record, v = simulation.contacts(), simulation.state.v
    assert record.normal_impulse == pytest.approx([H * MASS * G * math.cos(angle)], rel=1e-10)
    tangential = np.linalg.norm(record.tangential_impulse)
    if margin < 0:
        assert tangential == pytest.approx(H * MASS * G * math.sin(angle), rel=1e-10)
        assert record.mode.tolist() == [ContactMode.STICK]
        assert np.linalg.norm(v) < 1e-11
        return
    downhill = np.array([math.cos(angle), 0.0, -math.sin(angle)])
    acceleration = G * (math.sin(angle) - mu * math.cos(angle))
    assert v @ downhill == pytest.approx(0.1 * acceleration, rel=1e-9)
    assert tangential == pytest.approx(mu * record.normal_impulse[0], rel=1e-12)
    assert record.mode.tolist() == [ContactMode.SLIDE]
    # the gap, a sum of products of places, is closed within a step
    assert abs(v @ normal) < rounding(4, float(np.abs(simulation.state.q).max()), 1.0 / H)
    # friction opposes the slip
    assert record.tangential_impulse[0] @ record.slip[0] < 0


@pytest.mark.parametrize("direction", [0.0, 0.3, math.pi / 4, 2.0])
def test_friction_is_the_same_in_every_direction(direction):
    speed = np.array([math.cos(direction), math.sin(direction), 0.0])
    simulation = world(ball(velocity=tuple(speed)), "semi-implicit", friction=0.3)
    simulation.run(0.1)
    assert simulation.state.v == pytest.approx((1 - 0.3 * G * 0.1) * speed, abs=1e-12)


def test_sliding_ball_comes_to_rest_after_its_coulomb_distance():
    simulation = world(ball(velocity=(1.0, 0.0, 0.0)), "midpoint", friction=0.5)
    simulation.run(0.5)
    assert simulation.state.q[0] == pytest.approx(1 / (2 * 0.5 * G), abs=2 * H)
    assert np.linalg.norm(simulation.state.v) < 1e-13


@every_integrator
def test_doubling_every_contact_leaves_velocity_unchanged(integrator):
    single, double = (
        world(ball(height=0.15, velocity=(0.6, 0.2, 0.0)), integrator, obstacles=[floor()] * n, friction=0.3)
        for n in (1, 2)
    )
    for simulation in (single, double):
        simulation.run(0.2)
    assert double.contacts().count == 2 * single.contacts().count == 2
    assert np.allclose(single.state.v, double.state.v, rtol=0, atol=1e-8)
    assert double.contacts().normal_impulse.sum() == pytest.approx(single.contacts().normal_impulse.sum())


def test_flying_ball_is_recorded_as_separate():
    simulation = world(ball(height=0.1005, velocity=(0.0, 0.0, 1e-3)), "semi-implicit")
    simulation.step()
    record = simulation.contacts()
    assert record.mode.tolist() == [ContactMode.SEPARATE]
    assert record.normal_impulse.tolist() == [0.0]
    assert record.residual.max() == 0.0


@every_integrator
def test_a_falling_ball_lands_without_bounce(integrator):
    """Where q moves by the mean velocity, half of the last step's fall goes into the floor and is pushed out."""
    simulation = world(ball(height=0.3), integrator)
    heights, speeds = [], []
    simulation.observe(lambda sim, _report: (heights.append(sim.state.q[2]), speeds.append(sim.state.v[2])))
    simulation.run(0.7)
    fall = math.sqrt(2 * G * 0.2)
    deepest = 0.5 * H * fall if integrator in {"midpoint", "verlet"} else 0.0
    assert min(heights) > 0.1 - deepest - 1e-12
    assert max(speeds) < 20 * deepest + 1e-12
    assert simulation.state.q[2] == pytest.approx(0.1, abs=1e-5)


@pytest.mark.parametrize("integrator", ["semi-implicit", "euler"])
def test_penetration_is_pushed_out_at_the_given_rate_and_never_faster_than_the_cap(integrator):
    rate, cap, depth = 20.0, 0.5, 0.1
    simulation = world(ball(height=0.1 - depth), integrator, stabilisation=Stabilisation(1.0, rate, cap))
    speeds, gaps = [], [-depth]
    simulation.observe(
        lambda sim, _report: (speeds.append(sim.state.v[2]), gaps.append(sim.state.q[2] - 0.1))
    )
    simulation.run(0.6)
    assert max(speeds) <= cap + 1e-12
    assert gaps[-1] == pytest.approx(0.0, abs=1e-4)
    # the floor pushes and never pulls: between, the ball flies
    before = [0.0, *speeds[:-1]]
    expected = [
        max(v - G * H, min(cap, -rate * gap) if gap < 0 else -gap / H)
        for v, gap in zip(before, gaps[:-1], strict=True)
    ]
    assert np.allclose(speeds, expected, rtol=0, atol=1e-9)


def test_stabilisation_off_pushes_out_in_one_step():
    simulation = world(
        ball(height=0.09), "semi-implicit", stabilisation=Stabilisation(1.0, math.inf, math.inf)
    )
    simulation.step()
    assert simulation.state.q[2] == pytest.approx(0.1, abs=rounding(32))


@pytest.mark.parametrize("approach", [1.0, 0.5])
def test_open_gaps_close_by_the_approach_share(approach):
    """A ball thrown at the floor may use up only s(φ) = approach·φ of its gap in the step."""
    simulation = world(
        ball(height=0.101, velocity=(0.0, 0.0, -5.0)),
        "semi-implicit",
        stabilisation=Stabilisation(approach, 20.0, 0.5),
    )
    simulation.step()
    assert simulation.state.q[2] == pytest.approx(0.1 + (1 - approach) * 1e-3, abs=rounding(32))


@pytest.mark.parametrize("step", [1e-3, 0.1])
def test_stabilisation_follows_its_formula(step):
    gap = np.array([0.3, 0.0, -1e-4, -0.3])
    rate, cap = 20.0, 0.5
    expected = [0.8 * 0.3, 0.0, -1e-4 * min(1 / step, rate) * step, -cap * step]
    found, ids, nothing = np.ones((len(gap), 3)), np.arange(len(gap)), np.zeros(len(gap))
    room = np.ones(len(gap))
    first, push = np.ones((2, len(gap)))
    gap_terms(len(gap), ids, gap, nothing, step, 0.8, rate, cap, ids, ids[:0], gap, found, first, room, push)
    assert first == pytest.approx(gap)
    assert step * found[:, 0] == pytest.approx(expected)
    assert not found[:, 1:].any()
