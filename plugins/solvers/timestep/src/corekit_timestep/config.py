"""Options of the schemes."""

from __future__ import annotations

import math
from typing import ClassVar

from attrs import frozen

from corekit.roles.options import option

__all__ = [
    "AlphaConfig", "Averages", "GeneralizedAlphaConfig", "ImplicitEulerConfig", "ImplicitMidpointConfig",
    "NewmarkConfig", "Rk23Config", "ScipyBdfConfig", "ScipyConfig", "ScipyRadauConfig", "ScipyRk45Config",
    "SemiImplicitEulerConfig", "ThetaConfig", "VerletConfig",
]  # fmt: skip


@frozen(kw_only=True)
class SemiImplicitEulerConfig:
    """Options of `semi-implicit-euler`."""

    form: str = option(
        "linearly-implicit",
        "include stiffness and damping of models that provide them in the step matrix, or not",
        choices=("linearly-implicit", "explicit"),
    )
    beta: float | None = option(
        None,
        "weight β of h²·K in the step matrix of the linearly implicit form, 1 if absent; ½ damps least, 1 most",
        low=0.5,
        high=1.0,
    )

    def __attrs_post_init__(self) -> None:
        if self.form == "explicit" and self.beta is not None:
            raise ValueError("beta: leave it out, the explicit form has no stiffness in its matrix")


@frozen(kw_only=True)
class ThetaConfig:
    """Options of the θ family; a subclass names its θ."""

    theta: ClassVar[float]

    tolerance: float = option(
        1e-8,
        "largest error of a surface speed of v⁺, relative to the largest at the start, at the end or without impulses",
        above=0,
        high=1e-2,
    )
    max_iterations: int = option(30, "iterations of Newton's method before the step is cut", low=1)
    reuse: float = option(
        0.25,
        "a factorisation is kept while its steps contract at least by this; 0 factorises every time",
        low=0,
        high=0.9,
    )
    adaptive: bool = option(True, "cut steps in which Newton's method does not converge, down to step/1024")
    local_error: float = option(
        math.inf,
        "cut steps whose error of a place on the surface is estimated above this; inf: never",
        unit="m",
        above=0,
        infinite=True,
    )


@frozen(kw_only=True)
class ImplicitEulerConfig(ThetaConfig):
    """Options of `implicit-euler`."""

    theta: ClassVar[float] = 1.0


@frozen(kw_only=True)
class ImplicitMidpointConfig(ThetaConfig):
    """Options of `implicit-midpoint`."""

    theta: ClassVar[float] = 0.5


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
    absolute: float | None = option(
        None,
        "error of a surface speed in an inner step that always passes; "
        "a hundredth of `relative` of the largest of the step where nothing is said",
        unit="m/s",
        above=0,
    )
    max_inner_steps: int = option(200, "inner steps of the smooth motion before the step fails", low=1)
    split_above: float = _split_above()


def _newton_tolerance() -> float:
    return option(
        1e-8,
        "largest error of a surface speed of v⁺, relative to the largest of the step",
        above=0,
        high=1e-2,
    )


@frozen(kw_only=True)
class VerletConfig:
    """Options of `verlet`."""

    form: str = option(
        "velocity",
        "where accelerations are evaluated: at the ends of the step, or in its middle",
        choices=("velocity", "position"),
    )
    split_above: float = _split_above()


@frozen
class Averages:
    """β, γ, α_m and α_f of `alpha_integrator`."""

    beta: float = 0.25
    gamma: float = 0.5
    mass: float = 0.0
    force: float = 0.0

    @property
    def end_weight(self) -> float:
        """κ = ∂a₁/∂w₁."""
        return (1.0 - self.force) / (1.0 - self.mass)

    @property
    def error(self) -> float:
        """|C| of the local error C·h³·q⃛ of a displacement: a is w at t + (α_m − α_f)·h."""
        return abs(self.beta + 0.5 * (self.mass - self.force) - 1.0 / 6.0)


@frozen(kw_only=True)
class AlphaConfig:
    """Options common to `newmark` and `generalized-alpha`; a subclass defines the averages."""

    tolerance: float = _newton_tolerance()
    max_iterations: int = option(30, "iterations of Newton's method", low=1)
    reuse: float = option(
        0.4,
        "a factorisation is kept while its steps contract at least by this; 0 factorises every time",
        low=0,
        high=0.9,
    )
    local_error: float = option(
        math.inf,
        "cut steps whose error of a place on the surface is estimated above this; inf: only those that fail",
        unit="m",
        above=0,
        infinite=True,
    )


@frozen(kw_only=True)
class NewmarkConfig(AlphaConfig):
    """Options of `newmark`.

    β = ¼, γ = ½, the average acceleration, is of order two, undamped and stable for every h of a linear model; γ > ½
    damps and is of order one, best with β = ¼·(γ + ½)². Rigid constraints ring without that damping: use
    `generalized-alpha` for them.

    Source: Newmark (1959), "A method of computation for structural dynamics", J. Eng. Mech. Div. 85(3).
    """

    beta: float = option(0.25, "weight β of the end's acceleration in the displacement", above=0, high=1.0)
    gamma: float = option(0.5, "weight γ of it in the velocity; above ½ it damps", low=0.5, high=1.0)

    @property
    def averages(self) -> Averages:
        """β and γ."""
        return Averages(beta=self.beta, gamma=self.gamma)


@frozen(kw_only=True)
class GeneralizedAlphaConfig(AlphaConfig):
    """Options of `generalized-alpha`.

    With ρ the factor by which the amplitude of a mode with h·ω → ∞ changes per step, 1 for none lost and 0
    for all,

        α_m = (2·ρ − 1)/(ρ + 1),   α_f = ρ/(ρ + 1),   γ = ½ + α_f − α_m,   β = ¼·(γ + ½)²                  (1)

    ρ = 1 conserves the energy of linear models as the midpoint rule does.

    Source: Chung and Hulbert (1993), "A time integration algorithm for structural dynamics with improved
    numerical dissipation: the generalized-α method", J. Appl. Mech. 60(2).
    """

    spectral_radius: float = option(
        0.8, "ρ: amplitude of a mode with h·ω → ∞ after a step, relative to that before", low=0.0, high=1.0
    )

    @property
    def averages(self) -> Averages:
        """The averages of (1)."""
        rho = self.spectral_radius
        mass, force = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        gamma = 0.5 + force - mass
        return Averages(beta=0.25 * (gamma + 0.5) ** 2, gamma=gamma, mass=mass, force=force)


@frozen(kw_only=True)
class ScipyConfig:
    """Options of SciPy's solvers; a subclass names its solver, a key of `scipy_solvers.METHODS`."""

    method: ClassVar[str]

    relative: float = option(
        1e-4,
        "error of a velocity in one of the solver's steps relative to it, and of a displacement relative to that",
        low=1e-12,
        high=0.1,
    )
    absolute: float = option(
        1e-6,
        "error that always passes, of a velocity in m/s or rad/s, of a displacement in m or rad",
        above=0,
    )
    settling: float = option(
        0.01, "τ of rigid constraints: their position error decays as (1 + t/τ)·e^(−t/τ)", unit="s", above=0
    )
    max_inner_steps: int = option(10_000, "steps of the solver in one step before it fails", low=1)


@frozen(kw_only=True)
class ScipyBdfConfig(ScipyConfig):
    """Options of `scipy-bdf`: orders one to five, for stiff models.

    It continues over grid points. A new start falls back to order one, so it suits motion without impacts.
    """

    method: ClassVar[str] = "bdf"


@frozen(kw_only=True)
class ScipyRadauConfig(ScipyConfig):
    """Options of `scipy-radau`: Radau IIA of order five, for stiff models; its dense output is of order three."""

    method: ClassVar[str] = "radau"


@frozen(kw_only=True)
class ScipyRk45Config(ScipyConfig):
    """Options of `scipy-rk45`: the explicit pair 5(4) of Dormand and Prince; its dense output is of order four.

    The fastest mode or rate λ bounds its steps at about 3/|λ|.
    """

    method: ClassVar[str] = "rk45"
