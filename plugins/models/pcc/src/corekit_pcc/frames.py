"""Poses of frames on the backbone, and the rows of material points fixed in them.

A frame stands on section i at arc position s, its z axis along the backbone. A point fixed in it at `local` is at

    x = x_f + d,   d = R_f·local,     ẋ = Σ_y (∂x_f/∂y + W_y × d)·ẏ                        (1)

with ∂x_f/∂y of `chain`, W_y = R_i·W_y(s) for the section's own arc parameters and the carried W_y for earlier
ones. Rows in coordinates follow by E of `chambers`, block by block.
"""

from __future__ import annotations

from corekit.compiled import compiled
from corekit.data.arrays import Array, IntArray
from corekit_pcc.arm import Arm
from corekit_pcc.chain import (
    POINT,
    START,
    Work,
    chain_arcs,
    chain_columns,
    first_twist,
    own_turns,
    point_columns,
)
from corekit_pcc.jets import rotate
from corekit_pcc.section import AXES, POSITION, TURNS, section_place, section_turns

__all__ = ["compute_point_jacobians", "frame_poses"]


@compiled
def frame_poses(
    arm: Arm,
    q: Array,
    v: Array,
    section: IntArray,
    place: Array,
    position: Array,
    rotation: Array,
    work: Work,
) -> None:
    """Write the frames' poses in the world.

    Args:
        q, v: coordinates [m] and velocities [m/s], shape (n,).
        section, place: i and s of each frame, ordered by section, shape (f,).
        position, rotation: results, shapes (f, 3) [m] and (f, 3, 3).
    """
    vectors = work.vectors
    chain_arcs(arm, q, v, work.arc, vectors)
    at = 0
    for f in range(section.size):
        while at < section[f]:
            section_place(1.0, work.arc[at], work.table, vectors)
            _compose(at, arm.plate[at], vectors, START + 4 * (at + 1))
            at += 1
        section_place(place[f], work.arc[at], work.table, vectors)
        _compose(at, 0.0, vectors, START + 4 * (at + 1))
        for x in range(3):
            position[f, x] = arm.base_position[x] + vectors[START + 4 * (at + 1), 0, x]
            for axis in range(3):
                rotation[f, x, axis] = vectors[START + 4 * (at + 1) + 1 + axis, 0, x]


@compiled
def _compose(i: int, plate: float, vectors: Array, out: int) -> None:
    """Write the pose of the section point at hand, a plate ahead, into the rows out … out + 3."""
    start = START + 4 * i
    rotate(vectors, start + 1, POSITION, 0, out)
    for axis in range(3):
        rotate(vectors, start + 1, AXES + axis, 0, out + 1 + axis)
    for x in range(3):
        vectors[out, 0, x] += vectors[start, 0, x] + plate * vectors[out + 3, 0, x]


@compiled
def compute_point_jacobians(
    arm: Arm,
    q: Array,
    v: Array,
    section: IntArray,
    place: Array,
    frame: IntArray,
    local: Array,
    dofs: IntArray,
    values: Array,
    work: Work,
) -> None:
    """Write the rows (1) of c points in coordinates: dofs (c, n) and values (c, 3, n).

    Args:
        q, v: coordinates [m] and velocities [m/s], shape (n,).
        section, place: i and s of each frame, shape (f,).
        frame, local: the frame of each point, and its place there [m], shapes (c,) and (c, 3).
    """
    sections, vectors = arm.length.size, work.vectors
    order = 0 * sections  # a literal would make numba compile every callee once more
    chain_columns(arm, q, v, order, work.table, work.scalars, vectors, work.arc)
    twist, last = first_twist(sections), -1
    for c in range(frame.size):
        i = int(section[frame[c]])
        if frame[c] != last:
            # contacts of one disk stand together and share its columns
            last = frame[c]
            at = float(place[last])
            point_columns(i, at, order, sections, work.table, work.scalars, vectors, work.arc)
            section_turns(at, work.arc[i], order, work.table, work.scalars, vectors)
            for y in range(3):
                rotate(vectors, START + 4 * i + 1, TURNS + y, order, own_turns(sections) + y)
        _lever(i, local[c, 0], local[c, 1], local[c, 2], order, vectors)
        dx, dy, dz = vectors[POINT, 0, 0], vectors[POINT, 0, 1], vectors[POINT, 0, 2]
        for section_of in range(sections):
            first = 3 * section_of
            for a in range(first, first + 3):
                dofs[c, a] = a
                for x in range(3):
                    values[c, x, a] = 0.0
            if section_of > i:
                continue
            for y in range(3):
                column = twist + 3 * (first + y) + 2
                spin = column - 1 if section_of < i else own_turns(sections) + y
                wx, wy, wz = vectors[spin, 0, 0], vectors[spin, 0, 1], vectors[spin, 0, 2]
                along = vectors[column, 0, 0] + wy * dz - wz * dy
                aside = vectors[column, 0, 1] + wz * dx - wx * dz
                above = vectors[column, 0, 2] + wx * dy - wy * dx
                for j in range(3):
                    share = arm.to_arc[section_of, y, j]
                    values[c, 0, first + j] += share * along
                    values[c, 1, first + j] += share * aside
                    values[c, 2, first + j] += share * above


@compiled
def _lever(i: int, x: float, y: float, z: float, order: int, vectors: Array) -> None:
    """Write d = R_f·(x, y, z) into the row POINT."""
    for axis in range(3):
        local = vectors[AXES, 0, axis] * x + vectors[AXES + 1, 0, axis] * y + vectors[AXES + 2, 0, axis] * z
        vectors[POSITION, 0, axis] = local
    rotate(vectors, START + 4 * i + 1, POSITION, order, POINT)
