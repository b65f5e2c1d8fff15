"""Options of `qp`."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import ComponentRef, component_option, option

__all__ = ["QPContactConfig"]


def _even(value: int) -> str | None:
    return "must be even, so that every direction has its opposite" if value % 2 else None


@frozen(kw_only=True)
class QPContactConfig:
    """Options of `qp`."""

    qp_solver: ComponentRef = component_option("qp_solvers", "banded", "solver of the programs")
    friction: str = option(
        "exact", "exact friction by corrections, or its convex relaxation, which separates sliding contacts",
        choices=("exact", "relaxed"),
    )  # fmt: skip
    friction_directions: int = option(
        8, "directions of the friction pyramid, even; two in a plane", low=4, high=64, check=_even
    )
    aligned: bool = option(True, "whether pyramids are turned so that a direction opposes slip")
    tolerance: float = option(
        1e-9, "largest residual of a solved problem, relative to its free velocity", above=0.0
    )
    corrections: int = option(200, "largest number of programs for exact friction", low=1)
    lcp_solver: ComponentRef = component_option(
        "lcp_solvers", "lemke", "solver of exact friction where the programs for it do not end"
    )
