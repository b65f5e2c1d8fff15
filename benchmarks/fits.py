"""What fits of parameters cost from the file to the report, beside the times and memory they are to keep.

Each case makes its film first: a scenario runs with other parameters, and what frames of it do gets normal noise of
0.5 mm from a seed. Then `corekit fit` runs in a process of its own, whose time and peak memory are measured, imports
and pictures included. `gvs` has two divisions with 12 Legendre strains each, a cable, 200 frames of two markers and
four parameters; `gvs, 4` is one division with four monomial strains, `pcc` three sections with three markers, both with
200 frames and two parameters. `cold` is a first fit, with nothing compiled. The error is the largest of a parameter, in
its own standard deviation: about 1, seldom 3, where intervals are right. A ratio is ours over the bar.

    python benchmarks/fits.py [--json] [--only NAME]
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

import corekit

NOISE = 5e-4
FRAMES = 200
GVS = """
format = "corekit-scenario/1"
name = "arm"
time = { duration = 2.0, step = 0.01 }
[[bodies]]
name = "arm"
use = "gvs"
base = { rotation_rpy = [0.0, 1.5707963267948966, 0.0] }
[bodies.options]
links = [{ name = "arm", frames = [0.5], divisions = [
  { length = 0.15, radius = 0.012, young = 3e5, density = 1100, viscosity = 3e3, strain = [
    { kind = "legendre", order = 3, modes = ["torsion", "bend-y", "bend-z"] }] },
  { length = 0.15, radius = 0.010, young = 3e5, density = 1100, viscosity = 3e3, strain = [
    { kind = "legendre", order = 3, modes = ["torsion", "bend-y", "bend-z"] }] },
] }]
cables = [{ name = "a", link = "arm", y = 0.008 }]
[[bodies.inputs]]
channel = "tension-a"
signal = { kind = "table", times = [0.0, 0.5, 0.6, 1.2, 1.4, 2.0], values = [0.0, 2.0, 0.5, 3.0, 0.0, 0.0] }
[integrator]
use = "implicit-midpoint"
[output]
every = 0.01
"""
GVS_4 = """
format = "corekit-scenario/1"
name = "arm"
time = { duration = 1.0, step = 5e-3 }
[[bodies]]
name = "arm"
use = "gvs"
base = { rotation_rpy = [0.0, 1.5707963267948966, 0.0] }
[bodies.options]
links = [{ name = "arm", frames = [0.5], divisions = [
  { length = 0.3, radius = 0.012, young = 3e5, density = 1100, viscosity = 3e3, strain = [
    { kind = "monomial", order = 1, modes = ["bend-y", "bend-z"] }] },
] }]
cables = [{ name = "a", link = "arm", y = 0.008 }]
[[bodies.inputs]]
channel = "tension-a"
signal = { kind = "ramp", from = 0.0, to = 0.5, value = 2.0 }
[integrator]
use = "implicit-midpoint"
[output]
every = 0.01
"""
PCC = """
format = "corekit-scenario/1"
name = "arm"
time = { duration = 1.0, step = 5e-3 }
[[bodies]]
name = "arm"
use = "pcc"
base = { rotation_rpy = [3.141592653589793, 0.0, 0.0] }
options = { sections = 3, length = 0.08, mass = 0.03, stiffness = 50.0, damping = 1.0, chamber_radius = 0.01 }
initial = { elongation = [0.006, 0.003, 0.0, 0.006, 0.0, 0.0, 0.0, 0.0, 0.0] }
[integrator]
use = "implicit-midpoint"
[output]
every = 0.02
"""


@frozen
class Arm:
    """A scenario, the frames that carry markers, and parameters: name → truth and bounds."""

    scenario: str
    frames: tuple[str, ...]
    parameters: dict[str, tuple[float, float, float]]


def _material(i: int, young: float, viscosity: float) -> dict[str, tuple[float, float, float]]:
    path = f"links[0].divisions[{i}]"
    return {f"{path}.young": (young, 5e4, 5e6), f"{path}.viscosity": (viscosity, 1e2, 1e5)}


ARMS = {
    "gvs": Arm(GVS, ("arm.0.5", "arm.tip"), _material(0, 4.5e5, 2e3) | _material(1, 2e5, 4e3)),
    "gvs, 4": Arm(GVS_4, ("arm.0.5", "arm.tip"), _material(0, 4.5e5, 2e3)),
    "pcc": Arm(
        PCC,
        ("section-1-tip", "section-2-tip", "section-3-tip"),
        {"stiffness": (80.0, 5.0, 500.0), "damping": (2.0, 0.1, 50.0)},
    ),
}
BARS = {"gvs": (60.0, 2.0), "gvs, 4": (60.0, 2.0), "pcc": (10.0, 2.0), "pcc, cold": (30.0, 2.0)}
"""Seconds and GB that a fit is to keep."""


def film(arm: Arm, folder: Path) -> None:
    """Write scenario and markers of an arm with its true parameters."""
    (folder / "arm.toml").write_text(arm.scenario)
    truth = [f"bodies.arm.options.{name}={value}" for name, (value, *_) in arm.parameters.items()]
    simulation, rng = corekit.load(folder / "arm.toml", truth).compose(), np.random.default_rng(2)
    with (folder / "markers.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["time", "marker", "x", "y", "z"])
        for _ in range(FRAMES):
            simulation.step()
            for frame in arm.frames:
                seen = simulation.frame(f"arm.{frame}").position + NOISE * rng.normal(size=3)
                table.writerow([simulation.time, frame, *seen.tolist()])


def write_fit(arm: Arm, estimator: str, folder: Path) -> Path:
    """Write the fit file of an arm; the scenario's state is known to both estimators."""
    attached = ", ".join(f'{{ marker = "{each}", frame = "{each}" }}' for each in arm.frames)
    parameters = ", ".join(
        f'{{ name = "{name}", low = {low}, high = {high} }}'
        for name, (_, low, high) in arm.parameters.items()
    )
    known = 'start = "known"\n' if estimator == "ipopt-fit" else ""
    path = folder / f"{estimator}.toml"
    path.write_text(
        f'format = "corekit-fit/1"\nname = "arm"\nscenario = "arm.toml"\nuse = "{estimator}"\n[options]\n{known}'
        f"parameters = [{parameters}]\n"
        f'markers = {{ file = "markers.csv", deviation = {NOISE}, attached = [{attached}] }}\n'
    )
    return path


CHILD = """
import json, resource, sys
from corekit.cli import main
code = main(["fit", sys.argv[1], "--out", sys.argv[2], "--quiet"])
use = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps({"code": code, "cpu": use.ru_utime + use.ru_stime, "peak": use.ru_maxrss}))
"""


def fit(file: Path, out: Path, cache: Path | None = None) -> dict[str, float]:
    """Seconds, processor seconds and peak memory [GB] of a fit in a process of its own, and its report's figures."""
    environment = {**os.environ, **({} if cache is None else {"COREKIT_CACHE": str(cache)})}
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-P", "-c", CHILD, str(file), str(out)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    seconds = time.perf_counter() - begin
    spent = json.loads(done.stdout.splitlines()[-1])
    if spent["code"]:
        raise SystemExit(f"{file}: the fit failed\n{done.stderr}")
    unit = 1e9 if sys.platform == "darwin" else 1e6
    return {"seconds": seconds, "cpu": spent["cpu"], "memory_gb": spent["peak"] / unit}


def worst_error(arm: Arm, out: Path) -> float:
    """The largest error of a parameter, in its standard deviation on a log scale."""
    report = json.loads((out / "report.json").read_text())
    return max(
        abs(math.log(each["value"] / arm.parameters[each["name"]][0]))
        / (math.log(each["high"] / each["low"]) / (2 * 1.96))
        for each in report["parameters"]
    )


def measure(only: str) -> dict[str, dict[str, Any]]:
    """Figures of every case."""
    found: dict[str, dict[str, Any]] = {}
    for name, arm in ARMS.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            film(arm, folder)
            for estimator in ("simulation-fit", "ipopt-fit"):
                file = write_fit(arm, estimator, folder)
                runs: dict[str, Path | None] = {name: None}
                if f"{name}, cold" in BARS:
                    runs = {
                        f"{name}, cold": folder / f"cache-{estimator}",
                        name: folder / f"cache-{estimator}",
                    }
                for case, cache in runs.items():
                    out = folder / f"{estimator} {case}"
                    numbers = fit(file, out, cache)
                    bar, memory = BARS[case]
                    found[f"{case}, {estimator}"] = {
                        **numbers, "worst_error": worst_error(arm, out), "bar": bar, "memory_bar": memory,
                        "ratio": numbers["seconds"] / bar, "memory_ratio": numbers["memory_gb"] / memory,
                    }  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", default="", help="a part of the name of the arms to measure")
    given = parser.parse_args()
    found = measure(given.only)
    if given.json:
        print(json.dumps(found))
        return
    for name, each in found.items():
        print(
            f"{name:26} {each['seconds']:6.1f} s of {each['bar']:3.0f}   processor {each['cpu']:5.1f} s   "
            f"{each['memory_gb']:.2f} GB of {each['memory_bar']:.0f}   error {each['worst_error']:.1f} deviations"
        )


if __name__ == "__main__":
    main()
