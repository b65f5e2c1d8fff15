"""Robots of the plugin at one state, with their answers as new arrays; and the published linkages built in Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from corekit.data.signals import Constant
from corekit.data.state import State
from corekit.roles.component import BuildContext
from corekit_gvs.config import Basis, Cable, Division, GVSConfig, GVSInitial, Joint, Link, Loop
from corekit_gvs.model import GVS

DOWN = (0.0, 0.0, -9.81)
BENDS = ("bend-y", "bend-z")


class Robot:
    """A model at one state.

    Args:
        config: its options, or a link or links alone.
        gravity: in the world [m/s²].
    """

    def __init__(self, config: GVSConfig | Link | tuple[Link, ...], gravity=(0.0, 0.0, 0.0), **options: Any):
        if isinstance(config, Link):
            config = (config,)
        if isinstance(config, tuple):
            config = GVSConfig(links=config, **options)
        self.model = GVS(config, BuildContext(gravity=np.array(gravity)))
        self.description = self.model.description
        self.size = len(self.description.velocities)
        self.state = State.zeros(len(self.description.coordinates), self.size, self.description.aux)
        self.model.compute_initial_state(GVSInitial(), self.state)
        self.inputs = np.zeros(self.description.input_size)

    def at(self, q=None, v=None, t=None, inputs=None) -> Robot:
        """The same robot at another state."""
        if q is not None:
            self.state.q[:] = q
        if v is not None:
            self.state.v[:] = v
        if t is not None:
            self.state.time = t
        if inputs is not None:
            self.inputs[:] = inputs
        return self

    def dynamics(self):
        """M (n, n) and f (n,)."""
        mass, force = self.model.new_mass_matrix(), np.zeros(self.size)
        self.model.compute_mass_and_force(self.state, self.inputs, mass, force)
        return mass.dense(), force

    def tangent(self):
        """K and D, (n, n)."""
        stiffness, damping = self.model.new_stiffness_and_damping()
        self.model.compute_stiffness_and_damping(self.state, self.inputs, stiffness, damping)
        return stiffness.dense(), damping.dense()

    def rows(self):
        """Constraint values c (m,) and rows J_b (m, n)."""
        rows = self.model.new_constraints()
        self.model.compute_constraints(self.state, self.inputs, rows)
        return rows

    def terms(self):
        """The named parts of f."""
        return self.model.compute_force_terms(self.state, self.inputs)

    def energy(self):
        """Kinetic and potential energy [J]."""
        return self.model.compute_energies(self.state)

    def place(self, frame: str):
        """Position (3,) and rotation (3, 3) of a frame."""
        count = len(self.description.frames)
        position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
        self.model.compute_frame_poses(self.state, position, rotation)
        index = self.description.frames.index(frame)
        return position[index], rotation[index]


def published_arm(basis: str) -> GVSConfig:
    """Case 5.1 with its cables."""
    strain, points = {
        "legendre": (Basis.legendre(4), 5),
        "fem_quadratic": (Basis.fem("quadratic", 2), 3),
    }[basis]
    division = Division(
        length=0.15, radius=0.015, young=1e6, poisson=0.5, density=1000, viscosity=1e4, strain=(strain,),
        points=points,
    )  # fmt: skip
    return GVSConfig(
        links=(Link.soft("arm", division, division),),
        cables=(
            Cable(name="left", link="arm", divisions=(0,), y=0.01),
            Cable(name="right", link="arm", divisions=(1,), y=-0.01),
            Cable(name="helix", link="arm", y="0.01*sin(50*s)", z="0.01*cos(50*s)"),
            Cable(name="oblique", link="arm", z=(0.01, -0.066667)),
        ),
    )


def octopus(basis: str) -> GVSConfig:
    """Case 5.4 without its muscle."""
    strain, points = {
        "dependent": (Basis.named("bump-quadratic", "bend-y"), 101),
        "fem": (Basis.fem("cubic", 10, "bend-y"), 4),
    }[basis]
    arm = Link.soft(
        "arm", length=0.2, radius=(0.01, -0.009), young=1e4, poisson=0.5, density=1000, strain=(strain,),
        points=points, drag=(0, 1.1, 1.1), lift=(-0.1, 0, 0), added_mass=(0, 0.6, 0.6),
        rotation_rpy=(0, np.radians(-30), 0),
    )  # fmt: skip
    return GVSConfig(links=(arm,), fluid_density=1000)


def underwater(basis: str) -> GVSConfig:
    """Case 5.2 without what it docks at; its shafts turn freely."""
    strain, points = {
        "legendre": (Basis.legendre(3), 5),
        "fem-linear": (Basis.fem("linear", 3), 2),
    }[basis]
    mass = 3.81778
    links = [
        Link.rigid(
            "hull", mass, (0.013, 0.015277, 0.015277), Joint.free(), buoyant_volume=mass / 1000,
            added_mass=(0, 0, 0, 1.8266, 1.9504, 1.9504), drag=(0.05271, 0, 0, 12.723, 28.923, 28.923),
        )
    ]  # fmt: skip
    length, radius, density = 0.015, 0.0025, 2900.0
    volume = np.pi * radius**2 * length
    across = density * volume * (radius**2 / 4 + length**2 / 12)
    for i, (y, z) in enumerate(((1, 1), (-1, 1), (1, -1), (-1, -1))):
        links.append(
            Link.rigid(
                f"shaft-{i}", density * volume, (density * volume * radius**2 / 2, across, across),
                Joint.revolute("x"), on="hull.tip", position=(0.0672, 0.0475 * y, 0.0475 * z),
                centre=(length / 2, 0, 0), tip=(length, 0, 0), buoyant_volume=volume,
            )
        )  # fmt: skip
    links += [
        Link.soft(
            f"hook-{i}", length=0.05, radius=0.0125, density=1000, strain=(), points=5, on=f"shaft-{i}.tip",
            reference=(0, 15.708, 0, 1, 0, 0),
        )
        for i in range(4)
    ]  # fmt: skip
    links += [
        Link.soft(
            f"flagellum-{i}", length=0.3, radius=(0.0125, -0.0105), young=6e5, poisson=0.5, density=1000,
            viscosity=20, strain=(strain,), points=points, on=f"hook-{i}.tip", drag=(0, 1.1, 1.1),
            lift=(-0.1, 0, 0), added_mass=(0, 0.6, 0.6),
        )
        for i in range(4)
    ]  # fmt: skip
    return GVSConfig(links=tuple(links), fluid_density=1000)


CORNERS = [(0.0, 0.0), (0.0, 3.05), (3.05, 3.05), (3.05, 0.0)]
YAWS = np.radians([45.0, -45.0, -135.0, 135.0])
ROPES = [2.47461368, 2.46568339, 2.47464989, 2.46568338]


def suspended_platform(basis: str) -> GVSConfig:
    """Case 5.3: coordinates of rope i are (z turn, y turn, torsion, bends, stretch, end's z turn)."""
    bend, points = {
        "legendre": (Basis.legendre(4, *BENDS), 5),
        "fem": (Basis.fem("quadratic", 2, *BENDS), 3),
    }[basis]
    strain = (Basis.constant("torsion"), bend, Basis.constant("stretch"))
    links: list[Link] = []
    for i, ((x, y), yaw, length) in enumerate(zip(CORNERS, YAWS, ROPES, strict=True)):
        links.append(
            Link.soft(
                f"rope-{i}", length=length, radius=0.0025, young=5e8, poisson=0.28, density=4854,
                viscosity=2.5e5, strain=strain, points=points, joint=Joint.universal("z", "y"),
                position=(x, y, 2.16), rotation_rpy=(0, 0, yaw),
            )
        )  # fmt: skip
        links.append(Link.rigid(f"end-{i}", on=f"rope-{i}.tip", joint=Joint.revolute("z")))
    links.append(
        Link.rigid(
            "platform", 37, (0.273, 0.359, 0.359), Joint.revolute("y"), on="end-0.tip", centre=(0.1, 0, -0.135),
            tip=(0.1, 0, -0.135),
        )
    )  # fmt: skip
    loops = []
    for i in range(1, 4):
        turn = YAWS[i] - YAWS[0]
        corner = (0.1 - 0.1 * np.cos(turn), -0.1 * np.sin(turn), 0.0)
        loops.append(
            Loop(
                name=f"corner-{i}", first=f"end-{i}.tip", second="platform.base", joint=Joint.revolute("y"),
                second_offset=corner, second_rpy=(0, 0, turn),
            )
        )  # fmt: skip
    return GVSConfig(links=tuple(links), loops=tuple(loops))


def held(value: float) -> Constant:
    """A signal that does not move."""
    return Constant(value)
