"""Observers of runs: they see everything and change nothing, and a resumed run goes on with what they saw.

One line in the tests of a distribution, with the function that its hook `corekit_run_observers` names:

    test_watch = observer_conformance(observe)

The world is a ball that falls onto a floor and stays there, for 120 steps.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from corekit.roles.component import BuildContext
from corekit.scenario.schema import RECORDED
from corekit.simulation.loop import Simulation
from corekit_testing.conformance.answers import leaves_no_trace, through_file
from corekit_testing.conformance.check import CheckFailed, expect
from corekit_testing.conformance.claims import Claim, Claims, parametrised
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world

__all__ = ["OBSERVER_CLAIMS", "Make", "observer_conformance"]

Make = Callable[[Any], Sequence[Any]]
"""What the hook names: makes the observers of a run from its context."""
_STEP, _STEPS, _HALF = 1e-3, 120, 61
"""Checkpoints are after an odd number of steps: the buffers of state that take turns then stand the other way round."""


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
    """A run of the world with the observers; without a folder where nothing is kept."""

    def __init__(self, make: Make, folder: Path | None) -> None:
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

    def restore(self, states: Sequence[dict[str, Any]], simulated: Any) -> None:
        """Go on from a checkpoint: observers first, as in a run."""
        for each, state in zip(self.observers, states, strict=True):
            if state:
                each.restore(state)
            else:
                each.begin()
        self.simulation.restore(simulated)


def _begun(make: Make, folder: Path | None) -> _Watched:
    watched = _Watched(make, folder)
    for each in watched.observers:
        each.begin()
    return watched


def _named(make: Make, folder: Path) -> None:
    names = [each.name for each in _Watched(make, folder).observers]
    expect(all(names) and len(set(names)) == len(names), f"names must be given and differ, they are {names}")
    parted = [name for name in names if "/" in name]
    expect(not parted, f"{parted} has a /, which parts names from those of arrays in checkpoints")


def _made_silently(make: Make, folder: Path) -> None:
    _Watched(make, folder)
    written = sorted(path.name for path in folder.iterdir())
    expect(
        not written,
        f"making it writes {', '.join(written)}: a run that is refused would change its folder; write in `begin`",
    )


def _without_folder(make: Make, _folder: Path) -> None:
    _begun(make, None).go(2)


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
    kept = [through_file(state) for state in whole.states()]
    simulated = whole.simulation.internal_state()
    resumed = _Watched(make, folder)
    resumed.restore(kept, simulated)
    again = [through_file(state) for state in resumed.states()]
    for each, one, other in zip(whole.observers, kept, again, strict=True):
        _expect_kept(each.name, one, other)
    whole.go(_STEPS - _HALF)
    resumed.go(_STEPS - _HALF)
    for each, one, other in zip(whole.observers, whole.told(), resumed.told(), strict=True):
        expect(one == other, f"{each.name} tells {other} after a resumed run, {one} after a whole one")


def _expect_kept(name: str, one: Any, other: Any) -> None:
    """Raise `CheckFailed` where what was restored is not what is saved next."""
    for key, values in one.items():
        same = key in other and np.array_equal(values, other[key])
        expect(
            same,
            f"{key} of the internal state of {name} was restored as {values}, and is saved as {other.get(key)}",
        )


def _runs_apart(make: Make, folder: Path) -> None:
    alone = _begun(make, folder)
    alone.go(_STEPS)
    told = alone.told()
    first, second = _begun(make, folder), _Watched(make, folder)
    first.go(_HALF)
    for each in second.observers:
        each.begin()
    second.go(_STEPS)
    first.go(_STEPS - _HALF)
    for watched, when in (
        (first, "while another run went on"),
        (second, "in a process that had runs before"),
    ):
        for each, one, other in zip(watched.observers, told, watched.told(), strict=True):
            expect(one == other, f"{each.name} tells {other} of a run {when}, {one} of one alone")


def _state_copied(make: Make, folder: Path) -> None:
    watched = _begun(make, folder)
    watched.go(_HALF)
    given, simulated = watched.states(), watched.simulation.internal_state()
    kept = [{name: np.copy(values) for name, values in state.items()} for state in given]
    watched.go(_STEPS - _HALF)
    _expect_unchanged(watched, given, kept, "after it was handed out")
    resumed = _Watched(make, folder)
    read = [{name: np.copy(values) for name, values in state.items()} for state in kept]
    resumed.restore(read, simulated)
    resumed.go(_STEPS - _HALF)
    _expect_unchanged(resumed, read, kept, "after it was restored from")


def _expect_unchanged(watched: _Watched, found: Any, kept: Any, when: str) -> None:
    for each, state, before in zip(watched.observers, found, kept, strict=True):
        for name, values in state.items():
            same = np.array_equal(values, before[name])
            expect(same, f"{name} of the internal state of {each.name} changes {when}")


def _flushes(make: Make, folder: Path) -> None:
    watched = _begun(make, folder)
    for steps in (0, 3):
        watched.go(steps)
        for each in watched.observers:
            done = each.flush(10.0)
            expect(
                done is True,
                f"{each.name} answers {done!r} when it is to make readable what it recorded: it must be True, "
                "without which no checkpoint is written",
            )


def _summary_plain(make: Make, folder: Path) -> None:
    watched = _begun(make, folder)
    watched.go(_STEPS)
    for each in reversed(watched.observers):
        each.close()
    for each in watched.observers:
        try:
            json.dumps(each.summary(), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise CheckFailed(f"what {each.name} tells at the end is no plain data: {error}") from error


def _no_trace(make: Make, folder: Path) -> None:
    leaves_no_trace(lambda: _begun(make, folder).go(3))


OBSERVER_CLAIMS: Claims = {
    "observers-named": Claim("every observer has a name of its own", _named),
    "made-silently": Claim("making one writes nothing", _made_silently),
    "works-without-folder": Claim(
        "it works where no folder is kept, as when one step is repeated", _without_folder
    ),
    "changes-nothing": Claim("the motion with it is that without it, to the last bit", _changes_nothing),
    "resumed-alike": Claim("a resumed run tells what a whole one does", _resumed_alike),
    "runs-apart": Claim("two runs in a process do not know of each other", _runs_apart),
    "state-copied": Claim("internal state that was handed out or restored is a copy", _state_copied),
    "flush-answers": Claim("it says whether what it recorded can be read", _flushes),
    "summary-plain": Claim("what it tells at the end, when it is closed, is plain data", _summary_plain),
    "leaves-no-trace": Claim(
        "it prints nothing and changes nothing that all code in the process shares", _no_trace
    ),
}
"""Checks of the observers that a function makes, of (make, folder)."""


def observer_conformance(make: Make) -> Callable[..., None]:
    """A parametrised pytest test of the observers that a function makes."""
    return parametrised(OBSERVER_CLAIMS, lambda folder: (make, folder))
