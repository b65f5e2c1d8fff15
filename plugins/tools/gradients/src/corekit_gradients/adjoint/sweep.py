"""The derivative of a run's loss by its start, its inputs and parameters: one sweep back over the tape.

    L = Σ_k ℓ_k(x_k),     (a, b) ← ∂ℓ_k/∂x_k + (a, b) pulled through step k + 1                              (1)

from the last step to the first. What a step keeps for the next one beside q and v, tangents and impulses, has covectors
too, by the ids of contacts. An input u that is held in step k, and a parameter p, change the loss by

    L_{u_k} = y_kᵀ·∂F_k/∂u,      L_p = Σ_k y_kᵀ·∂F_k/∂p                                                       (2)

with F the equations of a step and y_k their covector. ∂F/∂u and ∂F/∂p are differences at what is recorded: no run is
repeated (`input_products`, `parameter_products`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.engine.tape import StepRecord
from corekit.roles.derivatives import (
    ModelTwins,
    RunDerivative,
    StateCovector,
    StepLinearisation,
    SweepReport,
    Twins,
)
from corekit_gradients.adjoint.body_products import BodyProducts
from corekit_gradients.adjoint.charts import Charts
from corekit_gradients.adjoint.contact_slope_kernels import locate
from corekit_gradients.adjoint.covectors import Covectors
from corekit_gradients.adjoint.frozen_step import FrozenStep
from corekit_gradients.adjoint.input_products import affine_inputs, input_columns, input_products
from corekit_gradients.adjoint.parameter_products import ParameterProducts
from corekit_gradients.adjoint.reparametrisation import Reparametrisation
from corekit_gradients.adjoint.smooth_step import SmoothSteps
from corekit_gradients.adjoint.solutions import Kind
from corekit_gradients.adjoint.step_derivative import StepDerivative
from corekit_gradients.adjoint.term_products import TermProducts

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem

__all__ = ["Pullers", "linearise_tape", "sweep_back"]

_NO_IDS: IntArray = np.zeros(0, dtype=np.int64)
Known: TypeAlias = tuple[IntArray, Array]
"""Ids of contacts, shape (m,), and covectors of each, shape (m, width)."""


class Pullers(NamedTuple):
    """What pulls covectors through steps of one world."""

    system: WorldSystem
    charts: Charts
    step: FrozenStep
    smooth: SmoothSteps
    terms: TermProducts
    known: list[ParameterProducts]
    affine: tuple[bool, ...]

    @classmethod
    def of(cls, system: WorldSystem, charts: Charts, state: State) -> Pullers:
        """Those of a world, for states like `state`."""
        products = BodyProducts(system.terms, charts, state)
        smooth, terms = SmoothSteps(system, products), TermProducts(system, charts, products)
        return cls(system, charts, FrozenStep(system), smooth, terms, [], affine_inputs(system, state))

    def products_of(self, twins: Sequence[Twins | ModelTwins], state: State) -> ParameterProducts | None:
        """Those of numbers, which the next sweep has again if it asks for the same ones; None without any."""
        if not twins:
            return None
        if not self.known or not self.known[0].serves(twins):
            self.known[:] = [ParameterProducts(self.system, twins, state)]
        self.known[0].values = np.zeros(len(twins))
        return self.known[0]


def sweep_back(
    pullers: Pullers,
    tape: Sequence[StepRecord],
    loss: Callable[[int], StateCovector | None],
    *,
    wants_inputs: bool | Collection[int] = False,
    twins: Sequence[Twins | ModelTwins] = (),
    progress: Callable[[int], object] | None = None,
    after: RunDerivative | None = None,
) -> RunDerivative:
    """Pull a loss through a tape; the world's internal state is that of the first record after it.

    Args:
        pullers: of the world that made the tape. tape: records that follow each other, at least one.
        loss: ∂ℓ_k/∂x_k at the end of record k, and of the start for k = −1; None where there is no term.
        wants_inputs: whether (2) of the inputs is computed, or of which bodies, by their indices; it is 0 of others.
        twins: one per parameter.
        progress: called with the number of steps that are left.
        after: the derivative of what came behind the tape, or None.
    Raises:
        GradientError: a step has no derivative.
    """
    system, charts, step, smooth, terms, _, affine = pullers
    lost_before = terms.lost
    products = pullers.products_of(twins, tape[0].start)
    nv, width = system.nv, system.terms.jacobian.width
    count = sum(terms.body.description.input_size for terms in system.terms.bodies)
    inputs = np.zeros((len(tape), count)) if wants_inputs else None
    wanted = range(len(system.terms.bodies)) if isinstance(wants_inputs, bool) else wants_inputs
    place, velocity = np.zeros((2, nv)) if after is None else (after.place.copy(), after.velocity.copy())
    nothing: Known = _NO_IDS, np.zeros((0, 3))
    tangents, impulses = (nothing, nothing) if after is None else after.memory
    met: Counter[str] = Counter()
    moved: Counter[str] = Counter()
    columns: Counter[str] = Counter()
    scale = np.ones(nv)
    may_change = any(terms.body.abilities.reparametrisation for terms in system.terms.bodies)
    for k in range(len(tape) - 1, -1, -1):
        record, own = tape[k], loss(k)
        _add(own, place, velocity)
        ids = _NO_IDS if record.contacts is None else record.contacts.id
        of_tangents, of_impulses = _arranged(ids, tangents, 3), _arranged(ids, impulses, width)
        if own is not None and own.by_impulse is not None:
            of_impulses += own.by_impulse
        step.wants_tangents = step.tracks_tangents and bool(of_tangents.any())
        end = Covectors(
            place,
            velocity,
            of_tangents if step.wants_tangents else nothing[1],
            of_impulses,
        )
        if may_change:
            end = _before(system, charts, record, end, moved)
        turned, quick = None, smooth.pull(record, end)
        if quick is not None:
            start, y = quick
            met["smooth"] += 1
            parts = []
            if inputs is not None or products is not None:
                step.take(record)
                if products is not None and products.need_whole(step):
                    step.load(record)
                parts = [(step.solutions[0], y[:nv])]
        else:
            step.load(record)
            derivative = StepDerivative(system, step, charts, scale, scale, terms)
            start, y = derivative.pull(end)
            parts = step.split(y) if inputs is not None or products is not None else []
            turned = terms.turned if step.turns_pyramids and derivative.reason is None else None
            if turned is not None:  # what their directions follow is of bodies too
                parts = [*parts, *turned.parts(step.solutions[0])]
            met["impacts"] += any(each.kind is Kind.VELOCITY for each in step.solutions)
            met["degenerate"] += any(each.modes.degenerate for each in step.solutions)
            met["redundant"] += not derivative.is_regular
            met["lost"] += derivative.lost
            if derivative.reason is None:
                met["terms"] += 1
            else:
                columns[derivative.reason] += 1
        if inputs is not None:
            knows = turned is not None or quick is not None or not step.turns_pyramids
            inputs[k] = input_products(system, step, parts, None if knows else y, wanted, affine)
        if products is not None:
            products.add(step, parts, y, met, knows_turned=turned is not None)
        place, velocity = start.place, start.velocity
        known = _NO_IDS if record.contacts is None else record.contacts.known.id
        tangents = (known, start.tangents) if len(start.tangents) else nothing
        impulses = (ids, start.impulses) if start.impulses.any() else nothing
        if progress is not None:
            progress(k)
    _add(loss(-1), place, velocity)
    report = SweepReport(
        len(tape),
        met["impacts"],
        met["degenerate"],
        met["redundant"],
        met["lost"] + terms.lost - lost_before,
        dict(moved),
        met["smooth"],
        met["terms"],
        dict(columns),
    )
    values = np.zeros(0) if products is None else products.values
    return RunDerivative(place, velocity, inputs, values, report, (tangents, impulses))


def _before(
    system: WorldSystem, charts: Charts, record: StepRecord, end: Covectors, moved: Counter[str]
) -> Covectors:
    """The covectors before coordinates were reparametrised; bodies that were are counted in `moved`."""
    change = Reparametrisation(system.terms, charts, _end_of(system, record), record.end)
    moved.update(change.bodies)
    place, velocity = change.pull(end.place, end.velocity)
    return end._replace(place=place, velocity=velocity)


def _end_of(system: WorldSystem, record: StepRecord) -> State:
    """Where a step ended before coordinates were reparametrised; the record's end behind a smooth motion."""
    scheme = record.scheme
    if scheme is None:
        return record.end
    theta, h, before = 1.0 if scheme.theta is None else scheme.theta, scheme.step, system.new_state()
    decides = record.velocity if record.placing is None else record.placing.velocity
    mean = (1.0 - theta) * record.start.v + theta * decides
    system.integrate(record.start, mean, h, record.start, before)
    if record.separation is not None:
        moved = before
        before = system.new_state()
        system.integrate(moved, record.separation.rate, h, moved, before)
    before.v[:], before.time = record.velocity, record.end.time
    system.terms.set_prescribed_coordinates(before)
    return before


def _add(term: StateCovector | None, place: Array, velocity: Array) -> None:
    """Add the covector of a loss."""
    if term is not None:
        place += term.by_displacement
        velocity += term.by_velocity


def _arranged(ids: IntArray, known: Known, width: int) -> Array:
    """The covectors of contacts in their order, zero of those without."""
    out = np.zeros((len(ids), width))
    if len(ids) and len(known[0]):
        at = np.empty(len(ids), dtype=np.int64)
        locate(ids, len(known[0]), known[0], at)
        out[at >= 0] = known[1][at[at >= 0]]
    return out


def linearise_tape(system: WorldSystem, charts: Charts, tape: Sequence[StepRecord]) -> StepLinearisation:
    """Pull every unit covector of the end of a tape to its start; memory of contacts counts as constant."""
    nv, frozen, scale = system.nv, FrozenStep(system), np.ones(system.nv)
    count = sum(terms.body.description.input_size for terms in system.terms.bodies)
    of_state, of_inputs, is_degenerate = np.eye(2 * nv), np.zeros((2 * nv, count)), False
    for record in reversed(tape):
        frozen.load(record)
        derivative = StepDerivative(system, frozen, charts, scale, scale)
        change = Reparametrisation(system.terms, charts, _end_of(system, record), record.end)
        by_input = input_columns(system, frozen)
        nothing = np.zeros_like(frozen.here.tangents), np.zeros_like(frozen.arguments.start_impulse)
        rows = []
        for i, row in enumerate(of_state):
            start, y = derivative.pull(Covectors(*change.pull(row[:nv], row[nv:]), *nothing))
            rows.append(np.concatenate([start.place, start.velocity]))
            of_inputs[i] += y @ by_input
        of_state = np.array(rows)
        is_degenerate |= any(each.modes.degenerate > 0 for each in frozen.solutions)
    return StepLinearisation(of_state, of_inputs, is_degenerate)
