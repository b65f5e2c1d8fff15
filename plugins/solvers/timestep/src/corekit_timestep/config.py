"""Options of the schemes."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["SemiImplicitEulerConfig"]


@frozen(kw_only=True)
class SemiImplicitEulerConfig:
    """Options of `semi-implicit-euler`."""

    form: str = option(
        "linearly-implicit",
        "whether stiffness and damping of models that offer a tangent enter the step matrix",
        choices=("linearly-implicit", "explicit"),
    )
    beta: float = option(1.0, "share β of h²·K in the step matrix; ½ damps least, 1 most", low=0.5, high=1.0)
