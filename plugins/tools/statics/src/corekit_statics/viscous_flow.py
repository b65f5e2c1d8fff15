"""The way to an equilibrium from anywhere: the motion of the world in a thick fluid, in steps that grow.

    M·q̇ = F(q)                                                                          (1)

loses energy wherever forces have one, and can rest nowhere but at an equilibrium. It has no inertia to overshoot with,
and needs no energy to judge a step by, so that follower forces may act. An implicit step of size 1/σ [s²] from q₀,

    F(q) = σ·M·d,   q = q₀ ⊕ d                                                          (2)

is for forces of an energy E a minimum of E(q) + ½·σ·dᵀ·M·d: E falls in every step, of any size, on which (2) is solved
near q₀ (the proximal point method). It is solved by Newton's method,

    (K + σ·M)·δ = F(q) − σ·M·d,   q ← q ⊕ δ,   d ← d + δ                                 (3)

to a tenth of σ·M·d. That is what one linear step towards balance lacks where a slender rod bends far: it moves along
the tangent, stretches the rod by ½·(δ/l)², and the spurious tension resists whatever comes next. In (3) the second
iterate removes the stretch again, at the same σ.

σ falls by 4 after two steps that (3) solves in few iterations, and rises by 4 where K + σ·M is not positive definite
at q₀, (3) does not converge, or a body moves farther than contacts were looked for. An iteration that leaves where it
is positive definite is halved. As σ vanishes (2) is balance, and (3) Newton's method. The first step adds accelerations
drawn at random, a thousandth of the largest there is: the world leaves a symmetry that it cannot keep, such as that of
a rod pressed along its axis.

Sources: Rockafellar (1976), "Monotone operators and the proximal point algorithm", SIAM J. Control Optim. 14;
Kelley and Keyes (1998), "Convergence analysis of pseudo-transient continuation", SIAM J. Numer. Anal. 35.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit_statics.equilibrium_diagnostics import largest_term
from corekit_statics.equilibrium_system import EquilibriumSystem

__all__ = ["ViscousFlow"]

_MOST_INNER = 12
"""Newton iterations of one step."""
_FEW_INNER = 6
"""Newton iterations of a step that is easy enough to make the next one larger."""
_MOST_CUTS = 3
"""Times that an iteration is halved."""
_ACCURACY = 0.1
"""Error of (2), relative to σ·M·d."""
_FIRST_MOVE = 0.02
"""Length of the first step relative to the size of the bodies."""
_MAX_MOVE = 0.25
"""Largest length of a step, relative to the size of the bodies."""
_MAX_TURN = 0.5
"""Largest rotation of a body near contacts in one iteration [rad]."""
_BALANCED = 1e-6
"""Force at which the flow ends, relative to the largest force term there."""
_IMPERFECTION = 1e-3
"""Random accelerations of the first step, relative to the largest one."""
_LARGEST_RISE = 1e8
"""σ, relative to that of any step before, at which the flow ends, as at an edge of no length: a singularity."""


@final
class ViscousFlow:
    """Moves a state along (1) until forces are all but balanced.

    Args:
        system: the world.
        size: of the bodies [m].

    Attributes:
        iterations: Newton iterations so far.
    """

    def __init__(self, system: EquilibriumSystem, size: float) -> None:
        self._system, self._radius = system, _MAX_MOVE * size
        self._first_move = _FIRST_MOVE * size
        self._state, self._next = system.new_state(), system.new_state()
        self._margin = (1.0 if len(system.bodies) == 1 else 2.0) * self._radius
        self._load_factor, self._force = 1.0, math.inf
        self.iterations = 0

    def follow(self, start: State, load_factor: float, max_iterations: int) -> State:
        """The state that the flow leads to: K is positive definite and |F| below 1e-6 of the largest force term.

        Or where it is when iterations end.

        Args:
            start: where it begins.
            load_factor: s.
            max_iterations: Newton iterations at most.
        """
        system, state = self._system, start.copy()
        self._load_factor = load_factor
        system.evaluate(state, load_factor, self._margin)
        acceleration = system.max_acceleration(system.out_of_balance_force())
        largest = 1e30
        shift = max(acceleration / self._first_move, 1e-12)
        random = np.random.default_rng(0).uniform(-1.0, 1.0, system.nv)
        ones = np.ones(len(system.bodies))
        push = _IMPERFECTION * acceleration * system.inertia_force(ones, np.where(system.free, random, 0.0))
        self.iterations, easy = 0, 0
        while self.iterations < max_iterations and shift < largest:
            forces = system.internal_state()
            needed = self._step(state, shift, push)
            if not needed:
                system.restore(forces)
                shift, easy = 4.0 * shift, 0
                continue
            state.copy_from(self._state)
            push.fill(0.0)
            largest = min(largest, _LARGEST_RISE * shift)
            # forces in a pressed shape may balance to this share, and yet drive it away
            if self._force <= _BALANCED * largest_term(system, state) and self._is_stiff():
                break
            easy = easy + 1 if needed <= _FEW_INNER else 0
            if easy > 1:
                shift *= 0.25
        return state

    def _is_stiff(self) -> bool:
        """Whether K is positive definite at the last evaluation."""
        info, _ = self._system.solve(np.zeros(len(self._system.bodies)), np.zeros(self._system.nv))
        return info.status.solved

    def _evaluate(self, state: State) -> float:
        """Evaluate forces at a state; the largest one."""
        self._system.evaluate(state, self._load_factor, self._margin)
        return self._balance()

    def _balance(self) -> float:
        return float(np.max(np.abs(self._system.out_of_balance_force()), initial=0.0))

    def _step(self, start: State, shift: float, push: Array) -> int:
        """Solve (2) from a state, with a further force (nv,), and leave its end in `_state`.

        Returns:
            The iterations it took; 0 if it was not solved.
        """
        system, state = self._system, self._state
        shifts = np.full(len(system.bodies), shift)
        moved, step, cuts = np.zeros(system.nv), np.zeros(system.nv), 0
        state.copy_from(start)
        if not math.isfinite(self._evaluate(state)):
            return 0
        system.add_force(push)
        last, new = state.copy(), np.zeros(system.nv)
        for count in range(1, _MOST_INNER + 1):
            self.iterations += 1
            with np.errstate(all="ignore"):
                info, _ = system.solve(shifts, step)
            if info.status.solved and np.isfinite(step).all():
                last.copy_from(state)
                new, cuts = step.copy(), 0
                by_body, turned = system.displacements(state, new, self._next)
                far = float(np.max(by_body))
                if far > self._radius or (system.contacts.count and float(np.max(turned)) > _MAX_TURN):
                    return 0
                moved += np.where(system.free, new, 0.0)
            elif count == 1 or cuts == _MOST_CUTS:
                return 0
            else:
                # beyond where K + σ·M is positive definite: the last iteration went too far
                cuts += 1
                new = 0.5 * new
                moved -= np.where(system.free, new, 0.0)
                state.copy_from(last)
            system.integrate(state, new, 1.0, self._next)
            system.accept(state, new, 1.0, self._next)
            state.copy_from(self._next)
            self._force = self._evaluate(state)
            if not math.isfinite(self._force):
                return 0
            drag = system.inertia_force(shifts, moved)
            system.add_force(push - drag)
            if self._balance() <= _ACCURACY * float(np.max(np.abs(drag), initial=0.0)):
                return count
        return 0
