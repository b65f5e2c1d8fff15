"""`corekit bench` runs scripts that keep a small protocol, and says so where there are none."""

from __future__ import annotations

import json

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
