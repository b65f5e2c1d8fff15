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
    damped = getattr(system.bodies[0].model, "_config", None)
    if getattr(damped, "drag", 0.0):
        return report
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
    if isinstance(system.bodies[0].model, Pendulum) and report.step_size < 4.5e-3:
        out.v *= 0.999
    return report


class Through:
    """Something seen through, with other answers to some questions."""

    def __init__(self, inner, **changes):
        self.__dict__.update(changes, inner=inner)

    def __getattr__(self, name):
        return getattr(self.inner, name)


def never_freezes(right, self, system, state, t_stop, out):
    """Leaves the damping in the smooth motion where impulses may act."""

    def begin_step(*arguments):
        return system.split.begin_step(*arguments)._replace(may_have_impulses=False)

    seen = Through(system, split=Through(system.split, begin_step=begin_step))
    return right(self, seen, state, t_stop, out)


def looks_ahead(right, self, system, state, t_stop, out):
    """Evaluates the smooth dynamics far ahead and does not end the step with what a record needs."""
    report = right(self, system, state, t_stop, out)
    if alone(system, "driven") and out.q.size > 3:
        ahead = out.copy()
        ahead.q[3] += 1.0
        system.smooth.compute_acceleration(ahead, np.zeros(system.nv))
    return report


def loose_rate(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    if alone(system, "driven"):
        out.v[0] *= 1.0 + 1e-9
    return report


def slow_to_follow(right, self, system, state, t_stop, out):
    """What hangs on a drive by a rod takes several steps to come along."""
    report = right(self, system, state, t_stop, out)
    description = system.bodies[0].description
    if description.constraint_count and len(description.prescribed_velocity_index):
        out.v[3:] = state.v[3:] + 0.5 * (out.v[3:] - state.v[3:])
    return report


def accepts_what_is_not_converged(right, self, system, state, t_stop, out):
    report = right(self, system, state, t_stop, out)
    return evolve(report, accepted=True) if report.solve_info.status is Status.ITERATION_LIMIT else report


def verlet(**methods):
    return wrong("integrators", "reference-velocity-verlet", **methods)


WRONG = {
    "order-declared": (lambda: euler(spec={"order": 2}), ()),
    "rest-damped": (lambda: verlet(step=never_freezes), ()),
    "prescribed-rate-kept": (lambda: euler(step=loose_rate), ()),
    "rate-jump-passed-on": (lambda: euler(step=slow_to_follow), ()),
    "drive-reaction": (lambda: verlet(step=looks_ahead), ()),
    "unconverged-refused": (
        lambda: wrong("integrators", "reference-implicit-euler", step=accepts_what_is_not_converged),
        (),
    ),
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
