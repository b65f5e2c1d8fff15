"""Options of the schemes."""

from __future__ import annotations

import math

from attrs import frozen

from corekit.roles.options import option

__all__ = ["NewtonConfig", "SemiImplicitEulerConfig"]


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
        1e-8, "largest error of an entry of v⁺, in m/s or rad/s, relative to 1 + max|v⁺|", above=0, high=1e-2
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
