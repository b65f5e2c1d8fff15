"""Collision shapes of rigid links, as an obstacle's in a scenario file."""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import frozen

from corekit.errors import ConfigError, Mistake
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit.geometry.shape_specs import KERNEL_SHAPES
from corekit.geometry.shapes import Shape
from corekit.roles.options import option
from corekit_gvs.options import Triple, numbers

__all__ = ["LinkShape", "shape_of"]

_KINDS = ("sphere", "box", "capsule", "cylinder", "polytope")
_SIZES = "; ".join(f"{kind} [{', '.join(KERNEL_SHAPES[kind].file_sizes)}]" for kind in _KINDS[:-1])


@final
@frozen(kw_only=True)
class LinkShape:
    """A shape on a rigid link; sizes and axes are those of the shape."""

    shape: str = option(help="its form", choices=_KINDS)
    size: tuple[float, ...] = option((), f"its sizes: {_SIZES}", unit="m", above=0, converter=numbers)
    vertices: tuple[Triple, ...] = option((), "of a polytope, the hull of them", unit="m")
    position: Triple = option((0.0, 0.0, 0.0), "of its origin, from the link's base", unit="m")
    rotation_rpy: Triple = option((0.0, 0.0, 0.0), "roll, pitch, yaw from the link's base", unit="rad")

    def __attrs_post_init__(self) -> None:
        names = tuple(KERNEL_SHAPES[self.shape].file_sizes)
        wrong: list[Mistake] = []
        if len(self.size) != len(names):
            allowed = f"[{', '.join(names)}]" if names else "left out"
            wrong.append(Mistake("size", list(self.size), f"must be {allowed}, for shape {self.shape!r}"))
        if self.shape == "polytope" and len(self.vertices) < 4:
            wrong.append(
                Mistake("vertices", f"{len(self.vertices)} points", "give at least 4, for a polytope")
            )
        if self.shape != "polytope" and self.vertices:
            wrong.append(Mistake("vertices", f"{len(self.vertices)} points", "only a polytope has them"))
        if wrong:
            raise ConfigError(wrong, "the shape of a link")


def shape_of(given: LinkShape, frame: int, friction: float | None) -> Shape:
    """The shape on a frame at the link's base; a file gives whole edges and lengths, shapes have halves."""
    factors = KERNEL_SHAPES[given.shape].file_sizes.values()
    return Shape(
        given.shape,
        tuple(factor * size for factor, size in zip(factors, given.size, strict=True)),
        frame=frame,
        offset=Pose(np.array(given.position), rotation_from_rpy(given.rotation_rpy)),
        friction=friction,
        vertices=np.array(given.vertices) if given.vertices else None,
    )
