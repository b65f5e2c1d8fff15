"""`corekit check`: what would run, or every mistake at once."""

from __future__ import annotations

import json

import pytest

from corekit.cli import main

SCENARIO = """
format = "corekit-scenario/1"
name = "falling"
time = { duration = 0.5, step = 0.001 }
output = { every = 0.01 }
integrator = { use = "reference-semi-implicit-euler" }
world = { obstacles = [{ name = "floor", shape = "half-space", friction = 0.5 }] }
contact = { detector = "reference-detector", solver = "reference-gauss-seidel" }
[[bodies]]
name = "ball"
use = "reference-point-chain"
options = { positions = [[0.0, 0.0, 0.3]], shape = "sphere" }
"""


@pytest.fixture
def scenario_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "falling.toml"
    path.write_text(SCENARIO)
    return path


def test_check_says_what_would_run(scenario_file, capsys):
    assert main(["check", str(scenario_file)]) == 0
    told = capsys.readouterr().out
    for words in (
        "0.5 s in 500 steps",
        "body ball: reference-point-chain, 3 coordinates",
        "obstacle floor: half-space",
        "found by reference-detector, solved by reference-gauss-seidel",
    ):
        assert words in told
    assert main(["check", str(scenario_file), "--json", "--set", "time.step=0.01"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == 50
    assert not (scenario_file.parent / "runs").exists()


def test_check_prints_every_mistake_at_once(scenario_file, capsys):
    text = scenario_file.read_text()
    scenario_file.write_text(text.replace("step = 0.001", "step = -1").replace("friction", "frictoin"))
    assert main(["check", str(scenario_file)]) == 1
    told = capsys.readouterr().err
    assert "time.step" in told
    assert "did you mean 'friction'?" in told
    assert main(["check", str(scenario_file), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["sound"] is False


def test_controllers_are_asked_once_as_a_run_does(scenario_file, capsys):
    """What they name must be there."""
    pytest.importorskip("corekit_feedback")
    text = scenario_file.read_text()
    lost = """
[[controllers]]
name = "push"
use = "computed-torque"
options = { frame = "ball.tip", target = [0.0, 0.0, 0.0] }
"""
    scenario_file.write_text(text + lost)
    assert main(["check", str(scenario_file)]) == 1
    assert "controller 'push': there is no frame 'ball.tip'" in capsys.readouterr().err


def test_what_a_controller_gives_beyond_bounds_is_a_warning(scenario_file, capsys):
    pytest.importorskip("corekit_feedback")
    pytest.importorskip("corekit_pcc")
    arm = """
[[bodies]]
name = "arm"
use = "pcc"
options = { sections = 1, material = { chamber_area = 1e-5, max_pressure = 1e4 } }
[[controllers]]
name = "push"
use = "pd"
[controllers.options]
body = "arm"
channel = "pressure"
target = [0.25, 0.25, 0.25]
proportional = 4e7
"""
    scenario_file.write_text(SCENARIO.partition("world")[0] + arm)
    assert main(["check", str(scenario_file)]) == 0
    told = capsys.readouterr().err
    assert "warning: bodies.arm.inputs: [10000000.0, 10000000.0, 10000000.0] for channel 'pressure'" in told


def test_a_missing_file_is_misuse(capsys):
    assert main(["check", "nowhere.toml"]) == 2
    assert main(["check", "."]) == 2
    assert "nowhere.toml" in capsys.readouterr().err


def warnings(scenario_file, capsys, *overrides):
    options = [word for each in overrides for word in ("--set", each)]
    assert main(["check", str(scenario_file), "--json", *options]) == 0
    found = json.loads(capsys.readouterr().out)["warnings"]
    assert main(["check", str(scenario_file), "--strict", *options]) == (1 if found else 0)
    told = capsys.readouterr().err
    assert all(f"warning: {each}" in told for each in found)
    return found


@pytest.mark.parametrize(
    ("override", "said"),
    [
        (
            "bodies.ball.base.rotation_rpy=[0, 0, 180]",
            "bodies.ball.base.rotation_rpy = 180 rad is more than a turn",
        ),
        (
            "bodies.ball.options.lengths=[150.0]",
            "bodies.ball.options.lengths = 150 m is not what robots have",
        ),
        ("world.obstacles.floor.position=[0, 0, 0.329]", "ball starts 129 mm inside floor"),
        ("contact={}", "nothing touches the obstacles (floor): there is no [contact]"),
        ("world.obstacles.floor.position=[0, 0, 40.2]", "ball starts 40 m inside floor: move one"),
        (
            "time.duration=0.2001",
            "time.duration = 0.2001 s is no whole number of steps of 0.001 s: the run ends at 0.2 s",
        ),
    ],
)
def test_check_warns_of_what_is_improbable(scenario_file, capsys, override, said):
    pytest.importorskip("corekit_inspect")
    assert warnings(scenario_file, capsys) == []
    (found,) = warnings(scenario_file, capsys, override)
    assert said in found


def test_check_warns_where_no_friction_is_given(scenario_file, capsys):
    pytest.importorskip("corekit_inspect")
    scenario_file.write_text(scenario_file.read_text().replace(", friction = 0.5", ""))
    (found,) = warnings(scenario_file, capsys)
    assert "no friction is given anywhere" in found
    assert warnings(scenario_file, capsys, "contact.friction=0.0") == []


def test_check_warns_of_moduli_densities_and_cables_of_another_scale(scenario_file, capsys):
    pytest.importorskip("corekit_inspect")
    pytest.importorskip("corekit_gvs")
    arm = """
[[bodies]]
name = "arm"
use = "gvs"
base = { position = [1.0, 0.0, 1.0] }
options.cables = [{ name = "far", link = "arm", y = 0.05 }]
[[bodies.options.links]]
name = "arm"
collision = "none"
divisions = [{ length = 0.3, radius = 0.01, young = 1e12, density = 1.1 }]
"""
    scenario_file.write_text(scenario_file.read_text() + arm)
    found = "\n".join(warnings(scenario_file, capsys))
    assert "young = 1e+12 Pa is not what robots have" in found
    assert "density = 1.1 kg/m³ is not what robots have" in found
    assert "cables[0] runs 50 mm beside the axis" in found
    assert (
        "bodies.arm has no collision shape, so that it passes through everything: `corekit info gvs`" in found
    )


def test_check_names_the_file_where_its_contents_are_improbable(scenario_file, capsys):
    pytest.importorskip("corekit_inspect")
    pytest.importorskip("corekit_import")
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((120.0, 1.0, 1.0)).export(scenario_file.parent / "beam.obj")
    beam = """
[[bodies]]
name = "beam"
use = "rigid"
base = { position = [0.0, 0.0, 5.0] }
options = { mesh = { file = "beam.obj" }, mass = 1.0 }
"""
    scenario_file.write_text(scenario_file.read_text() + beam)
    detector = 'contact.detector=["reference-detector", "mpr"]'
    found = warnings(scenario_file, capsys, detector)
    assert {each.partition(" = ")[0] for each in found} == {"bodies.beam.options.mesh: vertices"}
    (mass,) = set(warnings(scenario_file, capsys, detector, "bodies.beam.options.mass=1e6")) - set(found)
    assert mass.startswith("bodies.beam.options.mass = 1e+06 kg")


def test_a_mistake_is_counted_once(scenario_file, capsys):
    assert main(["check", str(scenario_file), "--set", "output.every=0.0015"]) == 1
    told = capsys.readouterr().err
    assert "1 mistake:" in told
    assert told.count("output.every") == 1
