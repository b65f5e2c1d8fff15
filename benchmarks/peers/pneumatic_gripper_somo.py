"""SoMo's fingers beside `teaching/pneumatic-gripper`: how they press, what they hold, and what it costs.

`somo_chain.py` says how SoMo makes a finger, which bends in its plane alone. SoMo's bases rest, and so do the palm's
axes here: where the slide starts and stops, the table and the can get the opposite speed at once. On a can as hard as
PyBullet has it by itself the tips bounce while they slide, and friction is less than µ times the mean force: here it
gives way by 0.07 mm. `pneumatic_gripper.py` says what is measured. It takes ten minutes.

    pip install pybullet pyyaml git+https://github.com/GrauleM/somo    # pybullet is compiled unless Python is 3.11
    python benchmarks/peers/pneumatic_gripper_somo.py [--json]
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from peer_script import run_script
from pneumatic_gripper import (
    CAN,
    CHAMBER,
    END,
    FINGERS,
    HEIGHT,
    LIFT,
    PART,
    PRESSURE,
    SHIPPED,
    TABLE,
    Outcome,
    heaviest,
    ours,
)
from somo_chain import Lump, Strip, limit, names_of_programs, start

CHAINS = ((4, 4e-5), (6, 1e-5))
"""Links, and a step [s] of half the largest stable one: above that, tips change direction at each step."""
STIFFNESS, HARD = 1e4, 1e8
"""Of the can where it is touched [N/m]."""
LEVER = CHAMBER["area"][0] * CHAMBER["z"][0]
SPEED = LIFT["value"] / (LIFT["to"] - LIFT["from"])


class Gripper:
    """Three of SoMo's chains, a can and a table, in the palm's axes."""

    def __init__(self, links: int, step: float, mass: float, stiffness: float) -> None:
        self.bullet, client = start(step, SHIPPED.world.gravity)
        self.fingers = []
        for finger in FINGERS:
            balls = [
                Lump(s * PART["length"], 0.0, np.zeros(3), [(0.0, PART["radius"][0])])
                for s in finger["spheres"]
            ]
            strip, turn = Strip(PART, links, balls), finger["rotation_rpy"][2]
            cos, sin = math.cos(turn), math.sin(turn)
            inwards_across_down = np.array([[-cos, -sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, -1.0]])
            place = np.array(finger["position"]) + [0.0, 0.0, HEIGHT]
            strip.load(
                self.bullet,
                client,
                place,
                inwards_across_down,
                "static",
                SHIPPED.contact.friction,
                PART["viscosity"],
            )
            self.fingers.append(strip)
        (radius, height), table = CAN["size"], SHIPPED.world.obstacles[0]
        across = mass * (3.0 * radius**2 + height**2) / 12.0
        self.can = self.add(mass, TABLE, 1.0, self.bullet.GEOM_CYLINDER, radius=radius, height=height)
        self.bullet.changeDynamics(
            self.can, -1, localInertiaDiagonal=[across, across, 0.5 * mass * radius**2]
        )
        damping = 2.0 * math.sqrt(stiffness * mass / len(FINGERS))
        self.bullet.changeDynamics(self.can, -1, contactStiffness=stiffness, contactDamping=damping)
        half = [0.5 * size for size in table.size]
        self.table_height = -half[2]
        self.table = self.add(0.0, self.table_height, table.friction, self.bullet.GEOM_BOX, halfExtents=half)

    def add(self, mass: float, place: float, friction: float, kind: int, /, **sizes: Any) -> int:
        """A body at this height; PyBullet multiplies the coefficients of a pair."""
        shape = self.bullet.createCollisionShape(kind, **sizes)
        body = self.bullet.createMultiBody(mass, shape, basePosition=[0.0, 0.0, place])
        self.bullet.changeDynamics(
            body, -1, linearDamping=0.0, angularDamping=0.0, lateralFriction=friction, rollingFriction=0.0,
            spinningFriction=0.0, restitution=0.0,
        )  # fmt: skip
        return body

    def can_state(self) -> tuple[float, float]:
        """Its height [m] and speed [m/s] in the palm's axes."""
        height: float = self.bullet.getBasePositionAndOrientation(self.can)[0][2]
        return height, self.bullet.getBaseVelocity(self.can)[0][2]

    def step(self, pressure: float, lifted: float) -> None:
        """With the table so far below where it began."""
        below = self.table_height - lifted
        self.bullet.resetBasePositionAndOrientation(self.table, [0.0, 0.0, below], [0.0, 0.0, 0.0, 1.0])
        for finger in self.fingers:
            finger.bend(pressure * LEVER)
        self.bullet.stepSimulation()

    def change_speed(self, by: float) -> None:
        """Of the slide [m/s]: in its axes, what does not hang on it gets the opposite."""
        for body in (self.can, self.table):
            (x, y, z), turning = self.bullet.getBaseVelocity(body)
            self.bullet.resetBaseVelocity(body, [x, y, z - by], turning)

    def grip(self) -> float:
        """The mean force of a finger [N]."""
        forces = [
            c[9] for finger in self.fingers for c in self.bullet.getContactPoints(finger.body, self.can)
        ]
        return sum(forces) / len(self.fingers)


def theirs(links: int, step: float, mass: float = CAN["mass"], stiffness: float = STIFFNESS) -> Outcome:
    """The scenario's lift."""
    gripper = Gripper(links, step, mass, stiffness)
    first, last = (round(LIFT[key] / step) for key in ("from", "to"))
    place, begin = 0.0, time.thread_time()
    for k in range(round(END / step)):
        if k == first:
            place = gripper.can_state()[0]
            gripper.change_speed(SPEED)
        if k == last:
            gripper.change_speed(-SPEED)
        pressure = PRESSURE.target * min(1.0, k * step / PRESSURE.end)
        gripper.step(pressure, SPEED * step * (min(max(k, first), last) - first))
    spent = time.thread_time() - begin
    height, speed = gripper.can_state()
    grip = gripper.grip()
    gripper.bullet.disconnect()
    return Outcome(grip, place - height, speed, spent / END)


def measure() -> dict[str, float]:
    """Numbers for `corekit bench`; forces in N, lengths in mm, masses in g."""
    ours()  # compiles
    (few, _), (links, step) = CHAINS
    mine, coarse, fine = ours(), theirs(*CHAINS[0]), theirs(*CHAINS[1])
    loads = [heaviest(lambda mass, chain=chain: theirs(*chain, mass)) for chain in CHAINS]
    return {
        "ratio": mine.spent / fine.spent, "s per s": mine.spent, "theirs": fine.spent,
        "grip": mine.grip, "their grip": limit(coarse.grip, fine.grip, few, links),
        f"grip of {few} links": coarse.grip, f"grip of {links} links": fine.grip,
        "slip": 1e3 * mine.slip, "their slip": 1e3 * limit(coarse.slip, fine.slip, few, links),
        f"slip of {few} links": 1e3 * coarse.slip, f"slip of {links} links": 1e3 * fine.slip,
        f"slip of {links} links, hard": 1e3 * theirs(links, step, stiffness=HARD).slip,
        "creep": 1e3 * abs(mine.creep), "their creep": 1e3 * abs(fine.creep),
        "heaviest": 1e3 * heaviest(ours), "their heaviest": 1e3 * limit(loads[0], loads[1], few, links),
        f"heaviest of {few} links": 1e3 * loads[0], f"heaviest of {links} links": 1e3 * loads[1],
    }  # fmt: skip


def name_of_case() -> str:
    return f"a gripper's lift, {CHAINS[1][0]} links a finger in {names_of_programs()}"


if __name__ == "__main__":
    run_script(__doc__, name_of_case, measure)
