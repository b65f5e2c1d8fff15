"""Scenario A of CUSP: non-penetration, sticking before the ramp, sliding once it acts.

The paper shows pictures and says in words what happens; it prints no number that could be compared with,
so the tolerances are ours and stand in the table.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import IntArray
from corekit.data.contacts import ContactMode
from corekit.run.results import Results
from corekit.study.case_run import CaseRun, Row

__all__ = ["inclined_box", "share_in_mode"]

LANDED, RAMP, SLIDES = 0.2, 1.0, 1.2
"""When the arm lies still, when the pressure begins to rise, and when it has broken the contacts loose [s]."""
DEEPEST = 1e-3
"""Penetration that still passes for none [m]: a sixtieth of a disk's radius."""


def inclined_box(case: CaseRun) -> list[Row]:
    """Two simulated seconds with steps of 1 ms."""
    results = case.run("cusp/inclined-box")
    said = results.statistics
    times = next(event for event in reversed(results.events) if event["event"] == "finished")
    depth = float(said["deepest_penetration_m"])
    end = float(results.time[-1])
    held = held_share(results, LANDED, RAMP)
    sticks, slides = (
        share_in_mode(results, mode, *span)
        for mode, span in ((ContactMode.STICK, (LANDED, RAMP)), (ContactMode.SLIDE, (SLIDES, end)))
    )
    steps, solved = int(said["steps"]), int(said["steps"]) - int(said["unsolved_steps"])
    no_number = "the paper gives no number"
    return [
        Row(
            quantity="deepest penetration", unit="mm", paper="none", ours=1e3 * depth,
            tolerance="≤ 1 mm", passed=depth <= DEEPEST, note=no_number,
        ),
        Row(
            quantity="instants before the ramp at which a contact sticks", unit="%", paper="sticks", ours=100.0 * held,
            tolerance="100 %", passed=held == 1.0, note=f"records from {LANDED:g} s to {RAMP:g} s; {no_number}",
        ),
        Row(
            quantity="loaded contacts that stick before the ramp", unit="%", ours=100.0 * sticks,
            note="the others creep as the arm settles on the face",
        ),
        Row(
            quantity="loaded contacts that slide under the ramp", unit="%", paper="slides", ours=100.0 * slides,
            tolerance="≥ 99 %", passed=slides >= 0.99, note=f"from {SLIDES:g} s to the end; {no_number}",
        ),
        Row(
            quantity="steps whose solve met its tolerance", ours=f"{solved} of {steps}",
            tolerance="all", passed=solved == steps, note=no_number,
        ),
        Row(quantity="time per step", unit="µs", ours=_times(times["step_s"], 1e6), note=no_number),
        Row(
            quantity="real-time factor at h = 1 ms", ours=_times(times["real_time_factor"], 1.0),
            note="the paper steps 0.1 ms and gives no time",
        ),
    ]  # fmt: skip


def held_share(results: Results, begin: float, end: float) -> float:
    """Share of the records in (begin, end] [s] in which at least one loaded contact sticks."""
    held = [bool((loaded == ContactMode.STICK).any()) for loaded in _loaded_modes(results, begin, end)]
    return float(np.mean(held)) if held else 0.0


def share_in_mode(results: Results, mode: ContactMode, begin: float, end: float) -> float:
    """Share of the contacts that carry load at records in (begin, end] [s] that are in a mode; 0 if none does."""
    modes = _loaded_modes(results, begin, end)
    loaded = np.concatenate(modes) if modes else np.zeros(0)
    return float(np.mean(loaded == mode)) if len(loaded) else 0.0


def _loaded_modes(results: Results, begin: float, end: float) -> list[IntArray]:
    """Modes of the contacts that carry load, at each record in (begin, end] [s]."""
    records = np.flatnonzero((results.time > begin) & (results.time <= end)).tolist()
    return [record.mode[record.normal_impulse > 0] for record in map(results.contacts, records)]


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else factor * value
