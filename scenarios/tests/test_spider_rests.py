"""The row of DisMech's spider can be missed: a spider that rocks on does not rest, whatever its middle does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from corekit_scenarios.cases.dismech.contacts import _rests


def rocking(speed, decay):
    """Two nodes that swing against each other at 5 Hz with a speed [m/s] that falls as exp(−decay·t)."""
    time = np.linspace(0.0, 10.0, 4001)
    rate = 2.0 * np.pi * 5.0
    swing = speed / rate * np.exp(-decay * time) * np.sin(rate * time)
    place = np.zeros((len(time), 2, 3))
    place[:, 0, 0], place[:, 1, 0] = swing, -swing
    return cast("Any", SimpleNamespace(time=time, frame_position=place))


@pytest.mark.parametrize(
    ("decay", "finer", "verdict"),
    [(0.0, 0.0, "MISSED"), (1.0, 0.3, "MISSED"), (0.3, 1.0, "MISSED"), (1.0, 1.0, "kept")],
)
def test_a_spider_rests_where_its_fastest_node_does_whatever_the_step(decay, finer, verdict):
    row = _rests(rocking(0.15, decay), rocking(0.15, finer))
    assert str(row.verdict) == verdict
    # sampled every eightieth of its period; rounding decides whether the half second begins with a sample
    for said, rate in zip(str(row.ours).removesuffix(" mm/s").split("; "), (decay, finer), strict=True):
        assert float(said) == pytest.approx(150.0 * np.exp(-9.5 * rate), rel=0.05)
    early = float(row.note.split("rocks on by ")[1].split(" mm/s")[0])
    assert early == pytest.approx(150.0 * np.exp(-1.5 * decay), rel=0.05)
