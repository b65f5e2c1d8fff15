"""Rigid bodies in contact through the whole stack against the closed forms of elementary mechanics."""

import math
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corekit
from corekit.data.contacts import ContactMode
from corekit.data.status import Status
from corekit.errors import ControlError
from corekit.geometry.frames import rotation_from_quat_wxyz
from corekit.scenario.load import from_document
from corekit_testing.rounding import rounding

G = 9.81
BALL = {"shape": "sphere", "size": [0.1], "mass": 2.0}


def world(
    bodies, *, step=1e-3, slope=0.0, azimuth=0.0, friction=None, form="linearly-implicit", tilted=False
):
    """Bodies on a floor; a slope is gravity that leans, or (`tilted`) a floor that does."""
    gravity = [0.0, 0.0, -G]
    plane: dict[str, object] = {"name": "floor", "shape": "half-space"}
    if tilted:
        plane["rotation_rpy"] = [0.0, slope, 0.0]
    else:
        along = G * math.sin(slope)
        gravity = [along * math.cos(azimuth), along * math.sin(azimuth), -G * math.cos(slope)]
    if friction is not None:
        plane["friction"] = friction
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "rigid",
            "time": {"duration": 1.0, "step": step},
            "world": {"gravity": gravity, "obstacles": [plane]},
            "bodies": [{"use": "rigid", **body} for body in bodies],
            "contact": {
                "detector": {"use": "sdf"},
                "solver": {"use": "lcp", "options": {"friction_directions": 8, "lcp_solver": "lemke"}},
            },
            "integrator": {"use": "semi-implicit-euler", "options": {"form": form}},
            "output": {"every": step},
        }
    ).compose()


def ball(name="ball", at=(0.0, 0.0, 0.1), **initial):
    return {
        "name": name,
        "base": {"position": list(at)},
        "options": BALL,
        "initial": {key: list(value) for key, value in initial.items()},
    }


@pytest.mark.parametrize(
    ("options", "half_height", "contacts"),
    [
        ({"shape": "box", "size": [0.2, 0.3, 0.1], "mass": 3.0}, 0.05, 4),
        ({"shape": "disk", "size": [0.2, 0.02], "mass": 3.0}, 0.01, 4),
        (
            {
                "shape": "polytope",
                "vertices": [[0, 0, -0.05], [0.3, 0, -0.05], [0, 0.3, -0.05], [0.05, 0.05, 0.3]],
                "mass": 3.0,
            },
            0.05,
            3,
        ),
        ({"shape": "sphere", "size": [0.1], "mass": 3.0}, 0.1, 1),
    ],
)
def test_a_body_at_rest_is_carried_by_exactly_its_weight(options, half_height, contacts):
    body = {"name": "it", "base": {"position": [0.1, 0.2, half_height]}, "options": options}
    simulation = world([body], friction=0.5)
    for _ in range(50):
        simulation.step()
    record = simulation.contacts()
    assert record.count == contacts
    assert record.normal_impulse.sum() == pytest.approx(1e-3 * 3.0 * G, rel=1e-7)
    assert np.abs(record.tangential_impulse).max() < 1e-9
    assert np.abs(simulation.state.v).max() < 1e-8
    # no torque is left: the centre of pressure lies under the centre of mass
    pressure = record.normal_impulse @ record.point[:, :2] / record.normal_impulse.sum()
    np.testing.assert_allclose(pressure, simulation.state.q[:2], atol=1e-8)


def test_a_ball_rolls_down_with_five_sevenths_of_gravity_s_part():
    slope = 0.3  # tan < 7/2·μ: no slip
    simulation = world([ball()], slope=slope, friction=0.5)
    simulation.run(0.5)
    v = simulation.state.v
    expected = 5 / 7 * G * math.sin(slope) * 0.5
    assert v[0] == pytest.approx(expected, rel=1e-7)
    assert simulation.state.q[0] == pytest.approx(0.5 * expected * 0.5, rel=3e-3)
    R = rotation_from_quat_wxyz(simulation.state.q[3:7])
    np.testing.assert_allclose(R @ v[3:], (0.0, expected / 0.1, 0.0), atol=1e-6)
    assert simulation.contacts().mode.tolist() == [ContactMode.STICK]


def test_a_ball_rolls_down_a_tilted_floor_as_under_leaning_gravity():
    slope = 0.3
    normal = np.array([math.sin(slope), 0.0, math.cos(slope)])
    simulation = world([ball(at=0.1 * normal)], slope=slope, tilted=True, friction=0.5)
    simulation.run(0.5)
    down = np.array([math.cos(slope), 0.0, -math.sin(slope)])
    assert simulation.state.v[:3] @ down == pytest.approx(5 / 7 * G * math.sin(slope) * 0.5, rel=1e-6)
    assert simulation.state.v[:3] @ normal == pytest.approx(0.0, abs=1e-7)


def test_on_a_steep_slope_a_ball_slides_and_spins_up_by_friction_alone():
    slope, mu = 1.0, 0.2  # tan > 7/2·μ
    simulation = world([ball()], slope=slope, friction=mu)
    simulation.run(0.2)
    v = simulation.state.v
    assert v[0] == pytest.approx(0.2 * G * (math.sin(slope) - mu * math.cos(slope)), rel=1e-5)
    assert np.linalg.norm(v[3:]) == pytest.approx(0.2 * 2.5 * mu * G * math.cos(slope) / 0.1, rel=1e-5)
    assert simulation.contacts().mode.tolist() == [ContactMode.SLIDE]


def test_a_hoop_s_and_a_disk_s_inertia_decide_how_they_roll():
    """a = g·sin α/(1 + I/(m·r²)) of a cylinder lying on its side, filled or hollow."""
    slope = 0.2
    side = {"position": [0.0, 0.0, 0.1], "rotation_rpy": [math.pi / 2, 0.0, 0.0]}
    solid = {"shape": "cylinder", "size": [0.1, 0.2], "mass": 2.0}
    # all mass on the mantle: I_zz = m·r², I_xx = m·(r²/2 + l²/12)
    hollow = {**solid, "inertia": [2.0 * (0.005 + 0.04 / 12)] * 2 + [0.02]}
    for options, share in ((solid, 1 / 1.5), (hollow, 1 / 2)):
        simulation = world([{"name": "it", "base": side, "options": options}], slope=slope, friction=0.5)
        simulation.run(0.2)
        assert simulation.state.v[0] == pytest.approx(share * G * math.sin(slope) * 0.2, rel=1e-6)


@pytest.mark.parametrize("direction", [0, 1, 3])
def test_a_sliding_ball_ends_up_rolling_at_five_sevenths_of_its_speed(direction):
    speed, mu, azimuth = 1.0, 0.4, 2 * math.pi * direction / 8
    start = (speed * math.cos(azimuth), speed * math.sin(azimuth), 0.0)
    simulation = world([ball(velocity=start)], friction=mu)
    time_to_roll = 2 * speed / (7 * mu * G)
    simulation.run(0.9 * time_to_roll)
    assert simulation.contacts().mode.tolist() == [ContactMode.SLIDE]
    simulation.run(2.0 * time_to_roll)
    assert simulation.contacts().mode.tolist() == [ContactMode.STICK]
    np.testing.assert_allclose(simulation.state.v[:3], 5 / 7 * np.array(start), atol=1e-3)


def test_two_balls_that_collide_keep_their_momentum_and_angular_momentum_to_rounding():
    one = ball("one", (0.0, 0.0, 5.0), velocity=(1.0, 0.2, 0.0), angular_velocity=(3.0, -2.0, 5.0))
    two = {**ball("two", (0.25, 0.05, 5.02), velocity=(-0.5, 0.0, 0.1)), "friction": 0.6}
    two["options"] = {"shape": "sphere", "size": [0.08], "mass": 0.7}
    one["friction"] = 0.6
    simulation = world([one, two], friction=0.6)

    masses, radii, gravity = np.array([2.0, 0.7]), (0.1, 0.08), np.array([0.0, 0.0, -G])
    pressed = dragged = 0.0
    while simulation.time < 0.08:
        before = simulation.state.copy()
        simulation.step()
        linear, angular = np.zeros(3), np.zeros(3)
        for start, end, m, r in zip(
            before.body_states, simulation.state.body_states, masses, radii, strict=True
        ):
            # impulses act where the bodies are at the start of the step
            R, change = rotation_from_quat_wxyz(start.q[3:]), end.v - start.v
            own = m * (change[:3] - 1e-3 * gravity)
            linear += own
            angular += np.cross(start.q[:3], own) + 0.4 * m * r * r * R @ change[3:]
        # 2 kg·(1 m/s): differences of momenta; about the origin at a lever of 5 m
        np.testing.assert_allclose(linear, 0.0, atol=rounding(64, 2.0))
        np.testing.assert_allclose(angular, 0.0, atol=rounding(64, 2.0, 5.0))
        record = simulation.contacts()
        pressed = max(pressed, np.max(record.normal_impulse, initial=0.0))
        dragged = max(dragged, np.max(np.abs(record.tangential_impulse), initial=0.0))
    assert pressed > 0.1
    assert dragged > 0.02  # it turns them too


ARM = Path(__file__).parents[2] / "scenarios" / "teaching" / "arm_pushes_ball.toml"


def test_an_arm_s_push_lets_a_ball_roll_away():
    simulation = corekit.load(ARM).compose()
    statuses, residuals, touched = set(), [], 0
    for _ in range(300):
        report = simulation.step()
        statuses.add(report.solve_info.status)
        residuals.append(report.solve_info.residuals.worst)
        record = simulation.contacts()
        owners = record.shape[record.normal_impulse > 0]
        touched += bool(len(owners) == 2)
    assert statuses == {Status.CONVERGED}
    assert max(residuals) < 1e-7
    assert touched >= 10  # the floor and the arm at once
    state = simulation.state.body_states[1]
    assert state.v[1] > 0.1
    assert abs(state.v[0]) < 1e-3
    assert state.q[2] == pytest.approx(0.06, abs=1e-5)
    assert state.v[3] == pytest.approx(-state.v[1] / 0.06, rel=1e-3)  # it rolls


@pytest.mark.parametrize("options", ["box", "prism"])
def test_a_thrown_body_comes_to_rest_on_a_face_and_gains_no_energy_but_that_of_push_out(options):
    """A corner at the depth d leaves with push_out·d, ½·m·(push_out·d·D/L)²: it turns about an edge L away, |x| ≤ D."""
    ring = [[0.1 * math.cos(k * math.pi / 3), 0.1 * math.sin(k * math.pi / 3)] for k in range(6)]
    shapes = {
        "box": {"shape": "box", "size": [0.1, 0.2, 0.06]},
        "prism": {"shape": "polytope", "vertices": [[*xy, z] for xy in ring for z in (0.0, 0.08)]},
    }
    base = {"position": [0.0, 0.0, 0.2], "rotation_rpy": [0.3, 0.4, 0.5]}
    chosen = {**shapes[options], "mass": 1.0}
    body = {"name": "it", "base": base, "options": chosen, "initial": {"velocity": [0.5, 0.0, 0.0]}}
    simulation = world([body], friction=0.5, step=2e-3)
    model: Any = simulation.bodies[0].model
    mass, farthest, nearest, push_out = 1.0, 0.25, 0.06, 20.0
    statuses = set()
    energy = sum(model.compute_energies(simulation.state.body_states[0]))
    for _ in range(500):
        statuses.add(simulation.step().solve_info.status)
        before, energy = energy, sum(model.compute_energies(simulation.state.body_states[0]))
        depth = max(0.0, -simulation.contacts().gap.min(initial=0.0))
        assert energy - before < 1e-9 + 0.5 * mass * (push_out * depth * farthest / nearest) ** 2
    assert statuses == {Status.CONVERGED}
    assert np.abs(simulation.state.v).max() < 1e-7
    assert simulation.contacts().count == 4
    up = np.abs(rotation_from_quat_wxyz(simulation.state.q[3:])[2]).max()
    assert up == pytest.approx(1.0, abs=1e-6)  # one of its axes stands upright


@pytest.mark.parametrize("form", ["explicit", "linearly-implicit"])
def test_a_free_tumbling_body_loses_angular_momentum_only_in_proportion_to_the_step(form):
    options = {"shape": "box", "size": [0.1, 0.2, 0.3], "mass": 2.0}
    spin = {"angular_velocity": [1.0, 4.0, 0.5]}
    inertia, errors = 2.0 / 12 * np.array([0.13, 0.1, 0.05]), []
    for step in (2e-3, 1e-3):
        body = {"name": "it", "base": {"position": [0, 0, 9]}, "options": options, "initial": spin}
        simulation = world([body], step=step, form=form)
        simulation.run(0.5)
        R = rotation_from_quat_wxyz(simulation.state.q[3:])
        errors.append(np.linalg.norm(R @ (inertia * simulation.state.v[3:]) - inertia * (1.0, 4.0, 0.5)))
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 0.01 * np.linalg.norm(inertia * (1.0, 4.0, 0.5))


TUMBLERS = [
    ({"shape": "capsule", "size": [0.012, 0.041], "mass": 0.43}, (50.0, 5.0, 80.0)),
    ({"shape": "box", "size": [0.02, 0.03, 0.05], "mass": 0.43}, (100.0, 3.0, 100.0)),
    # about its middle axis it turns over again and again
    ({"shape": "box", "size": [0.02, 0.03, 0.05], "mass": 0.43}, (0.1, 50.0, 0.1)),
]


@pytest.mark.parametrize(("options", "spin"), TUMBLERS)
def test_a_tumbling_body_keeps_its_energy_in_semi_implicit_steps(options, spin):
    """Kahan's discretisation of Euler's equations: no drift in a thousand steps of up to 0.14 rad each."""
    body = {"name": "it", "base": {"position": [0, 0, 9]}, "options": options}
    simulation = world([{**body, "initial": {"angular_velocity": list(spin)}}])
    model, own = simulation.bodies[0].model, simulation.state.body_states[0]
    mass, force = model.new_mass_matrix(), np.zeros(6)
    model.compute_mass_and_force(own, np.zeros(6), mass, force)
    inertia = mass.dense()[3:, 3:]

    def hat(a):
        return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])

    expected = np.array(spin)
    energy, momentum = expected @ inertia @ expected, np.linalg.norm(inertia @ expected)
    for _ in range(1000):
        turned = hat(expected) @ inertia - hat(inertia @ expected)
        expected = expected - np.linalg.solve(
            inertia + 5e-4 * turned, 1e-3 * np.cross(expected, inertia @ expected)
        )
        simulation.step()
        w = simulation.state.v[3:]
        assert w @ inertia @ w == pytest.approx(energy, rel=1e-2)
        assert np.linalg.norm(inertia @ w) == pytest.approx(momentum, rel=1e-2)
        assert w == pytest.approx(expected, abs=1e-6 * np.linalg.norm(spin))


SPINNER: Any = {
    "links": [
        {
            "name": "body", "kind": "rigid", "joint": {"kind": "free"}, "mass": 0.43,
            "inertia": [1.3e-4, 1.6e-4, 2.9e-5], "tip": [0.001, 0.0, 0.0], "radius": 0.005,
        },
        {
            "name": "tail", "on": "body.tip",
            "divisions": [
                {
                    "length": 0.1, "radius": 0.01, "young": 1e6, "density": 1000.0, "viscosity": 1e3,
                    "strain": [{"kind": "legendre", "order": 1, "modes": ["bend-y", "bend-z"]}],
                }
            ],
        },
    ]
}  # fmt: skip


MANY_MODES = deepcopy(SPINNER)
MANY_MODES["links"][1]["divisions"][0]["strain"][0]["order"] = 9
"""26 velocities in all."""


@pytest.mark.parametrize(
    ("use", "options"),
    [
        ("gvs", SPINNER),
        ("gvs", MANY_MODES),
        ("rigid", {"shape": "box", "size": [0.02, 0.03, 0.05], "mass": 0.43}),
    ],
)
def test_a_contact_that_never_comes_changes_no_free_motion(use, options):
    """Impulses need a symmetric matrix; what it lacks of inertia's derivatives is on the right side."""
    ends = []
    for contact in ({}, {"contact": {"detector": "sdf", "solver": "lcp", "friction": 0.3}}):
        simulation = from_document(
            {
                "format": "corekit-scenario/1", "name": "free", "time": {"duration": 1.0, "step": 1e-3},
                "world": {"obstacles": [{"name": "floor", "shape": "half-space", "position": [0.0, 0.0, -20.0]}]},
                "bodies": [{"name": "it", "use": use, "options": options}],
                "integrator": {"use": "semi-implicit-euler"}, **contact,
            }
        ).compose()  # fmt: skip
        velocities = simulation.bodies[0].description.velocities
        turns = [i for i, each in enumerate(velocities) if each.unit == "rad/s"][:3]
        simulation.state.v[turns] = [20.0, 5.0, 30.0]
        simulation.run(0.2)
        ends.append(simulation.state.v.copy())
    assert np.abs(ends[0]).max() > 10.0
    assert ends[1] == pytest.approx(ends[0], rel=1e-7, abs=1e-7)


def test_stiff_angular_damping_stops_a_spin_at_any_step():
    """50 times stiffer than the step: it is D₀ that is taken whole, and a spin never changes its sign."""
    options = {"shape": "box", "size": [0.02, 0.03, 0.05], "mass": 0.43, "angular_damping": 5.0}
    body = {
        "name": "it",
        "use": "rigid",
        "options": options,
        "initial": {"angular_velocity": [20.0, 3.0, 10.0]},
    }
    simulation = from_document(
        {
            "format": "corekit-scenario/1", "name": "spin", "time": {"duration": 1.0, "step": 1e-3},
            "bodies": [body], "integrator": {"use": "semi-implicit-euler"},
        }
    ).compose()  # fmt: skip
    before = simulation.state.v[3:].copy()
    for _ in range(5):
        simulation.step()
        after = simulation.state.v[3:].copy()
        assert (after * before >= 0.0).all()
        assert (np.abs(after) < 0.1 * np.abs(before)).all()
        before = after


@pytest.mark.parametrize("use", ["rigid", "gvs"])
def test_a_state_of_zeros_has_no_orientation_and_is_refused(use):
    """A quaternion of zeros made a force no number, a rotation of zeros in aux M zero in silence."""
    division = {
        "length": 0.3, "radius": 0.01, "young": 1e6, "density": 1e3, "strain": [{"kind": "legendre", "order": 2}]
    }  # fmt: skip
    options = {
        "rigid": {"shape": "sphere", "size": [0.1], "mass": 1.0},
        "gvs": {"links": [{"name": "arm", "joint": {"kind": "free"}, "divisions": [division]}]},
    }
    simulation = world([{"name": "it", "use": use, "options": options[use]}])
    with pytest.raises(ControlError, match=r"no orientation for body 'it'.*compute_initial_state"):
        simulation.reset(state=simulation.system.new_state())
    simulation.reset()
    turned = simulation.system.new_state()
    turned.q[:], turned.aux[:] = simulation.state.q, simulation.state.aux
    simulation.reset(state=turned)
    simulation.step()
