"""What shows only while the tree is built is told all at once, each with its place in the scenario."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from corekit.data.signals import Constant, Ramp
from corekit.errors import ConfigError
from corekit.roles.component import BuildContext
from corekit.scenario.component_selection import read_options
from corekit_gvs.config import (
    Basis,
    Cable,
    Chamber,
    Distributed,
    Division,
    GVSConfig,
    GVSInitial,
    Joint,
    Link,
    LinkInitial,
    LinkShape,
    Load,
    Loop,
    Tendon,
)
from corekit_gvs.model import GVS
from corekit_testing.rounding import rounding

from .robots import Robot


def arm(*strain):
    return Link.soft("arm", length=0.3, radius=0.01, strain=strain or (Basis(),))


def mistakes_of(*links, **options):
    """Path, hint and what is allowed of every mistake of a body `b`."""
    with pytest.raises(ConfigError) as caught:
        GVS(GVSConfig(links=links, **options), BuildContext(path="bodies.b"))
    return {each.path: each for each in caught.value.mistakes}


def test_everything_that_acts_is_looked_at_before_any_of_it_is_refused():
    found = mistakes_of(
        arm(),
        cables=(Cable(name="c", link="amr"), Cable(name="d", link="arm", y="X")),
        tendons=(Tendon(name="t", first="arm.tip", second="arm.tip"),),
        chambers=(
            Chamber(name="p", link="arm", divisions=(3,)),
            Chamber(name="n", link="arm", area="1 - 9*s"),
        ),
        loads=(Load(name="f", at="arm.tpi"),),
        loops=(Loop(first="arm.tp", second="wolrd"), Loop(name="same", first="arm.tip", second="arm.tip")),
    )
    names = (
        "cables[0].link", "cables[1].y", "tendons[0].second", "chambers[0].divisions", "chambers[1].area",
        "loads[0].at", "loops[0].first", "loops[0].second", "loops[1].second",
    )  # fmt: skip
    assert list(found) == [f"bodies.b.options.{name}" for name in names]
    assert found["bodies.b.options.loads[0].at"].hint == "did you mean 'arm.tip'?"
    assert found["bodies.b.options.loops[0].second"].hint == "did you mean 'world'?"
    assert found["bodies.b.options.cables[0].link"].hint == "did you mean 'arm'?"


def test_a_link_with_a_mistake_does_not_bring_one_to_what_hangs_on_it():
    found = mistakes_of(
        arm(Basis.custom(("Y",))),
        Link.rigid("hand", 0.1, on="arm.tip", joint=Joint.revolute()),
        Link.rigid("finger", 0.1, on="hand.tip", joint=Joint.revolute()),
        Link.rigid("other", 0.1, on="nowhere.tip"),
    )
    assert list(found) == [
        "bodies.b.options.links[0].divisions[0].strain[0].functions[0]",
        "bodies.b.options.links[3].on",
    ]


def test_a_motion_of_another_size_stands_where_the_scenario_has_it():
    planar = Joint.planar(motion=Constant((0.0, 0.0)))
    assert list(mistakes_of(Link.rigid("hand", 0.1, joint=planar))) == [
        "bodies.b.options.links[0].joint.motion"
    ]


def test_a_first_link_beside_a_moving_base_is_refused():
    """Its place from the base would have two sources: its own options and where the base is put."""
    beside = Link(name="arm", position=(0.1, 0.0, 0.0), rotation_rpy=(0.0, 0.2, 0.0), divisions=(Division(),))
    with pytest.raises(ConfigError) as caught:
        GVS(GVSConfig(links=(beside,)), BuildContext(path="robot", free_base=True))
    assert [mistake.path for mistake in caught.value.mistakes] == [
        "robot.options.links[0].position", "robot.options.links[0].rotation_rpy",
    ]  # fmt: skip
    GVS(GVSConfig(links=(beside,)), BuildContext(path="robot"))


@pytest.mark.parametrize("kind", [Cable, Chamber])
def test_a_division_named_twice_would_act_twice_and_is_refused(kind):
    with pytest.raises(ValueError, match="each division once"):
        kind(name="c", link="arm", divisions=(0, 0))


def test_a_start_of_a_link_that_is_not_there_is_reported_with_the_nearest():
    robot = Robot(arm())
    with pytest.raises(ConfigError, match="did you mean 'arm'"):
        robot.model.compute_initial_state(GVSInitial(links=(LinkInitial(name="amr"),)), robot.state)


@pytest.mark.parametrize("formulas", [None, ("1", None), (["X"],)])
def test_what_is_no_text_is_refused(formulas):
    (told,) = mistakes_of(arm(Basis(kind="custom", functions=formulas))).values()
    assert told.allowed == "must be a text of at most 2000 characters: a formula of X"


def test_numbers_stand_for_formulas_of_them():
    texts = Distributed(name="w", link="arm", wrench=("0", "0.5", "0", "0", "X", "0"))
    mixed = Distributed(name="w", link="arm", wrench=(0, 0.5, 0, 0, "X", 0))
    found = read_options(Distributed, {"name": "w", "link": "arm", "wrench": [0, 0.5, 0, 0, "X", 0]}, "")
    forces = [Robot((arm(),), distributed=(each,)).dynamics()[1] for each in (texts, mixed, found)]
    for other in forces[1:]:
        np.testing.assert_allclose(other, forces[0], rtol=0, atol=rounding(64, np.abs(forces[0]).max()))
    with pytest.raises(ValueError, match="give six numbers or formulas"):
        Distributed(name="w", link="arm", wrench=(3,))
    with pytest.raises(ConfigError, match="give six numbers or formulas"):
        read_options(Division, {"reference": 3}, "")


@pytest.mark.parametrize("inertia", [(-1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 2.0, 0.0, 0.0)])
def test_an_inertia_that_would_take_kinetic_energy_is_refused(inertia):
    """The second has the moments 1 − 2, 1 and 1 + 2; a slender rod's 0 along it is none of them."""
    options = {"links": [{"name": "a", "kind": "rigid", "mass": 1.0, "inertia": list(inertia)}]}
    with pytest.raises(ConfigError, match=r"links\[0\]\.inertia.*principal moments must not be negative"):
        read_options(GVSConfig, options, "options")
    Link.rigid("rod", 0.1, inertia=(0.0, 1e-3, 1e-3))


REVOLUTE: dict[str, Any] = {"kind": "revolute", "motion": Constant((0.1,))}
GIVEN: dict[str, Any] = {"section": "given", "inertia": (1.0,) * 6, "rigidity": (1.0,) * 6}
SOFT: dict[str, Any] = {"divisions": (Division(),)}
BY_LENGTH: dict[str, Any] = {"drive": "length", "stiffness": 100.0}
BALL = LinkShape(shape="sphere", size=(0.1,))
UNREAD = [
    *((Joint, {}, each, "for a fixed joint: give a `kind` that moves") for each in (
        {"stiffness": 3.0}, {"damping": 2.0}, {"armature": 1.0}, {"pitch": 0.5}, {"second": "z"}, {"driven": True},
        {"axis": "x"}, {"axis": (0.0, 1.0, 0.0)},
    )),
    (Joint, {"driven": True}, {"effort_limit": 2.0}, "for a fixed joint"),
    *((Joint, {"kind": kind}, {"axis": "x"}, f"for a {kind} joint") for kind in ("spherical", "free")),
    (Joint, {"kind": "free"}, {"armature": 0.1}, "for a free joint"),
    (Joint, {"kind": "revolute"}, {"pitch": 0.5}, "for a revolute joint"),
    (Joint, {"kind": "planar"}, {"second": "z"}, "for a planar joint"),
    *((Joint, REVOLUTE, each, "where `motion` prescribes the coordinates") for each in (
        {"stiffness": 3.0}, {"damping": 2.0}, {"armature": 1.0},
    )),
    *((Basis, {"kind": kind}, {"order": 2}, f"for kind {kind!r}") for kind in ("constant", "hermite")),
    *((Basis, {"kind": kind}, {"elements": 2}, f"for kind {kind!r}") for kind in ("constant", "legendre")),
    (Basis, {"kind": "legendre"}, {"coordinates": 2}, "for kind 'legendre'"),
    (Basis, {"kind": "fourier"}, {"functions": ("X",)}, "for kind 'fourier'"),
    *((Division, {"section": "circle"}, {each: 0.03}, "'rectangle' or 'ellipse'") for each in ("height", "width")),
    *((Division, GIVEN, each, "`viscous_rigidity` give the section") for each in (
        {"young": 2e6}, {"poisson": 0.3}, {"density": 1.0}, {"viscosity": 2.0},
    )),
    *((Link, SOFT, each, "for a soft link") for each in (
        {"mass": 1.0}, {"inertia": (1.0, 1.0, 1.0)}, {"centre": (0.1, 0.0, 0.0)}, {"tip": (0.1, 0.0, 0.0)},
        {"tip_rpy": (0.1, 0.0, 0.0)}, {"radius": 0.1}, {"drag": (1.0,) * 6}, {"added_mass": (1.0,) * 6},
        {"buoyant_volume": 1.0},
    )),
    *((Link, {"kind": "rigid"}, each, "for a rigid link") for each in (
        {"shapes": 3}, {"spheres": (0.5,)}, {"frames": (0.5,)},
    )),
    (Link, {**SOFT, "collision": "spheres", "spheres": (0.5,)}, {"shapes": 3}, "where `spheres` say where they are"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "beside", "given", "said"), UNREAD)
def test_an_option_that_nothing_would_read_is_refused(kind, beside, given, said):
    with pytest.raises(ConfigError) as caught:
        kind(**beside, **given)
    (found,) = [each for each in caught.value.mistakes if each.path == next(iter(given))]
    assert said in found.allowed
    assert found.allowed.startswith("must be left out")
    if beside != {"driven": True}:
        kind(**beside)


def test_what_solids_of_a_rigid_link_touch_has_friction():
    assert Link(kind="rigid", solids=(BALL,), friction=0.3).friction == 0.3


def test_drag_that_would_push_is_refused():
    with pytest.raises(ValueError, match=r"drag.*≥ 0"):
        Division(drag=(0.0, -1.0, 0.0))


@pytest.mark.parametrize("stretch", ["0", "1 - X"])
def test_a_reference_without_length_is_refused(stretch):
    (told,) = mistakes_of(Link.soft("arm", reference=("0", "0", "0", stretch, "0", "0"))).values()
    assert told.path == "bodies.b.options.links[0].divisions[0].reference[3]"
    assert told.allowed.startswith("must be > 0")


def starting(**initial):
    """Paths and sentences of what a start of a prescribed joint and a soft link behind it does wrong."""
    hand = Link.rigid(
        "hand", 0.1, joint=Joint.revolute(motion=Ramp(begin=0.0, end=1.0, value=(1.5,), start=(0.5,)))
    )
    robot = Robot((hand, Link.soft("arm", on="hand.tip", strain=(Basis.constant("bend-y"),))))
    with pytest.raises(ConfigError) as caught:
        robot.model.compute_initial_state(GVSInitial(**initial), robot.state)
    return [(each.path.removeprefix("gvs.initial."), each.allowed) for each in caught.value.mistakes]


AT = "at which the `motion` of its joint starts"


@pytest.mark.parametrize(
    ("initial", "path", "said"),
    [
        ({"coordinates": (0.2, 0.1)}, "coordinates[0]", f"must be 0.5, {AT}"),
        ({"velocity": (0.2, 0.1)}, "velocity[0]", f"must be 0, {AT}"),
        (
            {"links": (LinkInitial(name="hand", coordinates=(0.2,)),)},
            "links[0].coordinates[0]",
            f"must be 0.5, {AT}",
        ),
        ({"links": (LinkInitial(name="hand", velocity=(0.2,)),)}, "links[0].velocity[0]", f"must be 0, {AT}"),
        (
            {
                "links": (
                    LinkInitial(name="arm", coordinates=(0.2,)),
                    LinkInitial(name="arm", velocity=(0.2,)),
                )
            },
            "links[1].name",
            "is the link of links[0]: start each link once",
        ),
        (
            {"coordinates": (0.5, 0.1), "links": (LinkInitial(name="arm", coordinates=(0.2,)),)},
            "coordinates",
            "give this or `links[0].coordinates`, not both",
        ),
        (
            {"velocity": (0.0, 0.1), "links": (LinkInitial(name="arm", velocity=(0.2,)),)},
            "velocity",
            "give this or `links[0].velocity`, not both",
        ),
    ],
)
def test_a_start_that_would_be_dropped_is_refused(initial, path, said):
    assert starting(**initial) == [(path, said)]


def swaps(link: Link, **options: Any) -> tuple[str, ...]:
    """The doubts of a robot whose link has another `collision`, before and after; none before."""
    assert not Robot(link, **options).description.doubts
    return Robot(evolve(link, collision="none"), **options).description.doubts


def test_a_choice_is_swapped_by_name_and_says_what_it_leaves_unread():
    even = Link.soft("arm", collision="capsules", shapes=3, friction=0.3)
    assert swaps(even, self_contact=True) == (
        "links[0].shapes does nothing with links[0].collision = 'none'",
        "links[0].friction does nothing with links[0].collision = 'none'",
        "self_contact does nothing where every link has collision = 'none'",
    )
    assert swaps(Link.soft("arm", collision="spheres", spheres=(0.25, 1.0))) == (
        "links[0].spheres does nothing with links[0].collision = 'none'",
    )
    hinge = Joint(kind="revolute")
    assert swaps(Link.rigid("arm", 0.1, joint=hinge, collision="spheres", friction=0.3)) == (
        "links[0].friction does nothing with links[0].collision = 'none'",
    )
    cable = Cable(name="c", link="arm", **BY_LENGTH)
    tendon = Tendon(name="t", first="world", second="arm.tip", second_offset=(0.1, 0.1, 0.0), **BY_LENGTH)
    assert not Robot(Link.soft("arm"), cables=(cable,), tendons=(tendon,)).description.doubts
    pulled = evolve(cable, drive="tension"), evolve(tendon, drive="tension")
    assert Robot(Link.soft("arm"), cables=pulled[:1], tendons=pulled[1:]).description.doubts == (
        "cables[0].stiffness does nothing with cables[0].drive = 'tension'",
        "tendons[0].stiffness does nothing with tendons[0].drive = 'tension'",
    )


def test_places_of_spheres_place_no_capsules():
    """With another choice its shapes are even ones, as without the option."""
    chosen = Link.soft("arm", collision="capsules", spheres=(0.25, 1.0), shapes=4)
    given, even = Robot(chosen).description, Robot(evolve(chosen, spheres=())).description
    assert [each.size for each in given.shapes] == [each.size for each in even.shapes]
    assert given.doubts == ("links[0].spheres does nothing with links[0].collision = 'capsules'",)


def test_what_acts_in_a_fluid_alone_is_doubted_where_there_is_none():
    soft = Link.soft("arm", drag=(0.0, 1.0, 1.0), lift=(0.0, 0.1, 0.0), added_mass=(0.0, 1.0, 1.0))
    hull = Link.rigid("hull", 0.1, on="arm.tip", drag=(1.0,) * 6, added_mass=(1.0,) * 6, buoyant_volume=1e-3)
    paths = [f"links[0].divisions[0].{name}" for name in ("drag", "lift", "added_mass")]
    paths += [f"links[1].{name}" for name in ("drag", "added_mass", "buoyant_volume")]
    assert list(Robot((soft, hull)).description.doubts) == [
        f"{path} does nothing without a fluid: give `fluid_density`" for path in paths
    ]
    assert not Robot((soft, hull), fluid_density=1000.0).description.doubts
