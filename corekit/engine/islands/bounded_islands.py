"""Rows with force bounds among the islands of contacts: each belongs to one cluster, and so to one island at most.

With the rows B and J of bounded constraints and contacts on a cluster, G of the cluster and E the compliance,

    W_bb = B·G·Bᵀ + E,   W_bc = B·G·Jᵀ                                                              (1)

"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.engine.step.bounded_rows import BoundedRows
from corekit.engine.step.clusters import Cluster
from corekit.roles.contact_blocks import ReducedStepProblem

if TYPE_CHECKING:
    from corekit.engine.step.step_factorisation import StepFactorisation

__all__ = ["BoundedIslands", "TouchedCluster"]


class TouchedCluster(NamedTuple):
    """A cluster that contacts touch.

    Args:
        cluster: which. contacts: their numbers, rising. response: (G·Jᵀ)ᵀ of these, (contacts·width, n).
        moves: whether an impulse at a contact moves it.
    """

    cluster: Cluster
    contacts: IntArray
    response: Array
    moves: bool


class _OfCluster(NamedTuple):
    """Bounded rows of a cluster: their numbers, B and (G·Bᵀ)ᵀ, both (p, n), and where it stands among the touched."""

    rows: IntArray
    cluster: Cluster
    jacobian: Array
    response: Array
    touched: TouchedCluster | None


@final
class BoundedIslands:
    """Finds the islands of bounded rows and joins them to the problems of these.

    Args:
        bounded: the rows. factorisation: of A.
        touched: the clusters that contacts touch.
        label: island of every contact, −1 of those that nothing moves, shape (m,).
        width: rows per contact.
    """

    def __init__(
        self,
        bounded: BoundedRows,
        factorisation: StepFactorisation,
        touched: Sequence[TouchedCluster],
        label: IntArray,
        width: int,
    ) -> None:
        self._bounded, self._label, self._width = bounded, label, width
        of_cluster = {id(each.cluster): each for each in touched}
        owner = {b: cluster for cluster in factorisation.clusters for b in cluster.bodies}
        parts: dict[int, list[tuple[int, int, Array]]] = {}
        first = 0
        for b, block in zip(bounded.bodies, bounded.blocks, strict=True):
            parts.setdefault(id(owner[b]), []).append((b, first, block))
            first += len(block)
        self._islands: dict[int, list[_OfCluster]] = {}
        for own in parts.values():
            cluster = owner[own[0][0]]
            made = _rows_of_cluster(cluster, own, factorisation, of_cluster.get(id(cluster)))
            self._islands.setdefault(self._island_of(made.touched), []).append(made)

    def _island_of(self, touched: TouchedCluster | None) -> int:
        """The island of a cluster's contacts; −1 where it has none that moves it."""
        if touched is None or not touched.moves:
            return -1
        return int(self._label[touched.contacts].max(initial=-1))

    def rows_of(self, island: int) -> IntArray | None:
        """Numbers of the bounded rows of an island, −1: of none; None without any."""
        own = self._islands.get(island)
        return None if own is None else np.concatenate([each.rows for each in own])

    def join(
        self,
        problem: ReducedStepProblem | None,
        island: int,
        place: IntArray,
        step: float,
        velocity: Array,
        start_impulse: Array,
    ) -> ReducedStepProblem:
        """The problem of an island's contacts and bounded rows with a dense W.

        Args:
            problem: of its contacts, or None for the rows that belong to no island.
            place: where each contact stands in its island, shape (m,).
            step: h [s]. velocity: v_f, shape (nv,). start_impulse: of all bounded rows, shape (p,).
        """
        own, rows, width = self._islands[island], self.rows_of(island), self._width
        assert rows is not None
        count = 0 if problem is None else len(problem.free_velocity)
        size = count + len(rows)
        matrix, free = np.zeros((size, size)), np.empty(size)
        if problem is not None:
            matrix[:count, :count], free[:count] = problem.delassus(), problem.free_velocity
        at = count
        for each in own:
            here = slice(at, at + len(each.rows))
            matrix[here, here] = each.jacobian @ each.response.T
            free[here] = self._bounded.offset[each.rows] + each.jacobian @ velocity[each.cluster.velocities]
            if problem is not None and each.touched is not None:
                inside = np.flatnonzero(self._label[each.touched.contacts] == island)
                columns = (width * place[each.touched.contacts[inside]][:, None] + np.arange(width)).ravel()
                taken = (width * inside[:, None] + np.arange(width)).ravel()
                cross = each.jacobian @ each.touched.response[taken].T
                matrix[here, columns], matrix[columns, here] = cross, cross.T
            at = here.stop
        corner = np.arange(count, size)
        matrix[corner, corner] += self._bounded.compliance[rows]
        whole = ReducedStepProblem(
            width, step, free, matrix, bounded_count=len(rows), lower=self._bounded.lower[rows],
            upper=self._bounded.upper[rows], start_impulse=start_impulse[rows],
        )  # fmt: skip
        if problem is not None:
            whole.contact_count, whole.id, whole.gap = problem.contact_count, problem.id, problem.gap
            whole.friction, whole.friction_record = problem.friction, problem.friction_record
            whole.start_impulse = np.concatenate([problem.start_impulse, whole.start_impulse])
        return whole

    def add_response(self, impulse: Array, velocity: Array) -> None:
        """Add G·Bᵀ·λ of all bounded rows (p,) to the velocities of the world."""
        for own in self._islands.values():
            for each in own:
                velocity[each.cluster.velocities] += impulse[each.rows] @ each.response


def _rows_of_cluster(
    cluster: Cluster,
    parts: Sequence[tuple[int, int, Array]],
    factorisation: StepFactorisation,
    touched: TouchedCluster | None,
) -> _OfCluster:
    """The rows of a cluster from its bodies' blocks, each with its body and the number of its first row."""
    rows = np.concatenate([np.arange(first, first + len(block)) for _, first, block in parts])
    jacobian, at = np.zeros((len(rows), cluster.size)), 0
    for b, _, block in parts:
        begin = cluster.firsts[cluster.bodies.index(b)]
        jacobian[at : at + len(block), begin : begin + block.shape[1]] = block
        at += len(block)
    response = jacobian.copy()
    factorisation.solve_cluster_columns(cluster, response.T)
    return _OfCluster(rows, cluster, jacobian, response, touched)
