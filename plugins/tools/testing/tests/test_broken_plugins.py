"""What is broken from the ground up is said once: what rests on it is not judged, and every run of checks ends."""

from typing import Any

import pytest
from attrs import evolve

from corekit.linalg.matrices import Dense
from corekit_testing.conformance import Subject, conformance, run_checks
from corekit_testing.conformance.check import Verdict

from .defects import pendulum, wrong


def halfway(right, self, system, state, t_stop, out):
    """Steps half of the way to t_stop, again and again."""
    before = self._step
    self._step = 0.5 * min(before, t_stop - state.time)
    try:
        return right(self, system, state, state.time + self._step, out)
    finally:
        self._step = before


def middle_of_the_step(right, self, system, state, t_stop, out):
    """Says that a step ends in its middle."""
    report = right(self, system, state, t_stop, out)
    out.time = 0.5 * (state.time + out.time)
    return evolve(report, step_size=0.5 * report.step_size)


def larger(right, self):
    return Dense(self._count + 1)


def two_larger(right, self):
    return Dense(self._count + 1), Dense(self._count + 1)


def without_its_frames():
    """A pendulum whose class has no compute_frame_poses."""
    subject = pendulum(integrate=lambda right, self, *more: right(self, *more))
    cls: Any = subject.target
    cls.__abstractmethods__ = frozenset({"compute_frame_poses"})
    return subject


BROKEN = {
    "never lands": (
        lambda: wrong("integrators", "reference-semi-implicit-euler", step=halfway),
        ["lands-on-stop"],
        "never lands on t_stop",
    ),
    "ends in the middle": (
        lambda: wrong("integrators", "reference-semi-implicit-euler", step=middle_of_the_step),
        ["lands-on-stop"],
        "never lands on t_stop",
    ),
    "M is too large": (lambda: pendulum(new_mass_matrix=larger), ["answers-sized"], "raised ValueError"),
    "K and D are too large": (
        lambda: pendulum(new_stiffness_and_damping=two_larger),
        ["answers-sized"],
        "raised ValueError",
    ),
    "lacks a method": (without_its_frames, ["spec-true", "options-read"], "compute_frame_poses"),
    "lacks a method of an ability": (
        lambda: wrong(
            "models",
            "reference-pendulum",
            spec={"provides": pendulum().spec.provides | {"reparametrisation", "prescribed"}},
        ),
        ["spec-true", "inputs-unchanged", "reparametrise-equivalent"],
        "",
    ),
}
"""Kind → a plugin, the checks that fail, and words of each of their reasons."""


@pytest.mark.parametrize("kind", BROKEN)
def test_a_cause_is_told_once_and_the_rest_is_not_judged(kind):
    make, names, words = BROKEN[kind]
    outcomes = list(run_checks(make()))
    failed = [each for each in outcomes if each.verdict is Verdict.FAILED]
    assert [each.check for each in failed] == names
    assert all(words in each.reason for each in failed)
    assert any(each.verdict is Verdict.NOT_JUDGED for each in outcomes)


def test_pytest_skips_what_rests_on_a_check_that_fails(monkeypatch):
    broken = BROKEN["never lands"][0]()
    monkeypatch.setattr(Subject, "installed", lambda *_, **__: broken)
    test = conformance("integrators", "reference-semi-implicit-euler")
    with pytest.raises(pytest.fail.Exception, match="never lands on t_stop"):
        test("lands-on-stop")
    with pytest.raises(pytest.skip.Exception, match="not judged: lands-on-stop fails"):
        test("order-one")
