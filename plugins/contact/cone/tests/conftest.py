"""Solving a contact problem, and judging impulses with nothing but NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from corekit_cone.cone import ConeContact
from corekit_cone.config import ConeContactConfig


def natural_residual(problem, impulse):
    """The largest |λ − P_K(λ − ŵ)| of a contact, ŵ = (w_n + μ·|w_t|, w_t); and |λ − clip(λ − w)| of bounded rows."""
    velocity = problem.delassus() @ impulse + problem.free_velocity
    width, worst = problem.rows_per_contact, 0.0
    for c, mu in enumerate(problem.friction):
        mine = slice(c * width, (c + 1) * width)
        point = impulse[mine] - velocity[mine]
        point[0] -= mu * np.linalg.norm(velocity[mine][1:])
        nearest, size = np.zeros(width), np.linalg.norm(point[1:])
        if point[0] > 0.0 and size <= mu * point[0]:
            nearest = point
        elif mu * size > -point[0]:
            # the foot of the perpendicular on the edge (1, μ·direction)
            edge = np.concatenate([[1.0], mu * point[1:] / size])
            nearest = edge * (point @ edge) / (edge @ edge)
        worst = max(worst, float(np.linalg.norm(impulse[mine] - nearest)))
    end = problem.contact_count * width
    held = impulse[end:] - np.clip(impulse[end:] - velocity[end:], problem.lower, problem.upper)
    return max(worst, float(np.abs(held).max(initial=0.0)))


@pytest.fixture
def solve():
    """`solve(problem, guess=None, **options)`: the impulses and the report."""

    def run(problem, guess=None, **options):
        impulse = np.zeros(len(problem.free_velocity)) if guess is None else np.array(guess, float)
        info = ConeContact(ConeContactConfig(**options)).solve(problem, impulse)
        return impulse, info

    return run


@pytest.fixture
def residual_of():
    return natural_residual
