"""Controllers in a world: one of the kit, or that of a scenario, `corekit conform controllers.NAME --world FILE`.

The world of the kit is a double pendulum, body `arm`, with the channel `torque` of two numbers and the frames `mass0`
and `mass1`, sampled every 10 ms. A controller that drives something else needs a scenario of its own.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from corekit.roles.component import BuildContext, Component
from corekit.roles.controller import Controller, Inputs
from corekit.simulation.loop import Simulation
from corekit_testing.conformance.answers import answer_checks
from corekit_testing.conformance.check import Check, check, expect
from corekit_testing.conformance.subject import Answer, Session, Subject
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.semi_implicit_euler import SemiImplicitEuler, SemiImplicitEulerConfig
from corekit_testing.small_world import small_world

__all__ = ["CHECKS"]

_STEP = 0.01


def _world() -> Simulation:
    """The world of the kit."""
    arm = PendulumConfig(lengths=(0.5, 0.3), masses=(1.0, 2.0), angles=(0.3, 0.8), rates=(0.0, 0.0))
    integrator = SemiImplicitEuler(SemiImplicitEulerConfig(), BuildContext(step=_STEP))
    return small_world({"arm": Pendulum(arm)}, integrator, step=_STEP)


class ControllerSession(Session):
    """Samples while the pendulum swings on a path of its own, whatever the controller answers."""

    def __init__(self, subject: Subject, component: Component, *, reuse: bool = False) -> None:
        super().__init__(subject, component, reuse=reuse)
        self.world = _world() if subject.world is None else subject.world.compose()
        self._start = self.world.state.copy()
        self._controller = cast("Controller", component)
        self.given: Inputs = {}

    def ask(self, index: int) -> Answer:
        state = self.world.state
        state.time = index * _STEP
        if self.subject.world is None:
            state.q[:] = 0.3 + 0.1 * index, 0.8 - 0.05 * index**2
            state.v[:] = 0.4 - 0.2 * index, 0.7
        else:  # near where the scenario begins, moving
            moved = np.random.default_rng([5, index]).normal(size=state.v.size)
            self.world.system.integrate(self._start, 0.1 * moved, _STEP * index, self._start, state)
            state.v[:] = self._start.v + 0.01 * index * moved
            state.time = index * _STEP
        before = {"q": state.q.copy(), "v": state.v.copy()}
        self.given = given = self._controller.compute_inputs(self.world)
        found = {
            f"{body}.{channel}": np.asarray(value, dtype=float)
            for body, values in given.items()
            for channel, value in values.items()
        }
        return Answer({name: (kept, getattr(state, name)) for name, kept in before.items()}, found)


@check(
    "fits-its-channels", "its inputs name bodies and channels that exist, and are finite and of their sizes"
)
def fits_its_channels(subject: Subject) -> None:
    session = ControllerSession(subject, subject.build())
    driven = []
    for index in range(session.questions):
        session.ask(index)
        for body, values in session.given.items():
            for channel, value in values.items():
                session.world.body(body).inputs.set_channel(channel, value, "the controller")
        driven.append(sorted((body, channel) for body, values in session.given.items() for channel in values))
    expect(all(each == driven[0] for each in driven), "it drives other channels at other samples")


CHECKS: tuple[Check, ...] = (*answer_checks(ControllerSession), fits_its_channels)
"""Checks of the controller role."""
