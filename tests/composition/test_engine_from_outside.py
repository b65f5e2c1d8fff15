"""An engine of a distribution from outside steps the worlds that it takes, and says which it does not take."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import CompositionError
from corekit.scenario.load import load, loads

PACKAGE = """
from corekit.roles.world import Engine
from corekit.scenario.engines import make_world

def refusal(spec):
    return "it steps one body, and there are " + str(len(spec.bodies)) if len(spec.bodies) > 1 else ""

class Counted:
    '''The kernel's world, whose steps it counts: it stands behind the seam, and derives from nothing.'''

    def __init__(self, world):
        self._world, self.steps = world, 0

    def __getattr__(self, name):
        return getattr(self._world, name)

    def step(self, integrator, state, stop, out, longest):
        self.steps += 1
        return self._world.step(integrator, state, stop, out, longest)

once = Engine("lab:once", refusal, lambda spec: Counted(make_world(spec)))
"""
BODY = """
[[bodies]]
name = "NAME"
use = "reference-point-chain"
options = { masses = [2.0], positions = [[0.0, 0.0, 0.05]] }
"""
SCENARIO = (
    """
format = "corekit-scenario/1"
name = "falling"
time = { duration = 0.1, step = 1e-3 }
integrator = { use = "reference-semi-implicit-euler" }
output = { every = 0.01 }
"""
    + BODY
)


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A distribution `lab-engine` on the import path, as pip leaves one, and a scenario."""
    package, info = tmp_path / "lab_engine", tmp_path / "lab_engine-1.0.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lab-engine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[corekit.engines]\nlab:once = lab_engine:once\n")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "scenario.toml").write_text(SCENARIO)
    return tmp_path / "scenario.toml"


def test_a_scenario_is_stepped_by_the_engine_that_it_names(lab):
    simulation = load(lab, ["engine=lab:once"]).compose()
    simulation.run(0.1)
    assert vars(simulation.system)["steps"] == 100
    # v falls by g·h a step, and q by h·v after it
    assert simulation.state.v[2] == pytest.approx(-9.81 * 0.1, rel=1e-12)
    assert simulation.state.q[2] == pytest.approx(0.05 - 9.81 * 1e-6 * 100 * 101 / 2, rel=1e-12)
    other = load(lab).compose()
    other.run(0.1)
    np.testing.assert_array_equal(other.state.qv, simulation.state.qv)
    assert load(lab, ["engine=lab:once"]).engine == "lab:once"
    assert load(lab).engine == "step-equation"


def test_a_world_that_it_does_not_take_is_refused_in_one_sentence(lab):
    two = SCENARIO.replace("NAME", "one") + BODY.replace("NAME", "two")
    with pytest.raises(
        CompositionError, match="engine 'lab:once' cannot step this world: it steps one body, and"
    ):
        loads(two, ["engine=lab:once"]).compose()


def test_an_engine_that_nobody_brings_is_named_with_those_there_are(lab):
    with pytest.raises(
        CompositionError, match="unknown engine 'lab:nothing'; engines are step-equation, lab:once"
    ):
        load(lab, ["engine=lab:nothing"]).compose()
