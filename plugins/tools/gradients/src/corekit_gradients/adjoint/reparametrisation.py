"""The change to equivalent coordinates after a step, differentiated.

    (q′, v′) = reparametrise(q, v),      (a, b) = Gᵀ·(a′, b′),   G = ∂(δ′, v′)/∂(δ, v)                        (1)

G is of central differences, body by body, where a step changed coordinates; else it is the identity. Auxiliary memory
that changes too, as the reference frames of a rod do, is taken as it is: a motion that depends on it beyond q and v has
a derivative which misses that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit_gradients.adjoint.charts import Charts

if TYPE_CHECKING:
    from corekit.engine.world.world_terms import WorldTerms

__all__ = ["Reparametrisation"]

_STEP: Final = 2.0**-17


class Reparametrisation:
    """(1) of one step.

    Args:
        world, charts: of its states.
        before: where the step ended, with v⁺.
        after: the same in other coordinates, or in the same ones.

    Attributes:
        bodies: those whose coordinates changed.
    """

    def __init__(self, world: WorldTerms, charts: Charts, before: State, after: State) -> None:
        self._blocks: list[tuple[slice, Array]] = []
        self.bodies: list[str] = []
        for terms, where, one, other in zip(
            world.bodies, world.slices, before.body_states, after.body_states, strict=True
        ):
            if terms.body.abilities.reparametrisation is None:
                continue
            q, v, aux = (
                np.abs(a - b).max(initial=0.0)
                for a, b in ((one.q, other.q), (one.v, other.v), (one.aux, other.aux))
            )
            if max(q, v, aux) <= 1e-9:
                continue
            self.bodies.append(terms.body.name)
            nv = terms.body.nv
            moved, whole = before.copy(), np.zeros(world.nv)
            own, ends = moved.body_states[terms.body.index], []
            matrix = np.zeros((2 * nv, 2 * nv))
            for j in range(2 * nv):
                ends.clear()
                for sign in (1.0, -1.0):
                    whole[:] = 0.0
                    if j < nv:
                        whole[where][j] = sign * _STEP
                    charts.displace(before, whole, moved)
                    if j >= nv:
                        own.v[j - nv] += sign * _STEP
                    terms.reparametrise(own)
                    ends.append((moved.q.copy(), own.v.copy()))
                (q_one, v_one), (q_other, v_other) = ends
                matrix[:nv, j] = charts.difference(after, q_one - q_other)[where] / (2.0 * _STEP)
                matrix[nv:, j] = (v_one - v_other) / (2.0 * _STEP)
            self._blocks.append((where, matrix))

    def pull(self, place: Array, velocity: Array) -> tuple[Array, Array]:
        """Covectors before the change for those after it, all of shape (nv,)."""
        a, b = place.copy(), velocity.copy()
        for where, matrix in self._blocks:
            both = matrix.T @ np.concatenate([place[where], velocity[where]])
            a[where], b[where] = np.split(both, 2)
        return a, b

    def push(self, place: Array, velocity: Array) -> tuple[Array, Array]:
        """Changes after it for those before it, of shape (nv,) or (nv, k)."""
        a, b = place.copy(), velocity.copy()
        for where, matrix in self._blocks:
            both = matrix @ np.concatenate([place[where], velocity[where]])
            a[where], b[where] = np.split(both, 2)
        return a, b
