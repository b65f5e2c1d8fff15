"""MuJoCo's fingers beside `teaching/pneumatic-gripper`: how they press, what they hold, and what it costs.

SOFA, whose gripper this scenario has as its model, has no package on the index, so that MuJoCo stands here, and SoMo in
`pneumatic_gripper_somo.py`. A finger is a chain of rigid links with two hinges between neighbours. With links of length
l, the first and the last of half of it, a hinge has the stiffness E·I/l and the damping 3·η·I/l of a strip of viscosity
η, and a motor on all hinges of a finger bends it by the chamber's moment p·A·z. The palm is moved as in the scenario:
it starts and stops at once. Differences that stay:

- MuJoCo's contacts are soft, by a time constant, and what they hold creeps. Here `impratio` makes that small.
- Tips bounce on the can while they slide, the harder the contact and the longer the step the more, and friction is then
  less than µ times the mean force. A time constant of 2 ms ("hard") gives the force at rest without sinking in, and a
  slip that falls as the step does; one of 10 ms ("soft") bounces nowhere, but sinks in. Both are shown.

The slip is that of the can in the hand from the start of the lift to the end. A can is held if it left the table with
the hand and is slower than 1 mm/s in it at the end. The heaviest one is searched by halving.

    pip install "corekit-study[peers]"
    python benchmarks/peers/pneumatic_gripper.py [--json]
"""

from __future__ import annotations

import math
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from peer_script import run_script

from corekit.scenario.load import load

MISSING = 'MuJoCo is not installed: pip install "corekit-study[peers]"'
SCENARIO = "teaching/pneumatic-gripper"
SHIPPED: Any = load(SCENARIO)
GRIPPER, CAN = (body.options for body in SHIPPED.bodies)
PALM, *FINGERS = GRIPPER["links"]
PART, CHAMBER, LIFT = FINGERS[0]["divisions"][0], GRIPPER["chambers"][0], PALM["joint"]["motion"]
LENGTH, ACROSS, WIDTH = PART["length"], PART["height"][0], PART["width"][0]
PRESSURE, END = SHIPPED.bodies[0].inputs[0].signal, SHIPPED.time.duration
HEIGHT, TABLE = (SHIPPED.bodies[i].base.position.numbers[2] for i in (0, 1))
HARD, SOFT = 2e-3, 1e-2
"""Time constants of contacts [s]."""
COARSE, FINE, STEP, LARGE_STEP = 5, 10, 5e-5, 2e-4
LIGHT, HEAVY, APART = 0.1, 0.13, 2.5e-4
"""Masses between which the heaviest can is searched, and how closely [kg]."""


class Outcome(NamedTuple):
    """Of a lift: the mean force of a tip [N], the slip [m], the can's last speed in the hand [m/s], time per second."""

    grip: float
    slip: float
    creep: float
    spent: float

    @property
    def is_held(self) -> bool:
        return self.slip < LIFT["value"] - 1e-3 and abs(self.creep) < 1e-3


def tag(parent: ET.Element, kind: str, /, **fields: Any) -> ET.Element:
    """With numbers and sequences of them as MuJoCo reads them."""
    texts = {
        key: value if isinstance(value, str) else " ".join(repr(float(x)) for x in np.atleast_1d(value))
        for key, value in fields.items()
    }
    return ET.SubElement(parent, kind, texts)


def add_piece(body: ET.Element, length: float) -> None:
    """The mass of a piece of a finger that begins at the body's origin, along x."""
    mass = PART["density"] * ACROSS * WIDTH * length
    squares = np.array([ACROSS**2 + WIDTH**2, length**2 + WIDTH**2, length**2 + ACROSS**2])
    tag(body, "inertial", pos=(0.5 * length, 0.0, 0.0), mass=mass, diaginertia=mass * squares / 12.0)


def add_finger(palm: ET.Element, number: int, links: int, contact: dict[str, Any]) -> None:
    """As the scenario mounts it: x down, z outwards; with its chamber and its contacts with the can."""
    finger, length = FINGERS[number], LENGTH / links
    turn = finger["rotation_rpy"][2]
    body = tag(palm, "body", pos=finger["position"], xyaxes=(0, 0, -1, -math.sin(turn), math.cos(turn), 0))
    add_piece(body, 0.5 * length)
    chamber = tag(contact["tendons"], "fixed", name=f"chamber{number}")
    sections = {"y": ACROSS * WIDTH**3 / 12.0, "z": WIDTH * ACROSS**3 / 12.0}
    for k in range(1, links + 1):
        body = tag(body, "body", pos=((0.5 if k == 1 else 1.0) * length, 0.0, 0.0))
        for axis, section in sections.items():
            tag(
                body, "joint", name=f"{axis}{number}-{k}", axis=(0, axis == "y", axis == "z"),
                stiffness=PART["young"] * section / length, damping=3.0 * PART["viscosity"] * section / length,
            )  # fmt: skip
        tag(chamber, "joint", joint=f"y{number}-{k}", coef=1.0)
        add_piece(body, length if k < links else 0.5 * length)
        begin = (k - 0.5) * length
        for share in finger["spheres"]:
            place = share * LENGTH
            if begin <= place < begin + length:
                name = f"ball{number}-{share}"
                tag(body, "geom", name=name, size=PART["radius"][0], pos=(place - begin, 0.0, 0.0))
                tag(
                    contact["pairs"],
                    "pair",
                    geom1=name,
                    geom2="can",
                    **contact["law"](SHIPPED.contact.friction),
                )
    lever = CHAMBER["area"][0] * CHAMBER["z"][0]
    tag(contact["motors"], "motor", tendon=f"chamber{number}", gear=lever)


def gripper(links: int, step: float, constant: float, mass: float) -> Any:
    """The model for MuJoCo."""

    def law(friction: float) -> dict[str, Any]:
        return {"condim": "3", "friction": (friction, friction, 0, 0, 0), "solref": (constant, 1.0)}

    root = ET.Element("mujoco")
    tag(root, "option", timestep=step, gravity=SHIPPED.world.gravity, integrator="implicitfast", cone="elliptic",
        impratio=100.0)  # fmt: skip
    tag(tag(root, "default"), "geom", contype="0", conaffinity="0")
    world, pairs = tag(root, "worldbody"), tag(root, "contact")

    contact = {"pairs": pairs, "tendons": tag(root, "tendon"), "motors": tag(root, "actuator"), "law": law}
    table = SHIPPED.world.obstacles[0]
    size, position = np.array(table.size), table.position.numbers
    tag(world, "geom", name="table", type="box", size=0.5 * size, pos=position)
    palm = tag(world, "body", name="palm", pos=(0.0, 0.0, HEIGHT))
    tag(palm, "joint", type="slide", axis=(0, 0, 1), armature=1e4)  # so heavy that it goes as it is set
    tag(palm, "inertial", pos=(0, 0, 0), mass=PALM["mass"], diaginertia=PALM["inertia"])
    radius, height = CAN["size"]
    across = mass * (3.0 * radius**2 + height**2) / 12.0
    can = tag(world, "body", name="can", pos=(0.0, 0.0, TABLE))
    tag(can, "freejoint")
    tag(can, "inertial", pos=(0, 0, 0), mass=mass, diaginertia=(across, across, 0.5 * mass * radius**2))
    tag(can, "geom", name="can", type="cylinder", size=(radius, 0.5 * height))
    tag(pairs, "pair", geom1="can", geom2="table", **law(table.friction))
    for number in range(len(FINGERS)):
        add_finger(palm, number, links, contact)
    mujoco: Any = import_module("mujoco")
    return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))


def theirs(links: int, step: float, constant: float, mass: float = CAN["mass"]) -> Outcome:
    """The scenario's lift in MuJoCo. Coordinates are the lift, then the hinges or the can, as the file has them."""
    mujoco: Any = import_module("mujoco")
    model = gripper(links, step, constant, mass)
    data = mujoco.MjData(model)
    joint = model.body("can").jntadr[0]
    place, speed = model.jnt_qposadr[joint] + 2, model.jnt_dofadr[joint] + 2
    lift = model.body("palm").jntadr[0]
    palm, palm_speed = model.jnt_qposadr[lift], model.jnt_dofadr[lift]
    first, last = (round(LIFT[key] / step) for key in ("from", "to"))
    start, begin = 0.0, time.thread_time()
    for k in range(round(END / step)):
        if k == first:
            start = data.qpos[place] - data.qpos[palm]
        data.qvel[palm_speed] = LIFT["value"] / (LIFT["to"] - LIFT["from"]) if first <= k < last else 0.0
        data.ctrl[:] = PRESSURE.target * min(1.0, k * step / PRESSURE.end)
        mujoco.mj_step(model, data)
    spent = time.thread_time() - begin
    mujoco.mj_forward(model, data)
    forces, force, table = [], np.zeros(6), model.geom("table").id
    for i in range(data.ncon):
        if table not in data.contact[i].geom:
            mujoco.mj_contactForce(model, data, i, force)
            forces.append(force[0])
    slip = start - (data.qpos[place] - data.qpos[palm])
    return Outcome(float(np.mean(forces or [0.0])), float(slip), float(data.qvel[speed]), spent / END)


def ours(mass: float = CAN["mass"]) -> Outcome:
    """The shipped scenario."""
    simulation = load(SCENARIO, [f"bodies[1].options.mass={mass}"]).compose()
    simulation.warm_up()
    begin = time.thread_time()
    simulation.run(LIFT["from"])
    start = in_hand(simulation)[0]
    simulation.run(END)
    spent = time.thread_time() - begin
    contacts = simulation.contacts()
    forces = (
        contacts.normal_impulse[[names == ("gripper", "can") for names in contacts.names]] / SHIPPED.time.step
    )
    place, speed = in_hand(simulation)
    return Outcome(float(np.mean(forces)) if forces.size else 0.0, start - place, speed, spent / END)


def in_hand(simulation: Any) -> tuple[float, float]:
    """The can's height above the palm [m], and its rate [m/s]."""
    palm, can = simulation.frame("gripper.palm.base"), simulation.frame("can.body")
    return float(can.position[2] - palm.position[2]), float(can.velocity[2] - palm.velocity[2])


def heaviest(lift: Callable[[float], Outcome]) -> float:
    """Can that is held [kg], in the middle of the last two masses."""
    low, high = LIGHT, HEAVY
    while high - low > APART:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if lift(middle).is_held else (low, middle)
    return 0.5 * (low + high)


def measure() -> dict[str, float]:
    """Numbers for `corekit bench`; forces in N, lengths in mm, masses in g."""
    ours()  # compiles
    mine, coarse, hard, soft = (
        ours(),
        theirs(COARSE, STEP, HARD),
        theirs(FINE, STEP, HARD),
        theirs(FINE, STEP, SOFT),
    )
    quick = theirs(FINE, LARGE_STEP, SOFT)
    return {
        "ratio": mine.spent / soft.spent, "s per s": mine.spent, "theirs": soft.spent,
        "theirs at 0.2 ms": quick.spent,
        "grip": mine.grip, "their grip": hard.grip + (hard.grip - coarse.grip) / 3.0,
        f"of {COARSE} links": coarse.grip, f"of {FINE} links": hard.grip,
        "slip": 1e3 * mine.slip, "their slip, hard": 1e3 * hard.slip, "their slip, soft": 1e3 * soft.slip,
        "their slip, soft, at 0.2 ms": 1e3 * quick.slip,
        "creep": 1e3 * abs(mine.creep), "their creep": 1e3 * abs(soft.creep),
        "heaviest": 1e3 * heaviest(ours),
        "their heaviest, hard": 1e3 * heaviest(lambda mass: theirs(FINE, STEP, HARD, mass)),
        "their heaviest, soft": 1e3 * heaviest(lambda mass: theirs(FINE, STEP, SOFT, mass)),
    }  # fmt: skip


def name_of_case() -> str:
    try:
        return f"a gripper's lift, {FINE} links a finger in MuJoCo {version('mujoco')}"
    except PackageNotFoundError:
        sys.exit(MISSING)


if __name__ == "__main__":
    run_script(__doc__, name_of_case, measure)
