"""Quantities read of a simulation: poses are computed once per body and instant, however many quantities use them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, ControlError, Mistake
from corekit.registry.resolve import did_you_mean
from corekit.roles.code import code_allowed, import_function
from corekit.simulation.frames import find_frame
from corekit.simulation.loop import Simulation
from corekit_gym.task import Quantity, Task

__all__ = ["Readings"]

_Read = Callable[[], Any]


@final
class Readings:
    """What every quantity of a task is now.

    `update` computes all of them; what a number is then stands in `values`, by the quantity's name.

    Args:
        task: whose quantities. simulation: of its scenario.
        targets: the drawn vectors by name, arrays that are written at each reset.
        action: the last action, an array that is written at each action.
    Attributes:
        values: name → array of the quantity's numbers; the same array at every update.
    Raises:
        ConfigError: every quantity that reads what is not there.
    """

    def __init__(
        self, task: Task, simulation: Simulation, targets: Mapping[str, Array], action: Array
    ) -> None:
        self._simulation, self._targets, self._last_action = simulation, targets, action
        self._allow_code = task.loaded is not None and task.loaded.allow_code
        self._poses: dict[int, tuple[Array, Array]] = {}
        self._posed: set[int] = set()
        self._begin = simulation.start_time
        self._has_sensors = any(each.kind == "sensor" for each in task.quantities)
        found: list[tuple[Quantity, Array, _Read]] = []
        mistakes: list[Mistake] = []
        for i, quantity in enumerate(task.quantities):
            try:
                read = getattr(self, f"_{quantity.kind.replace('-', '_')}")(quantity)
                value = np.array(read(), dtype=float).reshape(-1)
            except ControlError as error:
                mistakes.append(
                    Mistake(f"quantities[{i}]", quantity.name, f"reads what is not there: {error}")
                )
                continue
            if quantity.kind == "function" and value.size != quantity.size:
                said = f"returns {value.size} numbers, and size says {quantity.size}"
                mistakes.append(Mistake(f"quantities[{i}].function", quantity.name, said))
            found.append((quantity, value, read))
        if mistakes:
            raise ConfigError(mistakes, f"task {task.name!r}")
        self.values: dict[str, Array] = {}
        self._readers: list[tuple[Array, _Read]] = []
        self._bound = task.bound
        self._seen, self._scales = self._lay_out(found)

    def _lay_out(self, found: Sequence[tuple[Quantity, Array, _Read]]) -> tuple[Array, Array]:
        """Give all quantities places in one array; return the part that is observed, and its scales."""
        numbers = np.zeros(sum(value.size for _, value, _ in found))
        scales, seen = np.ones(len(numbers)), sum(value.size for each, value, _ in found if each.observed)
        observed, other = 0, seen
        for quantity, value, read in found:
            begin = observed if quantity.observed else other
            own = slice(begin, begin + value.size)
            if quantity.observed:
                observed, scales[own] = own.stop, quantity.scale
            else:
                other = own.stop
            numbers[own] = value
            self.values[quantity.name] = numbers[own]
            self._readers.append((numbers[own], read))
        return numbers[:seen], scales[:seen]

    def update(self) -> None:
        """Read every quantity at the state now."""
        self._posed.clear()
        if self._has_sensors:
            self._simulation.sample_controllers()
        for value, read in self._readers:
            value[:] = read()

    def observation(self) -> np.ndarray[Any, Any]:
        """Return what a policy sees, float32 in ± the task's bound, as of the last update."""
        seen = self._seen / self._scales
        np.minimum(np.maximum(seen, -self._bound, out=seen), self._bound, out=seen)
        return seen.astype(np.float32)

    # — kinds —

    def _position(self, quantity: Quantity) -> _Read:
        place = self._place(quantity.frame)
        if not quantity.relative_to:
            return place
        origin = self._origin(quantity.relative_to)
        return lambda: place() - origin()

    def _rotation(self, quantity: Quantity) -> _Read:
        body, frame = find_frame(self._simulation.bodies, quantity.frame)
        return lambda: self._pose(body.index)[1][frame, :, :2].T.reshape(-1)

    def _velocity(self, quantity: Quantity) -> _Read:
        body, frame = find_frame(self._simulation.bodies, quantity.frame)
        self._simulation.frame(quantity.frame)  # refuses a model that gives no velocities
        width, index = body.description.jacobian_width, np.array([frame], dtype=np.int64)
        origin = np.zeros((1, 3))
        dofs, values = np.zeros((1, width), dtype=np.int64), np.zeros((1, 3, width))

        def read() -> Array:
            now = self._simulation.bodies[body.index]
            state, points = self._simulation.state.body_states[body.index], now.abilities.point_jacobian
            assert points is not None
            points.compute_point_jacobians(state, index, origin, dofs, values)
            return values[0] @ state.v[dofs[0]]

        return read

    def _angular_velocity(self, quantity: Quantity) -> _Read:
        return lambda: self._simulation.frame(quantity.frame).angular_velocity

    def _coordinates(self, quantity: Quantity) -> _Read:
        body = self._simulation.body(quantity.body)
        which = body.first_q + _indices(quantity, [each.name for each in body.description.coordinates])
        return lambda: self._simulation.state.q[which]

    def _velocities(self, quantity: Quantity) -> _Read:
        body = self._simulation.body(quantity.body)
        which = body.first_v + _indices(quantity, [each.name for each in body.description.velocities])
        return lambda: self._simulation.state.v[which]

    def _input(self, quantity: Quantity) -> _Read:
        return lambda: self._simulation.body(quantity.body).inputs[quantity.channel]

    def _contact_force(self, quantity: Quantity) -> _Read:
        self._simulation.body(quantity.body)
        self._known(quantity.against, [*self._body_names(), *self._obstacle_names()], "body or obstacle")

        owners = self._simulation.shape_owners
        own = np.array([owner == quantity.body for owner in owners])
        other = np.array([quantity.against in ("", owner) for owner in owners])

        def read() -> Array:
            record = self._simulation.contacts()
            if not len(record.gap) or not record.step_size:
                return np.zeros(3)
            first, second = record.shape.T
            sign = np.where(own[first] & other[second], 1.0, 0.0) - np.where(
                own[second] & other[first], 1.0, 0.0
            )
            return sign @ record.force

        return read

    def _sensor(self, quantity: Quantity) -> _Read:
        controller, dot, sensor = quantity.sensor.partition(".")
        if not dot:
            raise ControlError("name a sensor as controller.name")
        self._simulation.controller(controller)
        self._simulation.sample_controllers()
        return lambda: self._simulation.controller(controller).reading(sensor)

    def _target(self, quantity: Quantity) -> _Read:
        return lambda: self._targets[quantity.target]

    def _action(self, _quantity: Quantity) -> _Read:
        return lambda: self._last_action

    def _time(self, _quantity: Quantity) -> _Read:
        return lambda: self._simulation.time - self._begin

    def _clock(self, quantity: Quantity) -> _Read:
        rate = 2.0 * math.pi * quantity.frequency

        def read() -> tuple[float, float]:
            angle = rate * (self._simulation.time - self._begin)
            return math.sin(angle), math.cos(angle)

        return read

    def _function(self, quantity: Quantity) -> _Read:
        function = quantity.function
        if isinstance(function, str):
            with code_allowed(self._allow_code):
                function = import_function(function, f"quantities.{quantity.name}.function")
        return lambda: np.asarray(function(self._simulation), dtype=float).reshape(-1)

    # — places —

    def _pose(self, index: int) -> tuple[Array, Array]:
        """Positions and rotations of all frames of a body now."""
        body = self._simulation.bodies[index]
        if index not in self._poses:
            count = len(body.description.frames)
            self._poses[index] = np.zeros((count, 3)), np.zeros((count, 3, 3))
        position, rotation = self._poses[index]
        if index not in self._posed:
            self._posed.add(index)
            body.model.compute_frame_poses(self._simulation.state.body_states[index], position, rotation)
        return position, rotation

    def _place(self, name: str) -> Callable[[], Array]:
        body, frame = find_frame(self._simulation.bodies, name)
        return lambda: self._pose(body.index)[0][frame]

    def _origin(self, name: str) -> Callable[[], Array]:
        if name in self._targets:
            return lambda: self._targets[name]
        if "." in name:
            return self._place(name)
        obstacles = self._obstacle_names()
        self._known(name, [*self._targets, *obstacles], "target or obstacle")
        which, place, rotation = obstacles.index(name), np.zeros(3), np.zeros((3, 3))

        def read() -> Array:
            self._simulation.obstacles[which].place(self._simulation.time, place, rotation)
            return place

        return read

    def _body_names(self) -> list[str]:
        return [body.name for body in self._simulation.bodies]

    def _obstacle_names(self) -> list[str]:
        return [obstacle.name for obstacle in self._simulation.obstacles]

    @staticmethod
    def _known(name: str, names: Sequence[str], what: str) -> None:
        if name and name not in names:
            there = ", ".join(names) or "none"
            raise ControlError(f"there is no {what} {name!r}{did_you_mean(name, names)}; there is {there}")


def _indices(quantity: Quantity, names: Sequence[str]) -> np.ndarray[Any, Any]:
    """Indices of a quantity's entries among the names of a body."""
    for entry in quantity.entries:
        if entry not in names:
            raise ControlError(
                f"body {quantity.body!r} has no entry {entry!r}{did_you_mean(entry, names)}; it has "
                f"{', '.join(names)}"
            )
    chosen = quantity.entries or names
    return np.array([names.index(each) for each in chosen], dtype=np.int64)
