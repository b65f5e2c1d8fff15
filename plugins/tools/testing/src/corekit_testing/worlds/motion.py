"""How a world moves, and by how much its motion changes if every step is a little wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import frozen

from corekit.scenario.load import from_document
from corekit.simulation.loop import Simulation
from corekit_testing.rounding import rounding
from corekit_testing.worlds.drawing import World
from corekit_testing.worlds.images import Image

__all__ = ["Comparison", "Motion", "compare", "motion"]

Array = np.ndarray[Any, Any]
_NOISE = 1e-9
"""What a step of a disturbed motion adds to velocities, relative to 1 + the largest of a unit; as tolerances are."""
_TIMES = 30.0
"""Noise of two motions adds up, and random noise may miss the direction that grows most: of 24 velocities it has a
fifth of itself along one."""
_RUNS = 2
_AXES = np.diag([1.0, 2.0, 3.0])


@frozen
class Motion:
    """Frames of all bodies by name after every step.

    Args:
        positions: of their origins [m], shape (steps, 3) each.
        axes: R·diag(1, 2, 3)·Rᵀ of their rotations R, the same for a frame and its mirror image, (steps, 3, 3) each.
        touched: whether any contact carried something.
    """

    positions: dict[str, Array]
    axes: dict[str, Array]
    touched: bool


def motion(simulation: Simulation, steps: int, noise: np.random.Generator | None = None) -> Motion:
    """Step a simulation from its start, with velocities disturbed after every step if there is noise."""
    names = [f"{body.name}.{frame}" for body in simulation.bodies for frame in body.description.frames]
    positions, axes, touched = [], [], False
    for _ in range(steps):
        simulation.step()
        frames = [simulation.frame(name) for name in names]
        positions.append([frame.position for frame in frames])
        axes.append([frame.rotation @ _AXES @ frame.rotation.T for frame in frames])
        touched = touched or bool(simulation.contacts().normal_impulse.any())
        if noise is not None:
            _disturb(simulation, noise)
    at, turned = ({name: np.array(each)[:, i] for i, name in enumerate(names)} for each in (positions, axes))
    return Motion(at, turned, touched)


def _disturb(simulation: Simulation, noise: np.random.Generator) -> None:
    """Add noise to velocities, relative to 1 + the largest of the same unit in the world."""
    units = np.array([each.unit for body in simulation.bodies for each in body.description.velocities])
    for unit in np.unique(units):
        speeds = simulation.state.v[units == unit]
        simulation.state.v[units == unit] += (
            _NOISE * (1.0 + np.abs(speeds).max()) * noise.uniform(-1.0, 1.0, len(speeds))
        )


@frozen
class Comparison:
    """How far the motion of an image is from where the first world says, and how far it may be.

    Args:
        difference: largest one of positions [m], and of axes.
        bound: the largest one allowed of each.
        touched: whether any contact of the first world carried something.
    """

    difference: tuple[float, float]
    bound: tuple[float, float]
    touched: bool

    @property
    def excess(self) -> float:
        """Largest ratio of a difference to its bound: above 1 the image moves otherwise."""
        return max(one / most for one, most in zip(self.difference, self.bound, strict=True))


def compare(world: World, image: Image, steps: int) -> Comparison:
    """Compare the motions of a world and of its image.

    What each of them may miss is what its solvers leave and what arithmetic rounds, in every step anew. How a world
    amplifies that is measured in the same world: its velocities are disturbed after every step, by far more, and the
    motion differs by d from the undisturbed one. The image may differ by `_TIMES`·d.
    """
    simulation = from_document(world, allow_code=True).compose()
    here = motion(simulation, steps)
    there = motion(from_document(image.world, allow_code=True).compose(), steps)
    disturbed = []
    for seed in range(_RUNS):
        simulation.reset()
        disturbed.append(motion(simulation, steps, np.random.default_rng(seed)))
    names = list(here.positions)
    expected = {name: image.length * (here.positions[name] @ image.map.T + image.shift) for name in names}
    axes = {name: image.map @ here.axes[name] @ image.map.T for name in names}
    moved = max(_largest(here.positions, other.positions) for other in disturbed)
    turned = max(_largest(here.axes, other.axes) for other in disturbed)
    reach = max(float(np.abs(each).max()) for each in here.positions.values())
    return Comparison(
        (_largest(expected, there.positions) / image.length, _largest(axes, there.axes)),
        (_TIMES * moved + rounding(64, reach), _TIMES * turned + rounding(64, 3.0)),
        here.touched,
    )


def _largest(one: dict[str, Array], other: dict[str, Array]) -> float:
    return max(float(np.abs(one[name] - other[name]).max()) for name in one)
