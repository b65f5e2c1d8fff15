"""Scenario A of CUSP with either detector: the same contact modes, the same forces."""

from pathlib import Path

import numpy as np
import pytest

import corekit
from corekit.data.contacts import ContactMode

pytestmark = pytest.mark.xdist_group("inclined-box")

FILE = Path(__file__).parents[2] / "scenarios" / "cusp" / "inclined_box.toml"
EARLY_RAMP = "bodies[0].inputs[0].signal.from=0.4"
ITS_END = "bodies[0].inputs[0].signal.to=1.4"


class Watch:
    """Every step's contact modes, pairs that push, and the total force on the arm."""

    def __init__(self, simulation):
        self.modes, self.pairs, self.force = [], [], []
        simulation.observe(self)

    def __call__(self, simulation, report):
        record = simulation.contacts()
        pushes = record.normal_impulse > 0
        self.modes.append(set(record.mode[pushes].tolist()))
        self.pairs.append({tuple(pair) for pair in record.shape[pushes].tolist()})
        across = np.cross(record.normal, record.tangent)
        impulse = (
            record.normal_impulse[:, None] * record.normal
            + record.tangential_impulse[:, :1] * record.tangent
            + record.tangential_impulse[:, 1:] * across
        )
        self.force.append(impulse.sum(axis=0) / report.step_size)


def run(detector):
    simulation = corekit.load(FILE, [f"contact.detector.use={detector}", EARLY_RAMP, ITS_END]).compose()
    watch = Watch(simulation)
    simulation.run(0.8)
    return watch


def test_both_detectors_give_the_same_modes_and_forces_within_two_percent():
    sdf, mpr = run("sdf"), run("mpr")
    assert set().union(*sdf.modes) >= {ContactMode.STICK, ContactMode.SLIDE}
    assert mpr.modes == sdf.modes
    assert mpr.pairs == sdf.pairs
    one, two = np.array(sdf.force), np.array(mpr.force)
    size = np.linalg.norm(one, axis=1)
    assert (size > 0).sum() > 600
    assert np.all(np.linalg.norm(two - one, axis=1) <= 0.02 * size)
