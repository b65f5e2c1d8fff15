"""A mass on a spring with closed-form solutions, as a task of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

import casadi as ca
import numpy as np

from corekit.data.state import State
from corekit.geometry.frames import Pose
from corekit.geometry.shapes import Shape
from corekit.linalg.matrices import Diagonal
from corekit.roles.estimator import EstimationTask, KnownObstacle
from corekit.roles.model import Channel, Coordinate, Model, ModelDescription, Outline
from corekit.roles.options import ComponentRef
from corekit.roles.symbolic import SymbolicParameter
from corekit_fit.config import IpoptFitConfig, Markers, Parameter
from corekit_fit.ipopt_fit import IpoptFit

OWN = {"mass": 2.0, "stiffness": 50.0, "damping": 1.5, "colour": 3.0}
"""m [kg], k [N/m], c [N·s/m], and an option without effect."""


Stiffening = Callable[[Any], Any]
"""What the colour adds to k [N/m]."""


def no_stiffening(colour: Any) -> Any:
    return 0.0 * colour


@final
class SymbolicSpring:
    """m·z̈ = u − k·z − c·ż as expressions."""

    def __init__(self, values: Mapping[str, Any], stiffening: Stiffening) -> None:
        self.values, self._stiffening = dict(values), stiffening

    @property
    def parameters(self) -> dict[str, SymbolicParameter]:
        units = {"mass": "kg", "stiffness": "N/m", "damping": "N·s/m", "colour": ""}
        return {name: SymbolicParameter(unit, OWN[name]) for name, unit in units.items()}

    def with_parameters(self, values: Mapping[str, Any]) -> SymbolicSpring:
        return SymbolicSpring({**self.values, **values}, self._stiffening)

    def mass(self, q: Any) -> Any:
        return self.values["mass"] + 0.0 * q

    def force(self, q: Any, v: Any, inputs: Any) -> Any:
        stiffness = self.values["stiffness"] + self._stiffening(self.values["colour"])
        return inputs - stiffness * q - self.values["damping"] * v

    def kinetic_energy(self, q: Any, v: Any) -> Any:
        return 0.5 * self.values["mass"] * v**2

    def point(self, q: Any, frame: int, local: Any) -> Any:
        return ca.vertcat(0.0, 0.0, q) + local


@final
class Spring(Model):
    """A mass that moves along z; its input is a force."""

    def __init__(self, stiffening: Stiffening = no_stiffening) -> None:
        self._stiffening = stiffening

    @property
    def description(self) -> ModelDescription:
        return ModelDescription(
            coordinates=(Coordinate("z", "m"),), velocities=(Coordinate("vz", "m/s"),),
            inputs=(Channel("force", "N"),), frames=("mass",),
        )  # fmt: skip

    def compute_initial_state(self, initial: Any, out: State) -> None:
        out.q[:] = 0.1

    def new_mass_matrix(self) -> Diagonal:
        return Diagonal(1)

    def compute_mass_and_force(self, state: State, inputs: Any, mass: Any, force: Any) -> None:
        mass.data[:] = OWN["mass"]
        force[:] = inputs - OWN["stiffness"] * state.q - OWN["damping"] * state.v

    def integrate(self, start: State, velocity: Any, step: float, previous: State, out: State) -> None:
        out.q[:] = start.q + step * velocity

    def compute_frame_poses(self, state: State, position: Any, rotation: Any) -> None:
        position[:] = [[0.0, 0.0, state.q[0]]]
        rotation[:] = np.eye(3)

    def compute_outline(self, state: State) -> Outline:
        return Outline(points=np.array([[0.0, 0.0, 0.0], [0.0, 0.0, state.q[0]]]), radius=np.full(2, 0.01))

    def symbolic(self) -> SymbolicSpring:
        return SymbolicSpring(OWN, self._stiffening)


def no_rest(_inputs: Any, _near: State, _time: float) -> State:
    raise AssertionError("a fit of motion needs no equilibrium")


def no_run(*_: Any) -> Any:
    """Fail: nothing here is simulated."""
    raise AssertionError("a fit of equations needs no simulation")


def spring_task(
    step: float = 0.02,
    force: float = 0.0,
    floor: float | None = None,
    folder: Path | None = None,
    stiffening: Stiffening = no_stiffening,
) -> EstimationTask:
    """Return the task of the spring, optionally above a floor at the height `floor`; its one change is the force."""
    start = State.zeros(1, 1)
    start.q[:] = 0.1
    obstacles = ()
    if floor is not None:
        pose = Pose(np.array([0.0, 0.0, floor]))
        obstacles = (KnownObstacle("floor", Shape("half-space", ()), lambda _time: pose),)
    return EstimationTask(
        body="spring", model=Spring(stiffening), abilities=frozenset({"symbolic", "symbolic-parameters"}), start=start,
        step=step, duration=1.0,
        integrator=ComponentRef("semi-implicit-euler", {"beta": 0.5}),
        inputs=lambda _time: np.array([force]), obstacles=obstacles, find_equilibrium=no_rest, simulate=no_run,
        differentiate=no_run, minimise=no_run,
        with_changes=lambda changes: spring_task(step, float(changes[0]), floor, folder, stiffening),
        folder=folder,
    )  # fmt: skip


def fitted(task: EstimationTask, file: Path, parameters: Sequence[Parameter], **options: Any) -> Any:
    """Return the estimate and the solve information of a fit."""
    markers = Markers(file=file, deviation=options.pop("deviation", 1e-3))
    return observed(task, parameters, markers=markers, **options)


def observed(task: EstimationTask, parameters: Sequence[Parameter], **options: Any) -> Any:
    """Return the estimate and the solve information of a fit whose options say what was observed."""
    config = IpoptFitConfig(parameters=tuple(parameters), **options)
    return IpoptFit(config).estimate(task, lambda _numbers: None)
