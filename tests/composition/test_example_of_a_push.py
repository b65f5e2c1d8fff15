"""The examples that push a ball to a target, and that design a finger which closes evenly."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from corekit.scenario.load import with_values
from corekit_gradients.optimise import Problem, optimise
from corekit_gradients.optimise_file import load_optimise

for module in (
    "corekit_gvs",
    "corekit_pcc",
    "corekit_rigid",
    "corekit_sdf",
    "corekit_lcp",
    "corekit_scenarios",
):
    pytest.importorskip(module)

EXAMPLES = Path(__file__).parents[2] / "examples/gradients"
FINGER = EXAMPLES / "even_finger/design.toml"
FOUND = np.array([163.1e3, 259.8e3, 364.05e3, 456.4e3, 519.8e3])
"""Young's moduli that `corekit optimise` finds from 300 kPa in 39 runs [Pa]."""


def test_a_ball_is_pushed_to_its_target():
    """From 108 mm off; a small change of the forces counts beside the distance that is left."""
    file = load_optimise(EXAMPLES / "push_a_ball/push.toml")
    found = optimise(file)
    assert found.minimum.converged
    assert found.minimum.calls <= 8
    assert found.report.impacts >= 1
    assert found.first == pytest.approx(0.108**2, rel=2e-3)
    # the loss of the objective is that of the place alone
    assert np.sqrt(Problem(file).objective.value(found.found)) < 2e-4


def test_forces_of_the_finger_have_the_derivative_of_runs():
    problem = Problem(load_optimise(FINGER, allow_code=True))
    _, gradient = problem.loss(problem.start)
    along = np.array([1.0, -0.5, 0.7, 0.2, -0.9])
    ends = [problem.value(problem.start + size * along) for size in (30.0, -30.0)]
    assert gradient @ along == pytest.approx((ends[0] - ends[1]) / 60.0, rel=1e-4)


def test_the_finger_that_was_found_presses_evenly_as_statics_ask():
    """E·I·κ = T·d − m of each piece, m the mean moment along it of the forces of the balls beyond.

    Pieces are arcs; moments follow from where the balls are, and from one force for all.
    """
    file = load_optimise(FINGER, allow_code=True)
    assert file.loaded is not None
    problem = Problem(file)
    simulation = with_values(
        file.loaded, dict(zip(problem.objective.names, FOUND.tolist(), strict=True))
    ).compose()
    simulation.run(file.loaded.time.duration)
    example = runpy.run_path(str(FINGER.with_name("evenness.py")))
    record = simulation.contacts()
    force = example["forces"](record.shape, record.normal_impulse / record.step_size)
    assert force == pytest.approx([force.mean()] * 5, rel=1e-2)
    centre = example["CENTRE"]
    frames = [simulation.frame(name) for name in ("finger.finger.base", *example["FRAMES"])]
    places = np.array([frame.position[[0, 2]] for frame in frames])
    pushes = force.mean() * (places[1:] - centre) / np.linalg.norm(places[1:] - centre, axis=1)[:, None]
    angles = np.array([np.arctan2(*frame.rotation[[2, 0], 0]) for frame in frames])
    bending = (angles[1:] - angles[:-1]) / 0.02
    inertia, shares = np.pi / 4.0 * 0.006**4, (np.arange(200) + 0.5) / 200.0
    for i, curvature in enumerate(bending):
        turned = angles[i] + curvature * 0.02 * shares
        steps = np.stack([np.cos(turned), np.sin(turned)], axis=1) * 0.02 / 200.0
        along = places[i] + np.cumsum(steps, axis=0) - 0.5 * steps
        lever = places[i + 1 :][:, None] - along
        moment = (
            (lever[..., 0] * pushes[i:, None, 1] - lever[..., 1] * pushes[i:, None, 0]).sum(axis=0).mean()
        )
        assert FOUND[i] * inertia * curvature == pytest.approx(-3.0 * 0.004 + moment, rel=1e-2)
