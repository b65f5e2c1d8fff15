"""Scenario B of CUSP: contact with the upper sphere, then with the lower one, and the whole body deforms.

The paper shows pictures and no number. That the upper sphere is touched first, and the lower one after the actuation
of joints 7 and 8, follows from where our scene has them, which the paper does not tell, and stands apart. What is
judged is that the force of the lower sphere reaches sections that nothing actuates: their elongations change against a
run without that sphere.
"""

from __future__ import annotations

import numpy as np

from corekit_record.results import Results
from corekit_scenarios.cases.cusp.inclined_box import AS_PRINTED
from corekit_scenarios.cases.cusp.modes import agreement, first_touch, phases, same_sequence, words
from corekit_study.case_run import CaseRun, Job, Row
from corekit_study.reference import OWN, method, paper, setting

__all__ = ["two_spheres"]

SCENARIO = "cusp/two-spheres"
RAMP = 0.6
"""When the actuation of joints 7 and 8 begins [s]."""
DEFORMED = 1e-3
"""Change of an elongation that counts as a deformation [m]."""
SLACK = 0.03
_SCENARIO = paper("section V-B, Scenario B")
_PLACED = setting("section V-B, Scenario B; follows from where our scene has the spheres")
AWAY = "world.obstacles[1].position=[0.0, 5.0, 0.0]"
"""The lower sphere out of reach."""


def two_spheres(case: CaseRun) -> list[Row]:
    """Two simulated seconds, with either detector, as the paper steps them, and without the lower sphere."""
    ways = {"sdf": (), "mpr": ("contact.detector.use=mpr",), "as-printed": AS_PRINTED, "upper-alone": (AWAY,)}
    runs = case.finished([Job(name=name, scenario=SCENARIO, overrides=ways[name]) for name in ways])
    sdf, mpr, printed, alone = (runs[name] for name in ways)
    return [*_order(sdf), *_body(sdf, alone), *_both_detectors(sdf, mpr), _as_printed(sdf, printed)]


def _order(results: Results) -> list[Row]:
    upper, lower = first_touch(results, "upper"), first_touch(results, "lower")
    depth = float(results.statistics["deepest_penetration_m"])
    unsolved = int(results.statistics["unsolved_steps"])
    return [
        Row(
            quantity="first load on the upper sphere; on the lower one", unit="s", against=_PLACED,
            expected="first; then", ours=f"{upper:.3g}; {lower:.3g}",
            tolerance=f"before the actuation of joints 7 and 8, which begins at {RAMP:g} s; under it",
            passed=upper < RAMP < lower, note="the paper gives no number",
        ),
        Row(
            quantity="deepest penetration", unit="mm", against=OWN, ours=1e3 * depth, tolerance="≤ 1 mm",
            passed=depth <= 1e-3,
            note="the paper says nothing",
        ),
        Row(
            quantity="steps whose solve did not meet its tolerance", against=OWN, ours=unsolved, tolerance="none",
            passed=unsolved == 0,
        ),
    ]  # fmt: skip


def _body(results: Results, alone: Results) -> list[Row]:
    change = np.abs(results.q[-1] - alone.q[-1]).reshape(3, 3).max(axis=1)
    told = [
        Row(
            quantity=f"elongation that the lower sphere changes in section {section}", unit="mm", against=OWN,
            ours=1e3 * float(change[section - 1]),
            note="against the same run without that sphere; nothing actuates sections 1 and 2",
        )
        for section in (3, 2, 1)
    ]  # fmt: skip
    least = float(change.min())
    return [
        Row(
            quantity="elongation that the lower sphere changes, the least of all sections",
            unit="mm", against=_SCENARIO, expected="whole-body deformation", ours=1e3 * least, tolerance="≥ 1 mm",
            passed=least >= DEFORMED, note="the paper gives no number",
        ),
        *told,
    ]  # fmt: skip


def _both_detectors(sdf: Results, mpr: Results) -> list[Row]:
    first, second, found = phases(sdf), phases(mpr), agreement(sdf, mpr)
    same = same_sequence(first, second, SLACK)
    return [
        Row(
            quantity="contact modes over time, sdf and mpr", against=method("detector mpr"),
            ours="the same" if same else "differ",
            tolerance=f"the same, changes within {1e3 * SLACK:g} ms", passed=same,
            note=words(first) if same else f"{words(first)}; against {words(second)}",
        ),
        Row(
            quantity="difference of the contact force, sdf and mpr", unit="%", against=method("detector mpr"),
            ours=100.0 * found.force,
            tolerance="≤ 2 %", passed=found.force <= 0.02,
            note=f"root mean square over the records after the impact; {100 * found.worst:.2g} % of the peak at worst",
        ),
    ]  # fmt: skip


def _as_printed(results: Results, printed: Results) -> Row:
    first, second = phases(results), phases(printed)
    same = same_sequence(first, second, SLACK)
    return Row(
        quantity="contact modes over time, as the paper steps it and h = 1 ms",
        against=method("explicit steps of 0.1 ms"), ours="the same" if same else "differ",
        tolerance=f"the same, changes within {1e3 * SLACK:g} ms", passed=same,
        note=words(second) if same else f"{words(second)}; against {words(first)}",
    )  # fmt: skip
