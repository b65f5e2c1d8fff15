"""Newton's method at one load factor, made to reach an equilibrium from afar.

Every iteration solves for a step δ of `EquilibriumSystem` and accepts a fraction of it:

1. A body whose matrix K − ∂(J_bᵀλ_b)/∂q + σM is not positive definite on its constraints gets a larger σ.   (1)
2. A step that would move any point of a shape farther than the trust radius is solved anew with a larger σ, and
   shortened if that does not help. The radius grows after steps whose out-of-balance force is what the linear model
   predicts, and shrinks after others. Without contact a whole step beyond the radius is tried first, as long as such
   steps reduce the force.                                                                                (2)
3. The line search uses the work rate of the out-of-balance force, g(s) = F(q(s))·δ. It accepts a fraction s where
   g(s) ≥ −0.9·g(0), and shortens the step by the secant otherwise. It needs no energy, so follower forces may act.
   It also shortens a step that would pull constraints apart.                                             (3)
4. After a full step σ falls with the force, to a tenth at least, so that Newton's method converges at the end. Where a
   body is not held without σ, σ stays so large that displacements F/(σM) keep gaps above rounding.         (4)

A stiff structure that moves far (a rod bends easily but hardly stretches) is slow under (3). Where K is positive
definite at the start, the search therefore begins without (3), and begins anew with it if that does not converge. Where
(3) does not get on either, `viscous_flow` leads from the start to where Newton's method converges.

A state is an equilibrium where no force exceeds the tolerance times the largest force term at that very state, or what
rounding of the coordinates makes of the stiffness there: not the largest force that the search has met on its way.

Sources: Crisfield (1991), "Non-linear finite element analysis of solids and structures", vol. 1, ch. 9, for (3);
Kelley and Keyes (1998) for (4).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import final

import numpy as np

from corekit.data.state import State
from corekit.data.status import Status
from corekit.errors import StaticsFailed
from corekit.linalg.vectors import max_abs
from corekit_statics.accepted import equilibrium_of
from corekit_statics.equilibrium import Equilibrium, SearchOptions
from corekit_statics.equilibrium_diagnostics import (
    body_size,
    largest_force,
    largest_term,
    no_balance,
    non_finite,
    not_found,
    singular,
    unsolved,
)
from corekit_statics.equilibrium_system import EquilibriumSystem
from corekit_statics.stability import stability_of
from corekit_statics.viscous_flow import ViscousFlow

__all__ = ["NewtonSearch"]

_PATIENCE = 12
"""Iterations that may fail to halve the force before the search begins anew in its next way."""
_UNSOLVED = 36
"""Contact problems that may stay unsolved meanwhile, before the search is given up: each one took every fallback."""
_FLOW_ITERATIONS = 10
"""Iterations of the viscous flow, relative to those of Newton's method."""
_MOST_FLOWS = 3
"""Load steps that may begin with the viscous flow."""
_MAX_TURN = 0.5
"""Largest rotation of a body near contacts in one step [rad]."""
_STIFFER = 100.0
"""Largest stiffness whose rounding is believed, relative to that of the start."""
_STALLED = 1e-7
"""Force, relative to the largest force term, at which a search that no longer improves is accepted with a note."""
_STALLED_IN_CONTACT = 1e-5
"""The same in contact: what a solver leaves of w in a step of 1 s is a distance, and so a force."""
_ROUNDED = 1e-15
"""Rounding of a displacement, a sum of a few terms, relative to its largest term."""
_MAX_CUTS = 6
"""Fractions tried of one step before σ is raised instead."""
_MAX_ATTEMPTS = 60
"""Steps solved for in one iteration, each with a larger σ."""
_MAX_RESOLVES = 4
"""Steps solved anew because they are too long or their contacts are not solved."""
_LEAP = 4.0
"""Length of a step beyond the trust radius without contact, relative to the size of the bodies."""
_LOST = 1000.0
"""Distance after which a search is given up, relative to the size of the bodies."""
_CONSTRAINT_TOLERANCE, _STALLED_GAP = 1e-9, 1e-6
"""Accepted errors relative to the size of the bodies; the second of gaps that no longer halve in an iteration."""
_LARGEST_SHIFT = 1e30


@final
class NewtonSearch:
    """Finds equilibria at one load factor after the other, and keeps what it learned at the last one.

    Args:
        system: the world at its time T.
        start: a state whose bodies give the size of the world.
        options: tolerance and number of iterations.

    Attributes:
        is_hopeless: whether smaller load steps would not help, because nothing holds a body or no contact is solved.
        iterations: steps so far, those of failed load steps included.
    """

    def __init__(self, system: EquilibriumSystem, start: State, options: SearchOptions) -> None:
        self._system, self._options = system, options
        self._size = body_size(system, start)
        self._state, self._next = system.new_state(), system.new_state()
        self._step, self._force = np.zeros(system.nv), np.zeros(system.nv)
        self._shifts = np.zeros(len(system.bodies))
        self._trust_radius = self._detection_radius = 0.25 * self._size
        self._scale = self._distance = self._rounding = 0.0
        self._gap_error, self._acceleration = math.inf, 0.0
        self._load_factor, self._resolves, self._unsolved, self._last_failed = 1.0, 0, 0, False
        self._has_line_search, self._may_leap, self._flows_left = False, False, _MOST_FLOWS
        self.is_hopeless, self.iterations = False, 0
        self._accepted = self._before = system.internal_state()

    def keep(self) -> None:
        """Keep the forces of an equilibrium for the next load step."""
        self._accepted = self._system.internal_state()

    def rewind(self) -> None:
        """Restore the forces of the last equilibrium that was kept."""
        self._system.restore(self._accepted)

    def find(self, start: State, load_factor: float) -> Equilibrium:
        """Find the equilibrium at a load factor from a state.

        Raises:
            StaticsFailed: none was found.
        """
        system, options = self._system, self._options
        self._load_factor, self.is_hopeless, self._unsolved, self._last_failed = load_factor, False, 0, False
        first = system.internal_state()
        self._begin(start)
        self._rounding = _STIFFER * float(np.max(system.rounding(self._state, self._size), initial=0.0))
        self._has_line_search, self._may_leap = False, not system.contacts.exist
        slow, best, may_flow = 0, math.inf, self._flows_left > 0 and not system.contacts.exist
        for iteration in range(options.max_iterations + 1):
            worst = self._update_force()
            self._scale = largest_term(system, self._state)
            is_held = self._constraints_hold()
            if is_held and worst <= options.tolerance * self._scale:
                return self._equilibrium(iteration)
            if is_held and self._is_rounding():
                note = "as far as rounding of the stiff coordinates lets it"
                return self._equilibrium(iteration, note if worst > _STALLED * self._scale else "")
            slow, self._unsolved = (slow + 1, self._unsolved) if worst > 0.5 * best else (0, 0)
            best = min(best, worst)
            share = _STALLED_IN_CONTACT if system.contacts.count else _STALLED
            is_stalled = is_held and slow > 6 and worst <= share * self._scale
            # where it is about to leave a pressed shape, forces are small beside those that press it
            if is_stalled and not (may_flow and stability_of(system, self._state).verdict == "unstable"):
                left = f"{worst / self._scale:.0e} of the load"
                note = f"as far as rounding and the contact solver's tolerance let it, {left}"
                return self._equilibrium(iteration, note)
            self.is_hopeless = slow > _PATIENCE and self._unsolved > _UNSOLVED
            if self.is_hopeless:
                raise self._failure(unsolved())
            if slow > _PATIENCE and (may_flow or not self._has_line_search):
                system.restore(first)
                self._begin(start)
                if self._has_line_search:
                    self._flow()
                    may_flow = False
                self._has_line_search = not self._has_line_search
                self._may_leap, slow, best = False, 0, math.inf
                self._update_force()
            if iteration < options.max_iterations:
                self._move()
                self.iterations += 1
        raise self._failure(not_found(options.max_iterations, load_factor))

    def _begin(self, start: State) -> None:
        """Go to a state, with no shift."""
        self._state.q[:], self._state.aux[:] = start.q, start.aux
        self._state.v.fill(0.0)
        self._trust_radius = min(self._trust_radius, 0.25 * self._size)
        self._detection_radius, self._distance = self._trust_radius, 0.0
        self._shifts.fill(0.0)
        self._evaluate(self._state)
        if self._system.guess_constraint_forces():
            self._evaluate(self._state)

    def _flow(self) -> None:
        """Go to where the viscous flow from the current state ends."""
        self._flows_left -= 1
        flow = ViscousFlow(self._system, self._size)
        state = flow.follow(self._state, self._load_factor, _FLOW_ITERATIONS * self._options.max_iterations)
        self.iterations += flow.iterations
        self._begin(state)

    def _evaluate(self, state: State) -> None:
        # two bodies may approach each other, each by as much as the radius
        margin = (1.0 if len(self._system.bodies) == 1 else 2.0) * self._detection_radius
        self._system.evaluate(state, self._load_factor, margin)

    def _update_force(self) -> float:
        """Update the out-of-balance force at the current state; returns its largest entry."""
        self._force = self._system.out_of_balance_force()
        worst = max_abs(self._force)
        self._acceleration = max(self._acceleration, self._system.max_acceleration(self._force))
        if not math.isfinite(worst):
            raise self._failure(non_finite(self._system, self._force))
        return worst

    def _is_rounding(self) -> bool:
        """Whether the forces are what rounding of the coordinates makes of the stiffness here.

        Not of a stiffness far above that of the start, as it is where links have lost their length.
        """
        bound = np.minimum(self._system.rounding(self._state, self._size), self._rounding)
        return bool((np.abs(self._force) <= bound).all())

    def _constraints_hold(self) -> bool:
        system = self._system
        error = max(system.constraint_error(), system.drift(), system.prescribed_error())
        gap_error, before = system.contacts.gap_error(), self._gap_error
        self._gap_error = gap_error
        # four points of a face carry the load from any turn about it: forces balance an iteration before gaps close
        is_stalled = gap_error > 0.5 * before and gap_error <= _STALLED_GAP * self._size
        return error <= _CONSTRAINT_TOLERANCE * self._size and (
            is_stalled or gap_error <= _CONSTRAINT_TOLERANCE * self._size
        )

    def _move(self) -> None:
        """Move the state by one step, and raise or lower every body's σ."""
        # where the last step's contacts stayed unsolved, shorter ones did not help
        self._resolves = 1 if self._last_failed else _MAX_RESOLVES
        self._before = self._system.internal_state()
        for _ in range(_MAX_ATTEMPTS):
            if self._solve() and self._try_step():
                return
        raise self._failure("no step brings it nearer to balance. Try more load steps (--load-steps 20)")

    def _solve(self) -> bool:
        """Solve for a step; False where a larger σ has to be tried."""
        system, shifts = self._system, self._shifts
        with np.errstate(all="ignore"):
            info, body = system.solve(shifts, self._step)
        if info.status is Status.SINGULAR and body < 0:
            self._raise_shifts(10.0)
        elif info.status is Status.SINGULAR:
            if shifts[body] > _LARGEST_SHIFT:
                raise self._failure(singular(system.bodies[body]))
            # without stiffness to guide the search, or uphill, every step needs the line search
            self._has_line_search |= self._distance == 0.0
            self._may_leap = False
            self._raise_shifts(4.0, (body,))
        elif not np.isfinite(self._step).all():
            if np.max(shifts) > _LARGEST_SHIFT or not np.isfinite(self._force).all():
                raise self._failure("the step to balance is not finite, whatever holds it back")
            # nothing holds some motion, and rounding hid that from the factorisation
            self._raise_shifts(10.0)
        else:
            self._last_failed = not info.status.solved
            self._unsolved += self._last_failed
            if not self._last_failed or self._resolves == 0:
                return True
            # contacts contradict each other more, the farther a step goes
            self._resolve(10.0)
        return False

    def _try_step(self) -> bool:
        """Accept the step or a fraction of it; False where another one has to be solved for."""
        system, radius = self._system, self._trust_radius
        moved_by_body, turned = system.displacements(self._state, self._step, self._next)
        if system.contacts.count:
            # contact rows belong to one pose, so a body must not turn far on them
            moved_by_body = np.maximum(moved_by_body, turned / _MAX_TURN * radius)
        moved = float(np.max(moved_by_body))
        if self._may_leap and radius < moved < _LEAP * self._size and self._leap_improves():
            self._accept(1.0, moved)
            return True
        if moved > radius and self._resolves > 0:
            # against inertia alone a step is as short as σ is large
            self._resolve(min(1.5 * moved / radius, 100.0), np.flatnonzero(moved_by_body > radius))
            return False
        if system.contacts.exist and self._detection_radius < min(moved, radius):
            self._detection_radius = radius
            self._restore()
            self._before = system.internal_state()
            return False
        fraction = self._line_search(min(1.0, radius / moved) if moved > 0 else 1.0)
        if fraction > 0.0:
            self._accept(fraction, moved)
            return True
        self._restore()
        self._raise_shifts(10.0)
        return False

    def _resolve(self, factor: float, bodies: Iterable[int] | None = None) -> None:
        """Prepare to solve anew with a larger σ, from the forces before the step."""
        self._resolves -= 1
        self._system.restore(self._before)
        self._raise_shifts(factor, bodies)

    def _restore(self) -> None:
        """Restore the forces before the step and evaluate the current state again."""
        self._system.restore(self._before)
        self._evaluate(self._state)

    def _raise_shifts(self, factor: float, bodies: Iterable[int] | None = None) -> None:
        """Raise σ of some bodies, or of all, at least to one that keeps the step below many trust radii."""
        acceleration = self._system.max_acceleration(self._force)
        least = max(1e-4 * acceleration / self._trust_radius, self._least_shift()) or 1e-6
        for b in range(len(self._shifts)) if bodies is None else bodies:
            self._shifts[b] = max(factor * self._shifts[b], least)

    def _least_shift(self) -> float:
        """σ below which rounding would open gaps: they are differences of displacements F/(σ·M) [1/s²]."""
        return _ROUNDED * self._acceleration / (_CONSTRAINT_TOLERANCE * self._size)

    def _leap_improves(self) -> bool:
        """Whether the whole step reduces the force; where it does not, the search leaps no more."""
        system, before = self._system, self._system.internal_state()
        error, drift = system.constraint_error(), system.drift()
        system.integrate(self._state, self._step, 1.0, self._next)
        self._evaluate(self._next)
        left = max_abs(system.out_of_balance_force())
        self._may_leap = left < max_abs(self._force) and not self._breaks(error, drift, 1.0)
        if not self._may_leap:
            system.restore(before)
            self._evaluate(self._state)
        return self._may_leap

    def _breaks(self, error: float, drift: float, fraction: float) -> bool:
        """Whether a fraction of the step pulled constraints apart, given their errors before it."""
        system, allowed = self._system, 0.1 * self._size
        if system.constraint_error() > 2.0 * error + allowed:
            return True
        return system.drift(self._state, fraction * self._step) > 2.0 * drift + allowed

    def _line_search(self, fraction: float) -> float:
        """Find the fraction of the step that (3) accepts, and evaluate the next state there; 0 if there is none."""
        system, step = self._system, np.where(self._system.free, self._step, 0.0)
        # λ is that of the step already
        rate_before = float(step @ system.out_of_balance_force())
        error, drift = system.constraint_error(), system.drift()
        for _ in range(_MAX_CUTS):
            system.integrate(self._state, self._step, fraction, self._next)
            rate = math.nan
            if np.isfinite(self._next.q).all():
                self._evaluate(self._next)
                rate = float(step @ system.out_of_balance_force())
            if not math.isfinite(rate):
                fraction *= 0.25
            elif not self._has_line_search:
                return fraction
            elif rate_before > 0 and rate < -0.9 * rate_before:
                fraction *= min(max(rate_before / (rate_before - rate), 0.1), 0.6)
            elif self._breaks(error, drift, fraction):
                fraction *= 0.5
            else:
                return fraction
            self._evaluate(self._state)
        return 0.0

    def _accept(self, fraction: float, moved: float) -> None:
        """Make the next state the current one, and adapt σ and the trust radius."""
        system, shifts, moved = self._system, self._shifts, fraction * moved
        system.accept(self._state, self._step, fraction, self._next)
        self._state, self._next = self._next, self._state
        surprise = self._surprise(fraction) if self._has_line_search else 0.0
        if surprise > 1.0:
            self._trust_radius = max(0.5 * min(self._trust_radius, moved), 1e-4 * self._size)
            shifts *= 4.0
        elif fraction == 1.0 and shifts.any():
            gain = max_abs(system.out_of_balance_force()) / max(max_abs(self._force), 1e-300)
            lowered = min(0.1, gain) * shifts
            shifts[:] = np.where(lowered > max(1e-9, self._least_shift()), lowered, 0.0)
        self._detection_radius = min(self._trust_radius, max(4.0 * moved, 0.01 * self._size))
        self._distance += moved
        if self._distance > _LOST * self._size:
            self.is_hopeless = True
            raise self._failure(no_balance(system, self._force))
        if surprise < 0.5 and moved > 0.25 * self._trust_radius:
            self._trust_radius *= 2.0

    def _surprise(self, fraction: float) -> float:
        """How far the force after a step is from its prediction (1 − s)·F + s·σ·M·δ, relative to the force before."""
        system = self._system
        predicted = (1.0 - fraction) * self._force + fraction * system.inertia_force(self._shifts, self._step)
        wrong = np.where(system.free, system.out_of_balance_force() - predicted, 0.0)
        return max_abs(wrong) / max(max_abs(self._force), max_abs(predicted), 1e-9 * self._scale, 1e-300)

    # — results —

    def _equilibrium(self, iterations: int, note: str = "") -> Equilibrium:
        return equilibrium_of(
            self._system, self._state, self._force, self._load_factor, iterations, self._scale, note
        )

    def _failure(self, reason: str) -> StaticsFailed:
        name, value, unit = largest_force(self._system, self._force)
        where = f" The largest unbalanced force is {value:.3g} {unit} at {name}." if name else ""
        return StaticsFailed(
            f"{reason}.{where}", load=self._load_factor, residual=abs(value), coordinate=name
        )
