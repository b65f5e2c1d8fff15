"""A point mass with a spherical surface, which turns nowhere."""

from __future__ import annotations

import numpy as np
from attrs import frozen

from corekit.geometry.shapes import Shape
from corekit.linalg.matrices import Diagonal
from corekit.roles.component import BuildContext
from corekit.roles.model import Channel, Coordinate, Model, ModelDescription, Outline
from corekit.roles.options import option


@frozen(kw_only=True)
class BallConfig:
    mass: float = option(2.0, "its mass", unit="kg", above=0)
    radius: float = option(0.1, "of its surface", unit="m", above=0)
    breaks_at: float = option(float("inf"), "when its force is lost", unit="s", infinite=True)


@frozen(kw_only=True)
class BallInitial:
    position: tuple[float, float, float] = option((0.0, 0.0, 1.0), "of its centre", unit="m")
    velocity: tuple[float, float, float] = option((0.0, 0.0, 0.0), "of its centre", unit="m/s")


class Ball(Model):
    def __init__(self, config, context=None):
        context = context or BuildContext()
        self.config, self._gravity, self._base = config, context.gravity, context.base
        self._layout = ModelDescription(
            coordinates=tuple(Coordinate(axis, "m") for axis in "xyz"),
            velocities=tuple(Coordinate(f"v{axis}", "m/s") for axis in "xyz"),
            inputs=(Channel("push", "N", 3),),
            frames=("centre",),
            shapes=(Shape("sphere", (config.radius,)),),
            jacobian_width=3,
            derivative_error=1e-3,
        )

    @property
    def description(self):
        return self._layout

    def compute_initial_state(self, initial, out):
        initial = initial or BallInitial()
        out.q[:], out.v[:] = initial.position, initial.velocity

    def new_mass_matrix(self):
        return Diagonal(3)

    def compute_mass_and_force(self, state, inputs, mass, force):
        mass.data[:] = self.config.mass
        force[:] = self.config.mass * self._gravity + inputs
        if state.time >= self.config.breaks_at:
            force[1] = np.nan

    def compute_force_terms(self, state, inputs):
        lost = state.time >= self.config.breaks_at
        return {"weight": self.config.mass * self._gravity, "push": inputs * (np.nan if lost else 1.0)}

    def integrate(self, start, velocity, step, previous, out):
        out.q[:] = start.q + step * velocity

    def compute_frame_poses(self, state, position, rotation):
        position[0] = self._base.rotation @ state.q + self._base.position
        rotation[0] = self._base.rotation

    def compute_outline(self, state):
        end = self._base.rotation @ state.q + self._base.position
        # it draws a longer trail the farther it is from the origin
        count = 2 + int(np.linalg.norm(state.q) > 0.5)
        return Outline(np.linspace(self._base.position, end, count), np.full(count, 0.01))

    def compute_point_jacobians(self, state, frame, local, dofs, values):
        dofs[:], values[:] = np.arange(3), self._base.rotation

    def compute_energies(self, state):
        mass = self.config.mass
        return 0.5 * mass * float(state.v @ state.v), -mass * float(self._gravity @ state.q)
