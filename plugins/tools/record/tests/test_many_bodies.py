"""Bodies share the variables of a file: what is read of each is its own, and a file of many has no more variables."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from corekit.roles.model import Outline
from corekit_record.recorder import Recorder
from corekit_record.results import Results
from corekit_record.statistics import Statistics


def strokes(counts, x):
    """Polylines of so many points each, in the plane of an x that tells whose they are."""
    total = sum(counts)
    points = np.column_stack([np.full(total, x), np.arange(total), np.zeros(total)])
    starts = np.cumsum([0, *counts[:-1]])[: len(counts)]
    return Outline(points=points, radius=0.01 + 0.001 * np.arange(total), starts=starts)


@pytest.mark.parametrize(
    "drawn",
    [
        [(3,), (4, 2), (2, 2, 5)],
        [(3,), (), (4, 2)],  # a body that draws nothing
        [(), (3,), ()],
        [(), (), ()],
    ],
)
def test_every_body_gets_its_own_outline_back(world, tmp_path, monkeypatch, drawn):
    simulation = world(balls=3)
    for k, (body, counts) in enumerate(zip(simulation.bodies, drawn, strict=True)):
        monkeypatch.setattr(
            body.model, "compute_outline", lambda _, c=counts, k=k: strokes(c, float(k)), raising=False
        )
    with Recorder(tmp_path / "results.nc", simulation, simulation.step_length, Statistics(), "three"):
        pass
    tracks = Results(tmp_path / "results.nc").replay().bodies
    for k, (track, counts) in enumerate(zip(tracks, drawn, strict=True)):
        expected = strokes(counts, float(k))
        np.testing.assert_array_equal(track.outline, expected.points[None])
        np.testing.assert_array_equal(track.radius, expected.radius)
        np.testing.assert_array_equal(track.starts, expected.starts)
        assert len(track.shapes) == len(simulation.bodies[k].description.shapes)


def test_a_file_of_many_bodies_has_the_variables_of_a_file_of_one(world, tmp_path):
    names = []
    for balls in (1, 12):
        simulation, file = world(balls=balls), tmp_path / f"{balls}.nc"
        with Recorder(file, simulation, simulation.step_length, Statistics(), "balls"):
            pass
        with h5py.File(file) as opened:
            names.append(sorted(opened))
        assert Results(file).bodies == tuple(body.name for body in simulation.bodies)
    assert names[0] == names[1]
