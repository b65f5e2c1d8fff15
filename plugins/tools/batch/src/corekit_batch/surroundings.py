"""From a simulation's contact pipeline to the driver's tables, and the memory and buffers that they ask for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from corekit.data.arrays import IntArray
from corekit.data.contacts import MAX_MATERIAL_POINTS
from corekit.engine.islands.contact_islands import MANY_CONTACTS
from corekit.engine.step.unreduced_step import UnreducedStep
from corekit.engine.world.world_system import WorldSystem
from corekit.linalg.factorisation import BandFactorisation, BlockFactorisation
from corekit.linalg.matrices import Banded, Diagonal, Matrix
from corekit.roles.body import Body
from corekit.roles.compiled_form import CompiledForm, StepSizes
from corekit.simulation.loop import Simulation
from corekit_batch.abilities import abilities_of
from corekit_batch.contact_tables import ContactMemory, ContactWork, Surroundings
from corekit_batch.refusal import NotCompiled

__all__ = [
    "CAPACITY", "grown", "is_unreduced", "new_contact_work", "new_memory", "nothing_around", "reasons_of_contact",
    "surroundings_of",
]  # fmt: skip

CAPACITY: Final = 32
"""Contacts a world for which there is room at first."""
_NEVER: Final = 1 << 62
_NOBODY: IntArray = np.zeros(0, dtype=np.int64)
_NO_ENDS: IntArray = np.zeros((0, 4), dtype=np.int64)


def is_unreduced(system: WorldSystem) -> bool:
    """Whether the contact solver gets steps before A is factorised."""
    return UnreducedStep.if_supported(system.terms, system.equation.impulses) is not None


def reasons_of_contact(simulation: Simulation, system: WorldSystem) -> Iterator[str]:
    """Yield why the driver does not step the contacts of a world, a sentence each."""
    pipeline, solver = system.pipeline, system.solver
    if pipeline is None:
        return
    unreduced = is_unreduced(system)
    for found, reason in (
        (system.terms.forces is not None, "a contact potential acts"),
        (pipeline.width == 2 and not unreduced, "the world is planar"),
        (bool(pipeline.scene.moving), "an obstacle moves"),
        (len(pipeline.detectors) != 1, "there are several contact detectors"),
        (pipeline.record_width > 0, f"the law of friction {pipeline.friction.law.name!r} has a record"),
        (pipeline.areas is not None, "friction resists turning"),
        (
            not (system.terms.jacobian.dense or unreduced),
            "there are so many velocities that contacts are kept by entries",
        ),
    ):
        if found:
            yield reason
    for terms in system.terms.bodies:
        if terms.body.abilities.point_jacobian is None:
            yield f"body {terms.body.name!r} touches nothing"
        if not (unreduced or isinstance(terms.factor, (BandFactorisation, BlockFactorisation))):
            yield f"body {terms.body.name!r} is too large for contacts without LAPACK"
    for role, each in (("contact_detectors", pipeline.detectors[0]), ("contact_solvers", solver)):
        name = simulation.component_name(each)
        if "compiled-form" not in abilities_of(role, name):
            yield f"{name!r} has no compiled form"


def surroundings_of(simulation: Simulation, system: WorldSystem) -> Surroundings:
    """Return the tables of a world that `reasons_of_contact` does not refuse.

    Raises:
        NotCompiled: options of the detector or the solver that have no compiled form.
    """
    pipeline = system.pipeline
    bodies = simulation.bodies
    if pipeline is None:
        return nothing_around(bodies)
    detector = _form_of(simulation, "the contact detector", pipeline.detectors[0])
    solver, unreduced = (
        _form_of(simulation, "the contact solver", system.solver),
        is_unreduced(system),
    )
    entry = "unreduced" if unreduced else "solve"
    if entry not in solver.entries:
        name = simulation.component_name(system.solver)
        raise NotCompiled(f"the contact solver {name!r} has a compiled form, but none for such worlds")
    table, scene, joined, seams = pipeline.scene.table, pipeline.scene, pipeline.joined, pipeline.seams
    return Surroundings(
        exist=True, first_frame=_first_frames(bodies), shape_frame=table.frame, second_frame=table.second_frame,
        offset_position=table.offset_position, offset_rotation=table.offset_rotation, is_shifted=scene.is_shifted,
        size=np.ascontiguousarray(table.size, dtype=np.float64),
        joined_first=_NOBODY if joined is None else joined.first, joined=_NO_ENDS if joined is None else joined.joined,
        seam_first=_NOBODY if seams is None else seams.first,
        seam_surface=_NOBODY if seams is None else seams.surface,
        seam_neighbour=_NOBODY if seams is None else seams.neighbour,
        probe_radius=scene.probe_radius, surface=pipeline.friction.surface,
        friction=pipeline.friction.coefficient,
        detector=_addresses(detector, "candidates", "contacts"), solver=_addresses(solver, entry),
        detector_index=detector.index, detector_scratch=detector.scratch, detector_numbers=detector.numbers,
        solver_index=solver.index, solver_scratch=solver.scratch, solver_numbers=solver.numbers,
        approach=float(pipeline.rule.approach), push_out=float(pipeline.rule.push_out), cap=float(pipeline.rule.cap),
        margin=float(pipeline.least_margin), negligible=float(pipeline.negligible_motion),
        width=pipeline.width, across=pipeline.plane_normal, is_unreduced=unreduced, may_rub=pipeline.frictional,
        resolves_impacts=pipeline.restitution is not None, many=MANY_CONTACTS if len(bodies) > 1 else _NEVER,
    )  # fmt: skip


def _addresses(form: CompiledForm, *names: str) -> IntArray:
    return np.array([form.entries[name] for name in names], dtype=np.int64)


def _form_of(simulation: Simulation, what: str, component: Any) -> CompiledForm:
    form: CompiledForm | str = component.compiled_form()
    if isinstance(form, str):
        raise NotCompiled(f"{what} {simulation.component_name(component)!r} has {form}")
    return form


def _first_frames(bodies: Sequence[Body]) -> IntArray:
    frames = [body.first_frame for body in bodies]
    return np.array([*frames, frames[-1] + len(bodies[-1].description.frames)], dtype=np.int64)


def nothing_around(bodies: Sequence[Body]) -> Surroundings:
    """Return the tables of a world in which nothing touches."""
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    return Surroundings(
        exist=False, first_frame=_first_frames(bodies), shape_frame=none, second_frame=none,
        size=np.zeros((0, 3)), joined_first=none, joined=_NO_ENDS, seam_first=none, seam_surface=none,
        seam_neighbour=none, offset_position=np.zeros((0, 3)),
        offset_rotation=np.zeros((0, 3, 3)), is_shifted=False, probe_radius=nothing, surface=none,
        friction=np.zeros((0, 0)), detector=none, solver=none, detector_index=none,
        detector_scratch=0, detector_numbers=nothing,
        solver_index=none, solver_scratch=0, solver_numbers=nothing, approach=0.0, push_out=0.0, cap=0.0, margin=0.0,
        negligible=0.0, width=3, across=np.zeros(3), is_unreduced=False, may_rub=False, resolves_impacts=False,
        many=_NEVER,
    )  # fmt: skip


def new_memory(worlds: int, capacity: int, rows: int, around: Surroundings) -> ContactMemory:
    """Allocate what worlds remember of so many contacts and rows of constraints; no step was made."""
    frames = 4 * len(around.probe_radius)
    return ContactMemory(
        count=np.zeros(worlds, dtype=np.int64), id=np.zeros((worlds, capacity), dtype=np.int64),
        tangent=np.zeros((worlds, capacity, 3)), impulse=np.zeros((worlds, around.width * capacity)),
        shape=np.zeros((worlds, capacity, 2), dtype=np.int64), normal=np.zeros((worlds, capacity, 3)),
        probe=np.zeros((worlds, frames, 3)), probe_time=np.full(worlds, -math.inf),
        row_impulse=np.zeros((worlds, rows)), carried_count=np.zeros(worlds, dtype=np.int64),
        carried_id=np.zeros((worlds, capacity), dtype=np.int64), carried=np.zeros((worlds, capacity)),
    )  # fmt: skip


def new_contact_work(simulation: Simulation, capacity: int, around: Surroundings) -> ContactWork:
    """Allocate the buffers of a thread for so many contacts."""
    stage, nv, scale = simulation.system.pipeline, simulation.system.nv, simulation.system.velocity_scale
    n, frames = len(around.shape_frame), len(around.probe_radius)
    pairs = 0 if not around.exist else int(around.detector_index[2])
    widest = max(body.description.jacobian_width for body in simulation.bodies)
    points, rows = MAX_MATERIAL_POINTS * capacity, around.width * capacity
    entries = rows * MAX_MATERIAL_POINTS * widest if around.is_unreduced else 0
    sizes = _step_sizes(simulation, capacity, around)
    of_solver = around.solver_scratch
    if around.is_unreduced and sizes is not None:
        form = _form_of(simulation, "the contact solver", simulation.system.solver)
        of_solver = form.scratch if form.scratch_for is None else form.scratch_for(sizes)
    integers, numbers = _integers, np.zeros
    position, rotation = numbers((n, 3)), numbers((n, 3, 3))
    if stage is not None:
        position[:], rotation[:] = stage.scene.poses.position, stage.scene.poses.rotation
    return ContactWork(
        position=position, rotation=rotation, end=position.copy(), frame_position=numbers((frames, 3)),
        frame_rotation=numbers((frames, 3, 3)), probe=numbers((4 * frames, 3)), pairs=integers((pairs, 2)),
        id=integers(capacity), shape=integers((capacity, 2)), gap=numbers(capacity), point=numbers((capacity, 3)),
        normal=numbers((capacity, 3)), tangent=numbers((capacity, 3)),
        frame=integers((capacity, MAX_MATERIAL_POINTS)), local=numbers((capacity, MAX_MATERIAL_POINTS, 3)),
        weight=numbers((capacity, MAX_MATERIAL_POINTS)), friction=numbers(capacity),
        ends=integers(len(simulation.bodies)), contact=integers(points), slot=integers(points),
        own_frame=integers(points), own_local=numbers((points, 3)), dofs=integers(points * widest),
        values=numbers(3 * points * widest), jacobian=numbers((rows, nv)), bias=numbers((capacity, 3)),
        first_gap=numbers(capacity), room=numbers(capacity),
        push=numbers(capacity), delassus=numbers(rows * rows), free=numbers(rows),
        half=numbers(rows * nv), impulse=numbers(rows), start=numbers(rows), residuals=numbers(4),
        velocity=numbers((3, capacity, 3)), new=numbers(capacity, dtype=np.bool_),
        hit=numbers(capacity, dtype=np.bool_), all_move=numbers(0, dtype=np.bool_), response=numbers(nv),
        which=integers(nv), across=numbers(3), unsorted=integers(0), still=numbers((capacity, 3)),
        spare=numbers((capacity, 3)), noticed=integers(capacity),
        fastest=numbers(capacity), every_frame=np.arange(frames, dtype=np.int64),
        no_local=numbers((frames, 3)), frame_dofs=integers(frames * widest), frame_values=numbers(3 * frames * widest),
        places=numbers((2, 3)), newest=integers(n), earlier=integers(capacity), members=integers(capacity),
        of_detector=numbers(around.detector_scratch), of_solver=numbers(of_solver), before=numbers(nv),
        sizes=integers(10), columns=integers(points * widest), entry_dofs=integers(entries),
        entry_values=numbers(entries), carried=numbers(capacity),
        band=numbers(0 if sizes is None else sizes.velocities * sizes.columns), outcome=integers(1),
        scale=np.ones(nv) if scale is None else scale,
    )  # fmt: skip


def _step_sizes(simulation: Simulation, capacity: int, around: Surroundings) -> StepSizes | None:
    """The largest sizes of an unreduced step with so many contacts; None where steps are reduced."""
    system = simulation.system
    if not around.is_unreduced or not isinstance(system, WorldSystem):
        return None
    (terms,) = system.terms.bodies
    assert terms.rows is not None
    columns = lower_columns(terms.matrix)
    contact_width = MAX_MATERIAL_POINTS * terms.body.description.jacobian_width
    rows, row_width = terms.rows.dofs.shape
    return StepSizes(terms.body.nv, columns, rows, row_width, capacity, around.width, contact_width)


def lower_columns(matrix: Matrix) -> int:
    """Columns of the lower band of a matrix that is diagonal, banded or block diagonal."""
    return 1 if isinstance(matrix, Diagonal) else matrix.data.shape[0 if isinstance(matrix, Banded) else -1]


def _integers(shape: int | tuple[int, ...]) -> IntArray:
    return np.zeros(shape, dtype=np.int64)


def grown(memory: ContactMemory, capacity: int, around: Surroundings) -> ContactMemory:
    """Return the same memory with more room."""
    larger = new_memory(len(memory.count), capacity, memory.row_impulse.shape[1], around)
    for name, old, new in zip(ContactMemory._fields, memory, larger, strict=True):
        if name in ("id", "tangent", "impulse", "shape", "normal", "carried_id", "carried"):
            new[:, : old.shape[1]] = old
        else:
            new[:] = old
    return larger
