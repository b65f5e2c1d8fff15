"""Specification of the detector for `corekit list` and `corekit info`."""

from __future__ import annotations

from corekit.registry.spec import ComponentSpec

__all__ = ["mpr"]

mpr = ComponentSpec(
    role="contact_detectors",
    name="mpr",
    api="0.2",
    target="corekit_mpr.detector:MprDetector",
    config="corekit_mpr.config:MprConfig",
    summary="Gaps of any two convex shapes by support functions: portal refinement and GJK, with proven bounds.",
    modules=("numba", "scipy"),
    citation=(
        "Snethen (2008), Complex collision made simple, Game Programming Gems 7, for portal refinement; "
        "Gilbert, Johnson, Keerthi (1988), IEEE J. Robotics and Automation 4(2), for distances."
    ),
)
