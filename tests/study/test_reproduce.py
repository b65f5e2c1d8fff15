"""Cases: found, run, judged; scenarios found by name from anywhere."""

from __future__ import annotations

import json

import pytest

from corekit.errors import ConfigError
from corekit.scenario.load import load
from corekit.scenario.shipped import find_shipped, shipped

SPEC = """
from corekit.registry.case import Case
good = Case(paper="fake", name="good", source="Fig. 1", shows="A number.", target="fake_cases.run:good")
missed = Case(paper="fake", name="missed", source="Fig. 2", shows="Another.", target="fake_cases.run:missed")
broken = Case(paper="fake", name="broken", source="Fig. 3", shows="A third.", target="fake_cases.run:broken")
other = {"paper": "fake"}
"""

RUN = """
from corekit.study.case_run import Row

def good(case):
    results = case.run(FILE, ["time.duration=0.1"])
    (case.folder / "seen.txt").write_text(results.title)
    return [
        Row(quantity="end", unit="s", paper=0.1, peer=0.1001, ours=float(results.time[-1]),
            tolerance="1e-9 s", passed=abs(results.time[-1] - 0.1) < 1e-9, note="by hand"),
        Row(quantity="steps", ours=50),
    ]

def missed(case):
    return [Row(quantity="length", unit="m", paper=1.0, ours=2.0, tolerance="1 %", passed=False)]

def broken(case):
    raise RuntimeError("no such figure")
"""

ENTRIES = """[corekit.cases]
fake.good = fake_cases._spec:good
fake.missed = fake_cases._spec:missed
fake.broken = fake_cases._spec:broken
fake.other = fake_cases._spec:other
fake.gone = fake_cases.nowhere:case
"""


@pytest.fixture
def cases(shell, scenario_file):
    modules = {
        "fake_cases/__init__.py": "",
        "fake_cases/_spec.py": SPEC,
        "fake_cases/run.py": RUN.replace("FILE", repr(str(scenario_file))),
    }
    shell.add("fake-cases", ENTRIES, modules)
    return shell


def test_cases_are_listed_with_what_they_show_and_broken_entries_are_named(cases):
    told = cases.corekit("reproduce")
    assert told.returncode == 0
    for words in ("fake/good", "Fig. 2", "A third.", "cusp/inclined-box", "Scenario A"):
        assert words in told.stdout
    lines = told.stderr.splitlines()
    assert len(lines) == 2
    assert "fake.gone of fake-cases 1.0: importing it failed: ModuleNotFoundError" in lines[0]
    assert "fake_cases._spec:other is a dict, not a Case" in lines[1]


def test_a_case_sets_paper_peer_and_ours_beside_each_other(cases):
    told = cases.corekit("reproduce", "fake/good", "--json", "good.json", "--out", "here")
    assert told.returncode == 0, told.stderr
    row = next(line for line in told.stdout.splitlines() if "end [s]" in line)
    for words in ("0.1", "0.1001", "1e-9 s", "ok", "by hand"):
        assert words in row
    (report,) = json.loads((cases.folder / "good.json").read_text())["cases"]
    assert report["passed"] is True
    assert [each["passed"] for each in report["rows"]] == [True, None]
    assert report["rows"][0]["paper"] == 0.1
    assert (cases.folder / report["folder"] / "seen.txt").read_text() == "dropped"


def test_missing_a_tolerance_or_breaking_exits_with_one(cases):
    told = cases.corekit("reproduce", "fake/missed")
    assert told.returncode == 1
    assert "MISSED" in told.stdout
    told = cases.corekit("reproduce", "fake/broken", "--json", "broken.json")
    assert told.returncode == 1
    assert "RuntimeError: no such figure" in told.stderr
    (report,) = json.loads((cases.folder / "broken.json").read_text())["cases"]
    assert (report["passed"], report["rows"]) == (False, [])


def test_an_unknown_case_is_misuse(cases):
    told = cases.corekit("reproduce", "fake/god")
    assert told.returncode == 2
    assert "did you mean 'fake/good'?" in told.stderr


def test_a_shipped_scenario_is_found_by_name_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "cusp/inclined-box" in shipped()
    for name in ("cusp/inclined-box", "cusp/inclined_box", "cusp/inclined_box.toml"):
        assert load(name).name == "inclined-box"
    assert find_shipped("cusp/nothing") is None


def test_a_file_that_is_there_goes_before_a_shipped_one(tmp_path, monkeypatch, scenario_file):
    (tmp_path / "cusp").mkdir()
    (tmp_path / "cusp" / "inclined-box").write_text(scenario_file.read_text())
    monkeypatch.chdir(tmp_path)
    assert load("cusp/inclined-box").name == "dropped"


def test_a_name_nearly_right_is_corrected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="did you mean 'cusp/inclined-box', which is shipped"):
        load("cusp/inclinedbox")


@pytest.mark.slow
def test_scenario_b_of_cusp_keeps_its_tolerances(shell):
    told = shell.corekit("reproduce", "cusp/two-spheres", "--json", "b.json", "--quiet")
    assert told.returncode == 0, told.stdout + told.stderr
    (report,) = json.loads((shell.folder / "b.json").read_text())["cases"]
    asked = [row["quantity"] for row in report["rows"] if row["passed"]]
    assert len(asked) == 8
    assert "difference of the contact force, sdf and mpr" in asked
