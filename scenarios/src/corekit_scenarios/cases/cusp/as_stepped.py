"""Scenario C of CUSP as the paper steps it: an explicit free velocity every 0.1 ms, contacts at velocity level.

The paper takes the free velocity of a step from forces at its begin, and the velocities of contacts with (α/h)·g where
they penetrate (sections III and V-A). The other Euler runs of the ablation take the arm's stiffness and damping
implicitly and close gaps at the position level. Here the paper's own Newton's method runs in all four geometries,
without a stage and behind all three.
"""

from __future__ import annotations

from itertools import product

from corekit_scenarios.cases.cusp.ablation_settings import SOLVERS, CellResult, Setting, judge
from corekit_scenarios.cases.cusp.inclined_box import AS_PRINTED, FINE
from corekit_study.case_run import Job, Outcome, Row
from corekit_study.reference import OWN

__all__ = ["as_stepped_jobs", "as_stepped_rows"]

_STAGES = ("", "QRT")


def _settings(stages: str) -> list[Setting]:
    return [Setting(angle, disks, "euler", stages) for angle, disks in product((45, 60), (3, 6))]


def _name(setting: Setting) -> str:
    return f"as-stepped-{setting.name}"


def as_stepped_jobs() -> list[Job]:
    """The runs."""
    more = AS_PRINTED[len(FINE) :]
    return [
        Job(name=_name(each), scenario="cusp/inclined-box", overrides=(*each.overrides(SOLVERS[0]), *more))
        for stages in _STAGES
        for each in _settings(stages)
    ]


def as_stepped_rows(outcomes: dict[str, Outcome], others: dict[Setting, CellResult]) -> list[Row]:
    """How many of them succeed by the paper's criterion, beside the same settings as the ablation steps them."""
    rows = []
    for stages in _STAGES:
        judged = {each: judge(outcomes[_name(each)]) for each in _settings(stages)}
        count, beside = (
            sum(each.succeeds for each in judged.values()),
            sum(others[each].succeeds for each in judged),
        )
        shares = "; ".join(f"{each.label} {100 * one.own:.1f} %" for each, one in judged.items())
        rows.append(
            Row(
                quantity=f"stepped as in the paper: runs that succeed behind {stages or 'no stage'}", against=OWN,
                ours=f"{count} of {len(judged)}", tolerance="all" if stages else "",
                passed=count == len(judged) if stages else None,
                note=f"{beside} with implicit stiffness; converged by itself: {shares}; deepest "
                f"{1e3 * max(one.depth for one in judged.values()):.2g} mm",
            )
        )  # fmt: skip
    return rows
