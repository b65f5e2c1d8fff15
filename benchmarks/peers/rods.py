"""What rods cost beside PyElastica, at equal error, and beside programs of DisMech: the benchmarks of its Table II.

PyElastica is explicit: it runs at the largest of its steps, halved until the swing stays finite. How far its tip is
from the first mode of Euler and Bernoulli over one period is the error that ours is allowed: our step is halved until
it is as near. Both are then timed, in alternation, per second of motion.

A program of DisMech is one of its examples, whose simulated time says which benchmark it is: 100, 20, 10, 2 s, or 1 to
1.5 s of the pushed rod. Ours simulates as long, with its step and the tolerances of `corekit reproduce dismech/table2`.
Of theirs the processor time of the whole process counts, start-up included, of ours that of the steps. Words after
the program's name are its arguments.

    pip install "corekit-study[peers]"
    python benchmarks/peers/rods.py [--json] [--dismech "PROGRAM [WORD ...]"]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import shlex
import subprocess
import sys
import time
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.scenario.load import load
from corekit_scenarios.cases.dismech.contacts import carried
from corekit_scenarios.cases.dismech.times import BENCHMARKS, solve_time

MISSING = 'PyElastica is not installed: pip install "corekit-study[peers]"'
LENGTH, RADIUS, DENSITY, ELEMENTS, TIP_SPEED = 1.0, 0.02, 500.0, 200, 0.005
SIMULATED = {"a1": (99.0, 101.0), "a2": (19.0, 21.0), "b1": (9.0, 11.0), "b2": (1.9, 2.1), "c": (0.9, 1.6)}
"""From where to where the simulated time of DisMech's examples is [s], by the benchmark of Table II."""
PUSH = "10"
"""Force on the pushed rod [N], which its example needs and the others ignore."""
ROUNDS = 3
HALVINGS = 2**10
"""Our step is no longer halved than by this: what is left then is the mesh's error, and it is printed."""
ROOT_OF_MODE = 1.875104068711961
"""First root of cos x · cosh x = −1."""


@frozen
class Cantilever:
    """A cantilever of Table II: Young's modulus [Pa] and the paper's step [s]."""

    young: float
    step: float

    @property
    def frequency(self) -> float:
        """ω₁ = x₁²·√(EI/(ρA))/L² [rad/s]."""
        return ROOT_OF_MODE**2 * math.sqrt(self.young * RADIUS**2 / (4.0 * DENSITY)) / LENGTH**2

    @property
    def period(self) -> float:
        return 2.0 * math.pi / self.frequency

    def error(self, instants: Array, height: Array) -> float:
        """Largest distance of the tip from theory, in parts of the amplitude; inf if it is not finite."""
        amplitude = TIP_SPEED / self.frequency
        apart = np.abs(height - amplitude * np.sin(self.frequency * instants)) / amplitude
        return float(apart.max()) if np.isfinite(apart).all() else math.inf


CASES = {"a1": Cantilever(1e5, 0.5), "a2": Cantilever(1e7, 0.05)}


def mode_velocity(places: Array) -> Array:
    """Velocity of the first mode at places from 0 to 1, TIP_SPEED at the end."""
    x = ROOT_OF_MODE
    ratio = (math.cosh(x) + math.cos(x)) / (math.sinh(x) + math.sin(x))

    def shape(s: Array) -> Array:
        return np.cosh(x * s) - np.cos(x * s) - ratio * (np.sinh(x * s) - np.sin(x * s))

    return TIP_SPEED * shape(places) / shape(np.ones(1))


def elastica(case: Cantilever, step: float, seconds: float) -> tuple[float, float]:
    """Error over `seconds` of motion, and its processor time [s], by PyElastica's position Verlet."""
    ea: Any = import_module("elastica")  # not among the tools that everybody installs

    class Simulator(ea.BaseSystemCollection, ea.Constraints): ...

    simulator = Simulator()
    rod = ea.CosseratRod.straight_rod(
        ELEMENTS, np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]), LENGTH, RADIUS, DENSITY,
        youngs_modulus=case.young, shear_modulus=case.young / 3.0,
    )  # fmt: skip
    rod.velocity_collection[2] = mode_velocity(rod.position_collection[0] / LENGTH)
    simulator.append(rod)
    simulator.constrain(rod).using(
        ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,)
    )
    simulator.finalize()
    stepper, steps = ea.PositionVerlet(), max(1, round(seconds / step))
    seen = max(1, steps // 400)
    instants, height, now = [], [], 0.0
    begin = time.thread_time()
    with np.errstate(all="ignore"):  # a step that is too long is found by its outcome
        for number in range(1, steps + 1):
            now = float(stepper.step(simulator, np.float64(now), np.float64(step)))
            if number % seen == 0:
                instants.append(now)
                height.append(float(rod.position_collection[2, -1]))
    spent = time.thread_time() - begin
    return case.error(np.array(instants), np.array(height)), spent


def ours(case: Cantilever, step: float, seconds: float) -> tuple[float, float]:
    """The same by this project's rods and the implicit midpoint rule, in the plane."""
    overrides = (
        f"bodies[0].options.limbs[0].young={case.young}", "bodies[0].options.planar=true", f"time.step={step!r}",
        f"output.every={step!r}",
    )  # fmt: skip
    simulation = load("dismech/cantilever", overrides).compose()
    simulation.warm_up()
    instants, height = [], []
    begin = time.thread_time()
    for _ in range(max(1, round(seconds / step))):
        simulation.step()
        instants.append(simulation.time)
        height.append(float(simulation.frame(f"rod.beam-{ELEMENTS}").position[2]))
    spent = time.thread_time() - begin
    return case.error(np.array(instants), np.array(height)), spent


def largest_step(case: Cantilever) -> tuple[float, float]:
    """PyElastica's largest step whose swing stays finite and small, by halving, and its error over a period.

    The first is twice that in which a wave of tension crosses an element.
    """
    step = 2.0 * LENGTH / ELEMENTS * math.sqrt(DENSITY / case.young)
    while (found := elastica(case, step, case.period)[0]) > 1.0:
        step /= 2.0
    return step, found


def measure() -> dict[str, dict[str, float]]:
    """Case → processor time a second of motion [s] of both, their steps [s] and errors; `ratio` is ours over theirs."""
    found: dict[str, dict[str, float]] = {}
    for name, case in CASES.items():
        their_step, allowed = largest_step(case)
        step = case.step
        while (error := ours(case, step, case.period)[0]) > allowed and step > case.step / HALVINGS:
            step /= 2.0
        best = [math.inf, math.inf]
        for _ in range(ROUNDS):
            best[0] = min(best[0], ours(case, step, case.period)[1])
            best[1] = min(best[1], elastica(case, their_step, case.period)[1])
        seconds, theirs = (each / case.period for each in best)
        found[f"{name}, PyElastica {version('pyelastica')}"] = {
            "ratio": seconds / theirs, "s a second": seconds, "theirs": theirs, "step": step, "their step": their_step,
            "error": error, "their error": allowed,
        }  # fmt: skip
    return found


def read_steps(printed: str, program: str) -> tuple[str, float, float]:
    """Benchmark, step and simulated time of a run [s], from the lines `time: 0.0500 | iters: 3` that it prints."""
    instants = re.findall(r"^time: ([0-9.]+) \| iters: ", printed, re.MULTILINE)
    if not instants:
        sys.exit(
            f"{program} printed no step; set `render_params.cmd_line_per = 1` and `render_params.renderer = HEADLESS` "
            f"in its example and build it again"
        )
    duration = float(instants[-1])
    for name, (low, high) in SIMULATED.items():
        if low <= duration <= high:
            return name, duration / len(instants), duration
    sys.exit(
        f"{program} simulated {duration:g} s; --dismech takes the examples of Table II, of 100, 20, 10 and 2 s, and "
        f"the pushed rod's, of 1 s"
    )


def measure_program(program: str) -> dict[str, dict[str, float]]:
    """A run of an example of DisMech, which prints no time: the processor time of its process, and of ours."""
    try:
        place, *words = shlex.split(program)
    except ValueError:
        sys.exit(f"--dismech takes a program and its own words, not {program!r}")
    place = str(Path(place).absolute())  # a name without a folder would be looked for along PATH
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            [place, *(words or [PUSH])], env=environment, stdout=subprocess.PIPE, text=True, check=False
        )
    except OSError as error:
        sys.exit(f"{program} cannot be run: {error.strerror}; --dismech takes a compiled example of DisMech")
    if done.returncode:
        sys.exit(
            f"{program} ended with {done.returncode}; it needs a display unless its example sets "
            f"`render_params.renderer = HEADLESS`, and its `examples` folder where this is run"
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    name, step, duration = read_steps(done.stdout, program)
    theirs = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    benchmark = BENCHMARKS[name]
    overrides = (*benchmark.as_timed, *replaced(step, duration), *((carried(),) if name == "c" else ()))
    spent = solve_time(benchmark.scenario, overrides, ROUNDS)
    return {
        f"{name}, DisMech's program as it was built": {
            "ratio": spent / theirs, "ours": spent, "theirs": theirs, "step": step, "simulated": duration,
        }
    }  # fmt: skip


def replaced(step: float, duration: float) -> tuple[str, ...]:
    """Overrides with the step of a program and the time that it simulates [s]."""
    return f"time.step={step!r}", f"output.every={step!r}", f"time.duration={duration!r}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--dismech", metavar="PROGRAM", help="a compiled example of DisMech: cantilever, helix or friction"
    )
    asked = parser.parse_args()
    found = measure_program(asked.dismech) if asked.dismech else {}
    try:
        version("pyelastica")
    except PackageNotFoundError:
        if not found:
            sys.exit(MISSING)
    else:
        found |= measure()
    if asked.json:
        print(json.dumps(found))
        return
    for name, numbers in found.items():
        print(f"{name}: {', '.join(f'{key} {value:.3g}' for key, value in numbers.items())}")


if __name__ == "__main__":
    main()
