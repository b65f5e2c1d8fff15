"""Computed torque in the space of a frame, for bodies with any number of coordinates.

An implicit step over the horizon T predicts the velocities, with A = M + T·D + T²·K of the model at its state:

    A·(v⁺ − v) = T·(f(q, v, 0) + B·u − T·K·v),    J·(v⁺ − v) + T·J̇·v = T·a                (1)

a is the acceleration by which an error e = p − x decays as a damped oscillator, with the path's own acceleration p̈:

    a = p̈ + 2ζω·(ṗ − ẋ) + ω²·(e + k_i·∫e dt)                                             (2)

(1) is solved for u in the least-squares sense within the bounds, with ρ·‖u‖² so that antagonists do not fight. Modes
that are stiffer than 1/T are followed quasi-statically, by T²·K in A, so that a soft arm's inner modes stay at rest. B
is the difference of f by each input, exact because forces are affine in the inputs; J̇·v is the central difference of
the frame's velocity along the motion, at the velocities v.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import lsq_linear

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import ControlError
from corekit.roles.component import BuildContext, InternalState, Stateful
from corekit.roles.controller import ControlledWorld, Controller, Inputs
from corekit.roles.model import ChannelKind
from corekit_feedback.config import ComputedTorqueConfig

__all__ = ["ComputedTorque"]

_SHORT = 1e-3
"""Span of the difference J̇·v, relative to the horizon."""


@final
class ComputedTorque(Controller, Stateful):
    """Implements (1)–(2) for a body without constraints whose model gives K and D.

    A base that moves on a given path, or with what carries it, keeps its velocity in the prediction.
    """

    def __init__(self, config: ComputedTorqueConfig, context: BuildContext | None = None) -> None:
        self._config, self._path = config, (context or BuildContext()).path
        self._sum, self._last = np.zeros(3), float("nan")

    def compute_inputs(self, world: ControlledWorld) -> Inputs:
        config = self._config
        body = world.body(config.frame.partition(".")[0])
        channels, columns = self._channels(body)
        frame = world.frame(config.frame)
        response, drift = self._prediction(body, world, frame.jacobian, columns)
        wanted = self._acceleration(world, frame)
        rows = np.array(config.weights)[:, None] * response
        aim = np.array(config.weights) * (wanted - drift - self._turning(body, world))
        scale = np.sqrt(config.regularisation * np.mean(rows**2))
        lower, upper = self._bounds(channels)
        found = lsq_linear(
            np.vstack([rows, scale * np.eye(len(columns))]), np.append(aim, np.zeros(len(columns))), (lower, upper),
            method="bvls",
        )  # fmt: skip
        inputs, first = {}, 0
        for channel in channels:
            inputs[channel.name] = found.x[first : first + channel.size]
            first += channel.size
        return {body.name: inputs}

    def _channels(self, body: Any) -> tuple[list[Any], list[int]]:
        """Driven channels of the body, and their entries of u."""
        wanted, offered = self._config.channels, body.description.inputs
        unknown = [name for name in wanted if name not in [each.name for each in offered]]
        lacks = [each for each in ("force-derivatives", "point-jacobian") if each not in body.abilities.words]
        why = f"it has no channel {unknown[0]!r}" if unknown else ""
        why = why or ("it has constraints" if body.description.constraint_count else "")
        why = why or (f"its model does not offer {', '.join(lacks)}" if lacks else "")
        chosen, columns, first = [], [], 0
        for channel in offered:
            if channel.name in wanted or (not wanted and channel.kind is ChannelKind.EFFORT):
                chosen.append(channel)
                columns += range(first, first + channel.size)
            first += channel.size
        why = why or ("" if columns else "it has no effort to drive")
        if why:
            raise ControlError(
                f"{self._path}: body {body.name!r} cannot be controlled by computed torque: {why}"
            )
        return chosen, columns

    def _bounds(self, channels: list[Any]) -> tuple[Array, Array]:
        sizes = [channel.size for channel in channels]
        lower = np.repeat([max(self._config.lower, channel.lower) for channel in channels], sizes)
        upper = np.repeat([min(self._config.upper, channel.upper) for channel in channels], sizes)
        return lower, upper

    def _prediction(
        self, body: Any, world: ControlledWorld, jacobian: Array, columns: list[int]
    ) -> tuple[Array, Array]:
        """∂a/∂u, shape (3, columns), and the acceleration without the driven inputs, of the frame by (1)."""
        model, span = body.model, self._config.horizon
        state: State = world.state.body_states[body.index]
        now = body.inputs.value_at(world.time).copy()
        mass, (stiffness, damping) = model.new_mass_matrix(), model.new_stiffness_and_damping()
        model.compute_stiffness_and_damping(state, now, stiffness, damping)
        now[columns] = 0.0
        force, one = np.zeros((2, body.nv))
        model.compute_mass_and_force(state, now, mass, force)
        dense = stiffness.dense()
        forces = [force - span * (dense @ state.v)]
        for column in columns:
            now[column] = 1.0
            model.compute_mass_and_force(state, now, mass, one)
            forces.append(one - force)
            now[column] = 0.0
        free = self._free(body, world)
        matrix = mass.dense() + span * damping.dense() + span**2 * dense
        moved = np.linalg.solve(free.T @ matrix @ free, free.T @ np.array(forces).T)
        accelerations = jacobian @ free @ moved
        return accelerations[:, 1:], accelerations[:, 0]

    def _free(self, body: Any, world: ControlledWorld) -> Array:
        """Changes of velocity that nothing prescribes, and that leave a base as it is which a joint holds; columns."""
        free = np.delete(np.eye(body.nv), body.description.prescribed_velocity_index, axis=1)
        if f"{body.name}.base" not in world.names()["joints"]:
            return free
        width, four = body.description.jacobian_width, np.vstack([np.zeros(3), np.eye(3)])
        dofs, values = np.zeros((4, width), dtype=np.int64), np.zeros((4, 3, width))
        state = world.state.body_states[body.index]
        body.abilities.point_jacobian.compute_point_jacobians(
            state, np.zeros(4, dtype=np.int64), four, dofs, values
        )
        rows = np.zeros((4, 3, body.nv))
        for point, places, own in zip(rows, dofs, values, strict=True):
            for place, column in zip(places, own.T, strict=True):
                point[:, place] += column
        found: Array = free @ null_space(rows.reshape(12, -1) @ free)
        return found

    def _turning(self, body: Any, world: ControlledWorld) -> Array:
        """J̇·v of the frame [m/s²]: centripetal and Coriolis acceleration."""
        now: State = world.state.body_states[body.index]
        frame = body.description.frames.index(self._config.frame.partition(".")[2])
        step, width = _SHORT * self._config.horizon, body.description.jacobian_width
        ahead, velocities = now.copy(), []
        dofs, values = np.zeros((1, width), dtype=np.int64), np.zeros((1, 3, width))
        for span in (-step, step):
            body.model.integrate(now, now.v, span, now, ahead)
            ahead.v[:], ahead.time = now.v, now.time
            body.abilities.point_jacobian.compute_point_jacobians(
                ahead, np.array([frame]), np.zeros((1, 3)), dofs, values
            )
            velocities.append(values[0] @ now.v[dofs[0]])
        found: Array = (velocities[1] - velocities[0]) / (2.0 * step)
        return found

    def _acceleration(self, world: ControlledWorld, frame: Any) -> Array:
        """a by (2)."""
        config = self._config
        target, rate, acceleration = np.zeros((3, 3))
        config.target.value(world.time, target)
        config.target.rate(world.time, rate)
        config.target.acceleration(world.time, acceleration)
        position = frame.position
        if config.sensor is not None:
            owner, _, name = config.sensor.partition(".")
            position = world.controller(owner).reading(name)[:3]
        error = target - position
        if np.isfinite(self._last):
            self._sum += error * (world.time - self._last)
        self._last = world.time
        omega = config.frequency
        slope = 2.0 * config.damping_ratio * omega * (rate - frame.velocity)
        return acceleration + slope + omega**2 * (error + config.integral * self._sum)

    def internal_state(self) -> InternalState:
        return {"sum": self._sum.copy(), "last": np.array(self._last)}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self._sum = np.array(internal_state.get("sum", np.zeros(3)))
        self._last = float(internal_state.get("last", np.nan))
