"""Equilibrium of a world at rest: Newton's method, made to reach it from afar.

Every iteration takes a step of `EquilibriumSystem` and shares it out:

1. A body whose matrix K − ∂(J_bᵀλ_b)/∂q + σM is not positive definite on its rows gets a larger σ.      (1)
2. A step in which any point of a shape would move farther than the reach is taken anew with a larger σ,
   and shortened if that does not help; the reach grows with steps after which the unbalanced force is what
   the linear model said, and shrinks with those after which it is not. Without contacts a step is first
   taken whole, as long as each one that goes beyond the reach comes nearer to balance.                   (2)
3. Line search on the work rate of the unbalanced force, g(s) = F(q(s))·δ: a share s is taken if
   g(s) ≥ −0.9·g(0), else it is shortened by the secant; no energy is needed, so follower forces may act.
   It is halved where rows would come apart, too.                                                        (3)
   A stiff structure that moves far (a rod that bends hardly stretches) is slow on this path: where K is
   positive definite at the start, steps are first taken without it, and only if they do not lead on with it.
4. After a full step σ falls with the unbalanced force, to a tenth at least: Newton's convergence at the end. (4)

Loads are taken at once, s = 1, or in equal steps of the load factor, each from the equilibrium before; an
increment that fails is halved. With Newton on K made definite the flow is downhill, so a stable equilibrium
is found where there is one; from an exact unstable one it does not leave, and the answer says so.

Sources: Crisfield (1991), "Non-linear finite element analysis of solids and structures", vol. 1, ch. 9, for
(3); Kelley and Keyes (1998) for (4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.data.status import Status
from corekit.errors import StaticsFailed
from corekit_statics.equilibrium import Equilibrium, SearchOptions
from corekit_statics.equilibrium_constraints import guess_forces
from corekit_statics.equilibrium_diagnostics import non_finite, runs_away, singular, worst_of
from corekit_statics.equilibrium_scales import by_unit, largest_term, size_of_world
from corekit_statics.equilibrium_system import EquilibriumSystem
from corekit_statics.stability import stability_of

__all__ = ["find_equilibrium"]

_LEAST_INCREMENT = 1.0 / 256.0
_PATIENCE = 12
"""Steps without line search that may pass without gain before the search begins anew with it."""
_TURN = 0.5
"""How far a body near contacts may turn in a step [rad]."""
_STUCK = 1e-7
"""Share of the largest force term at which a search that gains no more is taken as done, and says so."""
_CUTS = 6
"""Shares tried of one step before σ is raised instead."""
_LEAP = 4.0
"""Times the bodies' size that one step may go beyond the reach where nothing can be touched."""
_AWAY = 1000.0
"""Times the bodies' size that a search may travel before it is said to lead nowhere."""
_ROWS_HELD, _GAPS_CLOSED = 1e-9, 1e-6
"""Errors of rows, and of gaps that a contact solver closes to its own tolerance, as shares of the bodies' size."""


def find_equilibrium(
    system: EquilibriumSystem,
    start: State,
    options: SearchOptions | None = None,
    told: Callable[[Equilibrium], object] | None = None,
) -> Equilibrium:
    """The equilibrium at full load, reached from a state.

    Args:
        system: the world at its time T; its `models_without_gravity` twins let gravity grow with the load.
        start: where to begin; not changed, velocities do not count.
        options: how to look.
        told: called with the equilibrium of every load step.
    Raises:
        StaticsFailed: none was found; says why and what to try.
    """
    options = options or SearchOptions()
    search = _Search(system, start, options)
    found: Equilibrium | None = None
    load, increment = 0.0, 1.0 / options.load_steps
    last_good = start
    while load < 1.0:
        target = min(1.0, load + increment)
        if 1.0 - target < 1e-9:
            target = 1.0
        try:
            found = search.at(last_good, target)
        except StaticsFailed as error:
            increment *= 0.5
            if increment < _LEAST_INCREMENT or search.hopeless:
                if load > 0.0:
                    error.add_note(f"Up to the load factor {load:.4g} an equilibrium was found.")
                raise
            search.restore()
            continue
        search.keep()
        load, last_good = target, found.state
        if increment < 1.0 / options.load_steps:
            smaller = f"the load had to grow in steps of {increment:.3g}"
            found = evolve(found, note=f"{found.note}; {smaller}" if found.note else smaller)
        found = evolve(found, iterations=search.taken)
        on_grid = abs(load * options.load_steps - round(load * options.load_steps)) < 1e-6
        if told is not None and on_grid:
            told(found)
            search.taken = 0
    assert found is not None
    return found


class _Search:
    """The loop at one load factor, with what it learned at the last one.

    Attributes:
        hopeless: whether smaller loads would not help: nothing holds a body.
        taken: steps so far, those of failed increments included.
    """

    def __init__(self, system: EquilibriumSystem, start: State, options: SearchOptions) -> None:
        self._system, self._options = system, options
        self._size = size_of_world(system, start)
        self._now, self._next = system.new_state(), system.new_state()
        self._step = np.zeros(system.velocities)
        self._reach = self._sight = 0.25 * self._size
        self._scale = self._travelled = 0.0
        self._load, self._bold, self._leaping = 1.0, True, False
        self.hopeless, self.taken = False, 0
        self._kept = system.memory()

    def keep(self) -> None:
        """Remember the forces of an equilibrium, to go on from."""
        self._kept = self._system.memory()

    def restore(self) -> None:
        """Go back to the forces of the last equilibrium."""
        self._system.remember(self._kept)

    def at(self, start: State, load: float) -> Equilibrium:
        """The equilibrium at a load factor, from a state."""
        system, options = self._system, self._options
        self._load, self.hopeless = load, False
        entry = system.memory()
        shifts = self._begin(start)
        self._bold, self._leaping = True, system.pipeline is None
        self._scale = largest_term(system, self._now)
        slow, best = 0, math.inf
        force = np.zeros(system.velocities)
        for iteration in range(options.max_iterations + 1):
            force = np.where(system.free, system.residual(), 0.0)
            worst = float(np.max(np.abs(force), initial=0.0))
            if not math.isfinite(worst):
                raise self._failed(non_finite(system, force), force)
            self._scale = max(self._scale, *(float(np.max(np.abs(p.rhs), initial=0.0)) for p in system.parts))
            held = self._is_held()
            if held and worst <= options.tolerance * self._scale + 1e-12:
                return self._answer(iteration, force, "")
            slow = slow + 1 if worst > 0.5 * best else 0
            best = min(best, worst)
            if held and slow > 6 and worst <= _STUCK * self._scale:
                return self._answer(
                    iteration, force, "as far as rounding and the contact solver's tolerance let it"
                )
            if self._bold and slow > _PATIENCE:
                system.remember(entry)
                shifts, self._bold, slow, best = self._begin(start), False, 0, math.inf
                self._leaping = False
                force = np.where(system.free, system.residual(), 0.0)
            if iteration < options.max_iterations:
                self._take_step(shifts, force)
                self.taken += 1
        raise self._failed(
            f"no equilibrium within {options.max_iterations} iterations at load factor {load:g}. Try more load steps "
            "(--load-steps 20), or follow the inputs from time 0 (--sweep 20), or begin nearer to it: another "
            "[bodies.initial], or run it with damping",
            force,
        )

    def _begin(self, start: State) -> list[float]:
        """Stand at a state, with no shift; returns the shifts."""
        self._now.q[:], self._now.aux[:] = start.q, start.aux
        self._now.v.fill(0.0)
        self._reach = min(self._reach, 0.25 * self._size)
        self._sight, self._travelled = self._reach, 0.0
        self._system.look(self._now, self._load, self._margin)
        guessed = [guess_forces(part) for part in self._system.parts]
        if any(guessed):
            self._system.look(self._now, self._load, self._margin)
        return [0.0] * len(self._system.parts)

    @property
    def _margin(self) -> float:
        """Gap up to which contacts are seen: no step may reach beyond."""
        return (1.0 if len(self._system.bodies) == 1 else 2.0) * self._sight

    def _is_held(self) -> bool:
        system = self._system
        rows = max(system.row_error(), system.slip_error(), system.unreached())
        return rows <= _ROWS_HELD * self._size and system.gap_error() <= _GAPS_CLOSED * self._size

    # — one iteration —

    def _take_step(self, shifts: list[float], force: Array) -> None:
        """Move `_now` by one step; σ of every body is raised or lowered in `shifts`."""
        system, step = self._system, self._step
        trust = 4
        kept = system.memory()
        for _ in range(60):
            with np.errstate(all="ignore"):
                info, body = system.solve(shifts, step)
            if info.status is Status.SINGULAR and body < 0:
                self._raise(shifts, force, range(len(shifts)), 10.0)
                continue
            if info.status is Status.SINGULAR:
                if shifts[body] > 1e30:
                    raise self._failed(singular(system.bodies[body]), force)
                # without stiffness to guide it, or uphill, every step is to be watched
                self._bold &= self._travelled > 0.0
                self._leaping = False
                self._raise(shifts, force, (body,), 4.0)
                continue
            if not np.isfinite(step).all():
                if max(shifts) > 1e30 or not np.isfinite(force).all():
                    raise self._failed("the step to balance is not finite, whatever holds it back", force)
                # nothing holds some motion, and rounding hid it from the factorisation
                self._raise(shifts, force, range(len(shifts)), 10.0)
                continue
            if not info.status.solved and trust > 0:
                # contacts contradict each other more the farther a step goes
                trust -= 1
                system.remember(kept)
                self._raise(shifts, force, range(len(shifts)), 10.0)
                continue
            each, turned = system.moved(self._now, step, self._next)
            if system.sees_contacts:
                # contact rows are those of one pose: a body must not turn far on them
                each = np.maximum(each, turned / _TURN * self._reach)
            moved = float(np.max(each))
            if self._leaping and self._reach < moved < _LEAP * self._size and self._leads_on(force):
                self._accept(shifts, 1.0, moved, force)
                return
            if moved > self._reach and trust > 0:
                # against inertia alone a step is as short as σ is large
                trust -= 1
                system.remember(kept)
                which = tuple(int(b) for b in np.flatnonzero(each > self._reach))
                self._raise(shifts, force, which, min(1.5 * moved / self._reach, 100.0))
                continue
            if system.pipeline is not None and self._sight < min(moved, self._reach):
                # contacts were looked for nearer than this goes
                self._sight = self._reach
                system.remember(kept)
                system.look(self._now, self._load, self._margin)
                kept = system.memory()
                continue
            share = self._share(min(1.0, self._reach / moved) if moved > 0 else 1.0)
            if share > 0.0:
                self._accept(shifts, share, moved, force)
                return
            system.remember(kept)
            system.look(self._now, self._load, self._margin)
            self._raise(shifts, force, range(len(shifts)), 10.0)
        raise self._failed(
            "no step brings it nearer to balance. Try more load steps (--load-steps 20)", force
        )

    def _leads_on(self, force: Array) -> bool:
        """Whether the whole step comes nearer to balance; then `_next` stands there, else no other is asked again."""
        system, entry = self._system, self._system.memory()
        error, slipped = system.row_error(), system.slip_error()
        system.move(self._now, self._step, 1.0, self._next)
        system.look(self._next, self._load, self._margin)
        left = float(np.max(np.abs(np.where(system.free, system.residual(), 0.0)), initial=0.0))
        self._leaping = left < float(np.max(np.abs(force), initial=0.0)) and not self._breaks(
            error, slipped, 1.0
        )
        if not self._leaping:
            system.remember(entry)
            system.look(self._now, self._load, self._margin)
        return self._leaping

    def _breaks(self, error: float, slipped: float, share: float) -> bool:
        """Whether rows came apart in a share of the step, from what their errors were."""
        system, near = self._system, 0.1 * self._size
        if system.row_error() > 2.0 * error + near:
            return True
        return system.slip_error(self._now, share * self._step) > 2.0 * slipped + near

    def _raise(self, shifts: list[float], force: Array, which: Sequence[int], factor: float) -> None:
        """A larger σ for some bodies, at least one that bounds the step downhill by many times the reach."""
        least = 1e-4 * self._system.acceleration(force) / self._reach or 1e-6
        for b in which:
            shifts[b] = max(factor * shifts[b], least)

    def _share(self, share: float) -> float:
        """The share of the step to take by (3), `_next` moved and looked at; 0 if none is found."""
        system, step = self._system, self._step
        free_step = np.where(system.free, step, 0.0)
        start_rate = error = slipped = 0.0
        if not self._bold:
            start_rate = float(free_step @ system.residual())
            error, slipped = system.row_error(), system.slip_error()
        for _ in range(_CUTS):
            system.move(self._now, step, share, self._next)
            if np.isfinite(self._next.q).all():
                system.look(self._next, self._load, self._margin)
                rate = float(free_step @ system.residual())
                if self._bold and math.isfinite(rate):
                    return share
                overshoots = start_rate > 0 and rate < -0.9 * start_rate
                if math.isfinite(rate) and not overshoots and not self._breaks(error, slipped, share):
                    return share
                secant = start_rate / (start_rate - rate) if overshoots else 0.5
                share *= min(max(secant, 0.1), 0.6) if math.isfinite(rate) else 0.25
            else:
                share *= 0.25
            system.look(self._now, self._load, self._margin)
        return 0.0

    def _accept(self, shifts: list[float], share: float, moved: float, force: Array) -> None:
        system = self._system
        system.accept(self._now, self._step, share, self._next)
        self._now, self._next = self._next, self._now
        surprise = 0.0 if self._bold else self._surprise(shifts, share, force)
        if surprise > 1.0:
            self._reach = max(0.5 * min(self._reach, share * moved), 1e-4 * self._size)
            shifts[:] = [4.0 * shift for shift in shifts]
        elif share == 1.0 and any(shifts):
            left = float(np.max(np.abs(np.where(system.free, system.residual(), 0.0)), initial=0.0))
            gain = left / max(float(np.max(np.abs(force), initial=0.0)), 1e-300)
            shifts[:] = [min(0.1, gain) * shift if shift > 1e-8 else 0.0 for shift in shifts]
        self._sight = min(self._reach, max(4.0 * share * moved, 0.01 * self._size))
        self._travelled += share * moved
        if self._travelled > _AWAY * self._size:
            self.hopeless = True
            raise self._failed(runs_away(system, force), force)
        if surprise < 0.5 and share * moved > 0.25 * self._reach:
            self._reach *= 2.0

    def _surprise(self, shifts: Sequence[float], share: float, force: Array) -> float:
        """How far the unbalanced force after a step is from what (4) of `rest_system` says, as a share of it before.

        A share s of the step leaves (1 − s)·F + s·σ·M·δ.
        """
        system = self._system
        expected = (1.0 - share) * force
        for part, where, shift in zip(system.parts, system.slices, shifts, strict=True):
            if shift:
                carried = np.zeros(part.body.nv)
                part.mass.multiply(self._step[where], carried)
                expected[where] += share * shift * carried
        wrong = np.where(system.free, system.residual() - expected, 0.0)
        before = max(float(np.max(np.abs(force), initial=0.0)), float(np.max(np.abs(expected), initial=0.0)))
        return float(np.max(np.abs(wrong), initial=0.0)) / max(before, 1e-9 * self._scale, 1e-300)

    # — answers —

    def _answer(self, iterations: int, force: Array, note: str) -> Equilibrium:
        system, now = self._system, self._now
        energy = sum(
            body.model.energy(own)[1] if "energy" in body.abilities else math.nan
            for body, own in zip(system.bodies, now.parts, strict=True)
        )
        if system.forces is not None:
            energy += float(np.sum(system.forces.terms.energy))
            if note == "" and len(system.forces.terms.energy):
                note = "a contact potential's friction is a drag: at rest it holds nothing"
        whole = system.residual()
        return Equilibrium(
            state=now.copy(),
            load=self._load,
            iterations=iterations,
            unbalanced=force,
            residual=by_unit(system, force),
            row_error=system.row_error(),
            gap_error=system.gap_error(),
            scale=self._scale,
            energy=energy,
            reactions=-whole[~system.free],
            row_forces=tuple(part.row_impulse.copy() for part in system.parts),
            contacts=system.record(),
            stability=stability_of(system),
            note=note,
        )

    def _failed(self, reason: str, force: Array) -> StaticsFailed:
        name, value, unit = worst_of(self._system, force)
        where = f" The largest unbalanced force is {value:.3g} {unit} at {name}." if name else ""
        return StaticsFailed(f"{reason}.{where}", load=self._load, residual=abs(value), coordinate=name)
