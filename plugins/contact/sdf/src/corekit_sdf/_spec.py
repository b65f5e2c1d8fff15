"""Specification of the detector for `corekit list` and `corekit info`."""

from __future__ import annotations

from corekit.registry.spec import ComponentSpec

__all__ = ["sdf"]

sdf = ComponentSpec(
    role="contact_detectors",
    name="sdf",
    api="0.2",
    target="corekit_sdf.detector:SdfDetector",
    config="corekit_sdf.config:SdfConfig",
    summary="Exact gaps among round shapes, of round shapes to boxes and planar shapes, of all to half-spaces.",
    provides={"compiled-form"},
    modules=("numba",),
    citation=(
        "Gilbert, Johnson (1985), Distance functions and their application to robot path planning in the "
        "presence of obstacles, IEEE J. Robotics and Automation 1(1), for the signed distance of convex sets."
    ),
)
