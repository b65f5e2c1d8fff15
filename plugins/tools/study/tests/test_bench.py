"""`corekit bench` runs scripts that keep a small protocol, and says so where there are none."""

from __future__ import annotations

import json
import os
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import corekit
from corekit.cli import main

GOOD = '''"""Measures nothing much."""
import json
print(json.dumps({"small": {"ratio": 1.25, "step": 10.0}, "large": {"ratio": 2.0, "kept": 3}}))
'''


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with benchmarks of its own."""
    (tmp_path / "corekit").mkdir()
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "benchmarks" / "good.py").write_text(GOOD)
    monkeypatch.setattr(corekit, "__file__", str(tmp_path / "corekit" / "__init__.py"))
    return tmp_path


def test_every_case_is_a_row_with_its_ratio(checkout, capfd):
    assert main(["bench", "--json", str(checkout / "all.json")]) == 0
    told = capfd.readouterr().out
    for words in ("good", "small", "1.25", "10", "kept"):
        assert words in told
    assert json.loads((checkout / "all.json").read_text())["good"]["large"] == {"ratio": 2.0, "kept": 3}


def test_peers_are_measured_where_they_are_asked_for(checkout, capfd):
    (checkout / "benchmarks" / "peers").mkdir()
    numbers = '{"theirs": {"ratio": 0.5, "asked": sys.argv[2:]}}'
    script = f'"""Beside others."""\nimport json, sys\nprint(json.dumps({numbers}))'
    (checkout / "benchmarks" / "peers" / "good.py").write_text(script)
    assert main(["bench", "--json", str(checkout / "all.json")]) == 0
    assert list(json.loads((checkout / "all.json").read_text())) == ["good"]
    words = ["bench", "good", "--peers", "--dismech", "theirs.exe", "--json", str(checkout / "all.json")]
    assert main(words) == 0
    found = json.loads((checkout / "all.json").read_text())
    assert found["peers/good"]["theirs"] == {"ratio": 0.5, "asked": ["--dismech", "theirs.exe"]}
    (checkout / "benchmarks" / "peers" / "good.py").write_text(
        "import sys; sys.exit('there is no such program')"
    )
    capfd.readouterr()
    (checkout / "all.json").unlink()
    assert main(words) == 1
    told = capfd.readouterr().err
    assert "there is no such program" in told
    assert "Measures nothing much" not in told  # ours, which may take minutes, was not measured in vain
    assert not (checkout / "all.json").exists()
    assert main(["bench", "--peers"]) == 2
    assert "corekit bench rods --peers" in capfd.readouterr().err


@pytest.mark.skipif(find_spec("elastica") is not None, reason="PyElastica is installed")
def test_without_pyelastica_the_peers_of_rods_say_what_to_install(tmp_path, forked):
    script = Path(__file__).parents[4] / "benchmarks" / "peers" / "rods.py"
    if not script.is_file():
        pytest.skip("there is no checkout")
    pytest.importorskip("corekit_der", reason="corekit-der is not installed")

    def rods(*words):
        environment = {**os.environ, "PYTHONPATH": str(script.parent)}
        return forked.run(*words, module=script.stem, folder=tmp_path, environment=environment)

    done = rods()
    assert done.returncode == 1
    assert done.stderr == 'PyElastica is not installed: pip install "corekit-study[peers]"\n'
    done = rods("--dismech", "no/such/program")
    assert done.returncode == 1
    assert done.stderr.startswith("no/such/program cannot be run: No such file or directory")
    for wrong in ('"theirs', " "):
        assert (
            rods("--dismech", wrong).stderr == f"--dismech takes a program and its own words, not {wrong!r}\n"
        )
    if os.name != "posix":
        return
    (tmp_path / "theirs").write_text(f"#!{sys.executable} -S\nraise SystemExit(3)\n")
    (tmp_path / "theirs").chmod(0o755)
    done = rods("--dismech", "theirs")  # in the folder where this runs, as `corekit bench` passes `./theirs`
    assert done.stderr.startswith("theirs ended with 3; it needs a display unless")


def test_benchmarks_are_listed_by_what_they_measure_without_running(checkout, capfd):
    assert main(["bench", "--list"]) == 0
    assert capfd.readouterr().out == "good: Measures nothing much.\n"


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("raise SystemExit(3)", "failed with exit code 3"),
        ("print('quick')", "did not print JSON"),
        ('print(\'{"a": {"step": 1}}\')', "each with a `ratio`"),
    ],
)
def test_a_script_that_breaks_the_protocol_fails_alone(checkout, capfd, script, says):
    (checkout / "benchmarks" / "bad.py").write_text(script)
    assert main(["bench"]) == 1
    told = capfd.readouterr()
    assert says in told.err
    assert "1.25" in told.out


def test_an_unknown_benchmark_and_an_installation_without_any_are_misuse(checkout, capfd):
    assert main(["bench", "goood"]) == 2
    assert "did you mean 'good'?" in capfd.readouterr().err
    (checkout / "benchmarks" / "good.py").unlink()
    assert main(["bench"]) == 2
    assert "needs a checkout" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        ("Completed simulation.", "printed no step; set `render_params.cmd_line_per = 1`"),
        (
            "time: 5.0000 | iters: 3",
            "simulated 5 s; --dismech takes the examples of Table II",
        ),
        ("time: 50.0000 | iters: 3\ntime: 100.0000 | iters: 2", None),
    ],
)
def test_a_program_of_dismech_says_its_step_by_what_it_prints(printed, says):
    path = Path(__file__).parents[4] / "benchmarks" / "peers" / "rods.py"
    if not path.is_file():
        pytest.skip("there is no checkout")
    read_steps = runpy.run_path(str(path))["read_steps"]
    if says is None:
        assert read_steps(printed, "it") == ("a1", 50.0, 100.0)
        return
    with pytest.raises(SystemExit) as told:
        read_steps(printed, "it")
    assert str(told.value).startswith(f"it {says}")
