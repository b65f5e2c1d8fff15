"""Products with the second derivatives of places, by one difference: no columns.

The rows J of material points with a force that is held, of joints and of constraints of places are derivatives of
functions c of the place, so that the derivative of zᵀ·J(q)·x is one of J along x,

    ∂(zᵀ·J·x)/∂δ = d/dε J(q(ε·x))ᵀ·z + B(x)ᵀ·Jᵀ·z                                                          (1)

by Schwarz's theorem. B of `charts` is what displacements that do not commute, as turns are, add to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.linalg.vectors import max_abs

if TYPE_CHECKING:
    from corekit_gradients.adjoint.charts import Charts

__all__ = ["pull_rows"]

_STEP: Final = 2.0**-17


def pull_rows(
    charts: Charts,
    state: State,
    moved: State,
    spread: Callable[[State, Array], Array],
    terms: Iterable[tuple[Array, Array]],
    rows: Array | None = None,
) -> Array:
    """Σ ∂(zᵀ·J·x)/∂δ of (1), shape (nv,).

    Args:
        charts: of states. state: where. moved: scratch.
        spread: Jᵀ·z, shape (nv,), at a state for z. terms: z, and x, shape (nv,). rows: J, if it is known, (r, nv).
    """
    out = np.zeros(len(state.v))
    for z, x in terms:
        size = max_abs(x)
        if size == 0.0 or not z.any():
            continue
        step, ends = _STEP / size, []
        for sign in (1.0, -1.0):
            charts.displace(state, sign * step * x, moved)
            ends.append(spread(moved, z))
        out += (ends[0] - ends[1]) / (2.0 * step)
        if not all(charts.adds_up):
            out += charts.bracket_product(x, spread(state, z) if rows is None else z @ rows)
    return out
