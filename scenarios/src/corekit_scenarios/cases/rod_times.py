"""Table II of DisMech: what its benchmarks cost."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from corekit.scenario.load import load
from corekit.study.case_run import CaseRun, Row
from corekit_scenarios.cases.rod_contacts import carried
from corekit_scenarios.cases.rod_swings import B2, STIFF

__all__ = ["solve_time", "table2"]

_ROUNDS = 3
_MIDPOINT = ("integrator.use=implicit-midpoint", "integrator.options={}")
_TOLERANCE = ("integrator.options.tolerance=1e-6",)
"""Error of a velocity at which a step ends [m/s]; the default, a hundredth of it, ends near rounding."""
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
    jobs: dict[str, tuple[str, Sequence[str], float, float, float | None, int]] = {
        "a1, cantilever": ("dismech/cantilever", (), 0.661, 0.713, 20.4, 12),
        "a2, stiff cantilever": ("dismech/cantilever", stiff, 1.24, 1.44, 33.7, 12),
        "b1, helix, h = 4 ms": ("dismech/helix", _HELIX, 7.30, 9.19, None, 18),
        "b2, stiff helix": ("dismech/helix", (*_MIDPOINT, *B2), 3.18, 3.10, 83.6, 18),
        "c, friction, one run": ("dismech/friction", (carried(),), math.nan, 0.291, 0.596, 8),
        "spider": ("dismech/spider", (), math.nan, 19.5, None, 0),
    }  # fmt: skip
    rows: list[Row] = []
    spent: dict[str, float] = {}
    for name, (scenario, overrides, paper, code, elastica, bar) in jobs.items():
        ours = solve_time(scenario, (*overrides, *_TOLERANCE))
        spent[name] = ours
        times = code / ours
        said = f"{times:.1f} times faster than the C++ code"
        if elastica is not None:
            said += f", {elastica / ours:.0f} times than PyElastica"
        rows.append(
            Row(
                quantity=f"solve time of {name}", unit="s", paper=None if math.isnan(paper) else paper, peer=code,
                ours=ours, tolerance=f"≥ {bar} times faster" if bar else "< 2 s",
                passed=times >= bar if bar else ours < 2.0, note=said,
            )
        )  # fmt: skip
    text = "".join(f"{name};{seconds:.4f}\n" for name, seconds in spent.items())
    (case.folder / "seconds.csv").write_text("case;solve_s\n" + text)
    return rows
