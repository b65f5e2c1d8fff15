"""The contact problem of a step with many contacts, by islands: contacts that no cluster connects are independent.

A cluster is a body, or bodies that joints hold to each other (`corekit.engine.step.clusters`), with velocities of its
own, G_k the inverse of its A with constraints and joints eliminated:

    W = Σ_k J_k·G_k·J_kᵀ                                                                     (1)

Each island is solved as a problem of its own, which is exact. W is kept by blocks (`corekit.roles.contact_blocks`); it
is assembled only where the solver needs it. Rows with bounds belong to one cluster, and so to the island of its
contacts; such an island has a dense W, and those of clusters without contact are one problem together.
"""

from __future__ import annotations

from typing import Final, final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.status import SOLVED, Residuals, SolveInfo
from corekit.engine.contact.contact_jacobian import BodyPoints
from corekit.engine.contact.contact_kernels import add_rows
from corekit.engine.contact_areas import MOST_POINTS
from corekit.engine.islands.bounded_islands import BoundedIslands, TouchedCluster
from corekit.engine.islands.island_kernels import (
    count_touches,
    label_islands,
    measure_mobility,
    number_contacts,
    order_contacts,
    place_touches,
)
from corekit.engine.step.bounded_rows import BoundedRows
from corekit.engine.step.clusters import Cluster
from corekit.engine.world.world_terms import WorldTerms
from corekit.roles.contact import ImpulseSolver
from corekit.roles.contact_blocks import ContactBlocks, ReducedStepProblem

__all__ = ["MANY_CONTACTS", "ContactIslands", "may_have_many_contacts"]

MANY_CONTACTS: Final = 16
"""Contacts from which islands are looked for: below, one dense W costs less than finding them."""

_OF_A_PAIR: Final = 4
"""Contacts of two flat shapes."""


def may_have_many_contacts(world: WorldTerms) -> bool:
    """Whether steps with many contacts may come: the pairs of shapes of a body and of another one could give them."""
    if world.pipeline is None or not world.has_many_contacts(MANY_CONTACTS):
        return False
    shapes = np.array([len(terms.body.description.shapes) for terms in world.bodies])
    of_bodies, others = int(shapes.sum()), len(world.pipeline.scene.obstacles)
    pairs = (of_bodies**2 - int((shapes**2).sum())) // 2 + of_bodies * others
    most = _OF_A_PAIR if world.pipeline.areas is None else _OF_A_PAIR * MOST_POINTS
    return pairs * most >= MANY_CONTACTS


@final
class ContactIslands:
    """Implements `ReducedRows` by J and the responses G·Jᵀ of one linearisation by clusters, and the islands they form.

    Args:
        world: terms of bodies and contacts, linearised and factorised.
        contact_count: how many of the pipeline's current contacts there are.
        bounded: rows with bounds, or None without any.

    Attributes:
        movable: which contacts an impulse can move along their normal, shape (m,); None if all can.
    """

    def __init__(self, world: WorldTerms, contact_count: int, bounded: BoundedRows | None = None) -> None:
        assert world.pipeline is not None
        self._world, self._count = world, contact_count
        self._contacts, self._width = world.pipeline.contacts, world.jacobian.width
        self._collect()
        contacts, bodies = contact_count, len(self._body_size)
        mobility, parent = np.empty(contacts), np.empty(contacts, dtype=np.int64)
        self._moves, label = np.empty(bodies, dtype=np.int64), np.empty(contacts, dtype=np.int64)
        measure_mobility(
            self._width, self._body_first, self._body_size, self._touch_contact, self._touch_place, self._jacobian,
            self._response, mobility, self._moves,
        )  # fmt: skip
        self._island_count = islands = label_islands(
            self._body_first, self._touch_contact, mobility, self._moves, parent, label
        )
        movable = label >= 0
        self.movable: BoolArray | None = None if movable.all() else movable
        self._arrange(label, islands)
        self._bounded: BoundedIslands | None = None
        if bounded is not None:
            moves = self._moves[: len(self._touching)].tolist()
            touching = [
                each._replace(moves=bool(moved)) for each, moved in zip(self._touching, moves, strict=True)
            ]
            self._bounded = BoundedIslands(
                bounded, world.factorisation, touching, label, world.jacobian.width
            )

    def _collect(self) -> None:
        """Write J_k and G_k·J_kᵀ of every cluster that contacts touch."""
        world, contacts, width = self._world, self._contacts, self._width
        touched = self._touched()
        numbers = [_contacts_of(parts) for _, parts in touched]
        wide = None if world.pipeline is None else world.pipeline.areas
        # the coordinates of each area are a cluster of its own
        extra = (
            []
            if wide is None
            else [(own, share) for _, group, share in wide.groups(contacts) for own in group]
        )
        owned = [*(own for own, _ in numbers), *(own for own, _ in extra)]
        sizes = [cluster.size for cluster, _ in touched] + [len(share) for _, share in extra]
        counts = [len(own) for own in owned]
        areas = [width * size * count for size, count in zip(sizes, counts, strict=True)]
        self._body_size: IntArray = np.array(sizes, dtype=np.int64)
        self._body_first: IntArray = np.cumsum([0, *counts], dtype=np.int64)
        self._touch_contact: IntArray = np.concatenate([np.zeros(0, dtype=np.int64), *owned])
        begins: IntArray = np.cumsum([0, *areas], dtype=np.int64)
        within = np.arange(self._body_first[-1]) - np.repeat(self._body_first[:-1], counts)
        self._touch_place: IntArray = np.repeat(begins[:-1], counts) + within * np.repeat(
            width * self._body_size, counts
        )
        self._jacobian = np.zeros(begins[-1])
        self._response = np.empty(begins[-1])
        self._touching: list[TouchedCluster] = []
        mobility = np.zeros(self._count)
        for (cluster, parts), (own, local), begin, area in zip(
            touched, numbers, begins.tolist(), areas, strict=False
        ):
            rows = self._jacobian[begin : begin + area].reshape(-1, cluster.size)
            for (first, points), places in zip(parts, local, strict=True):
                add_rows(
                    width, first, points.contact, points.slot, places, contacts.weight, contacts.normal,
                    contacts.tangent, points.dofs, points.values, rows,
                )  # fmt: skip
            response = self._response[begin : begin + area].reshape(-1, cluster.size)
            response[:] = rows
            world.factorisation.solve_cluster_columns(cluster, response.T)
            self._touching.append(TouchedCluster(cluster, own, response, True))
            if extra:
                mobility[own] += np.einsum("cj,cj->c", rows[::width], response[::width])
        for (own, share), begin in zip(extra, begins[len(touched) : -1].tolist(), strict=True):
            place = slice(begin, begin + share.size)
            self._jacobian[place] = share.ravel()
            self._response[place] = mobility[own[0]] * share.ravel()

    def _touched(self) -> list[tuple[Cluster, list[tuple[int, BodyPoints]]]]:
        """Every cluster that contacts touch, with where each of its bodies begins and the material points of that."""
        clusters, of_body = self._world.factorisation.clusters, {}
        for k, cluster in enumerate(clusters):
            for first, where in zip(cluster.firsts, cluster.slices, strict=True):
                if where.stop > where.start:
                    of_body[where.start] = k, first
        parts: dict[int, list[tuple[int, BodyPoints]]] = {}
        for points in self._world.jacobian.points:
            if points.first_v in of_body:
                k, first = of_body[points.first_v]
                parts.setdefault(k, []).append((first, points))
        return [(clusters[k], own) for k, own in parts.items()]

    def _arrange(self, label: IntArray, islands: int) -> None:
        contacts, touches, bodies = self._count, len(self._touch_contact), len(self._body_size)
        new = np.empty
        self._contact_begin, self._touch_begin, self._body_begin = new((3, islands + 1), dtype=np.int64)
        self._velocity_count = new(islands, dtype=np.int64)
        self._order, self._position = new((2, contacts), dtype=np.int64)
        position = self._position
        self._first, self._new_body_first = (
            new(contacts + islands, dtype=np.int64),
            new(bodies + islands, dtype=np.int64),
        )
        self._velocity, self._size, self._place, self._body_touch, self._contact = new(
            (5, touches), dtype=np.int64
        )
        body_island = new(bodies, dtype=np.int64)
        order_contacts(label, self._contact_begin, self._order, position)
        count_touches(
            self._body_first, self._touch_contact, self._moves, label, position, self._contact_begin, self._first,
            self._touch_begin, self._body_begin, body_island,
        )  # fmt: skip
        place_touches(
            self._body_first, self._body_size, self._touch_contact, self._touch_place, label, position,
            self._contact_begin, self._first, self._touch_begin, self._body_begin, body_island, self._velocity_count,
            self._velocity, self._size, self._place, self._contact, self._new_body_first, self._body_touch,
        )  # fmt: skip

    def _blocks(self, k: int) -> ContactBlocks:
        touches = slice(self._touch_begin[k], self._touch_begin[k + 1])
        return ContactBlocks(
            self._first[self._contact_begin[k] + k : self._contact_begin[k + 1] + k + 1],
            self._velocity[touches], self._size[touches], self._place[touches], self._jacobian, self._response,
            self._new_body_first[self._body_begin[k] + k : self._body_begin[k + 1] + k + 1],
            self._body_touch[touches], self._contact[touches], int(self._velocity_count[k]),
        )  # fmt: skip

    def solve(
        self,
        solver: ImpulseSolver,
        velocity: Array,
        bias: Array,
        step: float,
        start: Array,
        impulse: Array,
        *,
        has_friction: bool = True,
    ) -> SolveInfo:
        """Solve for λ island by island at a velocity v_f; see `ReducedRows`. λ of what is in no island is zero.

        Returns:
            The worst status, with the largest residuals and the sum of iterations.
        """
        guess, infos = impulse.copy(), list[SolveInfo]()
        impulse.fill(0.0)
        for problem, rows in self._problems(velocity, bias, step, start, has_friction=has_friction):
            own = guess[rows]
            infos.append(solver.solve(problem, own))
            impulse[rows] = own
        return _merged(infos)

    def _problems(
        self, velocity: Array, bias: Array, step: float, start: Array, *, has_friction: bool
    ) -> list[tuple[ReducedStepProblem, IntArray]]:
        """The islands, and where their rows stand among those of the step; what nothing moves belongs to none."""
        contacts, width = self._contacts, self._width
        free = bias[: self._count] + self._world.jacobian.multiply(velocity)
        friction, record = contacts.friction[: self._count], contacts.friction_record[: self._count]
        if not has_friction:
            friction, record = np.zeros_like(friction), np.zeros_like(record)
        has_record, bounded, first = bool(record.shape[1]), self._bounded, self._count * width
        found: list[tuple[ReducedStepProblem, IntArray]] = []
        for k in range(self._island_count):
            own = self._order[self._contact_begin[k] : self._contact_begin[k + 1]]
            rows = (width * own[:, None] + np.arange(width)).ravel()
            problem = ReducedStepProblem(
                width, step, free[own].ravel(), contact_count=len(own), id=contacts.id[own], gap=contacts.gap[own],
                friction=friction[own], friction_record=record[own] if has_record else np.zeros((0, 0)),
                start_impulse=start[rows], by_blocks=self._blocks(k),
            )  # fmt: skip
            with_bounds = None if bounded is None else bounded.rows_of(k)
            if bounded is not None and with_bounds is not None:
                problem = bounded.join(problem, k, self._position, step, velocity, start[first:])
                rows = np.concatenate([rows, first + with_bounds])
            found.append((problem, rows))
        if bounded is not None and (alone := bounded.rows_of(-1)) is not None:
            problem = bounded.join(None, -1, self._position, step, velocity, start[first:])
            found.append((problem, first + alone))
        return found

    def add_response(self, impulse: Array, velocity: Array) -> None:
        """Add G·Jᵀ·λ to the velocities of the world."""
        width = self._width
        by_contact = impulse[: self._count * width].reshape(-1, width)
        for each in self._touching:
            velocity[each.cluster.velocities] += by_contact[each.contacts].ravel() @ each.response
        if self._bounded is not None:
            self._bounded.add_response(impulse[self._count * width :], velocity)


def _contacts_of(parts: list[tuple[int, BodyPoints]]) -> tuple[IntArray, list[IntArray]]:
    """Contacts of the bodies of a cluster, rising, and the place among them of that of every point of each body."""
    if len(parts) == 1:
        contact = parts[0][1].contact
        local, own = np.empty((2, len(contact)), dtype=np.int64)
        return own[: number_contacts(contact, local, own)], [local]
    own = np.unique(np.concatenate([points.contact for _, points in parts]))
    return own, [np.searchsorted(own, points.contact) for _, points in parts]


def _merged(infos: list[SolveInfo]) -> SolveInfo:
    if len(infos) == 1:
        return infos[0]
    if not infos:
        return SolveInfo(answered_by="no contact moves")
    failed = [info for info in infos if not info.status.solved]
    # a fallback is reported even where most islands had none
    worst = failed[0] if failed else max(infos, key=lambda info: (SOLVED.index(info.status), info.iterations))
    by_name = {
        name: max(getattr(info.residuals, name) for info in infos)
        for name in ("normal", "friction", "cone", "equation", "compliance")
    }
    return SolveInfo(
        worst.status, sum(info.iterations for info in infos), Residuals(**by_name), worst.answered_by
    )
