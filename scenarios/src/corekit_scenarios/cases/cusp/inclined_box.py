"""Scenario A of CUSP: non-penetration, sticking before the ramp, sliding once it acts.

The paper shows pictures and says in words what happens; it prints no number that could be compared with,
so the tolerances are ours and stand in the table. What it says is judged of the run that steps as it does: an explicit
free velocity every 0.1 ms and contacts at velocity level. "Without penetration" is no evidence: no step of ours closes
a gap by more than there is, v_n ≥ −φ/h at either level, so that it stands apart. The same two seconds are run with our
own steps, of 1 ms and of 0.1 ms, with the other contact detector and with the other integrator: the sequence of contact
modes must not change.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import IntArray
from corekit.data.contacts import ContactMode
from corekit_record.results import Results
from corekit_scenarios.cases.cusp.modes import agreement, phases, same_sequence, words
from corekit_study.case_run import CaseRun, Job, Row
from corekit_study.reference import OWN, Reference, finer, method, paper, setting

__all__ = ["AS_PRINTED", "FINE", "inclined_box", "share_in_mode"]

LANDED, RAMP, SLIDES = 0.2, 1.0, 1.2
"""When the arm lies still, when the pressure begins to rise, and when it has broken the contacts loose [s]."""
DEEPEST = 1e-3
"""Penetration that still passes for none [m]: a sixtieth of a disk's radius."""
SLACK = 0.03
"""By how much a change of mode may move with the step, the detector or the integrator [s]: three records."""
FINE = ("time.step=1e-4", "contact.stabilisation.push_out=1000.0")
"""The paper's step, with the share α = 0.1 of the depth that is pushed out in one."""
AS_PRINTED = (*FINE, "integrator.options.form=explicit", "contact.impact.level=velocity")
"""Section V-A: an explicit free velocity, contacts at velocity level with (α/h)·g."""
RK23 = ("integrator.use=rk23", "integrator.options={}")
NO_NUMBER = "the paper gives no number"
_SCENARIO = paper("section V-B, Scenario A")
_CLOSED = setting("section V-B, Scenario A; follows from v_n ≥ −φ/h of every step")


def inclined_box(case: CaseRun) -> list[Row]:
    """Two simulated seconds with steps of 1 ms, and the same in four other ways."""
    ways = {
        "h-1ms": (), "h-0.1ms": FINE, "as-printed": AS_PRINTED, "mpr": ("contact.detector.use=mpr",), "rk23": RK23,
    }  # fmt: skip
    runs = case.finished(
        [Job(name=name, scenario="cusp/inclined-box", overrides=ways[name]) for name in ways]
    )
    coarse, fine, printed, mpr, rk23 = (runs[name] for name in ways)
    return [
        *_shown_in_the_paper(printed),
        Row(
            quantity="loaded contacts that stick before the ramp, h = 1 ms",
            unit="%",
            against=OWN,
            ours=100.0 * share_in_mode(coarse, ContactMode.STICK, LANDED, RAMP),
            note="the others creep as the arm settles on the face",
        ),
        _all_solved(coarse),
        _same_modes("h = 1 ms and 0.1 ms", fine, coarse, finer("h = 0.1 ms")),
        _same_modes(
            "as the paper steps it and h = 1 ms", printed, coarse, method("explicit steps of 0.1 ms")
        ),
        _same_modes("sdf and mpr", mpr, coarse, method("detector mpr")),
        _same_forces("sdf and mpr", mpr, coarse),
        _same_modes("semi-implicit Euler and rk23", rk23, coarse, method("integrator rk23")),
        Row(
            quantity="poses of Figure 2",
            against=paper("Figure 2"),
            ours=None,
            reason="a picture without numbers; place of the box, friction, chambers and disks are not given",
        ),
        *_speed(coarse, "1 ms"),
        *_speed(fine, "0.1 ms"),
    ]


def _shown_in_the_paper(printed: Results) -> list[Row]:
    """The paper's two sentences, of the run that steps as it does."""
    depth, end = float(printed.statistics["deepest_penetration_m"]), float(printed.time[-1])
    sticks, slides = (
        share_in_mode(printed, mode, *span)
        for mode, span in ((ContactMode.STICK, (LANDED, RAMP)), (ContactMode.SLIDE, (SLIDES, end)))
    )
    return [
        Row(
            quantity="deepest penetration, stepped as printed", unit="mm", against=_CLOSED, expected="none",
            ours=1e3 * depth, tolerance="≤ 1 mm", passed=depth <= DEEPEST,
            note=NO_NUMBER,
        ),
        Row(
            quantity="loaded contacts that stick before the ramp; that slide under it", unit="%", against=_SCENARIO,
            expected="from sticking to sliding", ours=f"{100.0 * sticks:.3g}; {100.0 * slides:.3g}",
            tolerance="most; ≥ 99 %", passed=sticks > 0.5 and slides >= 0.99,
            note=f"stepped as printed; of all at the records from {LANDED:g} s to {RAMP:g} s, and from {SLIDES:g} s to "
            f"the end; {NO_NUMBER}",
        ),
    ]  # fmt: skip


def _all_solved(results: Results) -> Row:
    steps, unsolved = (int(results.statistics[name]) for name in ("steps", "unsolved_steps"))
    return Row(
        quantity="steps whose solve met its tolerance", against=OWN, ours=f"{steps - unsolved} of {steps}",
        tolerance="all", passed=unsolved == 0,
    )  # fmt: skip


def _same_modes(which: str, one: Results, other: Results, against: Reference) -> Row:
    first, second = phases(one), phases(other)
    same = same_sequence(first, second, SLACK)
    note = words(second) if same else f"{words(second)}; against {words(first)}"
    return Row(
        quantity=f"contact modes over time, {which}", against=against, ours="the same" if same else "differ",
        tolerance=f"the same, changes within {1e3 * SLACK:g} ms", passed=same, note=note,
    )  # fmt: skip


def _same_forces(which: str, one: Results, other: Results) -> Row:
    found = agreement(other, one)
    return Row(
        quantity=f"difference of the contact force, {which}", unit="%", against=method("detector mpr"),
        ours=100.0 * found.force,
        tolerance="≤ 2 %", passed=found.force <= 0.02,
        note=f"root mean square over the records after the impact; {100 * found.worst:.2g} % of the peak at worst",
    )  # fmt: skip


def _speed(results: Results, step: str) -> list[Row]:
    times = next(event for event in reversed(results.events) if event["event"] == "finished")
    return [
        Row(
            quantity=f"time per step of {step}", unit="µs", against=OWN, ours=_times(times["step_s"], 1e6),
            note=NO_NUMBER
        ),
        Row(
            quantity=f"real-time factor at h = {step}", against=OWN, ours=_times(times["real_time_factor"], 1.0),
            note="measured while other runs keep the other cores busy; the paper gives no time",
        ),
    ]  # fmt: skip


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
