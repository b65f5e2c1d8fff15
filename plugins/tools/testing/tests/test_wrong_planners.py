"""Wrong planners, estimators and controllers: each breaks one promise, and exactly its check fails."""

from typing import final

import numpy as np
import pytest
from attrs import evolve, frozen

from corekit.data.status import Residuals, SolveInfo, Status
from corekit.errors import ConfigError, Mistake
from corekit.registry.spec import ComponentSpec
from corekit.roles.controller import Controller
from corekit.roles.estimator import Estimate, Estimator, InputTrajectory
from corekit.roles.options import option
from corekit.roles.planner import Plan, Planner
from corekit_testing.conformance import Subject, run_checks
from corekit_testing.conformance.check import Verdict

from .defects import failing, role_checks


@frozen(kw_only=True)
class Options:
    """What the three are asked for."""

    target: float = option(0.2, "where the mass shall be, or was seen, in x", unit="m")
    body: str = option("mass", "which body")


def subject(role, name, base, sound, methods):
    """A component with other methods, by the spec of a sound one."""
    spec = ComponentSpec(
        role=role, name=name, api="0.2", target=f"{__name__}:{sound.__name__}", config=f"{__name__}:Options",
        summary=sound.__doc__,
    )  # fmt: skip
    target = type("Wrong", (base,), {**methods, "__final__": True})
    return Subject(spec=spec, entry="corekit_testing._spec:none", target=target)


class Pushing(Planner):
    """Takes a free mass to x by one constant pull, in closed form of semi-implicit Euler."""

    def __init__(self, config, context=None):
        self.config = config

    def plan(self, task, progress):
        if self.config.body not in task.bodies:
            raise ConfigError([Mistake("options.body", self.config.body, "must be a body")], "the plan")
        time = np.array([0.0, 0.1, 0.2, 0.3, 0.4])
        steps, mass = 40, task.bodies["mass"].model.new_mass_matrix()
        body = task.bodies["mass"]
        body.model.compute_mass_and_force(body.start, np.zeros(3), mass, np.zeros(3))
        pull = 2.0 * mass.dense()[0, 0] * self.config.target / (task.step**2 * steps * (steps + 1))
        pull = float(np.clip(pull, -100.0, 100.0))
        inputs = np.tile([pull, 0.0, 0.0], (5, 1))
        moved = task.simulate({"mass": inputs}, time)
        away = abs(moved["mass"].q[-1, 0] - self.config.target)
        status = Status.CONVERGED if away < 1e-6 else Status.INFEASIBLE
        return self.told(
            Plan(time=time, bodies=moved), SolveInfo(status, 1, Residuals(equation=away), "pushing")
        )

    def told(self, plan, info):
        return plan, info


@final
class SoundPlanner(Pushing):
    """Tells what it found."""


def planner(**methods):
    return subject("planners", "pushing", Pushing, SoundPlanner, methods)


def late(self, plan, info):
    return evolve(plan, time=plan.time + 0.01), info


def idealised(self, plan, info):
    """Tells where it wanted to be, in a straight line."""
    body = plan.bodies["mass"]
    straight = np.outer(plan.time / plan.time[-1], body.q[-1])
    return evolve(plan, bodies={"mass": evolve(body, q=straight)}), info


def boastful(self, plan, info):
    return plan, evolve(info, status=Status.CONVERGED)


PLANNERS = {
    "plan-sized": late,
    "plan-as-simulated": idealised,
    "unreachable-unsolved": boastful,
}


@pytest.mark.parametrize("name", PLANNERS)
def test_a_wrong_planner_is_caught(name):
    assert failing(planner(told=PLANNERS[name])) == {name}


def test_a_sound_planner_passes_and_one_of_another_task_is_not_judged():
    assert failing(planner()) == set()
    other = evolve(planner(), options={"body": "arm"})
    found = {each.check: each for each in run_checks(other)}
    assert found["plan-as-simulated"].verdict is Verdict.NOT_APPLICABLE
    assert "the body `mass`" in found["plan-as-simulated"].reason


class Pulled(Estimator):
    """Finds the pull in closed form of the task's own equilibrium."""

    def __init__(self, config, context=None):
        self.config = config

    def estimate(self, task, progress):
        seen = np.array([[[self.config.target, 0.0, 0.0]]])
        given = task.find_equilibrium(np.array([1.0, 0.0, 0.0]), task.start, 0.0).q[0]
        pull = self.config.target / given if given else 0.0
        there = task.find_equilibrium(np.array([pull, 0.0, 0.0]), task.start, 0.0).q[None, None]
        times, values = np.array([0.0, task.duration]), np.tile([pull, 0.0, 0.0], (2, 1))
        found = Estimate(
            schedules=(InputTrajectory(channel="pull", times=times, values=values),), time=np.zeros(1),
            markers=("tip",), observed=seen, predicted=there.copy(),
        )  # fmt: skip
        near = np.abs(there - seen).max() < 1e-6
        return self.told(
            found, SolveInfo(Status.CONVERGED if near else Status.INACCURATE, 1, answered_by="pulled")
        )

    def told(self, found, info):
        return found, info


@final
class SoundEstimator(Pulled):
    """Tells what it found."""


def estimator(**methods):
    return subject("estimators", "pulled", Pulled, SoundEstimator, methods)


def flat(self, found, info):
    return evolve(found, observed=found.observed[0]), info


def hopeful(self, found, info):
    """Predicts what was seen, whatever it found."""
    (pull,) = found.schedules
    weaker = evolve(pull, values=0.9 * pull.values)
    return evolve(found, schedules=(weaker,), predicted=found.observed.copy()), info


def certain(self, found, info):
    return found, evolve(info, status=Status.CONVERGED)


ESTIMATORS = {"estimate-sized": flat, "prediction-true": hopeful, "blind-unsolved": certain}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_wrong_estimator_is_caught(name):
    assert failing(estimator(told=ESTIMATORS[name])) == {name}


def test_a_sound_estimator_passes():
    assert failing(estimator()) == set()


class Holding(Controller):
    """Holds both joints of the kit's arm."""

    def __init__(self, config, context=None):
        self.gain = config.target
        self.body = "arm" if config.body == "mass" else config.body

    def compute_inputs(self, world):
        torque = -self.gain * world.state.v[:2]
        return self.given(world, {self.body: {"torque": torque}})

    def given(self, world, inputs):
        return inputs


@final
class SoundController(Holding):
    """Says all at every sample."""


def controller(**methods):
    return subject("controllers", "holding", Holding, SoundController, methods)


def falls_silent(self, world, inputs):
    return inputs if world.time < 0.015 else {}


def to_nobody(self, world, inputs):
    return {"leg": inputs["arm"]}


def not_a_number(self, world, inputs):
    return {"arm": {"torque": inputs["arm"]["torque"] * np.nan}}


def of_another_size(self, world, inputs):
    return {"arm": {"torque": np.zeros(5)}}


@pytest.mark.parametrize("given", [falls_silent, to_nobody, not_a_number, of_another_size])
def test_a_wrong_controller_is_caught(given):
    assert failing(controller(given=given)) == {"fits-its-channels"}


def test_a_sound_controller_passes():
    assert failing(controller()) == set()


def test_every_check_of_these_roles_catches_a_wrong_one():
    of_answers = {"inputs-unchanged", "answers-own-memory", "deterministic", "saved-and-loaded"}
    assert role_checks("planners") - of_answers == set(PLANNERS)
    assert role_checks("estimators") - of_answers == set(ESTIMATORS)
    assert role_checks("controllers") - of_answers == {"fits-its-channels"}
