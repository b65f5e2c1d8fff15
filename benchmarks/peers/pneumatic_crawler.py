"""SoMo's crawler beside `teaching/pneumatic-crawler`: how far both crawl in a period, and what it costs.

SoMo makes of a soft body a chain of rigid links for PyBullet. With links of length l, those at the ends of half of it,
a joint has the stiffness E·I/l, the damping 3·η·I/l (a strip of viscosity η resists bending so) and the moment p·A·z of
the chamber. The error falls with l², so that two chains tell the limit. What differs from the shipped scenario:

- PyBullet has one coefficient a link, none by direction. Here each foot gets before each step the one of the side to
  which the floor pushed it in the step before: forward means that it would slide backward. By the sign of its velocity
  instead, a foot that rests would change it at each step, and creep.
- PyBullet damps joints explicitly, so that the largest stable step falls with l⁴: that is why its links are few.
- SoMo gives half links whole masses, and PyBullet merges fixed links without their centres of mass: the feet and the
  two ends are corrected in the file that SoMo writes, before it is loaded.
- SoMo's chain starts at rest under the least pressure, raised in 0.5 s. The second period is compared: it is steady.

Both laws share a figure without friction: how far apart the feet are at rest at the highest pressure.

    pip install pybullet pyyaml git+https://github.com/GrauleM/somo    # wheels for Python 3.11, compiled for others
    python benchmarks/peers/pneumatic_crawler.py [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.scenario.load import load

MISSING = "SoMo is not installed: pip install pybullet pyyaml git+https://github.com/GrauleM/somo"
SCENARIO = "teaching/pneumatic-crawler"
SHIPPED: Any = load(SCENARIO)
CRAWLER = SHIPPED.bodies[0]
REAR, STRIP, FRONT = CRAWLER.options["links"]
PART, CHAMBER = STRIP["divisions"][0], CRAWLER.options["chambers"][0]
LENGTH, WIDTH, THICKNESS = PART["length"], PART["height"][0], PART["width"][0]
SECTION = WIDTH * THICKNESS**3 / 12.0
LEVER = CHAMBER["area"][0] * CHAMBER["z"][0]
GAIT = CRAWLER.inputs[0].signal
LOWEST, HIGHEST, PERIOD = GAIT.offset - GAIT.amplitude, GAIT.offset + GAIT.amplitude, 1.0 / GAIT.frequency
CHAINS = ((5, 8e-5), (10, 8e-6))
"""Links, and a stable step [s]."""
SETTLED = 0.5
"""When the gait begins [s]."""


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


def bar(mass: float, length: float) -> Array:
    """Moments of inertia of a piece of the strip, along z [kg·m²]."""
    return mass / 12.0 * np.array([WIDTH**2 + length**2, THICKNESS**2 + length**2, THICKNESS**2 + WIDTH**2])


def put_foot(link: ET.Element, foot: dict[str, Any], place: float, mass: float, length: float) -> None:
    """Onto a half link of this mass and length, at the place along it."""
    together = mass + foot["mass"]
    centre = (0.5 * mass * length + foot["mass"] * place) / together
    apart = mass * foot["mass"] / together * (0.5 * length - place) ** 2
    inertia = bar(mass, length) + foot["inertia"] + apart * np.array([1.0, 1.0, 0.0])
    inertial: Any = link.find("inertial")
    inertial.find("mass").set("value", str(together))
    inertial.find("origin").set("xyz", f"0 0 {centre}")
    for name, value in zip(("ixx", "iyy", "izz"), inertia, strict=True):
        inertial.find("inertia").set(name, str(value))
    for ball in foot["solids"]:
        collision = ET.SubElement(link, "collision")
        ET.SubElement(
            collision, "origin", xyz=f"0 {ball.get('position', (0.0, 0.0))[1]} {place}", rpy="0 0 0"
        )
        ET.SubElement(ET.SubElement(collision, "geometry"), "sphere", radius=str(ball["size"][0]))


class Crawler:
    """SoMo's chain on PyBullet's floor, along x."""

    def __init__(
        self, links: int, step: float, friction: tuple[float, float], viscosity: float, drag: float = 0.0
    ) -> None:
        if not hasattr(np, "float"):
            setattr(np, "float", float)  # noqa: B010  SoMo asks for it, NumPy left it behind
        with quiet():
            self.bullet: Any = import_module("pybullet")
            self.client = self.bullet.connect(self.bullet.DIRECT)
            chain: Any = import_module("somo.sm_continuum_manipulator")
            define: Any = import_module("somo.sm_manipulator_definition")
        self.step_size, self.friction = step, friction
        length = LENGTH / links
        mass = PART["density"] * WIDTH * THICKNESS * length
        ixx, iyy, izz = (float(value) for value in bar(mass, length))
        link = {
            "shape_type": "box", "dimensions": [THICKNESS, WIDTH, length], "mass": mass,
            "inertial_values": [ixx, 0, 0, iyy, 0, izz], "material_color": [1, 0, 0, 1], "material_name": "silicone",
        }  # fmt: skip
        joint = {
            "joint_type": "continuous", "axis": [0, 1, 0], "limits": None, "joint_neutral_position": 0.0,
            "spring_stiffness": PART["young"] * SECTION / length,
        }  # fmt: skip
        actuator = {
            "actuator_length": links * length, "n_segments": links, "link_definition": link,
            "joint_definitions": [joint], "planar_flag": 1,
        }  # fmt: skip
        with tempfile.TemporaryDirectory() as folder, quiet():
            path = Path(folder) / "crawler.urdf"
            chain_of_links = define.SMManipulatorDefinition(
                n_act=1, base_definition=None, actuator_definitions=[actuator], manipulator_name="crawler",
                tip_definitions=None, urdf_filename=str(path),
            )  # fmt: skip
            self.robot = chain.SMContinuumManipulator(chain_of_links)
            self.correct(path, links, mass, length)
            self.load(length, 3.0 * viscosity * SECTION / length, drag)
        self.time = 0.0

    def correct(self, path: Path, links: int, mass: float, length: float) -> None:
        """Both ends, in the file that SoMo wrote: the empty base link goes, the feet come, half links weigh half."""
        tree = ET.parse(path)
        root: Any = tree.getroot()
        root.remove(root.find("link[@name='base_link']"))
        root.remove(root.find("joint[@name='base_link_to_act0Seg0']"))
        for name, foot, place in (("act0Seg0", REAR, 0.0), (f"act0Seg{links}", FRONT, 0.5 * length)):
            put_foot(root.find(f"link[@name='{name}']"), foot, place, 0.5 * mass, 0.5 * length)
        tree.write(path)

    def load(self, length: float, damping: float, drag: float) -> None:
        """The floor and the robot, damped in its joints [N·m·s] and as if in a fluid [1/s]."""
        bullet, radius = self.bullet, FRONT["solids"][0]["size"][0]
        bullet.setGravity(*SHIPPED.world.gravity)
        bullet.setTimeStep(self.step_size)
        bullet.setPhysicsEngineParameter(solverResidualThreshold=0.0)
        self.floor = bullet.createMultiBody(0.0, bullet.createCollisionShape(bullet.GEOM_PLANE))
        bullet.changeDynamics(self.floor, -1, lateralFriction=1.0)
        forward = bullet.getQuaternionFromEuler([0.0, 0.5 * math.pi, 0.0])
        self.robot.load_to_pybullet(
            [0.0, 0.0, radius], forward, "free", self.client, flags=bullet.URDF_USE_INERTIA_FROM_FILE
        )
        self.body, self.last = self.robot.bodyUniqueId, bullet.getNumJoints(self.robot.bodyUniqueId) - 1
        for i in range(-1, self.last + 1):
            bullet.changeDynamics(
                self.body, i, linearDamping=drag, angularDamping=drag, jointDamping=0.0 if i < 0 else damping,
                lateralFriction=self.friction[0], rollingFriction=0.0, spinningFriction=0.0, restitution=0.0,
            )  # fmt: skip
        self.current = {-1: self.friction[0], self.last: self.friction[0]}
        self.places = {-1: np.zeros(3), self.last: np.array([0.0, 0.0, 0.5 * length])}
        for i, place in self.places.items():
            place -= bullet.getDynamicsInfo(self.body, i)[3]

    def foot(self, i: int) -> Array:
        """Its centre [m]."""
        bullet = self.bullet
        pose = (
            bullet.getBasePositionAndOrientation(self.body)
            if i < 0
            else bullet.getLinkState(self.body, i)[:2]
        )
        return (
            np.array(pose[0]) + np.reshape(bullet.getMatrixFromQuaternion(pose[1]), (3, 3)) @ self.places[i]
        )

    def choose_friction(self) -> None:
        """Of both feet, for the next step."""
        for i, old in self.current.items():
            push = sum(
                c[10] * c[11][0] + c[12] * c[13][0]  # both tangential forces along x
                for c in self.bullet.getContactPoints(self.body, self.floor, i, -1)
            )
            new = self.friction[1] if push > 0.0 else self.friction[0]
            if new != old:
                self.bullet.changeDynamics(self.body, i, lateralFriction=new)
                self.current[i] = new

    def run(self, end: float, pressure: Callable[[float], float]) -> None:
        """Up to the time `end` [s]."""
        for _ in range(round((end - self.time) / self.step_size)):
            if self.friction[0] != self.friction[1]:
                self.choose_friction()
            self.robot.apply_actuation_torques([0], [0], [pressure(self.time) * LEVER])
            self.bullet.stepSimulation()
            self.time += self.step_size

    def close(self) -> None:
        self.bullet.disconnect(self.client)


def pressure_of_gait(now: float) -> float:
    if now < SETTLED:
        return LOWEST * now / SETTLED
    return GAIT.offset - GAIT.amplitude * math.cos(2.0 * math.pi * (now - SETTLED) / PERIOD)


def theirs(links: int, step: float) -> tuple[float, float]:
    """Advance in the second period [m], and processor time per second of it [s]."""
    friction = CRAWLER.friction["forward"], CRAWLER.friction["backward"]
    crawler = Crawler(links, step, friction, PART["viscosity"])
    crawler.run(SETTLED + PERIOD, pressure_of_gait)
    before, begin = crawler.foot(-1), time.thread_time()
    crawler.run(SETTLED + 2.0 * PERIOD, pressure_of_gait)
    spent, after = time.thread_time() - begin, crawler.foot(-1)
    crawler.close()
    return float(after[0] - before[0]), spent / PERIOD


def their_span(links: int) -> float:
    """How far apart the feet are at rest under the highest pressure, without friction [m].

    A drag brings it to rest, and a tenth of the viscosity allows for longer steps.
    """
    crawler = Crawler(links, 4e-5, (0.0, 0.0), 0.1 * PART["viscosity"], drag=30.0)
    crawler.run(1.2, lambda now: HIGHEST * min(1.0, now / 0.6))
    span = np.linalg.norm(crawler.foot(crawler.last) - crawler.foot(-1))
    crawler.close()
    return float(span)


def ours() -> tuple[float, float]:
    """The advance and time of the shipped scenario."""
    simulation = load(SCENARIO).compose()
    simulation.warm_up()
    simulation.run(PERIOD)
    before, begin = simulation.frame("crawler.rear.base").position[0], time.thread_time()
    simulation.run(2.0 * PERIOD)
    spent = time.thread_time() - begin
    return float(simulation.frame("crawler.rear.base").position[0] - before), spent / PERIOD


def our_span() -> float:
    pressure = f"bodies[0].inputs[0].signal={{kind='constant', value={HIGHEST}}}"
    simulation = load(SCENARIO, ["bodies[0].friction=0.0", pressure]).compose()  # starts in equilibrium
    rear, front = (simulation.frame(f"crawler.{name}.base").position for name in ("rear", "front"))
    return float(np.linalg.norm(front - rear))


def limit(coarse: float, fine: float) -> float:
    """Of figures whose error falls with the square of the links' length, halved from the first to the second."""
    return fine + (fine - coarse) / 3.0


def measure() -> dict[str, float]:
    """Numbers for `corekit bench`; lengths in mm."""
    (links, step), (finer, fine_step) = CHAINS
    (coarse, _), (half, _), (fine, spent) = (
        theirs(links, step),
        theirs(links, 0.5 * step),
        theirs(finer, fine_step),
    )
    (advance, our_time), their_advance = ours(), limit(coarse, fine)
    span, their_spans = our_span(), (their_span(links), their_span(finer))
    numbers = {
        "advance": advance, "their advance": their_advance, f"of {links} links": coarse,
        f"of {links} links at half the step": half, f"of {finer} links": fine,
        "span": span, "their span": limit(*their_spans), f"span of {finer} links": their_spans[1],
    }  # fmt: skip
    return {
        "ratio": our_time / spent, "s per s": our_time, "theirs": spent,
        "difference": abs(advance / their_advance - 1.0), **{key: 1e3 * value for key, value in numbers.items()},
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    try:
        name = f"a crawler's second period, SoMo {version('somo')} on PyBullet {version('pybullet')}"
    except PackageNotFoundError:
        sys.exit(MISSING)
    numbers = measure()
    if asked.json:
        print(json.dumps({name: numbers}))
        return
    print(f"{name}: {', '.join(f'{key} {value:.5g}' for key, value in numbers.items())}")


if __name__ == "__main__":
    main()
