"""The smooth part of the world as a differential equation, for integrators that choose their own steps and stages.

    δ̇ = v,   v̇ = a(q, v, t):   M·a = f + Pᵀf_c + J_bᵀ·λ                                    (1)

with the rigid rows differentiated (index 1) and held by Baumgarte's terms, see `corekit.world.smooth`; δ is the
displacement along the world's own curves, q moves by `System.advance`.
"""

from __future__ import annotations

from typing import Protocol

from corekit.data.arrays import Array
from corekit.data.state import State

__all__ = ["SmoothMotion"]


class SmoothMotion(Protocol):
    """What such an integrator may ask. One step: `begin`, accelerations at any states up to its span, `end`."""

    def begin(self, start: State, step: float, span: float) -> None:
        """As `System.begin` for a step h, with states up to `span` [s] ahead of the start still to be asked for."""
        ...

    @property
    def may_be_pushed(self) -> bool:
        """Whether impulses may act at the end of the step that was begun: near contacts, bounded rows.

        Then damping is to be held in the smooth part and split off, so that what rests is carried by its weight.
        """
        ...

    @property
    def is_local(self) -> bool:
        """Whether (1) is known within the span of `begin` alone: a contact potential acts among the pairs it found."""
        ...

    def known_until(self, time: float, horizon: float) -> float:
        """The first kink of an input or an obstacle's path in (time, time + horizon] [s], or the end of that.

        `time` itself where an input is set from outside between steps: nothing is known of it.
        """
        ...

    def acceleration(self, state: State, out: Array, held: Array | None, settling: float) -> bool:
        """Write a of (1) at a state, whose prescribed velocities are set to ṗ(t) first; False if singular.

        Args:
            held: v₀, where damping stays at its start as in `System.acceleration`.
            settling: Baumgarte's time constant τ [s].
        """
        ...

    def jacobian(
        self, state: State, settling: float, damped: bool, by_displacement: Array, by_velocity: Array
    ) -> bool:
        """Write ∂a/∂δ and ∂a/∂v, both (nv, nv), by K, D, ∂(J_bᵀλ)/∂q and Baumgarte's terms; False if singular.

        What J_b, and M without the ability `balance`, add is left out: enough for Newton's method, where it costs some
        iterations.
        Without `damped` the models' D is held and does not count.
        """
        ...

    def end(self, state: State, held: Array | None, settling: float) -> None:
        """Set prescribed velocities at the end of the step, and take there what a record tells of the smooth part."""
        ...
