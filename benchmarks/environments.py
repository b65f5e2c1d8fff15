"""What an environment adds to the simulation that it steps, and what a second process brings.

`step`: `Env.step` of a shipped task beside as many steps of the same simulation with the same inputs, in turns; the
share of the plain speed that is left is 1/ratio. `processes`: environment steps a second of two environments in two
processes over those of one alone, each as Gymnasium makes them.

    python benchmarks/environments.py [--json] [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

import gymnasium
import numpy as np

from corekit_gym.environment import Environment

TASKS = ("reach", "turn", "crawl")
STEPS = 40
"""Environment steps a round."""


def overhead(name: str, rounds: int) -> dict[str, float]:
    """Processor seconds of an environment step and of its grid steps alone, the least of several rounds in turns."""
    env = Environment(name)
    random = np.random.default_rng(0)
    actions = random.uniform(-1.0, 1.0, (STEPS, env.sizes[1]))
    least = {"environment": np.inf, "simulation": np.inf}
    for _ in range(rounds):
        env.reset(seed=0)
        held: list[dict[str, np.ndarray[Any, Any]]] = []
        began = time.process_time()
        for action in actions:
            env.step(action)
        least["environment"] = min(least["environment"], time.process_time() - began)
        env.reset(seed=0)
        for action in actions:  # the same inputs, written down
            env.step(action)
            held.append({body.name: body.inputs.buffer.copy() for body in env.simulation.bodies})
        env.reset(seed=0)
        simulation = env.simulation
        began = time.process_time()
        for values in held:
            for body in simulation.bodies:
                body.inputs.buffer[:] = values[body.name]
            for _ in range(env.task.frame_skip):
                simulation.step()
        least["simulation"] = min(least["simulation"], time.process_time() - began)
    each, plain = (least[what] / STEPS for what in ("environment", "simulation"))
    return {"environment_us": 1e6 * each, "simulation_us": 1e6 * plain, "ratio": each / plain}


def processes(name: str, rounds: int) -> dict[str, float]:
    """Environment steps a second of one process and of two."""
    rates: dict[int, float] = {}
    for count in (1, 2):
        envs = gymnasium.make_vec(
            f"corekit_gym.envs:corekit/{name}", num_envs=count, vectorization_mode="async"
        )
        envs.reset(seed=0)
        actions = np.zeros(envs.action_space.shape or (), dtype=np.float32)
        best = 0.0
        for _ in range(rounds):
            began = time.perf_counter()
            for _ in range(STEPS):
                envs.step(actions)
            best = max(best, count * STEPS / (time.perf_counter() - began))
        rates[count] = best
        envs.close()
    return {"one": rates[1], "two": rates[2], "ratio": rates[2] / rates[1]}


def main() -> int:
    """Print the table, or JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    found = {f"step of {name}": overhead(name, asked.rounds) for name in TASKS}
    found["two processes, reach"] = processes("reach", asked.rounds)
    if asked.json:
        print(json.dumps(found))
        return 0
    for case, numbers in found.items():
        print(f"{case:22}", ", ".join(f"{what} {value:.4g}" for what, value in numbers.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
