"""Scenario C of CUSP: every stage of the conditioning on and off, 64 runs for each LCP solver.

    box at 45° or 60°  ×  3 or 6 disks a section  ×  semi-implicit Euler with h = 0.1 ms or rk23 with h = 1 ms
    ×  every subset of Q (rank selection), R (equilibration), T (regularisation)

A run succeeds as in the paper: the LCP solver converged in at least 95 % of the steps with contact, nothing
penetrates by 10 mm, and at least 80 % of the time is simulated. “Converged” is the first solver on the first
problem, by itself, from the last step's impulses; contact modes are not guessed beforehand. Where it did not,
the recorded fallback chain answers, so that one bad step does not spoil the run; the table says how often.

The paper prints no result of a single run, but shares: with R all succeed, without 12 of 29, without any
stage 43 %, with all stages 100 %. Its 29 and its 43 % of 8 miss three of the 32 runs without R. Each share is one row
of the paper; what single runs must keep is our own.

Ours succeed without R, and without any stage, since Newton's matrix is shifted off singular points. If that is why,
Newton without a shift must need the stages: one setting is run so, raw and behind all of them. That does not say which
of them it needs: as soon as one is on, `lcp` leaves out the contacts that open, and that is what helps
(`cusp/plain-newton`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from attrs import frozen

from corekit_scenarios.cases.cusp.inclined_box import FINE, RK23
from corekit_study.case_run import CaseRun, Difference, Job, Outcome, Row
from corekit_study.reference import OWN, paper

__all__ = ["SOLVERS", "Setting", "ablation", "box_at", "judge", "settings", "with_newton"]

SOLVERS = ("semismooth-newton", "lemke", "pgs")
"""The paper's own first."""
CONVERGED, DEEPEST, COMPLETED = 0.95, 10e-3, 0.80
"""The paper's criterion: share of the steps, penetration [m], share of the time."""
STAGES = {"Q": "rank_selection", "R": "equilibration", "T": "regularisation"}
_OPTIONS = "contact.solver.options"
_FACE, _CENTRE, _HALF = 0.07, 0.3, 0.05
"""Of the box: how far its face is below the base, how far down the slope its centre is, half its height [m]."""
_TABLE = paper("section V-B, Scenario C")
_ALIKE = 0.1
"""How far a share of successful runs may be from the paper's to count as the same."""
_GAIN = 0.1
"""What all stages give to Newton's method without a shift, of the steps, if the shift is why ours needs none."""
_UNSHIFTED = 'starts=0, globalisation="line-search"'
_LEAN = math.radians(7.0)
"""Of the arm off the face at the start, as in Scenario A."""


@frozen
class Setting:
    """One run: angle of the box [°], disks inside a section, integrator, conditioning stages."""

    angle: int
    disks: int
    integrator: str
    stages: str

    @property
    def label(self) -> str:
        """As it stands in the table."""
        return f"{self.angle}°, {self.disks} disks, {self.integrator}, {self.stages or 'none'}"

    @property
    def name(self) -> str:
        """As a folder's name."""
        return f"{self.angle}-{self.disks}-{self.integrator}-{self.stages or 'none'}"

    def overrides(self, solver: str) -> tuple[str, ...]:
        """What differs from Scenario A."""
        others = ", ".join(f'"{each}"' for each in ("lemke", "pgs") if each != solver)
        return (
            *box_at(self.angle),
            f"bodies[0].options.disks={self.disks}",
            *(FINE if self.integrator == "euler" else RK23),
            f"{_OPTIONS}.lcp_solver={solver}",
            f"{_OPTIONS}.fallback=[{others}]",
            f"{_OPTIONS}.warm_start=false",
            *(
                f"{_OPTIONS}.{option}.enabled={'true' if stage in self.stages else 'false'}"
                for stage, option in STAGES.items()
            ),
        )


def with_newton(setting: Setting, options: str) -> tuple[str, ...]:
    """Overrides of a setting with other options of the paper's own solver."""
    solver = f'{_OPTIONS}.lcp_solver={{use="{SOLVERS[0]}", options={{{options}}}}}'
    given = setting.overrides(SOLVERS[0])
    return tuple(solver if each.startswith(f"{_OPTIONS}.lcp_solver=") else each for each in given)


def box_at(angle: float) -> tuple[str, ...]:
    """Overrides of Scenario A that incline the box by an angle [°] and turn the arm with it.

    With n and t the normal of the face and the line of fall, the face's centre is −0.07·n + 0.3·t and the arm
    starts 7° off the face, whatever the angle; 45° gives Scenario A.
    """
    turned = math.radians(angle)
    n, t = (-math.sin(turned), math.cos(turned)), (-math.cos(turned), -math.sin(turned))
    y, z = (-(_FACE + _HALF) * n[i] + _CENTRE * t[i] for i in range(2))
    arm = math.pi / 2 + turned - _LEAN
    return (
        f"world.obstacles[0].rotation_rpy=[{turned!r}, 0.0, 0.0]",
        f"world.obstacles[0].position=[0.0, {y:.6f}, {z:.6f}]",
        f"bodies[0].base.rotation_rpy=[{arm!r}, 0.0, 0.0]",
    )


def settings() -> Iterator[Setting]:
    """All 64 in the order of the table."""
    subsets = ("", "Q", "R", "T", "QR", "QT", "RT", "QRT")
    for angle, disks, integrator, stages in product((45, 60), (3, 6), ("euler", "rk23"), subsets):
        yield Setting(angle, disks, integrator, stages)


@frozen
class CellResult:
    """A run by the paper's criterion.

    Args:
        own: share of the steps with contact in which the first solver converged by itself, 0 to 1.
        depth: deepest penetration [m]. completed: share of the time.
        answered: the other solvers' answers, by solver. unsolved: steps that no solver solved.
    """

    own: float
    depth: float
    completed: float
    answered: str
    unsolved: int

    @property
    def succeeds(self) -> bool:
        """The paper's criterion."""
        return self.own >= CONVERGED and self.depth < DEEPEST and self.completed >= COMPLETED


def judge(outcome: Outcome) -> CellResult:
    """Judge a run from its counters."""
    said = outcome.statistics
    answered = dict(said.get("answered_by", {}))
    without_contact = int(answered.pop("factorisation", 0))
    with_contact = int(said.get("steps", 0)) - without_contact
    converged = int(said.get("statuses", {}).get("converged", 0)) - without_contact
    fallbacks = int(said.get("statuses", {}).get("fallback", 0))
    first = max(answered, key=lambda who: answered[who], default="")
    others = ", ".join(f"{who} {count}" for who, count in answered.items() if who != first)
    return CellResult(
        own=converged / with_contact if with_contact else 0.0,
        depth=float(said.get("deepest_penetration_m", math.inf)),
        completed=outcome.completed,
        answered=others if fallbacks else "",
        unsolved=int(said.get("unsolved_steps", 0)),
    )


def ablation(case: CaseRun) -> list[Row]:
    """All runs of the chosen solvers, one row each, and what the paper's shares become."""
    solvers = case.only or SOLVERS
    jobs = [
        Job(name=f"{solver}-{each.name}", scenario="cusp/inclined-box", overrides=each.overrides(solver))
        for solver in solvers
        for each in settings()
    ]
    unshifted = [Setting(60, 6, "rk23", stages) for stages in ("", "QRT")]
    jobs += [
        Job(
            name=f"unshifted-{each.name}",
            scenario="cusp/inclined-box",
            overrides=with_newton(each, _UNSHIFTED),
        )
        for each in (unshifted if SOLVERS[0] in solvers else ())
    ]
    outcomes = case.run_all(jobs)
    reason = (
        _why(*(outcomes[f"unshifted-{each.name}"] for each in unshifted)) if SOLVERS[0] in solvers else None
    )
    rows: list[Row] = []
    for solver in solvers:
        runs = {each: outcomes[f"{solver}-{each.name}"] for each in settings()}
        judged = {each: judge(outcome) for each, outcome in runs.items()}
        rows += [_run_row(solver, each, judged[each], runs[each]) for each in runs]
        rows += _shares(solver, judged, reason)
        rows += _whole(solver, judged, runs)
    return rows


def _why(raw: Outcome, conditioned: Outcome) -> Difference:
    """Why ours succeeds without the stages, from Newton's method without its shift."""
    alone, behind = judge(raw).own, judge(conditioned).own
    return Difference(
        "our Newton's matrix is shifted off singular points, and `lcp` solves problems in units of their own: "
        "nearly every step is solved without any conditioning",
        f"that without the shift it answers at least {100 * _GAIN:g} points of the steps more behind Q, R and T "
        f"({100 * behind:.1f} %) than without any ({100 * alone:.1f} %)",
        behind >= alone + _GAIN,
    )


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
    """Runs that succeed, beside the paper's shares, which are of its semismooth Newton."""
    groups = (
        ("with R", 1.0, "all", [each for each in judged if "R" in each.stages]),
        ("without R", 12 / 29, "12 of 29 (41 %)", [each for each in judged if "R" not in each.stages]),
        ("without any stage", 0.43, "43 %", [each for each in judged if not each.stages]),
        ("with Q, R and T", 1.0, "100 %", [each for each in judged if each.stages == "QRT"]),
    )
    rows: list[Row] = []
    for name, share, said, group in groups:
        count = sum(judged[each].succeeds for each in group)
        alike = abs(count / len(group) - share) <= _ALIKE
        papers = solver == SOLVERS[0]
        full = name == "with Q, R and T"
        rows.append(
            Row(
                quantity=f"{solver}: runs that succeed {name}", against=_TABLE if papers else OWN,
                expected=said if papers else None, ours=f"{count} of {len(group)}",
                tolerance=f"within {100 * _ALIKE:g} points of the paper's" if papers else "all" if full else "",
                passed=alike if papers else count == len(group) if full else None,
                difference=None if alike or not papers else reason,
            )
        )  # fmt: skip
    return rows


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
