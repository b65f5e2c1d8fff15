"""The cases of CUSP beside their runs: the sequence of contact modes, the ablation's settings and its verdict."""

import json
import math
import os
from typing import Any, cast

import numpy as np
import pytest

import corekit
from corekit.data.contacts import ContactMode, ContactRecord
from corekit.scenario.load import find_shipped, load, shipped_scenarios
from corekit_scenarios.cases.cusp.ablation import ablation
from corekit_scenarios.cases.cusp.ablation_settings import SOLVERS, Setting, box_at, judge, settings
from corekit_scenarios.cases.cusp.modes import Phase, phases, same_sequence, words
from corekit_study.reference import Kind
from corekit_study.run_task import Outcome

FREE, STICK, SLIDE = (), (ContactMode.STICK,), (ContactMode.SLIDE,)


class Records:
    """As much of `Results` as the sequence of modes needs."""

    def __init__(self, *stretches):
        modes = [kinds for kinds, count in stretches for _ in range(count)]
        self.time = 0.01 * np.arange(len(modes))
        self._modes = modes

    def contacts(self, k):
        mode = np.array(self._modes[k], dtype=np.int64)
        return ContactRecord(mode=mode, normal_impulse=np.ones(len(mode)))


def recorded(*stretches) -> Any:
    return Records(*stretches)


def kinds(found):
    return [phase.kind for phase in found]


def test_phases_follow_the_loaded_contacts():
    found = phases(recorded((FREE, 10), (STICK, 20), ((*STICK, *SLIDE), 10), (SLIDE, 10)))
    assert kinds(found) == ["free", "stick", "stick + slide", "slide"]
    assert [phase.begin for phase in found] == pytest.approx([0.0, 0.1, 0.3, 0.4])
    assert words(found[:2]) == "free 0.00–0.10 s, stick 0.10–0.30 s"


def test_an_instant_at_the_edge_of_the_cone_is_no_phase():
    found = phases(recorded((FREE, 10), (SLIDE, 1), (STICK, 20), (SLIDE, 2), (STICK, 5)))
    assert kinds(found) == ["free", "stick"]
    found = phases(recorded((FREE, 10), (SLIDE, 1), (STICK, 20), (SLIDE, 3), (STICK, 5)))
    assert kinds(found) == ["free", "stick", "slide", "stick"]


def test_contacts_that_hardly_carry_do_not_count():
    record = ContactRecord(
        mode=np.array([ContactMode.STICK, ContactMode.SLIDE]), normal_impulse=np.array([1.0, 1e-3])
    )
    one = recorded((FREE, 1))
    one.contacts = lambda k: record
    one.time = np.arange(10.0)
    assert kinds(phases(one)) == ["stick"]


def test_sequences_are_the_same_within_the_slack_and_no_further():
    one = [Phase(0.0, 0.5, "free"), Phase(0.5, 1.0, "stick")]
    late = [Phase(0.0, 0.53, "free"), Phase(0.53, 1.0, "stick")]
    assert same_sequence(one, late, 0.03)
    assert not same_sequence(one, late, 0.02)
    assert not same_sequence(one, [*late, Phase(1.0, 2.0, "slide")], 0.03)


def test_the_ablation_has_the_paper_s_64_settings():
    found = list(settings())
    assert len(found) == len(set(found)) == 64
    assert sum("R" not in each.stages for each in found) == 32
    assert sum(each.stages == "QRT" for each in found) == 8
    assert len({each.name for each in found}) == 64


def placed(overrides):
    """Pose of the box and of the arm's frames at the start."""
    simulation = corekit.load("cusp/inclined-box", overrides).compose()
    body, position, rotation = simulation.bodies[0], np.zeros(3), np.zeros((3, 3))
    simulation.obstacles[0].place(0.0, position, rotation)
    place = np.zeros((len(body.description.frames), 3))
    body.model.compute_frame_poses(simulation.state.body_states[0], place, np.zeros((len(place), 3, 3)))
    return position, rotation, place


def test_at_45_degrees_the_ablation_s_box_is_that_of_scenario_a():
    for one, other in zip(placed(()), placed(box_at(45)), strict=True):
        np.testing.assert_allclose(other, one, atol=4e-4)


@pytest.mark.parametrize("angle", [30, 45, 60])
def test_at_any_angle_the_arm_starts_alike_above_the_face(angle):
    centre, rotation, place = placed(box_at(angle))
    np.testing.assert_allclose(
        rotation[:, 2], [0.0, -math.sin(math.radians(angle)), math.cos(math.radians(angle))], atol=1e-12
    )
    height = (place - centre) @ rotation[:, 2] - 0.05
    assert height[0] == pytest.approx(0.07, abs=1e-5)
    # pre-elongated to 0.48 m and 7° off the face: its tip's axis is 0.07 + 0.48·sin 7° above it
    assert height[-1] == pytest.approx(0.07 + 0.48 * math.sin(math.radians(7.0)), abs=1e-5)


def outcome(**changes):
    said = {
        "steps": 1000, "unsolved_steps": 0, "deepest_penetration_m": 1e-3,
        "answered_by": {"lemke": 890, "factorisation": 100, "pgs": 10},
        "statuses": {"converged": 990, "fallback": 10},
    }  # fmt: skip
    values: dict[str, Any] = {
        "name": "x",
        "digest": "",
        "completed": 1.0,
        "wall_s": 1.0,
        "duration": 2.0,
        "statistics": said | changes,
    }
    return Outcome(**(values | {key: changes[key] for key in ("completed",) if key in changes}))


def test_only_steps_with_contact_and_own_answers_count():
    judged = judge(outcome())
    assert judged.own == pytest.approx(890 / 900)
    assert judged.succeeds
    assert "pgs 10" in judged.answered


@pytest.mark.parametrize(
    "changes",
    [
        {"statuses": {"converged": 940, "fallback": 60}},
        {"deepest_penetration_m": 0.011},
        {"completed": 0.79},
        {"steps": 0, "answered_by": {}, "statuses": {}},
    ],
)
def test_each_part_of_the_paper_s_criterion_fails_a_run(changes):
    assert not judge(outcome(**changes)).succeeds


class Stored:
    """A case whose runs are all stored: every one alike."""

    def __init__(self, only=()):
        self.only = only
        self.jobs = []

    def run_all(self, jobs):
        self.jobs += jobs
        return {job.name: outcome() for job in jobs}


@pytest.mark.parametrize("only", [(), ("pgs",)])
def test_the_table_has_every_run_of_every_chosen_solver(only):
    case: Any = Stored(only)
    rows = ablation(case)
    solvers = only or SOLVERS
    # 4 ways × 3 subsets ask why the paper's own solver needs no stages, one run is with T as printed, and
    # 4 geometries × 2 subsets are stepped as in the paper
    more = 13 + 8 if SOLVERS[0] in solvers else 0
    assert len(case.jobs) == len({job.name for job in case.jobs}) == 64 * len(solvers) + more
    for solver in solvers:
        own = [row for row in rows if row.quantity.startswith(f"{solver}: ") and "°" in row.quantity]
        assert len(own) == 64
        # the paper's own solver must succeed in every run with R
        assert sum(row.passed is True for row in own) == (32 if solver == SOLVERS[0] else 8)
        shares = {row.quantity.split(": ")[1]: row.ours for row in rows if row.quantity.startswith(solver)}
        assert (
            shares["runs that succeed with R; without any stage; with Q, R and T"]
            == "32 of 32; 8 of 8; 8 of 8"
        )
        assert shares["runs that complete with the fallback chain"] == "64 of 64"
    stepped = [row for row in rows if row.quantity.startswith("stepped as in the paper")]
    assert [(row.ours, row.passed) for row in stepped] == (
        [("4 of 4", None), ("4 of 4", True)] if not only else []
    )


def answering(share):
    return outcome(statuses={"converged": 100 + round(900 * share), "fallback": 900 - round(900 * share)})


SENTENCES = ("without R", "with R; without any stage; with Q, R and T")


def said_of_the_paper(changed):
    """Verdicts of the paper's two sentences where some runs answer other shares of their steps."""

    class Case(Stored):
        def run_all(self, jobs):
            found = super().run_all(jobs)
            own = {name: answering(share) for name, share in changed.items()}
            assert own.keys() <= found.keys()
            return found | own

    rows = ablation(cast("Any", Case(SOLVERS[:1])))
    papers = {row.quantity: str(row.verdict) for row in rows if row.against.kind is Kind.PAPER}
    return [papers.pop(f"{SOLVERS[0]}: runs that succeed {sentence}") for sentence in SENTENCES], papers


AS_ASSEMBLED = {
    f"as-assembled-{name}": share
    for name, share in (
        ("trust-region-none", 0.99), ("trust-region-from-zero-none", 0.5), ("line-search-none", 0.11),
        ("trust-region-from-zero-R", 0.96), ("line-search-R", 0.96), ("line-search-QRT", 0.96),
    )
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "differs"),
        ({"trust-region-none": 0.90}, "MISSED"),  # the trust region needs the stages too
        ({"trust-region-from-zero-none": 0.96}, "MISSED"),  # where it starts does not matter
        ({"line-search-none": 0.96, "line-search-R": 0.99}, "MISSED"),  # a line search alone needs none
        ({"line-search-R": 0.547}, "MISSED"),  # R does not bring it to the paper's criterion
        ({"trust-region-from-zero-R": 0.734}, "MISSED"),  # nor the trust region from zero
        ({"line-search-QRT": 0.90}, "MISSED"),  # nor do all stages suffice
    ],
)
def test_that_no_stage_is_needed_is_due_to_globalisation_or_not_understood(changed, verdict):
    """The reason that is given is none where a run of LCPs as assembled says otherwise."""
    runs = AS_ASSEMBLED | {f"as-assembled-{name}": share for name, share in changed.items()}
    assert said_of_the_paper(runs) == ([verdict, verdict], {})


def test_that_no_stage_is_needed_asks_for_t_as_it_is_printed():
    assert said_of_the_paper(AS_ASSEMBLED | {"printed-45-6-rk23-RT": 0.8906})[0] == ["MISSED", "MISSED"]


def test_raw_runs_are_made_where_they_are_asked_for():
    case: Any = Stored(("raw",))
    rows = ablation(case)
    assert len(case.jobs) == 32
    assert [row.ours for row in rows] == ["16 of 16", "16 of 16", "4 of 4", "4 of 4"]
    assert all("own_units=false" in " ".join(job.overrides) for job in case.jobs)


@pytest.mark.parametrize(
    ("stages", "verdicts"),
    [
        (("R", "QR", "RT", "QRT"), ["differs", "MISSED"]),
        (("", "Q", "T", "QT"), ["MISSED", "MISSED"]),
        (("QRT",), ["differs", "MISSED"]),
    ],
)
def test_that_no_stage_is_needed_is_no_reason_for_runs_that_fail(stages, verdicts):
    failing = {f"{SOLVERS[0]}-{each.name}": 0.1 for each in settings() if each.stages in stages}
    assert said_of_the_paper(AS_ASSEMBLED | failing) == (verdicts, {})


@pytest.mark.parametrize(("cold", "kept"), [(0.4, True), (0.7, False)])
def test_what_stages_give_from_zero_can_be_missed(cold, kept):
    names = ("none", "R", "QRT")
    runs = {
        f"as-assembled-trust-region-from-zero-{n}": answering(s)
        for n, s in zip(names, (cold, 0.75, 0.99), strict=True)
    }

    class Case(Stored):
        def run_all(self, jobs):
            found = super().run_all(jobs)
            assert runs.keys() <= found.keys()
            return found | runs

    (asked,) = (
        row.passed for row in ablation(cast("Any", Case(SOLVERS[:1]))) if "from zero: what" in row.quantity
    )
    assert asked is kept


def test_every_setting_composes_and_asks_the_solver_by_itself():
    for each in (Setting(60, 3, "rk23", "QT"), Setting(45, 6, "euler", "")):
        scenario = corekit.load("cusp/inclined-box", each.overrides("lemke"))
        assert scenario.contact is not None and scenario.contact.solver is not None
        options = scenario.contact.solver.options
        assert options["warm_start"] is False
        assert [use if isinstance(use, str) else use["use"] for use in options["fallback"]] == ["pgs"]
        for stage, name in (("Q", "rank_selection"), ("R", "equilibration"), ("T", "regularisation")):
            assert options[name]["enabled"] is (stage in each.stages)
        assert scenario.time.step == (1e-4 if each.integrator == "euler" else 1e-3)
        scenario.compose()


def test_every_subset_of_stages_moves_the_arm_alike():
    """Conditioning is numerics: it may not change what the arm does, nor cost penetration."""
    ends = []
    for stages in ("", "Q", "R", "QRT"):
        each = Setting(60, 6, "rk23", stages)
        simulation = corekit.load("cusp/inclined-box", each.overrides("lemke")).compose()
        simulation.run(0.15)
        assert simulation.contacts().normal_impulse.max() > 0.0
        ends.append(simulation.state.q.copy())
    for end in ends[1:]:
        np.testing.assert_allclose(end, ends[0], atol=1e-6)


def test_the_shipped_run_of_the_ablation_is_one_of_the_64():
    """60°, 3 disks, rk23, all stages, semismooth Newton."""
    each = Setting(60, 3, "rk23", "QRT")
    shipped, made = (
        corekit.load(name, overrides).compose()
        for name, overrides in (
            ("cusp/ablation", ()),
            ("cusp/inclined-box", each.overrides("semismooth-newton")),
        )
    )
    for simulation in (shipped, made):
        simulation.run(0.2)
    assert shipped.contacts().normal_impulse.max() > 0.0
    np.testing.assert_allclose(shipped.state.q, made.state.q, atol=1e-6)


def test_scenario_b_keeps_its_tolerances(forked, tmp_path):
    words = ("reproduce", "cusp/two-spheres", "--json", "b.json", "--quiet")
    told = forked.run(*words, folder=tmp_path, environment={**os.environ, "NO_COLOR": "1"})
    assert told.returncode == 0, told.stdout + told.stderr
    (report,) = json.loads((tmp_path / "b.json").read_text())["cases"]
    asked = [row["quantity"] for row in report["rows"] if row["verdict"] == "kept"]
    assert len(asked) == 7
    assert "difference of the contact force, sdf and mpr" in asked


def test_a_shipped_scenario_is_found_by_name_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "cusp/inclined-box" in shipped_scenarios()
    for name in ("cusp/inclined-box", "cusp/inclined_box", "cusp/inclined_box.toml"):
        assert load(name).name == "inclined-box"
    assert find_shipped("cusp/nothing") is None
