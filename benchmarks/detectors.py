"""What a gap costs: detectors `mpr` and `sdf` a pair, against the collision library coal where it is installed.

For several pairs of kinds, each with sizes as in a soft arm's world and random poses,

    near     gaps between −3 mm and 10 mm: what a contact stage measures most
    deep     gaps down to −40 % of the thinner shape

are measured by `ContactDetector.measure`, all pairs in one call, patches and carriers included, and by
`coal.distance` with signed distances at a tolerance of 1e-7, one call a pair (its Python binding costs about
1 µs of it). Times are the least of several rounds in alternation [µs a pair]; `ratio` is mpr over coal, or
over sdf where coal is missing. `error` is the largest difference of mpr from sdf [m].

    python benchmarks/detectors.py [--json]
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import Candidates, ContactSet
from corekit.geometry.shapes import ShapePoses, ShapeTable
from corekit_mpr.config import MprConfig
from corekit_mpr.detector import MprDetector
from corekit_sdf.config import SdfConfig
from corekit_sdf.detector import SdfDetector

PAIRS, ROUNDS = 400, 7
KINDS = (
    ("cylinder", "box"),
    ("cylinder", "sphere"),
    ("capsule", "box"),
    ("capsule", "capsule"),
    ("cylinder", "cylinder"),
    ("box", "box"),
    ("sphere", "half-space"),
)


def rotation(random: np.random.Generator) -> Array:
    """A rotation drawn uniformly."""
    q, r = np.linalg.qr(random.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.sign(np.linalg.det(q))


def size(random: np.random.Generator, kind: str) -> tuple[float, ...]:
    """Sizes of a shape [m]."""
    return {
        "half-space": (0.0, 0.0, 0.0),
        "sphere": (random.uniform(0.02, 0.1), 0.0, 0.0),
        "box": tuple(random.uniform(0.02, 0.2, 3)),
        "capsule": (random.uniform(0.02, 0.06), random.uniform(0.02, 0.15), 0.0),
        "cylinder": (random.uniform(0.03, 0.1), float(random.choice([0.005, 0.02, 0.1])), 0.0),
    }[kind]


class Pairs:
    """Many pairs of two kinds, each of two bodies' shapes, the second an obstacle where it is a half-space."""

    def __init__(self, kinds: tuple[str, str], deep: bool, random: np.random.Generator) -> None:
        n = PAIRS
        flat = kinds[1] == "half-space"
        self.kinds = kinds
        body = np.concatenate([np.arange(n), np.full(n, -1) if flat else np.arange(n, 2 * n)])
        self.table = ShapeTable(
            kind=(kinds[0],) * n + (kinds[1],) * n,
            size=np.array([size(random, kind) for kind in kinds for _ in range(n)]),
            body=body,
            frame=body.copy(),
            second_frame=np.full(2 * n, -1),
            offset_position=np.zeros((2 * n, 3)),
            offset_rotation=np.tile(np.eye(3), (2 * n, 1, 1)),
            obstacle=np.where(body < 0, np.arange(2 * n) - n, -1),
            vertices=(None,) * (2 * n),
            excluded_pairs=np.zeros((0, 2), dtype=np.int64),
            self_contact=np.zeros(2 * n, dtype=bool),
        )
        position = random.normal(size=(2 * n, 3)) * 0.1
        turn = np.array([rotation(random) for _ in range(2 * n)])
        self.poses = ShapePoses(position, turn, position, position[body >= 0], turn[body >= 0])
        self.near = Candidates(n)
        self.near.pairs[:n] = np.stack([np.arange(n), np.arange(n, 2 * n)], axis=1)
        self.near.count = n
        self.mpr, self.sdf = MprDetector(MprConfig()), SdfDetector(SdfConfig())
        self.mpr.prepare(self.table, frozenset({kinds}))
        self.served = kinds in self.sdf.supported_pairs or kinds[::-1] in self.sdf.supported_pairs
        if self.served:
            self.sdf.prepare(self.table, frozenset({kinds}))
        self._approach(deep, random)

    def _approach(self, deep: bool, random: np.random.Generator) -> None:
        """Shift the first shapes along the normal to the gaps wanted."""
        n, poses = PAIRS, self.poses
        away = random.normal(size=(n, 3))
        away /= np.linalg.norm(away, axis=1)[:, None]
        if self.kinds[1] == "half-space":
            away = poses.rotation[n:, :, 2]
        poses.position[:n] = poses.position[n:] + 0.6 * away
        thin = np.where(self.table.size > 0, self.table.size, np.inf).min(axis=1)
        least = 0.4 * np.minimum(thin[:n], thin[n:])
        wanted = random.uniform(-least if deep else -0.003, 0.0 if deep else 0.01, n)
        gap, normal = self.gaps(self.mpr)
        poses.position[:n] += (wanted - gap)[:, None] * normal
        frames = int(np.count_nonzero(self.table.body >= 0))
        poses.frame_position[:] = poses.position[:frames]

    def measure(self, detector: Any, found: ContactSet) -> None:
        """All pairs in one call."""
        found.count = 0
        detector.compute_contacts(self.near, self.poses, np.inf, found)

    def gaps(self, detector: Any) -> tuple[Array, Array]:
        """Least gap of every pair [m] and its normal."""
        found = ContactSet()
        self.measure(detector, found)
        gap, normal = np.full(PAIRS, np.inf), np.zeros((PAIRS, 3))
        for c in range(found.count):
            i = int(found.shape[c, 0])
            if found.gap[c] < gap[i]:
                gap[i], normal[i] = found.gap[c], found.normal[c]
        return gap, normal


def coal_caller(pairs: Pairs) -> Callable[[], None] | None:
    """A function that measures every pair by coal, or None where it is not installed."""
    if importlib.util.find_spec("coal") is None:
        return None
    coal: Any = importlib.import_module("coal")

    def solid(i: int) -> Any:
        kind, s = pairs.table.kind[i], pairs.table.size[i]
        if kind == "half-space":
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        if kind == "sphere":
            return coal.Sphere(s[0])
        if kind == "box":
            return coal.Box(*(2 * s))
        return {"capsule": coal.Capsule, "cylinder": coal.Cylinder}[kind](s[0], 2 * s[1])

    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-7
    request.gjk_max_iterations = request.epa_max_iterations = 500
    solids = [solid(i) for i in range(2 * PAIRS)]
    places = [coal.Transform3s(pairs.poses.rotation[i], pairs.poses.position[i]) for i in range(2 * PAIRS)]
    result = coal.DistanceResult()

    def ask() -> None:
        for i in range(PAIRS):
            coal.distance(solids[i], places[i], solids[PAIRS + i], places[PAIRS + i], request, result)
            result.clear()

    return ask


def least(calls: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Least time of each over rounds in alternation [µs a pair]."""
    best = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            best[name] = min(best[name], (time.perf_counter() - start) / PAIRS * 1e6)
    return best


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    answers: dict[str, dict[str, float]] = {}
    for kinds in KINDS:
        for deep in (False, True):
            pairs = Pairs(kinds, deep, np.random.default_rng(5))
            found = ContactSet()
            calls: dict[str, Callable[[], None]] = {"mpr": lambda p=pairs, f=found: p.measure(p.mpr, f)}
            if pairs.served:
                calls["sdf"] = lambda p=pairs, f=found: p.measure(p.sdf, f)
            ask = coal_caller(pairs)
            if ask is not None:
                calls["coal"] = ask
            numbers = least(calls)
            if "coal" in numbers or "sdf" in numbers:
                numbers["ratio"] = numbers["mpr"] / numbers.get("coal", numbers.get("sdf", np.inf))
            if pairs.served:
                numbers["error"] = float(np.abs(pairs.gaps(pairs.mpr)[0] - pairs.gaps(pairs.sdf)[0]).max())
            answers[f"{kinds[0]}-{kinds[1]}-{'deep' if deep else 'near'}"] = numbers
    if as_json:
        print(json.dumps(answers))
        return
    for case, numbers in answers.items():
        print(f"{case:28s}", "  ".join(f"{name} {value:.3g}" for name, value in numbers.items()))


if __name__ == "__main__":
    main()
