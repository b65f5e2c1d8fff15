"""Points of a sweep that are drawn: independent ones, a Latin hypercube, or Sobol's sequence.

Of N points of d axes the i-th has on the axis j the place x_ij in [0, 1), which the axis makes a value:

    random    x_ij independent and uniform: the error of a mean falls as N^(−1/2)
    latin     x_ij = (π_j(i) + u_ij)/N,  π_j a random permutation of 0 … N − 1: every axis is covered evenly       (1)
    sobol     the scrambled (t, s)-sequence of base 2: all axes together are covered evenly, best with N = 2^m     (2)

The first points of (2) are the same whatever N is, so that a sweep can be made again with more of them.

Sources: McKay, Beckman, Conover (1979), A comparison of three methods for selecting values of input variables in the
analysis of output from a computer code, Technometrics 21(2). Owen (1998), Scrambling Sobol' and Niederreiter-Xing
points, Journal of Complexity 14(4). Drawn by `scipy.stats.qmc`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit.registry.resolve import did_you_mean
from corekit_study.variants import MOST_RUNS, Variant, spread, variants

__all__ = ["METHODS", "draw"]

METHODS = ("latin", "random", "sobol")
"""How points can be drawn."""


def draw(vary: Sequence[str], count: int, seed: int, method: str = "latin") -> list[Variant]:
    """Draw points.

    Args:
        vary: `path=LOW:HIGH`, uniform; `path=LOW:HIGH:log`, its logarithm uniform; or values as `variants` and `spread`
            have them, each as often as the others.
        count: N, of points. seed: of the draw; the same gives the same points.
        method: one of `METHODS`.
    Raises:
        ConfigError: a text that is not of that form, a path given twice, too many points, or no such method.
    """
    if not 1 <= count <= MOST_RUNS:
        raise ConfigError([Mistake("--samples", count, f"must be 1 to {MOST_RUNS}")], "the sweep")
    if seed < 0:
        raise ConfigError([Mistake("--seed", seed, "must be 0 or more")], "the sweep")
    if method not in METHODS:
        said = f"must be one of {', '.join(METHODS)}{did_you_mean(method, METHODS)}"
        raise ConfigError([Mistake("--sampling", method, said)], "the sweep")
    axes = [_axis(text) for text in vary]
    paths = [path for path, _ in axes]
    for path in paths:
        if paths.count(path) > 1:
            raise ConfigError(
                [Mistake("--vary", path, "is varied twice: give one range for it")], "the sweep"
            )
    places = _places(len(axes), count, seed, method)
    return [
        Variant(tuple((path, value(float(x))) for (path, value), x in zip(axes, point, strict=True)))
        for point in places
    ]


def _places(axes: int, count: int, seed: int, method: str) -> Array:
    """Return x_ij, shape (count, axes)."""
    random = np.random.default_rng(seed)
    if method == "random":
        return random.random((count, axes))
    from scipy.stats import qmc

    if method == "latin":
        return qmc.LatinHypercube(axes, seed=random).random(count)
    if axes > qmc.Sobol.MAXDIM:
        said = f"must be latin or random: sobol has at most {qmc.Sobol.MAXDIM} axes, and {axes} are varied"
        raise ConfigError([Mistake("--sampling", method, said)], "the sweep")
    # whole powers of two, of which the first are taken: with another number SciPy warns, as the help text does
    return qmc.Sobol(axes, seed=random).random_base2(math.ceil(math.log2(count)))[:count]


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
