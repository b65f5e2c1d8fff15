"""The world of a run as a model of MuJoCo: rigid bodies as they are, rods as chains of links, which approximate them.

A rigid body is free, or turns about a fixed centre, with its shapes; MuJoCo makes its inertia of them, unless the
scenario gives it. A limb of `der` becomes a chain of capsules, one an edge, with three hinges and springs at a node:
with l the mean length of both edges, I = π·r⁴/4 and J = 2·I, bends have E·I/l [N·m/rad], twists G·J/l, and damping is
3·η·I/l and η·J/l. MuJoCo calls that a cable: it neither stretches nor shears. What has no counterpart is left out.
Everything stands as at the first record, where the springs of chains are at rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import CorekitError, ResultsError
from corekit.files import write_text_whole
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import BodyTrack
from corekit.scenario.load import load
from corekit.scenario.scenario import Scenario
from corekit.scenario.schema_bodies import Body
from corekit_record.results import Results

__all__ = ["mjcf_of", "write_mjcf"]


def write_mjcf(folder: Path, path: Path) -> list[str]:
    """Write the model of a run's folder, once MuJoCo has compiled it; return what is left out or approximate.

    Raises:
        CorekitError: nothing of it can be a model of MuJoCo, or MuJoCo refuses it.
    """
    import mujoco

    text, notes = mjcf_of(load(folder / "resolved.toml"), Results(folder))
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError as error:
        raise CorekitError(f"MuJoCo does not take the model of {folder}: {error}") from error
    write_text_whole(path, text)
    return notes


def mjcf_of(scenario: Scenario, results: Results) -> tuple[str, list[str]]:
    """Return a world as MJCF, and sentences on what is left out or approximate.

    Raises:
        ResultsError: no body of it is rigid or a rod.
    """
    writer = _Writer(scenario, results)
    text = writer.text()
    if not writer.count:
        raise ResultsError(
            f"{results.path} has neither rigid bodies nor rods (`der`), which alone have a counterpart in MuJoCo"
        )
    return text, writer.notes


class _Writer:
    def __init__(self, scenario: Scenario, results: Results) -> None:
        self._scenario, self._replay = scenario, results.replay()
        self.notes: list[str] = []
        self.count = 0
        self._assets: list[str] = []

    def text(self) -> str:
        scenario = self._scenario
        world: list[str] = []
        for track in self._replay.obstacles:
            world += self._geoms(track.name, [track.shape], track.position[:1], track.rotation[:1], "")
        for table, track in zip(scenario.bodies, self._replay.bodies, strict=True):
            world += self._body(table, track)
        if scenario.joints or any(table.base.moves for table in scenario.bodies):
            self.notes.append("left out: joints of the scenario and moving bases")
        gravity = " ".join(f"{x:.9g}" for x in scenario.world.gravity)
        lines = [
            f'<mujoco model="{scenario.name}">',
            '  <compiler angle="radian" autolimits="true"/>',
            f'  <option timestep="{scenario.time.step:.9g}" gravity="{gravity}" integrator="implicitfast"/>',
            "  <asset>", *self._assets, "  </asset>", "  <worldbody>", *world, "  </worldbody>", "</mujoco>",
        ]  # fmt: skip
        return "\n".join(lines) + "\n"

    def _body(self, table: Body, track: BodyTrack) -> list[str]:
        if table.use == "rigid":
            self.count += 1
            return self._rigid(table, track)
        if table.use == "der":
            self.count += 1
            return self._rods(table, track)
        self.notes.append(
            f"left out: body {table.name!r}, since a `{table.use}` has no counterpart in MuJoCo"
        )
        return []

    def _rigid(self, table: Body, track: BodyTrack) -> list[str]:
        options = table.options
        position, rotation = track.shape_position[0, 0], track.shape_rotation[0, 0]
        joint = '<joint type="ball"/>' if options["fixed_centre"] else "<freejoint/>"
        mass, density = options.get("mass"), options.get("density")
        weight = f' mass="{mass / len(track.shapes):.9g}"' if mass else f' density="{density or 1000.0:.9g}"'
        local = [rotation.T @ (each - position) for each in track.shape_position[0]]
        turned = [rotation.T @ each for each in track.shape_rotation[0]]
        geoms = self._geoms(
            table.name, track.shapes, np.array(local), np.array(turned), weight, table.friction
        )
        inertial = []
        if options.get("inertia") is not None and mass:
            inertia = list(options["inertia"])
            # ours are Ixx Iyy Izz (Ixy Ixz Iyz), as MuJoCo's
            kind = "diaginertia" if len(inertia) == 3 else "fullinertia"
            centre = options.get("centre_of_mass") or (0.0, 0.0, 0.0)
            inertial = [
                f'      <inertial pos="{_numbers(centre)}" mass="{mass:.9g}" {kind}="{_numbers(inertia)}"/>'
            ]
        return [
            f'    <body name="{table.name}" {_pose(position, rotation)}>', f"      {joint}", *inertial,
            *(f"  {geom}" for geom in geoms), "    </body>",
        ]  # fmt: skip

    def _rods(self, table: Body, track: BodyTrack) -> list[str]:
        bounds = [*(int(start) for start in track.starts), track.outline.shape[1]]
        limbs = table.options["limbs"]
        clamps = {str(each["at"]) for each in table.options.get("clamps", ())}
        if table.options.get("joints"):
            self.notes.append(f"left out: the joints of {table.name!r} between its limbs")
        lines: list[str] = []
        for limb, (begin, end) in zip(limbs, pairwise(bounds), strict=True):
            lines += self._chain(table, limb, track.outline[0, begin:end], clamps)
        self.notes.append(
            f"approximate: the rods of {table.name!r} are chains of links, which do not stretch"
        )
        return lines

    def _chain(self, table: Body, limb: Mapping[str, Any], points: Array, clamps: set[str]) -> list[str]:
        name = f"{table.name}-{limb['name']}"
        held = f"{limb['name']}.start" in clamps
        if f"{limb['name']}.end" in clamps and not held:
            points, held = points[::-1], True
        radius = float(np.mean(limb["radius"]))
        if limb["section"] != "round" or any(limb["inner_radius"]) or len(set(limb["radius"])) > 1:
            self.notes.append(f"approximate: {name} is round, solid and of its mean radius")
        if limb["unloaded"] != "shape" or any(limb["natural_curvature"]) or limb["natural_twist"]:
            self.notes.append(f"approximate: {name} is unloaded as it stands at the first record")
        section = math.pi * radius**2
        look = f'type="capsule" size="{radius:.9g}"{self._friction(table.friction)}'
        if not table.options.get("self_contact"):
            look += ' contype="2" conaffinity="1"'  # touches what is no rod
        segments = np.diff(points, axis=0)
        length = np.linalg.norm(segments, axis=1)
        axes = _link_axes(segments / length[:, None])
        lines: list[str] = []
        for k, own in enumerate(length):
            pad = "    " + "  " * k
            place = _pose(points[0], axes[0])
            if k:
                place = _pose(np.array([length[k - 1], 0.0, 0.0]), axes[k - 1].T @ axes[k])
            lines.append(f'{pad}<body name="{name}-{k + 1}" {place}>')
            if k:
                lines += [f"{pad}  {each}" for each in _hinges(limb, radius, 0.5 * (length[k - 1] + own))]
            elif not held:
                lines.append(f"{pad}  <freejoint/>")
            # by its length: the round ends of neighbours overlap
            mass = float(np.mean(limb["density"])) * section * own
            lines.append(f'{pad}  <geom {look} fromto="0 0 0 {own:.9g} 0 0" mass="{mass:.9g}"/>')
        return lines + ["    " + "  " * k + "</body>" for k in reversed(range(len(length)))]

    def _friction(self, own: Any) -> str:
        contact = self._scenario.contact
        value = own if own is not None else None if contact is None else contact.friction
        return f' friction="{value:.9g} 0.005 0.0001"' if isinstance(value, float) else ""

    def _geoms(
        self,
        name: str,
        shapes: Sequence[Shape],
        position: Array,
        rotation: Array,
        weight: str,
        friction: Any = None,
    ) -> list[str]:
        lines = []
        for k, shape in enumerate(shapes):
            size = self._size(f"{name}-{k + 1}", shape)
            if size is None:
                self.notes.append(f"left out: a {shape.kind} of {name!r}, which has no counterpart in MuJoCo")
                continue
            place = _pose(position[k], rotation[k])
            lines.append(
                f'    <geom name="{name}-{k + 1}" {size} {place}{weight}{self._friction(friction)}/>'
            )
        return lines

    def _size(self, name: str, shape: Shape) -> str | None:
        size = shape.size
        match shape.kind:
            case "sphere" | "box" | "capsule" | "cylinder":
                return f'type="{shape.kind}" size="{_numbers(size)}"'
            case "half-space":
                return 'type="plane" size="0 0 1"'
            case "polytope":
                points = np.asarray(shape.vertices, dtype=float)
                self._assets.append(f'    <mesh name="{name}" vertex="{_numbers(points.ravel())}"/>')
                return f'type="mesh" mesh="{name}"'
        return None


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


def _numbers(values: Any) -> str:
    return " ".join(f"{float(x):.9g}" for x in values)


def _pose(position: Array, rotation: Array) -> str:
    return f'pos="{_numbers(position)}" quat="{_numbers(quat_wxyz_from_rotation(rotation))}"'
