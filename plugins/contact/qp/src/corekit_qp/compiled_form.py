"""Unreduced steps behind a C entry, for worlds stepped without Python: see `corekit.roles.compiled_form`.

The programs are those of `programs.UnreducedProgram`, by the same kernels in the same order. They are solved by the
entry of the program solver. With friction there are two of them: with the slip speeds of the last step as shifts, and
with those that they give. What needs more, or ends otherwise, is left to `qp` itself.

    integers    directions, whether pyramids are turned, address of the entry `program`, how many integers and numbers
                its form has, these integers
    numbers     tolerance, directions in a plane (1, 2) and in space (2, directions), numbers of that form
    scratch     `_Space`, then that of the form
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import array_at, call_entry
from corekit.data.arrays import Array, IntArray
from corekit.roles.compiled_form import SOLVER_ENTRIES, CompiledForm, ProgramSizes, StepSizes, entries_of
from corekit.roles.pyramid import pyramid_directions, turn_directions
from corekit_qp.pyramids import least_mass
from corekit_qp.unreduced_rows import (
    measure_step_residuals,
    read_step_impulses,
    step_scales,
    write_step_rows,
)

__all__ = ["form_of"]

_HEAD: Final = 5
_SIZES: Final = 10
_PLANE: Final = 2
_OWN: Final = 0.1
"""Tolerance of a program, relative to that of the contact laws."""


def form_of(tolerance: float, directions: int, solver: CompiledForm, *, aligned: bool) -> CompiledForm:
    """Return the form of a solver of unreduced steps.

    Args:
        tolerance, directions, aligned: see `QPContactConfig`. solver: of programs.
    """
    room = solver.scratch_for
    assert room is not None
    head = [directions, aligned, solver.entries["program"], len(solver.index), len(solver.numbers)]
    plane, space = pyramid_directions(2, directions), pyramid_directions(3, directions)

    def scratch(sizes: StepSizes) -> int:
        along = sizes.rows_per_contact - 1
        choices = _PLANE if along == 1 else directions
        rows = sizes.rows + sizes.contacts * choices
        width = max(sizes.row_width, sizes.contact_width)
        program = ProgramSizes(sizes.velocities, sizes.columns, rows, width)
        own = _space_of(sizes.velocities, sizes.rows, rows, width, sizes.contacts, along, choices)
        return int(own) + room(program) + 1

    return CompiledForm(
        numbers=np.concatenate([[tolerance], plane.ravel(), space.ravel(), solver.numbers]),
        index=np.concatenate([np.array(head, dtype=np.int64), solver.index]),
        scratch_for=scratch,
        entries=entries_of(SOLVER_ENTRIES, unreduced=_unreduced),
        carried=("id", "slip"),
    )


@compiled
def _space_of(n: int, nb: int, rows: int, width: int, contacts: int, along: int, choices: int) -> int:
    """Numbers of `_Space`."""
    step = 3 * n + nb + 2 * (contacts + nb) + contacts * (2 * (along + 1) + 1) + 6
    return step + rows * (2 * width + 6) + (contacts + 1) * along * choices + choices


class _Space(NamedTuple):
    """Arrays of the work space: A_jj, the program as of `_ProgramBuffers`, scales, and those of `measure`."""

    diagonal: Array
    gradient: Array
    x: Array
    dofs: IntArray
    values: Array
    bounds: Array
    multiplier: Array
    beta: Array
    mobility: Array
    reference: Array
    velocity: Array
    slip: Array
    trial: Array
    row_trial: Array
    directions: Array
    base: Array
    found: Array
    sizes: IntArray
    behind: Array


@compiled
def _space(
    work: Array, behind: Array, n: int, nb: int, rows: int, width: int, contacts: int, along: int, choices: int,
    alike: bool,
) -> _Space:  # fmt: skip
    """The work space for a program of so many rows, and that of the program solver behind it."""
    k, wide = contacts + nb, contacts * (along + 1)
    diagonal, gradient, x, w = work[:n], work[n : 2 * n], work[2 * n : 3 * n], work[3 * n :]
    dofs, values = w[: rows * width].view(np.int64), w[rows * width : 2 * rows * width]
    w = w[2 * rows * width :]
    bounds, multiplier, w = w[: 5 * rows], w[5 * rows : 6 * rows], w[6 * rows :]
    mobility, reference, w = w[:k], w[k : 2 * k], w[2 * k :]
    velocity, trial, slip, w = (
        w[:wide],
        w[wide : 2 * wide],
        w[2 * wide : 2 * wide + contacts],
        w[2 * wide + contacts :],
    )
    row_trial, beta, w = w[:nb], w[nb : nb + choices], w[nb + choices :]
    own = 1 if alike else contacts
    directions, w = w[: own * along * choices], w[own * along * choices :]
    base, w = w[: along * choices], w[along * choices :]
    return _Space(
        diagonal, gradient, x, dofs.reshape((rows, width)), values.reshape((rows, width)), bounds.reshape((5, rows)),
        multiplier, beta, mobility, reference, velocity, slip, trial, row_trial,
        directions.reshape((own, along, choices)), base.reshape((along, choices)), w[:2], w[2:6].view(np.int64), behind,
    )  # fmt: skip


class _Step(NamedTuple):
    """An unreduced step, see `UnreducedStepProblem`, with A by its lower band."""

    matrix: Array
    rhs: Array
    dofs: IntArray
    values: Array
    compliance: Array
    target: Array
    lower: Array
    upper: Array
    contact_dofs: IntArray
    contact_values: Array
    bias: Array
    friction: Array


@compiled
def _set_scales(step: _Step, own: _Space) -> float:
    """Write the scales of the step; return its largest impulse."""
    return step_scales(
        own.diagonal, step.rhs, step.dofs, step.values, step.compliance, step.target, step.lower, step.upper,
        step.contact_dofs, step.contact_values, step.bias, step.bias.shape[1], own.mobility, own.reference,
    )[1]  # fmt: skip


@compiled
def _solve_program(
    index: IntArray, numbers: Array, tolerance: float, step: _Step, own: _Space, shift: Array, row_impulse: Array,
    impulse: Array, is_first: bool,
) -> bool:  # fmt: skip
    """Write the rows with the shifts σ and solve; whether the program converged."""
    write_step_rows(
        step.rhs, step.dofs, step.values, step.compliance, step.target, step.lower, step.upper, step.contact_dofs,
        step.contact_values, step.bias, step.friction, own.directions, shift, row_impulse, impulse, is_first,
        own.gradient, own.dofs, own.values, own.bounds, own.multiplier, own.beta,
    )  # fmt: skip
    (rows, width), bounds = own.dofs.shape, own.bounds
    own.sizes[0], own.sizes[1], own.sizes[2], own.sizes[3] = len(own.x), step.matrix.shape[1], rows, width
    converged = call_entry(
        index[2],
        (
            index[_HEAD:], numbers, own.behind, own.sizes, step.matrix, own.gradient, own.dofs, own.values, bounds[0],
            bounds[1], bounds[2], bounds[3], bounds[4], _OWN * tolerance, own.x, own.multiplier, own.found,
        ),
    )  # fmt: skip
    return converged != 0


@compiled
def _measure(
    step: _Step, own: _Space, largest: float, row_impulse: Array, impulse: Array, residuals: Array
) -> float:
    """Write residuals of an answer and γ; return the largest relative one, nan where one is."""
    normal, friction, cone, error, size = measure_step_residuals(
        step.dofs, step.values, step.compliance, step.target, step.lower, step.upper, step.contact_dofs,
        step.contact_values, step.bias, step.friction, own.directions, own.mobility, own.reference, own.x, row_impulse,
        impulse, own.beta, own.velocity, own.slip,
    )  # fmt: skip
    residuals[0], residuals[1], residuals[2], residuals[3] = normal, friction, cone, own.found[1]
    imbalance = own.found[1] / max(largest, size, 1e-300)
    return max(error, imbalance) if error == error and imbalance == imbalance else math.nan


@compiled
def _keep(source: Array, out: Array) -> None:
    for i in range(len(out)):
        out[i] = source[i]


@compiled
def _solve_without_friction(
    index: IntArray, numbers: Array, tolerance: float, step: _Step, own: _Space, shift: Array, row_impulse: Array,
    impulse: Array, residuals: Array,
) -> bool:  # fmt: skip
    """One program, whose rows are the contact laws; once more from its answer where that is not exact."""
    for _ in range(2):
        largest = _set_scales(step, own)
        if not _solve_program(index, numbers, tolerance, step, own, shift, row_impulse, impulse, True):
            return False
        read_step_impulses(own.multiplier, own.directions, step.friction, row_impulse, impulse)
        if _measure(step, own, largest, row_impulse, impulse, residuals) <= tolerance:
            return True
    return False


@compiled
def _solve_exactly(
    index: IntArray, numbers: Array, tolerance: float, step: _Step, own: _Space, memory: Array, row_impulse: Array,
    impulse: Array, residuals: Array,
) -> bool:  # fmt: skip
    """The program with the slip speeds of the last step, then with its own."""
    largest = _set_scales(step, own)
    for k in range(2):
        if not _solve_program(index, numbers, tolerance, step, own, memory, row_impulse, impulse, k == 0):
            return False
        read_step_impulses(own.multiplier, own.directions, step.friction, own.row_trial, own.trial)
        error = _measure(step, own, largest, own.row_trial, own.trial, residuals)
        _keep(own.slip, memory)
        if error <= tolerance:
            _keep(own.row_trial, row_impulse)
            _keep(own.trial, impulse)
            return True
    return False


@compiled
def _turn(unit: Array, step: _Step, own: _Space, is_turned: bool, start: Array, impulse: Array) -> None:
    """Write the directions of all contacts, and the friction of the guess that turns with them."""
    for c in range(len(own.directions)):
        for a in range(unit.shape[0]):
            for k in range(unit.shape[1]):
                own.directions[c, a, k] = unit[a, k]
                own.base[a, k] = unit[a, k]
    if is_turned:
        nobody, nothing = np.zeros(0, dtype=np.int64), np.zeros((0, 8))
        softness = least_mass(own.diagonal, step.contact_dofs, step.contact_values)
        turn_directions(
            own.base, step.friction, nobody, nobody, np.zeros(0), nothing, np.zeros((0, 0)), softness,
            step.bias.reshape(step.bias.size), start, True, own.directions, impulse,
        )  # fmt: skip


@compiled
def _solve(
    index: IntArray, table: Array, work: Array, behind: Array, step: _Step, may_rub: bool, start: Array, memory: Array,
    increment: Array, row_impulse: Array, impulse: Array, residuals: Array,
) -> int:  # fmt: skip
    """Solve a step; arguments as of the role's entry."""
    n, nb, (contacts, wide) = len(step.rhs), len(step.dofs), step.bias.shape
    tolerance, along, frictional, rows = table[0], wide - 1, False, nb
    for c in range(contacts):
        frictional = frictional or (may_rub and step.friction[c] != 0.0)
    count, numbers = index[0], table[1 + _PLANE + 2 * index[0] :]
    unit = (
        table[1 : 1 + _PLANE].reshape((1, _PLANE))
        if along == 1
        else table[1 + _PLANE : 1 + _PLANE + 2 * count].reshape((2, count))
    )
    choices = unit.shape[1] if frictional else 0
    for c in range(contacts):
        rows += choices if frictional and step.friction[c] > 0.0 else 1
    width, is_turned = (
        max(step.dofs.shape[1], step.contact_dofs.shape[1]),
        frictional and along == 2 and index[1] != 0,
    )
    own = _space(work, behind, n, nb, rows, width, contacts, along, choices, not is_turned)
    for j in range(n):
        own.diagonal[j], own.x[j] = step.matrix[j, 0], 0.0
    if frictional:
        _turn(unit, step, own, is_turned, start, impulse)
        solved = _solve_exactly(index, numbers, tolerance, step, own, memory, row_impulse, impulse, residuals)
    else:
        for c in range(contacts):
            own.slip[c] = 0.0
        solved = _solve_without_friction(
            index, numbers, tolerance, step, own, own.slip, row_impulse, impulse, residuals
        )
    _keep(own.x, increment)
    return (2 if frictional else 1) if solved else 0


def _unreduced(
    index: Any, numbers: Any, work: Any, sizes: Any, matrix: Any, rhs: Any, dofs: Any, values: Any, compliance: Any,
    target: Any, lower: Any, upper: Any, contact_dofs: Any, contact_values: Any, bias: Any, friction: Any, start: Any,
    memory: Any, increment: Any, row_impulse: Any, impulse: Any, residuals: Any,
) -> int:  # fmt: skip
    size, head = array_at(sizes, (_SIZES,)), array_at(index, (_HEAD,))
    n, columns, nb, k, contacts, wide, of_contact = (
        size[0],
        size[1],
        size[2],
        size[3],
        size[4],
        size[5],
        size[6],
    )
    rows = contacts * wide
    step = _Step(
        array_at(matrix, (n, columns)), array_at(rhs, (n,)), array_at(dofs, (nb, k)), array_at(values, (nb, k)),
        array_at(compliance, (nb,)), array_at(target, (nb,)), array_at(lower, (nb,)), array_at(upper, (nb,)),
        array_at(contact_dofs, (rows, of_contact)), array_at(contact_values, (rows, of_contact)),
        array_at(bias, (contacts, wide)), array_at(friction, (contacts,)),
    )  # fmt: skip
    # what the program solver keeps from call to call begins at one place, whatever the number of contacts
    choices = _PLANE if wide == _PLANE else head[0]
    room = _space_of(n, nb, nb + size[8] * choices, max(k, size[9]), size[8], wide - 1, choices)
    space = array_at(work, (room + 1,))
    return _solve(
        array_at(index, (_HEAD + head[3],)), array_at(numbers, (1 + _PLANE + 2 * head[0] + head[4],)),
        space[:room], space[room:], step, size[7] != 0, array_at(start, (rows,)), array_at(memory, (contacts,)),
        array_at(increment, (n,)), array_at(row_impulse, (nb,)), array_at(impulse, (rows,)),
        array_at(residuals, (4,)),
    )  # fmt: skip
