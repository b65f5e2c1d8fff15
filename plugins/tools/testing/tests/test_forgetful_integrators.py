"""Integrators that keep something from step to step and save nothing of it."""

from typing import final

import pytest
from attrs import evolve

from corekit.data.status import StepReport
from corekit.roles.component import BuildContext
from corekit.roles.integrator import Integrator, next_step
from corekit.roles.stage_solver import StageSolver
from corekit_testing.conformance import Subject, checks_of, run_checks
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.common import PAPER

IMPLICIT = Subject.installed("integrators", "reference-implicit-euler")
OWN = checks_of("integrators")[len(PAPER) :]


class Staged(Integrator):
    """Implicit Euler by `StageSolver`, with a new one and from v₀ in every step."""

    def __init__(self, config, context=None):
        self._step = (context or BuildContext()).step

    def solver(self, system):
        return StageSolver(system, 1.0)

    def guess(self, start):
        return start

    def step(self, system, state, t_stop, out):
        h, end = next_step(self._step, state.time, t_stop)
        solver = self.solver(system)
        system.theta.begin_step(state, h)
        solver.velocity[:] = self.guess(state.v)
        found = solver.solve()
        out.v[:] = solver.velocity
        system.integrate(state, out.v, h, state, out)
        out.time = end
        return StepReport(accepted=found.converged, step_size=h, solve_info=found.info)


@final
class Sound(Staged):
    """Keeps nothing."""


@final
class KeepsItsContraction(Staged):
    """Relies on the contraction that earlier stages measured."""

    last = None

    def solver(self, system):
        solver = StageSolver(system, 1.0)
        if self.last is not None:
            solver.contraction = self.last.contraction
        self.last = solver
        return solver


@final
class KeepsTheLastVelocity(Staged):
    """Begins on the line through the last two velocities."""

    last = None

    def guess(self, start):
        last, self.last = self.last, start.copy()
        return start if last is None or last.shape != start.shape else 2.0 * start - last


def caught(target):
    """Names of the integrators' own checks that fail; none of these classes reads its options."""
    subject = evolve(IMPLICIT, target=target)
    return {each.check for each in run_checks(subject, checks=OWN) if each.verdict is Verdict.FAILED}


def test_an_integrator_that_keeps_nothing_passes():
    assert caught(Sound) == set()


@pytest.mark.parametrize("target", [KeepsItsContraction, KeepsTheLastVelocity])
def test_what_is_kept_in_secret_is_seen(target):
    assert "saved-and-loaded" in caught(target)
