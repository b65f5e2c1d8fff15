"""Cost of a gradient as a ratio to the run: recording and the sweep back, and bytes of the tape per step.

The reference is the same run without a tape, in the same process, in turns; each time is the least of several.

    run, record, sweep   a step [ms]
    bytes                of the tape per step
    error                of the gradient along a direction against a difference of runs, where that is smooth
    ratio                (record + sweep)/run
    number               what one more number of the scenario costs on the way back, in runs; in brackets the first one,
                         and [ms] to make what stands for it

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
from corekit_gradients.adjoint.world_derivatives import derivatives_of
from corekit_gradients.parameters import find_parameters, make_pair
from corekit_gradients.run_gradient import tape_bytes


class Case(NamedTuple):
    """A run: scenario, changes, steps before it, steps of it, numbers; whether differences of it are smooth."""

    scenario: str
    changes: tuple[str, ...]
    before: int
    steps: int
    numbers: tuple[str, ...]
    is_smooth: bool = True


ROD = ("bodies[0].options.limbs[0].young", "bodies[0].options.limbs[0].density")
ARM = ("bodies.arm.options.stiffness", "bodies.arm.options.damping")
LINK = tuple(f"bodies.arm.options.links[0].divisions[0].{name}" for name in ("young", "viscosity", "density"))
TIGHT = "integrator.options={ tolerance = 1e-12 }"
CASES = {
    "rod der 807, implicit Euler": Case("dismech/cantilever", ("integrator.use=implicit-euler", TIGHT), 5, 20, ROD),
    "helix der 423, midpoint": Case("dismech/helix", ("integrator.use=implicit-midpoint", TIGHT), 5, 20, ROD),
    "cable arm gvs 30, implicit Euler": Case(
        "gvs/cable-manipulator", ("integrator.use=implicit-euler", TIGHT), 5, 20, LINK
    ),
    "arm pcc 9, semi-implicit": Case("cusp/inclined-box", (), 5, 60, ARM),
    "arm pcc 9, midpoint": Case(
        "cusp/inclined-box", ("integrator.use=implicit-midpoint", TIGHT), 5, 60, ARM
    ),
    "arm pcc 9 on the box, lcp": Case("cusp/inclined-box", (), 1100, 20, ARM, False),
    "arm pushes ball 15, lcp": Case("teaching/arm-pushes-ball", (), 600, 20, ARM, False),
    "rod slides, imc": Case("dismech/friction", (), 5, 4, ROD, False),
}  # fmt: skip


def measure(case: Case, repeats: int) -> dict[str, Any]:
    """Times and the error of one case."""
    simulation = load(case.scenario, list(case.changes), allow_code=True).compose()
    start = simulation.internal_state()
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
    derivatives, last = derivatives_of(system, tape[0].start), StateCovector(np.zeros(system.nv), weights)

    simulation.restore(start)
    began = time.process_time()
    pairs = [make_pair(simulation, each).twins for each in find_parameters(simulation, case.numbers)]
    made = (time.process_time() - began) / len(pairs)
    simulation.restore(kept)

    def sweep(count: int = 0) -> Any:
        term = lambda k: last if k == len(tape) - 1 else None  # noqa: E731
        return derivatives.sweep_back(tape, term, twins=pairs[:count])

    found = sweep()
    sweep(len(pairs))
    change[found.velocity == 0.0] = 0.0  # what is prescribed does not change
    times = np.full(5, np.inf)
    for _ in range(repeats):
        for i, each in enumerate((run, record, sweep, lambda: sweep(1), lambda: sweep(len(pairs)))):
            began = time.process_time()
            each()
            times[i] = min(times[i], time.process_time() - began)
    per_step = 1e3 * times / case.steps
    out = {
        "run": per_step[0], "record": per_step[1], "sweep": per_step[2], "ratio": (times[1] + times[2]) / times[0],
        "bytes": tape_bytes(tape, set()) / len(tape), "degenerate": found.report.degenerate,
        "first": (times[3] - times[2]) / times[0], "made": 1e3 * made,
        "number": (times[4] - times[3]) / (len(pairs) - 1) / times[0],
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
                f"ratio {row['ratio']:7.2f}  {row['bytes']:9.0f} B  error {error}  "
                f"number {row['number']:5.2f} ({row['first']:.2f}, {row['made']:.1f} ms)",
                flush=True,
            )
    if given.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
