"""Options of `lcp`, with one table for each conditioning stage."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import ComponentRef, component_list_option, component_option, option

__all__ = ["Equilibration", "LCPContactConfig", "RankSelection", "Regularisation"]


@frozen(kw_only=True)
class RankSelection:
    """Stage Q: leave out contacts whose normal rows depend on those of others, then check them.

    Their friction is left out too: what is pinched along a line or a face slips from its reach.
    """

    enabled: bool = option(False, "whether the stage is used; else `keep` says which contacts there are")
    tolerance: float = option(1e-3, "smallest pivot kept, relative to the first", low=1e-7, high=0.5)
    reference_gap: float = option(1e-3, "gap at which a contact counts half as close", unit="m", above=0.0)
    passes: int = option(8, "how often contacts that were left out and would penetrate are added back", low=0)


@frozen(kw_only=True)
class Equilibration:
    """Stage R: Ruiz scaling of rows and columns."""

    enabled: bool = option(True, "whether the stage is used")
    sweeps: int = option(10, "scaling sweeps", low=1, high=100)
    symmetric: bool = option(False, "one scaling for rows and columns, for solvers that need symmetry")


@frozen(kw_only=True)
class Regularisation:
    """Stage T: a small compliance, which shares loads between redundant contacts as soft pads do."""

    enabled: bool = option(True, "whether the stage is used")
    rows: str = option(
        "all", "rows with a compliance: all alike; or the normal ones after scaling, as in the CUSP paper, or for what "
        "changes from the guess",
        choices=("all", "scaled-normals", "proximal-normals"),
    )  # fmt: skip
    weight: float = option(
        1e-3, "compliance, relative to the least mobility of a contact", above=0.0, high=0.1
    )
    corrections: int = option(6, "further solves that remove its effect", low=0)


def _even(value: int) -> str | None:
    return "must be even, so that every direction has its opposite" if value % 2 else None


@frozen(kw_only=True)
class LCPContactConfig:
    """Options of `lcp`."""

    friction_directions: int = option(
        8, "directions of the friction pyramid, even; two in a plane", low=4, high=64, check=_even
    )
    aligned: bool = option(True, "whether pyramids are turned so that a direction opposes slip")
    lcp_solver: ComponentRef = component_option("lcp_solvers", "lemke", "solver of the assembled problem")
    fallback: tuple[ComponentRef, ...] = component_list_option(
        "lcp_solvers",
        ("lemke", "pgs"),
        "solvers for problems on which that fails, in order, without repetitions",
    )
    tolerance: float = option(
        1e-9, "largest residual of a solved problem, relative to its free velocity", above=0.0
    )
    own_units: bool = option(
        True, "whether LCPs are posed in units of the problem's own; else in m/s and N·s, as assembled"
    )
    keep: str = option(
        "closing",
        "contacts of conditioned problems without stage Q: those that close, or touch at the solution; or all",
        choices=("closing", "all"),
    )
    warm_start: bool = option(
        True,
        "whether contact modes are tried first: those of the initial guess, then those of Newton's method",
    )
    spread: bool = option(
        False, "whether loads that stage Q left to a few contacts are distributed over all, for their readout"
    )
    rank_selection: RankSelection = option(RankSelection(), "stage Q, inertial rank selection")
    equilibration: Equilibration = option(Equilibration(), "stage R, Ruiz equilibration")
    regularisation: Regularisation = option(Regularisation(), "stage T, Tikhonov regularisation")
