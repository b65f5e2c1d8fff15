"""Runs that are killed, what they leave, and how two runs are compared bit for bit."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from corekit_run.checkpoint import read_checkpoint

STEPS = 60
SETTING = (
    "time.duration=0.06",
    "bodies.ball.initial.position=[0.0, 0.0, 0.2]",
    "bodies.ball.initial.velocity=[1.0, 0.5, -4.0]",
    "output.every=0.002",
)
"""A ball that lands after 25 steps."""


def write_often(patch: pytest.MonkeyPatch, every: float) -> None:
    patch.setattr("corekit_run.checkpoint._EVERY", every)
    patch.setattr("corekit_run.checkpoint._SHARE", 1e9)


def arrays(folder: Path) -> dict[str, Any]:
    """Every array of a results file and of its end state."""
    found: dict[str, Any] = {}

    def take(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and not name.endswith("_REFERENCE_LIST"):
            found[name] = item[()]

    with h5py.File(folder / "results.nc") as file:
        file.visititems(take)
        found["statistics"] = file.attrs["statistics"]
    (last,) = folder.glob("checkpoint-*.npz")
    end = read_checkpoint(last)
    return {**found, **{f"end/{name}": array for name, array in {**end.memory, **end.run}.items()}}


def bits(value: Any) -> object:
    """Equal for equal arrays, nan included, and unequal for −0 and 0."""
    array = np.asarray(value)
    return array.tolist() if array.dtype.hasobject else (array.dtype.str, array.shape, array.tobytes())


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert bits(value) == bits(other[name]), name


def started(scenario: Any, folder: str) -> int:
    """The scenario in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            scenario.run(directory=folder)
        finally:
            os._exit(0)
    return child


def reached(folder: Path) -> int:
    """The step of the newest checkpoint, −1 before the first."""
    return max((int(path.stem.partition("-")[2]) for path in folder.glob("checkpoint-*.npz")), default=-1)


def killed(child: int) -> bool:
    """Kill -9; whether it was still running."""
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def wait_for(what: Callable[[], bool]) -> None:
    begun = time.perf_counter()
    while not what():
        assert time.perf_counter() - begun < 300.0  # of a machine that others keep busy
        time.sleep(5e-4)


def cut_short(scenario: Any) -> None:
    """A run into `cut` that is killed at its first checkpoint beyond step 25."""
    child = started(scenario, "cut")
    wait_for(lambda: reached(Path("cut")) > 25)
    assert killed(child)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}
