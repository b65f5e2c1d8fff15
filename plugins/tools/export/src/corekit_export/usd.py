"""The motion of a run as a USD stage, by Pixar's usd-core: for Omniverse, Isaac Sim, Houdini and usdview.

Metres, z up, time codes in seconds · 1000, so that every instant of the records is a time code of its own.
"""

from __future__ import annotations

import re
from pathlib import Path

from corekit_export.colours import colour_of
from corekit_export.scene import Scene

__all__ = ["write_usd"]

_CODES_PER_SECOND = 1000.0


def write_usd(scene: Scene, path: Path) -> None:
    """Write the parts of a scene and how they move."""
    from pxr import Gf, Usd, UsdGeom, Vt

    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(_CODES_PER_SECOND)
    codes = [float(time) * _CODES_PER_SECOND for time in scene.time]
    stage.SetStartTimeCode(codes[0])
    stage.SetEndTimeCode(codes[-1])
    root = UsdGeom.Xform.Define(stage, "/" + _identifier(scene.title))
    stage.SetDefaultPrim(root.GetPrim())
    root.GetPrim().SetDisplayName(scene.title)
    taken: set[str] = set()
    for part in scene.parts:
        place = _unique(
            f"{root.GetPath()}/{_identifier(scene.owners[part.owner])}/{_identifier(part.name)}", taken
        )
        mesh = UsdGeom.Mesh.Define(stage, place)
        mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(part.mesh.vertices.astype("f4")))
        mesh.CreateFaceVertexCountsAttr([3] * len(part.mesh.faces))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(part.mesh.faces.astype("i4").ravel()))
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreateDoubleSidedAttr(True)
        mesh.CreateDisplayColorAttr([Gf.Vec3f(*colour_of(scene, part.owner))])
        move = mesh.AddTranslateOp(UsdGeom.XformOp.PrecisionDouble)
        turn, stretch = mesh.AddOrientOp(), mesh.AddScaleOp()
        for track, op, made in (
            (part.position, move, lambda row: Gf.Vec3d(*row)), (part.quat_wxyz, turn, lambda row: Gf.Quatf(*row)),
            (part.scale, stretch, lambda row: Gf.Vec3f(*row)),
        ):  # fmt: skip
            rows = track.tolist()
            if not (track != track[0]).any():
                op.Set(made(rows[0]))
                continue
            for code, row in zip(codes, rows, strict=True):
                op.Set(made(row), code)
    stage.GetRootLayer().Export(str(path))


def _identifier(name: str) -> str:
    word = re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"
    return f"_{word}" if word[0].isdigit() else word


def _unique(path: str, taken: set[str]) -> str:
    found, count = path, 1
    while found in taken:
        count += 1
        found = f"{path}_{count}"
    taken.add(found)
    return found
