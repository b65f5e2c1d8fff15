"""The example that aims a throw by its gradient."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from corekit.scenario.load import loads
from corekit_gradients.optimise import optimise
from corekit_gradients.optimise_file import load_optimise

for module in ("corekit_gradients", "corekit_rigid", "corekit_sdf", "corekit_lcp", "corekit_timestep"):
    pytest.importorskip(module)


def test_the_throw_of_the_example_has_the_gradient_of_its_differences():
    """Through impacts with restitution and friction, and a change of the start by the scenario."""
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples/gradients/aim_a_throw.py"))
    scenario = loads(example["SCENARIO"])
    objective = scenario.objective(example["miss"], ["bodies.ball.initial.velocity"], until=0.5)
    x = np.array([1.3, 0.5, 0.2])
    _, gradient = objective(x)
    assert objective.last.report.impacts == 2
    direction = np.array([0.6, -0.8, 0.3])
    ends = [objective(x + sign * 1e-6 * direction)[0] for sign in (1, -1)]
    assert gradient @ direction == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-7)


SEARCH = """
format = "corekit-optimise/1"
name = "aim"
scenario = "throw.toml"
method = "{method}"
tolerance = 1e-10
[[variables]]
path = "bodies.ball.initial.velocity"
[[variables]]
path = "bodies.ball.initial.angular_velocity"
scale = 10.0
[[terms]]
kind = "position"
frame = "ball.body"
axes = "xy"
target = [0.9, 0.35]
"""


def test_the_throw_takes_fewer_runs_by_gauss_and_newton_than_by_bfgs(tmp_path):
    """With steps of 8 ms, as many impacts of which a run costs a quarter of the example's."""
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples/gradients/aim_a_throw.py"))
    assert "step = 2e-3" in example["SCENARIO"]
    (tmp_path / "throw.toml").write_text(example["SCENARIO"].replace("step = 2e-3", "step = 8e-3"))
    found = {}
    for method in ("bfgs", "gauss-newton"):
        (tmp_path / "aim.toml").write_text(SEARCH.format(method=method))
        found[method] = optimise(load_optimise(tmp_path / "aim.toml"))
        assert found[method].minimum.converged
        assert np.sqrt(found[method].minimum.value) < 1e-5  # m from the target
    runs = {method: each.minimum.calls for method, each in found.items()}
    assert runs["gauss-newton"] < runs["bfgs"]
