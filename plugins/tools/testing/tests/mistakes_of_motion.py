"""Integrators and controllers with one small mistake each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import evolve

from corekit_testing.conformance import Subject

from . import test_wrong_planners as tasks
from .defects import counter, drift, wrong
from .test_wrong_integrators import Through, alone, euler, verlet

__all__ = ["CONTROLLERS", "INTEGRATORS", "gives", "torque"]


def steps(change: Any) -> dict[str, Any]:
    """An integrator after whose step `change(system, state, out, report)` gives the report."""

    def method(right: Any, self: Any, system: Any, state: Any, t_stop: float, out: Any) -> Any:
        report = right(self, system, state, t_stop, out)
        return change(system, state, out, report) or report

    return {"step": method}


def explicit_position(system, state, out, report):
    system.integrate(state, state.v, report.step_size, state, out)


def without_integrate(system, state, out, report):
    if system.pipeline is None:
        out.q[: system.nv] = state.q[: system.nv] + 1.01 * (out.q[: system.nv] - state.q[: system.nv])


def damped(system, state, out, report):
    out.v *= 0.9999


def overshoots(right, self, system, state, t_stop, out):
    return right(self, system, state, t_stop + 1e-6, out)


def keeps_the_time(system, state, out, report):
    out.time = state.time


def always_accepts(system, state, out, report):
    return evolve(report, accepted=True)


def shares_the_start(system, state, out, report):
    state.q[:] = out.q


def no_aux(system, state, out, report):
    out.aux[:] = state.aux


def ignores_drives(system, state, out, report):
    if alone(system, "driven"):
        out.q[:3] = state.q[:3]


def sinks(system, state, out, report):
    if system.pipeline is not None:
        out.q[2] -= 1e-8


def never_jumps(right, self, system, state, t_stop, out):
    seen = Through(system, split=Through(system.split, apply_rate_jump=lambda *_: False))
    return right(self, seen, state, t_stop, out)


INTEGRATORS = {
    "moves by the old velocity": (lambda: euler(**steps(explicit_position)), "prescribed-followed"),
    "moves a hundredth too far": (lambda: euler(**steps(without_integrate)), "order-one"),
    "loses speed": (lambda: euler(**steps(damped)), "free-fall"),
    "passes the stop": (lambda: euler(step=overshoots), "lands-on-stop"),
    "the time stands": (lambda: euler(**steps(keeps_the_time)), "lands-on-stop"),
    "accepts whatever comes": (lambda: euler(**steps(always_accepts)), "singular-refused"),
    "writes to the start": (lambda: euler(**steps(shares_the_start)), "start-unchanged"),
    "forgets aux": (lambda: euler(**steps(no_aux)), "aux-carried"),
    "drives stand still": (lambda: euler(**steps(ignores_drives)), "prescribed-followed"),
    "sinks by ten nanometres": (lambda: euler(**steps(sinks)), "rest-exact"),
    "promises order 3": (lambda: verlet(spec={"order": 3}), "order-declared"),
    "promises order 2": (
        lambda: wrong("integrators", "reference-implicit-euler", spec={"order": 2}),
        "order-declared",
    ),
    "no jump of rates": (lambda: verlet(step=never_jumps), "rate-jump-passed-on"),
}


def gives(change: Any) -> Callable[[], Subject]:
    return lambda: tasks.controller(given=change)


def torque(inputs: Any, value: Any) -> Any:
    return {"arm": {"torque": value(inputs["arm"]["torque"])}}


CONTROLLERS = {
    "another body": (gives(lambda self, world, inputs: {"arms": inputs["arm"]}), "fits-its-channels"),
    "another channel": (gives(lambda self, world, inputs: {"arm": {"force": 0.0}}), "fits-its-channels"),
    "too few numbers": (
        gives(lambda self, world, inputs: torque(inputs, lambda u: u[:1].repeat(3))),
        "fits-its-channels",
    ),
    "NaN": (gives(lambda self, world, inputs: torque(inputs, lambda u: u * np.nan)), "fits-its-channels"),
    "infinite": (
        gives(lambda self, world, inputs: torque(inputs, lambda u: u + np.inf)),
        "fits-its-channels",
    ),
    "nothing later": (
        gives(lambda self, world, inputs: inputs if world.time < 0.005 else {}),
        "fits-its-channels",
    ),
    "an empty body": (
        gives(lambda self, world, inputs: {"arm": {}} if world.time > 0.01 else inputs),
        "fits-its-channels",
    ),
    "counts in secret": (
        gives(lambda self, world, inputs: torque(inputs, lambda u: u + 1e-9 * counter(self))),
        "saved-and-loaded",
    ),
    "a lottery": (
        gives(lambda self, world, inputs: torque(inputs, lambda u: u + 1e-9 * drift(self))),
        "deterministic",
    ),
    "writes to the state": (
        gives(lambda self, world, inputs: world.state.v.__setitem__(0, world.state.v[0] + 1e-12) or inputs),
        "inputs-unchanged",
    ),
    "prints": (gives(lambda self, world, inputs: print("now") or inputs), "leaves-no-trace"),
}
