"""The covector of the tangents that a step keeps of the step before, for pyramids that stand.

With X = J·w in world axes for the momentum's part w of −y, U the relative velocity, ŷ = P_wᵀ·y_H, and τ the covector of
the tangents of this step,

    c = λ₁·X + λ₂·(X × n) + ŷ₁·U + ŷ₂·(U × n),    z = (1 − ttᵀ)(c + τ),    τ₋ = (1 − nnᵀ)·z/ℓ                    (1)

ℓ the length of (1 − nnᵀ)·t₋; nothing of contacts whose tangent began in this step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_gradients.adjoint.contact_slope_kernels import locate
from corekit_gradients.adjoint.solutions import Kind

if TYPE_CHECKING:
    from corekit_gradients.adjoint.frozen_step import FrozenStep

__all__ = ["known_tangents"]

_CONTINUES: Final = 0.5
"""Length of a tangent in the new tangent plane from which it is continued (`assign_tangents_and_friction`)."""


@compiled
def _add(index: IntArray, n: Array, t: Array, rows: Array, weight: Array, out: Array) -> None:
    """Add weight₁·X + weight₂·(X × n) of every contact, with X by its rows in the axes n, t, n × t."""
    for i in range(len(index)):
        c = index[i]
        for x in range(3):
            y, z = (x + 1) % 3, (x + 2) % 3
            # X × n = X_t·(t × n) + X_b·t, where b = n × t
            across = n[c, y] * t[c, z] - n[c, z] * t[c, y]
            whole = rows[i, 0] * n[c, x] + rows[i, 1] * t[c, x] + rows[i, 2] * across
            out[c, x] += weight[i, 1] * whole + weight[i, 2] * (rows[i, 2] * t[c, x] - rows[i, 1] * across)


@compiled
def _carry(at: IntArray, n: Array, t: Array, before: Array, total: Array, least: float, out: Array) -> None:
    """Write τ₋ of (1) for the tangents before, of which `at` says where they are, −1 for none."""
    for c in range(len(at)):
        if at[c] < 0:
            continue
        onto, along = 0.0, 0.0
        for x in range(3):
            onto += before[at[c], x] * n[c, x]
            along += total[c, x] * t[c, x]
        length = 0.0
        for x in range(3):
            length += (before[at[c], x] - onto * n[c, x]) ** 2
        length = math.sqrt(length)
        if length < least:
            continue
        normal = 0.0
        for x in range(3):
            normal += (total[c, x] - along * t[c, x]) * n[c, x]
        for x in range(3):
            out[at[c], x] = (total[c, x] - along * t[c, x] - normal * n[c, x]) / length


def known_tangents(frozen: FrozenStep, parts: Sequence[slice], y: Array) -> Array:
    """τ₋ of (1), shape (k, 3), of the tangents that a step knew.

    Args:
        frozen: the step. parts: where covectors of its solutions stand in y, and τ behind them. y: covector of F.
    """
    contacts, nv, found = frozen.record.contacts, len(frozen.record.velocity), frozen.contacts.found
    if contacts is None or found is None or not frozen.tracks_tangents:
        return np.zeros((0, 3))
    later = y[parts[-1].stop :].reshape(-1, 3)
    total = later.copy() if len(later) else np.zeros((len(contacts.id), 3))
    for solution, residual, part in zip(frozen.solutions, frozen.here.residuals, parts, strict=True):
        index, terms = solution.modes.index, residual.contacts
        if solution.kind is Kind.APART or not len(index):
            continue
        k, width = terms.impulse.shape
        of_rows = y[part][-k * width :].reshape(k, width)
        by_slip = np.matmul(of_rows[:, None], terms.by_velocity)[:, 0]
        velocity = frozen.arguments.final if solution.kind is Kind.VELOCITY else frozen.arguments.velocity
        slip = terms.rows @ velocity + solution.bias[index]
        for rows, weight in ((terms.rows @ -y[part][:nv], terms.impulse), (slip, by_slip)):
            _add(index, found.normal, found.tangent, rows, weight, total)
    before, at = contacts.known, np.empty(len(contacts.id), dtype=np.int64)
    locate(contacts.id, len(before.id), before.id, at)
    out = np.zeros((len(before.id), 3))
    _carry(at, found.normal, found.tangent, before.tangent, total, _CONTINUES, out)
    return out
