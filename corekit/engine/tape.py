"""The record of an accepted step: what its equation was made of and what solved it, unchanged by later steps.

    A·Δ − r = J_bᵀ·λ_b + J_jᵀ·λ_j + J_cᵀ·λ_c + p,      Δ = v⁺ − v_k                                   (1)

of `linearisation` with constraints, joints, contacts and the impulse p of a potential. A list of records is the tape
of a run: with the models, whose terms at `point` are A and r, it is what derivatives of the run are made of. A itself,
which may be large, is not part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
from attrs import frozen
from scipy.sparse import csr_array, vstack

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.data.status import StepReport
from corekit.engine.contact.contact_pipeline import Tangents
from corekit.engine.step.linearisation import LinearisationPoint
from corekit.engine.step.two_levels import Placing, Separation
from corekit.roles.component import InternalState, Stateful

if TYPE_CHECKING:
    from corekit.engine.step.step_equation import StepEquation
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["ContactRows", "HeldRows", "StepRecord", "freeze_step"]


@final
@frozen(eq=False)
class HeldRows:
    """Rows of constraints or joints, J·Δ + E·λ = r between the bounds.

    Args:
        jacobian: J, shape (n, nv). compliance: E, shape (n,). target: r, shape (n,).
        lower, upper: of λ, shape (n,) [N·s or N·m·s]. impulse: λ, shape (n,).
    """

    jacobian: csr_array
    compliance: Array
    target: Array
    lower: Array
    upper: Array
    impulse: Array


@final
@frozen(eq=False)
class ContactRows:
    """Rows of m contacts that were solved for impulses, w = J·v⁺ + bias, `width` a contact.

    Args:
        jacobian: J, shape (m·width, nv). bias: shape (m, width) [m/s]. impulse: λ, shape (m, width).
        id: of contacts, shape (m,). shape: pairs, shape (m, 2). gap: where they were found, shape (m,) [m].
        normal, tangent: shape (m, 3). friction: μ, shape (m,). friction_record: numbers of another law, shape (m, k).
    """

    jacobian: csr_array
    bias: Array
    impulse: Array
    id: IntArray
    shape: IntArray
    gap: Array
    normal: Array
    tangent: Array
    friction: Array
    friction_record: Array
    known: Tangents
    start_impulse: Array
    are_of_start: bool


@final
@frozen(eq=False)
class StepRecord:
    """One accepted step. Its arrays cannot be written.

    Args:
        report: of the integrator, with h and what the solver said.
        start: where it began. end: where the next one begins, its coordinates reparametrised.
        velocity: v⁺, shape (nv,).
        point: the line of the table by which the step was solved; None where a smooth motion ended without impulses.
        momentum: A·Δ − r, shape (nv,).
        constraints, joints, contacts: rows with their impulses, None without any.
        potential: p, shape (nv,), or None.
        factorisation: number of the matrix; steps with the same number have one.
        placing: the solution at position level where impacts replaced it, else None: then impulses and v⁺ are those
            of the velocity level.
        separation: what moved bodies apart at the end, or None.
        inputs: what channels held that follow no signal, of every body.
        potential_state: internal state of a potential that has one.
    """

    report: StepReport
    start: State
    end: State
    velocity: Array
    point: LinearisationPoint | None
    momentum: Array
    constraints: HeldRows | None
    joints: HeldRows | None
    contacts: ContactRows | None
    potential: Array | None
    factorisation: int
    placing: Placing | None = None
    separation: Separation | None = None
    inputs: tuple[InternalState, ...] = ()
    potential_state: InternalState | None = None

    def residual(self) -> Array:
        """A·Δ − r less the impulses of (1), shape (nv,); at prescribed velocities what drives them gave."""
        left = self.momentum if self.potential is None else self.momentum - self.potential
        for rows in (self.constraints, self.joints, self.contacts):
            if rows is not None:
                left = left - rows.jacobian.T @ rows.impulse.ravel()
        return left


class _Copies:
    """Frozen copies of states and arrays, one of each."""

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        """A copy of a state or an array; anything else as it is."""
        if not isinstance(value, (State, np.ndarray)):
            return value
        if id(value) not in self._made:
            # the original is kept, so that no other one gets its number
            self._made[id(value)] = value, _frozen(value.copy())
        return self._made[id(value)][1]


def _frozen(value: Any) -> Any:
    """Forbid to write a state or an array."""
    if isinstance(value, State):
        for state in (value, *value.body_states):
            for each in (state.q, state.v, state.aux, state.qv):
                each.flags.writeable = False
    else:
        value.flags.writeable = False
    return value


def freeze_step(
    world: WorldTerms, equation: StepEquation, accepted: Array, start: State, end: State, report: StepReport,
    known: Tangents | None,
) -> StepRecord:  # fmt: skip
    """The record of the last step.

    Args:
        world, equation: after the step was accepted. accepted: v⁺, shape (nv,).
        start, end: of the step. report: of its integrator.
        known: tangents of the contacts of the step before; None where nothing can touch.
    """
    copy, point = _Copies(), None if equation.ended_freely else equation.point
    velocity, nothing = copy(accepted), _frozen(np.zeros(world.nv))
    number = world.factorisation.number
    inputs = tuple(_frozen_values(terms.body.inputs.internal_state()) for terms in world.bodies)
    if point is None:
        return StepRecord(
            report,
            copy(start),
            copy(end),
            velocity,
            None,
            nothing,
            None,
            None,
            None,
            None,
            number,
            inputs=inputs,
        )
    change = accepted - equation.about
    momentum = np.concatenate(
        [terms.unbalanced(change[where]) for terms, where in zip(world.bodies, world.slices, strict=True)]
    )
    frozen_start = copy(start)
    line = LinearisationPoint(*map(copy, point))._replace(velocity=copy(equation.about))
    has_contacts = world.forces is None and equation.contact_count > 0
    given = None if world.forces is None else equation.given_by_contact()
    placing, separation = equation.placing, equation.separation
    solver = world.solver if world.forces is not None and isinstance(world.solver, Stateful) else None
    return StepRecord(
        report, frozen_start, copy(end), velocity, line, _frozen(momentum), _constraints(world, equation.step),
        _joints(world), _contacts(world, equation, known) if has_contacts and known is not None else None,
        None if given is None else _frozen(given), number,
        None if placing is None else Placing(*map(copy, placing)),
        None if separation is None else Separation(*map(copy, separation)),
        inputs, None if solver is None else _frozen_values(solver.internal_state()),
    )  # fmt: skip


def _frozen_values(values: InternalState) -> InternalState:
    """Named arrays that nothing else holds, which cannot be written."""
    return {name: _frozen(np.array(value)) for name, value in values.items()}


def _constraints(world: WorldTerms, step: float) -> HeldRows | None:
    """The rows of all bodies, with velocities of the world."""
    found, blocks = [], []
    for terms, where in zip(world.bodies, world.slices, strict=True):
        own = terms.constraints
        if own is None or not own.rows.count:
            continue
        lower, upper = np.full(own.rows.count, -np.inf), np.full(own.rows.count, np.inf)
        if len(own.bounded):
            lower[own.bounded], upper[own.bounded] = own.bounds(step)
        found.append((own.compliance, own.target, lower, upper, own.impulse))
        blocks.append(_sparse(own.rows.dofs + where.start, own.rows.values, world.nv))
    if not found:
        return None
    jacobian = _closed(csr_array(vstack(blocks)))
    return HeldRows(jacobian, *(_frozen(np.concatenate(each)) for each in zip(*found, strict=True)))


def _joints(world: WorldTerms) -> HeldRows | None:
    joints = world.joints
    if joints is None:
        return None
    none, copy = np.zeros(joints.count), _Copies()
    low, high = none - np.inf, none + np.inf
    return HeldRows(_sparse_of(joints.jacobian), *map(copy, (none, joints.target, low, high, joints.impulse)))


def _contacts(world: WorldTerms, equation: StepEquation, known: Tangents) -> ContactRows:
    pipeline, jacobian, count, copy = world.pipeline, world.jacobian, equation.contact_count, _Copies()
    assert pipeline is not None
    found = pipeline.contacts
    entries = jacobian.rows
    rows = (
        _sparse_of(jacobian.to_dense()) if jacobian.dense else _sparse(entries.dofs, entries.values, world.nv)
    )
    ids, shapes, gaps, normals, tangents, friction, records = (
        copy(each[:count])
        for each in (
            found.id,
            found.shape,
            found.gap,
            found.normal,
            found.tangent,
            found.friction,
            found.friction_record,
        )
    )
    impulse, width = equation.impulses.of_contacts.reshape(count, -1), jacobian.width
    start = equation.impulses.start[: count * width].reshape(count, width)
    return ContactRows(
        rows, copy(equation.bias), copy(impulse), ids, shapes, gaps, normals, tangents, friction, records,
        Tangents(*map(copy, known)), copy(start), bool(equation.passed_pair) or equation.holds_contacts,
    )  # fmt: skip


def _sparse(dofs: IntArray, values: Array, nv: int) -> csr_array:
    """Rows by their entries, of which some may repeat a column."""
    ends = np.arange(len(dofs) + 1) * dofs.shape[1]
    return _closed(csr_array((values.ravel().copy(), dofs.ravel().copy(), ends), shape=(len(dofs), nv)))


def _sparse_of(dense: Array) -> csr_array:
    """The same without zeros; by its arrays, as SciPy's conversion takes longer than a small step."""
    row, column = np.nonzero(dense)
    ends = np.zeros(len(dense) + 1, dtype=np.int32)
    np.cumsum(np.bincount(row, minlength=len(dense)), out=ends[1:])
    entries = dense[row, column], column.astype(np.int32), ends
    return _unwritable(csr_array(entries, shape=dense.shape))


def _closed(rows: csr_array) -> csr_array:
    """Sum what repeats a column, leave out zeros, and forbid to write."""
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return _unwritable(rows)


def _unwritable(rows: csr_array) -> csr_array:
    for each in (rows.data, rows.indices, rows.indptr):
        each.flags.writeable = False
    return rows
