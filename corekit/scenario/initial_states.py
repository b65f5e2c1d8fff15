"""Where a world begins: every body's initial state, and mounted bodies in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from corekit.data.state import State
from corekit.errors import CompositionError, ConfigError, Mistake
from corekit.geometry.frames import Pose
from corekit.registry.resolve import load_target
from corekit.registry.spec import ComponentSpec
from corekit.roles.body import Body, frame_state
from corekit.roles.joint import BodyFrame, Joint
from corekit.roles.obstacles import GivenMotion
from corekit.roles.world_terms import BodyTerms
from corekit.scenario.component_selection import read_options
from corekit.scenario.joints import base_pose
from corekit.scenario.schema import Body as BodyTable
from corekit.scenario.schema import ScenarioTables
from corekit.simulation.loop import Simulation

__all__ = ["enforce_prescribed", "initialise", "read_initials"]

_SAME = 1e-6
"""Poses or twists, in SI units, that differ less are one: a file may repeat a start in the digits of a result."""


def read_initials(scenario: ScenarioTables, models: Mapping[str, ComponentSpec]) -> dict[str, Any]:
    """Return the options of every body's initial state by its name, None for the rest state."""
    initials: dict[str, Any] = {}
    for table in scenario.bodies:
        spec, path, initials[table.name] = models[table.name], f"bodies.{table.name}.initial", None
        if table.initial:
            if spec.initial is None:
                raise CompositionError(f"{path}: the model {spec.name!r} takes no initial table")
            initials[table.name] = read_options(load_target(spec.initial), table.initial, path)
    return initials


def initialise(
    simulation: Simulation,
    scenario: ScenarioTables,
    initials: Mapping[str, Any],
    joints: Sequence[Joint],
) -> None:
    """Write every body's initial state, prescribed coordinates on their path and mounted bodies in their place.

    Raises:
        ConfigError: an initial state that the model refuses, or of which the run would take no notice.
    """
    for part, state, table in zip(
        simulation.system.terms.bodies, simulation.state.body_states, scenario.bodies, strict=True
    ):
        initial = initials[table.name]
        try:
            part.body.model.compute_initial_state(initial, state)
        except ValueError as error:
            raise _refused(table, str(error)) from error
        if initial is not None and scenario.start == "equilibrium":
            _refuse_speed(part.body, state, table)
        enforce_prescribed(part, state)
    moved = {table.name for table in scenario.bodies if initials[table.name] is not None}
    _place_mounted(scenario, simulation.bodies, joints, simulation.state, moved)
    simulation.system.hold_joints(simulation.state)


def enforce_prescribed(part: BodyTerms, state: State) -> None:
    """Set prescribed coordinates and reparametrise, as after a step to t = 0."""
    part.motion.impose(state, 0.0)
    part.reparametrise(state)


def _place_mounted(
    scenario: ScenarioTables, bodies: Sequence[Body], joints: Sequence[Joint], state: State, moved: set[str]
) -> None:
    """Write pose and twist of every moving base into a world state, those of carriers first.

    Args:
        moved: names of the bodies whose scenario gives an initial state.
    Raises:
        CompositionError: bodies that carry each other.
        ConfigError: an initial state that moves a base which is carried.
    """
    welds = {
        joint.first.body.name: joint for joint in joints if joint.name == f"{joint.first.body.name}.base"
    }
    tables = {table.name: table for table in scenario.bodies}
    placed: set[str] = set()

    def place(name: str, carried: tuple[str, ...]) -> None:
        if name in carried:
            around = " on ".join((*carried[carried.index(name) :], name))
            raise CompositionError(f"bodies are mounted in a circle: {around}")
        if name in placed or name not in welds:
            return
        placed.add(name)
        weld = welds[name]
        own = weld.first.body
        if isinstance(weld.second, BodyFrame):
            place(weld.second.body.name, (*carried, name))
        if name in moved:
            _refuse_moved_base(own, state.body_states[own.index], tables[name])
        position, rotation, velocity, spin = _motion_of(weld.second, state)
        offset = Pose() if tables[name].base.mount is None else base_pose(tables[name].base)
        arm = rotation @ offset.position
        base = own.abilities.free_base
        assert base is not None  # selection refuses to mount others
        base.place_base(
            state.body_states[own.index],
            position + arm,
            rotation @ offset.rotation,
            velocity + np.cross(spin, arm),
            spin,
        )

    for body in bodies:
        place(body.name, ())


def _motion_of(carrier: BodyFrame | GivenMotion, state: State) -> tuple[np.ndarray, ...]:
    """Return position, rotation, velocity and angular velocity of a carrier at a world state."""
    if isinstance(carrier, BodyFrame):
        body = carrier.body
        frame = frame_state(body, state.body_states[body.index], carrier.frame)
        return frame.position, frame.rotation, frame.velocity, frame.angular_velocity
    position, rotation = np.zeros(3), np.zeros((3, 3))
    carrier.place(state.time, position, rotation)
    return (position, rotation, *carrier.twist(state.time))


def _refuse_moved_base(body: Body, state: State, table: BodyTable) -> None:
    """Refuse an initial state that moves the base away from where it rests: its carrier would decide it again."""
    given, rest = (frame_state(body, each, 0) for each in (state, _rest_state(body)))
    for name in ("position", "rotation", "velocity", "angular_velocity"):
        if not np.allclose(getattr(given, name), getattr(rest, name), rtol=_SAME, atol=_SAME):
            carrier = "`base.mount`" if table.base.mount is not None else "the signal in `base`"
            raise _refused(
                table, f"must leave the {name.replace('_', ' ')} of the base out, which {carrier} decides"
            )


def _refuse_speed(body: Body, state: State, table: BodyTable) -> None:
    rest = _rest_state(body).v
    # a body whose shape moves by itself has velocities wherever it is
    if not rest.any() and np.max(np.abs(state.v), initial=0.0) > _SAME:
        raise _refused(table, 'must leave velocities out: `start = "equilibrium"` begins at rest')


def _rest_state(body: Body) -> State:
    own = body.description
    rest = State.zeros(len(own.coordinates), len(own.velocities), own.aux)
    body.model.compute_initial_state(None, rest)
    return rest


def _refused(table: BodyTable, reason: str) -> ConfigError:
    path = f"bodies.{table.name}.initial"
    return ConfigError([Mistake(path, dict(table.initial or {}), reason)], path)
