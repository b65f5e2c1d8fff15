"""The page about a series of cases: what agrees with which kind of reference, what differs and why, what is not judged.

It is made of the reports as JSON holds them, so that a series that was stopped and resumed gives the same page.
What a paper says once of several robots or axes stands in the case of each, where it is judged; on the page these rows
of one quantity, one place in the paper and one printed value are one row, kept where all of them are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from corekit_study.case_run import Verdict
from corekit_study.reference import APART, Kind

__all__ = ["HEADER", "counts", "merged", "page", "summary_rows"]

_EVIDENCE = tuple(kind for kind in Kind if kind not in APART)
HEADER = ("case", "source", *map(str, _EVIDENCE), "apart", "verdict", "minutes")
_JUDGED = (str(Verdict.KEPT), str(Verdict.DIFFERS), str(Verdict.MISSED))
"""The worst last."""


def counts(rows: Iterable[Mapping[str, Any]], *kinds: Kind) -> tuple[int, int]:
    """How many judged rows of some kinds keep their tolerance, and how many there are."""
    verdicts = [row["verdict"] for row in rows if row["kind"] in kinds and row["verdict"] in _JUDGED]
    return verdicts.count(str(Verdict.KEPT)), len(verdicts)


def merged(reports: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """Pair each row with the cases that it is of; rows of one sentence of a paper are one, in the first one's place."""
    together: dict[tuple[object, ...], dict[str, Mapping[str, Any]]] = {}
    for report in reports:
        case, paper = report["case"], report["case"].partition("/")[0]
        for place, row in enumerate(report["rows"]):
            said = (paper, row["quantity"], row["source"], row["expected"])
            is_said_once = row["kind"] == Kind.PAPER and row["verdict"] in _JUDGED
            if not is_said_once or case in together.get(said, ()):
                said = (case, place)
            together.setdefault(said, {})[case] = row
    return [_one(rows) if len(rows) > 1 else next(iter(rows.items())) for rows in together.values()]


def _one(rows: Mapping[str, Mapping[str, Any]]) -> tuple[str, Mapping[str, Any]]:
    """Make one row of those of several cases: what each found, its verdict and why, beside the name of its case."""
    first, *others = rows
    verdicts = [row["verdict"] for row in rows.values()]
    worst = next(each for each in _JUDGED[::-1] if each in verdicts)
    found, why = list[str](), list[str]()
    for case, row in rows.items():
        name = case.partition("/")[2] or case
        told = "" if row["verdict"] == worst else f", {row['verdict']}"
        found.append(f"{name} ({_shown(row, 'ours')}{told})")
        why += [f"{name}: {said}" for said in (row["reason"] or row["note"],) if said]
    tolerances = "; ".join(dict.fromkeys(row["tolerance"] for row in rows.values() if row["tolerance"]))
    return ", ".join([first, *(case.partition("/")[2] or case for case in others)]), {
        **rows[first], "tolerance": tolerances, "ours": ", ".join(found), "verdict": worst, "reason": "; ".join(why),
        "note": "",
    }  # fmt: skip


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


def page(reports: Sequence[Mapping[str, Any]], only: Sequence[str] = (), day: str = "") -> str:
    """Return the page in Markdown: a table of the cases, then a section a paper.

    Args:
        only: the parts that were chosen, of cases that have some; none: all.
        day: of the runs; today if empty.
    """
    every = merged(reports)
    agreeing, apart = (
        ", ".join(
            f"{kept} of {judged} {_NAMES[kind]}"
            for kind, (kept, judged) in ((kind, counts((row for _, row in every), kind)) for kind in kinds)
            if judged
        )
        for kinds in (_EVIDENCE, APART)
    )
    minutes = sum(report["wall_s"] for report in reports) / 60.0
    about = (
        "`corekit reproduce --all --jobs 2` redoes the papers' figures and tables that the scenarios ship and writes\n"
        'this page. Every quantity is held against a reference of a stated kind. Of kind "paper" is a number or a\n'
        "sentence that the paper prints, where ours could have come out otherwise; what it says once of several\n"
        "cases counts once here, and in the table in each of them. Where ours differs for a reason, the reason\n"
        "predicts something that the same run checks; where that fails, the row is MISSED. Apart stand times of\n"
        "other machines, what we set as the paper does or what follows from it, and values of peers that nothing\n"
        "here regenerates: agreement there is no evidence. `corekit reproduce CASE` shows all quantities of a case\n"
        "with sources and tolerances."
    )
    day = day or f"{datetime.now().astimezone():%Y-%m-%d}"
    when = (
        f"{day}: {len(reports)} cases, {minutes:.0f} minutes of all processes.\n"
        f"Judged and kept: {agreeing}."
        + (f"\nApart: {apart}." if apart else "")
        + (f"\nOf the cases' parts only {', '.join(only)}." if only else "")
    )
    missed = [f"`{case}`, {row['quantity']}" for case, row in every if row["verdict"] == Verdict.MISSED] + [
        f"`{report['case']}` failed" for report in reports if report["error"]
    ]
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
        rows = merged(own)
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
