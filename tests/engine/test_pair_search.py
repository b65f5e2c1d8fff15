"""The near pairs of a large scene: those that a test of all pairs finds, in the same order."""

import numpy as np

from corekit.geometry import pair_search
from corekit.geometry.pair_search import PairSearch
from corekit.geometry.shapes import ShapeTable

MARGIN = 0.02
SERVED = frozenset({("sphere", "sphere"), ("box", "sphere"), ("sphere", "half-space"), ("box", "half-space")})


def scene(rng, count):
    """Balls and boxes, some with several shapes and some of those without self-contact; two planes."""
    kind = [*rng.choice(["sphere", "box"], count), "half-space", "half-space"]
    n, body = len(kind), np.sort(rng.integers(0, count // 2, count))
    size = np.zeros((n, 3))
    size[:count] = rng.uniform(0.01, 0.1, (count, 3))
    size[:3] = 2.0
    outside = [-1, -1]
    return ShapeTable(
        kind=tuple(map(str, kind)), size=size, body=np.concatenate([body, outside]),
        frame=np.concatenate([body, outside]), second_frame=np.full(n, -1),
        offset_position=np.zeros((n, 3)), offset_rotation=np.tile(np.eye(3), (n, 1, 1)),
        obstacle=np.concatenate([np.full(count, -1), [0, 1]]), vertices=(None,) * n,
        excluded_pairs=np.sort(rng.integers(0, count, (40, 2)), axis=1),
        self_contact=rng.random(count // 2) < 0.5,
    )  # fmt: skip


def test_the_sweep_finds_every_near_pair_in_rising_order(monkeypatch):
    rng = np.random.default_rng(3)
    table = scene(rng, 120)
    position = rng.uniform(-1.0, 1.0, (len(table), 3))
    position[7] = np.nan
    radius = table.bounding_radii()
    everything = table.pairs(SERVED)
    assert np.array_equal(PairSearch(table, SERVED).near(position, radius, MARGIN), everything)
    monkeypatch.setattr(pair_search, "_MOST_LISTED", 0)
    search = PairSearch(table, SERVED)
    assert search.kinds <= SERVED | {pair[::-1] for pair in SERVED}
    for margin in (MARGIN, np.inf):
        i, j = everything.T
        distance = np.linalg.norm(position[i] - position[j], axis=1)
        expected = everything[~(distance > radius[i] + radius[j] + margin)]
        assert len(expected) < len(everything) or margin == np.inf
        assert np.array_equal(search.near(position, radius, margin), expected)
