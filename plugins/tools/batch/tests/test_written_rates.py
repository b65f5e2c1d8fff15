"""The rate of a channel that is written in a batch: 0, or what its own signal gives."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import loads

pytest.importorskip("corekit_vine")
pytest.importorskip("corekit_qp")

VINE = """
format = "corekit-scenario/1"
name = "turned"
time = { duration = 0.1, step = 1e-3 }
integrator = { use = "semi-implicit-euler" }
[world]
gravity = [0.0, 0.0, 0.0]
[[bodies]]
name = "vine"
use = "vine"
options = { bodies = 4, length = 0.2, diameter = 0.02, joint_stiffness = 1e-2, joint_damping = 1e-3 }
RATE
"""
SIGNAL = '[[bodies.inputs]]\nchannel = "heading-rate"\nsignal = { kind = "constant", value = 0.7 }\n'


@pytest.mark.parametrize(("rate", "expected"), [("", 0.0), (SIGNAL, 0.7)])
def test_a_written_heading_stands_still_unless_its_rate_has_a_signal(rate, expected):
    """Damping of the clamp feels 0.7 rad/s then, as it does where one simulation is written to."""
    scenario = loads(VINE.replace("RATE", rate))
    batch, single = scenario.batch(2, threads=1), scenario.compose()
    batch.inputs["vine"]["heading"] = 0.2
    single.body("vine").inputs["heading"] = 0.2
    batch.step(20)
    for _ in range(20):
        single.step()
    assert single.body("vine").inputs["heading-rate"] == pytest.approx(expected)
    assert np.abs(single.state.v).max() > 1e-3
    for w in range(2):
        assert np.array_equal(batch.q[w], single.state.q)
        assert np.array_equal(batch.v[w], single.state.v)
