"""Rows of contacts: equal to differences of the gap, split over carriers by the lever rule, momentum kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit.engine.contact.contact_jacobian import contact_axes
from corekit.roles.component import BuildContext
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector, ReferenceDetectorConfig, closest_points
from corekit_testing.rounding import rounding
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world, sphere

H, G = 1e-3, 9.81
WEIGHTLESS = np.zeros(3)


def rod(ends, masses=(1.0, 1.0), velocities=(), gravity=(0.0, 0.0, -G), links=("none", "rod"), **options):
    config = PointChainConfig(
        masses=masses, positions=ends, velocities=velocities, links=links, shape="edge", radius=0.05,
        **options,
    )  # fmt: skip
    return PointChain(config, BuildContext(gravity=np.array(gravity)))


def world(models, integrator=None, **options):
    return small_world(
        models,
        integrator or SemiImplicitEuler(None, BuildContext(step=H)),
        step=H,
        solver=options.pop("solver", None) or ProjectedGaussSeidel(),
        detector=options.pop("detector", None) or ReferenceDetector(),
        **options,
    )


SCENES = {
    "balls on a tilted plane": lambda: world(
        {"a": PointChain(PointChainConfig(positions=((0.0, 0.3, 0.1),), shape="sphere"))},
        obstacles=[floor(rpy=(0.3, 0.4, 0.5))],
        margin=1.0,
    ),
    "ball on ball": lambda: world(
        {
            "a": PointChain(PointChainConfig(positions=((0.0, 0.1, 0.0),), shape="sphere")),
            "b": PointChain(PointChainConfig(positions=((0.2, 0.0, 0.1),), shape="sphere")),
        },
        margin=1.0,
    ),
    "ball inside a ball": lambda: world(
        {"a": PointChain(PointChainConfig(positions=((0.2, 0.3, 0.5),), shape="sphere"))},
        obstacles=[sphere(1.0)],
        detector=ReferenceDetector(ReferenceDetectorConfig(hollow=True)),
        margin=1.0,
    ),
    "crossed edges": lambda: world(
        {
            "a": rod(((-0.4, 0.1, 0.12), (0.5, 0.0, 0.08))),
            "b": rod(((0.1, -0.4, 0.0), (0.0, 0.5, 0.02))),
        },
        margin=1.0,
    ),
    "pendulum over a plane and a ball": lambda: world(
        {
            "arm": Pendulum(
                PendulumConfig(
                    lengths=(0.5, 0.4), masses=(1.0, 1.0), angles=(0.9, 1.2), rates=(0.0, 0.0), radius=0.1
                )
            ),
            "ball": PointChain(PointChainConfig(positions=((0.7, 0.05, -0.6),), shape="sphere")),
        },
        obstacles=[floor((0.0, 0.0, -0.7), rpy=(0.1, 0.2, 0.0))],
        margin=1.0,
    ),
}


@pytest.mark.parametrize("scene", SCENES)
def test_normal_rows_are_the_derivatives_of_the_gap(scene):
    simulation = SCENES[scene]()
    system: Any = simulation.system
    start = simulation.state
    system.theta.begin_step(start, H)
    stage = system.pipeline
    stage.contacts = stage.detect(start)
    assert stage.contacts.count > 0
    jacobian = system.terms.jacobian
    stage.build_jacobian(stage.contacts, start, jacobian)
    rng = np.random.default_rng(3)
    for _ in range(5):
        v = rng.normal(size=system.nv)
        expected = jacobian.multiply(v)[:, 0]
        gaps = []
        for sign in (1, -1):
            moved = system.new_state()
            system.integrate(start, v, sign * 1e-6, start, moved)
            gaps.append(stage.gap_at(stage.contacts, moved, np.full(stage.contacts.count, np.nan)))
        assert not np.isnan(gaps).any()
        assert np.allclose((gaps[0] - gaps[1]) / 2e-6, expected, atol=1e-8)


@pytest.mark.parametrize("scene", SCENES)
def test_normal_and_tangents_are_orthonormal(scene):
    simulation = SCENES[scene]()
    system: Any = simulation.system
    stage = system.pipeline
    system.theta.begin_step(simulation.state, H)
    stage.contacts = stage.detect(simulation.state)
    stage.assign_tangents(stage.contacts)
    basis = contact_axes(stage.contacts, 3)
    assert np.allclose(basis @ basis.swapaxes(1, 2), np.eye(3), atol=rounding(32))
    assert np.allclose(np.linalg.det(basis), 1.0)


@pytest.mark.parametrize("order", ["upper first", "lower first"])
@pytest.mark.parametrize("place", [0.3, 0.5])
@pytest.mark.parametrize("kind", ["semi-implicit", "midpoint", "penalty"])
def test_crossed_rods_rest_and_split_their_load_by_the_lever_rule(order, place, kind):
    """The upper rod (1 kg and 3 kg) balances at its lever point on a clamped lower one, at `place` along that."""
    x = place - 0.5
    # balanced where m₁·s = m₂·(1 − s): s = 3/4
    upper = rod(((x, -0.75, 0.1), (x, 0.25, 0.1)), masses=(1.0, 3.0))
    lower = rod(((-0.5, 0.0, 0.0), (0.5, 0.0, 0.0)), driven=(0, 1), links=())
    models = {"upper": upper, "lower": lower}
    if order == "lower first":
        models = {"lower": lower, "upper": upper}
    integrator = None
    if kind != "semi-implicit":
        integrator = ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=H))
    solver = None
    if kind == "penalty":
        stiffness = 4 * G / 1e-3  # a linear layer of 1 mm that rests at gap 0
        solver = Penalty(PenaltyConfig(stiffness=stiffness, power=1, thickness=1e-3))
    simulation = world(models, integrator, solver=solver, friction=0.5)
    simulation.run(0.02)
    record = simulation.contacts()
    assert record.normal_impulse == pytest.approx([4 * G * H], rel=1e-6)
    assert np.abs(record.normal[0]) == pytest.approx([0, 0, 1], abs=1e-9)
    assert np.sign(record.normal[0, 2]) == (1 if order == "upper first" else -1)
    reaction = simulation.system.reaction().reshape(2, 3)
    share = np.array([1 - place, place])
    assert reaction[:, 2] == pytest.approx(H * G * (1.0 + 4 * share), rel=1e-6)
    assert np.abs(simulation.state.v).max() < 1e-6


@pytest.mark.parametrize("self_contact", [False, True])
def test_colliding_rods_keep_linear_and_angular_momentum(self_contact):
    ends = ((-0.5, 0.1, 0.0), (0.5, -0.1, 0.0)), ((0.1, -0.4, 0.13), (0.0, 0.6, 0.12))
    fast = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    down = (0.1, 0.0, -2.0), (0.0, 0.2, -2.5)
    if self_contact:
        config = PointChainConfig(
            masses=(1.0, 2.0, 0.5, 1.5),
            positions=(*ends[0], *ends[1]),
            velocities=(*fast, *down),
            links=("none", "rod", "none", "rod"),
            shape="edge",
            radius=0.05,
            self_contact=True,
        )
        models = {"both": PointChain(config, BuildContext(gravity=WEIGHTLESS))}
    else:
        models = {
            "a": rod(ends[0], (1.0, 2.0), fast, WEIGHTLESS),
            "b": rod(ends[1], (0.5, 1.5), down, WEIGHTLESS),
        }
    midpoint = ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=H))
    simulation = world(models, midpoint)
    masses = np.array([1.0, 2.0, 0.5, 1.5])

    def momenta():
        x, v = simulation.state.q.reshape(4, 3), simulation.state.v.reshape(4, 3)
        return masses @ v, (masses[:, None] * np.cross(x, v)).sum(axis=0)

    linear, angular = momenta()
    hit = 0.0
    for _ in range(60):
        simulation.step()
        record = simulation.contacts()
        hit += record.normal_impulse.sum()
        now = momenta()
        assert now[0] == pytest.approx(linear, abs=1e-12)
        # rows at the midpoint: what acts along one line there turns nothing
        assert now[1] == pytest.approx(angular, abs=1e-8)
    assert hit > 0.1


@pytest.mark.parametrize("kinds", [("half-space", "sphere"), ("sphere", "half-space")])
def test_a_half_space_carried_by_a_body_is_refused_before_the_first_step(kinds):
    stage = SCENES["ball on ball"]().system.pipeline
    assert stage is not None
    detector = ReferenceDetector()
    with pytest.raises(ValueError, match="carried by a body"):
        detector.prepare(evolve(stage.scene.table, kind=kinds), detector.supported_pairs)


@given(st.lists(st.floats(-1, 1), min_size=12, max_size=12))
@settings(max_examples=40, deadline=None)
def test_closest_points_of_segments_are_closer_than_any_sampled_pair(numbers):
    a0, a1, b0, b1 = np.array(numbers).reshape(4, 3)
    if np.linalg.norm(a1 - a0) < 1e-2 or np.linalg.norm(b1 - b0) < 1e-2:
        return
    s, t = closest_points(a0, a1, b0, b1)
    found = np.linalg.norm(a0 + s * (a1 - a0) - b0 - t * (b1 - b0))
    grid = np.linspace(0, 1, 21)
    left = a0 + grid[:, None] * (a1 - a0)
    right = b0 + grid[:, None] * (b1 - b0)
    sampled = np.linalg.norm(left[:, None] - right[None], axis=2).min()
    assert found <= sampled + 1e-9
