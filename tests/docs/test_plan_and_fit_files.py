"""The page of plan and fit files has every key that is read, and every key that is written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from corekit.data.status import SolveInfo
from corekit.geometry.frames import Pose
from corekit.roles.derivatives import SweepReport
from corekit.roles.estimator import Estimate, FittedParameter, LikelihoodProfile
from corekit.roles.planner import BodyTrajectory, ObjectTrajectory, Plan, TimeSeries
from corekit_gradients.optimise import Optimised
from corekit_gradients.optimise_file import OptimiseFile, Term, Variable
from corekit_gradients.search import Minimum
from corekit_study.fit import FitResult
from corekit_study.fit_file import FitFile
from corekit_study.plan import PlanResult
from corekit_study.plan_file import PlanFile, ReplayTable, TrackingTable
from corekit_study.plan_folder import write_plan
from corekit_study.plan_judge import PlanVerdict
from corekit_study.plan_rollout import RolloutResult

PAGE = Path(__file__).resolve().parents[2] / "docs/plan_and_fit_files.md"
JUDGE = PAGE.parents[1] / "plugins/tools/study/src/corekit_study/plan_judge.py"


def keys(heading: str) -> set[str]:
    """The first column of the table under a heading."""
    (text,) = re.findall(
        rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    return set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))


def read(cls: Any) -> set[str]:
    """The keys of a table that is read."""
    fields = [each for each in attrs.fields(cls) if not each.metadata.get("hidden")]
    return {str(each.metadata.get("key", each.name)) for each in fields}


@pytest.mark.parametrize(
    ("heading", "cls"),
    [
        ("Format corekit-plan/1", PlanFile),
        ("Table replay", ReplayTable),
        ("Table replay.tracking", TrackingTable),
        ("Format corekit-fit/1", FitFile),
        ("Format corekit-optimise/1", OptimiseFile),
        ("Table variables", Variable),
        ("Table terms", Term),
    ],
)
def test_every_key_that_is_read_is_on_the_page(heading, cls):
    assert keys(heading) == read(cls)


PLAN = Plan(
    time=np.array([0.0, 0.1]),
    bodies={"BODY": BodyTrajectory(q=np.zeros((2, 3)), v=np.zeros((2, 3)), inputs=np.zeros((2, 1)))},
    objects={
        "OBJECT": ObjectTrajectory(
            position=np.zeros((2, 3)), quat_wxyz=np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)), target=Pose()
        )
    },
    tracks={"NAME": TimeSeries(values=np.zeros(2), unit="N")},
)


def variables(group: Any, prefix: str = "") -> set[str]:
    inner = [variables(each, f"{prefix}{name}/") for name, each in group.groups.items()]
    return {prefix + name for name in group.variables}.union(*inner)


def test_every_variable_of_a_plan_is_on_the_page(tmp_path):
    import h5netcdf

    write_plan(PLAN, tmp_path, "any")
    with h5netcdf.File(tmp_path / "plan.nc", "r") as opened:
        file: Any = opened
        assert variables(file) == keys("Group plan.nc")
        assert set(file["objects/OBJECT"].attrs) == {"target_position", "target_quat_wxyz"}


def test_every_key_of_the_report_of_a_plan_is_on_the_page():
    file = PlanFile(format="corekit-plan/1", name="any", scenario="any.toml", use="any")
    rollout = RolloutResult(
        name="open-loop", folder=Path(), objects={}, in_contact=0.0, status="finished", arrived=True
    )
    figures = re.findall(r'figures\["(\w+)"\]', JUDGE.read_text())
    verdict = PlanVerdict((), dict.fromkeys(figures, 0.0))
    made = PlanResult(file, PLAN, SolveInfo(), verdict, {}, (rollout,), None, {})
    data = json.loads(json.dumps(made.as_data()))
    assert set(data) == keys("File report.json")
    assert set(data["verdict"]) == keys("Table verdict")
    assert set(data["replays"][0]) == keys("Table replays")


def test_every_key_of_the_report_of_a_fit_is_on_the_page():
    profile = LikelihoodProfile(np.array([1.0, 2.0]), np.zeros(2))
    found = FittedParameter(
        name="k", unit="", value=1.0, start=1.0, low=0.5, high=1.5, verdict="identified", profile=profile
    )
    seen = np.zeros((1, 1, 3))
    estimate = Estimate(fitted=(found,), time=np.zeros(1), markers=("tip",), observed=seen, predicted=seen)
    file = FitFile(format="corekit-fit/1", name="any", scenario="any.toml", use="any")
    data = json.loads(json.dumps(FitResult(file, estimate, SolveInfo(), None, 0.0).as_data()))
    assert set(data) == keys("Report of a fit")
    assert set(data["parameters"][0]) == keys("Table parameters")
    assert set(data["parameters"][0]["profile"]) == {"values", "cost"}
    assert set(data["markers"]) == keys("Table markers")


def test_every_key_of_the_report_of_an_optimisation_is_on_the_page():
    minimum = Minimum(np.ones(1), 0.1, np.zeros(1), 3, 5, True, "any", 0.0)
    made = Optimised(
        OptimiseFile(
            format="corekit-optimise/1", name="any", scenario="any.toml", variables=(Variable(path="time.step"),),
            terms=(Term(kind="position", frame="a.b"),),
        ),
        minimum, ("k",), np.ones(1), np.ones(1), 1.0, 0, SweepReport(10, 1, 0, 0, 0, {}), 0.0, None, None, None, (),
    )  # fmt: skip
    assert set(json.loads(json.dumps(made.as_data()))) == keys("Report of an optimisation")
