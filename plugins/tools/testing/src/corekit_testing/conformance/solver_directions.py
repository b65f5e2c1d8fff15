"""Pyramids that follow the problem of a step: what a solver says of a covector of their directions.

Gradients of runs ask `pull_friction_directions` where a contact slides (`corekit_gradients.adjoint.turned_pyramids`).
Along any change of w₀, of W and of the impulses λ with which a step begins, with w = W·λ + w₀,

    Σ c·δd = w̄ᵀ·δw + w̄₀ᵀ·δw₀ + W̄:δW + λ̄ᵀ·δλ,      δw = δw₀ + δW·λ + W·δλ                                    (1)
"""

from __future__ import annotations

from copy import copy

import numpy as np

from corekit.data.arrays import Array
from corekit_testing.conformance.check import Check, NotApplicable, check, expect, expect_close
from corekit_testing.conformance.contact_problems import DenseProblem, feasible
from corekit_testing.conformance.subject import Subject

__all__ = ["DIRECTIONS"]

_STEP = 1e-4
_KINK = 1e-5
"""What differences over one step and two differ by, relative, where directions jump within them."""
_SLOPE = 1e-6
_PROBLEMS = 12


@check(
    "directions-pulled",
    "a covector of the directions of friction is that of the problem they follow",
    "impulses",
)
def directions_pulled(subject: Subject) -> None:
    solver, random, compared = subject.build(), np.random.default_rng(17), 0
    if not hasattr(solver, "pull_friction_directions"):
        raise NotApplicable("its friction is not that of pyramids")
    for _ in range(_PROBLEMS):
        problem = feasible(random, contacts=3)
        problem.start_impulse = random.normal(size=9)
        problem.start_impulse[::3] = 1.0 + np.abs(problem.start_impulse[::3])
        free, start, root = random.normal(size=9), random.normal(size=9), random.normal(size=(9, 9))
        matrix = root + root.T
        directions = solver.compute_friction_directions(problem)
        covector = random.normal(size=directions.shape)
        found = solver.pull_friction_directions(problem, directions, covector)
        if found is None:
            raise NotApplicable("leaves what its directions follow to differences")

        def value(
            s: float, problem: DenseProblem = problem, moves: tuple[Array, Array, Array] = (free, matrix, start),
            covector: Array = covector,
        ) -> float:  # fmt: skip
            moved = copy(problem)
            moved.free_velocity = problem.free_velocity + s * moves[0]
            moved.matrix, moved.start_impulse = (
                problem.matrix + s * moves[1],
                problem.start_impulse + s * moves[2],
            )
            return float(np.sum(covector * solver.compute_friction_directions(moved)))

        near, far = ((value(h) - value(-h)) / (2.0 * h) for h in (_STEP, 2.0 * _STEP))
        velocity = free + matrix @ problem.start_impulse + problem.matrix @ start
        terms = (
            found.velocity @ velocity,
            found.free @ free,
            np.sum(found.matrix * matrix),
            found.start @ start,
        )
        size = 1.0 + sum(abs(float(each)) for each in terms)
        if abs(near - far) <= _KINK * size:
            compared += 1
            slope = np.array((4.0 * near - far) / 3.0)
            expect_close("slope of Σ c·d", np.array(sum(map(float, terms))), slope, _SLOPE * size)
    expect(compared, "the directions jump wherever a problem changes by 1e-4 of itself")


DIRECTIONS: tuple[Check, ...] = (directions_pulled,)
"""Asked of impulse solvers."""
