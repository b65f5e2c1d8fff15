"""Processor time of the first steps of every shipped scenario, beside another installation of corekit in turns.

The other installation is given by its Python, for example of a checkout of an earlier commit. Each side composes its
own copy of a scenario, runs once to compile, and then runs the same simulated time again and again, one side after the
other; the median of each counts. `ratio` is this side over the other. Alone, it is processor time over simulated time.
A side that cannot compose a scenario says why.

    python benchmarks/shipped.py [--beside OTHER/.venv/bin/python] [--only NAME …] [--rounds 3] [--steps 2000] [--json]
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import time
from typing import Any

STEPS, ROUNDS = 2000, 3


def child(name: str, steps: int) -> None:
    """Answer every line of the input with the processor time of one run [s], after a line about the scenario.

    It runs in either installation, so that it uses nothing but what all versions have.
    """
    import corekit

    try:
        with contextlib.redirect_stdout(sys.stderr):
            try:
                scenario = corekit.load(name, allow_code=True)
            except TypeError:  # a version that asks nobody
                scenario = corekit.load(name)
            end = min(scenario.time.duration, steps * scenario.time.step)
            scenario.compose().run(end)
    except Exception as error:  # noqa: BLE001 - said to the one who asks
        print(json.dumps({"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}), flush=True)
        return
    print(json.dumps({"simulated_s": end}), flush=True)
    for _ in sys.stdin:
        simulation = scenario.compose()  # what ran once runs again
        begin = time.process_time()
        simulation.run(end)
        print(json.dumps({"seconds": time.process_time() - begin}), flush=True)


class Side:
    """A process of one installation with one scenario."""

    def __init__(self, python: str, name: str, steps: int) -> None:
        self._process = subprocess.Popen(
            [python, __file__, "--child", name, "--steps", str(steps)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._name, self.about = name, self._answer()
        self.runs: list[dict[str, Any]] = []

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"error": "the process ended"}

    def run(self) -> None:
        """Run once more."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        found = self._answer()
        if "error" in found:
            raise SystemExit(f"{self._name}: {found['error']}")
        self.runs.append(found)

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


def measure(name: str, beside: str | None, rounds: int, steps: int) -> dict[str, Any]:
    """Return the numbers of a scenario."""
    sides = [Side(python, name, steps) for python in (sys.executable, beside) if python]
    errors = [each.about["error"] for each in sides if "error" in each.about]
    if errors:
        for each in sides:
            each.end()
        return {"error": "; ".join(errors)}
    for k in range(rounds):
        for each in sides if k % 2 == 0 else reversed(sides):
            each.run()
    for each in sides:
        each.end()
    speeds = [
        statistics.median(run["seconds"] for run in each.runs) / each.about["simulated_s"] for each in sides
    ]
    return {
        "simulated_s": sides[0].about["simulated_s"], "by_time": speeds, "ratio": speeds[0] / (speeds + [1.0])[1]
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--beside", metavar="PYTHON")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.steps)
        return
    from corekit.scenario.load import shipped_scenarios

    found: dict[str, dict[str, Any]] = {}
    for name in options.only or sorted(shipped_scenarios()):
        found[name] = measure(name, options.beside, options.rounds, options.steps)
        if not options.json:
            row = found[name]
            print(f"{name:32s} " + (row.get("error") or _line(row)), flush=True)
    if options.json:
        print(json.dumps(found, indent=1))


def _line(row: dict[str, Any]) -> str:
    return f"{row['ratio']:6.2f}   {', '.join(f'{each:.3f}' for each in row['by_time'])} s a second"


if __name__ == "__main__":
    main()
