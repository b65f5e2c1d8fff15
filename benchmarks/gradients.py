"""Cost of a gradient as a ratio to the run: recording and the sweep back, and bytes of the tape per step.

The reference is the same run without a tape, in the same process, in turns; each time is the least of several.

    run, record, sweep   a step [ms]
    bytes                of the tape per step
    error                of the gradient along a direction against a difference of runs, where that is smooth
    ratio                (record + sweep)/run

    python benchmarks/gradients.py [--json] [--cases rod,arm] [--repeats 3]
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any, NamedTuple

import numpy as np

from corekit.roles.derivatives import StateCovector
from corekit.scenario.load import load
from corekit_gradients.run_gradient import tape_bytes


class Case(NamedTuple):
    """A run: scenario, changes, steps before it and steps of it; whether differences of it are smooth."""

    scenario: str
    changes: tuple[str, ...]
    before: int
    steps: int
    is_smooth: bool = True


TIGHT = "integrator.options={ tolerance = 1e-12 }"
CASES = {
    "rod der 807, implicit Euler": Case("dismech/cantilever", ("integrator.use=implicit-euler", TIGHT), 5, 20),
    "helix der 423, midpoint": Case("dismech/helix", ("integrator.use=implicit-midpoint", TIGHT), 5, 20),
    "cable arm gvs 30, implicit Euler": Case(
        "gvs/cable-manipulator", ("integrator.use=implicit-euler", TIGHT), 5, 20
    ),
    "arm pcc 9, semi-implicit": Case("cusp/inclined-box", (), 5, 60),
    "arm pcc 9, midpoint": Case(
        "cusp/inclined-box", ("integrator.use=implicit-midpoint", TIGHT), 5, 60
    ),
    "arm pcc 9 on the box, lcp": Case("cusp/inclined-box", (), 1100, 20, False),
    "arm pushes ball 15, lcp": Case("teaching/arm-pushes-ball", (), 600, 20, False),
    "rod slides, imc": Case("dismech/friction", (), 5, 4, False),
}  # fmt: skip


def measure(case: Case, repeats: int) -> dict[str, Any]:
    """Times and the error of one case."""
    simulation = load(case.scenario, list(case.changes), allow_code=True).compose()
    for _ in range(case.before):
        simulation.step()
    system, kept, loss = simulation.system, simulation.internal_state(), np.random.default_rng(0)
    weights, change = loss.standard_normal((2, system.nv))

    def run(size: float = 0.0) -> float:
        simulation.restore(kept)
        simulation.state.v[:] += size * change
        for _ in range(case.steps):
            simulation.step()
        return float(weights @ simulation.state.v)

    def record() -> list[Any]:
        simulation.restore(kept)
        with simulation.record_steps() as tape:
            for _ in range(case.steps):
                simulation.step()
        return tape

    run()
    tape = record()
    derivatives, last = system.derivatives(tape[0].start), StateCovector(np.zeros(system.nv), weights)

    def sweep() -> Any:
        return derivatives.sweep_back(tape, lambda k: last if k == len(tape) - 1 else None)

    found = sweep()
    change[found.velocity == 0.0] = 0.0  # what is prescribed does not change
    times = np.full(3, np.inf)
    for _ in range(repeats):
        for i, each in enumerate((run, record, sweep)):
            began = time.process_time()
            each()
            times[i] = min(times[i], time.process_time() - began)
    per_step = 1e3 * times / case.steps
    out = {
        "run": per_step[0], "record": per_step[1], "sweep": per_step[2], "ratio": (times[1] + times[2]) / times[0],
        "bytes": tape_bytes(tape, set()) / len(tape), "degenerate": found.report.degenerate,
    }  # fmt: skip
    if case.is_smooth:
        size = 1e-7
        slope = (run(size) - run(-size)) / (2.0 * size)
        out["error"] = abs(found.velocity @ change / slope - 1.0)
    simulation.restore(kept)
    return {key: float(value) for key, value in out.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one object of all numbers")
    parser.add_argument("--cases", default="", help="parts of names, separated by commas; all if empty")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    wanted = [each.strip() for each in given.cases.split(",")]
    found = {}
    for name, case in CASES.items():
        if not any(each in name for each in wanted):
            continue
        found[name] = row = measure(case, given.repeats)
        if not given.json:
            error = f"{row['error']:.1e}" if "error" in row else "      –"
            print(
                f"{name:34} run {row['run']:8.3f}  record {row['record']:8.3f}  sweep {row['sweep']:9.3f} ms  "
                f"ratio {row['ratio']:7.2f}  {row['bytes']:9.0f} B  error {error}",
                flush=True,
            )
    if given.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
