"""Controllers on a double pendulum: body `arm`, channel `torque`, frames `mass0` and `mass1`."""

from __future__ import annotations

from typing import cast

import numpy as np

from corekit.roles.component import BuildContext, Component
from corekit.roles.controller import Controller, Inputs
from corekit_testing.conformance.answers import answer_checks
from corekit_testing.conformance.check import Check, check, expect
from corekit_testing.conformance.subject import Answer, Session, Subject
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.semi_implicit_euler import SemiImplicitEuler, SemiImplicitEulerConfig
from corekit_testing.small_world import small_world

__all__ = ["CHECKS"]

_STEP = 0.01


class ControllerSession(Session):
    """Samples while the pendulum swings on a path of its own, whatever the controller answers."""

    def __init__(self, subject: Subject, component: Component, *, reuse: bool = False) -> None:
        super().__init__(subject, component, reuse=reuse)
        arm = PendulumConfig(lengths=(0.5, 0.3), masses=(1.0, 2.0), angles=(0.3, 0.8), rates=(0.0, 0.0))
        self.world = small_world(
            {"arm": Pendulum(arm)},
            SemiImplicitEuler(SemiImplicitEulerConfig(), BuildContext(step=_STEP)),
            step=_STEP,
        )
        self._controller = cast("Controller", component)
        self.given: Inputs = {}

    def ask(self, index: int) -> Answer:
        state = self.world.state
        state.time = index * _STEP
        state.q[:] = 0.3 + 0.1 * index, 0.8 - 0.05 * index**2
        state.v[:] = 0.4 - 0.2 * index, 0.7
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
