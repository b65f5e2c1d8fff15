"""Plans of a plate that turns a ball, against the kinematics of rolling; infeasible tasks and mistakes."""

from typing import Any

import attrs
import numpy as np
import pytest

from corekit.data.status import Status
from corekit.errors import CompositionError, ConfigError, ResultsError
from corekit.geometry.frames import Pose
from corekit.geometry.shapes import Shape
from corekit.roles.planner import StaticObstacle
from corekit_mpcc.config import MpccConfig, SearchOptions
from corekit_mpcc.plan_certificate import certify_plan
from corekit_mpcc.planner import IpoptMpcc, motion_from_plan
from corekit_mpcc.resolved_task import resolve_task
from corekit_mpcc.task import Bounds, Contact, Horizon, Rotation, Target

ANGLE = 0.6
STEPS = 8


def config(axis=(0.0, 1.0, 0.0), angle=ANGLE, *, search=None, bounds=None, **more):
    asked: dict[str, Any] = {
        "object": "ball",
        "target": Target(rotation=Rotation(axis=axis, angle=angle)),
        "contacts": (Contact(body="plate", frame="plate"),),
        "friction": 0.6,
        "directions": 6,
        "horizon": Horizon(duration=1.0, steps=STEPS),
        "bounds": bounds or Bounds(coordinate=(-0.5, 0.5)),
        "search": search or SearchOptions(batched="never"),
    }
    return MpccConfig(**{**asked, **more})


def silent(_values):
    pass


@pytest.fixture(scope="module")
def planner():
    return IpoptMpcc(config())


@pytest.fixture(scope="module")
def turned(planner, small):
    return planner.plan(small.task(), silent)


def test_a_turned_ball_rolls_its_arc_along_the_plate(turned, small):
    plan, info = turned
    assert info.status is Status.CONVERGED
    moved = plan.bodies["plate"].q[-1] - plan.bodies["plate"].q[0]
    # the ball turns about +y; its lowest point and so the plate move to −x
    assert moved == pytest.approx([-small.ball * ANGLE, 0.0, 0.0], abs=2e-3 * small.ball)
    assert plan.certificate["orientation_error"] <= 1e-6


@pytest.mark.parametrize("rolling_last", [True, False])
def test_a_contact_whose_force_may_vanish_is_kept_closed_by_its_gap(small, rolling_last):
    """Nothing rewards a force, which falls below the default bound; the gap is 0 by a row, and the pairs hold too."""
    search = SearchOptions(batched="never", rolling_last=rolling_last)
    asked = config(search=search, bounds=Bounds(coordinate=(-0.5, 0.5), normal_force=(0.0, 10.0)))
    plan, info = IpoptMpcc(asked).plan(small.task(), silent)
    assert info.status is Status.CONVERGED
    assert plan.certificate["equations"]["touch.plate.plate"]["residual"] <= 1e-6
    assert {name.split(".")[0] for name in plan.certificate["complementarity"]} == {
        "normal",
        "cone",
        "friction",
    }
    assert plan.tracks["f_z.plate.plate"].values[1:].min() < Bounds().normal_force[0]
    stages = [entry["stage"] for entry in plan.solve_log]
    assert stages[-1] == ("dynamic rolling" if rolling_last else "dynamic")


def test_an_opened_contact_that_shall_be_closed_is_not_certified(small):
    asked = config(bounds=Bounds(coordinate=(-0.5, 0.5), normal_force=(0.0, 10.0)))
    plan, _ = IpoptMpcc(asked).plan(small.task(), silent)
    motion = motion_from_plan(plan)
    # a step away, without force: right for a contact that may break, wrong for one that is kept
    motion["l"][-1, 2] += 1e-3
    motion["f_z.plate.plate"][-1] = 0.0
    touch = certify_plan(resolve_task(asked, small.task()), motion, plan.bodies["plate"].q[0])
    assert touch["equations"]["touch.plate.plate"]["residual"] == pytest.approx(1e-3, rel=1e-3)
    assert not touch["certified"]


def test_with_a_whole_circle_as_tolerance_the_cost_alone_draws_the_object(small):
    target = Target(rotation=Rotation(axis=(0.0, 1.0, 0.0), angle=ANGLE), angle_tolerance=np.pi)
    plan, info = IpoptMpcc(config(target=target)).plan(small.task(), silent)
    assert info.status is Status.CONVERGED
    assert "orientation" not in plan.certificate["equations"]


def test_planned_inputs_balance_plate_and_contact(turned, small):
    plan, _ = turned
    motion, h = plan.bodies["plate"], plan.time[1]
    inertia = small.mass * np.diff(motion.v, axis=0) / h
    f_z = plan.tracks["f_z.plate.plate"].values[1:]
    needed = inertia[:, 2] + small.drag * motion.v[1:, 2] - small.weight + f_z
    assert motion.inputs[1:, 2] == pytest.approx(needed, abs=1e-6)
    # friction turns the ball: I·Δω/h + e·ω = r·f about y, and pushes the plate the other way
    omega = plan.tracks["omega"].values
    pull = (small.inertia * np.diff(omega[:, 1]) / h + small.turning_drag * omega[1:, 1]) / small.ball
    sideways = inertia[:, 0] + small.drag * motion.v[1:, 0]
    assert motion.inputs[1:, 0] == pytest.approx(sideways - pull, abs=1e-5)


def test_the_certificate_uses_the_bodies_not_the_lifted_variables(turned, small):
    plan, _ = turned
    resolved_task, motion = resolve_task(config(), small.task()), motion_from_plan(plan)
    q = plan.bodies["plate"].q[0]
    motion["x.plate.plate"][:] += 1.0  # only lifted variables of the search
    assert certify_plan(resolved_task, motion, q)["certified"] is True
    lower = motion["l"][STEPS // 2]
    lower[2] -= 1e-4  # lower the plate at one step: this violates motion and contact
    told = certify_plan(resolved_task, motion, q)
    assert told["certified"] is False
    assert told["equations"]["motion"]["residual"] == pytest.approx(1e-4, rel=1e-3)
    assert told["complementarity"]["normal.plate.plate"]["residual"] == pytest.approx(1e-4, rel=1e-2)


def test_another_target_needs_no_new_programs(planner, small):
    prepared = planner.prepared
    other = config(axis=(1.0, 1.0, 0.0), angle=0.4)
    plan, info = planner.plan_for(other, small.task(), silent)
    assert info.status is Status.CONVERGED
    moved = plan.bodies["plate"].q[-1] - plan.bodies["plate"].q[0]
    arc = small.ball * 0.4 / np.sqrt(2.0)
    assert moved == pytest.approx([-arc, arc, 0.0], abs=2e-3 * small.ball)
    assert planner.prepared == prepared


def test_an_earlier_plan_is_a_warm_start(turned, planner, small):
    plan, _ = turned
    again, info = planner.plan(attrs.evolve(small.task(), previous_plan=plan), silent)
    assert info.status is Status.CONVERGED
    assert [entry["stage"] for entry in again.solve_log] == ["dynamic, warm"]
    assert again.bodies["plate"].q == pytest.approx(plan.bodies["plate"].q, abs=1e-5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda kept: kept.pop("sizes"), "has no 'sizes': another planner made it"),
        (lambda kept: kept.update(x=kept["x"] * np.nan), "'x' is not made of finite numbers"),
        (lambda kept: kept.update(x=kept["x"] + 1j), "'x' is not made of finite numbers"),
        (lambda kept: kept.update(x=kept["x"].ravel()), "'x' is not made of finite numbers"),
        (lambda kept: kept.update(x=kept["x"][:0]), "do not have the variables of its blocks"),
        (lambda kept: kept.update(start=kept["start"][1:]), "do not have the variables of its blocks"),
        (lambda kept: kept.update(names=kept["sizes"]), "'names' is not made of texts"),
        (lambda kept: kept.update(names=kept["names"][:-1]), "are no blocks"),
        (lambda kept: kept.update(sizes=kept["sizes"] - 2.0), "are no blocks"),
        (lambda kept: kept.update(names=np.tile(kept["names"], 2)), "are no blocks"),
        (lambda kept: kept.update(sizes=np.tile(kept["sizes"], 2)), "are no blocks"),
        (lambda kept: kept.update(sizes=kept["sizes"] + 0.5), "are no blocks"),
        (lambda kept: kept.update({"multipliers bounds": np.array(["a"])}), "multipliers 'bounds' are no table"),
        (
            lambda kept: kept.update(
                sizes=kept["sizes"] + np.eye(len(kept["sizes"]))[0],
                x=np.pad(kept["x"], ((0, 0), (1, 0))), start=np.pad(kept["start"], (1, 0)),
            ),
            "it is of another world",
        ),
    ],
)  # fmt: skip
def test_an_earlier_plan_that_is_none_is_refused(turned, planner, small, change, words):
    kept = dict(turned[0].warm_start)
    change(kept)
    with pytest.raises(ResultsError, match=words):
        planner.plan(
            attrs.evolve(small.task(), previous_plan=attrs.evolve(turned[0], warm_start=kept)), silent
        )


def test_multipliers_of_another_program_are_left_out(turned, planner, small):
    kept = {
        name: value[:, :1] if name.startswith("multipliers") else value
        for name, value in turned[0].warm_start.items()
    }
    task = attrs.evolve(small.task(), previous_plan=attrs.evolve(turned[0], warm_start=kept))
    assert planner.plan(task, silent)[1].status is Status.CONVERGED


def test_without_rolling_first_the_homotopy_converges_too(planner, small):
    plain = SearchOptions(batched="never", rolling_first=False)
    plan, info = planner.plan_for(config(search=plain), small.task(), silent)
    assert info.status.solved
    assert [entry["stage"] for entry in plan.solve_log] == ["kinematic", "dynamic"]
    assert plan.certificate["orientation_error"] <= 1e-6


def test_a_target_beyond_the_plates_reach_is_not_solved(small):
    # 0.6 rad need 30 mm of rolling; the plate may move by 10 mm
    narrow = Bounds(coordinate=(-0.01, 0.06))
    few = SearchOptions(batched="never", iterations=40)
    plan, info = IpoptMpcc(config(bounds=narrow, search=few)).plan(small.task(), silent)
    assert not info.status.solved
    assert plan.certificate["certified"] is False
    assert plan.certificate["worst"]["where"]


def test_too_little_friction_is_infeasible(small):
    # turning by 0.6 rad in 1 s against e·ω needs 0.6·1e-3/0.05 N of friction, the bound is 1e-6·10 N
    plan, info = IpoptMpcc(config(friction=1e-6)).plan(small.task(), silent)
    assert info.status is Status.INFEASIBLE
    assert plan.certificate["certified"] is False
    assert sum(len(entry["programs"]) for entry in plan.solve_log) <= 4


def test_an_obstacle_without_contact_is_reported(planner, small):
    far = StaticObstacle(Shape("sphere", (0.1,)), Pose(position=np.array([0.0, 0.0, 5.0])))
    told = []
    hasty = SearchOptions(batched="never", time_limit=1e-3)
    task = attrs.evolve(small.task(), obstacles={"thing": far}, report=told.append)
    plan, _ = planner.plan_for(config(search=hasty), task, silent)
    assert told == list(plan.notes)
    assert "'thing'" in told[0] and "does not avoid" in told[0]


def test_the_time_limit_returns_a_plan(planner, small):
    hasty = SearchOptions(batched="never", time_limit=1e-3)
    plan, info = planner.plan_for(config(search=hasty), small.task(), silent)
    assert not info.status.solved
    assert plan.bodies["plate"].q.shape == (STEPS + 1, 3)


def test_an_object_out_of_reach_is_refused_with_the_distance(small):
    low = Bounds(coordinate=(-0.5, -0.05))
    with pytest.raises(ConfigError, match=r"misses by 0\.09 m"):
        IpoptMpcc(config(bounds=low)).plan(small.task(), silent)


@pytest.mark.parametrize(
    ("kind", "size", "at", "depth"),
    [
        ("box", (0.1, 0.1, 0.1), (0.0, 0.0, 0.0), 0.05),  # the centre, 0.1 m up, lies in the upper face
        ("box", (0.1, 0.1, 0.1), (0.12, 0.0, 0.22), 0.05 - np.hypot(0.02, 0.02)),  # an edge
        ("sphere", (0.03,), (0.0, 0.0, 0.16), 0.02),
        ("half-space", (), (0.0, 0.0, 0.06), 0.01),
        ("cylinder", (0.2, 0.02), (0.0, 0.0, 0.04), 0.01),
        ("capsule", (0.01, 0.03), (0.0, 0.05, 0.1), 0.01),
    ],
)
def test_a_ball_in_an_obstacle_is_refused_with_its_penetration(planner, small, kind, size, at, depth):
    obstacle = StaticObstacle(Shape(kind, size), Pose(position=np.array(at)))
    task = attrs.evolve(small.task(), obstacles={"thing": obstacle})
    with pytest.raises(ConfigError, match=f"penetrates obstacle 'thing' by {depth:.3g} m"):
        planner.plan(task, silent)


def test_mistakes_in_a_task_are_reported_together(small):
    wrong = config(object="bal", contacts=(Contact(body="plate", frame="rim"), Contact(obstacle="floor")))
    with pytest.raises(ConfigError) as error:
        IpoptMpcc(wrong).plan(small.task(), silent)
    assert [each.path for each in error.value.mistakes] == [
        "object",
        "contacts[0].frame",
        "contacts[1].obstacle",
    ]


def test_a_task_without_target_or_contact_is_refused():
    with pytest.raises(ConfigError, match="rotation"):
        config(target=Target())
    with pytest.raises(ConfigError, match=r"contacts\[0\]"):
        config(contacts=(Contact(),))


def test_a_contact_that_is_given_twice_is_refused_with_its_place():
    twice = (Contact(body="plate", frame="centre"), Contact(obstacle="floor"), Contact(obstacle="floor"))
    with pytest.raises(ConfigError, match=r"contacts\[2\]: found 'floor'; must be given once"):
        config(contacts=twice)


def test_unsupported_bodies_are_refused_by_name(small):
    with pytest.raises(CompositionError, match=r"'plate'.*2 constraints"):
        IpoptMpcc(config()).plan(small.task(plate=small.Plate(rows=2)), silent)


def test_a_fixed_ball_has_no_target_position(small):
    away = config(target=Target(position=(0.1, 0.0, 0.1)))
    with pytest.raises(ConfigError, match="fixed"):
        IpoptMpcc(away).plan(small.task(), silent)
