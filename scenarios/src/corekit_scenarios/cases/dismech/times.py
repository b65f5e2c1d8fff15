"""Table II of DisMech: what its benchmarks cost.

The authors' code runs its cantilevers and its friction case in the x–z plane (`enable_2d_sim`), the helices in space,
and ends Newton's method where an update moves no node faster than 1 mm/s or the force fell to 1e-4. So do ours: in the
plane where theirs are, beside the cantilevers in space, at an error of a velocity of 0.1 mm/s or less: such that the
whole motion hardly depends on it, which is measured too.

Times of the C++ code: whole runs of commit ea6b818 with MKL's PARDISO, one thread, two-core EPYC.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np

from corekit.scenario.load import load
from corekit_scenarios.cases.dismech.contacts import FORCES, MASS, carried
from corekit_scenarios.cases.dismech.swings import B2, STIFF
from corekit_study.case_run import CaseRun, Row
from corekit_study.reference import finer, paper, peer

__all__ = ["solve_time", "table2"]

_ROUNDS = 3
_PRINTED = paper("Table II, DisMech; i7-9700K of 8 cores")
_PRINTED_ELASTICA = paper("Table II, Elastica at its largest stable step; i7-9700K of 8 cores")
_ALL_PUSHES = 1.59, 7.42
"""What DisMech and Elastica took for all 44 pushes, run in parallel [s]."""
_CODE = peer(
    "DisMech's C++ code, ea6b818, MKL PARDISO, one thread",
    "stored, two-core EPYC, whole runs, no date kept, committed 2026-11-20",
)
_MIDPOINT = ("integrator.use=implicit-midpoint", "integrator.options={}")
_TIGHT = "1e-9"
_REMARKS = {
    "b1, helix, h = 4 ms": "; the paper's own time is for steps of 6 ms",
    "c, friction in the plane, one run": (
        "; the stored run does not say whether it simulated 1.0 s, as the code's example does, or the paper's 1.5 s "
        "as ours. Built again without its symbolic start-up it took 0.196 s for 1.0 s and 0.295 s for 1.5 s on "
        "2026-11-23; `corekit bench rods --peers --dismech PROGRAM` times both for the same simulated time in one run"
    ),
}
_PLANAR = ("bodies[0].options.planar=true",)
_HELIX = (*_MIDPOINT, "time.step=4e-3", "output.every=4e-3", "time.duration=10.0")


def solve_time(scenario: str, overrides: Sequence[str] = (), rounds: int = _ROUNDS) -> float:
    """Processor time of the steps of a run, without loading, compiling and recording [s]; the least of some rounds."""
    loaded = load(scenario, overrides)
    best = math.inf
    for _ in range(rounds):
        loaded.compose().step()  # compiles in the first round
        simulation = loaded.compose()
        begin = time.thread_time()
        simulation.run(loaded.time.duration)
        best = min(best, time.thread_time() - begin)
    return best


def table2(case: CaseRun) -> list[Row]:
    """Every benchmark at the authors' step, against their code's time on a machine like this."""
    stiff = (*STIFF, "time.step=0.05", "output.every=0.05")
    jobs: dict[str, tuple[str, Sequence[str], str, tuple[float, ...], float, float | None, int]] = {
        "a1, cantilever in the plane": ("dismech/cantilever", _PLANAR, "1e-7", (0.661, 23.80), 0.713, 20.4, 12),
        "a2, stiff cantilever in the plane": (
            "dismech/cantilever", (*_PLANAR, *stiff), "1e-5", (1.24, 40.01), 1.44, 33.7, 12,
        ),
        "a1, cantilever in space": ("dismech/cantilever", (), "1e-7", (), 1.26, 20.4, 12),
        "a2, stiff cantilever in space": ("dismech/cantilever", stiff, "1e-5", (), 2.17, 33.7, 12),
        "b1, helix, h = 4 ms": ("dismech/helix", _HELIX, "1e-4", (7.30, 11.77), 9.19, None, 18),
        "b2, stiff helix": ("dismech/helix", (*_MIDPOINT, *B2), "1e-4", (3.18, 89.24), 3.10, 83.6, 18),
        "c, friction in the plane, one run": (
            "dismech/friction", (carried(), *_PLANAR), "1e-4", (), 0.291, 0.596, 8,
        ),
        "spider": ("dismech/spider", (), "1e-4", (), 19.5, None, 0),
    }  # fmt: skip
    rows: list[Row] = []
    spent: dict[str, float] = {}
    for name, (scenario, overrides, tolerance, printed, code, elastica, bar) in jobs.items():
        ours = solve_time(scenario, (*overrides, _within(tolerance)))
        spent[name] = ours
        times = code / ours
        said = f"{times:.1f} times faster than the C++ code{_REMARKS.get(name, '')}"
        if elastica is not None:
            said += f"; {elastica / ours:.0f} times faster than PyElastica"
            said += " (stored, the same machine, its largest stable step)"
        rows.append(
            Row(
                quantity=f"solve time of {name}", unit="s", against=_CODE, expected=code, ours=ours,
                tolerance=f"≥ {bar} times faster" if bar else "< 2 s", passed=times >= bar if bar else ours < 2.0,
                note=f"{said}; Newton's tolerance {tolerance} m/s",
            )
        )  # fmt: skip
        rows += [
            Row(
                quantity=f"the same, {name}", unit="s", against=whose, expected=said, ours=ours,
                tolerance="at most the paper's", passed=ours <= said,
            )
            for whose, said in zip((_PRINTED, _PRINTED_ELASTICA), printed, strict=False)
        ]  # fmt: skip
    rows += _all_pushes()
    rows += [_apart(case, name, *jobs[name][:3]) for name in jobs if name[0] in "abc"]
    text = "".join(f"{name};{seconds:.4f}\n" for name, seconds in spent.items())
    (case.folder / "seconds.csv").write_text("case;solve_s\n" + text, encoding="utf-8")
    return rows


def _all_pushes() -> list[Row]:
    """The whole set of the friction experiment, one after the other, where the paper's ran in parallel."""
    tight = (carried(), *_PLANAR, _within("1e-4"))
    spent = sum(
        solve_time("dismech/friction", (*tight, f"world.gravity=[{push / MASS}, 0.0, -9.8]"), 1)
        for push in FORCES
    )
    serial = "ours run one after the other on one thread, the paper's in parallel on eight cores"
    return [
        Row(
            quantity=f"solve time of all {len(FORCES)} pushes of c, in the plane", unit="s", against=whose,
            expected=said, ours=spent, tolerance="at most the paper's", passed=spent <= said,
            reason="" if spent <= said else serial, note="one round each; Newton's tolerance 1e-4 m/s",
        )
        for whose, said in zip((_PRINTED, _PRINTED_ELASTICA), _ALL_PUSHES, strict=True)
    ]  # fmt: skip


def _within(tolerance: str) -> str:
    return f"integrator.options.tolerance={tolerance}"


def _apart(case: CaseRun, name: str, scenario: str, overrides: Sequence[str], tolerance: str) -> Row:
    """How far the tolerance moves the last node in the first half second, or all of a cantilever's run."""
    whole = "cantilever" in name
    until = () if whole else ("time.duration=0.48",)
    runs = [
        case.run(
            scenario,
            (*overrides, _within(each), *until),
            f"{name.split(',', maxsplit=1)[0]}-{len(overrides)}-{label}",
        )
        for label, each in (("as-timed", tolerance), ("tight", _TIGHT))
    ]
    tips = [run.frame_position[:, -1] for run in runs]
    swing = float(np.ptp(tips[1], axis=0).max())
    apart = float(np.abs(tips[0] - tips[1]).max()) / swing
    return Row(
        quantity=f"{name}: last node at a tolerance of {tolerance} from that at {_TIGHT}, share of its swing", unit="%",
        against=finer(f"Newton's tolerance {_TIGHT}"), expected=0.0, ours=100 * apart, tolerance="≤ 0.5 %",
        passed=apart <= 5e-3, note=f"it moves by {1e3 * swing:.3g} mm",
    )  # fmt: skip
