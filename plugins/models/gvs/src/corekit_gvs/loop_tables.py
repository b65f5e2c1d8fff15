"""Loops as rows of the tables: which directions a loop's joint holds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.errors import ConfigError, Mistake
from corekit.geometry.frames import rotation_from_rpy
from corekit_gvs.config import GVSConfig
from corekit_gvs.mistakes import Mistakes
from corekit_gvs.tree import Tree, joint_axes

__all__ = ["HOLDING", "UNIVERSAL", "LoopTable", "loop_tables"]

HOLDING, UNIVERSAL = 0, 1
"""Kinds of loop: rows along fixed directions; a universal joint, whose first row keeps two axes at right angles."""


class LoopTable(NamedTuple):
    """Loops: node, node, first row, rows, kind (L, 5); offsets, rotations, directions, compliance (L, 61); names."""

    rows: IntArray
    frames: Array
    names: tuple[str, ...]

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.rows[:, 3].sum())


def _held(kind: str, axes: list[Array]) -> Array:
    """Orthonormal directions (rows, 6) of the complement of the allowed twists."""
    if kind == "universal":
        # the first row is written by its own rule: axis of the second frame times second axis of the first
        return np.vstack([np.concatenate([axes[0][:3, 0], axes[1][:3, 0]]), np.eye(6)[3:]])
    allowed = np.hstack([np.zeros((6, 0)), *axes])
    if not allowed.size:
        return np.eye(6)
    values, basis = np.linalg.eigh(np.eye(6) - allowed @ np.linalg.pinv(allowed))
    held = basis[:, values > 0.5].T
    # along coordinate axes where they span the same space, so that rows have names
    for axis in np.eye(6):
        inside = held.T @ (held @ axis)
        if np.allclose(inside, axis):
            rest = held - np.outer(held @ axis, axis)
            _, sizes, directions = np.linalg.svd(rest, full_matrices=False)
            held = np.vstack([directions[sizes > 0.5], axis])
    return held


def loop_tables(config: GVSConfig, tree: Tree, mistakes: Mistakes) -> LoopTable:
    """Rows of all loops; those with mistakes are left out."""
    rows, frames = [], []
    first = 0
    for i, loop in enumerate(config.loops):
        one = two = -1
        with mistakes.collecting():
            one = tree.node_of(loop.first, f"loops[{i}].first")
        with mistakes.collecting():
            two = tree.node_of(loop.second, f"loops[{i}].second")
        with mistakes.collecting():
            if one == two >= 0:
                said = "is the same place: a loop is between two"
                raise ConfigError([Mistake(f"loops[{i}].second", loop.second, said)], "the list of loops")
        if one < 0 or two < 0:
            continue
        held = _held(loop.joint.kind, joint_axes(loop.joint))
        padded = np.zeros((6, 6))
        padded[: len(held)] = held
        kind = UNIVERSAL if loop.joint.kind == "universal" else HOLDING
        rows.append([one, two, first, len(held), kind])
        poses = [
            *loop.first_offset, *rotation_from_rpy(loop.first_rpy).ravel(),
            *loop.second_offset, *rotation_from_rpy(loop.second_rpy).ravel(),
        ]  # fmt: skip
        frames.append(np.concatenate([poses, padded.ravel(), [loop.compliance]]))
        first += len(held)
    table = np.array(rows, dtype=np.int64).reshape(-1, 5)
    return LoopTable(table, np.array(frames).reshape(-1, 61), tuple(loop.name for loop in config.loops))
