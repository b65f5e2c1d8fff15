"""What the ball task says of its open loop, of its end, and of worlds that differ: rows that can fail."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from corekit.data.array_file import write_arrays
from corekit.errors import Mistake
from corekit.registry.resolve import resolve
from corekit.scenario.component_selection import load_config
from corekit.scenario.load import load
from corekit.scenario.overrides import apply_overrides
from corekit_scenarios.cases.cusp.ball_printed import arrived_row, modes_row
from corekit_scenarios.cases.cusp.ball_tracked import PLAINLY, TRACKING, open_loop_cause
from corekit_study.plan_file import load_plan_file


def made_with(folder, angle):
    """One driven coordinate and one turn of an object; each interval adds 1 µm to the first, which grows by 1.1."""
    a = np.array([[1.1, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0] * 4, [0.0] * 4])
    arrays = {
        "a": np.tile(a, (60, 1, 1)),
        "c": np.tile([1e-6, 0.0, 0.0, 0.0], (60, 1)),
        "driven": np.array([1.0, 0.0]),
    }
    write_arrays(folder / "motion.npz", arrays)
    replay = SimpleNamespace(name="open-loop", objects={"ball": {"angle_from_plan": np.radians(angle)}})
    return cast("Any", SimpleNamespace(folder=folder, rollouts=(replay,)))


@pytest.mark.parametrize(("off", "holds"), [(1.0, True), (3.0, True), (5.0, False), (0.2, False)])
def test_the_open_loop_s_cause_is_missed_where_it_tells_another_size(tmp_path, off, holds):
    """Σ over k of the sum of 1.1^j·1e-6 is what the object has turned by [rad]."""
    grown = 1e-6 * (1.1 ** np.arange(60) - 1.0) / 0.1
    told = np.degrees(grown.sum())
    (row,) = open_loop_cause(made_with(tmp_path, off * told))
    assert row.ours == pytest.approx(told, rel=1e-12)
    assert row.passed is holds


def test_the_plan_is_tracked_in_worlds_that_differ_by_what_is_said():
    file = load_plan_file("cusp/ball-x", TRACKING)
    assert file.replay is not None
    assert file.replay.tracking is not None
    assert file.world is not None
    worlds = {name: list(each) for name, each in file.replay.tracking.worlds.items()}
    assert len(worlds) == 8
    found = {name: load(file.world, changes) for name, changes in worlds.items()}
    assert found["softer"].bodies[0].name == "arm"
    assert worlds["stiffer"] == ["bodies.arm.options.stiffness=291.5"]
    assert worlds["z-plus"] == ["bodies.ball.base.position=[0.0, 0.1, 0.705]"]
    assert worlds["x-minus"] == ["bodies.ball.base.position=[-0.005, 0.1, 0.7]"]


def test_the_regulator_alone_has_the_same_weights_and_estimates_nothing():
    tracking = load_plan_file("cusp/ball-x", TRACKING).replay
    assert tracking is not None
    assert tracking.tracking is not None
    options = {**tracking.tracking.options, "file": "motion.npz"}
    document = {"controllers": [{"use": tracking.tracking.use, "options": options}]}
    mistakes: list[Mistake] = []
    apply_overrides(document, PLAINLY, mistakes)
    (law,) = document["controllers"]
    assert (mistakes, law["use"]) == ([], "tracking-lqr")
    assert law["options"] == {name: each for name, each in options.items() if name != "estimated"}
    load_config(resolve("controllers", "tracking-lqr"), law["options"], "options")


@pytest.mark.parametrize(
    ("errors", "verdict"), [((1e-6, 1e-6), "kept"), ((1e-4, 1e-6), "MISSED"), ((1e-6, 3e-5), "MISSED")]
)
def test_the_paper_s_sentence_about_the_end_is_one_row_of_both_variants(errors, verdict):
    row = arrived_row(dict(zip(("rolling", "free to let go"), errors, strict=True)))
    assert str(row.verdict) == verdict
    assert row.quantity.endswith("of rolling and of free to let go")


@pytest.mark.parametrize(
    ("cheaper", "verdict"),
    [(-1e-7, "kept"), (7e-5, "kept"), (9e-5, "MISSED"), (None, "MISSED"), (-50.0, "MISSED")],
)
def test_a_plan_with_a_cheaper_mode_nearby_or_an_unsolved_comparison_misses(cheaper, verdict):
    assert str(modes_row("printed", cheaper, 80.0).verdict) == verdict
