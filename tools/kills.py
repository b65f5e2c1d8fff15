"""Runs of all shipped scenarios, killed by signal 9 at random instants and resumed, end as undisturbed ones do.

    python tools/kills.py                                  100 kills over all shipped scenarios
    python tools/kills.py --kills 20 --seed 7 cusp/inclined-box

Of every scenario two undisturbed runs over a short horizon must be equal first, bit for bit: records, counters, end
state and the summary in the log, up to wall times. Then each killed and resumed run must equal them. What differs is
printed, with its instant.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import secrets
import signal
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import corekit_run.checkpoint as checkpoints
from corekit.scenario.load import load, shipped_scenarios
from corekit_run.checkpoint import read_checkpoint
from corekit_run.folder import read_log, read_status
from corekit_run.running import resume

__all__ = ["differences", "main", "outcome_of"]

STEPS = 60
_WALL = {"at", "wall_s", "loop_s", "first_step_s", "step_s", "real_time_factor"}
"""Entries of the log's last line that hold times of the clock."""


def runnable() -> list[str]:
    """Names of the shipped scenarios that can be run, plans left out."""
    return [
        name
        for name, path in shipped_scenarios().items()
        if tomllib.loads(path.read_text("utf-8"))["format"].startswith("corekit-scenario/")
    ]


def outcome_of(folder: Path) -> dict[str, Any]:
    """All that a finished run leaves, but for times of the clock."""
    found: dict[str, Any] = {}

    def collect(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and not name.endswith("_REFERENCE_LIST"):
            found[name] = item[()]

    with h5py.File(folder / "results.nc") as file:
        file.visititems(collect)
        found["statistics"] = file.attrs["statistics"]
    (last,) = folder.glob("checkpoint-*.npz")
    end = read_checkpoint(last)
    found |= {f"memory/{name}": array for name, array in end.memory.items()}
    found |= {f"run/{name}": array for name, array in end.run.items()}
    summary = read_log(folder)[-1]
    return found | {f"summary/{key}": json.dumps(value) for key, value in summary.items() if key not in _WALL}


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Names of what differs in a bit."""

    def bits(value: Any) -> object:
        array = np.asarray(value)
        return array.tolist() if array.dtype.hasobject else (array.dtype.str, array.shape, array.tobytes())

    missing = sorted(one.keys() ^ other.keys())
    return missing + [name for name in one.keys() & other.keys() if bits(one[name]) != bits(other[name])]


def forked(task: Callable[[], object], errors: Path) -> int:
    """Do something in a process forked from this one, whose compiled kernels it has; its number."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with errors.open("w") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
                # many checkpoints, so that kills fall between and into them
                checkpoints._EVERY, checkpoints._SHARE = 0.01, 1e9  # noqa: SLF001
                task()
                code = 0
        except BaseException as error:  # noqa: BLE001
            errors.write_text(f"{type(error).__name__}: {error}")
        finally:
            os._exit(code)
    return child


def ended(child: int) -> bool:
    """Wait for a process; whether all went well."""
    return os.waitpid(child, 0)[1] == 0


def wait_for_begin(folder: Path) -> None:
    """Wait until a run can be resumed, or for 60 s."""
    end = time.perf_counter() + 60.0
    while not (folder / "resolved.toml").exists() and time.perf_counter() < end:
        time.sleep(1e-3)


def try_scenario(name: str, kills: int, chance: random.Random, folder: Path) -> tuple[int, list[str]]:
    """Run a scenario undisturbed twice, then killed and resumed; how many were killed, and what went wrong."""
    short = load(name, allow_code=True)
    step = short.time.step
    short = load(name, [f"time.duration={STEPS * step!r}", f"output.every={step!r}"], allow_code=True)
    simulation = short.compose()
    simulation.warm_up()
    simulation.run(3 * step)  # compiles what the children need
    wrong: list[str] = []
    errors = folder / "errors"
    plain, again = folder / "plain", folder / "again"
    child = forked(lambda: short.run(directory=plain), errors)
    wait_for_begin(plain)
    began = time.perf_counter()
    if not ended(child):
        return 0, [f"{name}: does not run: {errors.read_text()[:200]}"]
    took = time.perf_counter() - began
    ended(forked(lambda: short.run(directory=again), errors))
    expected = outcome_of(plain)
    if unequal := differences(expected, outcome_of(again)):
        wrong.append(f"{name}: two undisturbed runs differ in {', '.join(unequal[:6])}")
    killed = 0
    for number in range(kills):
        run = folder / f"killed-{number}"
        instant = chance.uniform(0.0, took)
        child = forked(lambda run=run: short.run(directory=run), errors)
        wait_for_begin(run)
        time.sleep(instant)
        os.kill(child, signal.SIGKILL)
        ended(child)
        where = f"{name}, killed after {instant:.3f} s"
        killed += 1
        if read_status(run).status != "finished" and not ended(
            forked(lambda run=run: resume(run, allow_code=True), errors)
        ):
            wrong.append(f"{where}: cannot be resumed: {errors.read_text()[:300]}")
        elif unequal := differences(expected, outcome_of(run)):
            wrong.append(f"{where}: differs in {', '.join(unequal[:6])}")
    return killed, wrong


def main(arguments: Sequence[str]) -> int:
    """Kill and resume; 1 if anything differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="of all scenarios together (default: 100)")
    parser.add_argument("--seed", type=int, help="of the instants (default: random)")
    parser.add_argument("scenarios", nargs="*", help="names of shipped ones (default: all)")
    chosen = parser.parse_args(arguments)
    if not hasattr(os, "fork"):
        parser.error("this needs a system that forks processes")
    names = chosen.scenarios or runnable()
    seed = secrets.randbelow(2**32) if chosen.seed is None else chosen.seed
    print(f"seed {seed}", flush=True)
    killed, wrong = 0, []
    for number, name in enumerate(names):
        kills = (number + 1) * chosen.kills // len(names) - number * chosen.kills // len(names)
        with tempfile.TemporaryDirectory() as folder:
            count, found = try_scenario(name, kills, random.Random(f"{seed}-{name}"), Path(folder))
        killed, wrong = killed + count, wrong + found
        print(f"{name}: {count} killed, {len(found)} wrong", *found, sep="\n  ", flush=True)
    print(f"{killed} runs of {len(names)} scenarios were killed and resumed, {len(wrong)} went wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
