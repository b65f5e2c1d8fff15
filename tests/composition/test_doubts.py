"""What `corekit check` and a run doubt: bounds of geometry or physics, each told in one sentence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit.roles.model import Outline
from corekit.scenario.doubts import find_doubts
from corekit.scenario.load import from_document
from corekit_inspect.edge_friction import edge_friction_doubts
from corekit_inspect.impossible_inertia import inertia_doubt
from corekit_inspect.sharp_bends import bend_doubts, sharpest_bend
from corekit_run.running import run

OSMIUM = 22.6e3


def world(body, integrator="implicit-euler", duration=0.2, **about):
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "doubtful", "time": {"duration": duration, "step": 1e-3},
            "bodies": [{"name": "body", **body}], "integrator": {"use": integrator}, **about,
        }
    )  # fmt: skip


def doubts(scenario):
    return find_doubts(scenario, scenario.compose())


def rod(load=None, section=None, **options):
    """A soft rod of 0.2 m and 24 mm, EI = 1.6e-4 N·m², with a torque [N·m] about y at its tip that follows it."""
    division = {
        "length": 0.2, "radius": 0.012, "young": 1e4, "viscosity": 100.0,
        "strain": [{"kind": "legendre", "order": 3, "modes": ["bend-y", "bend-z"]}],
        **(section or {}),
    }  # fmt: skip
    links = [{"name": "a", "divisions": [division]}]
    loads = [{"name": "t", "at": "a.tip", "follows": True}]
    inputs = [] if load is None else [{"channel": "load-t", "signal": [0.0, load, 0.0, 0.0, 0.0, 0.0]}]
    return {"use": "gvs", "options": {"links": links, "loads": loads, **options}, "inputs": inputs}


def weightless(body, **about):
    return world(body, world={"gravity": [0.0, 0.0, 0.0]}, **about)


def test_a_load_that_winds_a_rod_up_is_doubted_with_its_turns():
    """κ = M/EI: 1 N·m bends by M·L/EI = 1228 rad, 195 turns, where the radius allows 1/r = 83 rad/m, 2.65 turns."""
    stiffness = 1e4 * math.pi / 4 * 0.012**4
    turns = 0.2 / stiffness / (2.0 * math.pi)
    (said,) = doubts(weightless(rod(1.0)))
    assert f"by {turns:.3g} turns in 0.2 m" in said
    just = stiffness / 0.012
    assert doubts(weightless(rod(0.98 * just))) == []
    assert len(doubts(weightless(rod(1.02 * just)))) == 1


def test_a_run_tells_where_a_body_is_bent_as_nothing_can_be(tmp_path, monkeypatch):
    """Once in the run, beside what the input lets expect at its start."""
    monkeypatch.chdir(tmp_path)
    told = []
    scenario = weightless(rod(1e-3), duration=0.1)
    run(scenario, warn=told.append)
    assert told == []
    run(weightless(rod(1.0), duration=0.02), warn=told.append)
    assert any("it turns at least" in each and "its radius of 12 mm" in each for each in told)
    assert any("rad in a step of 0.00" in each for each in told)


def circle(curvature, radius, count=40):
    """A polyline on an arc of 1 m."""
    angle = np.linspace(0.0, curvature, count)
    points = np.column_stack([np.sin(angle), np.zeros(count), 1.0 - np.cos(angle)]) / curvature
    return Outline(points, np.full(count, radius))


def test_the_sharpness_of_an_arc_is_radius_times_curvature():
    for curvature in (0.1, 3.0):
        sharp, turned, length, radius = sharpest_bend(circle(curvature, 0.02))
        # the polyline has no angle at its two ends, and chords are shorter by κ²l²/24
        assert sharp == pytest.approx(0.02 * curvature * 38 / 39, rel=(curvature / 39) ** 2)
        assert (turned, length, radius) == pytest.approx((curvature * 38 / 39, 1.0, 0.02), rel=1e-3)


@pytest.mark.parametrize(("shape", "size"), [("capsule", [0.001, 1.0]), ("cylinder", [0.001, 1.0])])
def test_a_slender_rigid_shape_is_bent_nowhere(shape, size):
    """Its lines are drawn thinner than it is, however long it is."""
    pytest.importorskip("corekit_rigid")
    body = {"name": "needle", "use": "rigid", "options": {"shape": shape, "size": size, "mass": 0.1}}
    world = {
        "format": "corekit-scenario/1", "name": "needle", "time": {"duration": 1.0, "step": 1e-3}, "bodies": [body],
        "integrator": {"use": "semi-implicit-euler"},
    }  # fmt: skip
    assert not list(bend_doubts(from_document(world).compose(), "at the start"))


def test_a_kink_is_no_sharp_bend():
    """A chain of five links, one joint turned by 150°: sharper than its radius there, and not as a whole."""
    points = np.array(
        [[0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0.113, 0.05, 0], [0.027, 0.1, 0], [-0.06, 0.15, 0]]
    )
    assert sharpest_bend(Outline(points, np.full(6, 0.04)))[0] < 1.0


@pytest.mark.parametrize(("signal", "is_doubted"), [(0.5, True), (5e4, False), (0.0, False)])
def test_a_pressure_in_bar_is_doubted(signal, is_doubted):
    """0.5 for 0.5 bar bends the arm by 1e-5 of what was meant."""
    body = {
        "use": "pcc",
        "options": {
            "sections": 1, "length": 0.2,
            "material": {"young": 2e5, "density": 1100.0, "outer_radius": 0.02, "chamber_area": 5e-5},
        },
        "inputs": [{"channel": "pressure", "signal": [signal, 0.0, 0.0]}],
    }  # fmt: skip
    found = [each for each in doubts(world(body)) if "1 bar is 1e5 Pa" in each]
    assert len(found) == is_doubted


def ball(moments, turning=(0.0, 0.0, 0.0), inputs=()):
    return {
        "inputs": list(inputs),
        "use": "rigid",
        "options": {"shape": "sphere", "size": [0.1], "mass": 1.0, "inertia": list(moments)},
        "initial": {"angular_velocity": list(turning)},
    }


def test_moments_below_those_of_the_densest_ball_are_doubted():
    """A ball of osmium itself passes, one of a hundredth more density does not."""
    for density, is_doubted in ((OSMIUM, False), (1.01 * OSMIUM, True)):
        radius = (3.0 / (4.0 * math.pi * density)) ** (1 / 3)
        moment = 0.4 * radius**2 * (1 + 1e-12)
        assert bool(inertia_doubt(1.0, (moment,) * 3)) is is_doubted
    (said,) = doubts(world(ball((7e-7,) * 3)))
    assert said.startswith(
        "bodies.body.options.inertia: moments of 7e-07, 7e-07, 7e-07 kg·m² are below those of any"
    )
    assert doubts(world(ball((4e-3,) * 3))) == []


def test_a_thread_has_a_moment_of_nearly_nothing_and_a_point_none():
    """Steel, 1 m long and 0.1 mm thick: 1.2e-12 kg·m² about itself, and a twelfth of m·L² about the others."""
    mass = 7800.0 * math.pi / 4 * 1e-4**2
    assert inertia_doubt(mass, (mass * 1e-8 / 8, mass / 12, mass / 12)) == ""
    assert inertia_doubt(1.0, (0.0, 0.0, 0.0)) == ""


def test_a_robot_description_with_moments_of_another_unit_is_doubted(tmp_path):
    pytest.importorskip("corekit_import")
    (tmp_path / "arm.urdf").write_text(
        '<robot name="r"><link name="base"></link><link name="arm"><inertial><mass value="1"/><inertia ixx="7e-07" '
        'ixy="0" ixz="0" iyy="7e-07" iyz="0" izz="7e-07"/></inertial></link><joint name="j" type="continuous">'
        '<parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>'
    )
    body = {"use": "gvs", "options": {"robot": {"file": str(tmp_path / "arm.urdf")}}}
    (said,) = doubts(world(body))
    assert "bodies.body.options.robot: links[1].inertia: moments of 7e-07" in said


@pytest.mark.parametrize(("speed", "is_doubted"), [(999.0, False), (1001.0, True)])
def test_a_body_that_turns_by_more_than_a_radian_in_a_step_is_doubted(speed, is_doubted):
    found = doubts(world(ball((4e-3,) * 3, (0.0, 0.0, speed))))
    assert [("it turns by 1 rad in a step of 0.001 s" in each) for each in found] == [True] * is_doubted


def test_a_turn_that_begins_in_the_run_is_told_once(tmp_path, monkeypatch):
    """400 N·m turn the ball faster by 100 rad/s a step: 1 rad a step is passed in the tenth or eleventh."""
    monkeypatch.chdir(tmp_path)
    told = []
    body = ball((4e-3,) * 3, inputs=[{"channel": "wrench", "signal": [0.0, 0.0, 0.0, 0.0, 0.0, 400.0]}])
    run(world(body, "semi-implicit-euler", duration=0.02), warn=told.append)
    assert len(told) == 1
    assert "at 0.01" in told[0]


@pytest.mark.parametrize(("options", "is_doubted"), [({}, True), ({"gyroscopic": True}, False)])
def test_a_run_tells_once_of_a_spin_whose_momentum_is_left_out(tmp_path, monkeypatch, options, is_doubted):
    monkeypatch.chdir(tmp_path)
    told = []
    points = [[x, 0.0, 0.0] for x in (-0.15, -0.05, 0.05, 0.15)]
    limb = {"points": points, "radius": 0.01, "young": 1e8}
    turning = {"limb": "rod", "spin": 300.0, "velocities": [[0.0, 6.0 * x, 0.0] for x, _, _ in points]}
    body = {"use": "der", "options": {"limbs": [limb], **options}, "initial": {"limbs": [turning]}}
    run(weightless(body, duration=0.01), warn=told.append)
    assert [each.startswith("bodies.body: at 0.001 s it spins about its own axis") for each in told] == [
        True
    ] * is_doubted


@pytest.mark.parametrize(
    ("section", "reach"),
    [
        ({"radius": 0.012}, 0.012),
        ({"section": "rectangle", "height": 0.006, "width": 0.008}, 0.005),
        ({"section": "ellipse", "height": 0.006, "width": 0.008}, 0.004),
    ],
)
def test_a_chamber_outside_of_the_section_is_doubted(section, reach):
    """Its centre lies beyond the circle around all of the section."""
    for y, is_doubted in ((0.99 * reach, False), (1.01 * reach, True), (4.5, True)):
        body = rod(section=section, chambers=[{"name": "side", "link": "a", "area": 1e-6, "y": y}])
        found = doubts(weightless(body))
        assert [f"chambers[0] runs {1e3 * y:.3g} mm beside the axis" in each for each in found] == [
            True
        ] * is_doubted
        assert all("give y and z in metres" in each for each in found)


@pytest.mark.parametrize(("radius", "is_doubted"), [(0.05, False), (4.5, True)])
def test_chambers_of_an_arm_without_a_material_are_doubted_where_it_is_longer_nowhere(radius, is_doubted):
    found = doubts(world({"use": "pcc", "options": {"chamber_radius": radius}}))
    assert [each.startswith("bodies.body: chamber_radius = 4.5 m") for each in found] == [True] * is_doubted


@pytest.mark.parametrize(
    ("along", "across", "options", "is_doubted"),
    [
        (0.0, 3.0, {}, True), (0.0, 0.9, {}, False), (3.0, 0.0, {}, False),
        (0.0, 3.0, {"collision": "capsules"}, False), (3.0, 0.0, {"planar": True}, False),
    ],
)  # fmt: skip
def test_friction_that_would_roll_a_rod_of_edges_is_doubted_with_its_size(along, across, options, is_doubted):
    """A rod at rest on a plane: of its weight's share across it, a tenth of that on the plane may be left unsaid."""
    for needed in ("der", "lcp", "sdf"):
        pytest.importorskip(f"corekit_{needed}")
    limb = {
        "name": "rod", "start": [-0.1, 0.0, 0.01], "end": [0.1, 0.0, 0.01], "nodes": 3, "radius": [0.01],
        "young": [1e6], "density": [1000.0],
    }  # fmt: skip
    simulation = world(
        {"use": "der", "options": {"limbs": [limb], **options}},
        world={
            "gravity": [along, across, -9.81], "obstacles": [{"name": "floor", "shape": "half-space"}],
        },
        contact={"detector": "sdf", "solver": "lcp", "friction": 0.5},
    ).compose()  # fmt: skip
    for _ in range(20):
        simulation.step()
    found = list(edge_friction_doubts(simulation, "now"))
    assert [each.startswith("bodies.body: now friction of ") for each in found] == [True] * is_doubted
    if found:
        # of three nodes the middle one bears half of m = ρ·π·r²·ℓ
        half = 0.5 * 1000.0 * math.pi * 0.01**2 * 0.2 * across
        assert float(found[0].split()[4]) == pytest.approx(half, rel=0.3)
        assert "radius of 10 mm" in found[0]


@pytest.mark.parametrize(
    ("given", "entry"),
    [
        ({"stabilisation": {"approach": 0.2}}, "contact.stabilisation has no effect"),
        ({"impact": {"level": "position"}}, "contact.impact.level has no effect"),
        ({}, None),
    ],
)
def test_what_is_said_of_impulses_is_doubted_where_contact_has_a_potential(given, entry):
    ball = {"use": "rigid", "options": {"shape": "sphere", "size": [0.05], "mass": 0.5}}
    for solver, is_said in (("imc", entry is not None), ("lcp", False)):
        about = {"detector": {"use": "sdf"}, "solver": {"use": solver}, **given}
        found = " ".join(doubts(world(ball, contact=about)))
        assert (f"{entry}: " in found and "'imc' has a potential" in found) == is_said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"restitution": 0.5, "damping": 0.0}, "leave it out where `damping` gives one dashpot"),
        ({"restitution": 0.5}, None),
        ({"damping": 0.1}, None),
    ],
)
def test_a_dashpot_of_all_contacts_leaves_no_room_for_restitution(options, said):
    ball = {"use": "rigid", "options": {"shape": "sphere", "size": [0.05], "mass": 0.5}}
    about = {"detector": {"use": "sdf"}, "solver": {"use": "imc", "options": options}}
    if said is None:
        world(ball, contact=about)
        return
    with pytest.raises(ConfigError, match=said):
        world(ball, contact=about)


def test_an_equilibrium_begins_at_rest():
    ball = {"use": "rigid", "options": {"shape": "sphere", "size": [0.05], "mass": 0.5}}
    moving = {**ball, "initial": {"velocity": [0.0, 0.0, 1.0]}}
    with pytest.raises(ConfigError, match="must leave velocities out: `start"):
        world(moving, start="equilibrium").compose()
    world(moving).compose()
