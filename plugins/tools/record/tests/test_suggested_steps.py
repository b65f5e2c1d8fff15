"""What step is suggested after one that was too long."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.errors import StepFailed
from corekit.scenario.load import loads
from corekit.simulation.explicit_limit import explicit_limit, step_to_try


@pytest.mark.parametrize(("squared", "rate"), [(1e4, 0.0), (0.0, 30.0), (1e4, 50.0), (400.0, 300.0)])
def test_the_limit_separates_growth_from_decay(squared, rate):
    """Semi-implicit Euler of one mode, just below and just above (2)."""
    limit = 4.0 / (rate + math.sqrt(rate * rate + 4.0 * squared))
    for factor, grows in ((0.99, False), (1.01, True)):
        h = factor * limit
        step = np.array([[1 - h * rate, -h * squared], [h * (1 - h * rate), 1 - h * h * squared]])
        assert (np.abs(np.linalg.eigvals(step)).max() > 1.0 + 1e-9) is np.bool_(grows)


def test_without_rates_half_the_step_is_suggested():
    assert step_to_try(3e-4) == "Try a smaller step than 0.0003 s, for example 0.00015 s."


ROD = """
format = "corekit-scenario/1"
name = "rod"
time = { duration = 10.0, step = 2e-3 }

[[bodies]]
name = "rod"
use = "der"
[[bodies.options.limbs]]
name = "rod"
start = [0.0, 0.0, 0.0]
end = [0.3, 0.0, 0.0]
nodes = 4
radius = 0.01
young = 3.5e6
density = 1000.0
[[bodies.options.clamps]]
at = "rod.start"
kind = "edge"

[integrator]
use = "verlet"
"""


def test_after_a_divergence_the_step_is_judged_at_rest():
    """What diverges is stretched, and a stretched rod is stiffer by orders: its own limit is not what was exceeded."""
    pytest.importorskip("corekit_der")
    simulation = loads(ROD).compose()
    limit = explicit_limit(simulation.bodies[0], simulation.state.body_states[0])
    assert limit is not None
    assert limit < simulation.step_length
    with pytest.raises(StepFailed, match=f"stable below {limit:.3g} s"):
        simulation.run(10.0)


BRICK = """
[[bodies]]
name = "brick"
use = "rigid"
base = { position = [0.0, 0.0, 1.0] }
options = { shape = "box", size = [0.01, 0.02, 0.03], mass = 0.01 }
[[bodies.inputs]]
channel = "wrench"
signal = [0.0, 0.0, 0.0, 1e90, 2e90, 3e90]

[integrator]
"""


@pytest.mark.to_nearest("what overflows is the largest finite number", "zero")
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_the_step_is_suggested_for_the_body_whose_limit_it_exceeds():
    """What a rod that diverges strikes is not finite either, maybe first: the rod's step is to be shorter."""
    pytest.importorskip("corekit_der")
    pytest.importorskip("corekit_rigid")
    simulation = loads(ROD.replace("[integrator]", BRICK)).compose()
    with pytest.raises(
        StepFailed, match=r"of body 'brick' became .* explicit steps of 'rod' are stable below"
    ):
        simulation.run(10.0)
