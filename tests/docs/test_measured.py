"""The front page's figures are those of the last report, or name the day of their own."""

import json
import re
import runpy
from pathlib import Path

import pytest

pytest.importorskip("corekit_study")
from corekit_gym.task_file import shipped_tasks
from corekit_scenarios.cases.dismech.times import BENCHMARKS
from corekit_study.plan_file import load_plan_file
from corekit_study.reproduce import installed_cases

ROOT = Path(__file__).parents[2]
MEASURED = runpy.run_path(str(ROOT / "docs" / "measured.py"))
PLACE, table, find_value, is_whole, page_of = (
    MEASURED[name] for name in ("PLACE", "table", "find_value", "is_whole", "page_of")
)
README, TEXT, PAGE, _VALUES = (
    MEASURED[name].read_text(encoding="utf-8") for name in ("README", "TEXT", "PAGE", "VALUES")
)
VALUES = json.loads(_VALUES)


def test_the_table_is_of_the_last_report():
    assert table(TEXT, VALUES) in README


def test_the_page_is_of_the_same_report():
    """Page, table and stored rows agree: the first two are made of the last, with its day."""
    assert f"\n{VALUES['date']}: {len(VALUES['cases'])} cases" in PAGE
    if not is_whole(VALUES):
        pytest.skip("the last report stored values alone, from which no page can be made")
    assert page_of(VALUES) == PAGE


def test_what_no_report_has_names_its_day_and_what_measures_it():
    rows = [line for line in TEXT.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    for row in rows:
        _, _, ours, _, who, by, _ = (cell.strip() for cell in row.split("|"))
        assert PLACE.search(ours) or re.search(r"20\d\d-\d\d-\d\d", ours + who), row
        for command in re.findall(r"`([^`]+)`", by):
            assert_can_be_run(command)


def assert_can_be_run(command):
    """A case or task that is installed, or a benchmark that there is, by its name or as a script."""
    words = command.split()
    if words[:2] == ["corekit", "reproduce"]:
        known = {case.path for case in installed_cases()[0]} | {case.paper for case in installed_cases()[0]}
        assert {word for word in words[2:] if not word.startswith("-")} <= known, command
    elif words[:2] == ["corekit", "plan"]:
        load_plan_file(words[2])
    elif words[:2] == ["corekit", "bench"]:
        assert (ROOT / "benchmarks" / f"{words[2]}.py").is_file(), command
    elif words[:2] == ["corekit", "train"]:
        assert words[2] in shipped_tasks(), command
    else:
        places = ROOT, ROOT / "benchmarks" / "peers"  # a second script stands without its folder
        assert any((place / words[-1]).is_file() for place in places), command


def test_the_peers_times_of_rods_are_those_that_the_case_judges_by():
    (row,) = [line for line in TEXT.splitlines() if line.startswith("| DisMech's cantilevers")]
    written = [float(each) for each in row.split("|")[3].removesuffix(" ms ").split(",")]
    judged = [1e3 * each.code for each in BENCHMARKS.values() if each.code is not None]
    assert written == pytest.approx(judged, rel=1e-12)


def test_the_ball_s_worst_worlds_are_those_of_the_table():
    """Of the eight in which a plan is tracked; the table names one of each axis."""
    (row,) = [line for line in TEXT.splitlines() if line.startswith("| a ball turned")]
    for axis in "xyz":
        (rows,) = [report["rows"] for report in VALUES["cases"] if report["case"] == f"cusp/ball-{axis}"]
        angles = {
            each["quantity"]: each["ours"] for each in rows if "simulated, tracked, " in each["quantity"]
        }
        own = {name: angle for name, angle in angles.items() if not name.startswith("(20)")}
        assert f"{{cusp/ball-{axis} @ {max(own, key=lambda name: own[name])} @" in row


def test_captions_are_of_the_last_report():
    of_x = "published, (16) with r of 10 µm, the tip a tube's radius from the wall: mean error of the tip's x"
    of_r = "published, (16): mean error of the tip's x with r of 0, 1, 10, 100 µm"
    by_r = find_value(VALUES, "vine/wall", of_r)
    assert f"its tip is {find_value(VALUES, 'vine/wall', of_x):.2g} mm off along the wall" in README
    assert f"with none it is {by_r.split(', ')[0]}." in README


def test_a_value_that_is_not_there_is_named():
    with pytest.raises(SystemExit, match="'speed' of 'cusp/ball-x', which the report has not"):
        table("{cusp/ball-x @ speed @ .2g}", VALUES)


@pytest.mark.parametrize(
    ("form", "shown"), [(".2g", "0.0012"), (".2g*1e6", "1200"), (".3g*1000", "1.23"), (None, "0.0012345")]
)
def test_values_are_rounded_and_written_in_full(form, shown):
    values = {
        "date": "",
        "machine": "",
        "cases": [{"case": "a/b", "rows": [{"quantity": "time", "ours": 0.0012345}]}],
    }
    assert table("{a/b @ time" + (f" @ {form}" if form else "") + "}", values) == shown
