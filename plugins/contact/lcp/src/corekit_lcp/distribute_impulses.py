"""Distribution of loads over all touching contacts, so that the force of each contact can be read.

Rank selection and pivoting return a vertex of the solution set: of equivalent contacts, few carry the load. The motion
is the same for every λ′ with W·λ′ = W·λ. Of those that also satisfy the contact laws at the velocities w of the
solution, this module computes the one with the least normal impulses. With w given the laws are linear,

    λ′_n ≥ 0 where w_n = 0,  else 0                                                        (1)
    β′_k ≥ 0 where d_k·w_t + γ = 0,  else 0                                                (2)
    μ·λ′_n − eᵀβ′ = 0 where γ > 0,  = σ ≥ 0 where γ = 0                                     (3)

and non-negative least squares solves them: minimise ‖X·(λ′ − λ)‖² + s·‖(3)‖² + ε·‖λ′_n‖² over λ′_n, β′, σ ≥ 0,
with W = Xᵀ·X, s the size of W and ε a small fraction of it.

The next step must not start from λ′: other modes would be tried first there, and other impulses, with another motion,
might be its solution. `UndistributedLoads` remembers λ and puts it in the place of λ′ where that comes back as a guess.

Source: Lawson, Hanson (1974), "Solving Least Squares Problems", chapter 23.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from scipy.optimize import nnls

from corekit.data.arrays import Array, IntArray
from corekit.roles.component import InternalState, Stateful

__all__ = ["UndistributedLoads", "distribute_impulses"]

_KEPT = 4096
"""Contacts whose loads are remembered, at least."""

SMALL = 1e-11
"""ε relative to the trace of W, and so the relative effect of ε on w."""


def distribute_impulses(
    delassus: Array,
    friction: Array,
    directions: Array,
    impulse: Array,
    velocity: Array,
    tolerance: float,
    out: Array,
) -> bool:
    """Write the λ′ of (1)–(3); bounded rows keep their impulses. Return False if least squares fails.

    Args:
        delassus, friction, directions: W (R, R), μ (m,), D (m, width − 1, r).
        impulse, velocity: the solution λ [N·s] and its w [m/s], shape (R,).
        tolerance: speed below which a velocity is zero [m/s].
        out: λ′, shape (R,), written.
    """
    contacts, along, count = directions.shape
    width = along + 1
    columns: list[Array] = []
    cones: list[tuple[int, int, float]] = []  # row, column, factor of (3)
    normals: list[int] = []
    for c in range(contacts):
        row = c * width
        if velocity[row] > tolerance:
            continue
        unit = np.zeros(impulse.size)
        unit[row] = 1.0
        normals.append(len(columns))
        cones.append((c, len(columns), friction[c]))
        columns.append(unit)
        if not count:
            continue
        projected = directions[c].T @ velocity[row + 1 : row + width]
        slip = max(0.0, -float(projected.min()))
        for k in np.flatnonzero(projected + slip <= tolerance):
            shift = np.zeros(impulse.size)
            shift[row + 1 : row + width] = directions[c, :, k]
            cones.append((c, len(columns), -1.0))
            columns.append(shift)
        if slip <= tolerance:
            cones.append((c, len(columns), -1.0))
            columns.append(np.zeros(impulse.size))
    out[:] = impulse
    if not columns:
        return True
    values, vectors = np.linalg.eigh(delassus)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    size = float(np.trace(delassus)) + np.finfo(float).tiny
    bounded = impulse.copy()
    bounded[: contacts * width] = 0.0
    to_impulses = np.array(columns).T
    system = np.zeros((impulse.size + contacts + len(normals), len(columns)))
    target = np.zeros(len(system))
    system[: impulse.size] = root @ to_impulses
    target[: impulse.size] = root @ (impulse - bounded)
    for row, column, factor in cones if count else ():
        system[impulse.size + row, column] = np.sqrt(size) * factor
    for i, column in enumerate(normals):
        system[impulse.size + contacts + i, column] = np.sqrt(SMALL * size)
    try:
        solution, _ = nnls(system, target)
    except RuntimeError:  # its iteration limit
        return False
    out[:] = bounded + to_impulses @ solution
    return True


@final
class UndistributedLoads(Stateful):
    """Impulses of contacts before and after their distribution, by id."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Array, Array]] = {}

    def recall(self, ids: IntArray, width: int, guess: Array) -> None:
        """Replace impulses that a distribution wrote by those before it, in place.

        Args:
            ids: of the contacts, shape (m,). guess: λ, shape (R,), contacts first [N·s].
        """
        for c, each in enumerate(ids.tolist()):
            known = self._known.get(each)
            own = guess[c * width : (c + 1) * width]
            if known is not None and np.array_equal(known[1], own):
                own[:] = known[0]

    def store(self, ids: IntArray, width: int, before: Array, after: Array) -> None:
        """Remember λ and λ′ of contacts, shape (R,) [N·s]."""
        if len(self._known) > _KEPT + 2 * len(ids):
            self._known = dict(list(self._known.items())[-_KEPT // 2 :])
        for c, each in enumerate(ids.tolist()):
            own = slice(c * width, (c + 1) * width)
            self._known.pop(each, None)  # to the end
            self._known[each] = before[own].copy(), after[own].copy()

    def internal_state(self) -> InternalState:
        """All that is remembered, in order."""
        pairs = list(self._known.values())
        return {
            "id": np.array(list(self._known), dtype=np.int64),
            "before": np.array([before for before, _ in pairs], dtype=np.float64),
            "after": np.array([after for _, after in pairs], dtype=np.float64),
        }

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Restore what `internal_state` returned; empty: nothing is remembered."""
        self._known = {}
        if internal_state:
            ids = internal_state["id"].tolist()
            pairs = zip(internal_state["before"].copy(), internal_state["after"].copy(), strict=True)
            self._known = dict(zip(ids, pairs, strict=True))
