"""`corekit statics` and its Python API: folders, tables, JSON, sweeps, and runs that start at rest."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from corekit.cli import main
from corekit.errors import ConfigError, StaticsFailed
from corekit.scenario.load import load
from corekit_record.results import Results

G = 9.81

HANGING = """
format = "corekit-scenario/1"
name = "hanging"

[time]
duration = 2.0
step = 1e-3

[[world.obstacles]]
name = "floor"
shape = "half-space"
position = [0.0, 0.0, -0.35]
friction = 0.4

[[bodies]]
name = "ball"
use = "reference-point-chain"
[bodies.options]
masses = [2.0]
positions = [[0.0, 0.0, -0.15]]
links = ["spring"]
lengths = [0.2]
stiffness = 300.0
drag = 1.0
shape = "sphere"
radius = 0.1
[[bodies.inputs]]
channel = "pull"                # N: lifted from 1 s on
signal = { kind = "ramp", from = 1.0, to = 2.0, value = [0.0, 0.0, 10.0] }

[contact]
detector = { use = "reference-detector" }
solver = { use = "reference-gauss-seidel" }

[integrator]
use = "reference-semi-implicit-euler"

[output]
every = 0.01
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "hanging.toml"
    path.write_text(HANGING)
    return path


def lifted(pull):
    """Height of the ball under a lift, and what the floor carries: spring 300·(−z − 0.2), floor at z = −0.25."""
    free = -0.2 - (2.0 * G - pull) / 300.0
    return (free, 0.0) if free > -0.25 else (-0.25, 2.0 * G - pull - 300.0 * 0.05)


def test_the_loads_are_those_of_the_end_unless_another_time_is_asked_for(file):
    for at, pull in ((None, 10.0), (1.2, 2.0), (0.0, 0.0)):
        found = load(file).statics(at=at)
        height, carried = lifted(pull)
        assert found.q[2] == pytest.approx(height, abs=1e-9)
        assert np.sum(found.equilibrium.contacts.normal_impulse) == pytest.approx(carried, abs=1e-8)
        assert found.equilibrium.state.time == (2.0 if at is None else at)
        assert found.stable
        assert found.results is None


def test_a_file_that_says_nothing_of_output_has_the_same_equilibrium_and_records_every_step(file, tmp_path):
    expected = load(file).statics().q
    file.write_text(HANGING.replace("[output]\nevery = 0.01\n", ""))
    assert "output" not in file.read_text()
    scenario = load(file, ["time.duration=0.005"])
    assert np.array_equal(load(file).statics().q, expected)
    assert main(["statics", str(file), "--out", str(tmp_path / "rest")]) == 0
    results = scenario.run(directory=tmp_path / "run")
    assert results.time == pytest.approx(1e-3 * np.arange(6))


def test_a_sweep_is_motion_without_inertia_and_lifts_off_where_the_floor_carries_nothing(file):
    found = load(file).statics(sweep=20)
    assert [each.state.time for each in found.path] == pytest.approx(np.linspace(0.0, 2.0, 21))
    for each in found.path:
        height, carried = lifted(10.0 * max(0.0, each.state.time - 1.0))
        assert each.q[2] == pytest.approx(height, abs=1e-8)
        assert np.sum(each.contacts.normal_impulse) == pytest.approx(carried, abs=1e-7)


def test_gravity_and_efforts_grow_with_the_load(file):
    """Half the load is half the weight and half the lift; the floor is not reached."""
    found = load(file, ["world.obstacles=[]"]).statics(load_steps=2)
    assert [each.load_factor for each in found.path] == [0.5, 1.0]
    for each in found.path:
        assert each.q[2] == pytest.approx(-0.2 - each.load_factor * (2.0 * G - 10.0) / 300.0, abs=1e-9)
    assert found.equilibrium.stability.smallest == pytest.approx(
        (2.0 * G - 10.0) / (0.2 + (2.0 * G - 10.0) / 300.0) / 2.0, rel=1e-6
    )


def test_its_folder_reads_like_a_runs(file, tmp_path):
    found = load(file).statics(sweep=4, directory=tmp_path / "out")
    results = Results(tmp_path / "out")
    assert results.status == "finished"
    assert np.allclose(results.time, [0.0, 0.5, 1.0, 1.5, 2.0])
    assert np.allclose(results.q, [each.q for each in found.path])
    assert not results.v.any()
    assert np.allclose(results.inputs[:, 2], [0.0, 0.0, 0.0, 5.0, 10.0])
    # forces are as over a step of 1 s
    assert np.linalg.norm(results.replay().contacts[0].force.sum(axis=0)) == pytest.approx(2.0 * G - 15.0)
    kept = json.loads((tmp_path / "out" / "statics.json").read_text())
    assert kept["equilibria"][-1]["q"] == pytest.approx(found.q.tolist())
    assert {event["event"] for event in results.events} == {"equilibrium", "finished"}


def test_one_equilibrium_is_recorded_after_the_state_it_was_found_from(file, tmp_path):
    load(file).statics(directory=tmp_path / "out")
    results = Results(tmp_path / "out")
    assert np.allclose(results.time, [0.0, 2.0])
    assert np.allclose(results.q[:, 2], [-0.15, lifted(10.0)[0]])
    load(file).statics(at=0.0, directory=tmp_path / "first")
    assert np.allclose(Results(tmp_path / "first").time, [0.0])


def test_a_run_may_start_at_its_equilibrium_and_stays_there(file, tmp_path):
    scenario = load(file, ['start="equilibrium"', "time.duration=0.5"])
    results = scenario.run(directory=tmp_path / "out")
    assert np.allclose(results.q[:, 2], -0.25, atol=1e-8)
    assert np.allclose(results.v, 0.0, atol=1e-7)
    assert 'start = "equilibrium"' in (tmp_path / "out" / "resolved.toml").read_text()
    with pytest.raises(ConfigError, match="start"):
        load(file, ['start="rest"'])


def test_a_long_damped_run_comes_to_the_same_rest(file):
    simulation = load(
        file, ["bodies.ball.options.drag=40", "world.obstacles.floor.position=[0,0,-9]"]
    ).compose()
    simulation.run(3.5)
    found = load(file, ["world.obstacles.floor.position=[0,0,-9]"]).statics()
    assert np.allclose(simulation.state.q, found.q, atol=1e-7)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"at": -1.0}, "at: found -1.0"),
        ({"at": math.nan}, "at: found nan"),
        ({"load_steps": 0}, "load_steps: found 0"),
        ({"sweep": -2}, "sweep: found -2"),
        ({"at": 0.0, "sweep": 3}, "needs a time"),
    ],
)
def test_impossible_requests_are_named(file, options, words):
    with pytest.raises(ConfigError, match=words):
        load(file).statics(**options)


def test_a_failure_is_kept_in_the_folder_with_what_was_found(file, tmp_path):
    """Without a spring the ball is lifted off for good once the pull exceeds its weight."""
    scenario = load(file, ["bodies.ball.options.stiffness=0", "bodies.ball.inputs[0].signal.value=[0,0,50]"])
    with pytest.raises(StaticsFailed, match="moves away without end") as caught:
        scenario.statics(sweep=4, directory=tmp_path / "out")
    assert any(str(tmp_path / "out") in note for note in caught.value.__notes__)
    results = Results(tmp_path / "out")
    assert results.status == "failed"
    assert "moves away" in results.outcome.reason
    # at 1.5 s the pull of 25 N already exceeds 19.62 N
    assert np.allclose(results.time, [0.0, 0.5, 1.0])


@pytest.fixture
def corekit(tmp_path, monkeypatch, capsys):
    """The command line in an empty folder: exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        code = main(words)
        told = capsys.readouterr()
        return code, told.out, told.err

    return call


def test_the_verb_prints_a_table_that_info_repeats(corekit, file):
    code, out, err = corekit("statics", str(file), "--load-steps", "2", "--out", "out")
    assert code == 0, err
    for words in ("of the loads at t = 2 s", "stable, slowest mode", "unbalanced force", "tip ball.node0"):
        assert words in out, words
    assert "out/results.nc" in out.replace("\n", "")
    code, out, err = corekit("info", "out")
    assert code == 0, err
    for words in ("hanging out", "stable, slowest mode", "tip ball.node0", "made by corekit-kernel"):
        assert words in out, words
    _, out, _ = corekit("info", "out", "--json")
    assert json.loads(out)["statics"]["equilibria"][-1]["load"] == 1.0


def test_the_verb_speaks_json_and_fails_with_one_sentence(corekit, file):
    code, out, err = corekit("statics", str(file), "--json", "--out", "out", "--at", "0")
    assert (code, err) == (0, "")
    (only,) = json.loads(out)["equilibria"]
    assert only["contacts"]["pressing"] == 1
    assert only["contacts"]["force_N"][2] == pytest.approx(2.0 * G - 15.0)
    assert only["stability"]["word"] == "stable"
    adrift = (
        "--set",
        "bodies.ball.options.stiffness=0",
        "--set",
        "world.obstacles.floor.position=[0,0,-9000]",
    )
    code, _, err = corekit("statics", str(file), *adrift)
    assert code == 1
    assert "there is no equilibrium" in err
    code, out, err = corekit("statics", str(file), "--json", *adrift)
    assert (code, json.loads(out)["status"], err) == (1, "failed", "")
    code, _, err = corekit("statics", str(file), "--sweep", "-1")
    assert code == 2
    assert "sweep: found -1" in err
