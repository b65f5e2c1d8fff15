"""One step of the Bogacki–Shampine pair 3(2) for  q̇ = v,  v̇ = a(q, v, t),  with q integrated on its manifold.

    k₁ = a(q, v),   k₂ = a(q ⊕ ½τ·v₁),   k₃ = a(q ⊕ ¾τ·v₂),   k₄ = a(q⁺)                          (1)
    v₁ = v,   v₂ = v + ½τ·k₁,   v₃ = v + ¾τ·k₂,   v⁺ = v₄ = v + τ·(2k₁ + 3k₂ + 4k₃)/9               (2)
    q⁺ = (q ⊕ ⅓τ·v₁) ⊕ ⅔τ·(−v₁ + 3v₂ + 4v₃)/6                                               (3)
    e = τ·(−5k₁ + 6k₂ + 8k₃ − 9k₄)/72,   and the same of the v_i for q                           (4)

q ⊕ τ·w is `integrate(q, w, τ)`. For additive coordinates (3) is q + τ·(2v₁ + 3v₂ + 4v₃)/9, the pair as
published. Rotations do not commute: one rotation by the mean rate would be of second order. For two
successive rotations with weights b = b¹ + b², the commutator is correct to third order if Σb¹·c = ½·Σb¹ − ⅙,
and b¹ = (⅓, 0, 0) satisfies this. k₄ is k₁ of the next step.

Source: Bogacki and Shampine (1989), "A 3(2) pair of Runge–Kutta formulas", Appl. Math. Lett. 2. For (3):
Owren (2006), "Order conditions for commutator-free Lie group methods", J. Phys. A 39.
"""

from __future__ import annotations

from typing import final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.integrator import System

__all__ = ["BogackiShampine"]


@final
class BogackiShampine:
    """Buffers and stages of one step of (1)–(4).

    Args:
        system: provides states, ⊕ and a.

    Attributes:
        first: k₁, shape (nv,) [m/s² or rad/s²]; written by `begin`, or k₄ of the last step after `accept`.
        velocity_error, displacement_error: e of v, and e of q as a velocity times τ, shape (nv,).
    """

    def __init__(self, system: System) -> None:
        n = system.nv
        self.first, self._second, self._third, self._fourth = (np.zeros(n) for _ in range(4))
        self.velocity_error, self.displacement_error = np.zeros(n), np.zeros(n)
        self._mean = np.zeros(n)
        self._stage2, self._stage3, self._between = (system.new_state() for _ in range(3))

    def begin(self, system: System, start: State) -> bool:
        """Compute k₁ at the start; return False if the mass matrix is singular."""
        return system.smooth.compute_acceleration(start, self.first)

    def step(self, system: System, start: State, tau: float, out: State, frozen: Array | None) -> bool:
        """Step from `start` over τ [s] into `out`; return False if the mass matrix is singular at a stage.

        `frozen` is v₀ of frozen damping, see `SmoothDynamics.compute_acceleration`.
        """
        k1, k2, k3, k4, mean = self.first, self._second, self._third, self._fourth, self._mean
        two, three, between = self._stage2, self._stage3, self._between
        system.integrate(start, start.v, 0.5 * tau, start, two)
        two.v[:] = start.v + 0.5 * tau * k1
        if not system.smooth.compute_acceleration(two, k2, frozen):
            return False
        system.integrate(start, two.v, 0.75 * tau, start, three)
        three.v[:] = start.v + 0.75 * tau * k2
        if not system.smooth.compute_acceleration(three, k3, frozen):
            return False
        system.integrate(start, start.v, tau / 3.0, start, between)
        mean[:] = (3.0 * two.v + 4.0 * three.v - start.v) / 6.0
        system.integrate(between, mean, tau - tau / 3.0, between, out)
        out.time = start.time + tau
        out.v[:] = start.v + (tau / 9.0) * (2.0 * k1 + 3.0 * k2 + 4.0 * k3)
        if not system.smooth.compute_acceleration(out, k4, frozen):
            return False
        self.velocity_error[:] = (tau / 72.0) * (6.0 * k2 + 8.0 * k3 - 5.0 * k1 - 9.0 * k4)
        self.displacement_error[:] = (tau / 72.0) * (
            6.0 * two.v + 8.0 * three.v - 5.0 * start.v - 9.0 * out.v
        )
        return True

    def accept(self) -> None:
        """Accept the step: k₄ becomes k₁."""
        self.first, self._fourth = self._fourth, self.first
