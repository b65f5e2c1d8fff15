"""Forces and stiffness of the bodies under a part of the load.

    f_s = s·f(q, 0, s·u) + (1 − s)·f_w(q, 0, s·u),     K_s = s·K + (1 − s)·K_w                (1)

The load factor s scales efforts, and gravity where the models without it give f_w and K_w: f is affine in gravity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from corekit.data.arrays import Array, BoolArray
from corekit.data.state import State
from corekit.linalg.matrices import Matrix
from corekit.roles.model import ChannelKind
from corekit.roles.world_terms import BodyTerms

__all__ = ["ScaledLoads"]


class _Weightless(NamedTuple):
    """A model without gravity, and its workspace."""

    model: Any
    mass: Matrix
    force: Array
    stiffness: Matrix

    @classmethod
    def for_model(cls, model: Any, velocities: int) -> _Weightless:
        """Allocate the workspace of a model."""
        return cls(model, model.new_mass_matrix(), np.zeros(velocities), model.new_stiffness_and_damping()[0])


@final
class ScaledLoads:
    """Evaluates (1) for the bodies of a world.

    Args:
        bodies: terms of the bodies.
        models_without_gravity: builds their models once more; called when a part of the load is first needed. Without
            it, or where it returns None, gravity always acts in full.

    Attributes:
        factor: s.
    """

    def __init__(
        self,
        bodies: Sequence[BodyTerms],
        models_without_gravity: Callable[[], Sequence[Any] | None] | None = None,
    ) -> None:
        self._bodies, self._build = tuple(bodies), models_without_gravity
        self._weightless: list[_Weightless] | None = None
        self._is_effort = [_is_effort(terms) for terms in bodies]
        self._is_rate = [_is_rate(terms) for terms in bodies]
        self.factor = 1.0

    def inputs(self, index: int, time: float) -> Array:
        """The inputs of a body at a time, efforts scaled, and rates of others 0 as nothing moves, shape (nu,)."""
        u = self._bodies[index].body.inputs.value_at(time)
        if self._is_rate[index].any():
            u = np.where(self._is_rate[index], 0.0, u)
        return u if self.factor == 1.0 else np.where(self._is_effort[index], self.factor * u, u)

    def without_efforts(self, index: int, inputs: Array) -> Array:
        """Inputs of a body whose efforts are zero, shape (nu,)."""
        return np.where(self._is_effort[index], 0.0, inputs)

    def evaluate(self, index: int, state: State, inputs: Array) -> None:
        """Write M, f_s and K_s of a body at its state into its terms, f_s as the right-hand side."""
        terms, s = self._bodies[index], self.factor
        stiffness, damping = terms.stiffness, terms.damping
        assert stiffness is not None
        assert damping is not None
        terms.body.model.compute_mass_and_force(state, inputs, terms.mass, terms.rhs)
        own = terms.body.abilities.force_derivatives
        assert own is not None
        own.compute_stiffness_and_damping(state, inputs, stiffness, damping)
        if s == 1.0:
            return
        if self._weightless is None:
            models = self._build() if self._build is not None else None
            pairs = zip(models, self._bodies, strict=True) if models is not None else ()
            self._weightless = [_Weightless.for_model(model, each.body.nv) for model, each in pairs]
        if self._weightless:
            other = self._weightless[index]
            other.model.compute_mass_and_force(state, inputs, other.mass, other.force)
            other.model.compute_stiffness_and_damping(state, inputs, other.stiffness, damping)
            terms.rhs *= s
            terms.rhs += (1.0 - s) * other.force
            stiffness.data *= s
            stiffness.data += (1.0 - s) * other.stiffness.data


def _is_effort(terms: BodyTerms) -> BoolArray:
    """Which inputs of a body are efforts, shape (nu,)."""
    channels = terms.body.description.inputs
    kinds = [channel.kind for channel in channels for _ in range(channel.size)]
    return np.array([kind is ChannelKind.EFFORT for kind in kinds], dtype=bool)


def _is_rate(terms: BodyTerms) -> BoolArray:
    """Which inputs of a body are rates of others, shape (nu,)."""
    channels = terms.body.description.inputs
    return np.array([bool(channel.rate_of) for channel in channels for _ in range(channel.size)], dtype=bool)
