"""The front page's figures are those of the last report, or name the day of their own."""

import json
import re
import runpy
from pathlib import Path

import pytest

pytest.importorskip("corekit_study")
ROOT = Path(__file__).parents[2]
MEASURED = runpy.run_path(str(ROOT / "docs" / "measured.py"))
PLACE, table = MEASURED["PLACE"], MEASURED["table"]
README, TEXT, PAGE, _VALUES = (
    MEASURED[name].read_text(encoding="utf-8") for name in ("README", "TEXT", "PAGE", "VALUES")
)
VALUES = json.loads(_VALUES)


def test_the_table_is_of_the_last_report():
    assert table(TEXT, VALUES) in README


def test_the_page_is_of_the_same_report():
    """Every value that the page shows in a table is the report's."""
    assert f"\n{VALUES['date']}: {len(VALUES['cases'])} cases" in PAGE
    compared = 0
    for case, quantity, _, ours, *_ in re.findall(
        r"^\| (\w+/\S+) " + r"\| ([^|]*) " * 5 + r"\|$", PAGE, re.MULTILINE
    ):
        value = VALUES["cases"][case].get(quantity)
        if isinstance(value, float):
            compared += 1
            assert ours.split()[0] == f"{value:.4g}", (case, quantity)
    assert compared > 50


def test_what_no_report_has_names_its_day():
    rows = [line for line in TEXT.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 10
    for row in rows:
        ours = row.split(" | ")[1]
        assert PLACE.search(ours) or re.search(r"20\d\d-\d\d-\d\d", row), row


def test_captions_are_of_the_last_report():
    wall = VALUES["cases"]["vine/wall"]
    of_x = "published, (16) with r of 10 µm, the tip a tube's radius from the wall: mean error of the tip's x"
    by_r = wall["published, (16): mean error of the tip's x with r of 0, 1, 10, 100 µm"]
    assert f"its tip is {wall[of_x]:.2g} mm off along the wall" in README
    assert f"with none it is {by_r.split(', ')[0]}." in README


def test_a_value_that_is_not_there_is_named():
    with pytest.raises(SystemExit, match="'speed' of 'cusp/ball-x', which the report has not"):
        table("{cusp/ball-x @ speed @ .2g}", VALUES)


@pytest.mark.parametrize(
    ("form", "shown"), [(".2g", "0.0012"), (".2g*1e6", "1200"), (".3g*1000", "1.23"), (None, "0.0012345")]
)
def test_values_are_rounded_and_written_in_full(form, shown):
    values = {"date": "", "machine": "", "cases": {"a/b": {"time": 0.0012345}}}
    assert table("{a/b @ time" + (f" @ {form}" if form else "") + "}", values) == shown
