"""Policies, the evolution strategy, and a whole training."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import corekit
from corekit.cli import main
from corekit.errors import ConfigError, ResultsError
from corekit_gym.environment import Environment
from corekit_gym.evolution import Evolution, EvolutionConfig, directions, utilities
from corekit_gym.policy import Policy
from corekit_gym.rollout import play, run_episode
from corekit_gym.training import TaskSource, evaluate, train


def test_utilities_are_ranks_and_equal_rewards_have_equal_ones():
    np.testing.assert_allclose(utilities(np.array([[3.0, -1.0], [10.0, 3.0]])), [[0.0, -0.5], [0.5, 0.0]])
    np.testing.assert_array_equal(utilities(np.ones((3, 2))), np.zeros((3, 2)))


def test_utilities_do_not_see_by_how_much():
    rewards = np.random.default_rng(0).standard_normal((8, 2))
    np.testing.assert_array_equal(utilities(rewards), utilities(np.exp(5.0 * rewards)))


def test_the_mean_goes_to_the_top_of_a_paraboloid():
    top = np.array([1.0, -2.0, 0.5, 3.0])
    search, random = Evolution(np.zeros(4), EvolutionConfig(pairs=8, decay=0.0)), np.random.default_rng(1)
    for _ in range(400):
        tried = directions(int(random.integers(2**31)), 8, 4)
        rewards = [
            [-np.sum((search.mean + sign * 0.1 * each - top) ** 2) for sign in (1.0, -1.0)] for each in tried
        ]
        search.move(tried, np.array(rewards))
    assert np.abs(search.mean - top).max() < 0.1


def test_a_policy_is_its_layers():
    sizes, random = (3, 4, 2), np.random.default_rng(0)
    numbers = random.standard_normal((3 + 1) * 4 + (4 + 1) * 2)
    first, second = numbers[:12].reshape(4, 3), numbers[16:24].reshape(2, 4)
    seen = np.array([0.3, -1.0, 2.0])
    expected = np.tanh(second @ np.tanh(first @ seen + numbers[12:16]) + numbers[24:])
    np.testing.assert_array_equal(Policy(sizes, numbers)(seen), expected)
    assert not Policy.random(sizes, random)(seen).any()  # its last layer is zero


def test_a_policy_comes_back_from_its_file_and_others_are_refused(tmp_path):
    policy = Policy((2, 1), np.array([1.0, 2.0, 3.0]))
    policy.save(tmp_path / "policy.npz")
    back = Policy.load(tmp_path / "policy.npz")
    np.testing.assert_array_equal(back.numbers, policy.numbers)
    np.savez(tmp_path / "other.npz", a=1)
    (tmp_path / "text.npz").write_text("no archive", encoding="utf-8")
    for name in ("other.npz", "text.npz", "absent.npz"):
        with pytest.raises(ResultsError, match=name):
            Policy.load(tmp_path / name)
    with pytest.raises(ConfigError, match="sees 2 numbers"):
        back.check(3, 1, "policy.npz")


def test_a_run_of_an_episode_is_the_episode_to_the_bit(ball_file, tmp_path):
    env = Environment(ball_file)
    policy = Policy((6, 1), np.array([-0.5, 0.1, 0.0, -0.2, 0.0, 0.0, 0.05]))
    play(env, policy, 11)
    run_episode(env.task, policy, 11, tmp_path / "run")
    results = corekit.Results(tmp_path / "run")
    np.testing.assert_array_equal(
        results["frame_position"][-1, -1], env.simulation.frame("ball.body").position
    )
    assert results.time[-1] == pytest.approx(0.5, rel=1e-12)


def test_a_search_does_better_and_does_not_depend_on_the_count_of_processes(ball_file, tmp_path):
    found = {}
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        folder.mkdir()
        found[processes] = train(
            TaskSource(str(ball_file)), folder, generations=12, processes=processes, evaluated=6,
            config=EvolutionConfig(pairs=4, spread=0.2, rate=0.2),
        )  # fmt: skip
    one, two = found[1], found[2]
    np.testing.assert_array_equal(one.policy.numbers, two.policy.numbers)
    assert one.before == two.before
    assert one.after == two.after
    # at rest it is 0.2 m off on average; a push to the right sign alone gets nearer
    before, after = (each.as_data()["reward"]["median"] for each in (one.before, one.after))
    assert after > before + 0.1
    assert evaluate(Environment(ball_file), one.policy, 6) == one.after
    assert np.array_equal(Policy.load(tmp_path / "1" / "policy.npz").numbers, one.policy.numbers)
    with (tmp_path / "1" / "progress.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["episodes"]) for row in rows] == [16 * n for n in range(1, 13)]
    assert (
        json.loads((tmp_path / "1" / "evaluation.json").read_text(encoding="utf-8"))["after"]["episodes"] == 6
    )


def test_the_verb_trains_draws_and_replays(ball_file, tmp_path, capsys):
    few = {"generations": 1, "pairs": 1, "evaluated": 2, "processes": 1, "out": tmp_path / "run"}
    assert main(["train", str(ball_file), *(f"--{name}={value}" for name, value in few.items())]) == 0
    said = capsys.readouterr()
    assert "before" in said.out
    assert "error" in said.out
    made = {path.name for path in (tmp_path / "run").iterdir()}
    assert made >= {"policy.npz", "progress.csv", "evaluation.json", "replay"}
    assert (tmp_path / "run" / "replay" / "STATUS").read_text(encoding="utf-8").startswith("finished")


def test_numbers_that_cannot_be_are_refused_before_anything_is_played(ball_file, tmp_path):
    with pytest.raises(ConfigError, match="minutes"):
        train(TaskSource(str(ball_file)), tmp_path, minutes=0.0)
    assert not list(tmp_path.glob("*.npz"))
