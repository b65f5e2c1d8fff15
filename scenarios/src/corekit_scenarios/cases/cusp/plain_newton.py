"""Scenario C with Newton's methods of less care: does the conditioning matter then?

    careful        the semismooth Newton as it is: from the last answer, then off its exact zeros, then from zero and
                   from scattered points, its matrix shifted off singular points
    exact zeros    from the last answer alone, whose exact zeros and complements are where the equations have no
                   derivative, with the shift
    no shift       from the last answer, then off its zeros, without a shift
    plain          from the last answer alone, without a shift: Newton's increments and a line search

One setting of the ablation, a box at 60° and 6 disks a section, stepped by rk23 at 1 ms, behind every subset of the
stages Q, R and T. Counted are the steps with contact that the first solver answers by itself, behind the stages. The
recorded fallback answers the others, so that all go through the same 2 s of motion.

What it is for: our careful Newton hardly needs the conditioning that the paper calls essential. The paper's own is
globalised by a Levenberg-Marquardt trust region (section V-A); it does not say from where it starts.

Found: the shift decides, also from the exact zeros. Without it Newton answers 66 % of the steps raw and 95 to 97 %
behind any subset of the stages; from the exact zeros as well 36 and 76 to 90 %. Which stage it is hardly matters: as
soon as one is on, `lcp` leaves out of its problem the contacts that open, which raw it does not; R with all contacts
answers 55 %. That is due to units of the problem's own, in which `lcp` poses LCPs: as the paper assembles them, with
all contacts, Newton answers 11 % without any stage and 56 % behind R, which is the paper's picture (`cusp/ablation`).
"""

from __future__ import annotations

from corekit_scenarios.cases.cusp.ablation_settings import CONVERGED, CellResult, Setting, judge, with_newton
from corekit_study.case_run import CaseRun, Job, Row
from corekit_study.reference import OWN

__all__ = ["METHODS", "plain_newton"]

METHODS = {
    "careful": "",
    "exact zeros": "starts=0, interior=0.0",
    "no shift": 'starts=0, globalisation="line-search"',
    "plain": 'starts=0, interior=0.0, globalisation="line-search"',
}
_SUBSETS = ("", "Q", "R", "T", "QR", "QT", "RT", "QRT")


def _job(method: str, stages: str) -> Job:
    overrides = with_newton(Setting(60, 6, "rk23", stages), METHODS[method])
    return Job(name=_name(method, stages), scenario="cusp/inclined-box", overrides=overrides)


def _name(method: str, stages: str) -> str:
    return f"{method.replace(' ', '-')}-{stages or 'none'}"


def plain_newton(case: CaseRun) -> list[Row]:
    """Every method behind every subset of the stages: shares of steps, and what decides them."""
    outcomes = case.run_all([_job(method, stages) for method in METHODS for stages in _SUBSETS])
    found = {
        method: {stages or "none": judge(outcomes[_name(method, stages)]) for stages in _SUBSETS}
        for method in METHODS
    }
    rows = [
        Row(
            quantity=f"{method}: steps answered by itself, by stages", unit="%", against=OWN,
            ours=", ".join(f"{stages} {100 * each.own:.1f}" for stages, each in own.items()),
            note=f"{sum(each.succeeds for each in own.values())} of {len(own)} runs succeed",
        )
        for method, own in found.items()
    ]  # fmt: skip
    lines = [f"{m};{s};{100 * each.own:.2f}" for m, own in found.items() for s, each in own.items()]
    (case.folder / "shares.csv").write_text(
        "\n".join(["method;stages;percent", *lines, ""]), encoding="utf-8"
    )
    careful, zeros, plain = found["careful"], found["exact zeros"], found["plain"]
    off_zeros = found["no shift"]
    return [
        *rows,
        Row(
            quantity="careful: subsets of the stages with which it answers 95 % of the steps", against=OWN,
            ours=_reaching(careful), tolerance="all", passed=all(each.own >= CONVERGED for each in careful.values()),
        ),
        Row(
            quantity="exact zeros: subsets with which it answers 95 % of the steps", against=OWN,
            ours=_reaching(zeros), tolerance="all", passed=all(each.own >= CONVERGED for each in zeros.values()),
            note="the shift alone leads off the exact zeros",
        ),
        Row(
            quantity="plain: subsets with which it answers 95 % of the steps", against=OWN, ours=_reaching(plain),
            tolerance="none: care decides, not the conditioning",
            passed=not any(each.own >= CONVERGED for each in plain.values()),
        ),
        Row(
            quantity="no shift: subsets with which it answers more than without any stage by 10 points", against=OWN,
            ours=f"{sum(each.own >= off_zeros['none'].own + 0.1 for each in off_zeros.values())} of 7",
            tolerance="all: any stage leaves out the contacts that open",
            passed=sum(each.own >= off_zeros["none"].own + 0.1 for each in off_zeros.values()) == 7,
        ),
        *(
            Row(
                quantity=f"{method}: what each stage gains, mean over the four subsets without it", unit="points",
                against=OWN, ours=", ".join(f"{stage} {_gain(found[method], stage):.1f}" for stage in "QRT"),
            )
            for method in METHODS
        ),
    ]  # fmt: skip


def _reaching(own: dict[str, CellResult]) -> str:
    count = sum(each.own >= CONVERGED for each in own.values())
    return f"{count} of {len(own)}"


def _gain(own: dict[str, CellResult], stage: str) -> float:
    """Mean gain of a stage over the subsets without it, in points of the steps that are answered."""
    without = [stages for stages in _SUBSETS if stage not in stages]
    pairs = [
        (own[stages or "none"], own["".join(s for s in "QRT" if s in stages + stage)]) for stages in without
    ]
    return 100.0 * sum(after.own - before.own for before, after in pairs) / len(pairs)
