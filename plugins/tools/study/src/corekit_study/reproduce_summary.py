"""The page about a series of cases: what agrees with which kind of reference, what differs and why, what is not judged.

It is made of the reports as JSON holds them, so that a series that was stopped and resumed gives the same page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from corekit_study.case_run import Verdict
from corekit_study.reference import APART, Kind

__all__ = ["HEADER", "counts", "page", "summary_rows"]

_EVIDENCE = tuple(kind for kind in Kind if kind not in APART)
HEADER = ("case", "source", *map(str, _EVIDENCE), "apart", "verdict", "minutes")
_JUDGED = (str(Verdict.KEPT), str(Verdict.DIFFERS), str(Verdict.MISSED))


def counts(rows: Iterable[Mapping[str, Any]], *kinds: Kind) -> tuple[int, int]:
    """How many judged rows of some kinds keep their tolerance, and how many there are."""
    verdicts = [row["verdict"] for row in rows if row["kind"] in kinds and row["verdict"] in _JUDGED]
    return verdicts.count(str(Verdict.KEPT)), len(verdicts)


def summary_rows(reports: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield the cells under `HEADER`; under a kind stands how many of the judged rows agree with it."""
    for report in reports:
        shares = [counts(report["rows"], kind) for kind in _EVIDENCE] + [counts(report["rows"], *APART)]
        cells = [f"{kept} of {judged}" if judged else "–" for kept, judged in shares]
        verdict = report["verdict"]
        different = sum(row["verdict"] == Verdict.DIFFERS for row in report["rows"])
        if different:
            verdict += f", {different} {'differs' if different == 1 else 'differ'}"
        yield report["case"], report["source"], *cells, verdict, f"{report['wall_s'] / 60.0:.1f}"


def page(reports: Sequence[Mapping[str, Any]], only: Sequence[str] = ()) -> str:
    """Return the page in Markdown: a table of the cases, then a section a paper.

    Args:
        only: the parts that were chosen, of cases that have some; none: all.
    """
    every = [row for report in reports for row in report["rows"]]
    agreeing, apart = (
        ", ".join(
            f"{kept} of {judged} {_NAMES[kind]}"
            for kind, (kept, judged) in ((kind, counts(every, kind)) for kind in kinds)
            if judged
        )
        for kinds in (_EVIDENCE, APART)
    )
    minutes = sum(report["wall_s"] for report in reports) / 60.0
    about = (
        "`corekit reproduce --all --jobs 2` redoes the papers' figures and tables that the scenarios ship and writes\n"
        'this page. Every quantity is held against a reference of a stated kind. Of kind "paper" is a number or a\n'
        "sentence that the paper prints, once, where ours could have come out otherwise. Where ours differs for a\n"
        "reason, the reason predicts something that the same run checks; where that fails, the row is MISSED. Apart\n"
        "stand times of other machines, what we set as the paper does or what follows from it, and values of peers\n"
        "that nothing here regenerates: agreement there is no evidence. `corekit reproduce CASE` shows all\n"
        "quantities of a case with sources and tolerances."
    )
    when = (
        f"{datetime.now().astimezone():%Y-%m-%d}: {len(reports)} cases, {minutes:.0f} minutes of all processes.\n"
        f"Judged and kept: {agreeing}."
        + (f"\nApart: {apart}." if apart else "")
        + (f"\nOf the cases' parts only {', '.join(only)}." if only else "")
    )
    missed = [
        f"`{report['case']}`, {row['quantity']}"
        for report in reports
        for row in report["rows"]
        if row["verdict"] == Verdict.MISSED
    ] + [f"`{report['case']}` failed" for report in reports if report["error"]]
    parts = [
        "# What was reproduced",
        f"MISSED: {'; '.join(missed)}." if missed else "Nothing is missed.",
        about,
        when,
        _table(HEADER, summary_rows(reports)),
        *_sections(reports),
    ]
    return "\n\n".join(parts) + "\n"


_NAMES = {
    Kind.PAPER: "with the papers", Kind.PEER: "with other codes", Kind.ANALYTIC: "with analytic answers",
    Kind.FINER: "with finer solutions of our own", Kind.METHOD: "with other methods of our own",
    Kind.OWN: "of requirements without a reference", Kind.TIME: "printed times of other machines",
    Kind.SETTING: "settings and what follows from them", Kind.STORED: "stored values of peers",
}  # fmt: skip


def _sections(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for paper in dict.fromkeys(report["case"].partition("/")[0] for report in reports):
        own = [report for report in reports if report["case"].partition("/")[0] == paper]
        rows = [(report["case"], row) for report in own for row in report["rows"]]
        citation = next((report["citation"] for report in own if report["citation"]), "")
        yield f"## {paper}" + (f"\n\n{citation}" if citation else "")
        kept = [row for row in rows if row[1]["verdict"] == Verdict.KEPT]
        for title, kinds, theirs in (
            ("What agrees with the paper", (Kind.PAPER,), "paper"),
            ("Apart from the evidence, within its tolerance", APART, "theirs"),
        ):
            agrees = [each for each in kept if each[1]["kind"] in kinds]
            if agrees:
                yield f"{title}:"
                yield _table(
                    ("case", "quantity", theirs, "ours", "tolerance", "where"), map(_agreement, agrees)
                )
        for title, verdict in (
            ("What differs from the paper", Verdict.DIFFERS),
            ("What misses its tolerance", Verdict.MISSED),
            ("What could not be judged", Verdict.NOT_JUDGED),
        ):
            found = [each for each in rows if each[1]["verdict"] == verdict]
            if found:
                yield f"{title}:"
                yield "\n".join(map(_sentence, found))
        yield from (f"`{report['case']}` failed: {report['error']}" for report in own if report["error"])


def _agreement(found: tuple[str, Mapping[str, Any]]) -> tuple[str, ...]:
    case, row = found
    return (
        case,
        row["quantity"],
        _shown(row, "expected"),
        _shown(row, "ours"),
        row["tolerance"],
        row["source"],
    )


def _sentence(found: tuple[str, Mapping[str, Any]]) -> str:
    case, row = found
    beside = f" {_shown(row, 'ours')}"
    if row["expected"] is not None:
        beside += f", {row['kind']} {_shown(row, 'expected')}"
    why = row["reason"] or row["note"]
    return f"- `{case}`, {row['quantity']}:{beside} ({row['source']})" + (f". {why}" if why else "")


def _shown(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    if value is None:
        return "–"
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"{text} {row['unit']}" if row["unit"] and not isinstance(value, str) else text


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.replace("|", "∣") for cell in row) + " |" for row in rows]
    return "\n".join(lines)
