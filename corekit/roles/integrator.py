"""The integrator role: what advances a state by one step, what it may call of a world, and how steps land on stops."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Protocol

from corekit.data.arrays import Array
from corekit.data.instants import grid_rounding, same_instant
from corekit.data.state import State
from corekit.data.status import StepReport
from corekit.roles.component import Component
from corekit.roles.steps import SmoothDynamics, SplitStep, ThetaStep

__all__ = ["Integrator", "System", "next_step", "step_towards"]

_LONGER, _SAME = 2e-9, 1e-9
"""Of h: by how much breakpoints beside both ends make a step longer; and most that is taken for rounding."""


class System(Protocol):
    """The world as every integrator sees it, and the questions of its family: see `corekit.roles.steps`.

    An integrator of the coupled family calls `theta`; one of the split family calls `split` and `smooth`.
    """

    @property
    def theta(self) -> ThetaStep:
        """Steps that solve for the end velocity together with contact."""

    @property
    def split(self) -> SplitStep:
        """Steps that solve for impulses after the smooth dynamics."""

    @property
    def smooth(self) -> SmoothDynamics:
        """The motion without impulses, as a differential equation."""

    @property
    def nq(self) -> int:
        """Length of q."""

    @property
    def nv(self) -> int:
        """Length of v."""

    @property
    def velocity_scale(self) -> Array | None:
        """Surface speed per unit of each velocity, which weighs errors, shape (nv,); None: all are 1."""

    def new_state(self) -> State:
        """Allocate a state of the world."""

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        """Move every body with v̄ over h; write q, aux and time of `out`, with prescribed coordinates set to p.

        `previous` is an earlier result near the new one, or the start: angles are unwrapped towards it.
        """

    def error_bound(self, velocity: Array, tolerance: float, *, in_contact: bool = False) -> float:
        """Largest error of a surface speed of v⁺ = `velocity` that a relative tolerance allows [m/s].

        It is relative to the largest speed of the step that was begun, and at least what rounding of places leaves:
        see `corekit.engine.step.error_bound`. No unit counts. With `in_contact` what rounding of the gaps leaves counts
        too, which a contact near a clamp passes on to the far end: that takes a linear solve of every contact.
        """

    def unsettled_contact(self, change: Array) -> tuple[int, int] | None:
        """The two shapes of the current contact whose velocity a change of v⁺ alters most; None without contacts."""

    @property
    def factorisation_id(self) -> int | None:
        """Number of the current factorisation of A; it stays the same as long as increments use the same one.

        None if it failed or contains contacts. Then the place, and with constraints the `constraint_impulses` there,
        are not enough to make the factorisation again.
        """

    @property
    def constraint_impulses(self) -> Array:
        """λ_b of all constraints after the last solve or the accepted step, a copy [N·s; smooth dynamics: N].

        Setting them changes the λ_b with which the next linearisation evaluates ∂(J_bᵀλ_b)/∂q.
        """

    @constraint_impulses.setter
    def constraint_impulses(self, impulses: Array) -> None: ...


class Integrator(Component, ABC):
    """Advances a state by one step. Concrete integrators are final; options choose among the schemes of one formula."""

    @abstractmethod
    def step(self, system: System, state: State, t_stop: float, out: State) -> StepReport:
        """One step from `state` into `out` (q, v, aux, time), never past `t_stop` [s].

        `state` is not changed and `out` is a different buffer. A step that ends within rounding of
        `t_stop` sets the time to exactly `t_stop`. `accepted = False` leaves `out` without meaning.
        """


def next_step(step: float, time: float, t_stop: float) -> tuple[float, float]:
    """Return the size of the next step [s] and the time at its end, exactly `t_stop` where it lands there.

    A whole step keeps its exact size, whatever rounding is in the two times. One that begins or ends at a breakpoint
    beside a grid point (`corekit.simulation.breakpoints`) is as long as what is between the two.
    """
    left, rounding = t_stop - time, grid_rounding(time, step)
    if left > step * (1.0 + _LONGER) + rounding:
        return step, time + step
    is_whole = abs(left - step) <= max(rounding, min(same_instant(t_stop), _SAME * step))
    return (step if is_whole else left), t_stop


def step_towards(step: float, wanted: float, time: float, t_stop: float) -> tuple[float, float]:
    """Return the same for a wanted size of at most a step: a whole number of such steps makes the next step."""
    whole, t_end = next_step(step, time, t_stop)
    parts = max(1, math.ceil((whole - grid_rounding(time, step)) / wanted * (1.0 - 1e-9)))
    return (whole, t_end) if parts == 1 else (whole / parts, time + whole / parts)
