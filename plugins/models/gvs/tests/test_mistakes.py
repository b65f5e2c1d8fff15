"""What shows only while the tree is built is told all at once, each with its place in the scenario."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.data.signals import Constant
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
