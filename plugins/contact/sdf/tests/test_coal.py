"""Random pairs of every supported kind against the collision library coal: 2,700, with `--full` 10,008 in all."""

import importlib
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

from .pairs import KINDS, proven_gap, random_pair, rotation_about

if sys.platform == "win32":
    pytest.skip("coal has no wheels for Windows", allow_module_level=True)
coal: Any = importlib.import_module("coal")  # type checkers do not find coal
EACH, EACH_OF_ALL = 300, 1112
"""Pairs of each of nine kind pairs; the last number with `--full`."""


def geometry(kind, size):
    if kind == "half-space":
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if kind == "sphere":
        return coal.Sphere(size[0])
    if kind == "box":
        return coal.Box(2 * size[0], 2 * size[1], 2 * size[2])
    return {"capsule": coal.Capsule, "cylinder": coal.Cylinder}[kind](size[0], 2 * size[1])


def coal_distance(scene):
    """Return coal's signed distance, or None where it has none.

    With a tolerance of 1e-10 its depth iteration fails in 2 % of cylinders in boxes (no distance, or up to
    0.4 m too deep), with 1e-7 in none.
    """
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance, request.epa_tolerance = 1e-9, 1e-7
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    solids = [geometry(kind, size) for kind, size in zip(scene.table.kind, scene.table.size, strict=True)]
    transforms = [coal.Transform3s(scene.rotation[k], scene.position[k]) for k in range(2)]
    distance = coal.distance(solids[0], transforms[0], solids[1], transforms[1], request, result)
    return distance if np.isfinite(distance) and abs(distance) < 1e6 else None


@pytest.mark.parametrize(("first", "second"), KINDS, ids=["-".join(kinds) for kinds in KINDS])
def test_gaps_agree_with_coal_or_are_proven_against_it(first, second, pytestconfig):
    pairs = EACH_OF_ALL if pytestconfig.getoption("full", default=False) else EACH
    rng = np.random.default_rng([KINDS.index((first, second)), 7])
    disputed = 0
    for _ in range(pairs):
        scene = random_pair(rng, first, second)
        coal_gap = coal_distance(scene)
        if coal_gap is None or abs(scene.gap - coal_gap) > 1e-6:
            # a depth above the length of a translation that separates the pair cannot be right
            assert coal_gap is None or coal_gap < scene.gap
            assert proven_gap(scene) == pytest.approx(scene.gap, abs=1e-12)
            disputed += 1
    assert disputed <= pairs // 100


def test_gaps_agree_with_coal_where_disks_lie_flat():
    rng = np.random.default_rng(2)
    for tilt, depth in product((0.0, 1e-9, 1e-6, 1e-3, 0.05), (0.01, 1e-5, -1e-5, -2e-3)):
        scene = random_pair(rng, "cylinder", "box", gap=0.01)
        up = scene.rotation[1][:, 2]
        scene.rotation[0] = rotation_about(np.cross(up, rng.normal(size=3)), tilt) @ scene.rotation[1]
        scene.position[0] = scene.position[1] + up * (scene.table.size[1, 2] + scene.table.size[0, 1] + depth)
        coal_gap = coal_distance(scene)
        assert coal_gap is not None
        assert abs(scene.gap - coal_gap) < 1e-6
