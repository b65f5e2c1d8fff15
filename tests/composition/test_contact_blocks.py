"""Contacts by the blocks of W: bodies eliminated, patches and compliant contacts, against W as a dense matrix."""

import numpy as np
import pytest

from corekit.roles.contact_blocks import ContactBlocks, ReducedStepProblem, multiply_blocks
from corekit_cone.body_factor import BodyEquations
from corekit_cone.compliant import CompliantProblem, solve_compliant
from corekit_cone.contact_patch import extract_patch, grow_patch
from corekit_cone.touches import multiply_touches, new_touches

STEP, EPS = 1e-3, np.finfo(float).eps


def blocks_of(bodies, touches, sizes, width):
    """Random blocks of W of contacts that touch the named bodies."""
    rng = np.random.default_rng(5)
    flat = [body for own in touches for body in own]
    size = np.array([sizes[body] for body in flat])
    first, begin = np.cumsum([0, *map(len, touches)]), np.cumsum([0, *sizes])
    place = np.cumsum([0, *(width * size)])
    order = np.argsort(flat, kind="stable")
    jacobian, response = rng.uniform(-1.0, 1.0, (2, place[-1]))
    return ContactBlocks(
        first, begin[flat], size, place[:-1], jacobian, response,
        np.searchsorted(np.array(flat)[order], np.arange(bodies + 1)), order,
        np.repeat(np.arange(len(touches)), np.diff(first)), sum(sizes),
    )  # fmt: skip


@pytest.mark.parametrize("width", [2, 3])
def test_bodies_are_eliminated_as_from_the_dense_matrix(width):
    """A ring of eight bodies of three sizes with two chords fills in; one contact is open."""
    sizes = [6, 1, 6, 3, 6, 6, 1, 3]
    touches = [[i, (i + 1) % 8] for i in range(8)] + [[0, 4], [2, 6], [3], [5], [1, 1 + 4]]
    blocks, n = blocks_of(8, touches, sizes, width), sum(sizes)
    rng = np.random.default_rng(2)
    slope = rng.uniform(-1.0, 1.0, (len(touches), width, width)) + 3.0 * np.eye(width)
    slope[4] = 0.0
    J, G = np.zeros((2, len(touches), width, n))
    for c in range(len(touches)):
        for e in range(blocks.first[c], blocks.first[c + 1]):
            block = slice(blocks.place[e], blocks.place[e] + width * blocks.size[e])
            columns = slice(blocks.velocity[e], blocks.velocity[e] + blocks.size[e])
            J[c, :, columns] = blocks.jacobian[block].reshape(width, -1)
            G[c, :, columns] = blocks.response[block].reshape(width, -1)
    matrix = np.eye(n) + np.einsum("cai,cab,cbj->ij", G, slope, J)
    rhs, equations = rng.uniform(-1.0, 1.0, n), BodyEquations(blocks, width)
    for _ in range(2):  # nothing is left of the first time
        assert equations.factorise(slope)
        x = equations.solve(rhs)
        # without exchange of bodies rounding grows with the condition
        assert abs(matrix @ x - rhs).max() <= 100 * n * EPS * np.linalg.cond(matrix) * abs(x).max()


@pytest.mark.parametrize("width", [2, 3])
def test_bodies_of_any_size_in_parts_of_six_velocities_move_as_whole_ones(width):
    """Bodies of 1, 6, 7 and 20 velocities, some of which no contact touches; w and v against sums over whole blocks."""
    sizes = [6, 20, 1, 7, 6, 13, 12]
    touches = [[0, 1], [1, 3], [2], [3, 5], [1, 6], [0, 5]]
    blocks, n, rows = blocks_of(7, touches, sizes, width), sum(sizes), len(touches) * width
    free, impulse = np.random.default_rng(7).uniform(-1.0, 1.0, (2, rows))
    impulse[:width] = 0.0
    velocity, expected, found = np.empty(n), np.empty(rows), np.empty(rows)
    multiply_blocks(blocks, width, free, impulse, velocity, expected)
    parts = new_touches(blocks, width)
    for _ in range(2):  # nothing is left of the first time
        multiply_touches(parts, width, free, impulse, found)
    assert abs(found - expected).max() <= 10 * EPS * rows * n
    assert parts.velocity.sum() == pytest.approx(velocity.sum(), abs=10 * EPS * rows * n)


def rubbing(blocks, free):
    """Contacts with μ = 0.5 that carried nothing."""
    m = len(free) // 3
    return ReducedStepProblem(
        3, STEP, free, contact_count=m, id=np.arange(m), gap=np.zeros(m), friction=np.full(m, 0.5),
        start_impulse=np.zeros(3 * m), by_blocks=blocks,
    )  # fmt: skip


def test_a_patch_is_the_problem_of_its_contacts_at_the_impulses_of_the_others():
    touches = [[i, (i + 1) % 8] for i in range(8)] + [[3], [5], [1, 5]]
    blocks, m = blocks_of(8, touches, [6, 1, 6, 3, 6, 6, 1, 3], 3), len(touches)
    rng = np.random.default_rng(3)
    free, impulse = rng.uniform(-1.0, 1.0, (2, 3 * m))
    problem = rubbing(blocks, free)
    J = np.zeros((2, 3 * m, 32))
    for source, rows in zip((blocks.jacobian, blocks.response), J, strict=True):
        for e, c in enumerate(blocks.contact):
            block = source[blocks.place[e] : blocks.place[e] + 3 * blocks.size[e]].reshape(3, -1)
            rows[3 * c : 3 * c + 3, blocks.velocity[e] : blocks.velocity[e] + blocks.size[e]] = block
    W = J[0] @ J[1].T
    patch = np.zeros(m, dtype=bool)
    patch[9] = True
    patch = grow_patch(blocks, patch)
    assert np.flatnonzero(patch).tolist() == [4, 5, 9, 10]  # what body 5 touches
    part, own = extract_patch(problem, blocks, patch, impulse, W @ impulse + free)
    rows = (3 * np.flatnonzero(patch)[:, None] + np.arange(3)).ravel()
    others = np.setdiff1d(np.arange(3 * m), rows)
    expected = free[rows] + W[np.ix_(rows, others)] @ impulse[others]
    scale = abs(W).max() * 3 * m
    assert np.array_equal(own, impulse[rows])
    assert abs(part.free_velocity - expected).max() <= 10 * EPS * scale
    moved = np.empty(len(own))
    part_blocks = part.blocks()
    assert part_blocks is not None
    multiply_blocks(part_blocks, 3, np.zeros(len(own)), own, np.empty(part_blocks.velocity_count), moved)
    assert abs(moved - W[np.ix_(rows, rows)] @ own).max() <= 10 * EPS * scale


@pytest.mark.parametrize("compliance", [1.0, 1e-3])
def test_compliant_contacts_obey_coulombs_law_with_their_own_velocity(compliance):
    """The natural map of the cone at w + ε·D·λ, D = tr W_cc/3, with W summed here."""
    touches = [[i, (i + 1) % 8] for i in range(8)] + [[3], [5], [1, 5]]
    blocks, m = blocks_of(8, touches, [6] * 8, 3), len(touches)
    blocks = blocks._replace(response=blocks.jacobian)
    rng = np.random.default_rng(3)
    free, J = rng.uniform(-1.0, 0.3, 3 * m), np.zeros((3 * m, 48))
    for e, c in enumerate(blocks.contact):
        block = blocks.jacobian[blocks.place[e] : blocks.place[e] + 18].reshape(3, 6)
        J[3 * c : 3 * c + 3, blocks.velocity[e] : blocks.velocity[e] + 6] = block
    W = J @ J.T
    rho = 3.0 / W.diagonal().reshape(-1, 3).sum(axis=1)
    problem = rubbing(blocks, free)
    equations = BodyEquations(blocks, 3)
    solution = solve_compliant(
        CompliantProblem(problem, blocks, equations, rho, 1.0),
        compliance,
        np.zeros(3 * m),
        np.zeros(3 * m),
        40,
    )
    assert solution.is_found
    impulse = solution.impulse.reshape(-1, 3)
    velocity = (W @ solution.impulse + free).reshape(-1, 3) + compliance * impulse / rho[:, None]
    normal, load = velocity[:, 0], impulse[:, 0]
    friction, slip = impulse[:, 1:], velocity[:, 1:]
    bound, slide = 0.5 * load, np.linalg.norm(slip, axis=1)
    assert {bool(each) for each in load > 0.0} == {True, False}
    assert abs(np.minimum(load, normal)).max() <= 1e-9
    assert (np.linalg.norm(friction, axis=1) <= bound * (1.0 + 1e-12)).all()
    # friction opposes the slip with its full size where there is one
    np.testing.assert_allclose(friction * slide[:, None], -bound[:, None] * slip, atol=1e-8)
