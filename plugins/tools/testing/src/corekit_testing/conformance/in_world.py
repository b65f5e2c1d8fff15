"""A component inside a scenario of its author's: two runs alike, one that is resumed, and two that take turns.

What the checks of a role ask in worlds of the kit's own is asked here where the component is used: with its options
there, beside what stands there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve

import corekit
from corekit.errors import ConfigError, Mistake
from corekit.roles.options import ComponentRef
from corekit.simulation.loop import Simulation
from corekit_testing.conformance.answers import through_file
from corekit_testing.conformance.check import Check, check, expect
from corekit_testing.conformance.subject import Subject

__all__ = ["WORLD_CHECKS", "subject_in"]

_STEPS = 40
"""Steps of each run: a user's world may be slow."""


def subject_in(subject: Subject, file: Path) -> Subject:
    """The subject with the options that a scenario gives the component, and with that scenario.

    Options that the subject has are kept.

    Raises:
        ConfigError: the scenario does not use the component, or is none.
    """
    scenario = corekit.load(file)
    uses = _uses(scenario)
    role, name = subject.spec.role, subject.spec.name
    found = [ref for own, ref in uses if own == role and ref.use.rpartition(":")[2] == name]
    if not found:
        listed = ", ".join(sorted({f"{own}.{ref.use}" for own, ref in uses}))
        said = f"must use {role}.{name}; it uses {listed}"
        raise ConfigError([Mistake("--world", str(file), said)], "corekit conform")
    return evolve(subject, options={**found[0].options, **subject.options}, world=scenario)


def _uses(scenario: Any) -> list[tuple[str, ComponentRef]]:
    """Role and reference of every component that a scenario names, those inside of options too."""
    refs = [("models", ComponentRef(each.use, each.options)) for each in scenario.bodies]
    refs += [("controllers", ComponentRef(each.use, each.options)) for each in scenario.controllers]
    refs.append(("integrators", scenario.integrator))
    if scenario.contact is not None:
        if scenario.contact.solver is not None:
            refs.append(("contact_solvers", scenario.contact.solver))
        refs += [("contact_detectors", each) for each in scenario.contact.detector]
    inside = [
        (role, ComponentRef.from_value(value))
        for _, ref in refs
        for key, role in (("lcp_solver", "lcp_solvers"), ("qp_solver", "qp_solvers"))
        if (value := ref.options.get(key)) is not None
    ]
    return [*refs, *inside]


def _states(simulation: Simulation, steps: int) -> list[bytes]:
    return [_next(simulation) for _ in range(steps)]


def _next(simulation: Simulation) -> bytes:
    report = simulation.step()
    expect(report.accepted, f"step {simulation.step_index} is not accepted: {report.solve_info.status.value}")
    state = simulation.state
    finite = np.isfinite(state.q).all() and np.isfinite(state.v).all()
    expect(finite, f"after step {simulation.step_index} the state is not finite")
    return state.q.tobytes() + state.v.tobytes() + state.aux.tobytes()


def _expect_same(one: list[bytes], other: list[bytes], when: str, first: int = 0) -> None:
    away = next((k for k, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), None)
    expect(away is None, f"{when} the states differ from step {first + (away or 0) + 1} on")


@check("world-deterministic", "two runs of the scenario are the same to the last bit")
def world_deterministic(subject: Subject) -> None:
    one, other = (_states(subject.world.compose(), _STEPS) for _ in range(2))
    _expect_same(one, other, "in two runs")


@check("world-resumed", "saved, loaded and continued equals continued")
def world_resumed(subject: Subject) -> None:
    half, simulation = _STEPS // 2, subject.world.compose()
    _states(simulation, half)
    kept = through_file(simulation.internal_state())
    rest = _states(simulation, half)
    resumed = subject.world.compose()
    resumed.restore(kept)
    _expect_same(rest, _states(resumed, half), "after it was saved and loaded", half)


@check("world-turns", "two simulations that take turns go as one alone does")
def world_turns(subject: Subject) -> None:
    alone = _states(subject.world.compose(), _STEPS // 2)
    one, other = (subject.world.compose() for _ in range(2))
    turns = [(_next(one), _next(other))[0] for _ in range(_STEPS // 2)]
    _expect_same(alone, turns, "beside another simulation")


WORLD_CHECKS: tuple[Check, ...] = (world_deterministic, world_resumed, world_turns)
"""Asked where there is a scenario."""
