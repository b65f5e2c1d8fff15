"""What a step with impacts has beside its solution: that at position level, and what moved bodies apart at its end.

See `corekit.engine.impact`, which writes both, and `corekit_gradients.adjoint`, which differentiates them.
"""

from __future__ import annotations

from typing import NamedTuple

from corekit.data.arrays import Array

__all__ = ["Placing", "Separation"]


class Placing(NamedTuple):
    """The solution at position level, which decides where bodies are, of a step whose velocities an impact replaced.

    Args:
        velocity: v⁺, shape (nv,).
        impulse: λ of contacts and bounded rows [N·s], shape (m·width + p,).
        of_constraints: λ_b of all rows of bodies and joints [N·s or N·m·s].
        bias: of the contacts, shape (m, width) [m/s].
    """

    velocity: Array
    impulse: Array
    of_constraints: Array
    bias: Array


class Separation(NamedTuple):
    """What moves bodies apart: δ/h, (nv,) [m/s or rad/s], and ν/h of contacts and bounded rows, (m·width + p,)."""

    rate: Array
    impulse: Array
