"""The derivative of one recorded step, applied to changes of its start and, transposed, to covectors of its end.

    F(q₀, v₀, v_p, v⁺; λ) = 0 of `frozen_step`                                                             (1)

holds for every solution of the step, and λ enters it linearly. So a change δx of the start changes (v, λ) of a
solution by

    [F_v  F_λ]·(δv, δλ) = −F_x·δx − F_{v_p}·δv_p                                                           (2)

of which the last term is for those solutions that come after the position level, and

    δq⁺ = T_q·δq₀ + h·T_v·((1 − θ)·δv₀ + θ·δv_p)                                                          (3)

The adjoint goes the other way: it takes the covectors (a, b) of (δq⁺, δv⁺) through (3) and the transposes of (2). Rows
of prescribed velocities are those of the identity, and what is prescribed at the start does not change.

What a step keeps for the next one is an argument too, where it changes what the next one does: the tangents of contacts
with pyramids that stand, t_k = (1 − nnᵀ)·t_{k−1} normalised, and impulses where pyramids turn.

F_x, and for the θ family F_v, are central differences of (1), column by column: the general rule. Where a contact is
not found on one side the difference is one-sided. To pull, products with F_x are enough, and `term_products` has them
without columns for most steps; `reason` says for which it has not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Final, final

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.data.state import State
from corekit_gradients.adjoint.covectors import Covectors
from corekit_gradients.adjoint.frozen_contacts import ContactLost
from corekit_gradients.adjoint.known_tangents import known_tangents
from corekit_gradients.adjoint.saddle import SaddleSystem
from corekit_gradients.adjoint.solutions import Kind

if TYPE_CHECKING:
    from corekit.engine.world.world_system import WorldSystem
    from corekit_gradients.adjoint.charts import Charts
    from corekit_gradients.adjoint.evaluation import Arguments
    from corekit_gradients.adjoint.frozen_step import FrozenStep
    from corekit_gradients.adjoint.term_products import TermProducts

__all__ = ["StepDerivative"]

_STEP: Final = 2.0**-18
"""Of a difference, relative to the scale of its argument."""
_TURNED_STEP: Final = 2.0**-23
"""The same where pyramids turn: the rule of their directions has branches at gap speeds, which it changes by 1/h."""


@final
class StepDerivative:
    """Derivatives of the step that a `FrozenStep` holds.

    Args:
        system: the world. frozen: its recorded step. charts: of its states.
        displacement_scale, velocity_scale: over which q and v change what a step does, shape (nv,).
        terms: products by its terms, to pull without columns; None: columns answer.

    Attributes:
        reason: why columns pull; None where products by terms do.
        lost: columns that no side had all contacts for, and which are zero.
    """

    def __init__(
        self,
        system: WorldSystem,
        frozen: FrozenStep,
        charts: Charts,
        displacement_scale: Array,
        velocity_scale: Array,
        terms: TermProducts | None = None,
    ) -> None:
        self._frozen, self._charts, self._world = frozen, charts, system.terms
        self._turns = frozen.turns_pyramids
        size = _TURNED_STEP if self._turns else _STEP
        self._by_place, self._by_velocity = size * displacement_scale, size * velocity_scale
        self._owner = system
        self.lost = 0
        self._prescribed: BoolArray = ~np.concatenate([terms.free for terms in system.terms.bodies])
        self._parts = frozen.parts
        last = self._parts[-1].stop
        self._tangents = slice(last, last + frozen.here.tangents.size)
        here = frozen.arguments
        self._is_open = (
            not frozen.has_closed_contacts and not frozen.here.tangents.size and system.terms.forces is None
        )
        self._is_linear = frozen.theta is None and system.terms.forces is None
        self._has_impact = any(each.kind is Kind.VELOCITY for each in frozen.solutions)
        self._terms, self._solved = terms, list[SaddleSystem]()
        self.reason = "columns asked for" if terms is None else terms.reason(frozen)
        theta = 1.0 if frozen.theta is None else frozen.theta
        self._theta = theta
        self._mean = mean = (1.0 - theta) * here.start.v + theta * here.velocity
        near = here.start if charts.commute_known else self._ends[0]
        self._transports = [charts.transports(here.start, mean, frozen.step, near)]
        if frozen.solutions[-1].kind is Kind.APART:
            rate = frozen.solutions[-1].velocity
            self._transports.append(charts.transports(self._ends[0], rate, frozen.step, self._ends[1]))

    @cached_property
    def _ends(self) -> list[State]:
        """Where v̄ leads to, and what moves bodies apart from there."""
        frozen, system, start = self._frozen, self._owner, self._frozen.arguments.start
        rates = [self._mean]
        if frozen.solutions[-1].kind is Kind.APART:
            rates.append(frozen.solutions[-1].velocity)
        ends: list[State] = []
        for rate in rates:
            ends.append(system.new_state())
            system.integrate(start, rate, frozen.step, start, ends[-1])
            start = ends[-1]
        return ends

    @property
    def end(self) -> State:
        """Where the step ends, before coordinates are reparametrised; v is not written."""
        return self._ends[-1]

    @property
    def is_regular(self) -> bool:
        """Whether no redundant contacts or constraints made a system singular that was solved."""
        return all(each.is_regular for each in self._solved)

    # — differences —

    @cached_property
    def _moved(self) -> State:
        return self._owner.new_state()

    @cached_property
    def _of_place(self) -> Array:
        return self._columns(self._world.nv, self._place, contacts_stay=self._is_open)

    @cached_property
    def _of_start(self) -> Array:
        return self._start_columns(self._is_open)

    @cached_property
    def _of_velocity(self) -> Array | None:
        if self._is_linear:
            return None
        return self._columns(self._world.nv, self._velocity, contacts_stay=self._is_open)

    @cached_property
    def _of_final(self) -> Array | None:
        if self._is_linear or not self._has_impact:
            return None
        return self._columns(self._world.nv, self._final)

    def _place(self, j: int, sign: float) -> tuple[Arguments, float]:
        here, move = self._frozen.arguments, np.zeros(self._world.nv)
        move[j] = sign * self._by_place[j]
        self._charts.displace(here.start, move, self._moved)
        return here._replace(start=self._moved), move[j]

    def _start_velocity(self, j: int, sign: float) -> tuple[Arguments, float]:
        here, moved, change = self._frozen.arguments, self._moved, sign * self._by_velocity[j]
        moved.copy_from(here.start)
        moved.v[j] += change
        return here._replace(start=moved), change

    def _velocity(self, j: int, sign: float) -> tuple[Arguments, float]:
        here, moved = self._frozen.arguments, self._frozen.arguments.velocity.copy()
        change = sign * self._by_velocity[j]
        moved[j] += change
        is_one = here.final is here.velocity
        return here._replace(velocity=moved, final=moved if is_one else here.final), change

    def _final(self, j: int, sign: float) -> tuple[Arguments, float]:
        here, change = self._frozen.arguments, sign * self._by_velocity[j]
        moved = here.final + change * (np.arange(self._world.nv) == j)
        return here._replace(final=moved), change

    def _start_impulse(self, j: int, sign: float) -> tuple[Arguments, float]:
        here, moved = self._frozen.arguments, self._frozen.arguments.start_impulse.copy()
        change = sign * _STEP * np.abs(moved).max(initial=0.0)
        moved.flat[j] += change
        return here._replace(start_impulse=moved), change

    def _start_columns(self, is_open: bool) -> Array:
        """Derivatives by v₀: of implicit Euler it enters the momentum alone but for impacts and turned pyramids."""
        frozen, nv = self._frozen, self._world.nv
        only_place = not self._turns and all(each.kind is Kind.PLACE for each in frozen.solutions)
        if frozen.theta == 1.0 and only_place and frozen.here.residuals[0].linear is not None:
            out = np.zeros((self._tangents.stop, nv))
            out[:nv] = -frozen.here.residuals[0].linear.matrix
            out[:nv][self._prescribed] = 0.0
            out[:, self._prescribed] = 0.0
            return out
        stay = is_open or frozen.start_velocity_leaves_contacts
        return self._columns(nv, self._start_velocity, contacts_stay=stay)

    def _columns(
        self,
        count: int,
        moved: Callable[[int, float], tuple[Arguments, float]],
        *,
        contacts_stay: bool = False,
    ) -> Array:
        """Differences of F along every argument of a kind, shape (N, count); zero along what is prescribed."""
        frozen = self._frozen
        out = np.zeros((self._tangents.stop, count))
        kept = np.flatnonzero(~self._prescribed).tolist() if count == len(self._prescribed) else range(count)
        for j in kept:
            found = []
            for sign in (1.0, -1.0):
                arguments, change = moved(j, sign)
                try:
                    found.append(
                        (
                            frozen.evaluate(arguments, contacts_stay=contacts_stay).stacked_with_tangents(),
                            change,
                        )
                    )
                except ContactLost:
                    continue
            if len(found) == 1:
                found.append((frozen.here.stacked_with_tangents(), 0.0))
            if not found:
                self.lost += 1
                continue
            (one, ahead), (other, behind) = found
            out[:, j] = (one - other) / (ahead - behind)
        return out

    # — systems —

    @cached_property
    def _systems(self) -> list[SaddleSystem]:
        """Of every solution, the matrix of (2)."""
        known = {Kind.PLACE: self._of_velocity, Kind.VELOCITY: self._of_final}
        systems = []
        for s, (solution, part) in enumerate(zip(self._frozen.solutions, self._parts, strict=True)):
            changes = known.get(solution.kind)
            systems.append(self._system(s, None if changes is None else changes[part]))
        return systems

    def _system(self, s: int, changes: Array | None) -> SaddleSystem:
        """The matrix of (2) of a solution, with the changes of R, G and H by its velocity, if they are not linear."""
        frozen, nv = self._frozen, self._world.nv
        residual = frozen.here.residuals[s]
        linear, contacts = residual.linear, residual.contacts
        assert linear is not None
        of_contacts = contacts.rows.reshape(-1, nv)
        (k, width), r = contacts.impulse.shape, len(linear.rows)
        momentum, bounded = linear.matrix, linear.side != 0
        if changes is not None:
            momentum, rows = changes[:nv].copy(), changes[nv:].copy()
        else:
            rows = (contacts.by_velocity @ contacts.rows).reshape(-1, nv)
            if r:
                rows = np.concatenate([np.where(bounded[:, None], 0.0, linear.rows), rows])
        impulses = np.concatenate([linear.rows, of_contacts]) if r else of_contacts
        compliance = np.zeros((len(impulses), len(impulses)))
        if r:
            compliance[np.arange(r), np.arange(r)] = np.where(bounded, 1.0, linear.compliance)
        for c in range(k):
            here = slice(r + c * width, r + (c + 1) * width)
            compliance[here, here] = contacts.by_impulse[c]
        fixed = self._prescribed
        if fixed.any():
            momentum, impulses = momentum.copy(), impulses.copy()
            momentum[fixed] = 0.0
            momentum[:, fixed] = 0.0
            momentum[fixed, fixed] = 1.0
            rows[:, fixed] = 0.0
            impulses[:, fixed] = 0.0
        return SaddleSystem(momentum, impulses, rows, compliance)

    # — forward —

    def push(self, place: Array, velocity: Array) -> tuple[Array, Array]:
        """δq⁺ and δv⁺, before coordinates are reparametrised, for δq₀ and δv₀; all of shape (nv,) or (nv, k)."""
        fixed = self._prescribed
        place, velocity = place.copy(), velocity.copy()
        place[fixed] = velocity[fixed] = 0.0
        given = -(self._of_place @ place + self._of_start @ velocity)[: self._parts[-1].stop]
        changes: dict[Kind, Array] = {}
        for s, (solution, part) in enumerate(zip(self._frozen.solutions, self._parts, strict=True)):
            right = given[part]
            if s and self._of_velocity is not None:
                right = right - self._of_velocity[part] @ changes[Kind.PLACE]
            changes[solution.kind], _ = self._systems[s].solve(right[: len(fixed)], right[len(fixed) :])
        moved = changes[Kind.PLACE]
        mean = (1.0 - self._theta) * velocity + self._theta * moved
        end = self._transports[0].apply(place, mean)
        if Kind.APART in changes:
            end = self._transports[1].apply(end, changes[Kind.APART])
        final = changes.get(Kind.VELOCITY, moved)
        end[fixed] = 0.0
        final = final.copy()
        final[fixed] = 0.0
        return end, final

    # — back —

    def pull(self, end: Covectors) -> tuple[Covectors, Array]:
        """Covectors of the start for those of the end, and that of F, as long as `Evaluation.stacked`.

        A parameter p changes a loss by yᵀ·∂F/∂p of the last one, y.
        """
        frozen, nv, fixed = self._frozen, self._world.nv, self._prescribed
        a, b = end.place.copy(), end.velocity.copy()
        a[fixed] = b[fixed] = 0.0
        covectors = {each.kind: np.zeros(nv) for each in frozen.solutions}
        if Kind.APART in covectors:
            a, covectors[Kind.APART] = self._transports[1].pull(a)
        a, of_mean = self._transports[0].pull(a)
        covectors[Kind.PLACE] += self._theta * of_mean
        b0 = (1.0 - self._theta) * of_mean
        last = Kind.VELOCITY if Kind.VELOCITY in covectors else Kind.PLACE
        covectors[last] += b
        y = np.zeros(self._tangents.stop)
        y[self._tangents] = end.tangents.ravel()
        implicit = self._pull_implicit(covectors[last], end, y) if frozen.theta is not None else None
        if implicit is not None:
            a += implicit[0]
            b0 += implicit[1]
        else:
            of_place, of_start = self._pull_solutions(covectors, last, end, y)
            a += of_place
            b0 += of_start
        a[fixed] = b0[fixed] = 0.0
        return Covectors(a, b0, known_tangents(frozen, self._parts, y), self._of_start_impulses(y)), y

    def _pull_solutions(
        self, covectors: dict[Kind, Array], last: Kind, end: Covectors, y: Array
    ) -> tuple[Array, Array]:
        """Write y of the solutions, from the last to the first, and return what they make of q₀ and v₀."""
        frozen, nv, fixed = self._frozen, self._world.nv, self._prescribed
        if self._of_velocity is not None:
            covectors[Kind.PLACE] += self._of_velocity[self._tangents].T @ y[self._tangents]
        self._solved = self._systems
        for s in reversed(range(len(frozen.solutions))):
            part, solution = self._parts[s], frozen.solutions[s]
            right = covectors[solution.kind]
            right[fixed] = 0.0
            of_impulse = (
                self._of_impulses(s, end) if solution.kind is last else np.zeros(part.stop - part.start - nv)
            )
            y[part] = -np.concatenate(self._systems[s].solve_transposed(right, of_impulse))
            y[part][:nv][fixed] = 0.0
            if s and self._of_velocity is not None:
                covectors[Kind.PLACE] += self._of_velocity[part].T @ y[part]
        if self.reason is None and self._terms is not None:
            found = self._terms.pull(
                frozen, frozen.point_of(frozen.solutions[0]), [y[part] for part in self._parts], end.tangents
            )
            if found is not None:
                return found
            self.reason = "turned pyramids"
        return self._of_place.T @ y, self._of_start.T @ y

    def _of_impulses(self, s: int, end: Covectors) -> Array:
        """The covector of λ of a solution, of constraints, joints and contacts."""
        part, modes = self._parts[s], self._frozen.solutions[s].modes
        out = np.zeros(part.stop - part.start - self._world.nv)
        if end.impulses.size:
            own = end.impulses[modes.index].ravel()
            out[len(out) - len(own) :] = own
        return out

    def _pull_implicit(self, right: Array, end: Covectors, y: Array) -> tuple[Array, Array] | None:
        """The same of a step of the θ family by its terms; None where it has no products or they do not converge."""
        frozen, fixed, terms = self._frozen, self._prescribed, self._terms
        if terms is None or self.reason is not None:
            return None
        try:
            products = terms.implicit(frozen, end.tangents)
        except ContactLost:
            self.reason = "contact ends"
            return None
        near, part = self._system(0, products.near_matrix()), self._parts[0]
        later = products.pull(np.zeros(part.stop), with_tangents=True)
        found = products.solve(
            near, np.where(fixed, 0.0, right + later.velocity), self._of_impulses(0, end), fixed
        )
        if found is None:
            self.reason = "corrections"
            return None
        y[part], pulled = -found[0], found[1]
        self._solved = [near]
        return later.place - pulled.place, later.start - pulled.start

    def _of_start_impulses(self, y: Array) -> Array:
        """The covector of the impulses with which the step began, shape (m, width)."""
        frozen = self._frozen
        carried = frozen.arguments.start_impulse
        if not (frozen.turns_pyramids and carried.any()):
            return np.zeros_like(carried)
        if self.reason is None and self._terms is not None and self._terms.turned is not None:
            return self._terms.turned.of_start
        return (self._columns(carried.size, self._start_impulse).T @ y).reshape(carried.shape)
