"""How exact detector `mpr` is on 10,000 random pairs, as shares of 1e-6 m; coal's unconverged answers are counted.

Pairs of spheres, capsules, cylinders and boxes as in a soft arm's world, from 25 mm deep to 30 mm apart, evenly
over ten pairs of kinds. Where `sdf` has a closed form it is the reference; elsewhere coal with signed distances at
tolerances of 1e-9 (GJK) and 1e-8 (EPA). Where coal gives no finite answer, or differs by more than 1e-6 m, the pair
is *disputed* and judged by proof: the support plane of mpr's normal separates the shapes shifted by its depth, and
none of 20,000 sampled and then refined directions needs less.

    error       largest difference from the reference over the undisputed pairs [m]
    proven      largest amount by which a sampled direction was better on the disputed ones [m]
    ratio       the larger of both over 1e-6 m

    python benchmarks/detector_depths.py [--json] [--pairs 10000]
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
from typing import Any

import numpy as np
from detectors import rotation, size

from corekit.data.arrays import Array
from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit_mpr.config import MprConfig
from corekit_mpr.detector import MprDetector
from corekit_sdf.config import SdfConfig
from corekit_sdf.detector import SdfDetector

ROUND = ("sphere", "capsule", "cylinder", "box")
KINDS = [(first, second) for k, first in enumerate(ROUND) for second in ROUND[k:]]
LIMIT = 1e-6


def scene(kinds: tuple[str, str], count: int, random: np.random.Generator) -> tuple[ShapeTable, ShapePoses]:
    """Many pairs of two kinds at random poses, 0.7 m apart."""
    body = np.arange(2 * count)
    table = ShapeTable(
        kind=(kinds[0],) * count + (kinds[1],) * count,
        size=np.array([size(random, kind) for kind in kinds for _ in range(count)]),
        body=body,
        frame=body.copy(),
        second_frame=np.full(2 * count, -1),
        offset_position=np.zeros((2 * count, 3)),
        offset_rotation=np.tile(np.eye(3), (2 * count, 1, 1)),
        obstacle=np.full(2 * count, -1),
        vertices=(None,) * (2 * count),
        excluded_pairs=np.zeros((0, 2), dtype=np.int64),
        self_contact=np.zeros(2 * count, dtype=bool),
    )
    position = 0.1 * random.normal(size=(2 * count, 3))
    away = random.normal(size=(count, 3))
    position[:count] = position[count:] + 0.7 * away / np.linalg.norm(away, axis=1)[:, None]
    turn = np.array([rotation(random) for _ in range(2 * count)])
    return table, ShapePoses(position, turn, position, position, turn)


def measured(detector: Any, poses: ShapePoses, count: int) -> tuple[Array, Array]:
    """Least gap of every pair [m] and its normal."""
    near, found = Candidates(count), ContactSet()
    near.pairs[:count] = np.stack([np.arange(count), np.arange(count, 2 * count)], axis=1)
    near.count = count
    detector.compute_contacts(near, poses, np.inf, found)
    gap, normal = np.full(count, np.inf), np.zeros((count, 3))
    for c in range(found.count):
        i = int(found.shape[c, 0])
        if found.gap[c] < gap[i]:
            gap[i], normal[i] = found.gap[c], found.normal[c]
    return gap, normal


def support(kind: str, s: Array, d: Array) -> Array:
    """max over a shape of d·x for directions (..., 3) in its own axes [m]."""
    if kind == "box":
        return np.abs(d) @ s
    length, side = np.linalg.norm(d, axis=-1), np.hypot(d[..., 0], d[..., 1])
    if kind == "sphere":
        return s[0] * length
    return (s[0] * length if kind == "capsule" else s[0] * side) + s[1] * np.abs(d[..., 2])


def separation(table: ShapeTable, poses: ShapePoses, i: int, j: int, n: Array) -> Array:
    """f(n), a lower bound of the gap of shapes i and j [m]."""
    low = support(table.kind[i], table.size[i], -n @ poses.rotation[i])
    high = support(table.kind[j], table.size[j], n @ poses.rotation[j])
    return n @ (poses.position[i] - poses.position[j]) - low - high


def best_direction(
    table: ShapeTable, poses: ShapePoses, i: int, j: int, random: np.random.Generator
) -> float:
    """The greatest f over sampled directions, the best ten refined by shrinking random steps [m]."""
    n = random.normal(size=(20_000, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    n = n[np.argsort(separation(table, poses, i, j, n))[-10:]]
    width = 0.03
    for _ in range(60):
        trial = n[:, None] + width * np.concatenate([np.zeros((1, 3)), random.normal(size=(50, 3))])
        trial /= np.linalg.norm(trial, axis=2)[:, :, None]
        n = trial[np.arange(len(n)), separation(table, poses, i, j, trial).argmax(axis=1)]
        width *= 0.8
    return float(separation(table, poses, i, j, n).max())


def coal_gaps(table: ShapeTable, poses: ShapePoses, count: int) -> Array:
    """coal's signed distances [m], nan where it does not converge or is not installed."""
    answers = np.full(count, np.nan)
    if importlib.util.find_spec("coal") is None:
        return answers
    coal: Any = importlib.import_module("coal")

    def solid(i: int) -> Any:
        kind, s = table.kind[i], table.size[i]
        if kind == "sphere":
            return coal.Sphere(s[0])
        if kind == "box":
            return coal.Box(*(2 * s))
        return {"capsule": coal.Capsule, "cylinder": coal.Cylinder}[kind](s[0], 2 * s[1])

    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance, request.epa_tolerance = 1e-9, 1e-8
    request.gjk_max_iterations = request.epa_max_iterations = 1000
    for i in range(count):
        result = coal.DistanceResult()
        places = [coal.Transform3s(poses.rotation[k], poses.position[k]) for k in (i, count + i)]
        answer = coal.distance(solid(i), places[0], solid(count + i), places[1], request, result)
        if np.isfinite(answer) and abs(answer) < 1e6:
            answers[i] = answer
    return answers


def case(kinds: tuple[str, str], count: int) -> dict[str, float]:
    """Errors of one pair of kinds."""
    random = np.random.default_rng([9, KINDS.index(kinds)])
    table, poses = scene(kinds, count, random)
    mpr, sdf = MprDetector(MprConfig()), SdfDetector(SdfConfig())
    mpr.prepare(table, frozenset({kinds}))
    gap, normal = measured(mpr, poses, count)
    poses.position[:count] += (random.uniform(-0.025, 0.03, count) - gap)[:, None] * normal
    gap, normal = measured(mpr, poses, count)
    closed = kinds in sdf.supported_pairs or kinds[::-1] in sdf.supported_pairs
    if closed:
        sdf.prepare(table, frozenset({kinds}))
        reference = measured(sdf, poses, count)[0]
    else:
        reference = coal_gaps(table, poses, count)
    disputed = np.flatnonzero(~(np.abs(gap - reference) <= LIMIT))
    agreed = np.setdiff1d(np.arange(count), disputed)
    better = 0.0
    for i in disputed.tolist():
        own = float(separation(table, poses, i, count + i, normal[i]))
        found = best_direction(table, poses, i, count + i, random)
        better = max(better, abs(own - gap[i]), found - gap[i])
    error = float(np.abs(gap - reference)[agreed].max(initial=0.0))
    return {
        "ratio": max(error, better) / LIMIT,
        "pairs": count,
        "deep": int((gap < 0).sum()),
        "closed form": int(closed),
        "unconverged": int(np.isnan(reference).sum()),
        "disputed": len(disputed),
        "error": error,
        "proven": better,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--pairs", type=int, default=10_000)
    asked = parser.parse_args()
    answers = {"-".join(kinds): case(kinds, asked.pairs // len(KINDS)) for kinds in KINDS}
    if asked.json:
        print(json.dumps(answers))
        return
    for name, numbers in answers.items():
        print(f"{name:20s}", "  ".join(f"{key} {value:.3g}" for key, value in numbers.items()))


if __name__ == "__main__":
    main()
