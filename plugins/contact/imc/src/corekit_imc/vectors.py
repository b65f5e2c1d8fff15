"""Three-vectors as tuples, of the kernel's geometry."""

from corekit.geometry.vectors import Vector, along, cross, dot, into_frame, norm, out_of_frame, scaled

__all__ = [
    "Vector",
    "along",
    "cross",
    "dot",
    "into_frame",
    "norm",
    "out_of_frame",
    "scaled",
]
