"""Random points of a sweep: a Latin hypercube, so that any number of runs covers every range evenly.

Of N runs the i-th has, on each axis, the place

    x_i = (π(i) + u_i)/N,   π a random permutation of 0 … N − 1,   u_i uniform in [0, 1)                       (1)

McKay, Beckman, Conover (1979), A comparison of three methods for selecting values of input variables in the analysis of
output from a computer code, Technometrics 21(2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from corekit.errors import ConfigError, Mistake
from corekit_study.variants import MOST_RUNS, Variant, spread, variants

__all__ = ["draw"]


def draw(vary: Sequence[str], count: int, seed: int) -> list[Variant]:
    """Draw points by (1).

    Args:
        vary: `path=LOW:HIGH`, uniform; `path=LOW:HIGH:log`, its logarithm uniform; or values as `variants` and `spread`
            have them, each as often as the others.
        count: N, of points. seed: of the draw; the same gives the same points.
    Raises:
        ConfigError: a text that is not of that form, a path given twice, or too many points.
    """
    if not 1 <= count <= MOST_RUNS:
        raise ConfigError([Mistake("--samples", count, f"must be 1 to {MOST_RUNS}")], "the sweep")
    if seed < 0:
        raise ConfigError([Mistake("--seed", seed, "must be 0 or more")], "the sweep")
    random = np.random.default_rng(seed)
    axes = [_axis(text) for text in vary]
    paths = [path for path, _ in axes]
    for path in paths:
        if paths.count(path) > 1:
            raise ConfigError(
                [Mistake("--vary", path, "is varied twice: give one range for it")], "the sweep"
            )
    places = [(random.permutation(count) + random.random(count)) / count for _ in axes]
    return [
        Variant(tuple((path, value(float(x[i]))) for (path, value), x in zip(axes, places, strict=True)))
        for i in range(count)
    ]


def _axis(text: str) -> tuple[str, Callable[[float], str]]:
    """Return a path, and its value at a place in [0, 1)."""
    path, _, rest = text.partition("=")
    words = [word.strip() for word in rest.split(":")]
    by_factors = words[2:] == ["log"]
    if len(words) == 2 or by_factors:
        try:
            low, high = float(words[0]), float(words[1])
        except ValueError:
            low = high = math.nan
        if not (math.isfinite(low) and math.isfinite(high) and low < high) or (by_factors and low <= 0.0):
            said = "must be LOW:HIGH of rising numbers, with :log above 0, for example 1e-4:1e-2:log"
            raise ConfigError([Mistake("--vary", text, said)], "the sweep")
        if by_factors:
            return path.strip(), lambda x: f"{low * (high / low) ** x:.12g}"
        return path.strip(), lambda x: f"{low + (high - low) * x:.12g}"
    chosen = [variant.values[0] for variant in variants([spread(text)])]
    return chosen[0][0], lambda x: chosen[int(x * len(chosen))][1]
