"""Sensors: readings by name, sampled with the controller's period, with noise and delay.

| kind | reading | numbers |
|---|---|---|
| frame | position [m] and `quat_wxyz` of a frame | 7 |
| strain | mean curvature between two frames at an arc length L: rotation vector of R₁ᵀ·R₂ over L [1/m] | 3 |
| tendon-length | length of the polyline through points of frames [m] | 1 |
| contact-force | sum of the contact forces on a body, world axes [N] | 3 |
| imu | angular velocity [rad/s] and mean specific force since the last sample [m/s²], both in the frame's axes | 6 |

A reading is what was measured `delay` ago, at the last sample not after that; noise is added when it is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, final

import numpy as np
from attrs import define, fields, frozen

from corekit.data.arrays import Array
from corekit.data.instants import beside_grid
from corekit.errors import ControlError
from corekit.geometry.frames import quat_wxyz_from_rotation
from corekit.roles.component import BuildContext, InternalState, Seeded, Stateful
from corekit.roles.controller import ControlledWorld, Controller, Inputs
from corekit.roles.options import option

__all__ = ["Sensor", "Sensors", "SensorsConfig"]


_OF_KINDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "frames": ("frame", "strain", "tendon-length", "imu"),
        "points": ("tendon-length",),
        "length": ("strain",),
        "body": ("contact-force",),
        "against": ("contact-force",),
    }
)
"""Which kinds of sensors an entry is of."""


@frozen(kw_only=True)
class Sensor:
    """One sensor."""

    name: str = option(help="what controllers and Python call its reading")
    kind: str = option(
        help="what it measures", choices=("frame", "strain", "tendon-length", "contact-force", "imu")
    )
    frames: tuple[str, ...] = option(
        (),
        "`body.frame`: one for frame and imu, two for strain, the route for tendon-length",
        converter=tuple,
    )
    points: tuple[tuple[float, float, float], ...] = option(
        (), "of tendon-length: the point in each frame; left out, the origins", unit="m", converter=tuple
    )
    length: float = option(1.0, "of strain: arc length between the two frames", unit="m", above=0)
    body: str = option("", "of contact-force: the body on which the forces act")
    against: str = option("", "of contact-force: what pushes, a body or an obstacle; left out, everything")
    noise: float = option(0.0, "standard deviation of every number, in its unit", low=0)
    delay: float = option(0.0, "time from measurement to reading", unit="s", low=0)

    def __attrs_post_init__(self) -> None:
        for name, kinds in _OF_KINDS.items():
            if self.kind not in kinds and getattr(self, name) != getattr(fields(Sensor), name).default:
                raise ValueError(
                    f"{name}: leave it out, it is of {' and '.join(kinds)}, not of {self.kind} sensors"
                )
        count = {"frame": 1, "imu": 1, "strain": 2}.get(self.kind)
        if count is not None and len(self.frames) != count:
            raise ValueError(f"frames of a {self.kind} sensor: give {count}, not {len(self.frames)}")
        if self.kind == "tendon-length" and len(self.frames) < 2:
            raise ValueError("frames of a tendon-length sensor: give at least 2")
        if self.points and len(self.points) != len(self.frames):
            raise ValueError("points: give one for each frame")
        if self.kind == "contact-force" and not self.body:
            raise ValueError("body: name the body of a contact-force sensor")


@frozen(kw_only=True)
class SensorsConfig:
    """Sensors that are sampled together."""

    sensors: tuple[Sensor, ...] = option((), "the sensors")

    def __attrs_post_init__(self) -> None:
        names = [sensor.name for sensor in self.sensors]
        if len(set(names)) != len(names):
            raise ValueError("sensors: two have one name")


def _frame(sensor: Sensor, world: ControlledWorld, _imu: _Imu) -> Array:
    frame = world.frame(sensor.frames[0])
    return np.append(frame.position, quat_wxyz_from_rotation(frame.rotation))


def _strain(sensor: Sensor, world: ControlledWorld, _imu: _Imu) -> Array:
    from scipy.spatial.transform import Rotation

    first, second = (world.frame(name).rotation for name in sensor.frames)
    return Rotation.from_matrix(first.T @ second).as_rotvec() / sensor.length


def _tendon_length(sensor: Sensor, world: ControlledWorld, _imu: _Imu) -> Array:
    at = sensor.points or ((0.0, 0.0, 0.0),) * len(sensor.frames)
    frames = [world.frame(name) for name in sensor.frames]
    route = np.array(
        [frame.position + frame.rotation @ point for frame, point in zip(frames, at, strict=True)]
    )
    return np.linalg.norm(np.diff(route, axis=0), axis=1).sum(keepdims=True)


def _contact_force(sensor: Sensor, world: ControlledWorld, _imu: _Imu) -> Array:
    touching, total = world.contacts(), np.zeros(3)
    world.body(sensor.body)
    if sensor.against and sensor.against not in touching.owners:
        offered = ", ".join(dict.fromkeys(touching.owners)) or "nothing"
        raise ControlError(
            f"the sensor {sensor.name!r}: no shape is of {sensor.against!r}; there are those of {offered}"
        )
    for (first, second), force in zip(touching.names, touching.force, strict=True):
        if first == sensor.body and sensor.against in ("", second):
            total += force
        if second == sensor.body and sensor.against in ("", first):
            total -= force
    return total


def _imu(sensor: Sensor, world: ControlledWorld, imu: _Imu) -> Array:
    frame = world.frame(sensor.frames[0])
    span = world.time - imu.time
    mean = (frame.velocity - imu.velocity) / span if span > 0.0 else np.zeros(3)
    imu.time, imu.velocity = world.time, frame.velocity
    return np.append(frame.rotation.T @ frame.angular_velocity, frame.rotation.T @ (mean - imu.gravity))


@define
class _Imu:
    """What an IMU keeps from sample to sample: the velocity there."""

    gravity: Array
    time: float
    velocity: Array


_Measure = Callable[[Sensor, ControlledWorld, _Imu], Array]
_MEASURES: Mapping[str, _Measure] = MappingProxyType(
    {
        "frame": _frame,
        "strain": _strain,
        "tendon-length": _tendon_length,
        "contact-force": _contact_force,
        "imu": _imu,
    }
)


@final
class Sensors(Controller, Stateful, Seeded):
    """Samples its sensors and drives nothing: `sim.controller("eyes").reading("tip")`."""

    def __init__(self, config: SensorsConfig, context: BuildContext | None = None) -> None:
        context = context or BuildContext()
        self._sensors = {sensor.name: sensor for sensor in config.sensors}
        self._gravity, self._path = context.gravity, context.path
        self.reseed(context.seed)
        self.restore({})

    def reseed(self, seed: int) -> None:
        self._seed, self._stream = seed, np.random.default_rng(seed)

    def compute_inputs(self, world: ControlledWorld) -> Inputs:
        """Measure, and keep what readings still need; an empty answer."""
        for name, sensor in self._sensors.items():
            value = _MEASURES[sensor.kind](sensor, world, self._imus[name])
            value = value + sensor.noise * self._stream.standard_normal(value.shape)
            rows = np.vstack(
                [self._kept.get(name, np.zeros((0, 1 + len(value)))), np.append(world.time, value)]
            )
            near = 2.0 * beside_grid(world.time, world.step_length)  # either end may be beside its grid point
            seen = np.flatnonzero(rows[:, 0] <= world.time - sensor.delay + near)
            self._kept[name] = rows[seen[-1] if len(seen) else 0 :]
        return {}

    def reading(self, name: str) -> Array:
        """Return the newest reading of a sensor; before its delay has passed, the first one."""
        if name not in self._kept:
            offered = ", ".join(self._sensors) or "none"
            said = "was not sampled yet" if name in self._sensors else f"does not exist; there are {offered}"
            raise ControlError(f"{self._path}: the sensor {name!r} {said}")
        return self._kept[name][0, 1:].copy()

    def internal_state(self) -> InternalState:
        words = self._stream.bit_generator.state["state"]
        stream = b"".join(int(words[key]).to_bytes(16, "little") for key in ("state", "inc"))
        kept = {f"kept/{name}": rows.copy() for name, rows in self._kept.items()}
        imus = {f"imu/{name}": np.append(each.time, each.velocity) for name, each in self._imus.items()}
        return {"stream": np.frombuffer(stream, dtype=np.uint8).copy(), **kept, **imus}

    def restore(self, internal_state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self.reseed(self._seed)
        if "stream" in internal_state:
            stream = internal_state["stream"].tobytes()
            state, increment = (int.from_bytes(stream[k : k + 16], "little") for k in (0, 16))
            whole = self._stream.bit_generator.state
            self._stream.bit_generator.state = {**whole, "state": {"state": state, "inc": increment}}
        self._kept = {key[5:]: rows.copy() for key, rows in internal_state.items() if key.startswith("kept/")}
        self._imus: dict[str, _Imu] = {}
        for name in self._sensors:
            time, *velocity = internal_state.get(f"imu/{name}", np.array([np.inf, 0.0, 0.0, 0.0]))
            self._imus[name] = _Imu(self._gravity, float(time), np.array(velocity))
