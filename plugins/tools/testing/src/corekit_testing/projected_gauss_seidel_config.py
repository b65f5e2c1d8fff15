"""Options of the reference impulse solver."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["ProjectedGaussSeidelConfig"]


@frozen(kw_only=True)
class ProjectedGaussSeidelConfig:
    """Options of the reference impulse solver."""

    tolerance: float = option(1e-12, "asked residual, in units of the problem's own", above=0)
    max_iterations: int = option(5000, "sweeps over all contacts", low=1)
