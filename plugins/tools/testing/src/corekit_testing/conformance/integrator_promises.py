"""What integrators owe to drives, to damped bodies at rest, to records, and to whoever trusts an accepted step."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np

from corekit.data.arrays import Array
from corekit.data.signals import Ramp
from corekit.roles.component import BuildContext
from corekit.roles.model import ModelDescription
from corekit.simulation.loop import Simulation
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.integrator_motions import swinging
from corekit_testing.conformance.subject import Subject
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import floor, small_world

__all__ = ["PROMISES"]

_STEP, _GRAVITY = 1e-3, 9.81


def _integrator(subject: Subject, step: float = _STEP) -> Any:
    return subject.build(BuildContext(path="conformance", step=step))


@check("rest-damped", "a damped ball at rest is carried by exactly h·m·g a step", "impulses")
def rest_damped(subject: Subject) -> None:
    if {"split", "implicit"} <= subject.spec.provides:
        raise NotApplicable("composition refuses it beside impulses for models with damping")
    mass = 2.0
    chain = PointChain(
        PointChainConfig(
            masses=(mass,), positions=((0.0, 0.0, 0.1),), shape="sphere", radius=0.1, drag=0.5 * mass / _STEP
        )
    )
    simulation = small_world(
        {"ball": chain}, _integrator(subject), step=_STEP, solver=ProjectedGaussSeidel(),
        detector=ReferenceDetector(), obstacles=[floor()], friction=0.3,
    )  # fmt: skip
    for _ in range(10):
        simulation.step()
        impulse = simulation.contacts().normal_impulse
        expect(impulse.shape == (1,), f"a ball at rest has {impulse.size} contacts")
        expect_close("impulse at rest [N·s]", impulse, np.array([_STEP * mass * _GRAVITY]), 1e-10)


def _driven(subject: Subject, **options: Any) -> Simulation:
    """A mass that is driven along x, weighing nothing."""
    config = PointChainConfig(driven=(0,), **options)
    return small_world(
        {"mass": PointChain(config, BuildContext(gravity=np.zeros(3)))}, _integrator(subject), step=_STEP
    )


@check(
    "prescribed-rate-kept", "prescribed velocities are the rates of what is prescribed at the end of a step"
)
def prescribed_rate_kept(subject: Subject) -> None:
    amplitude, turn = 0.1, 2 * math.pi
    simulation = _driven(subject, drive_amplitude=(amplitude, 0.0, 0.0))
    for _ in range(5):
        simulation.step()
        rate = amplitude * turn * math.cos(turn * simulation.time)
        expect_close("the driven velocity [m/s]", simulation.state.v[0], np.array(rate), 1e-12)


@check("rate-jump-passed-on", "a drive that starts with a jerk takes along what hangs on it by a rod")
def rate_jump_passed_on(subject: Subject) -> None:
    config = PointChainConfig(
        masses=(1.0, 2.0), positions=((0.3, 0.0, 0.0), (1.3, 0.0, 0.0)), links=("none", "rod"), driven=(0,)
    )
    chain = _Jerked(config, BuildContext(gravity=np.zeros(3)))
    simulation = small_world({"mass": chain}, _integrator(subject), step=_STEP)
    simulation.run(_JERK)
    expect_close("velocities before the jerk [m/s]", simulation.state.v, np.zeros(6), 1e-12)
    for _ in range(3):
        simulation.step()
        speed = simulation.state.v[3]
        expect_close("speed of the mass on the rod after the jerk [m/s]", speed, np.array(_RATE), 1e-6)
    expect_close("length of the rod [m]", simulation.state.q[3] - simulation.state.q[0], np.array(1.0), 1e-9)


_JERK, _RATE = 5e-3, 0.2
"""When the drive of `_Jerked` starts [s], and how fast [m/s]."""


class _Jerked(PointChain):  # pyrefly: ignore[invalid-inheritance]
    """A chain whose first mass stands, and at once goes along x."""

    @property
    def description(self) -> ModelDescription:
        move = Ramp(begin=_JERK, end=_JERK + 1.0, start=0.0, value=_RATE)
        return attrs.evolve(super().description, prescribed_signals=(move,))

    def compute_prescribed_motion(self, time: float, value: Array, rate: Array) -> None:
        super().compute_prescribed_motion(time, value, rate)
        value[0] += _RATE * max(0.0, time - _JERK)
        rate[0] = _RATE if time > _JERK else 0.0


@check("drive-reaction", "what a drive gives in a step is recorded: the force of the spring that it holds")
def drive_reaction(subject: Subject) -> None:
    stiffness, stretch = 200.0, 0.1
    simulation = _driven(
        subject, masses=(1.0, 2.0), positions=((0.3, 0.0, 0.0), (1.3, 0.0, 0.0)), links=("none", "spring"),
        lengths=(0.0, 1.0 - stretch), stiffness=stiffness,
    )  # fmt: skip
    simulation.step()
    given, wanted = simulation.system.reaction()[0], -_STEP * stiffness * stretch
    # the mass has moved by ½·h²·k/m of the stretch at the end of the step
    expect_close("impulse of the drive [N·s]", given, np.array(wanted), 1e-3 * abs(wanted))


@check(
    "unconverged-refused", "stopped after one iteration a step is refused, or as good as one that converged"
)
def unconverged_refused(subject: Subject) -> None:
    config, step = subject.config(), 2e-2
    if not any(each.name == "max_iterations" for each in attrs.fields(type(config))):
        raise NotApplicable("has no option `max_iterations`")
    found = []
    for chosen in (config, attrs.evolve(config, max_iterations=1)):
        integrator: Any = subject.build_from(chosen, BuildContext(path="conformance", step=step))
        simulation = small_world({"arm": swinging(2.5, 12.0)}, integrator, step=step)
        out = simulation.system.new_state()
        report = integrator.step(simulation.system, simulation.state, step, out)
        if not report.accepted or report.step_size < step:
            return
        found.append(np.concatenate([out.q, out.v]))
    expect_close("an accepted step of one iteration, against one of many", found[1], found[0], 1e-6)


PROMISES: tuple[Check, ...] = (
    rest_damped, prescribed_rate_kept, rate_jump_passed_on, drive_reaction, unconverged_refused,
)  # fmt: skip
"""Checks of drives, rest, records and acceptance."""
