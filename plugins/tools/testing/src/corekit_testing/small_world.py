"""A simulation put together from built components, without scenario, registry or files: for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from corekit.data.arrays import Array
from corekit.data.signals import Constant, Signal
from corekit.geometry.shapes import Shape
from corekit.roles.body import stack_bodies
from corekit.roles.collision_scene import CollisionScene
from corekit.roles.component import Component
from corekit.roles.contact import ContactSolver
from corekit.roles.detector import ContactDetector
from corekit.roles.integrator import Integrator
from corekit.roles.model import Model
from corekit.roles.obstacles import Obstacle
from corekit.roles.surface_pairs import friction_table
from corekit.roles.world import ContactSpec, Stabilisation, WorldSpec
from corekit.scenario.engines import make_world
from corekit.simulation.loop import Simulation

__all__ = ["MODEL_ABILITIES", "floor", "small_world", "sphere"]

MODEL_ABILITIES = frozenset(
    {"point-jacobian", "force-derivatives", "constraints", "bounded-constraints", "energy", "force-terms"}
)
"""What both reference models offer; `small_world` adds `prescribed` where coordinates are."""


def floor(
    position: Sequence[float] | Signal = (0.0, 0.0, 0.0),
    rpy: Sequence[float] = (0.0, 0.0, 0.0),
    friction: float | None = None,
) -> Obstacle:
    """A half-space; `position` [m] may be a signal, roll, pitch and yaw [rad] stay."""
    return _obstacle("floor", Shape("half-space", ()), position, rpy, friction)


def sphere(
    radius: float, position: Sequence[float] | Signal = (0.0, 0.0, 0.0), friction: float | None = None
) -> Obstacle:
    """A ball of the surroundings."""
    return _obstacle("sphere", Shape("sphere", (radius,)), position, (0.0, 0.0, 0.0), friction)


def _obstacle(
    name: str,
    shape: Shape,
    position: Sequence[float] | Signal,
    rpy: Sequence[float],
    friction: float | None,
) -> Obstacle:
    place = position if isinstance(position, Signal) else Constant(tuple(position))
    turn = Constant(tuple(rpy))
    return Obstacle(name=name, shape=shape, position=place, rotation_rpy=turn, friction=friction)


def _offered(model: Model, abilities: frozenset[str]) -> frozenset[str]:
    return abilities | {"prescribed"} if len(model.description.prescribed_velocity_index) else abilities


def small_world(
    models: Mapping[str, Model],
    integrator: Integrator,
    *,
    step: float,
    solver: ContactSolver | None = None,
    detector: ContactDetector | None = None,
    obstacles: Sequence[Obstacle] = (),
    friction: float = 0.0,
    stabilisation: Stabilisation | None = None,
    margin: float = 1e-3,
    inputs: Mapping[str, Mapping[str, Signal]] | None = None,
    abilities: frozenset[str] = MODEL_ABILITIES,
    start_time: float = 0.0,
) -> Simulation:
    """The simulation at its models' rest states, prescribed coordinates on their path.

    Args:
        models: body name → model.
        integrator: built with the same step.
        step: h [s].
        solver, detector: contact needs both; a solver alone still holds bounded rows.
        obstacles: the surroundings.
        friction: μ of every pair that has no own value.
        stabilisation: of the contact gaps; None: the scenario file's default.
        margin: gap up to which contacts are always found [m].
        inputs: body name → channel → signal.
        abilities: of every model.
        start_time: t₀ [s].
    """
    given = inputs or {}
    bodies = stack_bodies(
        [
            (name, model, _offered(model, abilities), given.get(name, {}), None)
            for name, model in models.items()
        ]
    )
    planes = [body.description.plane for body in bodies]
    plane: Array | None = planes[0]
    if any(other is None or plane is None or not np.allclose(other, plane) for other in planes):
        plane = None
    contact = None
    if solver is not None and detector is not None:
        scene = CollisionScene(bodies, obstacles)
        contact = ContactSpec(
            scene=scene,
            detectors=[detector],
            friction=friction_table(scene, bodies, obstacles, {}, friction),
            stabilisation=stabilisation or Stabilisation(),
            margin=margin,
        )
    spec = WorldSpec(bodies=bodies, obstacles=obstacles, contact=contact, solver=solver, plane=plane)
    system = make_world(spec)
    components: dict[str, Component] = {f"bodies.{name}": model for name, model in models.items()}
    components["integrator"] = integrator
    if solver is not None:
        components["contact.solver"] = solver
    if detector is not None:
        components["contact.detector"] = detector
    simulation = Simulation(system, integrator, obstacles, step, components, start_time)
    for part, state in zip(system.terms.bodies, simulation.state.body_states, strict=True):
        part.body.model.compute_initial_state(None, state)
        part.motion.impose(state, start_time)
    return simulation
