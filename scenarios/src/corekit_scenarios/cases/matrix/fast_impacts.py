"""Worlds of fast impacts: in a step bodies move up to a hundred times their size, and yet nothing may pass through.

A world is made for a share of a step at which the impact falls, from 0 to 1. Without restitution no impact may add
kinetic energy. Bodies that turn before the impact are cubes, whose free motion no integrator falsifies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.scenario.load import from_document
from corekit.simulation.loop import Simulation

__all__ = ["IMPACTS", "SHARES", "STEP", "FastImpact", "begin_at", "compose", "kinetic_energy"]

STEP = 1e-3
"""h [s]."""
SHARES = (0.0, 0.17, 0.5, 0.71, 0.93)
"""Of a step, at which the impact falls."""
_PLATE: Mapping[str, Any] = {"name": "plate", "shape": "box", "size": [0.4, 0.4, 0.002]}
_QUARTER = math.pi / 2


@frozen(kw_only=True)
class FastImpact:
    """A world, at one share of a step.

    Args:
        obstacles, bodies: as in a scenario.
        duration: until the impact is long over [s].
        is_apart: (q, t) → whether the bodies are still on the sides that they came from.
        is_driven: whether an obstacle moves and so gives energy.
    """

    obstacles: Sequence[Mapping[str, Any]] = ()
    bodies: Sequence[Mapping[str, Any]]
    duration: float
    is_apart: Callable[[Array, float], bool]
    is_driven: bool = False


def _body(
    name: str, shape: str, size: Sequence[float], position: Sequence[float], velocity: Sequence[float] = (0, 0, 0),
    rotation: Sequence[float] = (0, 0, 0), spin: Sequence[float] = (0, 0, 0),
) -> Mapping[str, Any]:  # fmt: skip
    initial = {
        "position": list(position), "velocity": list(velocity), "rotation_rpy": list(rotation),
        "angular_velocity": list(spin),
    }  # fmt: skip
    options = {"shape": shape, "size": list(size), "mass": 1.0}
    return {"name": name, "use": "rigid", "options": options, "initial": initial}


def _moving(values: Sequence[Sequence[float]]) -> Mapping[str, Any]:
    return {"kind": "table", "times": [0.0, 1.0], "values": values}


def _above(height: float = 0.0) -> Callable[[Array, float], bool]:
    return lambda q, _: bool(q[2] > height)


def _ball_on_plate(share: float) -> FastImpact:
    ball = _body("ball", "sphere", [0.01], [0.003, 0.002, 0.05 + 0.02 * share], [0, 0, -20])
    return FastImpact(obstacles=[_PLATE], bodies=[ball], duration=0.012, is_apart=_above())


def _small_ball_on_foil(share: float) -> FastImpact:
    foil = {**_PLATE, "size": [0.4, 0.4, 2e-4]}
    ball = _body("ball", "sphere", [0.001], [0.003, 0.002, 0.05 + 0.1 * share], [0, 0, -100])
    # a free step may end inside the foil, which is not behind it
    return FastImpact(obstacles=[foil], bodies=[ball], duration=0.005, is_apart=_above(-1e-4))


def _ball_skims_the_plate(share: float) -> FastImpact:
    ball = _body("ball", "sphere", [0.01], [-0.1, 0.002, 0.05 + 0.02 * share], [50, 0, -20])
    return FastImpact(obstacles=[_PLATE], bodies=[ball], duration=0.005, is_apart=_above())


def _balls_head_on(share: float) -> FastImpact:
    one = _body("one", "sphere", [0.01], [-3 - 2 * share, 0, 0], [1000, 0, 0])
    two = _body("two", "sphere", [0.01], [3, 0, 0], [-1000, 0, 0])
    return FastImpact(bodies=[one, two], duration=0.009, is_apart=lambda q, _: bool(q[0] < q[7]))


def _crossed_capsules(share: float) -> FastImpact:
    size = [0.005, 0.1]
    one = _body("one", "capsule", size, [0, 0, 0.05 + 0.02 * share], [0, 0, -20], [0, _QUARTER, 0])
    two = _body("two", "capsule", size, [0, 0, 0], rotation=[_QUARTER, 0, 0])
    return FastImpact(bodies=[one, two], duration=0.009, is_apart=lambda q, _: bool(q[2] > q[9]))


def _box_by_a_corner(share: float) -> FastImpact:
    place = [0.003, 0.002, 0.05 + 0.02 * share]
    box = _body("box", "box", [0.02, 0.02, 0.02], place, [0, 0, -20], [0.615, 0.785, 0])
    return FastImpact(obstacles=[_PLATE], bodies=[box], duration=0.009, is_apart=_above())


def _tumbling_cube(share: float) -> FastImpact:
    place = [0.003, 0.002, 0.06 + 0.02 * share]
    box = _body("box", "box", [0.03, 0.03, 0.03], place, [0, 0, -20], spin=[150, 100, 0])
    return FastImpact(obstacles=[_PLATE], bodies=[box], duration=0.009, is_apart=_above())


def _capsule_on_an_edge(share: float) -> FastImpact:
    wall = {"name": "wall", "shape": "box", "size": [0.4, 0.002, 0.1]}
    rod = _body("rod", "capsule", [0.003, 0.1], [0, 0, 0.08 + 0.02 * share], [0, 0, -20], [_QUARTER, 0, 0])
    return FastImpact(obstacles=[wall], bodies=[rod], duration=0.009, is_apart=_above(0.04))


def _plate_hits_a_ball(share: float) -> FastImpact:
    low = -0.05 - 0.02 * share
    plate = {**_PLATE, "position": _moving([[0, 0, low], [0, 0, low + 20]])}
    return FastImpact(
        obstacles=[plate],
        bodies=[_body("ball", "sphere", [0.01], [0.003, 0.002, 0])],
        duration=0.009,
        is_apart=lambda q, t: bool(q[2] > low + 20 * t),
        is_driven=True,
    )


def _paddle_hits_a_ball(share: float) -> FastImpact:
    first, rate = -0.5 - 0.3 * share, 300.0
    turning = _moving([[0, first, 0], [0, first + rate, 0]])
    paddle = {"name": "paddle", "shape": "box", "size": [0.3, 0.1, 0.002], "rotation_rpy": turning}

    def is_ahead(q: Array, t: float) -> bool:
        angle = first + rate * t
        return bool(q[0] * math.sin(angle) + q[2] * math.cos(angle) < 0.0)

    return FastImpact(
        obstacles=[paddle],
        bodies=[_body("ball", "sphere", [0.01], [0.1, 0, 0])],
        duration=0.004,
        is_apart=is_ahead,
        is_driven=True,
    )


IMPACTS: Mapping[str, Callable[[float], FastImpact]] = {
    "ball on a plate": _ball_on_plate,
    "small ball on a foil": _small_ball_on_foil,
    "ball skims a plate": _ball_skims_the_plate,
    "balls head-on": _balls_head_on,
    "crossed capsules": _crossed_capsules,
    "box by a corner": _box_by_a_corner,
    "tumbling cube": _tumbling_cube,
    "capsule on an edge": _capsule_on_an_edge,
    "plate hits a ball": _plate_hits_a_ball,
    "paddle hits a ball": _paddle_hits_a_ball,
}
"""Name → the world for a share of a step."""


def compose(
    obstacles: Sequence[Mapping[str, Any]], bodies: Sequence[Mapping[str, Any]], detector: str,
    solver: str | Mapping[str, Any], integrator: str, friction: float = 0.3, step: float = STEP,
) -> Simulation:  # fmt: skip
    """The world without gravity, by these components."""
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "impact",
            "time": {"duration": 1.0, "step": step},
            "world": {"gravity": [0.0, 0.0, 0.0], "obstacles": list(obstacles)},
            "bodies": list(bodies),
            "contact": {
                "friction": friction,
                "detector": {"use": detector},
                "solver": {"use": solver} if isinstance(solver, str) else solver,
            },
            "integrator": {"use": integrator},
            "output": {"every": step},
        }
    ).compose()


def begin_at(simulation: Simulation, bodies: Sequence[Mapping[str, Any]]) -> None:
    """Begin anew with the rigid bodies where these are; their seven coordinates begin with the place."""
    simulation.reset()
    now = simulation.state
    start = State(now.q.copy(), now.v.copy(), now.aux.copy())
    for number, each in enumerate(bodies):
        start.q[7 * number : 7 * number + 3] = each["initial"]["position"]
    simulation.reset(state=start)


def kinetic_energy(simulation: Simulation) -> float:
    """Of all bodies [J]."""
    able = [body.abilities.energy for body in simulation.bodies]
    states = simulation.state.body_states
    return sum(
        each.compute_energies(state)[0] for each, state in zip(able, states, strict=True) if each is not None
    )
