"""A problem without solution: it needs every method of `block_search`, so that their kernels are loaded."""

from __future__ import annotations

import numpy as np

from corekit.roles.contact_blocks import ContactBlocks, ReducedStepProblem
from corekit_cone.block_search import BlockSearch

__all__ = ["rehearse_blocks"]

_LIMIT = 40


def rehearse_blocks(width: int, tolerance: float) -> None:
    """Press a body from below and from above, and another one against it.

    Args:
        width: rows per contact, 3, or 2 in a planar world.
        tolerance: of the search.
    """
    one = np.eye(width)
    blocks = np.stack([one, -one, one, -one]).ravel()
    touches = ContactBlocks(
        first=np.array([0, 1, 2, 4]), velocity=np.array([0, 0, 0, width]), size=np.full(4, width),
        place=width * width * np.arange(4), jacobian=blocks, response=blocks.copy(),
        body_first=np.array([0, 3, 4]), body_touch=np.arange(4), contact=np.array([0, 1, 2, 2]),
        velocity_count=2 * width,
    )  # fmt: skip
    free = np.tile([-1.0, 0.3, 0.2][:width], 3)
    problem = ReducedStepProblem(
        width, 1e-3, free, contact_count=3, id=np.arange(3), gap=np.zeros(3), friction=np.full(3, 0.5),
        start_impulse=np.zeros(3 * width), by_blocks=touches,
    )  # fmt: skip
    search = BlockSearch(problem, touches, tolerance, _LIMIT)
    search.search(np.zeros(len(free)))
    search.solve_patch()
    problem.delassus()
