"""The world of a run as a model of MuJoCo: rigid bodies as they are, rods as chains of links, which approximate them.

A rigid body is free, or turns about a fixed point, with its shapes, and the mass, centre and inertia that it has. A
limb of `der` becomes a chain of capsules (`mjcf_rods`). Friction is that of the scenario (`mjcf_friction`). What has no
counterpart is left out, and a sentence says so. Everything stands still as at the first record, where the springs of
chains are at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import trimesh

from corekit.data.arrays import Array
from corekit.errors import CorekitError, ResultsError
from corekit.files import write_text_whole
from corekit.geometry.shapes import Shape
from corekit.roles.viewer import BodyTrack
from corekit.scenario.load import load
from corekit.scenario.scenario import Scenario
from corekit.scenario.schema_bodies import Body
from corekit_export.mjcf_friction import Frictions
from corekit_export.mjcf_rods import Chains
from corekit_export.mjcf_text import numbers, pose
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
        self._moves = bool(len(results.v)) and bool(np.any(results.v[0]))
        self.notes: list[str] = []
        self.count = 0
        self._assets: list[str] = []
        self._frictions = Frictions(scenario, self.notes)
        self._chains = Chains(self._frictions, self.notes)

    def text(self) -> str:
        scenario = self._scenario
        world: list[str] = []
        for given, track in zip(scenario.world.obstacles, self._replay.obstacles, strict=True):
            at = track.position[:1], track.rotation[:1]
            world += self._geoms(track.name, [track.shape], *at, [""], given.friction, fixed=True)
            if not (given.position.constant and given.rotation_rpy.constant):
                self.notes.append(f"left out: the motion of {track.name!r}")
        for table, track in zip(scenario.bodies, self._replay.bodies, strict=True):
            world += self._body(table, track)
        self._note_what_acts()
        gravity = numbers(scenario.world.gravity)
        held = self._chains.equality
        equality = ["  <equality>", *held, "  </equality>"] if held else []
        lines = [
            f'<mujoco model="{scenario.name}">',
            '  <compiler angle="radian" autolimits="true"/>',
            f'  <option timestep="{scenario.time.step:.9g}" gravity="{gravity}" integrator="implicitfast"/>',
            "  <asset>", *self._assets, "  </asset>", "  <worldbody>", *world, "  </worldbody>",
            *self._frictions.contact(), *equality, "</mujoco>",
        ]  # fmt: skip
        return "\n".join(lines) + "\n"

    def _note_what_acts(self) -> None:
        """Say what moves or holds the bodies and is not written."""
        scenario, contact = self._scenario, self._scenario.contact
        tables = [table for table in scenario.bodies if table.use in {"rigid", "der"}]
        if scenario.joints or any(table.base.moves for table in scenario.bodies):
            self.notes.append("left out: joints of the scenario and moving bases")
        if contact is not None and (contact.impact.restitution or contact.impact.pairs):
            self.notes.append("left out: restitution, which MuJoCo's contacts do not have")
        self.notes += [f"left out: the inputs of {table.name!r}" for table in tables if table.inputs]
        if scenario.controllers:
            self.notes.append("left out: controllers")
        if self._moves:
            self.notes.append("left out: velocities at the first record; everything begins at rest")

    def _body(self, table: Body, track: BodyTrack) -> list[str]:
        if table.use == "rigid":
            self.count += 1
            return self._rigid(table, track)
        if table.use == "der":
            self.count += 1
            return self._chains.body(table, track)
        self.notes.append(
            f"left out: body {table.name!r}, since a `{table.use}` has no counterpart in MuJoCo"
        )
        return []

    def _rigid(self, table: Body, track: BodyTrack) -> list[str]:
        options = table.options
        position, rotation = track.shape_position[0, 0], track.shape_rotation[0, 0]
        mass, density = options.get("mass"), options.get("density")
        volumes, centre = _solid(track.shapes)
        weights = [f' density="{density or 1000.0:.9g}"'] * len(volumes)
        if mass:
            weights = [f' mass="{mass * volume / sum(volumes):.9g}"' for volume in volumes]
        centre = np.array(options.get("centre_of_mass") or centre, dtype=float)
        damping = options.get("angular_damping") or 0.0
        joint = "<freejoint/>"
        if options["fixed_centre"]:
            pivot = options.get("pivot")
            at = numbers(centre if pivot is None else pivot)
            joint = f'<joint type="ball" pos="{at}" damping="{damping:.9g}"/>'
        elif damping or options.get("linear_damping"):
            self.notes.append(f"left out: the drag of {table.name!r}")
        local = [rotation.T @ (each - position) for each in track.shape_position[0]]
        turned = [rotation.T @ each for each in track.shape_rotation[0]]
        own = table.friction if options.get("friction") is None else options["friction"]
        geoms = self._geoms(table.name, track.shapes, np.array(local), np.array(turned), weights, own)
        inertial = []
        if options.get("inertia") is not None and mass:
            inertia = list(options["inertia"])
            # ours are Ixx Iyy Izz (Ixy Ixz Iyz), as MuJoCo's
            kind = "diaginertia" if len(inertia) == 3 else "fullinertia"
            inertial = [
                f'      <inertial pos="{numbers(centre)}" mass="{mass:.9g}" {kind}="{numbers(inertia)}"/>'
            ]
        return [
            f'    <body name="{table.name}" {pose(position, rotation)}>', f"      {joint}", *inertial,
            *(f"  {geom}" for geom in geoms), "    </body>",
        ]  # fmt: skip

    def _geoms(
        self,
        name: str,
        shapes: Sequence[Shape],
        position: Array,
        rotation: Array,
        weights: Sequence[str],
        friction: Any,
        *,
        fixed: bool = False,
    ) -> list[str]:
        lines = []
        for k, shape in enumerate(shapes):
            own = f"{name}-{k + 1}"
            size = self._size(own, shape)
            if size is None:
                self.notes.append(f"left out: a {shape.kind} of {name!r}, which has no counterpart in MuJoCo")
                continue
            rubs = self._frictions.geom(own, name, friction, fixed=fixed)
            place = pose(position[k], rotation[k])
            lines.append(f'    <geom name="{own}" {size} {place}{weights[k]}{rubs}/>')
        return lines

    def _size(self, name: str, shape: Shape) -> str | None:
        size = shape.size
        match shape.kind:
            case "sphere" | "box" | "capsule" | "cylinder":
                return f'type="{shape.kind}" size="{numbers(size)}"'
            case "half-space":
                return 'type="plane" size="0 0 1"'
            case "polytope":
                points = np.asarray(shape.vertices, dtype=float)
                self._assets.append(f'    <mesh name="{name}" vertex="{numbers(points.ravel())}"/>')
                return f'type="mesh" mesh="{name}"'
        return None


def _solid(shapes: Sequence[Shape]) -> tuple[list[float], Array]:
    """Return the volumes of hulls, of another shape 1, and the centre of all in the body's axes [m]."""
    if any(shape.kind != "polytope" for shape in shapes):
        return [1.0] * len(shapes), np.zeros(3)
    hulls = [trimesh.convex.convex_hull(np.asarray(shape.vertices, dtype=float)) for shape in shapes]
    volumes = [float(hull.volume) for hull in hulls]
    return volumes, np.average([hull.center_mass for hull in hulls], axis=0, weights=volumes)
