"""A run for ParaView: one poly data over time in the VTKHDF format, version 2.0, written by h5py.

Cells are the triangles of all parts, with `owner` (an index into the field `owners`), and a vertex a contact. Point
data: `force` [N], the mean contact force on the first of the two, zero elsewhere, its length `magnitude`, and `mode`,
−1 elsewhere. In ParaView the filter Glyph, scaled by `force`, draws it.
Source: VTK documentation, "VTKHDF File Format".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.roles.viewer import ContactTrack
from corekit_export.scene import Scene, faces_of, points_at

__all__ = ["write_vtkhdf"]


def write_vtkhdf(scene: Scene, path: Path) -> None:
    """Write a scene with its contacts."""
    import h5py

    faces, owners = faces_of(scene.parts)
    corners = sum(len(part.mesh.vertices) for part in scene.parts)
    contacts = scene.replay.contacts
    counts = np.array([len(each.point) for each in contacts], dtype=np.int64)
    steps = len(scene.time)
    points = np.concatenate(
        [
            each
            for k in range(steps)
            for each in (*(points_at(part, k) for part in scene.parts), contacts[k].point)
        ]
        or [np.zeros((0, 3))]
    )
    point_first = np.concatenate([[0], np.cumsum(corners + counts)])[:-1]
    contact_first = np.concatenate([[0], np.cumsum(counts)])[:-1]
    with h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = np.array([2, 0], dtype=np.int64)
        root.attrs.create("Type", b"PolyData", dtype=h5py.string_dtype("ascii", len("PolyData")))
        root["NumberOfPoints"] = corners + counts
        _write(root, "Points", points.astype(np.float32))
        empty = np.zeros(0, dtype=np.int64)
        # contacts stand behind the corners of their instant
        vertices = [corners + np.arange(count) for count in counts]
        _write_cells(root, "Vertices", np.concatenate(vertices or [empty]), counts, 1)
        _write_cells(root, "Polygons", np.tile(faces.ravel(), steps), np.full(steps, len(faces)), 3)
        for name in ("Lines", "Strips"):
            _write_cells(root, name, empty, np.zeros(steps, dtype=np.int64), 1)
        data = {name: _at_points(contacts, corners, name) for name in ("force", "magnitude", "mode")}
        for name, values in data.items():
            _write(root, f"PointData/{name}", values.astype(np.float32))
        # cells are counted vertices first, then polygons
        per_step = [np.concatenate([np.full(count, -1), owners]) for count in counts]
        _write(root, "CellData/owner", np.concatenate(per_step or [empty]).astype(np.int32))
        names = [name.encode("ascii", "backslashreplace") for name in scene.owners]
        root.create_dataset("FieldData/owners", data=names, dtype=h5py.string_dtype("ascii"))
        group = root.create_group("Steps")
        group.attrs["NSteps"] = steps
        group["Values"] = scene.time
        group["PartOffsets"] = np.arange(steps)
        group["NumberOfParts"] = np.ones(steps, dtype=np.int64)
        group["PointOffsets"] = point_first
        zero = np.zeros(steps, dtype=np.int64)
        triangle_first = len(faces) * np.arange(steps)
        group["CellOffsets"] = np.stack([contact_first, zero, triangle_first, zero], axis=1)
        group["ConnectivityIdOffsets"] = np.stack([contact_first, zero, 3 * triangle_first, zero], axis=1)
        for name in data:
            group[f"PointDataOffsets/{name}"] = point_first
        group["CellDataOffsets/owner"] = np.concatenate([[0], np.cumsum(counts + len(faces))])[:-1]
        group["FieldDataOffsets/owners"] = zero
        group["FieldDataSizes/owners"] = np.tile([1, len(scene.owners)], (steps, 1))


def _write_cells(root: Any, name: str, connectivity: IntArray, counts: IntArray, corners: int) -> None:
    """Write the cells of a kind: of each entry of `counts` one piece, whose offsets begin at 0."""
    group = root.create_group(name)
    offsets = np.concatenate([corners * np.arange(count + 1) for count in counts])
    for key, values in (
        ("Connectivity", connectivity), ("NumberOfCells", counts), ("NumberOfConnectivityIds", corners * counts),
        ("Offsets", offsets),
    ):  # fmt: skip
        _write(group, key, values.astype(np.int64))


def _write(group: Any, name: str, values: np.ndarray[Any, Any]) -> None:
    """Write an array, packed where it is large: the same numbers come again and again."""
    packed = {"compression": "gzip", "compression_opts": 2, "shuffle": True} if len(values) > 4096 else {}
    group.create_dataset(name, data=values, **packed)


def _at_points(contacts: tuple[ContactTrack, ...], corners: int, name: str) -> Array:
    """Return a quantity at the points of every instant: zero at corners of parts."""
    rows = []
    for track in contacts:
        if name == "force":
            rows += [np.zeros((corners, 3)), track.force]
        elif name == "magnitude":
            rows += [np.zeros(corners), np.linalg.norm(track.force, axis=1)]
        else:
            rows += [np.full(corners, -1.0), track.mode.astype(float)]
    return np.concatenate(rows) if rows else np.zeros(0)
