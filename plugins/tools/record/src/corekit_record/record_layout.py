"""Layout of a results file: dimensions, variables, units and labels, from a composed simulation.

Dimensions follow the result conventions `time, body, frame, dof, input, contact, xyz`. Contacts are a
contiguous ragged array as the CF conventions describe it: `contact_count` says how many entries of the
dimension `contact` belong to each instant. The dimension `step` holds every accepted step, recorded or not: its
solver, its residual and its contact count.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

import corekit
from corekit.data.arrays import IntArray
from corekit.data.contacts import ContactMode
from corekit.data.status import Status
from corekit.roles.body import Body
from corekit.roles.collision_scene import CollisionScene
from corekit.roles.model import Coordinate, Outline
from corekit.simulation.loop import Simulation
from corekit_record.netcdf_file import Variable
from corekit_record.reactions import joint_names, prescribed_entries
from corekit_record.replay_data import shapes_as_text

__all__ = [
    "CONTACT_FIELDS",
    "FORMAT",
    "PARTS",
    "STATUSES",
    "attributes_of",
    "dimensions_of",
    "variables_of",
]

FORMAT = "corekit-results/2"
CONTACT_FIELDS = (
    "id", "shape", "gap", "point", "normal", "tangent", "normal_impulse", "tangential_impulse", "slip", "mode",
    "residual", "moment_impulse",
)  # fmt: skip
"""Of a `ContactRecord`, each the variable `contact_…`."""
PARTS: Mapping[str, tuple[str, ...]] = {
    "inputs": ("inputs",),
    "frames": ("frame_position", "frame_quat_wxyz"),
    "energies": ("kinetic_energy", "potential_energy"),
    "outlines": ("outline", "actuator_line"),
    "reactions": ("joint_force", "joint_torque", "reaction"),
    "contacts": tuple(f"contact_{field}" for field in CONTACT_FIELDS),
}
"""What a scenario may leave out of records (`[output] record`) → its variables."""
STATUSES: tuple[Status, ...] = tuple(Status)
"""Outcomes in the order of their numbers in a file; −1 stands for no solve yet."""


def dimensions_of(simulation: Simulation, outlines: Sequence[Outline]) -> dict[str, int | None]:
    """Return dimension → size, None for those that grow."""
    bodies = simulation.bodies
    sizes: dict[str, int | None] = {
        "time": None,
        "contact": None,
        "step": None,
        "coordinate": sum(body.nq for body in bodies),
        "dof": sum(body.nv for body in bodies),
        "input": sum(body.description.input_size for body in bodies),
        "frame": sum(len(body.description.frames) for body in bodies),
        "body": len(bodies),
        "obstacle": len(simulation.obstacles),
        "shape": sum(len(body.description.shapes) for body in bodies) + len(simulation.obstacles),
        "joint": len(joint_names(simulation)),
        "prescribed": len(prescribed_entries(simulation)),
        "xyz": 3,
        "quat_wxyz": 4,
        "tangential": 2,
        "side": 2,
        "point": sum(len(outline.points) for outline in outlines),
        "polyline": sum(len(outline.starts) for outline in outlines),
        "actuator": sum(len(outline.actuators) for outline in outlines),
        "actuator_point": sum(len(points) for outline in outlines for _, points in outline.actuators),
    }
    # netCDF would read a size of zero as a dimension that grows: nothing of that size is written
    return {name: size for name, size in sizes.items() if size != 0}


def variables_of(
    simulation: Simulation, scene: CollisionScene, outlines: Sequence[Outline], left_out: Collection[str] = ()
) -> list[Variable]:
    """List every variable, without those that would be empty and those of `PARTS` that are left out."""
    absent = {name for part in left_out for name in PARTS[part]}
    sizes = dimensions_of(simulation, outlines)
    bodies = simulation.bodies
    made = [
        Variable("time", ("time",), unit="s", meaning="time"),
        Variable("step_length", ("time",), unit="s", meaning="length of the grid step that ended here"),
        *_labels(simulation, scene),
        _stacked("q", "coordinate", [entry for body in bodies for entry in body.description.coordinates]),
        _stacked("v", "dof", [entry for body in bodies for entry in body.description.velocities]),
        _stacked("inputs", "input", _input_entries(bodies)),
        Variable("frame_position", ("time", "frame", "xyz"), unit="m", meaning="origins of frames, world"),
        Variable(
            "frame_quat_wxyz", ("time", "frame", "quat_wxyz"), unit="1", meaning="rotations of frames, world"
        ),
        Variable("kinetic_energy", ("time", "body"), unit="J", meaning="kinetic energy"),
        Variable("potential_energy", ("time", "body"), unit="J", meaning="potential energy"),
        Variable("obstacle_position", ("time", "obstacle", "xyz"), unit="m", meaning="origins of obstacles"),
        Variable(
            "obstacle_quat_wxyz",
            ("time", "obstacle", "quat_wxyz"),
            unit="1",
            meaning="rotations of obstacles",
        ),
        Variable("joint_force", ("time", "joint", "xyz"), unit="N", meaning="of a joint on its first frame"),
        Variable(
            "joint_torque", ("time", "joint", "xyz"), unit="N·m", meaning="of a joint on its first frame"
        ),
        _stacked("reaction", "prescribed", [Coordinate(*each) for each in prescribed_entries(simulation)]),
        *_solve_variables(),
        *_step_variables(),
        *_contact_variables(simulation),
        *_body_variables(bodies),
        *_outline_variables(outlines),
        *_actuator_variables(bodies, outlines),
    ]
    return [each for each in made if sizes.keys() >= set(each.dimensions) and each.name not in absent]


def attributes_of(simulation: Simulation, title: str, left_out: Collection[str] = ()) -> dict[str, Any]:
    """Return the attributes of the file."""
    solver = simulation.system.solver
    return {
        "Conventions": "CF-1.11",
        "format": FORMAT,
        "title": title,
        "left_out": " ".join(left_out),
        "source": f"corekit {corekit.__version__}",
        "step": simulation.step_length,
        "integrator": simulation.component_name(simulation.integrator),
        "contact_solver": "none" if solver is None else simulation.component_name(solver),
        "obstacle_shapes": shapes_as_text([obstacle.shape for obstacle in simulation.obstacles]),
    }


def _labels(simulation: Simulation, scene: CollisionScene) -> list[Variable]:
    bodies, table = simulation.bodies, scene.table

    def label(dimension: str, names: list[str]) -> Variable:
        return Variable(dimension, (dimension,), "str", values=np.array(names, dtype=object))

    owners = [
        f"{bodies[b].name}.{i - bodies[b].first_shape}" if b >= 0 else simulation.obstacles[o].name
        for i, (b, o) in enumerate(zip(table.body, table.obstacle, strict=True))
    ]
    units = {
        "coordinate": [entry.unit for body in bodies for entry in body.description.coordinates],
        "dof": [entry.unit for body in bodies for entry in body.description.velocities],
        "input": [entry.unit for entry in _input_entries(bodies)],
        "prescribed": [unit for _, unit in prescribed_entries(simulation)],
    }
    return [
        label(
            "coordinate",
            [f"{body.name}.{entry.name}" for body in bodies for entry in body.description.coordinates],
        ),
        label(
            "dof", [f"{body.name}.{entry.name}" for body in bodies for entry in body.description.velocities]
        ),
        label("input", [entry.name for entry in _input_entries(bodies)]),
        label("frame", [f"{body.name}.{name}" for body in bodies for name in body.description.frames]),
        label("body", [body.name for body in bodies]),
        label("obstacle", [obstacle.name for obstacle in simulation.obstacles]),
        label("shape", owners),
        label("joint", joint_names(simulation)),
        label("prescribed", [name for name, _ in prescribed_entries(simulation)]),
        label("xyz", ["x", "y", "z"]),
        label("quat_wxyz", ["w", "x", "y", "z"]),
        *(
            Variable(f"{dimension}_unit", (dimension,), "str", values=np.array(entries, dtype=object))
            for dimension, entries in units.items()
        ),
    ]


def _input_entries(bodies: Sequence[Body]) -> list[Coordinate]:
    return [
        Coordinate(f"{body.name}.{channel.name}{f'[{i}]' if channel.size > 1 else ''}", channel.unit)
        for body in bodies
        for channel in body.description.inputs
        for i in range(channel.size)
    ]


def _stacked(name: str, dimension: str, entries: Sequence[Coordinate]) -> Variable:
    units = {entry.unit for entry in entries}
    unit = units.pop() if len(units) == 1 else f"see {dimension}_unit"
    meaning = {
        "q": "coordinates",
        "v": "velocities",
        "inputs": "inputs at this instant",
        "reaction": "forces on prescribed coordinates",
    }[name]
    about = {"coordinates": f"{dimension}_unit"}
    return Variable(name, ("time", dimension), unit=unit or "1", meaning=meaning, attributes=about)


def _status_flags() -> dict[str, Any]:
    return {
        "flag_values": np.arange(-1, len(STATUSES), dtype="i1"),
        "flag_meanings": " ".join(["no_solve_yet", *(status.name.lower() for status in STATUSES)]),
    }


def _step_variables() -> list[Variable]:
    def each(name: str, meaning: str, unit: str = "1", dtype: str = "i4", **attributes: Any) -> Variable:
        return Variable(f"step_{name}", ("step",), dtype, unit, meaning, attributes=attributes)

    return [
        each("time", "end of every accepted step", "s", "f8"),
        each("status", "outcome of its solve", dtype="i1", **_status_flags()),
        each("answered_by", "who answered it; numbers as in answered_by", dtype="i2"),
        each("iterations", "iterations of its solve"),
        each("residual", "its largest residual", "m/s, N·s or N·m·s", "f8"),
        each("contact_count", "contacts in it"),
    ]


def _solve_variables() -> list[Variable]:
    flags = _status_flags()
    impulse = "m/s or N·s"

    def each(name: str, meaning: str, unit: str = "1", dtype: str = "i4", **attributes: Any) -> Variable:
        return Variable(name, ("time",), dtype, unit, meaning, attributes=attributes)

    return [
        each("status", "outcome of the step's solve", dtype="i1", **flags),
        each("answered_by", "who answered the step's solve", dtype="i2", flag_meanings="no_solve_yet"),
        each("iterations", "iterations of the step's solve"),
        each("integrator_iterations", "iterations of the integrator in the step"),
        each("residual_normal", "residual of the contact condition", impulse, "f8"),
        each("residual_friction", "residual of the friction law", impulse, "f8"),
        each("residual_cone", "violation of the friction bound", "N·s", "f8"),
        each("residual_equation", "residual of the step equation", "N·s or N·m·s", "f8"),
        each("residual_compliance", "normal speed that regularisation lets through", "m/s", "f8"),
        each("steps_since", "steps since the last record"),
        each("unsolved_since", "of these, solves that missed their tolerance"),
        each("iterations_since", "solver iterations since the last record"),
        each("most_iterations_since", "of the longest solve since the last record"),
        each("worst_residual_since", "largest residual since the last record", "m/s, N·s or N·m·s", "f8"),
        each("deepest_penetration_since", "largest −gap since the last record, 0 if apart", "m", "f8"),
    ]


def _contact_variables(simulation: Simulation) -> list[Variable]:
    pipeline = simulation.system.pipeline
    modes = {
        "flag_values": np.array([mode.value for mode in ContactMode], dtype="i1"),
        "flag_meanings": " ".join(mode.name.lower() for mode in ContactMode),
    }

    def each(
        name: str, meaning: str, unit: str, *more: str, dtype: str = "f8", **attributes: Any
    ) -> Variable:
        return Variable(f"contact_{name}", ("contact", *more), dtype, unit, meaning, attributes=attributes)

    count = {"sample_dimension": "contact"}
    moment = "of torsional and rolling friction, about normal, tangent and normal × tangent"
    turns = pipeline is not None and pipeline.areas is not None
    return [
        Variable("contact_count", ("time",), "i4", "1", "contacts at this instant", attributes=count),
        each("id", "feature identity", "1", dtype="i8"),
        each("shape", "index of the two shapes", "1", "side", dtype="i4"),
        each("gap", "signed distance, positive apart", "m"),
        each("point", "contact point, world", "m", "xyz"),
        each("normal", "unit normal into the first shape", "1", "xyz"),
        each("tangent", "first unit tangent", "1", "xyz"),
        each("normal_impulse", "normal impulse over the last grid step, of length step_length", "N·s"),
        each("tangential_impulse", "along tangent and normal × tangent", "N·s", "tangential"),
        each("slip", "relative tangential velocity", "m/s", "tangential"),
        each("mode", "what the contact did", "1", dtype="i1", **modes),
        each("residual", "residual of the contact's conditions", "m/s or N·s"),
        *([each("moment_impulse", moment, "N·m·s", "xyz")] if turns else []),
    ]


def _body_variables(bodies: Sequence[Body]) -> list[Variable]:
    def each(name: str, meaning: str, values: Sequence[Any], dtype: str = "str", unit: str = "") -> Variable:
        kept = np.array(values, dtype=object if dtype == "str" else dtype)
        return Variable(f"body_{name}", ("body",), dtype, unit, meaning, kept)

    return [
        each("model", "class of its model", [type(body.model).__name__ for body in bodies]),
        each("abilities", "of its model", [" ".join(sorted(body.abilities.words)) for body in bodies]),
        each(
            "derivative_error", "relative error of its stiffness and damping",
            [body.description.derivative_error for body in bodies], "f8", "1",
        ),
        each("first_frame", "its first frame", [body.first_frame for body in bodies], "i8", "1"),
        each("shapes", "its collision shapes", [shapes_as_text(body.description.shapes) for body in bodies]),
    ]  # fmt: skip


def _outline_variables(outlines: Sequence[Outline]) -> list[Variable]:
    """The polylines of all bodies in one variable: a variable a body takes a time that grows with their square."""
    first = _first_points(outlines)
    radius = np.concatenate([np.zeros(0), *(np.asarray(each.radius, dtype=float) for each in outlines)])
    starts = [begin + np.asarray(each.starts) for begin, each in zip(first, outlines, strict=True)]
    index = {"dtype": "i8", "unit": "1"}
    return [
        Variable("outline", ("time", "point", "xyz"), "f4", "m", "points of the drawn polylines"),
        Variable("outline_radius", ("point",), "f8", "m", "of the drawn tube", radius),
        Variable("body_first_point", ("body",), meaning="first point of its outline", values=first, **index),
        Variable(
            "polyline_start", ("polyline",), meaning="its first point",
            values=np.concatenate([np.zeros(0, dtype=np.int64), *starts]), **index,
        ),
    ]  # fmt: skip


def _actuator_variables(bodies: Sequence[Body], outlines: Sequence[Outline]) -> list[Variable]:
    lines = [(body, *line) for body, made in zip(bodies, outlines, strict=True) for line in made.actuators]
    names = np.array([f"{body.name}.{name}" for body, name, _ in lines], dtype=object)
    first = np.cumsum([0, *(len(points) for _, _, points in lines)], dtype=np.int64)[:-1]
    return [
        Variable("actuator", ("actuator",), "str", values=names),
        Variable("actuator_first_point", ("actuator",), "i8", "1", "first point of its line", first),
        Variable("actuator_line", ("time", "actuator_point", "xyz"), "f4", "m", "cables, chambers, muscles"),
    ]


def _first_points(outlines: Sequence[Outline]) -> IntArray:
    """Return where the points of each outline begin among those of all."""
    sizes = [len(outline.points) for outline in outlines]
    return np.cumsum([0, *sizes[:-1]], dtype=np.int64)[: len(sizes)]
