"""Options of the schemes."""

from __future__ import annotations

import math

from attrs import frozen

from corekit.roles.options import option

__all__ = [
    "GeneralizedAlphaConfig", "NewmarkConfig", "NewmarkOptions", "NewtonConfig", "Rk23Config",
    "ScipyConfig", "SemiImplicitEulerConfig", "VerletConfig",
]  # fmt: skip


@frozen(kw_only=True)
class SemiImplicitEulerConfig:
    """Options of `semi-implicit-euler`."""

    form: str = option(
        "linearly-implicit",
        "whether stiffness and damping of models that offer a tangent enter the step matrix",
        choices=("linearly-implicit", "explicit"),
    )
    beta: float = option(1.0, "share β of h²·K in the step matrix; ½ damps least, 1 most", low=0.5, high=1.0)


@frozen(kw_only=True)
class NewtonConfig:
    """Options of `implicit-euler` and `implicit-midpoint`."""

    tolerance: float = option(
        1e-8,
        "largest error of an entry of v⁺, in m/s or rad/s (a spinning rod: of its surface), relative to 1 + max|v⁺|",
        above=0,
        high=1e-2,
    )
    max_iterations: int = option(30, "of Newton's method, before the step is cut", low=1)
    reuse: float = option(
        0.25,
        "a factorisation is kept while its steps contract at least by this; 0 factorises every time",
        low=0,
        high=0.9,
    )
    adaptive: bool = option(True, "cut steps where Newton's method does not converge, down to step/1024")
    local_error: float = option(
        math.inf,
        "cut steps whose error of a coordinate is estimated above this [m or rad]; inf: never",
        above=0,
        infinite=True,
    )


def _split_above() -> float:
    return option(
        0.1,
        "h·d, d the largest damping rate, above which damping is split off away from contacts; 0: always, inf: never",
        low=0,
        infinite=True,
    )


@frozen(kw_only=True)
class Rk23Config:
    """Options of `rk23`."""

    relative: float = option(
        1e-4, "error of a velocity in an inner step, relative to it", low=1e-12, high=0.1
    )
    absolute: float = option(
        1e-6, "error of a velocity in an inner step that always passes, in m/s or rad/s", above=0
    )
    max_inner_steps: int = option(200, "of the smooth part, before the step is given up", low=1)
    split_above: float = _split_above()


def _newton_tolerance() -> float:
    return option(
        1e-8, "largest error of an entry of v⁺, in m/s or rad/s, relative to 1 + max|v⁺|", above=0, high=1e-2
    )


@frozen(kw_only=True)
class VerletConfig:
    """Options of `verlet`."""

    form: str = option(
        "velocity",
        "where accelerations are taken: at the ends of the step, or in its middle",
        choices=("velocity", "position"),
    )
    split_above: float = _split_above()


@frozen(kw_only=True)
class NewmarkOptions:
    """What `newmark` and `generalized-alpha` have in common."""

    tolerance: float = _newton_tolerance()
    max_iterations: int = option(30, "of Newton's method", low=1)
    reuse: float = option(
        0.4,
        "a factorisation is kept while its steps contract at least by this; 0 factorises every time",
        low=0,
        high=0.9,
    )
    local_error: float = option(
        math.inf,
        "cut steps whose error of a coordinate is estimated above this [m or rad], and those that fail; inf: never",
        above=0,
        infinite=True,
    )


@frozen(kw_only=True)
class NewmarkConfig(NewmarkOptions):
    """Options of `newmark`."""

    beta: float = option(0.25, "share β of the end's acceleration in the displacement", above=0, high=1.0)
    gamma: float = option(0.5, "share γ of it in the velocity; above ½ it damps", low=0.5, high=1.0)


@frozen(kw_only=True)
class GeneralizedAlphaConfig(NewmarkOptions):
    """Options of `generalized-alpha`."""

    spectral_radius: float = option(
        0.8, "ρ: share of its amplitude that a mode with h·ω → ∞ keeps in a step", low=0.0, high=1.0
    )


@frozen(kw_only=True)
class ScipyConfig:
    """Options of `scipy-bdf`, `scipy-radau` and `scipy-rk45`."""

    relative: float = option(
        1e-4,
        "error of a velocity in one of the solver's steps relative to it, and of a way to the way",
        low=1e-12,
        high=0.1,
    )
    absolute: float = option(
        1e-6, "error that always passes, of a velocity in m/s or rad/s, of a way in m or rad", above=0
    )
    settling: float = option(
        0.01, "τ of rigid rows: what they are off decays as (1 + t/τ)·e^(−t/τ)", unit="s", above=0
    )
    max_inner_steps: int = option(10_000, "of the solver in one step, before it is given up", low=1)
