"""The model `rigid`: what the kernel calls of a rigid body."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.geometry.frames import quat_wxyz_from_rotation, rotation_from_quat_wxyz, rotation_from_rpy
from corekit.linalg.matrices import BlockDiagonal, Matrix
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import BuildContext
from corekit.roles.model import Channel, Coordinate, Model, ModelDescription, Outline
from corekit.roles.options import all_but
from corekit_rigid.compiled_form import form_of
from corekit_rigid.config import RigidConfig, RigidInitial
from corekit_rigid.dynamics import dissipation, dynamics, energy, tangent
from corekit_rigid.frames import compute_point_jacobians, frame_pose, integrate_pose
from corekit_rigid.outline import surface_lines, surface_speeds
from corekit_rigid.solid import Solid, shapes_of, solid_of

__all__ = ["Rigid"]

_SHAPE = all_but(RigidConfig, "mass", "density", "inertia", "linear_damping", "angular_damping")


def _dissipation_of(solid: Solid) -> Array:
    """D without the gyroscopic part, as blocks like M's."""
    out = np.zeros((2 if solid.free else 1, 3, 3))
    dissipation(solid, out)
    return out


@final
class Rigid(Model):
    """A rigid body, free or turning about a point that stays.

        free           q = (centre of mass x [m], quat_wxyz),   v = (ẋ [m/s] in the world, ω [rad/s] in the body)
        fixed centre   q = quat_wxyz,                            v = ω                                    (1)

    ω in body axes makes the mass matrix constant, diag(m·1, I), and q moves by the exponential map: exact for
    constant ẋ and ω, and the quaternion keeps length 1 to rounding. Input `wrench`: a force at the centre of mass
    [N] and a torque [N·m], world axes. Equations: `dynamics`.

    Frame `body` has the shape's origin and axes and carries it. The base pose is where the body starts.

    Abilities: `point-jacobian`, `force-derivatives`, `energy`, `force-terms`, `free-base`, `new-numbers`,
    `compiled-form`.
    """

    def __init__(self, config: RigidConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._path = context.path or "rigid"
        self._base = context.base
        self._config = config
        self._solid = solid_of(config, context.base, context.gravity)
        if context.free_base and not self._solid.free:
            raise ConfigError(
                [
                    Mistake(
                        f"{self._path}.options.fixed_centre", True, "must be left out where the base moves"
                    )
                ],
                "the body",
            )
        self._first = 3 if self._solid.free else 0
        self._dissipation = _dissipation_of(self._solid)
        shapes = shapes_of(config)
        self._lines, self._line_starts, self._line_radius = surface_lines(
            shapes, self._solid.reference + self._solid.lever
        )
        names = [("velocity", "m/s")] if self._solid.free else []
        names.append(("angular-velocity", "rad/s"))
        centre = tuple(Coordinate(f"centre-{axis}", "m") for axis in "xyz") if self._solid.free else ()
        self._layout = ModelDescription(
            coordinates=(*centre, *(Coordinate(f"quat-{part}", "1") for part in "wxyz")),
            velocities=tuple(Coordinate(f"{name}-{axis}", unit) for name, unit in names for axis in "xyz"),
            inputs=(
                Channel(
                    "wrench", "N, N·m", 6, sign="force at the centre of mass, then torque, in world axes"
                ),
            ),
            frames=("body",),
            shapes=shapes,
            jacobian_width=self._first + 3,
            velocity_scale=np.concatenate(
                [np.ones(self._first), surface_speeds(self._lines - self._solid.reference)]
            ),
        )

    @property
    def description(self) -> ModelDescription:
        """One frame with its shapes, one wrench."""
        return self._layout

    def with_numbers(self, config: RigidConfig) -> Rigid | None:
        """The same body with another mass, inertia and drag; None where more is different."""
        if _SHAPE(self._config) != _SHAPE(config):
            return None
        other = copy(self)
        solid = solid_of(config, self._base, self._solid.gravity)
        vars(other).update(_config=config, _solid=solid, _dissipation=_dissipation_of(solid))
        return other

    def compiled_form(self) -> CompiledForm:
        """The table and entries of `compiled_form`."""
        return form_of(self._solid)

    def compute_initial_state(self, initial: RigidInitial | None, out: State) -> None:
        """Write the state that `initial` gives, at rest at the base if it is None.

        Raises:
            ConfigError: a position or velocity for a body whose centre is fixed.
        """
        initial = RigidInitial() if initial is None else initial
        rotation = self._base.rotation @ rotation_from_rpy(initial.rotation_rpy)
        out.time = 0.0
        if self._solid.free:
            origin = self._base.position + self._base.rotation @ np.array(initial.position)
            out.q[:3] = origin + rotation @ self._solid.reference
            out.v[:3] = initial.velocity
        else:
            wrong = [
                Mistake(f"{self._path}.initial.{name}", list(value), "must be left out: the centre is fixed")
                for name, value in (("position", initial.position), ("velocity", initial.velocity))
                if any(value)
            ]
            if wrong:
                raise ConfigError(wrong, "the initial state")
        out.q[self._first :] = quat_wxyz_from_rotation(rotation)
        out.v[self._first :] = rotation.T @ np.array(initial.angular_velocity)

    def place_base(
        self, state: State, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> None:
        """Move the shape's origin and axes there; the centre of mass goes along."""
        arm = rotation @ self._solid.reference
        state.q[:3], state.q[3:] = position + arm, quat_wxyz_from_rotation(rotation)
        state.v[:3], state.v[3:] = velocity + np.cross(angular_velocity, arm), rotation.T @ angular_velocity

    def new_mass_matrix(self) -> BlockDiagonal:
        """A block for the centre, if free, and one for the rotation."""
        return BlockDiagonal(1 + self._first // 3, 3)

    def compute_mass_and_force(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        """Write M and f of `dynamics`."""
        dynamics(self._solid, state.q, state.v, inputs, mass.data, force)

    def new_stiffness_and_damping(self) -> tuple[BlockDiagonal, BlockDiagonal]:
        """Buffers like M's."""
        return self.new_mass_matrix(), self.new_mass_matrix()

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        """Write the exact K and D of `dynamics`; their rotational blocks are not symmetric."""
        tangent(self._solid, state.q, state.v, inputs, stiffness.data, damping.data)

    def compute_dissipation(self, state: State, inputs: Array, out: Matrix) -> None:
        """Write D without the gyroscopic part hat(ω)·I − hat(I·ω), which is constant."""
        np.copyto(out.data, self._dissipation)

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        """Write x + h·ẋ and the quaternion turned by h·ω."""
        integrate_pose(self._solid, start.q, velocity, step, out.q)

    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write the pose of the shape's origin and axes."""
        frame_pose(self._solid, state.q, position[0], rotation[0])

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Write rows of points fixed in the body: equation (1) of `frames`."""
        compute_point_jacobians(self._solid, state.q, local, dofs, values)

    def compute_energies(self, state: State) -> tuple[float, float]:
        """Kinetic and gravitational energy [J]; heights count from the world's origin."""
        return energy(self._solid, state.q, state.v)

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        """f as gravity, wrench, gyroscopic and damping [N, N·m]."""
        solid, first = self._solid, self._first
        R = rotation_from_quat_wxyz(state.q[first:])
        omega, lever = state.v[first:], solid.lever

        def at_centre(force: Array, torque: Array) -> Array:
            about = np.cross(lever, R.T @ force) + torque
            return np.concatenate([force, about]) if solid.free else about

        velocity = state.v[:3] if solid.free else R @ np.cross(omega, lever)
        spin = -np.cross(omega, solid.inertia @ omega)
        return {
            "gravity": at_centre(solid.mass * solid.gravity, np.zeros(3)),
            "wrench": at_centre(inputs[:3], R.T @ inputs[3:]),
            "gyroscopic": at_centre(np.zeros(3), spin),
            "damping": at_centre(-solid.linear_damping * velocity, -solid.angular_damping * omega),
        }

    def compute_outline(self, state: State) -> Outline:
        """Lines on the surface, edges, rims, circles, and last the centre of mass."""
        position, rotation = np.zeros(3), np.zeros((3, 3))
        frame_pose(self._solid, state.q, position, rotation)
        points = self._lines @ rotation.T + position
        return Outline(
            points=points, radius=np.full(len(points), self._line_radius), starts=self._line_starts
        )
