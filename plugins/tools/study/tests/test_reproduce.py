"""Cases: found, run, judged; scenarios found by name from anywhere."""

from __future__ import annotations

import json

import pytest

from corekit.cli import MISUSE, main
from corekit.errors import ConfigError, PluginError
from corekit.registry.spec import Case
from corekit.scenario.load import load
from corekit_study.reproduce_series import choose

SPEC = """
from corekit.registry.spec import Case
good = Case(paper="fake", name="good", source="Fig. 1", shows="A number.", target="fake_cases.run:good")
missed = Case(paper="fake", name="missed", source="Fig. 2", shows="Another.", target="fake_cases.run:missed")
unseen = Case(paper="fake", name="unseen", source="Fig. 9", shows="A film.", target="fake_cases.run:unseen")
broken = Case(paper="fake", name="broken", source="Fig. 3", shows="A third.", target="fake_cases.run:broken")
timed = Case(paper="clock", name="timed", source="Fig. 4", shows="Time.", target="fake_cases.run:timed", alone=True)
left = Case(paper="pair", name="left", source="", shows="Left.", target="fake_cases.run:left")
right = Case(paper="pair", name="right", source="", shows="Right.", target="fake_cases.run:right")
dies = Case(paper="clock", name="dies", source="", shows="Nothing.", target="fake_cases.run:dies")
other = {"paper": "fake"}
"""

RUN = """
import os, time
from pathlib import Path
from corekit_study.case_run import Difference, Row
from corekit_study.reference import OWN, analytic, paper, peer, printed_time
from corekit_study.reference_data import reference_file

def meets(case, own, other):
    "Wait until the other one is there too, which it never is if cases follow one another."
    (case.folder.parent / own).touch()
    patience = time.monotonic() + 300.0  # of a machine that others keep busy
    while not (case.folder.parent / other).exists() and time.monotonic() < patience:
        time.sleep(0.01)
    met = (case.folder.parent / other).exists()
    return [Row(quantity="met", against=OWN, ours=os.getpid(), passed=met)]

def left(case):
    return meets(case, "left", "right")

def right(case):
    case.run(FILE, ["time.duration=0.1"])
    return meets(case, "right", "left")

def timed(case):
    busy = [path.name for path in case.folder.parent.glob("pair-*") if not (path / "report.json").exists()]
    return [Row(quantity="others still at work", against=OWN, ours=len(busy), passed=not busy)]

def dies(case):
    os._exit(3)

def good(case):
    results = case.run(FILE, ["time.duration=0.1"])
    (case.folder / "seen.txt").write_text(results.title)
    return [
        Row(quantity="end", unit="s", against=paper("Fig. 1"), expected=0.1, ours=float(results.time[-1]),
            tolerance="1e-9 s", passed=abs(results.time[-1] - 0.1) < 1e-9, note="by hand"),
        Row(quantity="start", unit="s", against=peer("another code 2.1", "stored, 2026"), expected=0.0, ours=0.0,
            tolerance="0.1 s", passed=True),
        Row(quantity="weight", unit="N", against=paper("Table 2"), expected=3.0, ours=4.0, tolerance="1 %",
            passed=False, difference=Difference("the paper's ball is hollow", "4/3 of its weight", True)),
        Row(quantity="time", unit="s", against=printed_time("Table 2"), expected=3.0, ours=2.0, tolerance="less",
            passed=True),
        Row(quantity="steps", against=OWN, ours=50),
        Row(quantity="picture", against=paper("Fig. 3"), ours=None, reason="without numbers"),
    ]

def missed(case):
    return [Row(quantity="length", unit="m", against=analytic("a ruler"), expected=1.0, ours=2.0, tolerance="1 %",
                passed=False)]

def unseen(case):
    film = reference_file("film.txt")
    if film is not None:
        seen = float(film.read_text())
        return [Row(quantity="film", unit="m", against=paper("Fig. 9"), expected=1.0, ours=seen, passed=seen == 1.0)]
    return [Row(quantity="film", unit="m", against=paper("Fig. 9"), expected=1.0, ours=None, reason="no film")]

def broken(case):
    raise RuntimeError("no such figure")
"""

ENTRIES = """[corekit.cases]
fake.good = fake_cases._spec:good
fake.missed = fake_cases._spec:missed
fake.unseen = fake_cases._spec:unseen
fake.broken = fake_cases._spec:broken
clock.timed = fake_cases._spec:timed
clock.dies = fake_cases._spec:dies
pair.left = fake_cases._spec:left
pair.right = fake_cases._spec:right
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


def installed(*paths):
    return [
        Case(paper=paper, name=name, source="", shows="", target="")
        for paper, name in (path.split("/") for path in paths)
    ]


def test_cases_are_listed_with_what_they_show_and_broken_entries_are_named(cases):
    told = cases.corekit("reproduce")
    assert told.returncode == 0
    for words in ("fake/good", "Fig. 2", "A third.", "cusp/inclined-box", "Scenario A"):
        assert words in told.stdout
    lines = told.stderr.splitlines()
    assert len(lines) == 2
    assert "fake.gone of fake-cases 1.0: importing it failed: ModuleNotFoundError" in lines[0]
    assert "fake_cases._spec:other is a dict, not a Case" in lines[1]


def test_a_case_sets_ours_beside_what_each_row_is_held_against(cases):
    told = cases.corekit("reproduce", "fake/good", "--json", "good.json", "--out", "here")
    assert told.returncode == 0, told.stderr
    row = next(line for line in told.stdout.splitlines() if "end [s]" in line)
    for words in ("paper: Fig. 1", "0.1", "1e-9 s", "kept", "by hand"):
        assert words in row
    assert "differs" in next(line for line in told.stdout.splitlines() if "weight [N]" in line)
    (report,) = json.loads((cases.folder / "good.json").read_text())["cases"]
    assert report["verdict"] == "passed"
    assert [each["verdict"] for each in report["rows"]] == [
        "kept", "kept", "differs", "kept", "told", "not judged",
    ]  # fmt: skip
    assert [each["kind"] for each in report["rows"]] == [
        "paper",
        "peer",
        "paper",
        "printed time",
        "own",
        "paper",
    ]
    assert report["rows"][0]["expected"] == 0.1
    assert (cases.folder / report["folder"] / "seen.txt").read_text() == "dropped"


def test_a_case_that_breaks_exits_with_one_and_says_why(cases):
    told = cases.corekit("reproduce", "fake/broken", "--json", "broken.json")
    assert told.returncode == 1
    assert "RuntimeError: no such figure" in told.stderr
    (report,) = json.loads((cases.folder / "broken.json").read_text())["cases"]
    assert (report["verdict"], report["rows"]) == ("failed", [])


def test_several_cases_share_a_folder_and_one_page(cases):
    told = cases.corekit(
        "reproduce", "fake/good", "fake/missed", "fake/unseen", "--out", "series", "--quiet", "--json", "s.json"
    )  # fmt: skip
    assert told.returncode == 1
    assert "MISSED" in told.stdout
    assert "1 of 3 cases passed" in told.stdout
    told_page = (cases.folder / "series" / "summary.md").read_text()
    rows = [line.split(" | ") for line in told_page.splitlines() if line.startswith("| fake/")]
    assert [[row[0], *row[2:-1]] for row in rows[:3]] == [
        ["| fake/good", "1 of 2", "1 of 1", "–", "–", "–", "–", "1 of 1", "passed, 1 differs"],
        ["| fake/missed", "–", "–", "0 of 1", "–", "–", "–", "–", "MISSED"],
        ["| fake/unseen", "–", "–", "–", "–", "–", "–", "–", "not judged"],
    ]
    assert (
        "Judged and kept: 1 of 2 with the papers, 1 of 1 with other codes, 0 of 1 with analytic" in told_page
    )
    assert told_page.splitlines()[2] == "MISSED: `fake/missed`, length."
    assert "\nApart: 1 of 1 printed times of other machines.\n" in told_page
    assert "| fake/good | end | 0.1 s | 0.1 s | 1e-9 s | Fig. 1 |" in told_page
    differs, misses, unjudged = (told_page.index(f"What {words}:") for words in (
        "differs from the paper", "misses its tolerance", "could not be judged"
    ))  # fmt: skip
    assert (
        "weight: 4 N, paper 3 N (Table 2). the paper's ball is hollow; that predicts 4/3 of its weight, which holds"
        in told_page[differs:misses]
    )
    assert "length: 2 m, analytic 1 m (a ruler)" in told_page[misses:unjudged]
    assert "film: –, paper 1 m (Fig. 9). no film" in told_page[unjudged:]
    assert len(json.loads((cases.folder / "s.json").read_text())["cases"]) == 3


def test_a_stopped_series_repeats_only_what_did_not_come_to_its_end(cases):
    told = cases.corekit("reproduce", "fake/good", "fake/broken", "--out", "series", "--quiet")
    assert told.returncode == 1
    assert "1 of 2 cases passed" in told.stdout
    series = cases.folder / "series"
    report = json.loads((series / "fake-good" / "report.json").read_text())
    (cases.site / "fake_cases" / "run.py").write_text(
        RUN.replace(
            'raise RuntimeError("no such figure")',
            'return [Row(quantity="steps", against=OWN, ours=1, passed=True)]',
        )
    )
    again = cases.corekit("reproduce", "--resume", "series", "--quiet", "--json", "s.json")
    assert again.returncode == 0, again.stderr
    assert "fake/good: done before" in again.stdout
    assert "2 of 2 cases passed" in again.stdout
    first, second = json.loads((cases.folder / "s.json").read_text())["cases"]
    assert first == report
    assert second["folder"] == "series/fake-broken-2"
    more = cases.corekit("reproduce", "fake/missed", "--resume", "series", "--quiet")
    assert "2 of 3 cases passed" in more.stdout


def test_a_case_without_data_is_judged_once_a_folder_has_it(cases, monkeypatch):
    monkeypatch.delenv("COREKIT_REFERENCE_DATA", raising=False)
    told = cases.corekit("reproduce", "fake/unseen", "fake/good", "--out", "series", "--quiet")
    assert "fake/unseen not judged" in told.stdout.replace(":", "")
    assert "fake/unseen: done before" in cases.corekit("reproduce", "--resume", "series", "--quiet").stdout
    data = cases.folder / "data"
    data.mkdir()
    (data / "film.txt").write_text("1.0")
    monkeypatch.setenv("COREKIT_REFERENCE_DATA", str(data))
    again = cases.corekit("reproduce", "--resume", "series", "--quiet")
    assert "fake/good: done before" in again.stdout
    assert "2 of 2 cases passed" in again.stdout
    assert "fake/unseen: done before" in cases.corekit("reproduce", "--resume", "series", "--quiet").stdout


def test_cases_run_at_once_and_those_that_measure_time_alone_after_them(cases):
    told = cases.corekit(
        "reproduce", "clock/timed", "pair", "fake/missed", "--jobs", "2", "--out", "here", "--json", "j.json"
    )
    assert told.returncode == 1, told.stderr
    timed, left, right, missed = json.loads((cases.folder / "j.json").read_text())["cases"]
    verdicts = [each["verdict"] for each in (left, right, timed, missed)]
    assert verdicts == ["passed", "passed", "passed", "MISSED"]
    assert left["rows"][0]["ours"] != right["rows"][0]["ours"]  # processes
    page = (cases.folder / "here" / "summary.md").read_text().partition("\n## ")[0]
    names = [line.split(" | ")[0] for line in page.splitlines() if line.startswith("| ")]
    assert names[1:] == ["| clock/timed", "| pair/left", "| pair/right", "| fake/missed"]
    assert "3 of 4 cases passed" in told.stdout
    assert "pair/right: dropped" in told.stderr


def test_a_case_whose_process_dies_is_reported_and_none_is_forgotten(cases):
    told = cases.corekit("reproduce", "clock/dies", "fake/good", "--jobs", "2", "--out", "here", "--quiet")
    assert told.returncode == 1
    said = "clock/dies failed: the process at work was killed: the system may have run out of memory, with nothing else"
    assert said in told.stderr
    assert "To try it again: corekit reproduce --resume here" in told.stderr
    # the other case was under way, and is not judged by its neighbour
    assert "1 of 2 cases passed" in told.stdout
    assert cases.corekit("reproduce", "fake/good", "--jobs", "0").returncode == MISUSE


def test_a_word_names_a_case_or_a_paper():
    found = installed("fake/good", "fake/missed", "other/good")
    assert [case.path for case in choose(["fake"], found)] == ["fake/good", "fake/missed"]
    assert [case.path for case in choose(["other/good", "fake/good", "other"], found)] == [
        "other/good", "fake/good"
    ]  # fmt: skip
    with pytest.raises(PluginError, match="unknown paper 'fke', did you mean 'fake'"):
        choose(["fke"], found)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "here is not the folder of an attempt at one case: it holds no CASE"),
        (("cusp/ball-x", "cusp/ball-y"), "give the folder of one case"),
        (("cusp/ball-x", "--out", "x"), "give the folder of one case"),
        (("--all",), "give the folder of one case"),
    ],
)
def test_a_folder_of_one_case_is_gone_on_with_by_that_case(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    assert main(["reproduce", *words, "--resume", "here"]) == MISUSE
    assert said in capsys.readouterr().err
    assert not list((tmp_path / "here").iterdir())


def test_a_case_goes_on_in_a_folder_of_its_own_alone(cases):
    notes = cases.folder / "notes"
    notes.mkdir()
    (notes / "mine.txt").write_text("kept")
    told = cases.corekit("reproduce", "fake/good", "--resume", "notes")
    assert told.returncode == MISUSE
    assert "notes is not the folder of an earlier attempt at fake/good: it holds no CASE" in told.stderr
    assert [each.name for each in notes.iterdir()] == ["mine.txt"]
    assert cases.corekit("reproduce", "fake/good", "--out", "here", "--quiet").returncode == 0
    told = cases.corekit("reproduce", "fake/missed", "--resume", "here/fake-good")
    assert told.returncode == MISUSE
    assert "an earlier attempt at fake/missed: it is of fake/good" in told.stderr
    assert cases.corekit("reproduce", "fake/good", "--resume", "here/fake-good").returncode == 0


def test_a_case_goes_on_by_the_folder_that_was_asked_for_or_by_its_own(cases):
    assert cases.corekit("reproduce", "fake/good", "--out", "here", "--quiet").returncode == 0
    for words in (("--resume", "here"), ("--resume", "here/fake-good"), ("fake/good", "--resume", "here")):
        told = cases.corekit("reproduce", *words, "--quiet")
        assert told.returncode == 0, told.stderr
        assert "fake/good: " in told.stdout
        assert "here/fake-good" in told.stdout
    assert cases.corekit("reproduce", "fake/missed", "--out", "here", "--quiet").returncode == 1
    told = cases.corekit("reproduce", "--resume", "here")
    assert told.returncode == MISUSE
    assert "here is not the folder of an attempt at one case: it holds several" in told.stderr
    told = cases.corekit("reproduce", "fake/good", "--resume", "here", "--quiet")
    assert "here/fake-good" in told.stdout, told.stderr


def test_parts_are_of_cases_that_are_named(cases):
    told = cases.corekit("reproduce", "--only", "lemke")
    assert told.returncode == MISUSE
    assert "--only is a part of a case: name the case, too" in told.stderr


def test_a_folder_of_a_series_must_say_which_cases(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "series").mkdir()
    (tmp_path / "series" / "series.json").write_text('{"cases": 3}')
    assert main(["reproduce", "--resume", "series"]) == MISUSE
    assert "series.json does not say which cases were asked for" in capsys.readouterr().err


def test_an_unknown_case_is_misuse(cases):
    told = cases.corekit("reproduce", "fake/god")
    assert told.returncode == 2
    assert "did you mean 'fake/good'?" in told.stderr


def test_a_file_that_is_there_goes_before_a_shipped_one(tmp_path, monkeypatch, scenario_file):
    (tmp_path / "cusp").mkdir()
    (tmp_path / "cusp" / "inclined-box").write_text(scenario_file.read_text())
    monkeypatch.chdir(tmp_path)
    assert load("cusp/inclined-box").name == "dropped"


def test_a_name_nearly_right_is_corrected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="did you mean 'cusp/inclined-box', which is shipped"):
        load("cusp/inclinedbox")
