"""References to files in a scenario's table, replaced by what the files hold.

    [[world.obstacles]]                            [bodies.options]              # of `rigid`
    name = "ramp"                                  mesh = { file = "part.stl", units = "mm" }
    mesh = { file = "ramp.stl" }                   density = 1200.0

An obstacle becomes a polytope, or one for each convex piece: `ramp-1`, `ramp-2` …, each with what is said of `ramp`,
pairs with others included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from corekit.data.arrays import Array
from corekit.errors import Mistake
from corekit.scenario.error_text import shown
from corekit.scenario.structure import structure
from corekit_import.mesh_source import ImportProblem, MeshSource
from corekit_import.robot_source import RobotSource

__all__ = ["expand"]

_WATER = 1000.0


def expand(document: dict[str, Any], folder: Path | None, mistakes: list[Mistake]) -> None:
    """Put what files hold in the place of their names, in the table of a scenario.

    Args:
        document: is changed.
        folder: where relative paths begin; the working directory if None.
        mistakes: gets what is wrong with the references and the files.
    """
    world = document.get("world")
    if isinstance(world, dict) and isinstance(world.get("obstacles"), list):
        _expand_obstacles(document, world, folder, mistakes)
    for i, body in _tables(document.get("bodies")):
        options = body.get("options")
        if not isinstance(options, dict):
            continue
        path = f"bodies[{i}].options"
        if body.get("use") == "rigid" and "mesh" in options:
            _expand_rigid(options, path, folder, mistakes)
        if body.get("use") == "gvs" and "robot" in options:
            _expand_robot(options, path, folder, mistakes)


def _tables(entries: object) -> Iterator[tuple[int, dict[str, Any]]]:
    listed = entries if isinstance(entries, list) else []
    return ((i, entry) for i, entry in enumerate(listed) if isinstance(entry, dict))


def _solid(
    table: dict[str, Any], path: str, folder: Path | None, mistakes: list[Mistake], *, weighs: bool = False
) -> Any:
    """The solid that `mesh` of a table names, which is removed; None after a mistake."""
    given = table.pop("mesh")
    source = structure(MeshSource, given, f"{path}.mesh", mistakes, directory=folder)
    if source is None:
        return None
    from corekit_import.mesh import read_solid

    try:
        return read_solid(source, weighs=weighs)
    except ImportProblem as problem:
        mistakes.append(Mistake(f"{path}.mesh.file", given["file"], problem.allowed, problem.hint))
        return None


def _refuse_beside(table: dict[str, Any], keys: Iterable[str], path: str, mistakes: list[Mistake]) -> None:
    """Refuse what a mesh gives itself, and remove it."""
    said = "must be left out beside `mesh`"
    mistakes.extend(Mistake(f"{path}.{key}", shown(table.pop(key)), said) for key in keys if key in table)


def _expand_obstacles(
    document: dict[str, Any], world: dict[str, Any], folder: Path | None, mistakes: list[Mistake]
) -> None:
    out: list[Any] = []
    renamed: dict[str, list[str]] = {}
    for i, obstacle in enumerate(world["obstacles"]):
        if not isinstance(obstacle, dict) or "mesh" not in obstacle:
            out.append(obstacle)
            continue
        path = f"world.obstacles[{i}]"
        _refuse_beside(obstacle, ("shape", "size", "vertices"), path, mistakes)
        solid = _solid(obstacle, path, folder, mistakes)
        pieces = [_points(piece) for piece in solid.pieces] if solid is not None else [_ANY]
        name = obstacle.get("name")
        if not isinstance(name, str):  # a mistake, which is found later
            out.append({**obstacle, "shape": "polytope", "vertices": pieces[0]})
            continue
        names = [name] if len(pieces) == 1 else [f"{name}-{k + 1}" for k in range(len(pieces))]
        renamed[name] = names
        for each, vertices in zip(names, pieces, strict=True):
            out.append({**obstacle, "name": each, "shape": "polytope", "vertices": vertices})
    world["obstacles"] = out
    _spread_pairs(world, "friction", renamed)
    contact = document.get("contact")
    impact = contact.get("impact") if isinstance(contact, dict) else None
    if isinstance(impact, dict):
        _spread_pairs(impact, "pairs", renamed)


_ANY = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
"""Stands for a mesh with mistakes, so that the other entries of its obstacle are still checked."""


def _spread_pairs(table: dict[str, Any], key: str, renamed: dict[str, list[str]]) -> None:
    """Repeat a pair with an obstacle of several pieces for each of them."""
    if not isinstance(table.get(key), list):
        return
    out: list[Any] = []
    for pair in table[key]:
        between = pair.get("between") if isinstance(pair, dict) else None
        if not isinstance(between, list) or not all(isinstance(name, str) for name in between):
            out.append(pair)
            continue
        groups = product(*(renamed.get(name, [name]) for name in between))
        out.extend({**pair, "between": list(names)} for names in groups)
    table[key] = out


def _expand_rigid(options: dict[str, Any], path: str, folder: Path | None, mistakes: list[Mistake]) -> None:
    """Shape, mass, centre of mass and inertia of a rigid body."""
    _refuse_beside(options, ("shape", "size", "vertices", "pieces"), path, mistakes)
    solid = _solid(options, path, folder, mistakes, weighs=options.get("centre_of_mass") is None)
    if solid is None:
        return
    pieces = [_points(piece) for piece in solid.pieces]
    if len(pieces) == 1:
        options |= {"shape": "polytope", "vertices": pieces[0]}
    else:
        options |= {"shape": "polytopes", "pieces": pieces}
    given = {key: options.get(key) for key in ("mass", "density", "inertia", "centre_of_mass")}
    numbers = all(given[key] is None or _is_positive(given[key]) for key in ("mass", "density"))
    if not numbers or (given["mass"] is not None and given["density"] is not None):
        return  # the model says what is wrong
    if given["inertia"] is not None:
        if given["centre_of_mass"] is None:
            options["centre_of_mass"] = solid.centre.tolist()
        return
    if given["centre_of_mass"] is not None:
        return
    density = given["density"] if given["density"] is not None else _WATER
    mass = given["mass"] if given["mass"] is not None else density * solid.volume
    inertia = solid.of_mass(mass)
    options.pop("density", None)
    options["mass"] = float(mass)
    options["centre_of_mass"] = solid.centre.tolist()
    options["inertia"] = [float(inertia[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]


def _expand_robot(options: dict[str, Any], path: str, folder: Path | None, mistakes: list[Mistake]) -> None:
    """The links of a robot, before those that the scenario gives itself."""
    given = options.pop("robot")
    own = options.get("links", [])
    source = structure(RobotSource, given, f"{path}.robot", mistakes, directory=folder)
    found: list[dict[str, Any]] = []
    if source is not None:
        from corekit_import.read_robot import read_robot

        found = read_robot(source, f"{path}.robot.file", str(given["file"]), mistakes)
    options["links"] = [*found, *own] if isinstance(own, list) else own
    if not options["links"]:
        del options["links"]  # a mistake was found, and links that the file carries are no further one


def _is_positive(value: object) -> bool:
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and np.isfinite(value) and value > 0
    )


def _points(vertices: Array) -> list[list[float]]:
    return np.asarray(vertices, dtype=float).tolist()
