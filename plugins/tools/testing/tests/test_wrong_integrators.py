"""Wrong integrators: each breaks one promise, and exactly the checks of that promise fail."""

import numpy as np
import pytest
from attrs import evolve

from corekit.data.status import SolveInfo, Status
from corekit_testing.pendulum import Pendulum
from corekit_testing.point_chain import PointChain

from .defects import OF_A_LOTTERY, counter, drift, failing, role_checks, wrong


def euler(**methods):
    return wrong("integrators", "reference-semi-implicit-euler", **methods)


def alone(system, kind):
    """Whether the world is one free point chain of a kind."""
    model, description = system.bodies[0].model, system.bodies[0].description
    if system.pipeline is not None or not isinstance(model, PointChain):
        return False
    special = {
        "rows": description.constraint_count,
        "driven": len(description.prescribed_velocity_index),
        "aux": description.aux,
    }
    kinds = [name for name, has in special.items() if has]
    return kinds == [kind] if kind in special else not kinds and (kind == "spring") == bool(model._springs)


def springy(system):
    return alone(system, "spring")


def falling(system):
    return alone(system, "fall")


def touch_the_start(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if system.pipeline is not None:
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
    if system.pipeline is not None:
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
    return report if report.accepted else evolve(report, accepted=True, solve_info=SolveInfo(Status.SINGULAR))


def lifting(right, self, system, state, t_stop, out):
    """Lifts a ball that lies still."""
    report = right(self, system, state, t_stop, out)
    if system.pipeline is not None and system.terms.forces is None and abs(state.v[0]) == 0.0:
        out.v[2] += 1e-6
    return report


def braking(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if system.pipeline is not None and system.terms.forces is None:
        out.v[0] *= 0.999
    return report


def sinking(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if system.terms.forces is not None:
        out.q[2] -= 1e-6
    return report


def drifting(right, self, system, state, t_stop, out):
    """Moves the time by a little more than the step it reports."""
    report = right(self, system, state, t_stop, out)
    if out.time != t_stop:
        out.time += 1e-9 * report.step_size
    return report


def stretching(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if alone(system, "rows"):
        out.q *= 1.0005
    return report


def loose_drive(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if alone(system, "driven"):
        out.q[0] += 1e-9
    return report


def without_memory(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    out.aux[:] = 0.0
    return report


def tired(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if isinstance(system.bodies[0].model, Pendulum):
        out.v *= 0.999
    return report


WRONG = {
    "rows-held": (lambda: euler(step=stretching), ()),
    "prescribed-followed": (lambda: euler(step=loose_drive), ()),
    "aux-carried": (lambda: euler(step=without_memory), ()),
    "varying-mass": (lambda: euler(step=tired), ()),
    "implicit-stable": (
        lambda: wrong(
            "integrators",
            "reference-velocity-verlet",
            spec={"provides": {"split", "implicit", "impulses", "potential"}},
        ),
        (),
    ),
    "bodies-independent": (
        lambda: wrong("integrators", "reference-implicit-euler", {"tolerance": 1e-2, "residual": 1e-2}),
        (),
    ),
    "inputs-unchanged": (lambda: euler(step=touch_the_start), ()),
    "start-unchanged": (lambda: euler(step=touch_the_start_of_a_fall), ()),
    "answers-own-memory": (lambda: euler(step=trusting), ()),
    "deterministic": (
        lambda: euler(step=by_lot),
        OF_A_LOTTERY,
    ),
    "saved-and-loaded": (lambda: euler(step=counting), ()),
    "order-one": (lambda: euler(step=sluggish), ()),
    "lands-on-stop": (lambda: euler(step=hasty), ()),
    "free-fall": (lambda: euler(step=heavy), ()),
    "singular-refused": (lambda: euler(step=accepting), ()),
    "rest-exact": (lambda: euler(step=lifting), ()),
    "slides-to-rest": (lambda: euler(step=braking), ()),
    "potential-carries": (lambda: euler(step=sinking), ()),
}


def test_a_time_that_drifts_is_seen():
    assert failing(euler(step=drifting)) >= {"lands-on-stop"}


@pytest.mark.parametrize("name", list(WRONG))
def test_exactly_the_right_checks_catch_it(name):
    make, others = WRONG[name]
    assert failing(make()) == {name, *others}


def test_every_check_of_integrators_catches_a_wrong_one():
    assert role_checks("integrators") == set(WRONG)
