"""A policy that is a table of numbers: actions from observations by tanh layers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, final

import numpy as np
from attrs import field, frozen

from corekit.data.array_file import read_arrays, write_arrays
from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake, ResultsError
from corekit_run.output_file import writing

__all__ = ["Policy"]

_FORMAT = "corekit-policy/1"


def _weights(sizes: tuple[int, ...]) -> int:
    return sum((a + 1) * b for a, b in pairwise(sizes))


@final
@frozen(eq=False)
class Policy:
    """a = tanh(W_k·… tanh(W_1·s + b_1) … + b_k) of an observation s; without hidden layers a = tanh(W·s + b).

    Args:
        sizes: of the observation, of the hidden layers and of the action.
        numbers: all weights, layer by layer, W row by row and then b; zeros if not given.
    """

    sizes: tuple[int, ...]
    numbers: Array = field()

    @numbers.default
    def _zeros(self) -> Array:
        return np.zeros(_weights(self.sizes))

    @classmethod
    def random(cls, sizes: tuple[int, ...], random: np.random.Generator) -> Policy:
        """A policy whose hidden layers are drawn, each row of unit length on average, and whose last layer is zero."""
        numbers = np.zeros(_weights(sizes))
        first = 0
        for a, b in pairwise(sizes[:-1]):
            numbers[first : first + a * b] = random.standard_normal(a * b) / np.sqrt(a)
            first += (a + 1) * b
        return cls(sizes, numbers)

    def __call__(self, observation: Any) -> Array:
        """Return the action, shape (sizes[-1],), each number within −1 … 1."""
        signal, first = np.asarray(observation, dtype=float), 0
        for a, b in pairwise(self.sizes):
            weights = self.numbers[first : first + a * b].reshape(b, a)
            first += a * b
            signal = np.tanh(weights @ signal + self.numbers[first : first + b])
            first += b
        return signal

    def save(self, path: str | Path) -> None:
        """Write it into an .npz file.

        Raises:
            ResultsError: the file cannot be written.
        """
        with writing(Path(path)):
            write_arrays(
                Path(path),
                {"format": np.array(_FORMAT), "sizes": np.array(self.sizes), "numbers": self.numbers},
            )

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read what `save` wrote.

        Raises:
            ResultsError: it is no such file.
        """
        try:
            stored = read_arrays(Path(path))
            sizes = tuple(int(size) for size in stored["sizes"])
            if str(stored["format"]) != _FORMAT or len(sizes) < 2 or min(sizes) < 1:
                raise ValueError(f"it is of no format {_FORMAT}")
            policy = cls(sizes, stored["numbers"].astype(float))
            if policy.numbers.shape != (_weights(sizes),) or not np.isfinite(policy.numbers).all():
                raise ValueError("its numbers are not those of its layers")
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ResultsError(f"{path} is no policy that `corekit train` wrote: {error}") from error
        return policy

    def check(self, observations: int, actions: int, path: str) -> None:
        """Refuse a policy of another task.

        Raises:
            ConfigError: its sizes are not those of the task.
        """
        if (self.sizes[0], self.sizes[-1]) != (observations, actions):
            said = f"sees {self.sizes[0]} numbers and gives {self.sizes[-1]}; the task has {observations} and {actions}"
            raise ConfigError([Mistake("policy", path, said)], "the policy")
