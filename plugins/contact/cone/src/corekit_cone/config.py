"""Options of `cone`."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["ConeContactConfig"]


@frozen(kw_only=True)
class ConeContactConfig:
    """Options of `cone`."""

    tolerance: float = option(
        1e-8, "largest error of a contact's velocity in a solved problem, relative to the free velocity", above=0.0
    )  # fmt: skip
    max_iterations: int = option(1000, "largest number of Gauss-Seidel sweeps", low=1)
