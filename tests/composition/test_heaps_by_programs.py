"""`qp` on heaps at random: one body on many contacts, bodies on one another, and the same in a plane; as well as `lcp`.

Every contact lets its upper body rise, so that all open at once: each problem has a solution. Where contacts slide,
the programs of `qp` are repeated until Coulomb's law holds; by the fixed-point iteration alone that stalled at 10⁻⁸ to
4·10⁻² m/s in 8 of 60 rough heaps, which `lcp` solves.
"""

import numpy as np
import pytest

from corekit.roles.options import ComponentRef
from corekit_scenarios.cases.cusp.random_contacts import build
from corekit_testing.conformance.contact_problems import DenseProblem

TOLERANCE = 1e-9
SEEDS = 40


def basis(normal):
    """A normal and its tangents as rows."""
    if len(normal) == 2:
        return np.array([normal, [normal[1], -normal[0]]])
    aside = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    aside /= np.linalg.norm(aside)
    return np.array([normal, aside, np.cross(normal, aside)])


def heap(seed, bodies, touches, lean, friction, inertia, width):
    """Bodies that fall on lower ones or on the ground, with `touches` contacts each, whose normals lean."""
    random = np.random.default_rng(seed)
    turns = 3 if width == 3 else 1
    size, level = width + turns, np.arange(1, bodies + 1) * 0.3
    places = np.column_stack([random.uniform(-0.3, 0.3, (bodies, width - 1)), level])
    masses = 10.0 ** random.uniform(-0.5, 0.5, bodies)
    mass = np.concatenate([[m] * width + [inertia * m] * turns for m in masses])
    rows = []
    for body in range(bodies):
        for _ in range(touches):
            below = int(random.integers(-1, body)) if body else -1
            normal = np.append(lean * random.normal(size=width - 1), 1.0)
            axes = basis(normal / np.linalg.norm(normal))
            point = places[body] + np.append(random.uniform(-0.5, 0.5, width - 1), -0.15)
            row = np.zeros((width, bodies, size))
            for which, sign in ((body, 1.0), (below, -1.0)):
                if which >= 0:
                    arm = point - places[which]
                    turned = (
                        np.cross(arm, axes)
                        if width == 3
                        else (arm[0] * axes[:, 1] - arm[1] * axes[:, 0])[:, None]
                    )
                    row[:, which] = sign * np.hstack([axes, turned])
            rows.append(row.reshape(width, -1))
    velocity = 0.5 * random.normal(size=bodies * size)
    velocity[width - 1 :: size] -= 1.0
    return DenseProblem(np.diag(mass), np.vstack(rows), velocity, friction, width=width)


FAMILIES = {
    "one object": lambda seed: heap(seed, 1, 12 + seed % 13, 0.3, 0.3, 0.06, 3),
    "confetti": lambda seed: heap(seed, 5 + seed % 6, 4, 0.5, 0.4, 0.06, 3),
    "rough confetti": lambda seed: heap(seed, 4 + seed % 4, 4, 0.5, 0.9, 0.02, 3),
    "planar": lambda seed: heap(seed, 6 + seed % 8, 2, 0.3, 0.5, 0.05, 2),
    "rough planar": lambda seed: heap(seed, 6 + seed % 8, 2, 0.3, 0.9, 0.05, 2),
}


def faults(problem, impulse):
    """What the problem says of an answer itself, relative to the largest free velocity."""
    scale = np.abs(problem.free_velocity).max()
    return max(problem.normal_error(impulse), problem.friction_error(impulse)) / scale


@pytest.mark.parametrize("family", FAMILIES)
def test_heaps_are_solved_or_declined(family):
    """Of 250 others a family none was left unsolved, and two of the rough confetti: below 2.5 % with 95 %.

    Rounding decides on pivots that tie, so that another processor may leave others: at two of 250 more than three of
    40 once in 3,000.
    """
    unsolved = 0
    for seed in range(SEEDS):
        problem = FAMILIES[family](seed)
        impulse = np.zeros(len(problem.free_velocity))
        info = build("contact_solvers", ComponentRef("qp")).solve(problem, impulse)
        fault = faults(problem, impulse)
        if info.status.solved:
            # masses are 0.3 to 3 kg: residuals in N·s and in m/s differ by as much
            assert fault <= 20 * TOLERANCE, f"seed {seed} is said to be solved"
        else:
            unsolved += 1
            assert info.residuals.worst > 0.1 * TOLERANCE
    assert unsolved <= 3


@pytest.mark.parametrize("family", FAMILIES)
def test_with_little_friction_the_programs_move_heaps_as_lemke_does(family):
    """The motions of `qp` and `lcp` are the same where friction is small enough that the problem has one solution."""
    for seed in range(8):
        problem = FAMILIES[family](seed)
        problem.friction *= 0.1
        found = []
        for name in ("qp", "lcp"):
            impulse = np.zeros(len(problem.free_velocity))
            assert build("contact_solvers", ComponentRef(name)).solve(problem, impulse).status.solved
            found.append(problem.after(impulse))
        np.testing.assert_allclose(found[0], found[1], atol=1e-6)
