"""Closed loops of the slow reference: the relative motion of two frames, nothing linearised.

    g_BA = g_B⁻¹·g_A,   e = Pᵀ·log(g_BA),   A·q̇ = Pᵀ·(ġ_BA·g_BA⁻¹)ᵛ                                      (1)

P spans the twists a loop joint does not allow. Ȧ·q̇ is the rate of the same series at q̈ = 0.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import logm, null_space

from .reference_series import adjoint, vee
from .reference_tree import Frame, Tree, shifted


class Loop:
    """A joint between frame A (behind link `first`) and frame B (behind link `second`, −1 is the ground).

    Args:
        first, second: links.
        at_first, at_second: fixed poses from their tips.
        allowed: twists of the joint, (6, k).
    """

    def __init__(self, first, second, at_first, at_second, allowed):
        self.first, self.second = first, second
        self.at_first, self.at_second = at_first, at_second
        self.forbidden = null_space(allowed.T) if allowed.size else np.eye(6)

    def frames(self, tree: Tree, tips: list[Frame]) -> tuple[Frame, Frame]:
        a = shifted(tips[self.first], self.at_first)
        b = shifted(tips[self.second] if self.second >= 0 else tree._ground(), self.at_second)
        return a, b

    def rows(self, tree: Tree, tips: list[Frame]):
        """e (m,), A (m, n) and Ȧ·q̇ (m,)."""
        a, b = self.frames(tree, tips)
        relative = b.motion.inverse() @ a.motion
        error = vee(np.real(logm(relative.at[0])))
        columns = adjoint(relative.at[0]) @ a.columns - b.columns
        _, rate = relative.spatial_twist()
        project = self.forbidden.T
        return project @ error, project @ columns, project @ rate


def constraints(tree, loops, q, v, t=0.0):
    """e, A and Ȧ·q̇ of all loops, stacked."""
    _, tips = tree.sweep(q, v, t)
    parts = [loop.rows(tree, tips) for loop in loops]
    return tuple(np.concatenate([part[k] for part in parts]) for k in range(3))


def acceleration(tree, loops, q, v, force, mass, settle=0.01, t=0.0):
    """q̈ and λ of the saddle system M·q̈ − Aᵀ·λ = f, A·q̈ = −Ȧ·q̇ − (2/T)·A·q̇ − e/T² (T may be inf)."""
    if not loops:
        return np.linalg.solve(mass, force), np.zeros(0)
    error, rows, drift = constraints(tree, loops, q, v, t)
    wanted = -drift - 2 / settle * rows @ v - error / settle**2
    m = len(error)
    saddle = np.block([[mass, -rows.T], [rows, np.zeros((m, m))]])
    answer = np.linalg.solve(saddle, np.concatenate((force, wanted)))
    return answer[: tree.size], answer[tree.size :]


def closed(tree, loops, q, tolerance=1e-14):
    """The nearest configuration that closes every loop, by Gauss–Newton steps."""
    for _ in range(50):
        error, rows, _ = constraints(tree, loops, q, 0 * q)
        if np.abs(error).max() < tolerance:
            break
        q = q - np.linalg.lstsq(rows, error, rcond=1e-12)[0]
    return q
