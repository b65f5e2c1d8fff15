"""Scenario C of CUSP with nothing of ours: LCPs as assembled, T of (16), the trust region that section V-A names.

The half of the 64 runs that rk23 steps. They run where they are asked for, `--only raw`.

All 16 without R succeed, and 14 of 16 with R: behind R and T the runs at 45° answer 93.7 % (3 disks) and 92.7 % (6) of
their steps. So the paper's picture is not that of its trust region where it begins at the last answer.
"""

from __future__ import annotations

from corekit_scenarios.cases.cusp.ablation_settings import Setting, judge, settings, with_newton
from corekit_scenarios.cases.cusp.as_assembled import AS_ASSEMBLED, WAYS
from corekit_study.case_run import Job, Outcome, Row
from corekit_study.reference import OWN

__all__ = ["RAW", "raw_jobs", "raw_rows"]

RAW = "raw"
"""The choice of the case."""
_SHARES = {
    "with R": lambda stages: "R" in stages,
    "without R": lambda stages: "R" not in stages,
    "without any stage": lambda stages: not stages,
    "with Q, R and T": lambda stages: stages == "QRT",
}


def _settings() -> list[Setting]:
    return [each for each in settings() if each.integrator == "rk23"]


def raw_jobs() -> list[Job]:
    """The 32 runs."""
    return [
        Job(
            name=f"{RAW}-{each.name}", scenario="cusp/inclined-box",
            overrides=(*with_newton(each, WAYS["trust region"].newton), *AS_ASSEMBLED),
        )
        for each in _settings()
    ]  # fmt: skip


def raw_rows(outcomes: dict[str, Outcome]) -> list[Row]:
    """How many succeed by the paper's criterion, and what single ones answer."""
    judged = {each: judge(outcomes[f"{RAW}-{each.name}"]) for each in _settings()}
    rows = []
    for name, chosen in _SHARES.items():
        runs = {each: cell for each, cell in judged.items() if chosen(each.stages)}
        failing = [f"{each.label} {100 * cell.own:.1f} %" for each, cell in runs.items() if not cell.succeeds]
        rows.append(
            Row(
                quantity=f"raw, trust region from the last answer, rk23: runs that succeed {name}", against=OWN,
                ours=f"{sum(cell.succeeds for cell in runs.values())} of {len(runs)}",
                note=f"fail, by what they answer: {'; '.join(failing) or 'none'}",
            )
        )  # fmt: skip
    return rows
