"""Verdicts of rows, and the page that is made of them: no case runs here."""

from __future__ import annotations

from typing import Any

import pytest

from corekit_study.case_run import Difference, Row, Verdict
from corekit_study.reference import OWN, analytic, paper, printed_time, setting, stored
from corekit_study.reproduce_summary import merged, page


def test_what_a_paper_says_is_judged_or_a_reason_says_why_not():
    with pytest.raises(ValueError, match="what a paper says is judged"):
        Row(quantity="x", against=paper("Fig. 1"), expected=1.0, ours=1.0)
    with pytest.raises(TypeError, match="against"):
        Row(quantity="x", ours=1.0)  # pyrefly: ignore
    with pytest.raises(ValueError, match="says which one it is"):
        paper("")


def differing(holds: bool, against=None, **changes: Any):
    options: dict[str, Any] = {"passed": False, "difference": Difference("why", "y < 1", holds), **changes}
    against = against or paper("Fig. 1")
    return Row(quantity="x", against=against, expected=1.0, ours=2.0, tolerance="1 %", **options)


def test_a_difference_is_one_while_what_its_reason_predicts_holds():
    assert differing(True).verdict is Verdict.DIFFERS
    assert differing(False).verdict is Verdict.MISSED
    assert differing(False).why == "why; that predicts y < 1, which does NOT hold"
    assert differing(False, passed=True).verdict is Verdict.KEPT
    for apart in (printed_time("Table 1"), setting("Table 1")):
        assert differing(True, apart).verdict is Verdict.DIFFERS
    for known in (OWN, analytic("a ruler"), stored("another code", "once")):
        with pytest.raises(ValueError, match="only from what a paper prints"):
            differing(True, known)
    with pytest.raises(ValueError, match="what is judged has no reason"):
        differing(True, difference=None, reason="it is what it is")


def report_of(case: str, *rows: Row) -> dict[str, Any]:
    about = {"case": case, "source": "", "citation": "", "verdict": "passed", "error": "", "wall_s": 0.0}
    return {**about, "rows": [row.as_data() for row in rows]}


def test_what_a_paper_says_once_of_several_cases_is_one_row():
    def row(ours: float, passed: bool, where: str = "Fig. 1", **changes: Any):
        why = None if passed else Difference("why", "y < 1", ours < 9.0)
        said: dict[str, Any] = {"against": paper(where), "expected": 1.0, "difference": why, **changes}
        return Row(quantity="end", unit="m", ours=ours, tolerance="1 %", passed=passed, **said)

    own = {"against": OWN, "expected": None, "difference": None}
    reports = [
        report_of("a/left", row(1.0, True), row(2.0, True, "Fig. 2"), row(3.0, True, **own)),
        report_of("a/right", row(4.0, False), row(5.0, True, **own)),
        report_of("b/left", row(6.0, True)),
    ]
    assert [(case, row["ours"], row["verdict"]) for case, row in merged(reports)] == [
        ("a/left, right", "left (1 m, kept), right (4 m)", "differs"),
        ("a/left", 2.0, "kept"),
        ("a/left", 3.0, "kept"),
        ("a/right", 5.0, "kept"),
        ("b/left", 6.0, "kept"),
    ]
    told = page(reports)
    assert "Judged and kept: 2 of 3 with the papers, 2 of 2 of requirements" in told
    assert (
        "- `a/left, right`, end: left (1 m, kept), right (4 m), paper 1 m (Fig. 1). right: why; that predicts"
        in told
    )
    # another number is another sentence
    other = [reports[0], report_of("a/right", row(4.0, True, expected=4.5))]
    assert [each["expected"] for _, each in merged(other)] == [1.0, 1.0, None, 4.5]
    missed = [reports[0], report_of("a/right", row(9.0, False))]
    assert page(missed).splitlines()[2] == "MISSED: `a/left, right`, end."


def test_a_page_says_which_parts_were_chosen():
    assert "only pgs" in page([], ("pgs",))
    assert "only" not in page([])
    assert page([]).splitlines()[2] == "Nothing is missed."
