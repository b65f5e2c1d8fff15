"""Cylinders, disks and capsules among themselves: by hand, by proof, by search over directions, against coal."""

import numpy as np
import pytest

from corekit_sdf.features import FEATURES
from corekit_testing.gap_rates import gap_rates

from .pairs import (
    DIRECTION,
    LENGTH,
    Scene,
    excess,
    proven_gap,
    random_pair,
    random_rotation,
    rotation_about,
    support,
)

KINDS = [("capsule", "capsule"), ("cylinder", "capsule"), ("cylinder", "cylinder")]
NAMES = ["-".join(kinds) for kinds in KINDS]
ON_SIDE = rotation_about((1, 0, 0), np.pi / 2)
DISK, LOG = ("cylinder", (0.06, 0.005)), ("cylinder", (0.02, 0.1))


def scene_of(first, second, position, rotation=None, **options):
    scene = Scene([first, second], obstacles=0, **options)
    scene.set_pose(0, position, rotation)
    return scene


def separation(scene, n):
    """Evaluate f(n) from the support functions of `pairs`, n of shape (..., 3); it never exceeds the gap."""
    low, high = (
        support(scene.table.kind[k], scene.table.size[k], sign * n @ scene.rotation[k])
        for k, sign in ((0, -1.0), (1, 1.0))
    )
    return n @ (scene.position[0] - scene.position[1]) - low - high


@pytest.mark.parametrize("depth", [0.03, 1e-7, 0.0, -1e-7, -0.003])
def test_gap_of_each_feature_pair_is_the_one_built_in(depth):
    tilt = rotation_about((0, 1, 0), 0.5)
    rim = 0.06 * np.sin(0.5) + 0.005 * np.cos(0.5)
    for first, second, position, rotation in (
        (DISK, DISK, (0.02, 0.01, 0.01 + depth), None),  # cap on cap
        (DISK, LOG, (0.01, 0.0, 0.105 + depth), None),
        (LOG, DISK, (0.0, 0.0, 0.025 + depth), ON_SIDE),  # side on cap
        (("capsule", (0.02, 0.1)), DISK, (0.0, 0.0, 0.025 + depth), ON_SIDE),
        (("capsule", (0.02, 0.1)), DISK, (0.0, 0.0, 0.125 + depth), None),  # end on cap
        (LOG, LOG, (0.04 + depth, 0.0, 0.0), ON_SIDE),  # side across side
        (LOG, LOG, (0.04 + depth, 0.0, 0.15), None),  # side along side
        (("capsule", (0.02, 0.1)), LOG, (0.04 + depth, 0.0, 0.0), ON_SIDE),
        (("capsule", (0.02, 0.1)), ("capsule", (0.03, 0.1)), (0.05 + depth, 0.0, 0.0), ON_SIDE),
        (
            ("cylinder", (0.06, 0.005)),
            ("cylinder", (0.3, 0.1)),
            (0.0, 0.0, 0.1 + rim + depth),
            tilt,
        ),  # rim on cap
    ):
        scene = scene_of(first, second, position, rotation)
        assert scene.gap == pytest.approx(depth, abs=LENGTH)


def test_rims_of_parallel_disks_are_apart_in_the_plane_of_both():
    gap, n, point = next(iter(scene_of(DISK, DISK, (0.12 + 0.03, 0, 0.01 + 0.04)).rows().values()))
    assert gap == pytest.approx(0.05, abs=LENGTH)
    np.testing.assert_allclose(n, (0.6, 0, 0.8), atol=DIRECTION)
    np.testing.assert_allclose(point, (0.075, 0, 0.025), atol=LENGTH)


def test_linked_rims_keep_the_distance_of_a_torus():
    """A disk seen edge-on beside a disk: the nearest rim points are on the line of the centres."""
    scene = scene_of(DISK, DISK, (0.15, 0.0, 0.0), rotation_about((0, 1, 0), np.pi / 2))
    assert scene.gap == pytest.approx(0.15 - 0.005 - 0.06, abs=LENGTH)


def closest_ends(scene):
    """Distance of the axes of two capsules: inside both, or from one of the four ends."""
    p, (u, v), (h, k) = scene.position, scene.rotation[:, :, 2], scene.table.size[:, 1]

    def from_end(x, base, axis, half):
        return np.linalg.norm(x - base - np.clip((x - base) @ axis, -half, half) * axis)

    distances = [from_end(p[0] + s * h * u, p[1], v, k) for s in (1, -1)]
    distances += [from_end(p[1] + s * k * v, p[0], u, h) for s in (1, -1)]
    s, t = np.linalg.lstsq(np.column_stack([u, -v]), p[1] - p[0], rcond=None)[0]
    if abs(s) <= h and abs(t) <= k:
        distances.append(np.linalg.norm(p[0] + s * u - p[1] - t * v))
    return min(distances)


def test_capsules_are_apart_by_their_axes_less_both_radii():
    rng = np.random.default_rng(1)
    for _ in range(100):
        scene = random_pair(rng, "capsule", "capsule")
        assert scene.gap == pytest.approx(closest_ends(scene) - scene.table.size[:, 0].sum(), abs=1e-13)


@pytest.mark.parametrize("kinds", KINDS, ids=NAMES)
def test_distances_apart_carry_their_own_proof(kinds):
    """Points of both shapes at that distance bound φ from above; the plane between them bounds it from below."""
    rng = np.random.default_rng(2)
    for _ in range(150):
        scene = random_pair(rng, *kinds, gap=rng.uniform(1e-4, 0.05), patch=False)
        ((gap, n, point),) = scene.rows().values()
        assert gap > 0
        for k, sign in ((0, 0.5), (1, -0.5)):
            witness = scene.rotation[k].T @ (point + sign * gap * n - scene.position[k])
            assert excess(scene.table.kind[k], scene.table.size[k], witness) < 1e-9
        assert separation(scene, n) == pytest.approx(gap, abs=1e-12)


@pytest.mark.parametrize("kinds", KINDS, ids=NAMES)
def test_no_direction_is_shorter_out_than_the_depth(kinds):
    rng = np.random.default_rng(3)
    for _ in range(40):
        scene = random_pair(rng, *kinds, gap=rng.uniform(-0.03, -1e-4), patch=False)
        gap, n, _ = next(iter(scene.rows().values()))
        assert separation(scene, n) == pytest.approx(gap, abs=1e-12)
        trial = rng.normal(size=(3000, 3))
        trial /= np.linalg.norm(trial, axis=1)[:, None]
        best = trial[np.argsort(separation(scene, trial))[-5:]]
        width = 0.05
        for _ in range(40):
            trial = best[:, None] + width * np.concatenate([np.zeros((1, 3)), rng.normal(size=(30, 3))])
            trial /= np.linalg.norm(trial, axis=2)[:, :, None]
            best = trial[np.arange(5), separation(scene, trial).argmax(axis=1)]
            width *= 0.75
        assert gap - 1e-4 < separation(scene, best).max() <= gap + 1e-12


@pytest.mark.parametrize("kinds", KINDS, ids=NAMES)
def test_gaps_agree_with_coal_or_are_proven_against_it(kinds):
    from .test_coal import coal_distance  # skips if coal is not installed

    rng = np.random.default_rng(4)
    disputed = 0
    for _ in range(150):
        scene = random_pair(rng, *kinds)
        coal_gap = coal_distance(scene)
        if coal_gap is None or abs(scene.gap - coal_gap) > 1e-6:
            # coal's polytope lies inside the true shape, so its depth is at most its tolerance too small
            assert coal_gap is None or coal_gap < scene.gap + 1e-5
            assert proven_gap(scene) == pytest.approx(scene.gap, abs=1e-12)
            disputed += 1
    assert disputed <= 3


@pytest.mark.parametrize("kinds", KINDS, ids=NAMES)
def test_normals_are_gradients_and_rates_the_material_points_velocity(kinds):
    rng = np.random.default_rng(5)
    step, compared = 1e-6, 0
    scenes = [random_pair(rng, *kinds, obstacles=0) for _ in range(40)]
    for first, second, turn, position in (
        (DISK, DISK, np.eye(3), (0.03, 0.0, 0.0102)),
        (DISK, LOG, np.eye(3), (0.0, 0.01, 0.1052)),
        (LOG, DISK, ON_SIDE, (0.02, 0.0, 0.0252)),
        (LOG, LOG, np.eye(3), (0.041, 0.0, 0.1)),
        (("capsule", (0.02, 0.1)), ("capsule", (0.02, 0.1)), np.eye(3), (0.041, 0.0, 0.1)),
    ) * 5:
        tilt = rotation_about(rng.normal(size=3), rng.uniform(0.005, 0.06))
        scenes.append(scene_of(first, second, position, tilt @ turn))
    for scene in scenes:
        home = scene.position.copy(), scene.rotation.copy()
        start, contacts = scene.rows(), scene.measure()
        velocity, spin = rng.normal(size=(2, 3)) * 0.1, rng.normal(size=(2, 3)) * 0.3
        rates = gap_rates(contacts, scene.rotation, velocity, spin)
        expected = {identity % FEATURES: rate for identity, rate in rates.items()}
        sides = []
        for sign in (1, -1):
            for k in range(2):
                turned = rotation_about(spin[k], sign * step * float(np.linalg.norm(spin[k]))) @ home[1][k]
                scene.set_pose(k, home[0][k] + sign * step * velocity[k], turned)
            sides.append(scene.rows())
        for key in start.keys() & sides[0].keys() & sides[1].keys():
            forth, back = sides[0][key][0], sides[1][key][0]
            if abs(forth + back - 2 * start[key][0]) / step < 1e-3:  # else a breakpoint
                passes = max((key >> 4) & 15, key & 15) >= 12  # something passes a rim: the point slides
                assert abs((forth - back) / (2 * step) - expected[key]) < (0.05 if passes else 1e-7)
                compared += not passes
    assert compared > 60


def test_flats_and_lines_on_each_other_give_the_points_of_their_overlap():
    lens = scene_of(DISK, DISK, (0.05, 0.0, 0.0101)).rows()
    assert len(lens) == 4
    for gap, _, point in lens.values():
        assert gap == pytest.approx(1e-4, abs=LENGTH)
        assert max(np.hypot(point[0], point[1]), np.hypot(point[0] - 0.05, point[1])) < 0.06 + 1e-12
    top = scene_of(DISK, ("cylinder", (0.3, 0.1)), (0.01, 0.02, 0.1049)).rows()
    assert sorted(np.round(p[0] - 0.01, 9) for _, _, p in top.values()) == pytest.approx(
        [-0.06 / np.sqrt(2)] * 2 + [0.06 / np.sqrt(2)] * 2, abs=1e-8
    )
    across = scene_of(LOG, ("cylinder", (0.06, 0.1)), (0.0, 0.0, 0.1201), ON_SIDE).rows()
    assert sorted(float(p[1]) for _, _, p in across.values()) == pytest.approx([-0.06, 0.06], abs=1e-12)
    for kind in ("capsule", "cylinder"):
        beside = scene_of((kind, (0.02, 0.1)), ("capsule", (0.03, 0.15)), (0.051, 0.0, 0.12)).rows()
        assert sorted(float(p[2]) for _, _, p in beside.values()) == pytest.approx([0.02, 0.15], abs=1e-12)
        for gap, normal, _ in beside.values():
            assert gap == pytest.approx(0.001, abs=LENGTH)
            np.testing.assert_allclose(normal, (1, 0, 0), atol=1e-12)
    alone = scene_of(DISK, ("cylinder", (0.3, 0.1)), (0.01, 0.02, 0.1049), patch=False).rows()
    ((gap, _, point),) = alone.values()
    np.testing.assert_allclose(point, (0.01, 0.02, 0.09995), atol=1e-12)


def test_coincident_and_coaxial_poses_have_a_finite_gap_that_its_normal_proves():
    for first in (DISK, LOG, ("capsule", (0.02, 0.1))):
        for second in (DISK, LOG, ("capsule", (0.03, 0.05))):
            for position in ((0, 0, 0), (0, 0, 0.01), (0.01, 0, 0)):
                for turn in (np.eye(3), ON_SIDE, random_rotation(np.random.default_rng(0))):
                    scene = scene_of(first, second, position, turn)
                    gap, n, point = min(scene.rows().values(), key=lambda row: row[0])
                    assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
                    assert np.all(np.isfinite(point))
                    assert separation(scene, n) == pytest.approx(gap, abs=1e-12)


def test_a_pose_that_is_not_finite_gives_a_contact_with_gap_nan():
    for kinds in KINDS:
        scene = random_pair(np.random.default_rng(0), *kinds)
        scene.set_pose(0, (np.nan, 0.0, 0.0))
        contacts = scene.measure(margin=0.01)
        assert contacts.count >= 1
        assert np.isnan(contacts.gap[0])
