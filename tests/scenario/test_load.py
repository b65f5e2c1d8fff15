"""Loading a scenario: what a right file becomes, and what a wrong one is told."""

from __future__ import annotations

import math
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import corekit
from corekit.data.signals import Constant, Ramp, Sine
from corekit.errors import ConfigError
from corekit.roles.options import ComponentRef
from corekit.scenario.load import from_document, load, loads
from corekit.scenario.scenario import Scenario
from corekit.scenario.schema import Contact


def mistakes_of(text, overrides=()):
    with pytest.raises(ConfigError) as caught:
        loads(text, overrides)
    return {mistake.path: mistake for mistake in caught.value.mistakes}


def test_a_right_file_becomes_a_scenario(file):
    scenario = corekit.load(file)
    assert isinstance(scenario, Scenario)
    assert (scenario.name, scenario.seed) == ("made-up", 3)
    assert scenario.time.step == 1e-3
    assert scenario.world.gravity == (0.0, 0.0, -9.81)
    box, piston = scenario.world.obstacles
    assert box.position == Constant((0.0, 0.2, -0.3))
    assert piston.position == Sine(amplitude=(0, 0, 0.1), frequency=0.5, begin=0.25)
    assert piston.rotation_rpy == Constant((0.0, 0.0, 0.0))
    assert scenario.world.pairs[0].between == ("arm", "piston")
    (arm,) = scenario.bodies
    assert arm.base.position == Constant((0.0, 0.0, 0.5))
    assert arm.inputs[0].signal == Ramp(begin=1.0, end=2.0, value=(0, 0, 40))
    assert arm.initial == {"bend": [0.1, 0.2]}
    assert scenario.contact is not None
    assert scenario.contact.stabilisation.approach == 1.0
    assert scenario.contact.stabilisation.cap == math.inf
    assert scenario.integrator.use == "made-euler"
    assert scenario.output.every == 0.01
    assert scenario.source == file.resolve()
    assert scenario.document == tomllib.loads(file.read_text())


def test_options_of_components_are_filled_in_down_to_nested_ones(text):
    scenario = loads(text)
    assert scenario.contact is not None
    lemke = {"use": "made-lemke", "options": {"max_iterations": 500}}
    assert scenario.contact.detector == (
        ComponentRef("made-near", {"margin": 1e-3}),
        ComponentRef("made-far", {}),
    )
    assert scenario.contact.solver == ComponentRef(
        "made-pivot",
        {
            "friction_directions": 12,
            "lcp_solver": {"use": "made-chain", "options": {"solvers": [lemke, lemke]}},
        },
    )
    options = scenario.bodies[0].options
    assert options["sections"] == [{"length": 0.2, "chambers": 3}, {"length": 0.1, "chambers": 4}]
    assert (options["radius"], options["tip"], options["from"]) == (0.02, "round", 0.0)


def test_one_entry_may_stand_for_a_list_where_the_option_converts_it(text):
    for given, taken in [("4", [4]), ("[4, 5]", [4, 5])]:
        assert loads(text, [f"bodies.arm.options.disks={given}"]).bodies[0].options["disks"] == taken


def test_file_paths_are_relative_to_the_scenario_file(file, text, monkeypatch, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert load(Path("..") / file.name).bodies[0].options["mesh"] == str(tmp_path / "meshes" / "tip.stl")
    assert loads(text).bodies[0].options["mesh"] == "meshes/tip.stl"


def test_no_contact_table_means_no_contact(text):
    head, _, rest = text.partition("[contact]")
    assert loads(head + rest[rest.index("[integrator]") :]).contact is None


def test_one_detector_may_stand_alone(text):
    lines = ['detector = "made-near"' if line.startswith("detector") else line for line in text.splitlines()]
    contact = loads("\n".join(lines)).contact
    assert contact is not None
    assert contact.detector == (ComponentRef("made-near", {"margin": 1e-3}),)
    assert Contact(detector=ComponentRef("a")).detector == Contact(detector=("a",)).detector


def test_twelve_mistakes_are_reported_at_once_with_path_found_allowed_and_hint():
    mistakes = mistakes_of("""
format = "corekit-scenario/2"
name = "many"
[time]
duration = "2.0"
stp = 1e-3
[world]
gravity = [0, 0]
[[world.obstacles]]
name = "ball"
shape = "spere"
[[world.obstacles]]
name = "ball"
shape = "box"
size = [0.1]
[[bodies]]
name = "arm"
use = "made-arn"
friction = -0.5
[[bodies.inputs]]
channel = "force"
signal = { kind = "rampe", from = 0, to = 1 }
[contact]
solver = { use = "made-pivot", options = { friction_direction = 8, lcp_solver = "made-euler" } }
[integrator]
use = "made-euler"
options = { form = "linearized" }
[output]
every = 0
""")
    told = {
        "format": ("corekit-scenario/2", "one of 'corekit-scenario/1'", "did you mean 'corekit-scenario/1'?"),
        "time.duration": ("2.0", "must be a number [s], > 0", "without quotes"),
        "time.stp": (1e-3, "known here: duration, step", "did you mean 'step'?"),
        "world.gravity": ([0, 0], "a list of 3 numbers [m/s²]", ""),
        "world.obstacles[0].shape": ("spere", "one of 'half-space', 'sphere'", "did you mean 'sphere'?"),
        "world.obstacles[1].name": ("ball", "must differ", ""),
        "world.obstacles[1].size": ([0.1], "[edge_x, edge_y, edge_z]", ""),
        "bodies[0].use": ("made-arn", "an installed model", "did you mean 'made-arm'?"),
        "bodies[0].friction": (-0.5, "≥ 0", ""),
        "bodies[0].inputs[0].signal.kind": ("rampe", "'constant', 'ramp', 'sine'", "did you mean 'ramp'?"),
        "contact.solver.options.friction_direction": (8, "known here", "did you mean 'friction_directions'?"),
        "contact.solver.options.lcp_solver": (
            "made-euler", "an installed LCP solver", "'made-euler' is the name of another role: integrator",
        ),
        "integrator.options.form": ("linearized", "one of 'plain', 'linearised'", "did you mean 'linearised'?"),
        "output.every": (0.0, "must be > 0 [s]", ""),
    }  # fmt: skip
    assert set(mistakes) == set(told)
    for path, (found, allowed, hint) in told.items():
        assert mistakes[path].found == found, path
        assert allowed in mistakes[path].allowed, mistakes[path]
        assert hint in mistakes[path].hint, mistakes[path]


@pytest.mark.parametrize(
    ("old", "new", "path", "says"),
    [
        ("seed = 3", "seed = 3.0", "seed", "write 3"),
        ("seed = 3", "seed = true", "seed", "whole number"),
        ("seed = 3", "seed = -1", "seed", "≥ 0"),
        ("seed = 3", "seed = 99999999999999999999", "seed", "integer of 67 bits"),
        ("step = 1e-3", "step = true", "time.step", "a number [s]"),
        ("step = 1e-3", "step = nan", "time.step", "a number [s]"),
        ("step = 1e-3", "step = inf", "time.step", "must be finite"),
        ("step = 1e-3", "", "time.step", "must be given (length of a step)"),
        ("step = 1e-3", "step = 3.0", "time.step", "at most time.duration = 2"),
        ("every = 0.01", "every = 0.0107", "output.every", "nearest is 0.011"),
        ("every = 0.01", "every = 1e308", "output.every", "it is too large"),
        ("every = 0.01", "every = 0.0004", "output.every", "nearest is 0.001"),
        ('name = "made-up"', "name = 5", "name", "put it in quotes"),
        ('name = "made-up"', 'name = "a/b"', "name", "names the run's folder"),
        ('name = "made-up"', "", "name", "must be given"),
        ("gravity = [0, 0, -9.81]", 'gravity = [0, 0, "9"]', "world.gravity[2]", "without quotes"),
        ("size = [0.1, 0.2]", "size = [0.1, -0.2]", "world.obstacles[1].size", "[radius, length], positive"),
        ("size = [0.1, 0.2]", "", "world.obstacles[1].size", "[radius, length], positive"),
        (
            'shape = "box"\nsize = [0.4, 0.4, 0.1]',
            'shape = "polytope"',
            "world.obstacles[0].vertices",
            "at least 4 points",
        ),
        (
            'shape = "box"\nsize = [0.4, 0.4, 0.1]',
            'shape = "polygon"\nvertices = [[0, 0, 0], [1, 0, 0], [0, 0, 1]]',
            "world.obstacles[0].vertices",
            "at least 3 points [x, z]",
        ),
        (
            'shape = "box"\nsize = [0.4, 0.4, 0.1]',
            'shape = "circle"\nsize = [0.1]\nvertices = [[0, 0], [1, 0]]',
            "world.obstacles[0].vertices",
            "only polytope, polygon, segments have vertices",
        ),
        ('shape = "box"', 'shape = "half-space"', "world.obstacles[0].size", "empty or absent"),
        (
            "position = [0.0, 0.2, -0.3]",
            "position = [0, 0]",
            "world.obstacles[0].position",
            "found [0.0, 0.0]; must have 3 numbers",
        ),
        (
            "position = [0.0, 0.2, -0.3]",
            "position = []",
            "world.obstacles[0].position",
            "numbers, or a signal",
        ),
        (
            "position = [0.0, 0.2, -0.3]",
            "position = true",
            "world.obstacles[0].position",
            "numbers, or a signal",
        ),
        (
            "position = [0.0, 0.2, -0.3]",
            "position = [0, true, 1]",
            "world.obstacles[0].position[1]",
            "a number",
        ),
        ("frequency = 0.5,", "", "world.obstacles[1].position.frequency", "oscillations a second"),
        ("frequency = 0.5", "frequency = [1, 2]", "world.obstacles[1].position", "one length"),
        ("from = 1.0, to = 2.0", "from = 2.0, to = 1.0", "bodies[0].inputs[0].signal", "later than `from`"),
        (
            "from = 1.0, to = 2.0",
            "form = 1.0, to = 2.0",
            "bodies[0].inputs[0].signal.form",
            "did you mean 'from'?",
        ),
        ('kind = "ramp", ', "", "bodies[0].inputs[0].signal.kind", "found nothing"),
        ('["arm", "piston"]', '["arm", "pistol"]', "world.friction[0].between[1]", "did you mean 'piston'?"),
        ('["arm", "piston"]', '["arm"]', "world.friction[0].between", "a list of 2 texts"),
        ('["arm", "piston"]', '["box", "piston"]', "world.friction[0].between", "must name a body"),
        ('name = "box"', 'name = "world"', "world.obstacles[0].name", "mean the ground by it"),
        ('name = "box"', 'name = "arm"', "world.obstacles[0].name", "bodies[0].name is the same"),
        ('name = "box"', 'name = "a b"', "world.obstacles[0].name", "letters, digits"),
        ("{ length = 0.2 }", "{ length = 0 }", "bodies[0].options.sections[0].length", "> 0 [m]"),
        ("{ length = 0.2 }", "0.2", "bodies[0].options.sections[0]", "a table with length, chambers"),
        ("chambers = 4", "chambers = 40", "bodies[0].options.sections[1].chambers", "≥ 1 and ≤ 9"),
        ('mesh = "meshes/tip.stl"', "mesh = 3", "bodies[0].options.mesh", "path of a file"),
        ('mesh = "meshes/tip.stl"', 'basis = "liner"', "bodies[0].options.basis", "did you mean 'linear'?"),
        ('mesh = "meshes/tip.stl"', 'tip = "rund"', "bodies[0].options.tip", "did you mean 'round'?"),
        (
            'mesh = "meshes/tip.stl"',
            'radius = "1"',
            "bodies[0].options.radius",
            "a number or a list of numbers",
        ),
        ('mesh = "meshes/tip.stl"', "radius = [1, -1]", "bodies[0].options.radius", "> 0"),
        ('mesh = "meshes/tip.stl"', "radius = [1, true]", "bodies[0].options.radius[1]", "a number"),
        ('mesh = "meshes/tip.stl"', "disks = 2.5", "bodies[0].options.disks", "a whole number"),
        ('mesh = "meshes/tip.stl"', "disks = -2", "bodies[0].options.disks", "≥ 0"),
        ('mesh = "meshes/tip.stl"', 'disks = [2, "3"]', "bodies[0].options.disks[1]", "without quotes"),
        ('mesh = "meshes/tip.stl"', "names = { a = [] }", "bodies[0].options.names.a", "a number"),
        ('mesh = "meshes/tip.stl"', "fast = 1", "bodies[0].options.fast", "write true"),
        ('mesh = "meshes/tip.stl"', 'fast = "False"', "bodies[0].options.fast", "write false without quotes"),
        (
            'mesh = "meshes/tip.stl"',
            "date = 2020-01-01",
            "bodies[0].options.date",
            "found a value of type date; unknown key",
        ),
        ("bend = [0.1, 0.2]", "bent = [0.1, 0.2]", "bodies[0].initial.bent", "did you mean 'bend'?"),
        (
            'use = "made-euler"',
            'use = "made-pivot"',
            "integrator.use",
            "'made-pivot' is the name of another role: contact solver",
        ),
        ('use = "made-euler"', 'use = "made-broken"', "integrator.options", "NotThere"),
        (
            'use = "made-euler"',
            'use = "made-wild"\noptions = { number = -1 }',
            "integrator.options",
            "wild number",
        ),
        ('use = "made-euler"', 'uses = "made-euler"', "integrator.uses", "did you mean 'use'?"),
        ('use = "made-euler"', 'use = ["made-euler"]', "integrator.use", "a text in quotes"),
        (
            'detector = ["made-near",',
            "detector = [3,",
            "contact.detector[0]",
            "must be the name of an installed contact detector",
        ),
        ("push_out = inf", "push_out = -1", "contact.stabilisation.push_out", "≥ 0 [1/s]"),
    ],
)
def test_one_mistake_is_reported_once_where_it_is(text, old, new, path, says):
    assert old in text
    mistakes = mistakes_of(text.replace(old, new, 1))
    assert list(mistakes) == [path]
    assert says in str(mistakes[path])


def test_initial_of_a_model_without_any_is_a_mistake(text):
    mistakes = mistakes_of(text.replace('use = "made-arm"', 'use = "made-still"'))
    assert "has no initial options" in mistakes["bodies[0].initial"].allowed
    assert "there are none here" in mistakes["bodies[0].options.sections"].allowed


def test_a_channel_driven_twice_is_a_mistake(text):
    again = '[[bodies.inputs]]\nchannel = "force"\nsignal = 3.0\n[contact]'
    mistakes = mistakes_of(text.replace("[contact]", again, 1))
    assert "bodies[0].inputs[0].channel is the same" in mistakes["bodies[0].inputs[1].channel"].allowed


@pytest.mark.parametrize(("words", "every"), [("0.3", 0.3), ("0.001", 0.001), ("2.0", 2.0), ("0.1", 0.1)])
def test_records_on_whole_steps_pass_despite_rounding(text, words, every):
    assert loads(text.replace("every = 0.01", f"every = {words}")).output.every == every


def test_a_syntax_mistake_is_reported_with_its_line(text):
    mistakes = mistakes_of(text.replace("seed = 3", "seed : 3"))
    ((path, mistake),) = mistakes.items()
    assert path.startswith("line 4, column")
    assert mistake.found == "seed : 3"
    assert "Expected '='" in mistake.hint
    ((path, mistake),) = mistakes_of("a = 1\nb = [").items()
    assert path.startswith("line 2")


def test_a_key_given_twice_is_reported(text):
    ((path, mistake),) = mistakes_of(text.replace("seed = 3", "seed = 3\nseed = 4")).items()
    assert "overwrite" in mistake.hint
    assert path.startswith("line")


def test_a_missing_file_names_near_ones(file):
    with pytest.raises(ConfigError, match="did you mean") as caught:
        load(file.with_name("madeup.toml"))
    (mistake,) = caught.value.mistakes
    assert mistake.path == str(file.with_name("madeup.toml"))
    assert str(file) in mistake.hint
    with pytest.raises(ConfigError, match="no folder"):
        load(file.parent / "nowhere" / "x.toml")
    with pytest.raises(ConfigError, match=r"a folder.*holds made_up\.toml"):
        load(file.parent)


def test_a_file_of_other_bytes_is_refused(tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(b"name = '\xff'")
    with pytest.raises(ConfigError, match="UTF-8"):
        load(path)


def test_python_values_stand_for_toml_ones(text):
    document = tomllib.loads(text)
    document["world"]["gravity"] = np.array([0.0, 0.0, -9.81])
    document["bodies"][0]["friction"] = None
    document["bodies"][0]["inputs"][0]["signal"] = Ramp(begin=1.0, end=2.0, value=(0, 0, 40))
    document["integrator"] = ComponentRef("made-euler")
    document["seed"] = np.int64(3)
    assert from_document(document) == loads(text)
    assert document["bodies"][0]["friction"] is None


def test_what_toml_cannot_hold_is_a_mistake(text):
    document = tomllib.loads(text)
    document["bodies"][0]["options"]["mesh"] = object()
    with pytest.raises(ConfigError, match=r"bodies\[0\]\.options\.mesh: found a value of type object"):
        from_document(document)


def test_a_scenario_changed_in_python_is_checked_alike(text):
    import attrs

    scenario = loads(text)
    with pytest.raises(ConfigError, match=r"output\.every"):
        attrs.evolve(scenario, time=attrs.evolve(scenario.time, step=3e-3))
    with pytest.raises(ValueError, match="must be > 0"):
        attrs.evolve(scenario.time, step=0.0)


def test_loading_imports_neither_components_nor_heavy_libraries(file, made_up_plugins):
    site = next(path for path in sys.path if (Path(path) / "madeup_parts").is_dir())
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import corekit; corekit.load(sys.argv[2]); "
        "print(sorted({'scipy', 'numba', 'casadi', 'h5py', 'madeup_parts.heavy'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program, site, str(file)], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_what_is_imported_at_its_first_use_is_listed_too():
    """A prompt that completes names after `corekit.` must offer them."""
    assert set(corekit.__all__) <= set(dir(corekit))
