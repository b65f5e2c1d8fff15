"""Scenarios of a few bodies about to touch something, drawn by hypothesis.

What a world is made of is drawn, so that an example shrinks to few and simple parts. Its numbers come from one seed:
they stay of no special value, so that no exact tie decides what happens, and a smaller seed is no simpler world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from corekit_testing.worlds.makers import MAKERS

__all__ = ["World", "joined", "make_world", "worlds"]

Array = np.ndarray[Any, Any]
World = dict[str, Any]
"""A scenario as a file holds it."""

_GAPS = (-2e-4, 1e-3)
"""Of the balls that hold two things at the start [m]; those of round shapes may overlap by a little."""
_SPEEDS = (0.2, 1.0)
"""Towards what a body is beside [m/s]."""
_LYING = 0.3
"""Share of bodies that lie on the floor, of those that can."""
_TURNING = 50.0
"""Rate of those about the vertical, relative to a velocity [1/m]."""


def worlds(
    solvers: Sequence[Mapping[str, Any]],
    integrators: Sequence[Mapping[str, Any]],
    models: Sequence[str] = ("rigid", "pcc", "gvs", "der", "vine", "lagrangian"),
    bodies: int = 4,
) -> Any:
    """A strategy for worlds of up to a number of bodies, each beside the floor, an obstacle or a body before it.

    Args:
        solvers: tables for `contact`, with at least `solver`.
        integrators: tables for `integrator`.
        models: of the bodies, keys of `MAKERS`.
    """
    from hypothesis import strategies as st

    return st.builds(
        make_world,
        seed=st.integers(0, 2**32 - 1),
        bodies=st.lists(st.sampled_from(models), min_size=1, max_size=bodies),
        obstacles=st.lists(st.sampled_from(["floor", "box", "sphere"]), min_size=1, max_size=3, unique=True),
        gravity=st.booleans(),
        step=st.sampled_from([1e-3, 2e-3, 4e-3]),
        contact=st.sampled_from(solvers),
        integrator=st.sampled_from(integrators),
        restitution=st.sampled_from([0.0, 0.5]),
    )


def make_world(
    seed: int,
    bodies: Sequence[str],
    obstacles: Sequence[str],
    gravity: bool,
    step: float,
    contact: Mapping[str, Any],
    integrator: Mapping[str, Any],
    restitution: float,
) -> World:
    """The world of a seed, with bodies of these models and these kinds of obstacles; the others as in a scenario."""
    random = np.random.default_rng(seed)
    placed = _Placed(random)
    for kind in obstacles:
        placed.obstacle(kind)
    made = [placed.body(f"{model}-{i}", model) for i, model in enumerate(bodies)]
    return {
        "format": "corekit-scenario/1",
        "name": "drawn",
        "time": {"duration": 1.0, "step": step},
        "world": {
            "gravity": [0.3, -0.2, -9.7] if gravity else [0.0, 0.0, 0.0],
            "obstacles": placed.obstacles,
        },
        "bodies": made,
        "integrator": dict(integrator),
        "contact": {
            "detector": ["sdf", "mpr"],
            "margin": 1e-3,
            "stabilisation": {"approach": 1.0, "push_out": 20.0, "cap": 0.5},
            "impact": {"restitution": restitution},
            **contact,
        },
    }


def joined(world: World, seed: int) -> World:
    """The world with a joint, half-way between their middles, from every rigid body to the one before it.

    They begin with the velocities that they had: the first step ends what the joints do not allow, as an impact does.
    """
    random = np.random.default_rng(seed)
    rigid = [body for body in world["bodies"] if body["use"] == "rigid"]
    joints: list[dict[str, Any]] = []
    for before, body in pairwise(rigid):
        one, other = (np.array(each["base"]["position"]) for each in (body, before))
        turn = Rotation.from_euler("xyz", body["base"]["rotation_rpy"])
        kind = str(random.choice(["ball", "hinge", "weld"]))
        joint = {
            "name": f"{body['name']}-{before['name']}", "kind": kind,
            "between": [f"{body['name']}.body", f"{before['name']}.body"],
            "place": turn.inv().apply(0.5 * (other - one)).tolist(),
        }  # fmt: skip
        axis = {"axis": _unit(random.normal(size=3)).tolist()} if kind == "hinge" else {}
        joints.append(joint | axis)
    return {**world, "joints": joints} if joints else world


class _Placed:
    """Balls that hold what was placed, and the floor below them."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random, self.obstacles = random, list[dict[str, Any]]()
        self.centres, self.radii = np.zeros((0, 3)), np.zeros(0)
        self.floor: Rotation | None = None

    def obstacle(self, kind: str) -> None:
        """Add a floor through the origin, or a solid above where it would be."""
        turn = Rotation.from_rotvec(self.random.normal(0.0, 0.2, 3))
        table: dict[str, Any] = {"name": kind, "shape": kind, "rotation_rpy": turn.as_euler("xyz").tolist()}
        if kind == "floor":
            self.floor, table["shape"] = turn, "half-space"
        else:
            size = self.random.uniform(0.03, 0.06, 1 if kind == "sphere" else 3)
            radius = size if kind == "sphere" else [0.5 * np.linalg.norm(size)]
            place = self._beside(np.zeros((1, 3)), np.array(radius), _unit(self.random.normal(size=3)))
            table |= {"size": size.tolist(), "position": place.tolist()}
        self.obstacles.append(table)

    def body(self, name: str, model: str) -> dict[str, Any]:
        """Make a body on a base of its own: on its way to what it is beside, or lying on the floor."""
        direction, drift = _unit(self.random.normal(size=3)), self.random.normal(0.0, 0.1, 3)
        turn, lies = Rotation.random(rng=self.random), False
        if self.floor is not None and self.random.uniform() < _LYING:
            turn, lies = self.floor * Rotation.from_euler("z", self.random.uniform(-3.0, 3.0)), True
        speed = 0.0 if lies else self.random.uniform(*_SPEEDS)
        made = MAKERS[model](self.random, drift - speed * direction, turn)
        centres = turn.apply(made.centres)
        if lies and made.height is not None:
            made.entry["initial"]["angular_velocity"] = turn.apply([0.0, 0.0, drift[2] * _TURNING]).tolist()
            place = self._beside(centres, made.radii, direction, made.height)
        else:
            place = self._beside(centres, made.radii, direction)
        base = {"position": place.tolist(), "rotation_rpy": turn.as_euler("xyz").tolist()}
        return {"name": name, **made.entry, "base": base}

    def _beside(self, centres: Array, radii: Array, direction: Array, height: float | None = None) -> Array:
        """Where to put balls, so that one is next to the floor or to another ball and all are apart from all.

        Args:
            centres, radii: of the balls, shapes (n, 3) and (n,).
            direction: from the other ball; it is turned until there is place.
            height: of their base above the floor, in place of that of the lowest ball, on which nothing else touches.
        """
        spread = 0.1
        while True:
            spread *= 1.02
            one, gap = int(self.random.integers(len(radii))), self.random.uniform(*_GAPS)
            on = -1 if height is not None else int(self.random.integers(-1, len(self.radii)))
            if on >= 0:
                place = self.centres[on] + (self.radii[on] + radii[one] + gap) * direction - centres[one]
            else:
                place = spread * direction
                if self.floor is not None:
                    up = self.floor.apply([0.0, 0.0, 1.0])
                    lowest = np.min((place + centres) @ up - radii) if height is None else place @ up - height
                    place += (gap - lowest) * up
            if self._is_apart(place + centres, radii, height is None):
                self.centres = np.vstack([self.centres, place + centres])
                self.radii = np.append(self.radii, radii)
                return place
            direction = _unit(direction + self.random.normal(0.0, 0.5, 3))

    def _is_apart(self, centres: Array, radii: Array, above_floor: bool) -> bool:
        least = (np.linalg.norm(centres[:, None] - self.centres, axis=2) - radii[:, None] - self.radii).min(
            initial=0.0
        )
        if above_floor and self.floor is not None:
            least = min(least, float((centres @ self.floor.apply([0.0, 0.0, 1.0]) - radii).min()))
        return least >= _GAPS[0]


def _unit(vector: Array) -> Array:
    return vector / np.linalg.norm(vector)
