"""The record of an accepted step: where it began, by what it was solved and what solved it, unchanged by later steps.

    A·Δ − r = J_bᵀ·λ_b + J_jᵀ·λ_j + J_cᵀ·λ_c + p,      Δ = v⁺ − v_k                                   (1)

of `linearisation` with constraints, joints, contacts and the impulse p of a potential. A list of records is the tape
of a run. It has v⁺ and the impulses of (1), and of what a step knew from before what no state says. All else of (1)
follows from them and the models, and is evaluated anew by who needs it (`corekit_gradients.adjoint`): matrices and rows
would be most of a tape. Steps that follow each other share the state between them, and v⁺ is that of the end where
nothing changed it after the solution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.engine.contact.contact_pipeline import Tangents
from corekit.engine.step.linearisation import LinearisationPoint, at_start
from corekit.engine.step.two_levels import Placing, Separation
from corekit.roles.component import InternalState, Stateful
from corekit.roles.derivatives import PushedContacts

if TYPE_CHECKING:
    from corekit.engine.step.step_equation import StepEquation
    from corekit.engine.world.world_terms import WorldTerms

_NOTHING = np.zeros(0)

__all__ = ["ContactImpulses", "HeldRows", "Scheme", "StepRecord", "freeze_step"]


class Scheme(NamedTuple):
    """By what a step was linearised.

    Args:
        step: h [s].
        theta: θ of an iterated scheme, None of one that is solved once, at the start.
        damping_factor, stiffness_factor: c_v [s] and c_q [s²]. shift: σ of an indefinite A.
    """

    step: float
    theta: float | None
    damping_factor: float
    stiffness_factor: float
    shift: float

    @classmethod
    def of(cls, point: LinearisationPoint) -> Scheme:
        """That of a point of a coupled step."""
        theta = None if point.is_single_solve else point.share
        return cls(point.step, theta, point.damping_factor, point.stiffness_factor, point.shift)

    def point_at_start(self, start: State, zero: Array) -> LinearisationPoint:
        """The point of a step that is solved once; `zero` is a vector of zeros, shape (nv,)."""
        beta, is_damped = self.stiffness_factor / self.step**2, self.damping_factor != 0.0
        return at_start(start, self.step, zero, beta, is_damped, self.shift)


@final
@frozen(eq=False)
class HeldRows:
    """λ_b of the constraints of all bodies, and their bounds, each of shape (n,) [N·s or N·m·s]."""

    impulse: Array
    lower: Array
    upper: Array


@final
@frozen(eq=False)
class ContactImpulses:
    """What acted at m contacts that were solved for impulses, w = J·v⁺ + bias, `width` rows a contact.

    Args:
        id: of contacts, shape (m,). impulse: λ, shape (m, width). bias: shape (m, width) [m/s].
        known: tangents of the contacts of the step before. start_impulse: λ with which the step began, (m, width).
        held: pairs of shapes for which the contacts of the start stand for those of every point, shape (k, 2).
    """

    id: IntArray
    impulse: Array
    bias: Array
    known: Tangents
    start_impulse: Array
    held: IntArray


@final
@frozen(eq=False)
class StepRecord:
    """One accepted step. Its arrays cannot be written.

    Args:
        start: where it began. end: where the next one begins, its coordinates reparametrised.
        velocity: v⁺, shape (nv,).
        scheme: of a coupled step; None where a smooth motion came first.
        constraints, contacts: with their impulses, None without any. of_joints: λ_j.
        placing: the solution at position level where impacts replaced it, else None: then impulses and v⁺ are those
            of the velocity level.
        separation: what moved bodies apart at the end, or None.
        inputs: what channels held that follow no signal, of every body.
        potential_state: internal state of a potential that has one.
        approach: how far shapes were taken to approach [m], by what they did in the step before; it says how far
            away contacts are found, on which pyramids that turn depend.
    """

    start: State
    end: State
    velocity: Array
    scheme: Scheme | None
    inputs: tuple[InternalState, ...]
    constraints: HeldRows | None = None
    of_joints: Array = _NOTHING
    contacts: ContactImpulses | None = None
    placing: Placing | None = None
    separation: Separation | None = None
    potential_state: InternalState | None = None
    approach: float | None = None

    @property
    def pushed(self) -> PushedContacts | None:
        """As `corekit.roles.derivatives.RecordedStep` has it."""
        if self.contacts is None or self.scheme is None:
            return None
        return PushedContacts(self.scheme.step, self.contacts.id, self.contacts.impulse.shape[1])


def _frozen(value: Any) -> Any:
    """Forbid to write a state or an array that nothing else holds."""
    if isinstance(value, State):
        for state in (value, *value.body_states):
            for each in (state.q, state.v, state.aux, state.qv):
                each.flags.writeable = False
    else:
        value.flags.writeable = False
    return value


def _copy(value: Any) -> Any:
    """A frozen copy of an array."""
    return _frozen(np.array(value))


def freeze_step(
    world: WorldTerms, equation: StepEquation, accepted: Array, start: State, end: State, known: Tangents | None,
    before: StepRecord | None,
) -> StepRecord:  # fmt: skip
    """The record of the last step.

    Args:
        world, equation: after the step was accepted. accepted: v⁺, shape (nv,).
        start, end: of the step.
        known: tangents of the contacts of the step before; None where nothing can touch.
        before: the record of the step before, if there is one.
    """
    shares = before is not None and _are_alike(before.end, start)
    begin, stop = before.end if before is not None and shares else _frozen(start.copy()), _frozen(end.copy())
    velocity = stop.v if stop.v.tobytes() == accepted.tobytes() else _copy(accepted)
    inputs = tuple(_frozen_values(terms.body.inputs.internal_state()) for terms in world.bodies)
    point = None if equation.ended_freely else equation.point
    if point is None or point.is_after_smooth_motion:
        return StepRecord(begin, stop, velocity, None, inputs)
    has_contacts = world.forces is None and equation.contact_count > 0 and known is not None
    solver = world.solver if world.forces is not None and isinstance(world.solver, Stateful) else None
    placing, separation = equation.placing, equation.separation
    return StepRecord(
        begin, stop, velocity, Scheme.of(point), inputs, _constraints(world, equation.step),
        _NOTHING if world.joints is None else _copy(world.joints.impulse),
        _contacts(world, equation, known) if has_contacts and known is not None else None,
        None if placing is None else Placing(*map(_copy, placing)),
        None if separation is None else Separation(*map(_copy, separation)),
        None if solver is None else _frozen_values(solver.internal_state()),
        None if world.pipeline is None else world.pipeline.approach_distance,
    )  # fmt: skip


def _are_alike(one: State, other: State) -> bool:
    """Whether two states are the same to the bit."""
    # bytes are compared in a tenth of the time of small arrays
    if one.time != other.time or one.qv.tobytes() != other.qv.tobytes():
        return False
    return one.aux.tobytes() == other.aux.tobytes()


def _frozen_values(values: InternalState) -> InternalState:
    """Named arrays that nothing else holds, which cannot be written."""
    return {name: _copy(value) for name, value in values.items()}


def _constraints(world: WorldTerms, step: float) -> HeldRows | None:
    """The impulses of the rows of all bodies."""
    found = []
    for terms in world.bodies:
        own = terms.constraints
        if own is None or not own.rows.count:
            continue
        lower, upper = np.full(own.rows.count, -np.inf), np.full(own.rows.count, np.inf)
        if len(own.bounded):
            lower[own.bounded], upper[own.bounded] = own.bounds(step)
        found.append((own.impulse, lower, upper))
    return HeldRows(*(_frozen(np.concatenate(each)) for each in zip(*found, strict=True))) if found else None


def _contacts(world: WorldTerms, equation: StepEquation, known: Tangents) -> ContactImpulses:
    """What acted at the contacts."""
    pipeline, width, count = world.pipeline, world.jacobian.width, equation.contact_count
    assert pipeline is not None
    impulse = equation.impulses.of_contacts.reshape(count, -1)
    start = equation.impulses.start[: count * width].reshape(count, width)
    return ContactImpulses(
        _copy(pipeline.contacts.id[:count]), _copy(impulse), _copy(equation.bias), Tangents(*map(_copy, known)),
        _copy(start), _copy(pipeline.held),
    )  # fmt: skip
