"""What the ball task says of its open loop, of a flicked ball, and of worlds that differ: rows that can fail."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from corekit.data.array_file import write_arrays
from corekit.scenario.load import load
from corekit_scenarios.cases.cusp.ball_printed import arrived_row, pushed_at_bound
from corekit_scenarios.cases.cusp.ball_tracked import TRACKING, open_loop_cause
from corekit_study.case_run import Difference
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


@pytest.mark.parametrize(("rates", "at_bound"), [([5.0, 5.0, 3.0], True), ([5.0, 4.0, 3.0], False)])
def test_a_ball_is_pushed_at_its_bound_where_every_pressed_step_is(rates, at_bound):
    omega = np.zeros((4, 3))
    omega[1:, 1] = rates
    tracks = {
        "omega": SimpleNamespace(values=omega),
        "f_z.arm": SimpleNamespace(values=np.array([0.0, 1.0, 0.2, 0.0])),
    }
    file = SimpleNamespace(options={"bounds": {"angular_velocity": 5.0}})
    made = cast("Any", SimpleNamespace(plan=SimpleNamespace(tracks=tracks), file=file))
    assert pushed_at_bound(made) is at_bound


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


KEPT, FREE = "(20), contact kept", "(20), free to let go"


@pytest.mark.parametrize(
    ("errors", "holds", "verdict"),
    [
        ((1e-6, 1e-6), {}, "kept"),
        ((1e-4, 1e-6), {KEPT: True}, "differs"),
        ((1e-4, 1e-3), {KEPT: True, FREE: False}, "MISSED"),
        ((1e-4, 1e-3), {KEPT: True, FREE: True}, "differs"),
    ],
)
def test_the_paper_s_sentence_about_the_end_is_one_row_of_both_variants(errors, holds, verdict):
    reasons = {about: Difference(f"why {about}", "so", held) for about, held in holds.items()}
    row = arrived_row(dict(zip((KEPT, FREE), errors, strict=True)), reasons)
    assert str(row.verdict) == verdict
    assert all(f"{about}: why" in row.why for about in holds)
