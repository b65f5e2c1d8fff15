"""`corekit run` and `render`: what they print, leave behind and return."""

from __future__ import annotations

import json

import numpy as np
import pytest

from corekit_record.results import Results


def test_run_ends_with_a_table(shell, scenario_file):
    told = shell.fresh("run", str(scenario_file))
    assert told.returncode == 0, told.stderr
    for words in (
        "500, 51 records",
        "µs (median)",
        "s of steps, ",
        "in all with starting, loading and writing",
        "real-time factor",
        "tiny sweeps",
        "free | ",
        "stick 1",
    ):
        assert words in told.stdout, words
    (folder,) = (shell.folder / "runs").iterdir()
    assert folder.name.startswith("tiny-")
    assert f"runs/{folder.name}/results.nc" in told.stdout


def test_run_prints_one_json_object(shell, scenario_file):
    told = shell.corekit("run", str(scenario_file), "--json", "--out", "here", "--set", "time.duration=0.05")
    report = json.loads(told.stdout)
    assert told.stderr == ""
    assert report["status"] == "finished"
    assert report["folder"] == "here"
    assert report["statistics"]["steps"] == 50
    assert report["step_s"] > 0
    assert 0 < report["loop_s"] <= report["wall_s"] < report["whole_s"]


def test_quiet_run_says_nothing(shell, scenario_file):
    told = shell.corekit("run", str(scenario_file), "--quiet", "--out", "here", "--set", "time.duration=0.05")
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")
    assert Results(shell.folder / "here").status == "finished"


def test_overrides_change_the_run(shell, scenario_file):
    told = shell.corekit(
        "run", str(scenario_file), "--quiet", "--out", "here", "--set", "time.duration=0.1",
        "--set", "bodies.ball.initial.velocity=[0, 3, 0]",
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    results = Results(shell.folder / "here")
    assert results.time[-1] == pytest.approx(0.1)
    assert np.allclose(results.q[:, 1], 3.0 * results.time)


def test_a_picture_is_drawn_by_what_is_installed(shell, scenario_file):
    short = ("--set", "time.duration=0.05")  # a panel of the picture for each of six records
    told = shell.corekit("run", str(scenario_file), "--quiet", "--out", "here", "--picture", *short)
    assert told.returncode == 0, told.stderr
    assert (shell.folder / "here" / "tiny.png").exists()
    told = shell.corekit("render", "here", "-o", "pictures/words.txt")
    assert told.returncode == 0, told.stderr
    assert told.stdout.strip() == "pictures/words.txt"
    assert (shell.folder / "pictures" / "words.txt").read_text().splitlines() == ["tiny", "6 frames", "ball"]


def test_a_step_that_fails_exits_with_one_and_names_the_folder(shell, scenario_file):
    setting = ("--set", "bodies.ball.options.breaks_at=0.02")
    told = shell.corekit("run", str(scenario_file), "--out", "here", *setting)
    assert told.returncode == 1
    assert "'vy' of body 'ball' became nan" in told.stderr
    assert "What was recorded is kept in here" in told.stderr
    assert "Traceback" not in told.stderr
    told = shell.corekit("run", str(scenario_file), "--json", "--out", "there", *setting)
    assert told.returncode == 1
    report = json.loads(told.stdout)
    assert report["status"] == "failed"
    assert "became nan" in report["reason"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "nowhere.toml"), "nowhere.toml"),
        (("run", "tiny.toml", "--set", "time.stp=1"), "did you mean 'step'?"),
        (("run", "tiny.toml", "--set", "output.every=0.0017"), "output.every"),
        (("run", "tiny.toml", "--set", "integrator.use=tiny-eulr"), "did you mean 'tiny-euler'?"),
        (("run", "tiny.toml", "--out", "tiny.toml/x"), "cannot make the run folder"),
        (("run",), "requires an argument"),
        (("render", "nowhere", "-o", "x.txt"), "the folder is not there"),
        (("render", "."), "--output"),
    ],
)
def test_misuse_exits_with_two_and_a_message(shell, scenario_file, arguments, words):
    told = shell.corekit(*arguments)
    assert told.returncode == 2
    assert words in told.stdout + told.stderr
    assert "Traceback" not in told.stderr


def test_an_ending_nobody_writes_is_named_with_those_written(shell, scenario_file):
    shell.corekit("run", str(scenario_file), "--quiet", "--out", "here", "--set", "time.duration=0.01")
    told = shell.corekit("render", "here", "-o", "x.docx")
    assert told.returncode == 2
    assert "no installed viewer writes .docx" in told.stderr
    assert ".txt" in told.stderr
    told = shell.corekit("render", "here", "-o", "x.docx", "--viewer", "tiny-text")
    assert told.returncode == 2
    assert told.stderr == "viewer 'tiny-text' does not write .docx; it writes .png, .txt\n"
    told = shell.corekit("render", "here", "-o", "here/tiny.toml/x.txt", "--viewer", "tiny-txt")
    assert told.returncode == 2
    assert "did you mean 'tiny-text'?" in told.stderr


def test_without_a_viewer_its_install_line_is_given_before_the_run(scenario_file, monkeypatch, capsys):
    from corekit.cli import main

    monkeypatch.setattr("corekit_record.cli.pictures.discover", tuple)
    monkeypatch.setattr("corekit.scenario.load.load", lambda *_, **__: None)
    assert main(["run", str(scenario_file), "--picture"]) == 2
    assert "pip install corekit-view" in capsys.readouterr().err


def test_compiling_is_counted_only_where_something_compiles(capsys):
    from corekit_run.cli.progress_line import ProgressLine
    from corekit_run.progress import Progress

    def shown(*phases: Progress) -> str:
        with ProgressLine("tiny") as line:
            for phase in phases:
                line(phase)
        return capsys.readouterr().err

    running = Progress("running", 0.5, 1.0, 2.0, 3.0)
    assert "compiling" not in shown(Progress("composing"), running)
    compiling = [Progress("compiling", compiled=done, kernels=120) for done in (0, 84)]
    assert shown(Progress("composing"), *compiling, running).count("compiling kernels (first run only)…") == 1
