"""Scenarios of a few bodies about to touch something, drawn by hypothesis.

What a world is made of is drawn, so that an example shrinks to few and simple parts. Its numbers come from one seed:
they stay of no special value, so that no exact tie decides what happens, and a smaller seed is no simpler world.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

__all__ = ["Maker", "World", "make_world", "rigid", "worlds"]

Random = np.random.Generator
World = dict[str, Any]
"""A scenario as a file holds it."""
Maker = Callable[[Random, Any], tuple[dict[str, Any], float]]
"""Make a body that moves at a velocity in the axes of the world [m/s], if it can.

It returns the body's entry in a scenario, without name and base, and the radius about the base that holds it [m].
"""

_GAPS = (-2e-4, 1e-3)
"""Of the balls that hold two things at the start [m]; those of round shapes may overlap by a little."""
_SPEEDS = (0.2, 1.0)
"""Towards what a body is beside [m/s]."""


def rigid(random: Random, velocity: Any) -> tuple[dict[str, Any], float]:
    """A ball, box, capsule or cylinder that flies and spins."""
    size = random.uniform(0.01, 0.03, 3)
    sizes, radius = {
        "sphere": (size[:1], size[0]),
        "box": (2.0 * size, float(np.linalg.norm(size))),
        "capsule": (size[:2], size[0] + 0.5 * size[1]),
        "cylinder": (size[:2], float(np.hypot(size[0], 0.5 * size[1]))),
    }[shape := str(random.choice(["sphere", "box", "capsule", "cylinder"]))]
    options = {"shape": shape, "size": sizes.tolist(), "mass": random.uniform(0.02, 0.5)}
    initial = {
        "rotation_rpy": random.uniform(-3.0, 3.0, 3).tolist(),
        "velocity": velocity.tolist(),
        "angular_velocity": random.normal(0.0, 5.0, 3).tolist(),
    }
    return {"use": "rigid", "options": options, "initial": initial}, float(radius)


def worlds(
    makers: Mapping[str, Maker],
    solvers: Sequence[Mapping[str, Any]],
    integrators: Sequence[Mapping[str, Any]],
    bodies: int = 4,
) -> Any:
    """A strategy for worlds of up to a number of bodies, each beside the floor, an obstacle or a body before it.

    Args:
        makers: by name, which an example shows.
        solvers: tables for `contact`, with at least `solver`.
        integrators: tables for `integrator`.
    """
    from hypothesis import strategies as st

    return st.builds(
        make_world,
        seed=st.integers(0, 2**32 - 1),
        bodies=st.lists(st.sampled_from(sorted(makers)), min_size=1, max_size=bodies),
        makers=st.just(makers),
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
    makers: Mapping[str, Maker],
    obstacles: Sequence[str],
    gravity: bool,
    step: float,
    contact: Mapping[str, Any],
    integrator: Mapping[str, Any],
    restitution: float,
) -> World:
    """The world of a seed, of kinds of bodies (keys of `makers`) and of obstacles; the others as in a scenario."""
    random = np.random.default_rng(seed)
    placed = _Placed(random)
    for kind in obstacles:
        placed.obstacle(kind)
    made = [placed.body(f"{kind}-{i}", makers[kind]) for i, kind in enumerate(bodies)]
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


class _Placed:
    """Balls that hold what was placed, and the plane below them."""

    def __init__(self, random: Random) -> None:
        self.random, self.obstacles = random, list[dict[str, Any]]()
        self.centres, self.radii = list[Any](), list[float]()
        self.up: Any = None

    def obstacle(self, kind: str) -> None:
        """Add a floor through the origin, or a solid above where it would be."""
        turn = Rotation.from_rotvec(self.random.normal(0.0, 0.2, 3))
        table: dict[str, Any] = {"name": kind, "shape": kind, "rotation_rpy": turn.as_euler("xyz").tolist()}
        if kind == "floor":
            self.up, table["shape"] = turn.apply([0.0, 0.0, 1.0]), "half-space"
        else:
            size = self.random.uniform(0.03, 0.06, 1 if kind == "sphere" else 3)
            table["size"] = size.tolist()
            radius = size[0] if kind == "sphere" else 0.5 * float(np.linalg.norm(size))
            away = self.random.normal(size=3)
            table["position"] = self._beside(radius, away / np.linalg.norm(away)).tolist()
        self.obstacles.append(table)

    def body(self, name: str, maker: Maker) -> dict[str, Any]:
        """Make a body on a base of its own, on its way to what it is beside."""
        direction = self.random.normal(size=3)
        direction /= np.linalg.norm(direction)
        velocity = self.random.normal(0.0, 0.1, 3) - self.random.uniform(*_SPEEDS) * direction
        body, radius = maker(self.random, velocity)
        turn = self.random.uniform(-3.0, 3.0, 3).tolist()
        base = {"position": self._beside(radius, direction).tolist(), "rotation_rpy": turn}
        return {"name": name, **body, "base": base}

    def _beside(self, radius: float, direction: Any) -> Any:
        """A place for a ball, along a direction from the floor or another ball, apart from all of them.

        Where there is none the way is turned.
        """
        while True:
            on = int(self.random.integers(-1, len(self.radii)))
            gap = self.random.uniform(*_GAPS)
            if on >= 0:
                centre = self.centres[on] + (self.radii[on] + radius + gap) * direction
            else:
                centre = 0.1 * direction
                if self.up is not None:
                    centre += (radius + gap - centre @ self.up) * self.up
            apart = all(
                np.linalg.norm(centre - other) > radius + size + _GAPS[0]
                for other, size in zip(self.centres, self.radii, strict=True)
            )
            if apart and (self.up is None or centre @ self.up > radius + _GAPS[0]):
                self.centres.append(centre)
                self.radii.append(radius)
                return centre
            direction = direction + self.random.normal(0.0, 0.5, 3)
            direction /= np.linalg.norm(direction)
