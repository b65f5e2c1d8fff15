"""Steps of many worlds in one compiled call beside single steps, and MuJoCo's rollouts of a chain of links.

For each world: µs of processor time of a single step (`simulation.step()`) and of a step of 64 worlds in one thread,
and of wall time in two threads, 100 steps a call, the least of some rounds; all make the same steps in turns, and must
agree bit for bit. `ratio` is one thread of the batch over single steps, by processor time, `threads` one thread over
two, by wall time, both medians of the rounds; `compiled` is the share of steps that the driver made.

    a rigid body                  a free box that tumbles
    an arm, free, on the box      `cusp/inclined-box` at its start, and sliding
    the arm, by cone              the same in contact, which `cone` solves
    a strain rod on a ball        `matrix/gvs` in contact
    a rod on a ball and a block   `matrix/der` in contact
    a vine around a circle        `vine/circle` in contact, by `qp` and its banded program

`chain of MuJoCo` is its rollout of nine links with nine hinges that lie on a box of the same slope, if it is installed
(`pip install "corekit-study[peers]"`): robot and contacts are others, so that its time stands beside ours as a size.

    python benchmarks/batch.py [--json] [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from corekit.scenario.load import load, loads
from corekit.scenario.scenario import Scenario

WORLDS, STEPS = 64, 100
BODY = """
format = "corekit-scenario/1"
name = "tumbling-box"
time = { duration = 1.0, step = 1e-3 }
integrator = { use = "semi-implicit-euler" }
[[bodies]]
name = "box"
use = "rigid"
options = { shape = "box", size = [0.1, 0.2, 0.3], mass = 1.0 }
initial = { angular_velocity = [1.0, 5.0, 0.2] }
"""
CASES: dict[str, tuple[Callable[[], Scenario], int]] = {
    "a rigid body": (lambda: loads(BODY), 2),
    "an arm, free": (lambda: load("cusp/inclined-box"), 2),
    "an arm on the box": (lambda: load("cusp/inclined-box"), 700),
    "the arm, by cone": (lambda: load("cusp/inclined-box", ['contact.solver={ use = "cone" }']), 700),
    "a strain rod on a ball": (lambda: load("matrix/gvs"), 200),
    "a rod on a ball and a block": (lambda: load("matrix/der"), 200),
    "a vine around a circle": (lambda: load("vine/circle"), 200),
}
LINKS, LINK, RADIUS, SLOPE = 9, 0.05, 0.02, 45


def measure(scenario: Scenario, before: int, rounds: int) -> dict[str, float]:
    """Times of a step [µs] by single steps and in batches, which make the same steps in turns, and their ratios."""
    simulation = scenario.compose()
    batches = {"one": scenario.batch(WORLDS, threads=1), "two": scenario.batch(WORLDS, threads=2)}
    for batch in batches.values():
        if batch.refusal:
            raise SystemExit(f"the driver does not step {scenario.name}: {batch.refusal}")
        batch.step(before)
    for _ in range(before):
        simulation.step()
    spent: dict[str, list[float]] = {"single": [], "one": [], "two": []}
    made = batches["one"].compiled_steps + batches["one"].ordinary_steps
    compiled = batches["one"].compiled_steps
    lasted: dict[str, list[float]] = {"one": [], "two": []}
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(STEPS):
            simulation.step()
        spent["single"].append((time.process_time() - began) / STEPS)
        for name, batch in batches.items():
            began, started = time.process_time(), time.perf_counter()
            batch.step(STEPS)
            spent[name].append((time.process_time() - began) / STEPS / WORLDS)
            lasted[name].append((time.perf_counter() - started) / STEPS / WORLDS)
            if not np.array_equal(batch.q[WORLDS - 1], simulation.state.q):
                raise SystemExit(f"{scenario.name}: a batch and single steps differ")
    single, one = np.array(spent["single"]), np.array(spent["one"])
    made = batches["one"].compiled_steps + batches["one"].ordinary_steps - made
    return {
        "single_us": 1e6 * float(single.min()),
        "one_us": 1e6 * float(one.min()),
        "two_us": 1e6 * min(lasted["two"]),
        "compiled": (batches["one"].compiled_steps - compiled) / made,
        "threads": float(np.median(np.array(lasted["one"]) / np.array(lasted["two"]))),
        "ratio": float(np.median(one / single)),
    }


def chain_model(mujoco: Any) -> Any:
    """MuJoCo's model of links that hang from a point above a slope and lie on it."""
    root = ET.Element("mujoco")
    ET.SubElement(root, "option", timestep="0.001", integrator="implicitfast", cone="elliptic")
    world = ET.SubElement(root, "worldbody")
    slope = {"type": "box", "size": "0.4 0.8 0.05", "pos": "0 -0.127 -0.297", "friction": "0.5 0 0"}
    ET.SubElement(world, "geom", euler=f"{SLOPE} 0 0", **slope)
    parent, place = world, "0 0 0"
    for k in range(LINKS):
        turn: dict[str, Any] = {"euler": "128 0 0"} if k == 0 else {}
        parent = ET.SubElement(parent, "body", pos=place, **turn)
        axis = "1 0 0" if k % 2 == 0 else "0 1 0"
        ET.SubElement(parent, "joint", type="hinge", axis=axis, stiffness="2", damping="0.5")
        ends = {"type": "cylinder", "fromto": f"0 0 0 0 0 {LINK}", "friction": "0.5 0 0"}
        ET.SubElement(parent, "geom", size=f"{RADIUS}", mass="0.2", **ends)
        place = f"0 0 {LINK}"
    return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))


def chain(rounds: int) -> dict[str, float]:
    """Times of a step of MuJoCo's rollouts [µs] in one thread and in two, and how many contacts a world has."""
    mujoco, rollout = import_module("mujoco"), import_module("mujoco.rollout")
    model = chain_model(mujoco)
    data = [mujoco.MjData(model) for _ in range(2)]
    for _ in range(1000):
        mujoco.mj_step(model, data[0])
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    begin = np.zeros(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data[0], begin, kind)
    begins, contacts = np.tile(begin, (WORLDS, 1)), data[0].ncon
    least, lasted = np.inf, {"one": np.inf, "two": np.inf}
    for _ in range(rounds):
        for name, threads in (("one", data[:1]), ("two", data)):
            with rollout.Rollout(nthread=len(threads)) as rolled:
                rolled.rollout(model, threads, begins, nstep=1)
                began, started = time.process_time(), time.perf_counter()
                rolled.rollout(model, threads, begins, nstep=STEPS)
                lasted[name] = min(lasted[name], (time.perf_counter() - started) / STEPS / WORLDS)
                if name == "one":
                    least = min(least, (time.process_time() - began) / STEPS / WORLDS)
    return {
        "one_us": 1e6 * least,
        "two_us": 1e6 * lasted["two"],
        "contacts": float(contacts),
        "threads": lasted["one"] / lasted["two"],
        "ratio": 1.0,
    }


def main() -> int:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--rounds", type=int, default=5, help="times everything is measured")
    asked = parser.parse_args()
    found = {name: measure(make(), before, asked.rounds) for name, (make, before) in CASES.items()}
    try:
        found["chain of MuJoCo"] = chain(asked.rounds)
    except ImportError:
        print('without MuJoCo beside it: pip install "corekit-study[peers]"', file=sys.stderr)
    if asked.json:
        print(json.dumps(found))
        return 0
    for name, numbers in found.items():
        print(f"{name}: {', '.join(f'{key} {value:.4g}' for key, value in numbers.items())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
