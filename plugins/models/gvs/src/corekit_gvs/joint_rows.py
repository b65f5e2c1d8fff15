"""Limits and dry friction of joints, as bounded rows after those of loops.

A limited coordinate has one row, of the limit that is nearer:

    q ≤ ½·(lower + upper):   c = q − lower,   J = +e,   0 ≤ λ          else   c = upper − q,   J = −e,   0 ≤ λ      (1)

and dry friction the row J = e at the level of velocity, |λ| ≤ its largest effort. Far from both limits (1) is idle, so
that the change of sides in the middle moves nothing.
"""

from __future__ import annotations

import numpy as np
from attrs import frozen

from corekit.compiled import compiled
from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.linalg.constraint_rows import ConstraintRows
from corekit_gvs.config import GVSConfig
from corekit_gvs.tree import Tree

__all__ = ["JointRows", "joint_rows"]


@frozen(eq=False)
class JointRows:
    """Rows of joints after `first` rows of loops; limits, then friction.

    Args:
        dof: velocity of each limited coordinate.
        lower, upper: its limits [rad or m].
        slowed: velocity of each coordinate with dry friction.
        effort: its largest friction [N·m or N].
    """

    first: int
    dof: IntArray
    lower: Array
    upper: Array
    slowed: IntArray
    effort: Array

    @property
    def count(self) -> int:
        """Number of rows, those of loops included."""
        return self.first + len(self.dof) + len(self.slowed)

    @property
    def is_velocity_level(self) -> BoolArray:
        """Which rows constrain the velocity alone: friction."""
        return np.arange(self.count) >= self.first + len(self.dof)

    @property
    def bounded(self) -> BoolArray:
        """Which rows have bounds: all but those of loops."""
        return np.arange(self.count) >= self.first

    def write(self, q: Array, rows: ConstraintRows) -> None:
        """Write (1) and friction; the values of these rows are zero before, and their dofs all velocities."""
        if self.count == self.first:
            return
        _write(
            q, self.first, self.dof, self.lower, self.upper, self.slowed, self.effort, rows.values,
            rows.position_error, rows.lower, rows.upper,
        )  # fmt: skip


@compiled
def _write(
    q: Array, first: int, dof: IntArray, lower: Array, upper: Array, slowed: IntArray, effort: Array,
    values: Array, error: Array, least: Array, most: Array,
) -> None:  # fmt: skip
    """Write (1) and friction."""
    for k in range(len(dof)):
        row, here = first + k, q[dof[k]]
        is_low = here <= 0.5 * (lower[k] + upper[k])
        values[row, dof[k]] = 1.0 if is_low else -1.0
        error[row] = here - lower[k] if is_low else upper[k] - here
        least[row] = 0.0
    for k in range(len(slowed)):
        row = first + len(dof) + k
        values[row, slowed[k]] = 1.0
        least[row], most[row] = -effort[k], effort[k]


def joint_rows(config: GVSConfig, tree: Tree, first: int) -> JointRows:
    """Rows of all joints."""
    limited = [(tree.first[link.name], *link.joint.limits) for link in config.links if link.joint.limits]
    slowed = [
        (tree.first[link.name], link.joint.dry_friction) for link in config.links if link.joint.dry_friction
    ]
    ends = np.array(limited, dtype=float).reshape(-1, 3)
    rubbed = np.array(slowed, dtype=float).reshape(-1, 2)
    return JointRows(
        first,
        ends[:, 0].astype(np.int64),
        ends[:, 1],
        ends[:, 2],
        rubbed[:, 0].astype(np.int64),
        rubbed[:, 1],
    )
