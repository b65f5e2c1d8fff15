"""Templates and repeated entries mean what the same text written out means."""

from __future__ import annotations

import hashlib
import json
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corekit.errors import ConfigError
from corekit.geometry.frames import rotation_from_rpy
from corekit.scenario.load import find_shipped, from_document, load, loads
from corekit_testing.rounding import rounding

HEAD = """
format = "corekit-scenario/1"
name = "balls"
time = { duration = 0.01, step = 1e-3 }
integrator = "semi-implicit-euler"
"""
BALL = """
[templates.ball]
use = "rigid"
options = { shape = "sphere", size = [0.02], mass = 0.05 }
"""
WRITTEN_OUT = {
    "teaching/pneumatic-gripper": "254f523353b90d51",
    "teaching/mounted-gripper": "0469ead5963ad04f",
    "mixed/vine-between-fingers": "6777a00819c4f25e",
    "teaching/two-arms": "8000fe6e72afaf4b",
    "teaching/gripper-lifts-pawn": "d5e14fb8e2290039",
    "dismech/spider": "00bfe34b02e8f24d",
    "dismech/entanglement": "9ba939d019ef5ece",
    "teaching/balls-in-a-tray": "b0b436e80d79285c",
    "gvs/cdpr": "06a15cc74934dbd1",
    "gvs/underwater": "3de060498a5c9266",
}
"""Of the files' tables before their copies became one text: with the same table every trajectory is the same."""


def mistakes_of(text: str, *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        loads(HEAD + text, overrides)
    return [str(each) for each in caught.value.mistakes]


def numbers(signal) -> np.ndarray:
    out = np.zeros(3)
    signal.value(0.0, out)
    return out


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_a_shipped_scenario_holds_what_its_written_out_text_held(name):
    file = find_shipped(name)
    assert file is not None
    table = json.dumps(load(file).document, sort_keys=True)
    assert hashlib.sha256(table.encode()).hexdigest()[:16] == WRITTEN_OUT[name]


def test_two_arms_from_one_text_move_bit_for_bit_like_two_texts():
    shipped = load("teaching/two-arms")
    text = shipped.given_text()
    entry = text[text.index('[[bodies]]\nuse = "pcc"') : text.index('[[bodies]]\nname = "ball"')]
    options = next(line for line in entry.splitlines() if line.startswith("options"))
    arm = '[[bodies]]\nname = "{}"\nuse = "pcc"\nbase = {{ position = [{}, 0, 0], rotation_rpy = [0, {}, 0] }}\n{}\n'
    two = arm.format("left", -0.4, math.pi / 2, options) + arm.format("right", 0.4, -math.pi / 2, options)
    ends = []
    for scenario in (shipped, loads(text.replace(entry, two))):
        simulation = scenario.compose()
        for _ in range(30):
            simulation.step()
        ends.append(simulation.state.q.copy())
    assert np.array_equal(ends[0], ends[1])
    assert np.abs(ends[0]).max() > 0


def test_keys_of_a_template_count_where_a_table_has_none_of_its_own():
    text = f'{HEAD}{BALL}[[bodies]]\nuse_template = "ball"\nname = "b"\noptions.mass = 2.0\n'
    options = '{ shape = "sphere", size = [0.02], mass = 2.0 }'
    written = f'{HEAD}[[bodies]]\nname = "b"\nuse = "rigid"\noptions = {options}'
    assert loads(text) == loads(written)


def test_a_template_may_use_another_one_and_lists_are_replaced_whole():
    deeper = '[templates.big]\nuse_template = "ball"\noptions = { size = [0.5] }\n'
    scenario = loads(f'{HEAD}{BALL}{deeper}[[bodies]]\nuse_template = "big"\nname = "b"')
    assert scenario.bodies[0].options["size"] == [0.5]
    assert scenario.bodies[0].options["mass"] == 0.05


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -2), (1, 2, 3), (0, 1, 0)])
@pytest.mark.parametrize("count", [3, 4, 7])
def test_copies_on_a_circle_stand_where_a_rotation_takes_the_first(axis, count):
    text = f"""{HEAD}{BALL}[[bodies]]
use_template = "ball"
name = "b{{n}}"
base = {{ position = [0.3, -0.2, 0.1], rotation_rpy = [0.3, 0.5, -0.7] }}
repeat = {{ count = {count}, circle = {{ axis = {list(axis)}, centre = [0.1, 0.2, 0.3] }} }}
"""
    bodies = loads(text).bodies
    assert [body.name for body in bodies] == [f"b{k + 1}" for k in range(count)]
    centre = np.array([0.1, 0.2, 0.3])
    unit = np.array(axis) / np.linalg.norm(axis)
    for k, body in enumerate(bodies):
        turn = Rotation.from_rotvec(2 * np.pi * k / count * unit).as_matrix()
        expected = centre + turn @ (np.array([0.3, -0.2, 0.1]) - centre)
        bound = rounding(60, 1.0)
        assert np.abs(numbers(body.base.position) - expected).max() <= bound
        turned = turn @ rotation_from_rpy([0.3, 0.5, -0.7])
        assert np.abs(rotation_from_rpy(numbers(body.base.rotation_rpy)) - turned).max() <= bound


def test_an_axis_that_leaves_roll_and_yaw_alike_is_turned_right():
    """At a pitch of 90° two angles turn about one axis; the rotation is still the right one."""
    text = f"""{HEAD}{BALL}[[bodies]]
use_template = "ball"
name = "b{{n}}"
base = {{ rotation_rpy = [0.4, 0.0, 0.0] }}
repeat = {{ count = 4, circle = {{ axis = [0, 1, 0] }} }}
"""
    for k, body in enumerate(loads(text).bodies):
        turned = Rotation.from_euler("y", 90 * k, degrees=True).as_matrix() @ rotation_from_rpy([0.4, 0, 0])
        assert np.abs(rotation_from_rpy(numbers(body.base.rotation_rpy)) - turned).max() <= 1e-8


def test_four_legs_on_a_circle_stand_at_exact_quarters():
    text = (
        HEAD
        + """
[[bodies]]
name = "legs"
use = "der"
[[bodies.options.limbs]]
name = "leg-{n}"
start = [0.0, 0.0, 0.1]
end = [0.1, 0.0, 0.1]
radius = 1e-3
young = 1e6
density = 1e3
repeat = { count = 4, circle = {} }
"""
    )
    limbs = loads(text).document["bodies"][0]["options"]["limbs"]
    assert [limb["end"] for limb in limbs] == [[0.1, 0, 0.1], [0, 0.1, 0.1], [-0.1, 0, 0.1], [0, -0.1, 0.1]]
    assert all(limb["start"] == [0.0, 0.0, 0.1] for limb in limbs)
    assert not any("rotation_rpy" in limb for limb in limbs)


def test_copies_on_a_line_are_moved_on_and_obstacles_can_be_repeated():
    text = f"""{HEAD}{BALL}[[bodies]]
use_template = "ball"
name = "b"
[[world.obstacles]]
name = "post-{{n}}"
shape = "sphere"
size = [0.1]
position = [1.0, 0.0, 0.5]
repeat = {{ count = 3, line = [0.25, 0.0, -0.5] }}
"""
    obstacles = loads(text).world.obstacles
    assert [each.name for each in obstacles] == ["post-1", "post-2", "post-3"]
    places = [numbers(each.position).tolist() for each in obstacles]
    assert places == [[1.0, 0.0, 0.5], [1.25, 0.0, 0.0], [1.5, 0.0, -0.5]]


def test_inner_repetitions_count_for_themselves():
    text = f"""{HEAD}[[bodies]]
name = "tree-{{n}}"
use = "gvs"
repeat = {{ count = 2, line = [1.0, 0.0, 0.0] }}
[[bodies.options.links]]
name = "twig-{{n}}"
divisions = [{{ length = 0.1, radius = 0.01, young = 1e6, density = 1e3 }}]
repeat = {{ count = 3 }}
"""
    document = loads(text).document
    assert [body["name"] for body in document["bodies"]] == ["tree-1", "tree-2"]
    for body in document["bodies"]:
        assert [link["name"] for link in body["options"]["links"]] == ["twig-1", "twig-2", "twig-3"]


def test_overrides_of_templates_reach_every_copy_and_others_one():
    text = f'{HEAD}{BALL}[[bodies]]\nuse_template = "ball"\nname = "b-{{n}}"\nrepeat = {{ count = 3 }}\n'
    scenario = loads(text, ["templates.ball.options.mass=1.0", "bodies.b-2.options.mass=2.0"])
    assert [body.options["mass"] for body in scenario.bodies] == [1.0, 2.0, 1.0]
    repeated = BALL + 'repeat = { count = 2 }\n[[bodies]]\nuse_template = "ball"\nname = "b-{n}"\n'
    assert len(loads(HEAD + repeated, "templates.ball.repeat.count=5").bodies) == 5


def test_an_override_of_one_use_leaves_the_others_and_the_template():
    text = HEAD + BALL + "".join(f'[[bodies]]\nuse_template = "ball"\nname = "{name}"\n' for name in "ab")
    scenario = loads(text, ["bodies.a.options.size[0]=0.7"])
    assert [body.options["size"] for body in scenario.bodies] == [[0.7], [0.02]]


def test_the_text_and_the_resolved_form_of_a_run_give_the_same_scenario():
    text = f'{HEAD}{BALL}[[bodies]]\nuse_template = "ball"\nname = "b-{{n}}"\nrepeat = {{ count = 3, circle = {{}} }}\n'
    scenario = loads(text)
    assert scenario.given_text() == text
    assert loads(scenario.resolved_text()) == scenario
    assert "template" not in scenario.resolved_text()
    changed = loads(text, "bodies.b-1.options.mass=3.0")
    assert loads(changed.given_text()) == changed


def test_a_mistake_names_the_template_and_its_key_once_for_all_copies():
    wrong = BALL.replace("mass = 0.05", "mass = -1.0")
    use = '[[bodies]]\nuse_template = "ball"\nname = "b-{n}"\nrepeat = { count = 64 }\n'
    (only,) = mistakes_of(wrong + use)
    assert only.startswith(
        "bodies[0].options.mass (from templates.ball.options.mass): found -1.0; must be > 0"
    )
    (only,) = mistakes_of(wrong + use.replace("{n}", '{n}"\noptions.mass = -2.0 #'))
    assert only.startswith("bodies[0].options.mass: found -2.0")


def test_a_mistake_in_one_copy_s_value_names_that_value():
    use = '[[bodies]]\nuse_template = "ball"\nname = "b-{n}"\nrepeat.each.options.mass = [1.0, -2.0]\n'
    (only,) = mistakes_of(BALL + use)
    assert only.startswith("bodies[1].options.mass (from bodies[0].repeat.each.options.mass[1]): found -2.0")


def test_an_entry_behind_repeated_ones_is_named_as_in_the_file():
    nine = '[[bodies]]\nuse_template = "ball"\nname = "b-{n}"\nrepeat = { count = 9 }\n'
    (only,) = mistakes_of(BALL + nine + '[[bodies]]\nuse = "rigid"\n')
    assert only.startswith("bodies[9].name (from bodies[1].name): found nothing")


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ('use_template = "bell"', "bodies[0].use_template: found 'bell'; must be the name of a template: ball"),
        ("use_template = 3", "bodies[0].use_template: found 3; must be the name of a template"),
        ('use_template = "ball"\nrepeat = {}', "bodies[0].repeat: found an empty table; must have `count`, or lists"),
        ('use_template = "ball"\nrepeat = { count = 0 }', "bodies[0].repeat.count: found 0; must be ≥ 1"),
        ('use_template = "ball"\nrepeat = { cuont = 2 }', "bodies[0].repeat.cuont: found 2; unknown key"),
        (
            'use_template = "ball"\nrepeat = { count = 2, each.name = ["a"] }',
            "bodies[0].repeat: found 2 by bodies[0].repeat.count and 1 by bodies[0].repeat.each.name; must have one",
        ),
        (
            'use_template = "ball"\nrepeat = { count = 2, each.name = "a" }',
            "bodies[0].repeat.each.name: found 'a'; must be a list with a value for each copy",
        ),
        (
            'use_template = "ball"\nbase.position = 1\nrepeat = { count = 2, line = [1, 0, 0] }',
            "bodies[0].base.position: found 1; must be 3 numbers where copies are placed",
        ),
        (
            'use_template = "ball"\ninputs = [{ channel = "x", repeat = { count = 2, circle = {} } }]',
            "bodies[0].inputs[0].repeat: found neither; must stand in an entry with `position`",
        ),
        (
            'use_template = "ball"\nrepeat = { count = 2, circle = { axis = [0, 0, 0] } }',
            "bodies[0].repeat.circle.axis: found [0.0, 0.0, 0.0]; must not be zero",
        ),
        ('use_template = "ball"\noptions.repeat = { count = 2 }', "bodies[0].options.repeat: found a table"),
    ],
)  # fmt: skip
def test_a_wrong_use_is_refused_in_one_sentence(use, said):
    found = mistakes_of(f"{BALL}[[bodies]]\n{use}\n")
    assert any(each.startswith(said) for each in found), found


def test_templates_that_use_themselves_or_make_too_much_are_refused():
    (only,) = mistakes_of(
        '[templates.a]\nuse_template = "b"\n[templates.b]\nuse_template = "a"\n[[bodies]]\nuse_template = "a"'
    )
    assert "must not be used by itself: a → b → a" in only
    doubling = "".join(
        f'[templates.t{k}]\nlinks = [{{ use_template = "t{k + 1}" }}, {{ use_template = "t{k + 1}" }}]\n'
        for k in range(40)
    )
    found = mistakes_of(f'{doubling}[templates.t40]\nx = 1\n[[bodies]]\nuse_template = "t0"')
    assert any("must make at most 100000 tables" in each for each in found)


def test_an_override_of_a_template_that_is_not_there_is_refused():
    (only,) = mistakes_of(
        f'{BALL}[[bodies]]\nuse_template = "ball"\nname = "b"', "templates.bell.options.mass=1"
    )
    assert only.startswith("--set templates.bell: found 'bell'; must be one of the file's templates: ball")


def test_a_table_of_python_may_hold_templates_and_stays_as_it_is():
    document = {
        "format": "corekit-scenario/1", "name": "b", "time": {"duration": 1.0, "step": 0.1},
        "integrator": "semi-implicit-euler",
        "templates": {"ball": {"use": "rigid", "options": {"shape": "sphere", "size": (0.1,), "mass": 1.0}}},
        "bodies": [{"use_template": "ball", "name": "b-{n}", "repeat": {"count": 2, "line": np.array([1.0, 0, 0])}}],
    }  # fmt: skip
    before = repr(document)
    scenario = from_document(document)
    assert [numbers(body.base.position)[0] for body in scenario.bodies] == [0.0, 1.0]
    assert repr(document) == before
