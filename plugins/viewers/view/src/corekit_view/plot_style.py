"""How matplotlib draws everything here, whatever a user's style file says."""

from __future__ import annotations

from corekit_view.palette import INK

__all__ = ["set_plot_style"]


def set_plot_style() -> None:
    """Configure matplotlib from its defaults, so that a user's style file has no effect."""
    from matplotlib import rc, rcdefaults

    rcdefaults()
    rc("font", family="sans-serif", size=7.0)
    rc("axes", titlesize=7.5, labelsize=7.0, edgecolor="#8A8A8A", linewidth=0.6, labelcolor=INK)
    rc("text", color=INK)
    ticks = {"color": INK, "labelsize": 6.5, "major.width": 0.6, "major.size": 2.5}
    rc("xtick", **ticks)
    rc("ytick", **ticks)
