"""The page about a series of cases: what agrees with which kind of reference, what differs and why, what is not judged.

It is made of the reports as JSON holds them, so that a series that was stopped and resumed gives the same page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from corekit_study.case_run import Verdict
from corekit_study.reference import Kind

__all__ = ["HEADER", "counts", "page", "summary_rows"]

HEADER = ("case", "source", *map(str, Kind), "verdict", "minutes")
_JUDGED = (str(Verdict.KEPT), str(Verdict.DIFFERS), str(Verdict.MISSED))


def counts(rows: Iterable[Mapping[str, Any]], kind: Kind) -> tuple[int, int]:
    """How many judged rows of a kind keep their tolerance, and how many there are."""
    verdicts = [row["verdict"] for row in rows if row["kind"] == kind and row["verdict"] in _JUDGED]
    return verdicts.count(str(Verdict.KEPT)), len(verdicts)


def summary_rows(reports: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Yield the cells under `HEADER`; under a kind stands how many of the judged rows agree with it."""
    for report in reports:
        shares = [counts(report["rows"], kind) for kind in Kind]
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
    shares = {kind: counts(every, kind) for kind in Kind}
    agreeing = ", ".join(
        f"{kept} of {judged} with {_NAMES[kind]}" for kind, (kept, judged) in shares.items() if judged
    )
    minutes = sum(report["wall_s"] for report in reports) / 60.0
    about = (
        "`corekit reproduce --all --jobs 2` redoes the papers' figures and tables that the scenarios ship and writes\n"
        "this page. Every quantity is held against a reference of a stated kind; a number of a paper that has ours\n"
        "beside it is always judged. `corekit reproduce CASE` shows all quantities of a case with sources and\n"
        "tolerances."
    )
    when = (
        f"{datetime.now().astimezone():%Y-%m-%d}: {len(reports)} cases, {minutes:.0f} minutes of all processes.\n"
        f"Judged and kept: {agreeing}." + (f"\nOf the cases' parts only {', '.join(only)}." if only else "")
    )
    parts = [
        "# What was reproduced",
        about,
        when,
        _table(HEADER, summary_rows(reports)),
        *_sections(reports),
    ]
    return "\n\n".join(parts) + "\n"


_NAMES = {
    Kind.PAPER: "the papers", Kind.PEER: "other codes", Kind.ANALYTIC: "analytic answers",
    Kind.FINER: "finer solutions of our own", Kind.METHOD: "other methods of our own",
    Kind.OWN: "requirements without a reference",
}  # fmt: skip


def _sections(reports: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for paper in dict.fromkeys(report["case"].partition("/")[0] for report in reports):
        own = [report for report in reports if report["case"].partition("/")[0] == paper]
        rows = [(report["case"], row) for report in own for row in report["rows"]]
        citation = next((report["citation"] for report in own if report["citation"]), "")
        yield f"## {paper}" + (f"\n\n{citation}" if citation else "")
        said = [row for row in rows if row[1]["kind"] == Kind.PAPER]
        agrees = [each for each in said if each[1]["verdict"] == Verdict.KEPT]
        if agrees:
            yield "What agrees with the paper:"
            yield _table(("case", "quantity", "paper", "ours", "tolerance", "where"), map(_agreement, agrees))
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
