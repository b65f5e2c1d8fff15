"""Scenario C of CUSP: every stage of the conditioning on and off, 64 runs for each LCP solver.

    box at 45° or 60°  ×  3 or 6 disks a section  ×  semi-implicit Euler with h = 0.1 ms or rk23 with h = 1 ms
    ×  every subset of Q (rank selection), R (equilibration), T (regularisation)

A run succeeds as in the paper: the LCP solver converged in at least 95 % of the steps with contact, nothing
penetrates by 10 mm, and at least 80 % of the time is simulated. “Converged” is the first solver on the first
problem, by itself, from the last step's impulses; contact modes are not guessed beforehand. Where it did not,
the recorded fallback chain answers, so that one bad step does not spoil the run; the table says how often.

The paper prints no result of a single run, but shares: with R all succeed, without 12 of 29, without any
stage 43 %, with all stages 100 %. Its 29 and its 43 % of 8 miss three of the 32 runs without R. Each of its two
sentences is one row; what single runs must keep is our own.

Ours succeed without R, and without any stage. Why is asked of one setting with LCPs as the paper assembles them
(`as_assembled`): a Newton's method that is not globalised, or starts at zero, needs the stages there. Four settings
also run as the paper steps them (`as_stepped`), and 32, where they are asked for, with nothing of ours (`raw`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from corekit_scenarios.cases.cusp.ablation_settings import SOLVERS, CellResult, Setting, judge, settings
from corekit_scenarios.cases.cusp.as_assembled import (
    as_assembled_jobs,
    as_assembled_rows,
    why_no_stage_is_needed,
)
from corekit_scenarios.cases.cusp.as_stepped import as_stepped_jobs, as_stepped_rows
from corekit_scenarios.cases.cusp.raw import RAW, raw_jobs, raw_rows
from corekit_study.case_run import CaseRun, Difference, Job, Outcome, Row
from corekit_study.reference import OWN, paper

__all__ = ["ablation"]

_TABLE = paper("section V-B, Scenario C")
_ALIKE = 0.1
"""How far a share of successful runs may be from the paper's to count as the same."""


@frozen
class _Share:
    """A share of successful runs in the paper: of which runs, in its words, and of which stages they are.

    Args:
        free: whether Newton's needing no stage would make ours larger.
    """

    name: str
    said: str
    share: float
    of: Callable[[str], bool]
    free: bool = False


_SENTENCES = (
    (_Share("without R", "12 of 29 (41 %)", 12 / 29, lambda stages: "R" not in stages, free=True),),
    (
        _Share("with R", "all", 1.0, lambda stages: "R" in stages),
        _Share("without any stage", "43 %", 0.43, lambda stages: not stages, free=True),
        _Share("with Q, R and T", "100 %", 1.0, lambda stages: stages == "QRT"),
    ),
)
"""Of the paper, a row each."""


def ablation(case: CaseRun) -> list[Row]:
    """All runs of the chosen solvers, one row each, and what the paper's shares become."""
    if case.only == (RAW,):
        return raw_rows(case.run_all(raw_jobs()))
    solvers = tuple(each for each in case.only if each != RAW) or SOLVERS
    jobs = [
        Job(name=f"{solver}-{each.name}", scenario="cusp/inclined-box", overrides=each.overrides(solver))
        for solver in solvers
        for each in settings()
    ]
    papers = SOLVERS[0] in solvers
    outcomes = case.run_all(jobs + (as_assembled_jobs() + as_stepped_jobs() if papers else []))
    reason = why_no_stage_is_needed(outcomes) if papers else None
    rows: list[Row] = []
    for solver in solvers:
        runs = {each: outcomes[f"{solver}-{each.name}"] for each in settings()}
        judged = {each: judge(outcome) for each, outcome in runs.items()}
        rows += [_run_row(solver, each, judged[each], runs[each]) for each in runs]
        rows += _shares(solver, judged, reason)
        rows += _whole(solver, judged, runs)
        if solver == SOLVERS[0]:
            rows += as_assembled_rows(outcomes, judged[Setting(45, 6, "rk23", "RT")])
            rows += as_stepped_rows(outcomes, judged)
    return [*rows, *(raw_rows(case.run_all(raw_jobs())) if RAW in case.only else [])]


def _run_row(solver: str, each: Setting, judged: CellResult, outcome: Outcome) -> Row:
    asked = (solver == SOLVERS[0] and "R" in each.stages) or each.stages == "QRT"
    notes = [
        "succeeds" if judged.succeeds else "fails",
        f"{1e3 * judged.depth:.2g} mm deep" if judged.depth >= 1e-6 else "less than 1 µm deep",
        f"{100 * judged.completed:.0f} % of the time",
        f"{outcome.wall_s:.0f} s",
    ]
    if judged.answered:
        notes.append(f"also answered: {judged.answered}")
    if judged.unsolved:
        notes.append(f"{judged.unsolved} steps unsolved")
    if outcome.error:
        notes.append(outcome.error)
    return Row(
        quantity=f"{solver}: {each.label}: converged by itself", unit="%", against=OWN, ours=100.0 * judged.own,
        tolerance="≥ 95 %, < 10 mm, ≥ 80 % of the time" if asked else "", passed=judged.succeeds if asked else None,
        note="; ".join(notes),
    )  # fmt: skip


def _shares(solver: str, judged: dict[Setting, CellResult], reason: Difference | None) -> list[Row]:
    """Runs that succeed, by the paper's sentences, which are of its semismooth Newton."""
    rows: list[Row] = []
    for sentence in _SENTENCES:
        runs = [
            [cell.succeeds for each, cell in judged.items() if share.of(each.stages)] for share in sentence
        ]
        more = [sum(each) / len(each) - share.share for each, share in zip(runs, sentence, strict=True)]
        papers, alike = solver == SOLVERS[0], all(abs(each) <= _ALIKE for each in more)
        free = all(
            abs(each) <= _ALIKE or (s.free and each > 0) for each, s in zip(more, sentence, strict=True)
        )
        rows.append(
            Row(
                quantity=f"{solver}: runs that succeed {'; '.join(each.name for each in sentence)}",
                against=_TABLE if papers else OWN, ours="; ".join(f"{sum(each)} of {len(each)}" for each in runs),
                expected="; ".join(each.said for each in sentence) if papers else None,
                tolerance=f"within {100 * _ALIKE:g} points of the paper's" if papers else _asked(sentence),
                passed=alike if papers else all(runs[-1]) if _asked(sentence) else None,
                difference=evolve(reason, holds=reason.holds and free) if reason and papers and not alike else None,
            )
        )  # fmt: skip
    return rows


def _asked(sentence: Sequence[_Share]) -> str:
    """What other solvers must keep: that all runs with all stages succeed."""
    return "all with Q, R and T" if sentence[-1].of("QRT") else ""


def _whole(solver: str, judged: dict[Setting, CellResult], runs: dict[Setting, Outcome]) -> list[Row]:
    complete = sum(each.completed >= 1.0 and not runs[key].error for key, each in judged.items())
    alone = sum(each.own >= 1.0 for each in judged.values())
    least = min(judged, key=lambda each: judged[each].own)
    return [
        Row(
            quantity=f"{solver}: runs that complete with the fallback chain", against=OWN,
            ours=f"{complete} of {len(runs)}",
            tolerance="all", passed=complete == len(runs),
        ),
        Row(
            quantity=f"{solver}: runs in which it needs no fallback", against=OWN, ours=f"{alone} of {len(runs)}",
            note=f"least in {least.label}: {100 * judged[least].own:.2f} %",
        ),
        Row(
            quantity=f"{solver}: wall time of all runs together", unit="s", against=OWN,
            ours=sum(outcome.wall_s for outcome in runs.values()), note="summed over processes",
        ),
    ]  # fmt: skip
