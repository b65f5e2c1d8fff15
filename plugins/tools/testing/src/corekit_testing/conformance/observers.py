"""Observers of runs: they see everything and change nothing, and a resumed run goes on with what they saw.

One line in the tests of a distribution, with the function that its hook `corekit_run_observers` names:

    test_watch = observer_conformance(observe)

The world is a ball that falls onto a floor and stays there, for 120 steps.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from corekit.data.array_file import read_arrays, write_arrays
from corekit.roles.component import BuildContext
from corekit.scenario.schema import RECORDED
from corekit.simulation.loop import Simulation
from corekit_testing.conformance.check import CheckFailed, expect
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world

__all__ = ["OBSERVER_CHECKS", "Make", "observer_conformance"]

Make = Callable[[Any], Sequence[Any]]
"""What the hook names: makes the observers of a run from its context."""
_STEP, _STEPS, _HALF = 1e-3, 120, 60


def _world() -> Simulation:
    ball = PointChain(
        PointChainConfig(
            masses=(1.0,), positions=((0.0, 0.0, 0.115),), velocities=((0.3, 0.0, -0.1),), shape="sphere"
        )
    )
    return small_world(
        {"ball": ball}, SemiImplicitEuler(None, BuildContext(step=_STEP)), step=_STEP,
        solver=ProjectedGaussSeidel(), detector=ReferenceDetector(), obstacles=[floor()], friction=0.3,
    )  # fmt: skip


class _Watched:
    """A run of the world with the observers."""

    def __init__(self, make: Make, folder: Path) -> None:
        self.simulation = _world()
        times = SimpleNamespace(duration=_STEP * _STEPS, step=_STEP)
        output = SimpleNamespace(every=None, directory=str(folder), record=RECORDED)
        scenario = SimpleNamespace(
            name="conformance", time=times, output=output, watchdog=None, compose=_world,
            given_text=lambda: "", resolved_text=lambda: "",
        )  # fmt: skip
        nothing: Callable[..., None] = lambda *_words, **_data: None  # noqa: E731
        context = SimpleNamespace(
            scenario=scenario, simulation=self.simulation, folder=folder, log=nothing, warn=nothing
        )
        self.observers = list(make(context))
        expect(self.observers, "the function makes no observer of a run")

    def go(self, steps: int) -> list[bytes]:
        """Go on, and return the states."""
        states = []
        for _ in range(steps):
            report = self.simulation.step()
            for each in self.observers:
                each.on_step_accepted(self.simulation, report)
            states.append(self.simulation.state.q.tobytes() + self.simulation.state.v.tobytes())
        return states

    def told(self) -> list[str]:
        """What each would write into the log."""
        return [json.dumps(each.summary(), sort_keys=True) for each in self.observers]

    def states(self) -> list[dict[str, Any]]:
        return [dict(each.internal_state()) for each in self.observers]


def _begun(make: Make, folder: Path) -> _Watched:
    watched = _Watched(make, folder)
    for each in watched.observers:
        each.begin()
    return watched


def _named(make: Make, folder: Path) -> None:
    names = [each.name for each in _Watched(make, folder).observers]
    expect(all(names) and len(set(names)) == len(names), f"names must be given and differ, they are {names}")


def _changes_nothing(make: Make, folder: Path) -> None:
    plain, alone = _world(), []
    for _ in range(_STEPS):
        plain.step()
        alone.append(plain.state.q.tobytes() + plain.state.v.tobytes())
    seen = _begun(make, folder).go(_STEPS)
    first = next((k for k, (a, b) in enumerate(zip(alone, seen, strict=True)) if a != b), None)
    expect(first is None, f"with the observer the simulation is another one from step {first} on")


def _resumed_alike(make: Make, folder: Path) -> None:
    whole = _begun(make, folder)
    whole.go(_HALF)
    for each in whole.observers:
        each.flush(0.0)
    kept = [_through_file(state) for state in whole.states()]
    resumed = _Watched(make, folder)
    for _ in range(_HALF):
        resumed.simulation.step()
    for each, state in zip(resumed.observers, kept, strict=True):
        if state:
            each.restore(state)
        else:
            each.begin()
    whole.go(_STEPS - _HALF)
    resumed.go(_STEPS - _HALF)
    for each, one, other in zip(whole.observers, whole.told(), resumed.told(), strict=True):
        expect(one == other, f"{each.name} tells {other} after a resumed run, {one} after a whole one")


def _through_file(state: dict[str, Any]) -> dict[str, Any]:
    """As a checkpoint keeps it."""
    if not state:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        write_arrays(Path(folder) / "state.npz", state, durable=False)
        return read_arrays(Path(folder) / "state.npz")


def _state_copied(make: Make, folder: Path) -> None:
    watched = _begun(make, folder)
    watched.go(_HALF)
    given = watched.states()
    kept = [{name: np.copy(values) for name, values in state.items()} for state in given]
    watched.go(_STEPS - _HALF)
    for each, state, before in zip(watched.observers, given, kept, strict=True):
        for name, values in state.items():
            same = np.array_equal(values, before[name])
            expect(same, f"{name} of the internal state of {each.name} changes after it was handed out")


def _summary_plain(make: Make, folder: Path) -> None:
    watched = _begun(make, folder)
    watched.go(_STEPS)
    for each in watched.observers:
        try:
            json.dumps(each.summary(), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise CheckFailed(f"what {each.name} tells at the end is no plain data: {error}") from error
        each.close()


OBSERVER_CHECKS: dict[str, Callable[[Make, Path], None]] = {
    "observers-named": _named,
    "changes-nothing": _changes_nothing,
    "resumed-alike": _resumed_alike,
    "state-copied": _state_copied,
    "summary-plain": _summary_plain,
}
"""Name → a check, which raises `CheckFailed`."""


def observer_conformance(make: Make) -> Callable[..., None]:
    """A parametrised pytest test of the observers that a function makes."""
    import pytest

    @pytest.mark.parametrize("check", OBSERVER_CHECKS)
    def test(check: str, tmp_path: Path) -> None:
        try:
            OBSERVER_CHECKS[check](make, tmp_path)
        except CheckFailed as failure:
            pytest.fail(str(failure), pytrace=False)

    return test
