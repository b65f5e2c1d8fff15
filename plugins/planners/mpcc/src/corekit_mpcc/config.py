"""Options of the planner; `corekit info ipopt-mpcc` prints them."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["MpccConfig"]


@frozen(kw_only=True)
class MpccConfig:
    """How the search goes and when it ends."""

    relaxation: float = option(1e-7, "bound of the complementarity products", unit="SI", above=0)
    tolerance: float = option(1e-6, "tolerance of the last nonlinear program, scaled", above=0)
    max_iterations: int = option(300, "iterations of one nonlinear program", low=1)
    time_limit: float = option(
        600.0, "wall time after which the best point found is returned", unit="s", above=0
    )
    compiled: bool = option(True, "compile derivatives with gcc where it is found; kept and reused")
