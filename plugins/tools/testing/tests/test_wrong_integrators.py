"""Wrong integrators: each breaks one promise, and exactly the checks of that promise fail."""

import numpy as np
import pytest
from attrs import evolve

from corekit.data.status import SolveInfo, Status
from corekit_testing.conformance import checks_of
from corekit_testing.conformance.common import PAPER

from .defects import counter, drift, failing, wrong


def euler(**methods):
    return wrong("integrators", "reference-semi-implicit-euler", **methods)


def springy(system):
    """The oscillator's world: no gravity, so a spring."""
    return system.stage is None and system.bodies[0].model._springs


def falling(system):
    return system.stage is None and not system.bodies[0].model._springs


def touch_the_start(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if system.stage is not None:
        state.aux, state.v[1] = state.aux, state.v[1] + 1e-15
    return report


def touch_the_start_of_a_fall(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if falling(system):
        state.v[1] += 1e-15
    return report


def trusting(right, self, system, state, t_stop, out):
    """Trusts that nobody writes to the state it gave out last."""
    report = right(self, system, state, t_stop, out)
    last = getattr(self, "last", None)
    if last is not None and last is not out and not np.isfinite(last.q).all():
        out.q += 1e-12
    self.last = out
    return report


def by_lot(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    out.q[1] += 1e-13 * drift(self)
    return report


def counting(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if system.stage is not None:
        out.q[1] += 1e-13 * counter(self)
    return report


def sluggish(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if springy(system):
        out.v *= 0.999
    return report


def hasty(right, self, system, state, t_stop, out):
    """Takes no short steps."""
    short = t_stop - state.time < 0.9 * self._step
    return right(self, system, state, state.time + self._step if short else t_stop, out)


def heavy(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if falling(system):
        out.v[2] -= 1e-6
    return report


def accepting(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    return report if report.accepted else evolve(report, accepted=True, solve=SolveInfo(Status.SINGULAR))


def lifting(right, self, system, state, t_stop, out):
    """Lifts a ball that lies still."""
    report = right(self, system, state, t_stop, out)
    if system.stage is not None and system.forces is None and abs(state.v[0]) == 0.0:
        out.v[2] += 1e-6
    return report


def braking(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if system.stage is not None and system.forces is None:
        out.v[0] *= 0.999
    return report


def sinking(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if system.forces is not None:
        out.q[2] -= 1e-6
    return report


WRONG = {
    "inputs-unchanged": (lambda: euler(step=touch_the_start), ()),
    "start-unchanged": (lambda: euler(step=touch_the_start_of_a_fall), ()),
    "answers-own-memory": (lambda: euler(step=trusting), ()),
    "deterministic": (lambda: euler(step=by_lot), ("answers-own-memory", "saved-and-loaded")),
    "saved-and-loaded": (lambda: euler(step=counting), ()),
    "order-one": (lambda: euler(step=sluggish), ()),
    "lands-on-stop": (lambda: euler(step=hasty), ()),
    "free-fall": (lambda: euler(step=heavy), ()),
    "singular-refused": (lambda: euler(step=accepting), ()),
    "rest-exact": (lambda: euler(step=lifting), ()),
    "slides-to-rest": (lambda: euler(step=braking), ()),
    "potential-carries": (lambda: euler(step=sinking), ()),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_exactly_the_right_checks_catch_it(name):
    make, others = WRONG[name]
    assert failing(make()) == {name, *others}


def test_every_check_of_integrators_catches_a_wrong_one():
    assert {check.name for check in checks_of("integrators")} - {check.name for check in PAPER} == set(WRONG)
