"""Limbs of `der` as chains of links for MuJoCo, which calls that a cable: it neither stretches nor shears.

One capsule an edge, with three hinges and springs at a node: with l the mean length of both edges, I = π·r⁴/4 and
J = 2·I, bends have E·I/l [N·m/rad], twists G·J/l, and damping is 3·η·I/l and η·J/l. A chain hangs on the clamp of its
first node, or of its last one; further clamps are equality constraints.

| clamp | of the first link | further ones |
|---|---|---|
| edge | no joint | weld |
| clamp | hinges with the springs of half an edge, l/2 | weld, which holds the whole edge |
| pin | ball | connect |
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import define, field

from corekit.data.arrays import Array
from corekit.roles.viewer import BodyTrack
from corekit.scenario.schema_bodies import Body
from corekit_export.mjcf_friction import Frictions
from corekit_export.mjcf_text import numbers, pose

__all__ = ["Chains"]

_ROOMS = 30
"""Bits by which rods of one body that do not touch themselves know each other."""


@define
class Chains:
    """Writes bodies of rods; what they leave out goes to `notes`, constraints of further clamps to `equality`."""

    frictions: Frictions
    notes: list[str]
    equality: list[str] = field(factory=list)
    _count: int = 0

    def body(self, table: Body, track: BodyTrack) -> list[str]:
        """Return the chains of one body, as it is at the first record."""
        bounds = [*(int(start) for start in track.starts), track.outline.shape[1]]
        options, lines = table.options, list[str]()
        if options.get("joints"):
            self.notes.append(f"left out: the joints of {table.name!r} between its limbs")
        touches = ""
        if not options.get("self_contact") and self.frictions.scenario.contact is not None:
            self._count = self._count % _ROOMS + 1
            own = 1 << self._count
            touches = f' contype="{own}" conaffinity="{((1 << (_ROOMS + 1)) - 1) ^ own}"'
        clamps = [dict(each) for each in options.get("clamps", ())]
        for each in clamps:
            if any(each.get(name) is not None for name in ("displacement", "angle", "twist")):
                self.notes.append(f"left out: the motion of the clamp of {table.name!r} at {each['at']}")
        for limb, (begin, end) in zip(options["limbs"], pairwise(bounds), strict=True):
            lines += self._chain(table, limb, track.outline[0, begin:end], clamps, touches)
        self.notes.append(
            f"approximate: the rods of {table.name!r} are chains of links, which do not stretch"
        )
        return lines

    def _chain(
        self,
        table: Body,
        limb: Mapping[str, Any],
        points: Array,
        clamps: Sequence[Mapping[str, Any]],
        touches: str,
    ) -> list[str]:
        name = f"{table.name}-{limb['name']}"
        held = _held(limb["name"], len(points), clamps)
        last = len(points) - 1
        if 0 not in held and last in held:
            points, held = points[::-1], {last - node: kind for node, kind in held.items()}
        radius = float(np.mean(limb["radius"]))
        if limb["section"] != "round" or any(limb["inner_radius"]) or len(set(limb["radius"])) > 1:
            self.notes.append(f"approximate: {name} is round, solid and of its mean radius")
        if limb["unloaded"] != "shape" or any(limb["natural_curvature"]) or limb["natural_twist"]:
            self.notes.append(f"approximate: {name} is unloaded as it stands at the first record")
        if limb.get("closed"):
            self.notes.append(f"left out: what closes {name}")
        section = math.pi * radius**2
        rubs = table.friction if limb.get("friction") is None else limb["friction"]
        segments = np.diff(points, axis=0)
        length = np.linalg.norm(segments, axis=1)
        axes = _link_axes(segments / length[:, None])
        lines: list[str] = []
        for k, own in enumerate(length):
            pad, link = "    " + "  " * k, f"{name}-{k + 1}"
            place = pose(points[0], axes[0])
            if k:
                place = pose(np.array([length[k - 1], 0.0, 0.0]), axes[k - 1].T @ axes[k])
            lines.append(f'{pad}<body name="{link}" {place}>')
            joints = (
                _hinges(limb, radius, 0.5 * (length[k - 1] + own)) if k else _root(limb, radius, own, held)
            )
            lines += [f"{pad}  {each}" for each in joints]
            # by its length: the round ends of neighbours overlap
            mass = float(np.mean(limb["density"])) * section * own
            form = f'type="capsule" size="{radius:.9g}" fromto="0 0 0 {own:.9g} 0 0" mass="{mass:.9g}"'
            surface = f"{self.frictions.geom(link, table.name, rubs)}{touches}"
            lines.append(f'{pad}  <geom name="{link}" {form}{surface}/>')
        self._hold(name, held, length)
        return lines + ["    " + "  " * k + "</body>" for k in reversed(range(len(length)))]

    def _hold(self, name: str, held: Mapping[int, str], length: Array) -> None:
        """Hold the links of further clamps in the world."""
        # as stiff as MuJoCo allows: at its default of 0.02 s links hang lower by millimetres
        stiff = f'solref="{2.0 * self.frictions.scenario.time.step:.9g} 1" solimp="0.9999 0.9999 0.001"'
        for node, kind in held.items():
            if node == 0:
                continue
            link = f'body1="{name}-{node}"'  # which ends there
            if kind == "pin":
                anchor = numbers([length[node - 1], 0.0, 0.0])
                self.equality.append(f'    <connect {link} anchor="{anchor}" {stiff}/>')
                continue
            self.equality.append(f"    <weld {link} {stiff}/>")
            if kind == "clamp":
                self.notes.append(f"approximate: the clamp of {name} at node {node} holds the whole edge")


def _held(limb: str, count: int, clamps: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    """Return node → kind of the clamps of a limb."""
    held: dict[int, str] = {}
    for each in clamps:
        whose, _, node = str(each["at"]).rpartition(".")
        if whose == limb:
            index = {"start": 0, "end": count - 1}.get(node)
            held[(int(node) if index is None else index) % count] = str(each.get("kind", "clamp"))
    return held


def _root(limb: Mapping[str, Any], radius: float, length: float, held: Mapping[int, str]) -> list[str]:
    """Return the joints between the world and the first link."""
    match held.get(0):
        case "edge":
            return []
        case "clamp":
            return _hinges(limb, radius, 0.5 * length)
        case "pin":
            return ['<joint type="ball"/>']
        case _:
            return ["<freejoint/>"]


def _link_axes(along: Array) -> Array:
    """Return the axes of links, x along each, that turn from one to the next by the shortest way; shape (n, 3, 3)."""
    away = np.eye(3)[np.argmin(np.abs(along[0]))]
    y = np.cross(along[0], away)
    axes = [np.stack([along[0], y / np.linalg.norm(y), np.cross(along[0], y / np.linalg.norm(y))], axis=1)]
    for before, now in pairwise(along):
        c, w = float(before @ now), np.cross(before, now)
        skew = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        axes.append((np.eye(3) + skew + skew @ skew / max(1.0 + c, 1e-9)) @ axes[-1])
    return np.array(axes)


def _hinges(limb: Mapping[str, Any], radius: float, length: float) -> list[str]:
    """Return the joints of a node: a twist and two bends."""
    young, viscosity = float(np.mean(limb["young"])), float(np.mean(limb["viscosity"]))
    bend, twist = 0.25 * math.pi * radius**4 / length, 0.5 * math.pi * radius**4 / length
    shear = young / (2.0 * (1.0 + limb["poisson"]))
    about = (
        ("1 0 0", shear * twist, viscosity * twist),
        ("0 1 0", young * bend, 3.0 * viscosity * bend),
        ("0 0 1", young * bend, 3.0 * viscosity * bend),
    )
    return [
        f'<joint type="hinge" axis="{axis}" stiffness="{stiffness:.9g}" damping="{damping:.9g}"/>'
        for axis, stiffness, damping in about
    ]
