"""Options of the complementarity solvers."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import ComponentRef, component_list_option, option

__all__ = ["ChainConfig", "LemkeConfig", "ProjectedGaussSeidelConfig", "SemismoothNewtonConfig"]


@frozen(kw_only=True)
class LemkeConfig:
    """Options of `lemke`."""

    max_iterations: int = option(5000, "pivots of one attempt", low=1)
    attempts: int = option(10, "number of covering vectors", low=1, high=20)
    pivot_tolerance: float = option(1e-8, "smallest pivot, relative to its column", above=0.0, high=1e-2)
    tie_tolerance: float = option(
        1e-12, "largest difference of tied ratios, relative to the data", low=0.0, high=1e-4
    )


@frozen(kw_only=True)
class SemismoothNewtonConfig:
    """Options of `semismooth-newton`."""

    max_iterations: int = option(100, "iterations of one start", low=1)
    starts: int = option(
        3, "starts beside a guess: from zero, then from scattered points; 0: only without a guess from zero", low=0,
        high=20,
    )  # fmt: skip
    warm_start: bool = option(True, "whether a guess is where it starts; else z = 0 is")
    interior: float = option(
        1e-3,
        "least entry of a shifted guess, relative to its largest entry; 0: it is not shifted",
        low=0.0,
        high=1.0,
    )
    globalisation: str = option(
        "shift", "what leads from afar: a shift of the matrix, a Levenberg–Marquardt trust region (the CUSP paper), or "
        "a line search along Newton's increments, where the start ends if one fails",
        choices=("shift", "trust-region", "line-search"),
    )  # fmt: skip


@frozen(kw_only=True)
class ProjectedGaussSeidelConfig:
    """Options of `pgs`."""

    max_iterations: int = option(2000, "sweeps over all contacts", low=1)
    relaxation: float = option(1.0, "fraction of the step towards each local solution", above=0.0, high=1.9)
    check_every: int = option(10, "sweeps between two measurements of the residual", low=1)


@frozen(kw_only=True)
class ChainConfig:
    """Options of `chain`."""

    solvers: tuple[ComponentRef, ...] = component_list_option(
        "lcp_solvers", ("lemke", "pgs"), "LCP solvers in the order of the attempts"
    )
