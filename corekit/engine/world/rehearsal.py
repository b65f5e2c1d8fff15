"""Rehearsed steps, with contacts and without: they load every kernel that a world needs before its first step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from corekit.data.contacts import ContactSet
from corekit.data.state import State
from corekit.engine.contact.contact_pipeline import ContactPipeline
from corekit.engine.islands.contact_islands import MANY_CONTACTS, may_have_many_contacts
from corekit.roles.body import Body
from corekit.roles.component import Component, Rehearsed
from corekit.roles.contact import ContactSolver, ImpulseSolver
from corekit.roles.contact_blocks import ReducedStepProblem
from corekit.roles.integrator import Integrator

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem

__all__ = ["rehearsal_contacts", "rehearse", "rehearse_solver"]

_DEPTH = 1e-4
"""How deep rehearsed contacts are [m]: they have to push."""
_SLOW = 1e-9
"""Added to every velocity in a rehearsal: what stands still needs fewer kernels than what moves."""


def rehearse(
    system: WorldSystem, integrator: Integrator, start: State, end: State, step: float, components: Iterable[Component]
) -> None:  # fmt: skip
    """Make two steps h with rehearsed contacts and two without, each from the end of the one before.

    Then solve a contact problem that no first guess solves, one with many contacts where they may come, and
    rehearse components that have more to load.

    Internal states change: the caller restores them.

    Args:
        start: where to begin. Both states are overwritten.
        end: a buffer.
        step: h [s].
        components: of the simulation.
    """
    pipeline = system.pipeline
    sets: list[ContactSet | None] = [None, None, None]
    if pipeline is not None:
        shapes, width = len(pipeline.scene.table), pipeline.record_width
        # two of each: what the last step left is used, too
        sets = [rehearsal_contacts(system.bodies, shapes, width) for _ in range(2)]
        sets += [ContactSet(1, width) for _ in range(2)]
    for contacts in sets:
        if pipeline is not None:
            pipeline.rehearsed = contacts
        start.v += _SLOW
        report = integrator.step(system, start, start.time + step, end)
        report = system.end_step(start, end, report)
        if system.limit is not None:
            system.limit.rehearse(start, end, step)
        if report.accepted and system.accept(end, report.step_size):
            start, end = end, start
    if pipeline is not None:
        pipeline.rehearsed = None
        # warm starts answered the contacts above
        rehearse_solver(pipeline, system.solver, step)
    many = may_have_many_contacts(system.terms)
    if many:
        _solve_many_contacts(system, start, end, step)
    for component in components:
        if isinstance(component, Rehearsed):
            component.rehearse(system.terms.jacobian.width, many_contacts=many)


def _solve_many_contacts(system: WorldSystem, start: State, end: State, step: float) -> None:
    """Solve a linear step whose contacts form islands."""
    pipeline = system.pipeline
    assert pipeline is not None
    shapes, width = len(pipeline.scene.table), pipeline.record_width
    pipeline.rehearsed = rehearsal_contacts(system.bodies, shapes, width, MANY_CONTACTS)
    system.theta.begin_step(start, step)
    system.theta.linearise_at_start(0.0, damped=False)
    system.theta.solve(end.v)
    pipeline.rehearsed = None


def rehearsal_contacts(
    bodies: Sequence[Body], shapes: int, record_width: int = 0, least: int = 0
) -> ContactSet | None:
    """Contacts for the time in which kernels are compiled; None where no body has a shape.

    The last frame of one body of every model that has shapes is pushed upwards, in its plane if it has one.

    Args:
        shapes: how many there are in the world.
        record_width: numbers of a friction record.
        least: contacts there are at least, the same ones again and again.
    """
    # one body of each model: a pile of a thousand balls has the kernels of one ball
    touching = {type(body.model): body for body in reversed(bodies) if body.description.shapes}
    if not touching:
        return None
    each_has = max(1, math.ceil(least / len(touching)))
    found = ContactSet(each_has * len(touching), record_width)
    found.count = each_has * len(touching)
    for c, body in enumerate(each_has * tuple(touching.values())):
        found.id[c] = c
        found.shape[c] = body.first_shape, shapes - 1
        found.gap[c] = -_DEPTH
        plane = body.description.plane
        found.normal[c] = np.array([0.0, 0.0, 1.0]) if plane is None else plane[2]
        found.frame[c, 0] = body.first_frame + len(body.description.frames) - 1
        found.weight[c, 0] = 1.0
    return found


def rehearse_solver(pipeline: ContactPipeline | None, solver: ContactSolver | None, step: float) -> None:
    """Let a solver of impulses solve a problem of a step h [s] that no first guess solves."""
    if pipeline is not None and isinstance(solver, ImpulseSolver):
        problem = _rehearsal_problem(pipeline.width, step, pipeline.record_width)
        solver.solve(problem, np.zeros(len(problem.free_velocity)))


def _rehearsal_problem(width: int, step: float, record_width: int = 0) -> ReducedStepProblem:
    """A block of 1 kg that falls, turns and slides on four points, more than hold it, to load a solver's kernels.

    Args:
        width: rows per contact, 3, or 2 in a planar world.
        step: h [s].
        record_width: numbers of a friction record.
    """
    aside = 0.05 * (width - 2)
    points = np.array(
        [[-0.1, aside, -0.05], [-0.03, -aside, -0.05], [0.03, aside, -0.05], [0.1, -aside, -0.05]]
    )
    directions = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])[:width]
    rows = np.array([[*d, *np.cross(r, d)] for r in points for d in directions])
    inverse = np.array([1.0, 1.0, 1.0, 100.0, 100.0, 100.0])
    return ReducedStepProblem(
        width, step, rows @ np.array([0.3, 0.1, -0.5, 1.0, 4.0, 2.0]), (rows * inverse) @ rows.T, contact_count=4,
        id=np.arange(4), start_impulse=np.zeros(4 * width), gap=np.full(4, -_DEPTH), friction=np.full(4, 0.5),
        friction_record=np.full((4, record_width), 0.5),
    )  # fmt: skip
