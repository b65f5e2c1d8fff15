"""Vine robots by tables and C entries, for worlds stepped without Python: see `corekit.roles.compiled_form`.

integers    links N, rows per link, inputs, whether aux holds lengths, rates that are asked for, whether growth is
            limited
numbers     those of `Chain`: scalars (22,), lengths (N,), pins (N, 5); the plane (4, 3)
scratch     whether the cache of angles was begun, the cache (2N, 3), rates of flow (N,)
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from corekit.compiled import compiled
from corekit.compiled.entries import array_at
from corekit.compiled.parts import part
from corekit.data.arrays import Array
from corekit.roles.compiled_form import MODEL_ENTRIES, CompiledForm, entries_of
from corekit_vine.chain import HEADING_RATES, ROWS_PER_LINK, Chain
from corekit_vine.dynamics import compute_mass_and_force, compute_stiffness_and_damping, integrate
from corekit_vine.frames import compute_point_jacobians, compute_poses
from corekit_vine.joints import WIDTH, compute_constraints, constraint_dofs, write_growth_limits
from corekit_vine.matter import add_matter, keep_motion, update_growth

__all__ = ["form_of"]

_HEAD: Final = 6
_SCALARS: Final = HEADING_RATES + 1
_ROW: Final = WIDTH
_BANDS: Final = (6, 4)
"""Columns of K and D."""


def form_of(
    chain: Chain, plane: Array, inputs: int, *, rates: int, has_lengths: bool, is_limited: bool
) -> CompiledForm:
    """Return the form of a robot on a base that stands.

    Args:
        chain, plane: constants, and origin, axes and normal of the plane (4, 3). inputs: how many numbers.
        rates: of growth among them. has_lengths: whether aux holds the lengths of links. is_limited: see
            `write_growth_limits`.
    """
    links, per_link = len(chain.pins), int(chain.scalars[ROWS_PER_LINK])
    head = [links, per_link, inputs, has_lengths, rates, is_limited]
    parts = (*chain, plane)
    return CompiledForm(
        numbers=np.concatenate([np.ravel(each).astype(np.float64) for each in parts]),
        index=np.concatenate([head, constraint_dofs(links, per_link).ravel()]).astype(np.int64),
        scratch=1 + 7 * links,
        entries=entries_of(
            MODEL_ENTRIES, dynamics=_dynamics, tangent=_tangent, integrate=_integrate, reparametrise=_reparametrise,
            poses=_poses, rows=_rows, constraints=_constraints,
        ),
    )  # fmt: skip


class _Robot(NamedTuple):
    """Sizes and tables, as views; `start` holds the lengths of a telescope."""

    links: int
    inputs: int
    aux: int
    has_lengths: bool
    rates: int
    is_limited: bool
    scalars: Array
    start: Array
    pins: Array
    plane: Array
    cache: Array
    flows: Array


@compiled
def _robot(index: Any, numbers: Any, work: Any) -> _Robot:
    """The robot whose tables stand at these addresses."""
    head = array_at(index, (_HEAD,))
    n = head[0]
    x, space = array_at(numbers, (_SCALARS + 6 * n + 12,)), array_at(work, (1 + 7 * n,))
    if space[0] == 0.0:  # no angle is known
        for i in range(1, 1 + 6 * n):
            space[i] = math.nan
        space[0] = 1.0
    scalars, start, x = x[:_SCALARS], x[_SCALARS : _SCALARS + n], x[_SCALARS + n :]
    return _Robot(
        n, head[2], 13 * n if head[3] != 0 else 0, head[3] != 0, head[4], head[5] != 0, scalars, start,
        part(x, 0, (n, 5)), part(x, 5 * n, (4, 3)), part(space, 1, (2 * n, 3)),
        space[1 + 6 * n :],
    )  # fmt: skip


@compiled
def _lengths(robot: _Robot, aux: Any) -> Array:
    """The lengths of the links, which other numbers may follow; of aux at an address."""
    return array_at(aux, (robot.aux,)) if robot.has_lengths else robot.start


def _dynamics(
    index: Any, numbers: Any, work: Any, q: Any, v: Any, aux: Any, inputs: Any, mass: Any, force: Any
) -> int:
    robot = _robot(index, numbers, work)
    n, u, out = 6 * robot.links, array_at(inputs, (robot.inputs,)), array_at(force, (6 * robot.links,))
    compute_mass_and_force(
        robot.scalars, _lengths(robot, aux), robot.pins, array_at(q, (n,)), array_at(v, (n,)), u, array_at(mass, (n,)),
        out,
    )  # fmt: skip
    if robot.has_lengths and (u[0] != 0.0 or robot.rates > 1):
        known = array_at(aux, (robot.aux,))
        begin = known[robot.links :]
        add_matter(robot.scalars, known, np.eye(3), np.zeros(0), begin[:n], begin[n:], u, robot.flows, out)
    return 0


def _tangent(
    index: Any, numbers: Any, work: Any, q: Any, _v: Any, aux: Any, inputs: Any, stiffness: Any, damping: Any
) -> int:
    robot = _robot(index, numbers, work)
    n = 6 * robot.links
    compute_stiffness_and_damping(
        robot.scalars, _lengths(robot, aux), robot.pins, array_at(q, (n,)), array_at(inputs, (robot.inputs,)),
        array_at(stiffness, (n, _BANDS[0])).T, array_at(damping, (n, _BANDS[1])).T,
    )  # fmt: skip
    return 0


def _integrate(
    index: Any, numbers: Any, work: Any, q: Any, aux: Any, velocity: Any, step: float, out_q: Any, out_aux: Any
) -> int:  # fmt: skip
    robot = _robot(index, numbers, work)
    n, before, after = 6 * robot.links, array_at(aux, (robot.aux,)), array_at(out_aux, (robot.aux,))
    for i in range(robot.aux):
        after[i] = before[i]
    integrate(array_at(q, (n,)), array_at(velocity, (n,)), step, array_at(out_q, (n,)))
    return 0


def _reparametrise(index: Any, numbers: Any, work: Any, q: Any, v: Any, aux: Any) -> int:
    robot = _robot(index, numbers, work)
    if not robot.has_lengths:
        return 0
    n, known = 6 * robot.links, array_at(aux, (robot.aux,))
    place, velocity = array_at(q, (n,)), array_at(v, (n,))
    changed = update_growth(known, place, velocity)
    moved = keep_motion(place, velocity, known[robot.links :])
    return 1 if changed or moved else 0


def _poses(
    index: Any, numbers: Any, work: Any, q: Any, _v: Any, aux: Any, position: Any, rotation: Any
) -> int:
    robot = _robot(index, numbers, work)
    frames = 2 * robot.links + 1
    compute_poses(
        robot.scalars, _lengths(robot, aux), robot.plane, array_at(q, (6 * robot.links,)), robot.cache,
        array_at(position, (frames, 3)), array_at(rotation, (frames, 3, 3)),
    )  # fmt: skip
    return 0


def _rows(
    index: Any, numbers: Any, work: Any, q: Any, _v: Any, aux: Any, count: int, frame: Any, local: Any, dofs: Any,
    values: Any,
) -> int:  # fmt: skip
    robot = _robot(index, numbers, work)
    compute_point_jacobians(
        robot.scalars, _lengths(robot, aux), robot.plane, array_at(q, (6 * robot.links,)), array_at(frame, (count,)),
        array_at(local, (count, 3)), array_at(dofs, (count, 3)), array_at(values, (count, 3, 3)),
    )  # fmt: skip
    return 0


def _constraints(
    index: Any, numbers: Any, work: Any, q: Any, v: Any, aux: Any, inputs: Any, dofs: Any, values: Any, error: Any,
    rate: Any, compliance: Any, lower: Any, upper: Any,
) -> int:  # fmt: skip
    robot = _robot(index, numbers, work)
    n, u = 6 * robot.links, array_at(inputs, (robot.inputs,))
    rows = robot.links * array_at(index, (_HEAD,))[1]
    known, out = array_at(index, (_HEAD + rows * _ROW,))[_HEAD:], array_at(dofs, (rows * _ROW,))
    for i in range(len(out)):
        out[i] = known[i]
    lengths = _lengths(robot, aux)
    compute_constraints(
        robot.scalars, lengths, array_at(q, (n,)), array_at(v, (n,)), robot.cache, u, array_at(values, (rows, _ROW)),
        array_at(error, (rows,)), array_at(rate, (rows,)),
    )  # fmt: skip
    if robot.is_limited:
        write_growth_limits(
            robot.scalars,
            lengths,
            u,
            array_at(compliance, (rows,)),
            array_at(lower, (rows,)),
            array_at(upper, (rows,)),
        )
    return 0
