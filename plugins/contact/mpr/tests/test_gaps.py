"""Gaps against closed forms, against proofs from the shapes themselves, and against the library coal."""

import importlib
from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from corekit_testing.rounding import rounding

from .pairs import (
    DIRECTION,
    KINDS,
    LENGTH,
    Scene,
    random_pair,
    random_rotation,
    rotation_about,
    separation,
    support,
)

coal: Any = importlib.import_module("coal")  # type checkers do not find coal
PAIRS = 24
NAMES = ["-".join(kinds) for kinds in KINDS]


def segments(p, u, h, q, v, k):
    """Distance of the segments p ± h·u and q ± k·v: inside both, or from one of the four ends."""

    def from_end(x, base, axis, half):
        return np.linalg.norm(x - base - np.clip((x - base) @ axis, -half, half) * axis)

    ends = [from_end(p + s * h * u, q, v, k) for s in (1, -1)] + [
        from_end(q + s * k * v, p, u, h) for s in (1, -1)
    ]
    s, t = np.linalg.lstsq(np.column_stack([u, -v]), q - p, rcond=None)[0]
    if abs(s) <= h and abs(t) <= k:
        ends.append(np.linalg.norm(p + s * u - q - t * v))
    return min(ends)


def signed_distance(kind, size, x):
    """Signed distance of a point in the shape's own axes."""
    if kind == "sphere":
        return np.linalg.norm(x) - size[0]
    if kind == "capsule":
        return np.hypot(np.hypot(x[0], x[1]), max(abs(x[2]) - size[1], 0.0)) - size[0]
    if kind == "cylinder":
        beyond = np.array([np.hypot(x[0], x[1]) - size[0], abs(x[2]) - size[1]])
    else:
        beyond = np.abs(x) - size
    return np.linalg.norm(np.maximum(beyond, 0.0)) + min(beyond.max(), 0.0)


def closed_form(scene):
    kinds, size = scene.table.kind, scene.table.size
    if kinds == ("capsule", "capsule"):
        axes = scene.rotation[:, :, 2]
        apart = segments(scene.position[0], axes[0], size[0, 1], scene.position[1], axes[1], size[1, 1])
        return apart - size[0, 0] - size[1, 0]
    ball, other = (0, 1) if kinds[0] == "sphere" else (1, 0)
    x = (scene.position[ball] - scene.position[other]) @ scene.rotation[other]
    return signed_distance(kinds[other], size[other], x) - size[ball, 0]


@pytest.mark.parametrize(
    "kinds",
    [("sphere", kind) for kind in ("sphere", "capsule", "cylinder", "box")] + [("capsule", "capsule")],
)
def test_gaps_match_closed_forms_apart_and_inside(kinds):
    rng = np.random.default_rng(1)
    for _ in range(100):
        scene = random_pair(rng, *kinds)
        assert scene.gap == pytest.approx(closed_form(scene), abs=1e-12)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "box", "polytope"])
def test_a_half_space_gives_the_height_of_the_lowest_point(kind):
    rng = np.random.default_rng(2)
    for _ in range(PAIRS):
        scene = random_pair(rng, kind, "half-space", obstacle=True, patch=False)
        gap, normal, point = scene.closest()
        np.testing.assert_allclose(normal, scene.rotation[1, :, 2], atol=DIRECTION)
        height = normal @ (scene.position[0] - scene.position[1])
        # the lowest point: the support along the plane's normal, from `pairs.support`
        lowest = extent_below(scene, normal)
        assert gap == pytest.approx(height - lowest, abs=LENGTH)
        assert normal @ (point - scene.position[1]) == pytest.approx(0.5 * gap, abs=LENGTH)


def extent_below(scene, normal):
    """Extent of the first shape below its origin along a normal [m]."""
    table = scene.table
    return float(support(table.kind[0], table.size[0], table.vertices[0], -normal @ scene.rotation[0]))


def distance_outside(scene, k, x):
    """Signed distance of the world point x from shape k [m], ≤ 0 inside."""
    local = (x - scene.position[k]) @ scene.rotation[k]
    kind = scene.table.kind[k]
    if kind != "polytope":
        return signed_distance(kind, scene.table.size[k][: {"sphere": 1, "box": 3}.get(kind, 2)], local)
    vertices = np.asarray(scene.table.vertices[k])
    planes = ConvexHull(vertices).equations
    return float((planes[:, :3] @ local + planes[:, 3]).max())


def proof(scene, n):
    """Bound of the distance [m] between the closest points and the two shapes along a normal, due to rounding.

    It is the gradient of f, `refine_direction` (4), which the detector reduces to 1e-14 of the pair's extent
    or to its own rounding: coordinates in the world and back through ten changes of frame, three products
    each, and the rim of a cylinder that turns R/ρ times as fast as n, ρ the sine between n and its axis.
    """
    extent, turning = 0.0, 1.0
    for k, (kind, size) in enumerate(zip(scene.table.kind, scene.table.size, strict=True)):
        vertices = scene.table.vertices[k]
        extent += np.linalg.norm(size) if vertices is None else np.ptp(vertices, axis=0).max()
        if kind == "cylinder":
            turning = max(turning, 1.0 / float(np.linalg.norm(np.cross(n, scene.rotation[k, :, 2]))))
    extent_world = float(np.abs(scene.position).max() + extent)
    return 1e-14 * extent + rounding(30, extent_world, turning)


@pytest.mark.parametrize("kinds", KINDS, ids=NAMES)
def test_gaps_apart_carry_their_own_proof(kinds):
    """Points of both shapes at that distance bound the gap from above; the plane between them bounds it from below."""
    rng = np.random.default_rng([3, KINDS.index(kinds)])
    for _ in range(PAIRS):
        scene = random_pair(rng, *kinds, gap=rng.uniform(1e-5, 0.05), patch=False)
        gap, n, point = scene.closest()
        assert gap > 0
        assert distance_outside(scene, 0, point + 0.5 * gap * n) < proof(scene, n)
        assert distance_outside(scene, 1, point - 0.5 * gap * n) < proof(scene, n)
        assert separation(scene, n) == pytest.approx(gap, abs=proof(scene, n))


def best_of_all_directions(scene, rng):
    """Return the greatest f over a dense sample of directions, the best ones refined by shrinking random steps [m]."""
    n = rng.normal(size=(4000, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    n = n[np.argsort(separation(scene, n))[-6:]]
    width = 0.05
    for _ in range(40):
        trial = n[:, None] + width * np.concatenate([np.zeros((1, 3)), rng.normal(size=(40, 3))])
        trial /= np.linalg.norm(trial, axis=2)[:, :, None]
        n = trial[np.arange(len(n)), separation(scene, trial).argmax(axis=1)]
        width *= 0.75
    return float(separation(scene, n).max())


@pytest.mark.parametrize("kinds", KINDS, ids=NAMES)
def test_no_direction_is_shorter_out_than_the_depth(kinds):
    rng = np.random.default_rng([4, KINDS.index(kinds)])
    for _ in range(PAIRS // 4):
        scene = random_pair(rng, *kinds, gap=rng.uniform(-0.025, -1e-5), patch=False)
        gap, n, _ = scene.closest()
        assert separation(scene, n) == pytest.approx(gap, abs=1e-12)
        best_value = best_of_all_directions(scene, rng)
        assert best_value <= gap + scene.tolerance
        assert best_value >= gap - 1e-4  # the search comes near, so it would find a better one


def geometry(scene, k):
    kind, size = scene.table.kind[k], scene.table.size[k]
    if kind == "polytope":
        points = coal.StdVec_Vec3s()
        for vertex in scene.table.vertices[k]:
            points.append(np.asarray(vertex))
        return coal.Convex.convexHull(points, True, "Qt")
    if kind == "sphere":
        return coal.Sphere(size[0])
    if kind == "box":
        return coal.Box(*(2 * size))
    return {"capsule": coal.Capsule, "cylinder": coal.Cylinder}[kind](size[0], 2 * size[1])


def coal_distance(scene):
    """Return coal's signed distance at tight tolerances, or None where it does not converge."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance, request.epa_tolerance = 1e-9, 1e-8
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    transforms = [coal.Transform3s(scene.rotation[k], scene.position[k]) for k in range(2)]
    distance = coal.distance(
        geometry(scene, 0), transforms[0], geometry(scene, 1), transforms[1], request, result
    )
    return distance if np.isfinite(distance) and abs(distance) < 1e6 else None


@pytest.mark.parametrize("kinds", KINDS, ids=NAMES)
def test_gaps_agree_with_coal_or_are_proven_against_it(kinds):
    rng = np.random.default_rng([5, KINDS.index(kinds)])
    disputed = 0
    for _ in range(2 * PAIRS):
        scene = random_pair(rng, *kinds)
        gap, n, _ = scene.closest()
        coal_gap = coal_distance(scene)
        if coal_gap is None or abs(gap - coal_gap) > 1e-6:
            # a depth above the length of a translation that separates the pair cannot be right, nor a
            # smaller one (coal's polytope is inside the true shape) that no direction attains
            assert separation(scene, n) == pytest.approx(gap, abs=1e-12)
            if coal_gap is not None and coal_gap > gap:
                assert best_of_all_directions(scene, rng) < gap + scene.tolerance
            disputed += 1
    assert disputed <= 3


@pytest.mark.parametrize("kinds", KINDS, ids=NAMES)
def test_normal_is_the_gradient_of_the_gap(kinds):
    rng = np.random.default_rng(6)
    step, checked = 1e-6, 0
    for _ in range(15):
        scene = random_pair(rng, *kinds, patch=False)
        gap, normal, _ = scene.closest()
        start = scene.position[0].copy()
        slope, bend = np.zeros(3), 0.0
        for axis in range(3):
            sides = []
            for sign in (1, -1):
                scene.position[0] = start
                scene.position[0, axis] += sign * step
                sides.append(scene.gap)
            slope[axis] = (sides[0] - sides[1]) / (2 * step)
            bend = max(bend, abs(sum(sides) - 2 * gap) / step)
            scene.position[0] = start
        if bend < 1e-4:  # else a breakpoint of the depth, or a centre of curvature within 1 cm
            np.testing.assert_allclose(slope, normal, atol=2e-8)
            checked += 1
    assert checked >= 11


def turn_onto(one, other, rng):
    """A rotation that takes unit vector `one` to `other`, by a random angle about it."""

    def frame(axis):
        across = np.cross(axis, rng.normal(size=3))
        across /= np.linalg.norm(across)
        return np.column_stack([axis, across, np.cross(axis, across)])

    return frame(other) @ frame(one).T


def test_the_normal_of_a_rim_and_a_corner_is_exact_where_the_gap_no_longer_tells():
    """The closest points are known by construction; an error δ of the normal changes the gap by δ² alone.

    Between a point of the rim and the corner the normal is their difference over the gap, so that its error is that of
    the points over the gap.
    """
    rng = np.random.default_rng(7)
    radius, half, box = 0.06, 0.02, np.array([0.05, 0.07, 0.04])
    for _ in range(200):
        slope = rng.uniform(0.2, 1.3)  # of the normal at the rim, between the side and the cap
        outward = np.array([np.cos(slope), 0.0, np.sin(slope)])
        corner_normal = rng.uniform(0.2, 1.0, 3)
        corner_normal /= np.linalg.norm(corner_normal)
        gap, turn, place = 10.0 ** rng.uniform(-4, -1.5), random_rotation(rng), rng.normal(size=3)
        relative = turn_onto(corner_normal, -outward, rng)
        corner = np.array([radius, 0.0, half]) + gap * outward
        scene = Scene([("cylinder", (radius, half)), ("box", tuple(box))])
        scene.set_pose(0, place, turn)
        scene.set_pose(1, place + turn @ (corner - relative @ box), turn @ relative)
        found, normal, point = scene.closest()
        error = float(proof(scene, normal))
        assert found == pytest.approx(gap, abs=error)
        np.testing.assert_allclose(normal, -turn @ outward, atol=error / gap)
        np.testing.assert_allclose(point, place + turn @ (corner - 0.5 * gap * outward), atol=error)


def test_portal_alone_would_be_wrong_where_the_gap_is_right():
    """A thin disk off the middle of a sphere: along the ray from the centres the way out is 0.06 mm too long."""
    scene = Scene([("cylinder", (0.06, 0.005)), ("sphere", (0.05,))])
    scene.set_pose(1, (0.03, 0.0, 0.005 + 0.05 - 0.003))
    assert scene.gap == pytest.approx(-0.003, abs=LENGTH)
    ray = scene.position[0] - scene.position[1]
    assert separation(scene, ray / np.linalg.norm(ray)) < -0.003 - 5e-5


@pytest.mark.parametrize("depth", [0.01, 1e-6, 1e-9, 1e-13, 0.0, -1e-13, -1e-9, -1e-6, -0.002])
def test_flat_contact_keeps_its_gap_down_to_rounding(depth):
    turn = random_rotation(np.random.default_rng(8))
    for first, second, height in (
        (("cylinder", (0.06, 0.005)), ("box", (0.2, 0.2, 0.1)), 0.105),
        (("box", (0.05, 0.06, 0.03)), ("box", (0.2, 0.2, 0.1)), 0.13),
        (("cylinder", (0.06, 0.005)), ("cylinder", (0.03, 0.02)), 0.025),
        (("capsule", (0.02, 0.1)), ("box", (0.2, 0.2, 0.1)), 0.22),
    ):
        scene = Scene([first, second])
        scene.set_pose(1, (0.1, 0.2, 0.3), turn)
        scene.set_pose(0, scene.position[1] + turn @ (0.01, 0.02, height + depth), turn)
        gap, normal, _ = scene.closest()
        assert gap == pytest.approx(depth, abs=LENGTH)
        np.testing.assert_allclose(normal, turn[:, 2], atol=DIRECTION)


def test_coincident_centres_give_a_finite_depth_and_the_same_contact_twice():
    sizes = {"sphere": (0.05,), "capsule": (0.02, 0.1), "cylinder": (0.06, 0.02), "box": (0.1, 0.12, 0.13)}
    for first, one in sizes.items():
        for second, two in sizes.items():
            scene = Scene([(first, one), (second, two)])
            scene.set_pose(0, (0.0, 0.0, 0.0), rotation_about((1, 2, 3), 0.7))
            gap, normal, point = scene.closest()
            assert gap < 0
            assert np.all(np.isfinite(point))
            assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
            assert separation(scene, normal) == pytest.approx(gap, abs=1e-12)
            again = scene.closest()
            assert again[0] == gap
            np.testing.assert_array_equal(again[1], normal)
