"""Geoms of an MJCF body: their collision shapes, and the inertia of a body that gives none.

Of mass m, semi-axes a, b, c, radius r and length L along z:

    box of edges 2a, 2b, 2c   I_xx = m·(b² + c²)/3             ellipsoid   I_xx = m·(b² + c²)/5                (1)
    cylinder                  I_zz = m·r²/2,  I_xx = m·(r²/4 + L²/12)                                          (2)
    capsule                   (2) of its middle and, of both half balls of mass m_b together,
                              I_zz = 2/5·m_b·r²,  I_xx = m_b·(2/5·r² + L²/4 + 3/8·L·r)                         (3)
"""

from __future__ import annotations

import math
import sys
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit_import.link_meshes import MeshReader
from corekit_import.mjcf_defaults import MjcfSettings
from corekit_import.robot import rpy_of

__all__ = ["Geom", "GeomReader"]

_WATER = 1000.0
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}


class Geom(NamedTuple):
    """A geom in its body's axes: mass, centre and inertia about it, and its collision shapes at their place."""

    mass: float
    centre: Array
    inertia: Array
    shapes: list[dict[str, Any]]


@frozen
class GeomReader:
    """Reads geoms; `assets` are the file's meshes by name."""

    settings: MjcfSettings
    meshes: MeshReader
    assets: dict[str, Element]

    def read(self, given: Element, inherited: str, *, collides: bool, weighs: bool) -> Geom | None:
        """A geom of a body; None if it is a picture alone, or after a mistake, which is the reader's.

        Args:
            given: its element.
            inherited: the class of defaults that its body passes on.
            collides: whether its shape counts.
            weighs: whether its mass counts.
        """
        reader = self.settings.reader
        element = self.settings.complete(given, inherited)
        kind = element.get("type", "mesh" if "mesh" in element.attrib else "sphere")
        touches = collides and any(reader.number(element, key, 1.0) for key in ("contype", "conaffinity"))
        if not touches and not weighs:
            return None
        if weighs and element.get("shellinertia", "false") != "false":
            reader.problem(element, "a shell's inertia is not read", "give its body an <inertial>")
        position = np.array(reader.numbers(element, "pos", 3, (0.0, 0.0, 0.0)))
        rotation = self.settings.rotation(element)
        if kind == "mesh":
            return self._mesh(element, position, rotation, touches=touches, weighs=weighs)
        if kind not in _SIZES or (kind == "ellipsoid" and touches):
            known = "a sphere, capsule, cylinder, box or mesh"
            reader.problem(element, f"a {kind} is not read: make it {known}, or let it touch nothing")
            return None
        sizes = self._sizes(element, kind)
        if sizes is None:
            return None
        if "fromto" in element.attrib:
            ends = np.array(reader.numbers(element, "fromto", 6, (0.0, 0.0, 0.0, 0.0, 0.0, 1.0))).reshape(
                2, 3
            )
            position = ends.mean(axis=0)
            upright = Element(element.tag, {"zaxis": " ".join(map(repr, (ends[0] - ends[1]).tolist()))})
            rotation = self.settings.rotation(upright)
        volume, moments = _filled(kind, sizes)
        if not volume >= sys.float_info.min:  # sizes that are too small for numbers of full precision
            reader.problem(element, "must have a volume above 0")
            return None
        mass = self._mass(element, volume)
        inertia = rotation @ np.diag(moments * (mass / volume)) @ rotation.T
        return Geom(mass, position, inertia, [_shape(kind, sizes, position, rotation)] if touches else [])

    def _sizes(self, element: Element, kind: str) -> list[float] | None:
        """Radius, radius and half length, or half edges."""
        reader = self.settings.reader
        ends = element.get("fromto") is not None
        count = 1 if ends else _SIZES[kind]
        if ends and kind not in {"capsule", "cylinder"}:
            reader.problem(element, f"fromto is not read for a {kind}: give pos, an orientation and size")
            return None
        # files may give more numbers than count
        words = element.get("size", "").split()[:count]
        trimmed = Element(element.tag, {**element.attrib, "size": " ".join(words)})
        sizes = list(reader.numbers(trimmed, "size", count, ()))
        if not sizes or min(sizes) <= 0.0:
            if sizes:
                reader.problem(element, "its sizes must be above 0")
            return None
        if ends:
            numbers = reader.numbers(element, "fromto", 6, ())
            length = math.dist(numbers[:3], numbers[3:]) if numbers else 0.0
            if numbers and not length:
                reader.problem(element, "the ends of fromto must differ")
            return [*sizes, 0.5 * length] if length else None
        return sizes

    def _mass(self, element: Element, volume: float) -> float:
        reader = self.settings.reader
        density = reader.number(element, "density", _WATER, low=0.0)
        return reader.number(element, "mass", density * volume, low=0.0)

    def _mesh(
        self, element: Element, position: Array, rotation: Array, *, touches: bool, weighs: bool
    ) -> Geom | None:
        reader, name = self.settings.reader, element.get("mesh", "")
        asset = self.assets.get(name)
        if asset is None:
            reader.problem(element, f"mesh={name!r} is no <mesh> of the file's <asset>")
            return None
        if weighs and asset.get("inertia") == "shell":
            reader.problem(asset, "a shell's inertia is not read", "give its body an <inertial>")
        scale: Any = reader.numbers(asset, "scale", 3, (1.0, 1.0, 1.0))
        file = asset.get("file", "")
        solid = self.meshes.read(asset, file, scale, self.settings.meshes, weighs=weighs)
        if solid is None:
            return None
        mass = self._mass(element, solid.volume)
        place = {"position": position.tolist(), "rotation_rpy": list(rpy_of(rotation))}
        shapes = [{"shape": "polytope", "vertices": piece.tolist(), **place} for piece in solid.pieces]
        centre = position + rotation @ solid.centre
        return Geom(mass, centre, rotation @ solid.of_mass(mass) @ rotation.T, shapes if touches else [])


def _filled(kind: str, sizes: list[float]) -> tuple[float, Array]:
    """Volume, and moments of inertia of density 1 about the centre."""
    if kind in {"box", "ellipsoid"}:
        squares = np.square(sizes)
        volume = float(np.prod(sizes)) * (8.0 if kind == "box" else 4.0 / 3.0 * math.pi)
        return volume, volume * (squares.sum() - squares) / (3.0 if kind == "box" else 5.0)
    r = sizes[0]
    balls = 4.0 / 3.0 * math.pi * (r * r * r)  # ** raises where the result is below full precision
    if kind == "sphere":
        return balls, np.full(3, 0.4 * balls * r * r)
    L = 2.0 * sizes[1]
    volume = math.pi * r * r * L
    across = volume * (r * r / 4.0 + L * L / 12.0)
    moments = np.array([across, across, volume * r * r / 2.0])
    if kind == "capsule":
        ends = balls * (0.4 * r * r + L * L / 4.0 + 0.375 * L * r)
        moments += [ends, ends, 0.4 * balls * r * r]
        volume += balls
    return volume, moments


def _shape(kind: str, sizes: list[float], position: Array, rotation: Array) -> dict[str, Any]:
    whole = sizes if kind == "sphere" else [2.0 * s for s in sizes]
    if kind in {"capsule", "cylinder"}:
        whole = [sizes[0], 2.0 * sizes[1]]
    return {
        "shape": kind,
        "size": [float(s) for s in whole],
        "position": position.tolist(),
        "rotation_rpy": list(rpy_of(rotation)),
    }
