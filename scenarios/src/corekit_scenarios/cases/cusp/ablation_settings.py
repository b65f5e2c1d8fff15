"""The 64 runs of Scenario C of CUSP, and the paper's criterion for one of them.

Stage T spares the loads of the guess (`proximal-normals` of `lcp`), which the paper's does not: see `as_assembled`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

from attrs import frozen

from corekit_scenarios.cases.cusp.inclined_box import FINE, RK23
from corekit_study.case_run import Outcome

__all__ = [
    "CONVERGED",
    "OPTIONS",
    "SOLVERS",
    "CellResult",
    "Setting",
    "box_at",
    "judge",
    "settings",
    "with_newton",
]

SOLVERS = ("semismooth-newton", "lemke", "pgs")
"""The paper's own first."""
CONVERGED, DEEPEST, COMPLETED = 0.95, 10e-3, 0.80
"""The paper's criterion: share of the steps, penetration [m], share of the time."""
STAGES = {"Q": "rank_selection", "R": "equilibration", "T": "regularisation"}
OPTIONS = "contact.solver.options"
_FACE, _CENTRE, _HALF = 0.07, 0.3, 0.05
"""Of the box: how far its face is below the base, how far down the slope its centre is, half its height [m]."""
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
            f"{OPTIONS}.lcp_solver={solver}",
            f"{OPTIONS}.fallback=[{others}]",
            f"{OPTIONS}.warm_start=false",
            f"{OPTIONS}.regularisation.rows=proximal-normals",
            *(
                f"{OPTIONS}.{option}.enabled={'true' if stage in self.stages else 'false'}"
                for stage, option in STAGES.items()
            ),
        )


def with_newton(setting: Setting, options: str) -> tuple[str, ...]:
    """Overrides of a setting with other options of the paper's own solver."""
    solver = f'{OPTIONS}.lcp_solver={{use="{SOLVERS[0]}", options={{{options}}}}}'
    given = setting.overrides(SOLVERS[0])
    return tuple(solver if each.startswith(f"{OPTIONS}.lcp_solver=") else each for each in given)


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
