"""The elimination of joints, cluster by cluster: a cluster is the bodies that joints hold to each other.

A is block diagonal over bodies. With G₀ its inverse without joints, Δ = G₀·(r + Jᵀ·λ) and J·Δ = r_j give

    S·λ = r_j − J·G₀·r,     S = J·G₀·Jᵀ,     G = G₀ − G₀·Jᵀ·S⁻¹·J·G₀                                    (1)

S is block diagonal over clusters: bodies that no chain of joints connects know nothing of each other. So each cluster
has a Schur complement of its own, and contacts depend on each other through clusters as they do through free bodies.
Where a loop of joints holds something twice S is singular. Then the pseudo-inverse of D·S·D stands for its inverse,
D² = 1/diag(S), with as many singular values as J has independent rows: what holds it shares the load.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import final

import numpy as np
from scipy.linalg.lapack import dgetrf, dgetrs
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from corekit.data.arrays import Array, IntArray
from corekit.engine.joints import JointRows
from corekit.engine.step.clusters import Cluster
from corekit.roles.joint import BodyFrame

__all__ = ["JointElimination", "find_clusters"]

_REPEATED = 1e-9
"""Largest singular value of what repeats, relative: of a loop that no longer does, by 3e-5 of its rows, it is more."""
_WHOLE = slice(None)


@final
class JointElimination:
    """Factorises S of some joints and applies (1), with J as it was then.

    Args:
        rows: of all joints. chosen: the joints that are meant, in their order.
        velocities: those of the world that these joints move, ascending, shape (n,).
    """

    def __init__(self, rows: JointRows, chosen: Sequence[int], velocities: IntArray) -> None:
        self._rows, self._joints = rows, tuple(chosen)
        own = np.concatenate([np.arange(rows.rows[i].start, rows.rows[i].stop) for i in chosen])
        is_all = len(own) == rows.count and len(velocities) == rows.jacobian.shape[1]
        # of one cluster that is the world nothing is gathered
        self._own: IntArray | slice = _WHOLE if is_all else own
        self.velocities: IntArray | slice = _WHOLE if is_all else velocities
        self._jacobian = self._current().copy()
        self._response = np.zeros(self._jacobian.T.shape, order="F")
        self._factor, self._pivots = np.eye(len(own)), np.zeros(len(own), dtype=np.int32)
        self._is_loop = False

    def _current(self) -> Array:
        """J of these joints as their rows are."""
        return self._rows.jacobian[self._own][:, self.velocities]

    def refactor(self, apply_inverse: Callable[[Array], None]) -> bool:
        """Factorise S of the rows as they are; False where joints contradict or repeat each other.

        Args:
            apply_inverse: overwrites a block (n, R), Fortran order, by G₀·block.
        """
        self._jacobian[:] = self._current()
        self._response[:] = self._jacobian.T
        apply_inverse(self._response)
        complement = self._jacobian @ self._response
        if not np.isfinite(complement).all():
            return False
        rank = sum(self._rows.independent[i] for i in self._joints)
        self._is_loop = rank < len(complement)
        if self._is_loop:
            scale = 1.0 / np.sqrt(np.maximum(np.abs(complement.diagonal()), np.finfo(float).tiny))
            left, size, right = np.linalg.svd(scale[:, None] * complement * scale)
            inverse = (right[:rank].T / size[:rank]) @ left[:, :rank].T
            self._factor = scale[:, None] * inverse * scale
            return bool(size[rank] <= _REPEATED * size[0])
        self._factor, self._pivots, info = dgetrf(complement)
        return bool(info == 0)

    def _solve(self, rhs: Array) -> Array:
        if self._is_loop:
            return np.asarray(self._factor @ rhs)
        return np.asarray(dgetrs(self._factor, self._pivots, rhs)[0])

    def add_reaction(self, free: Array, out: Array) -> None:
        """Write λ to the rows and add Jᵀ·λ to `out` (nv,), for Δ = `free` (nv,) without joints."""
        impulse = self._solve(self._rows.target[self._own] - self._jacobian @ free[self.velocities])
        self._rows.impulse[self._own] = impulse
        out[self.velocities] += self._jacobian.T @ impulse

    def project(self, block: Array) -> None:
        """Overwrite G₀·block by G·block, shape (n,) or (n, R)."""
        block -= self._response @ self._solve(self._jacobian @ block)

    def project_world(self, block: Array) -> None:
        """The same of a block of all velocities, shape (nv,) or (nv, R)."""
        if isinstance(self.velocities, slice):
            self.project(block)
        else:
            own = block[self.velocities]
            self.project(own)
            block[self.velocities] = own

    def add_unit_responses(self, out: Array) -> None:
        """Add G₀·Jᵀ·S⁻¹·J to `out` (nv, nv): Δ for r_j = J·x by the unit vectors x."""
        own = self._response @ self._solve(self._jacobian)
        if isinstance(self.velocities, slice):
            out += own
        else:
            out[np.ix_(self.velocities, self.velocities)] += own


def find_clusters(slices: Sequence[slice], joints: JointRows | None) -> list[Cluster]:
    """Every cluster of a world by its first body, those of single bodies too.

    Args:
        slices: where the velocities of each body stand. joints: rows between bodies, or None.
    """
    if joints is None:
        return [Cluster([b], [where], None) for b, where in enumerate(slices)]
    first = [joint.first.body.index for joint in joints.joints]
    pairs = [
        (one, joint.second.body.index if isinstance(joint.second, BodyFrame) else one)
        for one, joint in zip(first, joints.joints, strict=True)
    ]
    one, other = np.array(pairs, dtype=np.int64).T
    graph = coo_array((np.ones(len(one)), (one, other)), shape=(len(slices), len(slices)))
    _, label = connected_components(graph, directed=False)
    clusters = []
    for each in dict.fromkeys(label.tolist()):
        bodies = np.flatnonzero(label == each).tolist()
        own = [slices[b] for b in bodies]
        chosen = [i for i, b in enumerate(first) if label[b] == each]
        cluster = Cluster(bodies, own, None)
        if chosen:
            cluster.elimination = JointElimination(joints, chosen, cluster.velocities)
        clusters.append(cluster)
    return clusters
