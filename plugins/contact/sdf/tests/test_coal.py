"""Ten thousand random pairs of every served kind against the collision library coal."""

import importlib
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

from .pairs import KINDS, proven_gap, random_pair, rotation_about

if sys.platform == "win32":
    pytest.skip("coal has no wheels for Windows", allow_module_level=True)
coal: Any = importlib.import_module("coal")  # lives where type checkers do not look
PAIRS_EACH = 1112  # nine kind pairs: 10,008 in all


def geometry(kind, size):
    if kind == "half-space":
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if kind == "sphere":
        return coal.Sphere(size[0])
    if kind == "box":
        return coal.Box(2 * size[0], 2 * size[1], 2 * size[2])
    return {"capsule": coal.Capsule, "cylinder": coal.Cylinder}[kind](size[0], 2 * size[1])


def coal_distance(scene):
    """coal's signed distance, or None where it gives none.

    Its depth iteration fails in 2 % of cylinders in boxes when asked for 1e-10 (no answer, or one up to
    0.4 m too deep), in none when asked for 1e-7.
    """
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance, request.epa_tolerance = 1e-9, 1e-7
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    solids = [geometry(kind, size) for kind, size in zip(scene.table.kind, scene.table.size, strict=True)]
    places = [coal.Transform3s(scene.rotation[k], scene.position[k]) for k in range(2)]
    answer = coal.distance(solids[0], places[0], solids[1], places[1], request, result)
    return answer if np.isfinite(answer) and abs(answer) < 1e6 else None


@pytest.mark.parametrize(("first", "second"), KINDS, ids=["-".join(kinds) for kinds in KINDS])
def test_gaps_agree_with_coal_or_are_proven_against_it(first, second):
    rng = np.random.default_rng([KINDS.index((first, second)), 7])
    disputed = 0
    for _ in range(PAIRS_EACH):
        scene = random_pair(rng, first, second)
        theirs = coal_distance(scene)
        if theirs is None or abs(scene.gap - theirs) > 1e-6:
            # a deeper answer than a translation that is seen to separate the pair cannot be right
            assert theirs is None or theirs < scene.gap
            assert proven_gap(scene) == pytest.approx(scene.gap, abs=1e-12)
            disputed += 1
    assert disputed <= PAIRS_EACH // 100


def test_gaps_agree_with_coal_where_disks_lie_flat():
    rng = np.random.default_rng(2)
    for tilt, depth in product((0.0, 1e-9, 1e-6, 1e-3, 0.05), (0.01, 1e-5, -1e-5, -2e-3)):
        scene = random_pair(rng, "cylinder", "box", gap=0.01)
        up = scene.rotation[1][:, 2]
        scene.rotation[0] = rotation_about(np.cross(up, rng.normal(size=3)), tilt) @ scene.rotation[1]
        scene.position[0] = scene.position[1] + up * (scene.table.size[1, 2] + scene.table.size[0, 1] + depth)
        theirs = coal_distance(scene)
        assert theirs is not None
        assert abs(scene.gap - theirs) < 1e-6
