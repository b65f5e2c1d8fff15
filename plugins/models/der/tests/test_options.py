"""Options of users: tables, nodes, clamps, initial states, collision, and error messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

import corekit
from corekit.data.signals import Ramp, Sine
from corekit.errors import ConfigError
from corekit_der.config import Cable, Clamp, DERConfig, Joint, Limb
from corekit_der.initial_options import BendingMode, DERInitial, LimbStart
from corekit_testing.rounding import rounding

A = Limb(name="a", start=(0.0, 0.0, 0.0), end=(0.5, 0.0, 0.0), nodes=6)
B = Limb(name="b", start=(0.5, 0.0, 0.0), end=(0.5, 0.0, 0.5), nodes=6)

ROUNDED_ENERGY = 0.5 * 1e6 * np.pi * 0.01**2 * 0.5 * rounding(64, 0.5 / 0.1) ** 2
"""½·EA·L·ε² of a limb like A [J]: coordinates within 0.5 m strain edges of 0.1 m by ε; bending is softer."""

MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "two names": ({"limbs": (A, A)}, "its own name"),
    "unknown limb": ({"limbs": (A,), "clamps": (Clamp(at="c.start"),)}, "no limb 'c'"),
    "unknown node": ({"limbs": (A,), "clamps": (Clamp(at="a.17"),)}, "a.0 … a.5"),
    "held twice": (
        {"limbs": (A,), "clamps": (Clamp(at="a.end"), Clamp(at="a.5", kind="pin"))},
        "another clamp",
    ),
    "nodes apart": ({"limbs": (A, B), "joints": (Joint(at=("a.start", "b.end")),)}, "must coincide"),
    "one place": ({"limbs": (A, B), "joints": (Joint(at=("a.start",)),)}, "at least two nodes"),
    "folded": (
        {
            "limbs": (A, Limb(name="c", start=(0.5, 0.0, 0.0), end=(0.1, 0.0, 0.0), nodes=4)),
            "joints": (Joint(at=("a.end", "c.start")),),
        },
        "fold back",
    ),
    "pin that twists": (
        {"limbs": (A,), "clamps": (Clamp(at="a.end", kind="pin", twist=Sine(amplitude=1.0, frequency=1.0)),)},
        "a pin has no twist",
    ),
    "pin that turns": (
        {
            "limbs": (A,),
            "clamps": (Clamp(at="a.end", kind="pin", angle=Sine(amplitude=1.0, frequency=1.0)),),
        },
        r"clamps\[0\].angle.*a pin has no direction to turn",
    ),
    "axis of no turn": (
        {"limbs": (A,), "clamps": (Clamp(at="a.end", axis=(0.0, 1.0, 0.0)),)},
        r"clamps\[0\].axis.*must be left out, or give the `angle`",
    ),
    "three angles": (
        {"limbs": (A,), "clamps": (Clamp(at="a.end", angle=Sine(amplitude=(1.0, 1.0, 1.0), frequency=1.0)),)},
        "3 numbers",
    ),
    "director along": (
        {"limbs": (Limb(start=(0, 0, 0), end=(1, 0, 0), director=(1.0, 0.0, 0.0)),)},
        "along the rod",
    ),
    "out of plane": ({"limbs": (Limb(start=(0, 0, 0), end=(1, 1, 0)),), "planar": True}, "x–z plane"),
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_a_mistake_is_reported(name, rod_of):
    options, message = MISTAKES[name]
    with pytest.raises(ConfigError, match=message):
        rod_of(DERConfig(**options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give start and end, or points"),
        ({"points": ((0, 0, 0), (0, 0, 0))}, "edge 0 has no length"),
        ({"points": ((0, 0, 0), (1, 0, 0)), "closed": True}, "at least 3"),
        ({"start": (0, 0, 0), "end": (1, 0, 0), "natural_curvature": (1.0,)}, "two numbers"),
        (
            {"start": (0, 0, 0), "end": (1, 0, 0), "points": ((0, 0, 0), (1, 0, 0))},
            "start and end, or points",
        ),
        ({"points": ((0, 0, 0), (1, 0, 0)), "nodes": 5}, "nodes: found 5.*the points are the nodes"),
    ],
)
def test_a_limb_without_shape_is_reported(options, message):
    with pytest.raises(ConfigError, match=message):
        Limb(**options)


STRAIGHT: dict[str, Any] = {"start": (0, 0, 0), "end": (1, 0, 0)}


@pytest.mark.parametrize(
    ("kind", "beside", "given", "said"),
    [
        *((Limb, STRAIGHT, {name: 0.02}, "'rectangle'") for name in ("width", "height")),
        *(
            (Limb, STRAIGHT, {name: 0.02}, "'given'")
            for name in ("area", "inertia_1", "inertia_2", "torsion")
        ),
        (Limb, {**STRAIGHT, "section": "rectangle"}, {"area": 0.02}, "'given'"),
        (Limb, {**STRAIGHT, "section": "given"}, {"width": (0.02, 0.01)}, "'rectangle'"),
        (Joint, {"at": ("a.end", "b.start"), "kind": "pin"}, {"stiffness": 2.0}, "it turns freely"),
    ],
)
def test_an_option_that_nothing_would_read_is_refused(kind, beside, given, said):
    with pytest.raises(ConfigError) as caught:
        kind(**beside, **given)
    (found,) = caught.value.mistakes
    assert (found.path,) == tuple(given)
    assert found.allowed.startswith("must be left out")
    assert said in found.allowed
    kind(**beside)


def test_a_choice_is_swapped_by_name_and_says_what_it_leaves_unread(rod):
    cable = Cable(name="c", limb="a", drive="length", stiffness=100.0)
    limb, touches = evolve(A, friction=0.3), {"collision": "edges", "self_contact": True}
    assert not rod(limb, cables=(cable,), **touches).description.doubts
    swapped = rod(
        limb, cables=(evolve(cable, drive="tension"),), **{**touches, "collision": "none"}
    ).description
    assert swapped.doubts == (
        "self_contact does nothing with collision = 'none'",
        "limbs[0].friction does nothing with collision = 'none'",
        "cables[0].stiffness does nothing with cables[0].drive = 'tension'",
    )
    assert [each.name for each in swapped.inputs] == ["tension-c"]
    assert not swapped.shapes


def test_added_mass_of_no_fluid_is_doubted(rod):
    (said,) = rod(evolve(A, added_mass=1.0)).description.doubts
    assert said == "limbs[0].added_mass does nothing without a fluid: give `limbs[0].fluid_density`"
    assert not rod(evolve(A, added_mass=1.0, fluid_density=1000.0)).description.doubts


def test_a_limb_started_twice_is_reported(rod):
    twice = DERInitial(limbs=(LimbStart(limb="a", velocity=(0, 0, 1)), LimbStart(limb="a", spin=1.0)))
    with pytest.raises(ConfigError, match=r"initial\.limbs\[1\]\.limb.*start each limb once"):
        rod(A, initial=twice)


@pytest.mark.parametrize(
    ("initial", "path"),
    [
        ({"limbs": (LimbStart(limb="a", velocity=(0, 1, 0)),)}, r"limbs\[0\]"),
        ({"limbs": (LimbStart(limb="a", velocities=((0, 1, 0),) * 6),)}, r"limbs\[0\]"),
        ({"modes": (BendingMode(limb="a", tip=(0, 1, 0)),)}, r"modes\[0\]\.tip"),
    ],
)
def test_a_start_out_of_the_plane_is_reported(rod, initial, path):
    with pytest.raises(ConfigError, match=rf"initial\.{path}.*a planar rod stays"):
        rod(A, planar=True, initial=DERInitial(**initial))


def test_a_start_away_from_the_clamp_is_reported(rod):
    moved = tuple((x, 0.1, 0.0) for x in np.linspace(0, 0.5, 6))
    start = DERInitial(limbs=(LimbStart(limb="a", points=moved),))
    with pytest.raises(ConfigError, match="start at the clamp"):
        rod(A, clamps=(Clamp(at="a.start"),), initial=start)
    with pytest.raises(ConfigError, match="limbs are a"):
        rod(A, initial=DERInitial(modes=(BendingMode(limb="x", tip=(0, 0, 1)),)))


def test_rest_shape_and_initial_state_are_independent(rod):
    """A straight rod that starts bent and a bent rod with a straight unloaded shape have the same energy."""
    bent = tuple((0.5 * np.sin(a), 0.0, 0.5 * (1 - np.cos(a))) for a in np.linspace(0, 1, 6))
    edge = float(np.linalg.norm(np.subtract(bent[1], bent[0])))
    straight = Limb(name="a", start=(0, 0, 0), end=(5 * edge, 0, 0), nodes=6)
    one = rod(straight, initial=DERInitial(limbs=(LimbStart(limb="a", points=bent),)))
    two = rod(Limb(name="a", points=bent, unloaded="straight"))
    three = rod(Limb(name="a", points=bent))
    assert one.model.compute_energies(one.state)[1] == pytest.approx(
        two.model.compute_energies(two.state)[1], rel=1e-9
    )
    assert one.model.compute_energies(one.state)[1] > 1e-4
    assert three.model.compute_energies(three.state)[1] == pytest.approx(0.0, abs=ROUNDED_ENERGY)


def test_a_start_may_be_turned_by_half_a_turn(rod):
    """A rigidly turned rod has no energy, also at and beyond 180° from the rest shape."""
    for turn in (1.0, np.pi - 1e-3, np.pi, 4.0):
        points = tuple((x * np.cos(turn), 0.0, x * np.sin(turn)) for x in np.linspace(0, 0.5, 6))
        made = rod(A, initial=DERInitial(limbs=(LimbStart(limb="a", points=points),)))
        assert made.model.compute_energies(made.state)[1] == pytest.approx(0.0, abs=ROUNDED_ENERGY)
        assert np.abs(made.force()).max() < 1e-9


def test_a_moving_clamp_prescribes_position_direction_and_twist(rod):
    """After a quarter turn about z and a shift, the clamped edge points along y."""
    clamp = Clamp(
        at="a.start",
        displacement=Ramp(begin=0.0, end=1.0, value=(0.0, 0.0, 0.3), start=(0.0, 0.0, 0.0)),
        angle=Ramp(begin=0.0, end=1.0, value=(np.pi / 2,), start=(0.0,)),
    )
    made = rod(A, clamps=(clamp,))
    value, rate = (
        np.zeros(len(made.description.prescribed_velocity_index)),
        np.zeros(len(made.description.prescribed_velocity_index)),
    )
    made.model.compute_prescribed_motion(1.0, value, rate)
    prescribed = dict(
        zip((made.names[k] for k in made.description.prescribed_velocity_index), value, strict=True)
    )
    assert [prescribed[f"a-0-{axis}"] for axis in "xyz"] == pytest.approx([0.0, 0.0, 0.3])
    assert [prescribed[f"clamp-a-0-{axis}"] for axis in "xyz"] == pytest.approx([0.0, -0.1, 0.3])
    assert prescribed["clamp-a-0-angle"] == pytest.approx(0.0, abs=rounding(16))


def test_a_clamp_turned_about_the_rod_twists_it_by_any_number_of_turns(rod):
    clamp = Clamp(
        at="a.start", axis=(1.0, 0.0, 0.0), angle=Ramp(begin=0.0, end=1.0, value=(50.0,), start=(0.0,))
    )
    made = rod(A, clamps=(clamp,))
    value, rate = (
        np.zeros(len(made.description.prescribed_velocity_index)),
        np.zeros(len(made.description.prescribed_velocity_index)),
    )
    for time in (0.01, 0.3, 0.77, 1.0):
        made.model.compute_prescribed_motion(time, value, rate)
        k = [made.names[k] for k in made.description.prescribed_velocity_index].index("clamp-a-0-angle")
        assert value[k] == pytest.approx(50.0 * time, rel=1e-12)
        assert rate[k] == pytest.approx(50.0, rel=1e-9)


def test_edges_near_along_the_arc_are_excluded_pairs(rod):
    """Pitfall: with a fixed number of excluded edges, fine meshes collide with themselves."""
    for nodes in (11, 201):
        limb = Limb(start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), nodes=nodes, radius=(0.02,))
        made = rod(limb, self_contact=True)
        edges, edge = nodes - 1, 1.0 / (nodes - 1)
        never = {tuple(sorted(pair)) for pair in made.description.excluded_pairs.tolist()}
        i, j = np.triu_indices(edges, 1)
        between = (j - i - 1) * edge
        excluded = np.array([(a, b) in never for a, b in zip(i.tolist(), j.tolist(), strict=True)])
        assert (excluded == (between < 0.5 * np.pi * 0.04 - 1e-12)).all()
        assert (between[~excluded] >= 0.04).all()


def test_exclusion_crosses_joints_and_closes_rings(rod, spider, rod_of):
    angle = 2 * np.pi * np.arange(12) / 12
    ring = Limb(points=tuple((np.cos(a), np.sin(a), 0.0) for a in angle), closed=True, radius=(0.01,))
    assert [0, 11] in rod(ring, self_contact=True).description.excluded_pairs.tolist()
    made = rod_of(evolve(spider, self_contact=True))
    hub = made.indices("body-5-x")[0]
    at_hub = np.flatnonzero((made.tables.edge[:, :2] == hub).any(axis=1))
    never = {tuple(pair) for pair in made.description.excluded_pairs.tolist()}
    assert all((a, b) in never for i, a in enumerate(at_hub) for b in at_hub[i + 1 :])


@pytest.mark.parametrize("kind", ["edges", "spheres", "capsules"])
def test_every_kind_of_collision_covers_the_rod(rod, kind):
    made = rod(A, collision=kind)
    expected = {"edges": ("edge", 5), "spheres": ("sphere", 6), "capsules": ("capsule", 5)}[kind]
    assert (made.description.shapes[0].kind, len(made.description.shapes)) == expected
    assert not rod(A, collision="none").description.shapes


def test_a_spider_needs_one_line_per_limb(tmp_path):
    """The tables of a scenario file make the rods of nine limbs."""
    limbs = [("body", (0, 0, 0.2), (0, 0, 0.1))]
    ends = [(0.1, 0, 0.1), (-0.1, 0, 0.1), (0, 0.1, 0.1), (0, -0.1, 0.1)]
    limbs += [(f"arm{i}", (0, 0, 0.1), end) for i, end in enumerate(ends)]
    limbs += [(f"leg{i}", end, (end[0], end[1], 0)) for i, end in enumerate(ends)]
    lines = [
        f'{{ name = "{name}", start = {list(start)}, end = {list(end)}, nodes = 25, radius = 5e-3, young = 3e6 }},'
        for name, start, end in limbs
    ]
    joints = ['{ at = ["body.end", "arm0.start", "arm1.start", "arm2.start", "arm3.start"] },']
    joints += [f'{{ at = ["arm{i}.end", "leg{i}.start"] }},' for i in range(4)]
    text = "\n".join(
        [
            'format = "corekit-scenario/1"', 'name = "spider"', "time = { duration = 1.0, step = 1e-3 }",
            "output = { every = 0.1 }", 'integrator = "implicit-euler"', "[[bodies]]", 'name = "spider"', 'use = "der"',
            "[bodies.options]", "limbs = [", *lines, "]", "joints = [", *joints, "]",
        ]
    )  # fmt: skip
    file = tmp_path / "spider.toml"
    file.write_text(text)
    pytest.importorskip("corekit_timestep")
    simulation = corekit.load(file).compose()
    description = simulation.system.bodies[0].description
    assert len(description.frames) == 9 * 25 - 8
    assert len(description.coordinates) == 3 * (9 * 25 - 8) + 9 * 24


def test_a_ring_is_drawn_closed_with_the_mean_radii_of_its_edges(rod):
    """A ring of four edges, and a straight rod whose radii come after those of the ring."""
    square = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0))
    ring = Limb(name="ring", points=square, closed=True, radius=(0.01, 0.04))
    straight = Limb(name="straight", start=(0, 0, 2), end=(0, 0, 3), nodes=3, radius=(0.07,))
    made = rod(ring, straight)
    outline = made.model.compute_outline(made.state)
    assert outline.starts.tolist() == [0, 5]
    assert outline.points[:5] == pytest.approx(np.array([*square, square[0]]))
    of_edges = 0.01 + 0.03 * (np.arange(4) + 0.5) / 4
    of_ring = 0.5 * (of_edges[[3, 0, 1, 2, 3]] + of_edges[[0, 1, 2, 3, 0]])
    assert outline.radius == pytest.approx([*of_ring, 0.07, 0.07, 0.07])
