"""Observers of runs with one small mistake each: a state that is not saved, an alias, a clock, no folder."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["OBSERVERS", "Way"]


class Way:
    """How far the ball slid, in steps of its speed, and how many were seen."""

    name = "way"

    def __init__(self, context: Any) -> None:
        self.way, self.steps = np.zeros(1), 0

    def begin(self) -> None:
        pass

    def restore(self, state: Any) -> None:
        self.way, self.steps = state["way"].copy(), int(state["steps"])

    def on_step_accepted(self, simulation: Any, report: Any) -> None:
        self.way[0] += abs(simulation.state.v[0])
        self.steps += 1

    def flush(self, patience: float) -> Any:
        return True

    def internal_state(self) -> dict[str, Any]:
        return {"way": self.way.copy(), "steps": np.array(self.steps)}

    def summary(self) -> Any:
        return {"way": float(self.way[0]), "steps": self.steps}

    def close(self) -> None:
        pass


class Nameless(Way):
    name = ""


class Parted(Way):
    name = "lab/way"


class Pushing(Way):
    """Stops the ball a little."""

    def on_step_accepted(self, simulation, report):
        super().on_step_accepted(simulation, report)
        simulation.state.v[0] *= 1.0 - 1e-12


class Lifting(Way):
    """Looks at heights above the floor, in place."""

    def on_step_accepted(self, simulation, report):
        heights = simulation.state.q
        heights -= 1e-15
        super().on_step_accepted(simulation, report)


class Stepping(Way):
    """Looks where the next step would lead."""

    def begin(self):
        self.ahead = 0.0

    def on_step_accepted(self, simulation, report):
        super().on_step_accepted(simulation, report)
        if self.steps == 10:
            simulation.step()


class Forgetful(Way):
    """Begins to count anew when a run is resumed."""

    def restore(self, state):
        self.way = state["way"].copy()


class Saveless(Way):
    """Saves nothing."""

    def internal_state(self):
        return {}


class Adding(Way):
    """Is made once more in a run that is resumed, and adds what it was."""

    def __init__(self, context):
        super().__init__(context)
        self.steps = 1

    def restore(self, state):
        self.way = state["way"].copy()
        self.steps += int(state["steps"])


class Rounding(Way):
    """Saves half of the digits."""

    def internal_state(self):
        return {"way": self.way.astype(np.float32), "steps": np.array(self.steps)}

    def restore(self, state):
        self.way, self.steps = state["way"].astype(float), int(state["steps"])


class Beginning(Way):
    """Makes in `begin` what it needs, and is restored without it."""

    def begin(self):
        self.speed = np.zeros(3)

    def on_step_accepted(self, simulation, report):
        self.speed[:] = simulation.state.v[:3]
        super().on_step_accepted(simulation, report)


class Remembering(Way):
    """Keeps the array of the state of its beginning, which takes turns with another one."""

    def __init__(self, context):
        super().__init__(context)
        self.v = context.simulation.state.v

    def on_step_accepted(self, simulation, report):
        self.way[0] += abs(self.v[0])
        self.steps += 1


class Listing(Way):
    """Saves what no file can hold."""

    def internal_state(self):
        return {"way": [float(self.way[0])], "steps": self.steps}


class Timing(Way):
    """Tells how long it took."""

    def summary(self):
        return {"way": float(self.way[0]), "seconds": time.perf_counter()}


class Sharing(Way):
    def internal_state(self):
        return {"way": self.way, "steps": np.array(self.steps)}

    def on_step_accepted(self, simulation, report):
        super().on_step_accepted(simulation, report)
        self.way -= 1e-9


class Keeping(Way):
    """Works on the array that it is restored from."""

    def restore(self, state):
        self.way, self.steps = state["way"], int(state["steps"])

    def on_step_accepted(self, simulation, report):
        super().on_step_accepted(simulation, report)
        self.way -= 1e-9


class Common(Way):
    """Counts in the class."""

    seen = np.zeros(1)

    def on_step_accepted(self, simulation, report):
        Common.seen += 1
        self.steps = int(self.seen[0])
        self.way[0] += abs(simulation.state.v[0])

    def restore(self, state):
        super().restore(state)
        Common.seen[:] = self.steps

    def begin(self):
        Common.seen[:] = 0


class Opening(Way):
    """Opens its file when it is made."""

    def __init__(self, context):
        super().__init__(context)
        if context.folder is not None:
            (context.folder / "way.txt").write_text("")


class Placed(Way):
    """Takes a folder for granted."""

    def __init__(self, context):
        super().__init__(context)
        self.file = Path(context.folder, "way.txt")


class Silent(Way):
    """Says nothing of how its flush went."""

    def flush(self, patience):
        pass


class Wordy(Way):
    def summary(self):
        return {"way": float("nan") if self.steps == 120 else 0.0}


class Whole(Way):
    def summary(self):
        return {"steps": np.int64(self.steps)}


class Leaving(Way):
    """Drops its numbers with its files."""

    def close(self):
        del self.way


class Printing(Way):
    def on_step_accepted(self, simulation, report):
        super().on_step_accepted(simulation, report)
        print(simulation.time)


class Drawing(Way):
    def begin(self):
        np.random.normal()  # noqa: NPY002


OBSERVERS: dict[str, tuple[type[Way], str, str]] = {
    "no name": (Nameless, "observers-named", "names must be given"),
    "a name in two parts": (Parted, "observers-named", "has a /"),
    "stops the ball a little": (Pushing, "changes-nothing", "another one from step 0 on"),
    "works in the state": (Lifting, "changes-nothing", "another one from step"),
    "steps ahead": (Stepping, "changes-nothing", "another one from step 9 on"),
    "counts anew when it is resumed": (Forgetful, "resumed-alike", "steps of the internal state"),
    "saves nothing": (Saveless, "resumed-alike", "after a resumed run"),
    "adds when it is resumed": (Adding, "resumed-alike", "steps of the internal state"),
    "saves half of the digits": (Rounding, "resumed-alike", "after a resumed run"),
    "needs `begin`": (Beginning, "resumed-alike", "raised AttributeError"),
    "keeps the state's array": (Remembering, "resumed-alike", "after a resumed run"),
    "saves lists": (Listing, "resumed-alike", "no array"),
    "tells the time it took": (Timing, "resumed-alike", "after a resumed run"),
    "hands out what it works on": (Sharing, "state-copied", "after it was handed out"),
    "works on what it is restored from": (Keeping, "state-copied", "after it was restored from"),
    "counts for all runs": (Common, "runs-apart", "while another run went on"),
    "writes when it is made": (Opening, "made-silently", "making it writes way.txt"),
    "takes a folder for granted": (Placed, "works-without-folder", "raised TypeError"),
    "says nothing of its flush": (Silent, "flush-answers", "without which no checkpoint is written"),
    "tells what is no number": (Wordy, "summary-plain", "no plain data"),
    "tells NumPy's integers": (Whole, "summary-plain", "no plain data"),
    "drops its numbers when it is closed": (Leaving, "summary-plain", "raised AttributeError"),
    "prints": (Printing, "leaves-no-trace", "prints"),
    "draws from the stream of all": (Drawing, "leaves-no-trace", "the random numbers of NumPy"),
}
