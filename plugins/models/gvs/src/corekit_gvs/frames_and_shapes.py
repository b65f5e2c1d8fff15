"""Frames, collision shapes and lines of a tree."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array, IntArray
from corekit.errors import ConfigError, Mistake
from corekit.geometry.frames import Pose
from corekit.geometry.shapes import Shape
from corekit_gvs.config import GVSConfig
from corekit_gvs.link_shapes import shape_of
from corekit_gvs.links import Link
from corekit_gvs.sections import radius_at
from corekit_gvs.tree import Tree

__all__ = ["Visible", "visible_of"]

_ALONG_X = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""Turns local z into x: axes of capsules and disks."""


@frozen(eq=False)
class Visible:
    """Frames by name with their nodes, shapes on them, pairs never to test; polylines: nodes, radii, whether soft."""

    frames: list[str] = field(factory=list)
    nodes: list[int] = field(factory=list)
    shapes: list[Shape] = field(factory=list)
    never: list[tuple[int, int]] = field(factory=list)
    lines: list[tuple[list[int], Array, bool]] = field(factory=list)

    def add(self, name: str, node: int) -> int:
        """A frame; returns its index."""
        self.frames.append(name)
        self.nodes.append(node)
        return len(self.frames) - 1

    @property
    def node(self) -> IntArray:
        """Node of every frame."""
        return np.array(self.nodes, dtype=np.int64)


def visible_of(config: GVSConfig, tree: Tree) -> Visible:
    """Frames of all links in order, then what they carry."""
    out = Visible()
    for i, link in enumerate(config.links):
        base = out.add(f"{link.name}.base", tree.places[f"{link.name}.base"])
        out.add(f"{link.name}.tip", tree.places[f"{link.name}.tip"])
        first = len(out.shapes)
        if link.kind == "rigid":
            centre = out.add(f"{link.name}.centre", tree.places[f"{link.name}.centre"])
            _rigid_shape(link, out, base, centre, f"links[{i}]")
            out.shapes.extend(shape_of(each, base, link.friction) for each in link.solids)
            ends = [tree.places[f"{link.name}.{end}"] for end in ("base", "tip")]
            is_shown = bool(link.solids) and link.collision == "none"  # its solids are what is drawn
            out.lines.append((ends, np.full(2, 0.0 if is_shown else link.radius), False))
        else:
            for share in link.frames:
                place = f"{link.name}.{share:g}"
                if place in out.frames:
                    said = "is given twice"
                    raise ConfigError([Mistake(f"links[{i}].frames", share, said)], "the frames")
                out.add(place, tree.node_of(place, f"links[{i}].frames"))
            _soft_shapes(link, tree, out)
            _soft_line(link, tree, out)
        count = len(out.shapes)
        out.never.extend((k, k + 1) for k in range(first, count - 1))
        # shapes of a rigid link do not move against each other
        out.never.extend(
            (k, m) for k in range(first, count) for m in range(k + 2, count) if link.kind == "rigid"
        )
    _joined(config, out)
    return out


def _radius(link: Link, tree: Tree, share: float) -> float:
    s = share * link.length
    part = [each for each in tree.parts[link.name] if each.start <= s][-1]
    X = np.array([min((s - part.start) / part.division.length, 1.0)])
    return float(radius_at(part.division, X, part.path)[0])


def _soft_shapes(link: Link, tree: Tree, out: Visible) -> None:
    if link.collision == "none":
        return
    n = link.shapes
    length = link.length / n
    own = link.spheres if link.collision == "spheres" else ()
    for k, share in enumerate(own or [(k + 0.5) / n for k in range(n)]):
        radius = _radius(link, tree, share)
        frame = out.add(f"{link.name}/{k + 1}", tree.between(link.name, share))
        if link.collision == "spheres":
            shape = Shape("sphere", (radius,), frame=frame, friction=link.friction)
        else:
            kind, half = (
                ("capsule", 0.5 * length) if link.collision == "capsules" else ("cylinder", 0.25 * length)
            )
            shape = Shape(
                kind, (radius, half), frame=frame, offset=Pose(np.zeros(3), _ALONG_X), friction=link.friction
            )
        out.shapes.append(shape)


def _rigid_shape(link: Link, out: Visible, base: int, centre: int, path: str) -> None:
    if link.collision == "none":
        return
    if link.collision == "spheres":
        out.shapes.append(Shape("sphere", (link.radius,), frame=centre, friction=link.friction))
        return
    tip: Array = np.array(link.tip, dtype=np.float64)
    length = float(np.linalg.norm(tip))
    if length < 1e-9:
        said = "needs a tip away from the base, or spheres"
        raise ConfigError([Mistake(f"{path}.collision", link.collision, said)], f"link {link.name!r}")
    z = tip / length
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x = x / math.sqrt(float(x @ x))
    rotation: Array = np.array([x, np.cross(z, x), z], dtype=np.float64).T
    kind = "capsule" if link.collision == "capsules" else "cylinder"
    offset = Pose(0.5 * tip, rotation)
    out.shapes.append(
        Shape(kind, (link.radius, 0.5 * length), frame=base, offset=offset, friction=link.friction)
    )


def _soft_line(link: Link, tree: Tree, out: Visible) -> None:
    nodes: list[int] = []
    radii: list[float] = []
    for part in tree.parts[link.name]:
        nodes.extend(part.node)
        radii.extend(radius_at(part.division, part.X, part.path).tolist())
    out.lines.append((nodes, np.array(radii), True))


def _joined(config: GVSConfig, out: Visible) -> None:
    """Shapes of links that are joined never touch at the joint: ends of a soft link, all of a rigid one."""
    of = {
        link.name: [k for k, s in enumerate(out.shapes) if _owner(out, s) == link.name]
        for link in config.links
    }
    kinds = {link.name: link.kind for link in config.links}
    for link in config.links:
        carrier = link.on.partition(".")[0]
        if carrier in of and of[carrier] and of[link.name]:
            theirs, mine = of[carrier], of[link.name]
            if kinds[carrier] == "soft":
                theirs = [theirs[0], theirs[-1]]
            if link.kind == "soft":
                mine = mine[:1]
            out.never.extend(pair for pair in product(theirs, mine) if pair not in out.never)


def _owner(out: Visible, shape: Shape) -> str:
    return out.frames[shape.frame].replace("/", ".").partition(".")[0]
