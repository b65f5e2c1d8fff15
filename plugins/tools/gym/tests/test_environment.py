"""Environments: what is seen, paid and drawn, against closed forms and against the simulation stepped by hand."""

from __future__ import annotations

import math

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import corekit_gym.envs  # noqa: F401
from corekit.errors import ControlError, StepFailed
from corekit_gym.environment import Environment
from corekit_gym.task import Action, Draw, Ending, Quantity, Reward, StartDraw, Target
from corekit_gym.task_file import load_task, shipped_tasks

MASS, FORCE, STEP, SKIP = 2.0, 4.0, 0.01, 5
PUSH = np.array([1.0, 0.0, 0.0])


def moved(steps, force=FORCE, mass=MASS):
    """Place and velocity along an axis after semi-implicit steps from rest: v = n·h·a, x = h²·a·n·(n + 1)/2."""
    return STEP**2 * force / mass * steps * (steps + 1) / 2, steps * STEP * force / mass


@pytest.mark.to_nearest("NumPy refuses a uniform sample of equal bounds whose difference is −0", "down")
def test_gymnasium_finds_nothing_to_say_of_a_task_file(ball_file):
    env = gymnasium.make("corekit/task", task=ball_file)
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", sorted(shipped_tasks()))
def test_shipped_tasks_are_found_by_name_and_play(name):
    env = gymnasium.make(f"corekit/{name}")
    seen, _ = env.reset(seed=0)
    assert env.observation_space.contains(seen)
    for _ in range(3):
        seen, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert env.observation_space.contains(seen)
        assert math.isfinite(float(reward))
        assert not (terminated or truncated)
        assert info["unsolved"] == 0


def test_a_pushed_ball_is_seen_where_it_is(make):
    env = make()
    seen, _ = env.reset(seed=0)
    np.testing.assert_array_equal(seen, np.array([0, 0, 0.5, 0, 0, 0], dtype=np.float32))
    seen, *_ = env.step(0.5 * PUSH)
    place, speed = moved(SKIP, 0.5 * FORCE)
    np.testing.assert_allclose(seen, [place / 2.0, 0, 0.5, speed, 0, 0], rtol=1e-6, atol=1e-9)


def test_an_episode_is_cut_at_its_duration_and_not_before(make):
    env = make()
    env.reset(seed=0)
    ends = [env.step(PUSH)[2:4] for _ in range(10)]
    assert ends == [(False, False)] * 9 + [(False, True)]
    with pytest.raises(ControlError, match="call reset"):
        env.step(PUSH)


def test_actions_beyond_their_range_count_as_its_ends_and_others_are_refused(make):
    env = make()
    env.reset(seed=0)
    far = env.step(7.0 * PUSH)[0]
    env.reset(seed=0)
    np.testing.assert_array_equal(far, env.step(PUSH)[0])
    for wrong in (np.zeros(2), [np.nan, 0, 0], np.zeros((1, 3))):
        with pytest.raises(ControlError, match="3 finite numbers"):
            env.step(wrong)


def test_low_and_high_are_the_ends_of_each_entry(make):
    env = make(actions=(Action(body="ball", channel="wrench", low=-1.0, high=3.0),))
    assert env.action_space.shape == (6,)
    env.reset(seed=0)
    env.step(np.array([1.0, -1.0, 0.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(env.simulation.inputs["ball"]["wrench"][:3], [3.0, -1.0, 1.0])


def test_rates_add_up_and_stop_at_the_bounds(make):
    env = make(actions=(Action(body="ball", channel="wrench", low=0.0, high=2.0, rate=4.0),))
    env.reset(seed=0)
    held = []
    for _ in range(7):
        env.step(np.array([1.0, -1.0, 0.5, 0.0, 0.0, 0.0]))
        held.append(env.simulation.inputs["ball"]["wrench"][:3])
    growth = 4.0 * SKIP * STEP * 1.0  # half the range times the rate, each action
    expected = [[min(2.0, growth * n), 0.0, growth * 0.5 * n] for n in range(1, 8)]
    np.testing.assert_allclose(held, expected, rtol=1e-12)
    env.reset(seed=0)
    np.testing.assert_array_equal(env.simulation.inputs["ball"]["wrench"], np.zeros(6))


def test_rewards_are_their_measures_shaped_and_weighted(make):
    away = Quantity(name="away", kind="position", frame="ball.body", relative_to="start", observed=False)
    start = Target(name="start", low=(0.0, 0.0, 1.0), high=(0.0, 0.0, 1.0))
    rewards = (
        Reward(name="far", quantity="away", weight=2.0),
        Reward(name="square", quantity="away", measure="square"),
        Reward(name="x", quantity="away", measure="component", component=0, shape="change"),
        Reward(name="near", quantity="away", shape="bell", width=0.01, weight=-3.0),
    )
    env = make(quantities=(*make().task.quantities, away), targets=(start,), rewards=rewards)
    env.reset(seed=0)
    last = 0.0
    for n in (1, 2):
        _, reward, _, _, info = env.step(-PUSH)
        place = moved(n * SKIP)[0]
        told = {
            "far": 2.0 * place,
            "square": place**2,
            "x": last - place,
            "near": -3.0 * math.exp(-((place / 0.01) ** 2)),
        }
        assert info["rewards"] == pytest.approx(told, rel=1e-9)
        assert reward == pytest.approx(sum(told.values()), rel=1e-9)
        last = place


def test_an_ending_ends_pays_and_says_whether_the_task_is_done(make):
    endings = (
        Ending(name="lost", quantity="speed", above=100.0),
        Ending(name="there", quantity="place", measure="component", below=-0.02, reward=5.0, success=True),
    )
    env = make(endings=endings)
    env.reset(seed=0)
    count = next(n for n in range(1, 11) if moved(n * SKIP)[0] > 0.02)
    assert not any(env.step(-PUSH)[2] for _ in range(count - 1))
    _, reward, terminated, truncated, info = env.step(-PUSH)
    assert (reward, terminated, truncated) == (5.0, True, False)
    assert (info["ended"], info["is_success"]) == ("there", True)


def test_drawn_numbers_are_those_of_the_world_and_nothing_is_composed_anew(make):
    draws = (Draw(path="bodies.ball.options.mass", low=1.0, high=100.0, scale="log"),)
    env = make(draws=draws)
    masses, system = [], env.simulation.system
    for seed in range(40):
        env.reset(seed=seed)
        mass = env.parameters["bodies.ball.options.mass"]
        seen = env.step(PUSH)[0]
        assert seen[3] == pytest.approx(moved(SKIP, mass=mass)[1], rel=1e-6)
        assert env.simulation.system is system
        masses.append(mass)
    # half of a logarithmic draw is below the geometric mean: 40 fair coins leave 8 … 32 once in 2,000 times
    assert 8 <= sum(mass < 10.0 for mass in masses) <= 32
    assert min(masses) >= 1.0
    assert max(masses) <= 100.0


def test_one_seed_gives_one_episode_and_the_next_reset_another(make):
    target = Target(name="goal", choices=((1.0,), (2.0,), (3.0,)))
    goal = Quantity(name="goal", kind="target", target="goal")
    start = StartDraw(body="ball", entries=("centre-x",), low=-0.5, high=0.5)
    env = make(targets=(target,), quantities=(*make().task.quantities, goal), starts=(start,))
    first = [env.reset(seed=3)[0], env.reset()[0], env.reset()[0]]
    again = [env.reset(seed=3)[0], env.reset()[0], env.reset()[0]]
    np.testing.assert_array_equal(first, again)
    assert len({seen.tobytes() for seen in first}) == 3
    drawn = np.array([env.reset()[0] for _ in range(200)])
    assert set(drawn[:, 6]) == {1.0, 2.0, 3.0}
    assert np.abs(2.0 * drawn[:, 0]).max() <= 0.5  # seen in units of 2 m
    assert np.ptp(drawn[:, 0]) > 0.4
    assert not drawn[:, 1].any()


def test_what_is_given_to_reset_is_not_drawn(make):
    target = Target(name="goal", low=(0.0,), high=(1.0,))
    goal = Quantity(name="goal", kind="target", target="goal")
    env = make(targets=(target,), quantities=(*make().task.quantities, goal))
    given = {"targets": {"goal": [7.0]}, "parameters": {"bodies.ball.options.mass": 8.0}}
    assert env.reset(seed=0, options=given)[0][6] == 7.0
    assert env.step(PUSH)[0][3] == pytest.approx(moved(SKIP, mass=8.0)[1], rel=1e-6)
    for wrong in ({"target": {}}, {"targets": {"gaol": [1.0]}}, {"targets": {"goal": [1.0, 2.0]}}):
        with pytest.raises(ControlError, match="options of reset"):
            env.reset(options=wrong)


def test_a_clock_turns_and_time_passes(make):
    quantities = (
        Quantity(name="beat", kind="clock", frequency=2.0),
        Quantity(name="time", kind="time"),
        Quantity(name="action", kind="action"),
        Quantity(name="push", kind="input", body="ball", channel="wrench", scale=4.0),
    )
    env = make(quantities=quantities)
    env.reset(seed=0)
    env.step(PUSH)
    seen = env.step(-0.5 * PUSH)[0]
    angle = 2 * math.pi * 2.0 * 0.1
    expected = [math.sin(angle), math.cos(angle), 0.1, -0.5, 0, 0, -0.5, 0, 0, 0, 0, 0]
    np.testing.assert_allclose(seen, expected, rtol=1e-6, atol=1e-7)


def test_what_is_seen_is_cut_at_the_bound(make):
    env = make(bound=0.3)
    seen, _ = env.reset(seed=0)
    assert seen[2] == np.float32(0.3)
    assert env.observation_space.contains(seen)


def test_a_function_is_a_quantity(make):
    def energy(simulation):
        return 0.5 * MASS * simulation.state.v[:3] @ simulation.state.v[:3]

    env = make(quantities=(Quantity(name="energy", kind="function", function=energy, size=1),))
    env.reset(seed=0)
    assert env.step(PUSH)[0][0] == pytest.approx(0.5 * MASS * moved(SKIP)[1] ** 2, rel=1e-6)


def test_a_step_that_fails_is_an_error_or_ends_the_episode_for_what_it_costs(make):
    def explode(simulation):
        if simulation.step_index >= SKIP:
            simulation.state.v[0] = np.nan  # the next step meets it
        return 0.0

    bad = Quantity(name="bad", kind="function", function=explode, size=1)
    env = make(quantities=(*make().task.quantities, bad))
    env.reset(seed=0)
    env.step(PUSH)
    with pytest.raises(StepFailed):
        env.step(PUSH)
    env = make(quantities=(*make().task.quantities, bad), failure_reward=-9.0)
    env.reset(seed=0)
    env.step(PUSH)
    _, reward, terminated, truncated, info = env.step(PUSH)
    assert (reward, terminated, truncated, info["ended"]) == (-9.0, True, False, "failure")
    assert "ball" in info["failure"]


def test_two_processes_play_the_episodes_of_one(ball_file):
    several = gymnasium.make_vec(
        "corekit_gym.envs:corekit/task", num_envs=2, vectorization_mode="async", task=str(ball_file)
    )
    alone = [Environment(load_task(ball_file)) for _ in range(2)]
    try:
        seen, _ = several.reset(seed=5)
        np.testing.assert_array_equal(
            seen, [env.reset(seed=seed)[0] for env, seed in zip(alone, (5, 6), strict=True)]
        )
        for action in (0.3, -1.0):
            seen, rewards, *_ = several.step(np.full((2, 1), action, dtype=np.float32))
            told = [env.step(np.full(1, action, dtype=np.float32)) for env in alone]
            np.testing.assert_array_equal(seen, [each[0] for each in told])
            np.testing.assert_array_equal(rewards, [each[1] for each in told])
    finally:
        several.close()


def test_an_episode_does_not_depend_on_who_makes_the_steps_that_nothing_looks_at(make):
    """With a frame skip of 5 the driver of an installed batch makes four of five steps, if it steps the world."""
    pytest.importorskip("corekit_batch")
    quick, plain = make(), make()
    plain._ahead = None
    for env in (quick, plain):
        env.reset(seed=3)
    for action in np.random.default_rng(0).uniform(-1.0, 1.0, (6, 3)):
        one, other = quick.step(action), plain.step(action)
        assert np.array_equal(one[0], other[0])
        assert one[1:4] == other[1:4]
    assert np.array_equal(quick.simulation.state.q, plain.simulation.state.q)
    assert quick.simulation.steps_ahead == 0
