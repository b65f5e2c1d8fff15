"""Profiles along a link: polynomials by their coefficients, or formulas that users type."""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake
from corekit_gvs.options import Profile

__all__ = ["profile_of"]


def profile_of(profile: Profile, name: str, at: Array, path: str) -> tuple[Array, Array]:
    """Values and derivatives of a polynomial or formula of `name`, at places of shape (n,).

    Raises:
        ConfigError: what is not a formula, or has no finite value there.
    """
    if isinstance(profile, str):
        from corekit_gvs.formula import evaluator_with_slope  # brings SymPy

        value, slope = evaluator_with_slope(profile, name, path)(at)
    else:
        *lower, highest = profile if isinstance(profile, tuple) else (profile,)
        value, slope = np.full(len(at), highest, dtype=np.float64), np.zeros(len(at))
        for coefficient in reversed(lower):  # Horner's scheme
            slope = slope * at + value
            value = value * at + coefficient
    finite = np.isfinite(value) & np.isfinite(slope)
    if not finite.all():
        where = at[~finite][0]
        raise ConfigError(
            [Mistake(path, profile, f"has no finite value or slope at {name} = {where:.6g}")], "a formula"
        )
    return value, slope
