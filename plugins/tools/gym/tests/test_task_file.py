"""Task files: every mistake in one error, with its path and what is allowed."""

from __future__ import annotations

import re

import attrs
import pytest

from corekit.errors import CompositionError, ConfigError
from corekit_gym.environment import Environment
from corekit_gym.task import Action, Draw, Ending, Quantity, Reward, StartDraw, Target, Task
from corekit_gym.task_file import load_task, shipped_tasks


def mistakes(file, *, found=r"(?s).*"):
    with pytest.raises(ConfigError, match=found) as caught:
        load_task(file)
    return {each.path for each in caught.value.mistakes}


def changed(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_a_file_is_its_task(ball_file):
    task = load_task(ball_file)
    assert [each.name for each in task.quantities] == ["error", "speed"]
    assert task.loaded is not None
    assert task.source == ball_file.resolve()
    assert load_task(ball_file, ["duration=2.5"]).duration == 2.5
    assert load_task(ball_file, "frame_skip=7").frame_skip == 7


def test_mistakes_of_task_and_scenario_are_told_together(ball_file):
    changed(ball_file, "frame_skip = 5", "frame_skip = 0\nfriction = 1")
    changed(ball_file.with_name("ball.toml"), 'use = "rigid"', 'use = "ridig"')
    assert mistakes(ball_file) >= {"frame_skip", "friction", "scenario: bodies.ball.use"} or any(
        "scenario: bodies" in path for path in mistakes(ball_file)
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('kind = "velocity"', 'kind = "velocty"', "velocity"),
        ('relative_to = "goal"', 'relative_to = "goal"\nbody = "ball"', "body says nothing of position"),
        ('kind = "velocity"\nframe = "ball.body"', 'kind = "velocity"', "frame is missing"),
        ('quantity = "error"', 'quantity = "eror"', "error, speed"),
        ("high = [0.3, 0.0, 1.0]", "high = [0.0, 0.0, 1.0]", "none below it"),
        ('format = "corekit-task/1"', 'format = "corekit-plan/1"', "no task file"),
        ('scenario = "ball.toml"', "", "scenario"),
    ],
)
def test_a_mistake_is_named(ball_file, old, new, said):
    changed(ball_file, old, new)
    mistakes(ball_file, found=re.escape(said))


def test_a_missing_task_is_named_with_those_that_are_shipped(tmp_path):
    with pytest.raises(ConfigError, match="did you mean 'reach'"):
        load_task("raech")
    with pytest.raises(ConfigError, match=r"no\.toml"):
        load_task(tmp_path / "no.toml")
    assert set(shipped_tasks()) == {"crawl", "reach", "turn"}


def test_functions_are_imported_only_where_code_is_allowed(ball_file):
    changed(
        ball_file,
        "[[actions]]",
        '[[quantities]]\nname = "own"\nkind = "function"\nfunction = "own.py:height"\nsize = 1\n\n[[actions]]',
    )
    ball_file.with_name("own.py").write_text(
        "def height(sim):\n    return sim.state.q[2]\n", encoding="utf-8"
    )
    with pytest.raises(ConfigError, match="allow_code"):
        Environment(load_task(ball_file))
    env = Environment(ball_file, allow_code=True)
    assert env.reset(seed=0)[0][-1] == 1.0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"quantities": (Quantity(name="a", kind="position", frame="ball.bdy"),)}, "ball.body"),
        ({"quantities": (Quantity(name="a", kind="coordinates", body="bal"),)}, "bal"),
        ({"quantities": (Quantity(name="a", kind="coordinates", body="ball", entries=("x",)),)}, "centre-x"),
        (
            {"quantities": (Quantity(name="a", kind="position", frame="ball.body", relative_to="sky"),)},
            "no target or obstacle 'sky'",
        ),
        (
            {"quantities": (Quantity(name="a", kind="function", function=lambda _: [1.0, 2.0], size=1),)},
            "2 numbers",
        ),
        ({"quantities": (Quantity(name="a", kind="sensor", sensor="eyes"),)}, "controller.name"),
        ({"actions": (Action(body="bal", channel="wrench", low=-1.0, high=1.0),)}, "did you mean 'ball'"),
        ({"actions": (Action(body="ball", channel="wrnch", low=-1.0, high=1.0),)}, "did you mean 'wrench'"),
        ({"actions": (Action(body="ball", channel="wrench"),)}, "has no bounds"),
        ({"actions": (Action(body="ball", channel="wrench", low=1.0, high=-1.0),)}, "low ≤ high"),
        ({"actions": (Action(body="ball", channel="wrench", rows=((1.0,),)),)}, "6 numbers, not 1"),
        (
            {"actions": (Action(body="ball", channel="wrench", low=0.0, high=1.0, offset=(0.0,) * 6),)},
            "give rows",
        ),
        ({"starts": (StartDraw(body="ball", entries=("x",), low=0.0, high=1.0),)}, "centre-x"),
        ({"starts": (StartDraw(body="bell", low=0.0, high=1.0),)}, "did you mean 'ball'"),
        ({"rewards": (Reward(name="r", quantity="place", measure="component", component=3),)}, "below 3"),
    ],
)
def test_what_is_not_in_the_world_is_named_when_the_environment_is_made(make, changes, said):
    if "quantities" in changes:
        changes = {**changes, "rewards": ()}
    with pytest.raises(ConfigError, match=re.escape(said)):
        make(**changes)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: Ending(name="e", quantity="place"), "below or above"),
        (lambda: Ending(name="e", quantity="place", below=1.0, above=2.0), "below or above"),
        (lambda: Draw(path="a", low=2.0, high=1.0), "at most high"),
        (lambda: Draw(path="a", low=0.0, high=1.0, scale="log"), "above 0"),
        (lambda: Target(name="t"), "or choices"),
        (lambda: Target(name="t", choices=((1.0,), (1.0, 2.0))), "different sizes"),
        (lambda: StartDraw(body="b", low=1.0, high=0.0), "at most high"),
        (lambda: Quantity(name="q", kind="function", size=1), "function is missing"),
        (lambda: Quantity(name="q", kind="time", channel="wrench"), "channel says nothing of time"),
    ],
)
def test_a_part_that_says_nothing_clear_is_refused(wrong, said):
    with pytest.raises(ValueError, match=said):
        wrong()


def test_a_task_needs_actions_something_to_see_and_a_scenario(make):
    task = make().task
    with pytest.raises(ValueError, match="actions"):
        attrs.evolve(task, actions=())
    with pytest.raises(ValueError, match="observed"):
        attrs.evolve(task, quantities=tuple(attrs.evolve(each, observed=False) for each in task.quantities))
    with pytest.raises(ValueError, match="two are called 'place'"):
        attrs.evolve(task, quantities=task.quantities[:1] * 2)
    with pytest.raises(CompositionError, match="no scenario"):
        Environment(attrs.evolve(task, loaded=None))
    assert isinstance(task, Task)
