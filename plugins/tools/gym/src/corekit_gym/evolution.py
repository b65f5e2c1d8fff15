"""An evolution strategy: the mean of a cloud of parameters moves towards those that are paid more.

With n directions ε_i, each tried forwards and backwards at θ ± σ·ε_i, and utilities u of the 2·n rewards by their
ranks,

    g = 1/(2·n·σ)·Σ_i (u_i⁺ − u_i⁻)·ε_i                                                          (1)

estimates the gradient of the expected utility, and θ moves along it by Adam. All 2·n are tried in the same episodes, so
that their rewards differ by the parameters alone.

Salimans et al. (2017), Evolution strategies as a scalable alternative to reinforcement learning, arXiv:1703.03864;
Kingma, Ba (2015), Adam, ICLR.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.roles.options import option

__all__ = ["Evolution", "EvolutionConfig", "directions", "utilities"]


@frozen(kw_only=True)
class EvolutionConfig:
    """Options of the search."""

    pairs: int = option(16, "n of (1): directions a generation, each tried forwards and backwards", low=1)
    spread: float = option(0.15, "σ of (1)", above=0)
    rate: float = option(0.1, "length of Adam's steps", above=0)
    decay: float = option(0.001, "share by which parameters shrink a generation", low=0, high=1)


def directions(seed: int, count: int, size: int) -> Array:
    """Return the directions of a generation, (count, size), from a seed alone: nobody has to send them."""
    return np.random.default_rng(seed).standard_normal((count, size))


def utilities(rewards: Array) -> Array:
    """Return ranks of rewards, spread evenly over −0.5 … 0.5; equal rewards have equal ranks."""
    flat = rewards.reshape(-1)
    below = (flat[:, None] > flat).sum(axis=1)
    ties = (flat[:, None] == flat).sum(axis=1)
    ranks = below + 0.5 * (ties - 1)
    return (ranks / max(len(flat) - 1, 1) - 0.5).reshape(rewards.shape)


@final
class Evolution:
    """The state of a search.

    Args:
        start: θ at the start. config: options.
    Attributes:
        mean: θ now.
    """

    def __init__(self, start: Array, config: EvolutionConfig) -> None:
        self.mean = start.astype(float)
        self._config = config
        self._first, self._second, self._steps = np.zeros_like(self.mean), np.zeros_like(self.mean), 0

    def move(self, tried: Array, rewards: np.ndarray[Any, Any]) -> None:
        """Move the mean.

        Args:
            tried: the directions, (n, size). rewards: forwards and backwards, (n, 2).
        """
        config, weights = self._config, utilities(rewards)
        gradient = (weights[:, 0] - weights[:, 1]) @ tried / (2 * len(tried) * config.spread)
        self._steps += 1
        self._first += 0.1 * (gradient - self._first)
        self._second += 0.001 * (gradient**2 - self._second)
        first = self._first / (1.0 - 0.9**self._steps)
        second = self._second / (1.0 - 0.999**self._steps)
        self.mean *= 1.0 - config.decay
        self.mean += config.rate * first / (np.sqrt(second) + 1e-8)
