"""What the extra `learning` brings takes the environments as they are, and learns in them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from corekit_gym.environment import Environment

EPISODES = 20


@pytest.fixture(autouse=True)
def _library():
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")


def rewards(env, policy):
    """Of episodes that the learner did not see."""
    found = []
    for seed in range(EPISODES):
        seen, _ = env.reset(seed=1_000_000 + seed)
        total, over = 0.0, False
        while not over:
            seen, reward, terminated, truncated, _ = env.step(policy(seen))
            total, over = total + reward, terminated or truncated
        found.append(total)
    return np.array(found)


def test_its_checker_finds_nothing_to_say(ball_file):
    from stable_baselines3.common.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(Environment(ball_file), warn=True)


def test_it_learns_which_way_to_push(ball_file):
    """Pushed rightly a ball comes nearer in every episode; without a push it stays off by what was drawn."""
    from stable_baselines3 import PPO

    env = Environment(ball_file)
    still = rewards(env, lambda _seen: np.zeros(env.sizes[1]))
    learner = PPO(
        "MlpPolicy", env, n_steps=256, batch_size=64, learning_rate=2e-3, gamma=0.9, seed=0, device="cpu"
    )
    learner.learn(6_000)
    learned = rewards(env, lambda seen: learner.predict(seen, deterministic=True)[0])
    assert np.mean(learned > still) > 0.9
    assert np.median(learned) > 0.7 * np.median(still)  # both are minus a distance
