"""Specifications of the contact potential and the edge detector."""

from __future__ import annotations

from corekit.registry.spec import ComponentSpec

__all__ = ["edges", "imc"]

imc = ComponentSpec(
    role="contact_solvers",
    name="imc",
    api="0.2",
    target="corekit_imc.imc:ImplicitContact",
    config="corekit_imc.config:ImplicitContactConfig",
    summary="Smooth contact potential with regularised Coulomb friction, its exact gradient and Hessian.",
    provides=frozenset({"potential"}),
    modules=("numba",),
    citation=(
        "D. Tong, A. Choi, J. Joo, M. K. Jawed, A fully implicit method for robust frictional contact handling in "
        "elastic rods, Extreme Mechanics Letters 58 (2023) 101924."
    ),
)

edges = ComponentSpec(
    role="contact_detectors",
    name="edges",
    api="0.2",
    target="corekit_imc.edges:EdgeDetector",
    config="corekit_imc.config:EdgeDetectorConfig",
    summary="Edges of rods against each other, floors, boxes and round shapes, by a spatial hash.",
    modules=("numba",),
    citation=(
        "V. J. Lumelsky, On fast computation of distance between line segments, Information Processing Letters 21 "
        "(1985) 55-61."
    ),
)
