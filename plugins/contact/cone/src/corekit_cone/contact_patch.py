"""The part of a contact problem where its error is: some contacts, while the others keep their impulses.

For contacts S and the others R the problem of S alone is

    w_S = W_SS·λ_S + (w₀_S + W_SR·λ_R),   w₀_S + W_SR·λ_R = w_S − W_SS·λ_S at the present λ         (1)

so that to solve it is one block of Gauss–Seidel. Sweeps are slow where few stiff contacts lean on each other, for
example where balls jam; everywhere else they have converged long before.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.roles.contact import StepProblem
from corekit.roles.contact_blocks import ContactBlocks, ReducedStepProblem, multiply_blocks
from corekit_cone.search import WORK_ROWS, search

__all__ = ["extract_patch", "grow_patch", "solve_patch"]


def _bodies(blocks: ContactBlocks) -> IntArray:
    """The body of every touch, shape (E,)."""
    body: IntArray = np.empty(len(blocks.contact), dtype=np.int64)
    counts = np.diff(blocks.body_first)
    body[blocks.body_touch] = np.repeat(np.arange(len(counts)), counts)
    return body


def grow_patch(blocks: ContactBlocks, patch: BoolArray) -> BoolArray:
    """Return the patch with all contacts of the bodies that its contacts touch, shape (m,)."""
    body = _bodies(blocks)
    is_touched: BoolArray = np.zeros(len(blocks.body_first) - 1, dtype=bool)
    is_touched[body[patch[blocks.contact]]] = True
    grown = patch.copy()
    grown[blocks.contact[is_touched[body]]] = True
    return grown


def extract_patch(
    problem: StepProblem, blocks: ContactBlocks, patch: BoolArray, impulse: Array, velocity: Array
) -> tuple[ReducedStepProblem, Array]:
    """Return the problem (1) of the contacts in `patch` and their impulses, at λ and its w; `blocks` of the whole W."""
    width = problem.rows_per_contact
    contacts, touches = np.flatnonzero(patch), np.flatnonzero(patch[blocks.contact])
    bodies, body = np.unique(_bodies(blocks)[touches], return_inverse=True)
    size, sizes = blocks.size[touches], np.zeros(len(bodies), dtype=np.int64)
    sizes[body] = size
    begin: IntArray = np.cumsum([0, *sizes], dtype=np.int64)
    counts = np.diff(blocks.first)[contacts]
    number = np.cumsum(patch) - 1
    own = ContactBlocks(
        np.cumsum([0, *counts], dtype=np.int64), begin[body], size, blocks.place[touches], blocks.jacobian,
        blocks.response, np.cumsum([0, *np.bincount(body)], dtype=np.int64), np.argsort(body, kind="stable"),
        number[blocks.contact[touches]], int(begin[-1]),
    )  # fmt: skip
    own_impulse = impulse.reshape(-1, width)[contacts].ravel()
    moved = np.empty(len(own_impulse))
    multiply_blocks(own, width, np.zeros(len(moved)), own_impulse, np.empty(own.velocity_count), moved)
    return ReducedStepProblem(
        width, problem.step, velocity.reshape(-1, width)[contacts].ravel() - moved, contact_count=len(contacts),
        id=problem.id[contacts], gap=problem.gap[contacts], friction=problem.friction[contacts],
        friction_record=problem.friction_record,
        start_impulse=problem.start_impulse.reshape(-1, width)[contacts].ravel(), by_blocks=own,
    ), own_impulse  # fmt: skip


def solve_patch(
    problem: StepProblem,
    blocks: ContactBlocks,
    patch: BoolArray,
    impulse: Array,
    velocity: Array,
    tolerance: float,
    sweeps: int,
) -> Array:
    """Search the impulses of (1) with a dense W_SS from the present ones; return them, shape (contacts, width).

    Args:
        patch: S, shape (m,). impulse, velocity: λ and w of all contacts.
        tolerance, sweeps: the tolerance and the limit of `search`.
    """
    part, own = extract_patch(problem, blocks, patch, impulse, velocity)
    rows, nothing = len(own), np.zeros(0)
    index: IntArray = np.zeros((2, rows), dtype=np.int64)
    search(
        part.delassus(), part.free_velocity, part.rows_per_contact, part.friction, nothing, nothing, tolerance,
        sweeps, np.zeros((2, part.contact_count)), index[0], index[1], np.zeros((WORK_ROWS, rows)),
        np.zeros((rows, rows)), own,
    )  # fmt: skip
    return own.reshape(-1, part.rows_per_contact)
