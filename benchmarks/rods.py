"""What a node of a rod costs as rods get longer: forces, Hessian and factorisation at 50 to 20,000 nodes.

A clamped cantilever, slightly bent. Times are minima over alternating rounds; the reference of each case is the same
work on 200 nodes, per node, so `ratio` is 1 where the cost is linear.

    python benchmarks/rods.py [--json]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np

from corekit.data.state import State
from corekit.linalg.factorisation import make_factorisation
from corekit.linalg.matrices import widest
from corekit_der.config import Clamp, DERConfig, Limb
from corekit_der.model import DER

SIZES = (50, 200, 2000, 20000)
REFERENCE = 200
ROUNDS = 15


def work(nodes: int) -> dict[str, Callable[[], object]]:
    """The three pieces of a Newton iteration on a cantilever."""
    limb = Limb(
        name="beam", start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), nodes=nodes, radius=(0.02,), young=(1e5,)
    )
    model = DER(DERConfig(limbs=(limb,), clamps=(Clamp(at="beam.start"),), collision="none"))
    n = len(model.description.coordinates)
    state = State.zeros(n, n, model.description.aux)
    model.compute_initial_state(None, state)
    state.q += (0.05 / nodes) * np.random.default_rng(0).normal(size=n)
    mass, force, inputs = model.new_mass_matrix(), np.zeros(n), np.zeros(0)
    stiffness, damping = model.new_stiffness_and_damping()
    model.compute_mass_and_force(state, inputs, mass, force)
    model.compute_stiffness_and_damping(state, inputs, stiffness, damping)
    step = widest(mass, stiffness, damping)
    step.add(mass, 1e9)
    step.add(stiffness, 1e-6)
    solver = make_factorisation(step, None, model.description.prescribed_velocity_index)
    return {
        "forces": lambda: model.compute_mass_and_force(state, inputs, mass, force),
        "Hessian": lambda: model.compute_stiffness_and_damping(state, inputs, stiffness, damping),
        "factorisation": lambda: solver.refactor(step, None),
    }


def measure() -> dict[str, dict[str, float]]:
    """Microseconds a node of every case, and its ratio to the reference size."""
    jobs = {(piece, nodes): job for nodes in SIZES for piece, job in work(nodes).items()}
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(ROUNDS):
        for key, job in jobs.items():
            for _ in range(5):  # the first one finds the memory of another case
                start = time.perf_counter()
                job()
                best[key] = min(best[key], time.perf_counter() - start)
    found: dict[str, dict[str, float]] = {}
    for (piece, nodes), seconds in best.items():
        each, reference = seconds / nodes, best[piece, REFERENCE] / REFERENCE
        found[f"{piece}, {nodes} nodes"] = {"microseconds a node": 1e6 * each, "ratio": each / reference}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    found = measure()
    if parser.parse_args().json:
        print(json.dumps(found))
        return
    for name, numbers in found.items():
        print(
            f"{name:28} {numbers['microseconds a node']:7.3f} µs a node   {numbers['ratio']:5.2f} of that at 200"
        )


if __name__ == "__main__":
    main()
