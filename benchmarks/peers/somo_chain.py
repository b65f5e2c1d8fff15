"""Soft strips as SoMo makes them for PyBullet: chains of rigid links with springs in their joints.

With links of length l, those at both ends of half of it, a joint has the stiffness E·I/l, the damping 3·η·I/l (a strip
of viscosity η resists bending so) and the moment p·A·z of the chamber. The error falls with l². What is done otherwise
than SoMo and PyBullet do by themselves:

- SoMo gives half links whole masses, and PyBullet merges fixed links without their centres of mass. So the file that
  SoMo writes is corrected before it is loaded, and what the strip carries is added there.
- The boxes of links touch nothing; balls on the strip do, as in the shipped scenarios.
- The material damps, by PyBullet's damping of joints. It is explicit, so that the largest stable step falls with l⁴.

    pip install pybullet pyyaml git+https://github.com/GrauleM/somo    # pybullet is compiled unless Python is 3.11
"""

from __future__ import annotations

import os
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from corekit.data.arrays import Array


class Lump(NamedTuple):
    """What a strip carries at a place along it [m]: a mass, its inertia, balls as (offset across, radius)."""

    place: float
    mass: float
    inertia: Sequence[float] | Array
    balls: Sequence[tuple[float, float]]


def names_of_programs() -> str:
    """With versions, or the end of the script that calls."""
    try:
        return f"SoMo {version('somo')} on PyBullet {version('pybullet')}"
    except PackageNotFoundError:
        sys.exit("SoMo is not installed: pip install pybullet pyyaml git+https://github.com/GrauleM/somo")


@contextmanager
def quiet() -> Iterator[None]:
    """PyBullet prints what it loads; the standard output is for our numbers."""
    sys.stdout.flush()
    kept, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(null)


def start(step: float, gravity: Sequence[float]) -> tuple[Any, int]:
    """PyBullet, and its client with an empty world."""
    with quiet():
        bullet: Any = import_module("pybullet")
        client = bullet.connect(bullet.DIRECT)
    bullet.setGravity(*gravity)
    bullet.setTimeStep(step)
    bullet.setPhysicsEngineParameter(solverResidualThreshold=0.0)
    return bullet, client


class Strip:
    """A division of a shipped scenario as a chain, along z of its base, bending about y, thick in x."""

    def __init__(self, division: dict[str, Any], links: int, lumps: Sequence[Lump]) -> None:
        self.division, self.links, self.lumps = division, links, lumps
        self.across, self.thickness = division["height"][0], division["width"][0]
        self.length = division["length"] / links
        self.mass = division["density"] * self.across * self.thickness * self.length
        self.section = self.across * self.thickness**3 / 12.0

    def load(
        self, bullet: Any, client: int, position: Array, rotation: Array, base: str, friction: float,
        viscosity: float, drag: float = 0.0,
    ) -> None:  # fmt: skip
        """Into the world, its base "free" or "static"; the drag [1/s] is that of a fluid, on every link."""
        if not hasattr(np, "float"):
            setattr(np, "float", float)  # noqa: B010  SoMo needs it, NumPy left it behind
        self.bullet = bullet
        with tempfile.TemporaryDirectory() as folder, quiet():
            path = Path(folder) / "strip.urdf"
            self.robot: Any = self.define(path)
            self.correct(path)
            self.robot.load_to_pybullet(
                list(position),
                Rotation.from_matrix(rotation).as_quat().tolist(),
                base,
                client,
                flags=bullet.URDF_USE_INERTIA_FROM_FILE,
            )
        self.body: int = self.robot.bodyUniqueId
        for i in range(-1, self.links):
            bullet.changeDynamics(
                self.body, i, linearDamping=drag, angularDamping=drag, rollingFriction=0.0, spinningFriction=0.0,
                jointDamping=0.0 if i < 0 else 3.0 * viscosity * self.section / self.length,
                lateralFriction=friction, restitution=0.0,
            )  # fmt: skip

    def bar(self, share: float) -> Array:
        """Moments of inertia of a piece of a link, along z [kg·m²]."""
        across, thickness, length = self.across**2, self.thickness**2, (share * self.length) ** 2
        return share * self.mass / 12.0 * np.array([across + length, thickness + length, across + thickness])

    def define(self, path: Path) -> Any:
        """SoMo's chain, whose file is at this path."""
        ixx, iyy, izz = (float(value) for value in self.bar(1.0))
        link = {
            "shape_type": "box", "dimensions": [self.thickness, self.across, self.length], "mass": self.mass,
            "inertial_values": [ixx, 0, 0, iyy, 0, izz], "material_color": [1, 0, 0, 1], "material_name": "silicone",
        }  # fmt: skip
        joint = {
            "joint_type": "continuous", "axis": [0, 1, 0], "limits": None, "joint_neutral_position": 0.0,
            "spring_stiffness": self.division["young"] * self.section / self.length,
        }  # fmt: skip
        actuator = {
            "actuator_length": self.links * self.length, "n_segments": self.links, "link_definition": link,
            "joint_definitions": [joint], "planar_flag": 1,
        }  # fmt: skip
        chains: Any = import_module("somo.sm_continuum_manipulator")
        definitions: Any = import_module("somo.sm_manipulator_definition")
        definition = definitions.SMManipulatorDefinition(
            n_act=1, base_definition=None, actuator_definitions=[actuator], manipulator_name="strip",
            tip_definitions=None, urdf_filename=str(path),
        )  # fmt: skip
        return chains.SMContinuumManipulator(definition)

    def correct(self, path: Path) -> None:
        """The file: no empty base, half masses of half links, balls for boxes, and what the strip carries."""
        tree = ET.parse(path)
        root: Any = tree.getroot()
        root.remove(root.find("link[@name='base_link']"))
        root.remove(root.find("joint[@name='base_link_to_act0Seg0']"))
        for k in range(self.links + 1):
            link = root.find(f"link[@name='act0Seg{k}']")
            link.remove(link.find("collision"))
            share = 0.5 if k in (0, self.links) else 1.0
            begin = max(0.0, (k - 0.5) * self.length)
            carried = [lump for lump in self.lumps if self.link_at(lump.place) == k]
            self.set_inertia(link, share, begin, carried)
            for lump in carried:
                for offset, radius in lump.balls:
                    collision = ET.SubElement(link, "collision")
                    ET.SubElement(collision, "origin", xyz=f"0 {offset} {lump.place - begin}", rpy="0 0 0")
                    ET.SubElement(ET.SubElement(collision, "geometry"), "sphere", radius=str(radius))
        tree.write(path)

    def link_at(self, place: float) -> int:
        return min(self.links, int(place / self.length + 0.5))

    def set_inertia(self, link: Any, share: float, begin: float, carried: Sequence[Lump]) -> None:
        """Of this share of a link with what it carries, about their common centre."""
        masses = np.array([share * self.mass, *(lump.mass for lump in carried)])
        places = np.array([0.5 * share * self.length, *(lump.place - begin for lump in carried)])
        centre = masses @ places / masses.sum()
        steiner = masses @ (places - centre) ** 2 * np.array([1.0, 1.0, 0.0])
        inertia = self.bar(share) + steiner + sum((np.array(lump.inertia) for lump in carried), np.zeros(3))
        inertial = link.find("inertial")
        inertial.find("mass").set("value", str(masses.sum()))
        inertial.find("origin").set("xyz", f"0 0 {centre}")
        for name, value in zip(("ixx", "iyy", "izz"), inertia, strict=True):
            inertial.find("inertia").set(name, str(value))

    def bend(self, moment: float) -> None:
        """Of the chamber [N·m], for the next step."""
        self.robot.apply_actuation_torques([0], [0], [moment])


def limit(coarse: float, fine: float, coarse_links: int, fine_links: int) -> float:
    """Of figures whose error falls with the square of the links' length."""
    return fine + (fine - coarse) / ((fine_links / coarse_links) ** 2 - 1.0)
