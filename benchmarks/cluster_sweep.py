"""Many short runs over a local cluster of Dask, beside the same runs in one process.

    python benchmarks/cluster_sweep.py                    10,000 runs, three times: one process, cluster, cluster with
    kills python benchmarks/cluster_sweep.py --runs 500 --workers 2 --kill-every 3

It prints, and with `--json` writes, of each way the wall time a run, and

    overhead = (wall time of the cluster)·(workers at work)/(runs) − (wall time of one process)/(runs)            (1)

from the first stored run to the last, where the workers at work are at most as many as cores: client and scheduler
work on the same cores, so that (1) holds all of what they do. (1) is also whatever else uses the cores meanwhile; the
processor time is not:

    work = (that of this process, which is client and scheduler, and of the workers but for
            the one thread of each that makes runs)/(runs)                                                         (2)

(2) must not exceed 5 ms, and (1) must not where other programs used less than a twentieth of the cores all the while;
how much they used is told. Workers are killed at random with the mean interval `--kill-every`. Every outcome must be
stored once and be that of one process, bit for bit but for its wall time; the memory of this process is told at a
tenth of the runs and at the end. It ends with 1 if one of that is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import psutil
from attrs import frozen

from corekit_study.journal import OUTCOMES
from corekit_study.sweep import sweep

SCENARIO = """
format = "corekit-scenario/1"
name = "short"
time = { duration = 0.1, step = 0.002 }
integrator = { use = "semi-implicit-euler" }
[[world.obstacles]]
name = "floor"
shape = "half-space"
friction = 0.5
[contact]
detector = { use = "sdf" }
solver = { use = "lcp" }
[[bodies]]
name = "ball"
use = "rigid"
base = { position = [0.0, 0.0, 0.06] }
options = { shape = "sphere", size = [0.05], density = 1000.0 }
"""
"""A ball that falls and bounces for 50 steps."""
VARY = ["contact.friction=0.1:0.9", "bodies[0].options.density=500:5000"]
OVERHEAD = 5e-3
"""Most that (1) and (2) may be [s]."""
QUIET = 0.05
"""Share of the cores that others may use where (1) is judged."""
GROWTH = 20.0
"""Most by which the memory of this process may grow from a tenth of the runs to the end [MB]."""


@frozen
class Seen:
    """What there was at a time.

    Args:
        time: [s]. runs: stored. own_memory, worker_memory: of this process and of the largest worker [MB].
        work, making: processor time of this process and of the workers but for what makes runs, and of that [s].
        busy: processor time of all programs of this computer [s].
    """

    time: float
    runs: int
    own_memory: float
    worker_memory: float
    work: float
    making: float
    busy: float


class Watch(threading.Thread):
    """Looks at the stored runs, at memory and at processor time, and kills workers."""

    def __init__(self, stored: Path, runs: int, kill_every: float) -> None:
        super().__init__(daemon=True)
        self.stored, self.runs, self.kill_every = stored, runs, kill_every
        self.seen: list[Seen] = []
        self.killed, self.over = 0, False
        self._own = psutil.Process()
        self._threads: dict[int, tuple[float, float]] = {}
        """Processor time of a worker, of its busiest thread and of the others [s]; what is gone keeps its last."""

    def run(self) -> None:
        chance = random.Random(1)
        due = time.monotonic() + self.kill_every if self.kill_every else float("inf")
        count, read = 0, 0
        while not self.over:
            time.sleep(0.25)
            if self.stored.exists():
                with self.stored.open("rb") as file:
                    file.seek(read)
                    new = file.read()
                count, read = count + new.count(b"\n"), read + len(new)
            workers = [each for each in active_children() if each.pid]
            self.seen.append(self._look(count, [each.pid or 0 for each in workers]))
            if time.monotonic() > due and workers and 0 < count < self.runs:
                os.kill(chance.choice(workers).pid or 0, signal.SIGKILL)
                self.killed += 1
                due = time.monotonic() + chance.expovariate(1.0 / self.kill_every)

    def _look(self, count: int, workers: list[int]) -> Seen:
        largest = 0.0
        for pid in workers:
            try:
                process = psutil.Process(pid)
                largest = max(largest, process.memory_info().rss / 1e6)
                threads = sorted(each.user_time + each.system_time for each in process.threads())
            except psutil.Error:
                continue
            if threads:
                self._threads[pid] = threads[-1], sum(threads[:-1])
        used, busy = self._own.cpu_times(), psutil.cpu_times()
        own = used.user + used.system - time.thread_time()  # without this thread
        making = sum(each[0] for each in self._threads.values())
        if not self._threads:  # runs are made in this process
            own, making = 0.0, own
        return Seen(
            time.monotonic(), count, self._own.memory_info().rss / 1e6, largest,
            own + sum(each[1] for each in self._threads.values()), making, busy.user + busy.nice + busy.system,
        )  # fmt: skip

    def figures(self) -> dict[str, float]:
        """Wall and processor time a run [s] from the first stored one to the last, and memory [MB]."""
        running = [each for each in self.seen if each.runs > 0]
        first, last = running[0], next(each for each in running if each.runs == running[-1].runs)
        tenth = next((each for each in running if each.runs >= self.runs / 10), last)
        made, wall = max(last.runs - first.runs, 1), max(last.time - first.time, 1e-9)
        ours = last.work + last.making - first.work - first.making
        return {
            "wall_s": wall / made,
            "processor_s": ours / made,
            "work_s": (last.work - first.work) / made,
            "cores_of_others": max(0.0, last.busy - first.busy - ours) / wall,
            "memory_at_a_tenth_MB": tenth.own_memory,
            "memory_at_the_end_MB": last.own_memory,
            "largest_worker_MB": max(
                (each.worker_memory for each in running if each.runs >= self.runs / 2), default=0.0
            ),
            "killed": self.killed,
        }


def outcomes(folder: Path) -> dict[str, str]:
    """Every stored run without its wall time, by name; a run that is stored twice ends the program."""
    found: dict[str, str] = {}
    for line in (folder / OUTCOMES).read_text(encoding="utf-8").splitlines():
        said: dict[str, Any] = json.loads(line)
        said.pop("wall_s")
        if said["name"] in found:
            sys.exit(f"{said['name']} is stored twice")
        found[said["name"]] = json.dumps(said, sort_keys=True)
    return found


def main() -> int:
    """Run and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kill-every", type=float, default=5.0, help="mean wall time between kills [s]")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    at_work = min(given.workers, os.cpu_count() or 1)
    with tempfile.TemporaryDirectory() as made:
        file = Path(made) / "short.toml"
        file.write_text(SCENARIO, encoding="utf-8")
        asked: dict[str, Any] = {"samples": given.runs, "sampling": "sobol", "keep": "table"}
        found: dict[str, dict[str, float]] = {}
        kept: dict[str, dict[str, str]] = {}
        for name, scheduler, workers, kill_every in (
            ("one process", "processes", 0, 0.0),
            ("cluster", "local", given.workers, 0.0),
            ("cluster with kills", "local", given.workers, given.kill_every),
        ):
            folder = Path(made) / name.replace(" ", "-")
            watch = Watch(folder / OUTCOMES, given.runs, kill_every)
            watch.start()
            sweep(file, VARY, (), folder, None, workers, scheduler=scheduler, **asked)
            watch.over = True
            watch.join()
            found[name], kept[name] = watch.figures(), outcomes(folder)
            walls = [json.loads(line)["wall_s"] for line in (folder / OUTCOMES).read_text().splitlines()]
            found[name]["run_itself_s"] = statistics.median(walls)
            print(
                f"{name}: " + ", ".join(f"{key} {value:.4g}" for key, value in found[name].items()),
                flush=True,
            )
    one = found["one process"]["wall_s"]
    broken = []
    for name in ("cluster", "cluster with kills"):
        if kept[name] != kept["one process"]:
            broken.append(f"{name}: outcomes differ from those of one process")
        overhead = found[name]["wall_s"] * at_work - one
        grown = found[name]["memory_at_the_end_MB"] - found[name]["memory_at_a_tenth_MB"]
        found[name] |= {"overhead_s": overhead, "grown_MB": grown}
        print(
            f"{name}: {1e3 * found[name]['work_s']:.2f} ms of work a run, by wall time {1e3 * overhead:.2f} ms, "
            f"memory grew by {grown:.1f} MB"
        )
        work = found[name]["work_s"]
        others = max(found[each]["cores_of_others"] for each in ("one process", name))
        if name == "cluster" and work > OVERHEAD:
            broken.append(f"{name}: {1e3 * work:.2f} ms of work a run, more than {1e3 * OVERHEAD:g} ms")
        if name == "cluster" and overhead > OVERHEAD and others < QUIET * (os.cpu_count() or 1):
            broken.append(f"{name}: overhead {1e3 * overhead:.2f} ms a run, more than {1e3 * OVERHEAD:g} ms")
        if grown > GROWTH:
            broken.append(f"{name}: memory grew by {grown:.1f} MB")
    print(f"{given.runs} runs, every one stored once; " + ("; ".join(broken) or "the same bits each way"))
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
