"""Whether a model explains what was observed: residuals against their stated deviation.

If the model is right, the sum of N squared residuals in deviations, after a fit of n parameters, has the mean N − n and
the variance 2·(N − n). Residuals far above that are the model's error, of which no interval knows: the verdict says so.

Source: Seber, Wild (1989), Nonlinear Regression, sections 2.1 and 5.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array
from corekit.roles.estimator import FittedParameter
from corekit_fit.observations import Observations

__all__ = ["combine_experiments", "compute_spread", "misfit_notes", "with_misfit"]

_MISFIT = 3.0
"""Root mean square of the residuals, in deviations, from which on the model is said to miss the markers."""


def compute_spread(residuals: Array, parameters: int) -> float:
    """Return the root mean square of residuals in deviations; nan among them are what was not seen."""
    seen = residuals[np.isfinite(residuals)]
    return math.sqrt(float(np.sum(seen**2)) / max(len(seen) - parameters, 1))


def misfit_notes(spread: float, what: str = "markers") -> tuple[str, ...]:
    """Return the sentence for the user if the model misses the markers, or what else has a stated deviation."""
    if spread <= _MISFIT:
        return ()
    where = "; look where residuals.csv is largest" if what == "markers" else ""
    off = f"they are {spread:.3g} times their stated deviation off, and no interval holds{where}"
    return (f"the model misses the {what}: {off}",)


def with_misfit(fitted: Iterable[FittedParameter], spread: float) -> tuple[FittedParameter, ...]:
    """Return the parameters with the verdict `model misfit` where the model misses what was observed."""
    if spread <= _MISFIT:
        return tuple(fitted)
    note = f"residuals are {spread:.3g} times the stated deviation"
    return tuple(
        each if each.verdict == "not identifiable" else evolve(each, verdict="model misfit", note=note)
        for each in fitted
    )


def combine_experiments(
    observed: Sequence[Observations], predicted: Sequence[Array]
) -> tuple[Array, tuple[str, ...], Array, Array]:
    """Return times, names, observed and predicted places of the markers of all experiments in one table.

    There is a column a marker, named `experiment/marker` if there are several experiments; nan where nothing was seen.
    """
    time = np.unique(np.concatenate([each.time for each in observed]))
    names, columns = [], []
    for number, (each, mine) in enumerate(zip(observed, predicted, strict=True), 1):
        row = np.searchsorted(time, each.time)
        for i, name in enumerate(each.names):
            names.append(name if len(observed) == 1 else f"{number}/{name}")
            seen, fit = np.full((2, len(time), 3), np.nan)
            seen[row], fit[row] = each.position[:, i], mine[:, i]
            columns.append((seen, fit))
    places, found = (np.stack([pair[k] for pair in columns], axis=1) for k in (0, 1))
    return time, tuple(names), places, found
