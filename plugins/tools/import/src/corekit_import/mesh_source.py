"""How a scenario names a mesh, and the error for what cannot be read."""

from __future__ import annotations

import difflib
from pathlib import Path
from types import MappingProxyType

from attrs import frozen

from corekit.errors import CorekitError
from corekit.files import check_regular, is_there
from corekit.roles.options import option

__all__ = ["SUFFIXES", "UNITS", "ImportProblem", "MeshSource", "check_file"]

UNITS = MappingProxyType({"m": 1.0, "dm": 0.1, "cm": 0.01, "mm": 0.001, "in": 0.0254})
"""Unit of a file's lengths → metres."""

SUFFIXES = (".stl", ".obj", ".ply", ".off")


class ImportProblem(CorekitError):
    """What is wrong with a file, and what to do about it.

    Args:
        allowed: what it must be.
        hint: what to do.
    """

    def __init__(self, allowed: str, hint: str = "") -> None:
        super().__init__(f"{allowed} — {hint}" if hint else allowed)
        self.allowed, self.hint = allowed, hint


@frozen(kw_only=True)
class MeshSource:
    """A mesh file: `mesh = { file = "part.stl", units = "mm" }`."""

    file: Path = option(help="the mesh, STL, OBJ, PLY or OFF; relative to the scenario's file")
    units: str = option("m", "unit of the file's lengths, which the file does not tell", choices=tuple(UNITS))
    scale: float = option(1.0, "factor on the file's lengths, beside their unit", above=0)
    convex: str = option(
        "pieces",
        "what touches: convex pieces that fill the mesh, or the hull around it",
        choices=("pieces", "hull"),
    )
    concavity: float = option(
        0.05, "how far pieces may stray from the surface, as CoACD measures it", low=0.01, high=1.0
    )

    @property
    def factor(self) -> float:
        """Metres per unit of the file."""
        return UNITS[self.units] * self.scale


def check_file(path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuse a path that is no file of one of the kinds.

    Raises:
        ImportProblem: there is none, it is of another kind, or a folder, a pipe or a device.
    """
    if path.suffix.lower() not in suffixes:
        raise ImportProblem(f"must be a file {', '.join(suffixes)}")
    if is_there(path):
        try:
            check_regular(path)
        except OSError as error:
            raise ImportProblem(f"must be a file; it is {error.strerror}") from None
        return
    try:
        there = sorted(each.name for each in path.parent.iterdir() if each.suffix.lower() in suffixes)
    except OSError:
        raise ImportProblem("there is no such file", f"there is no folder {path.parent}") from None
    near = difflib.get_close_matches(path.name, there, n=1, cutoff=0.5)
    listed = f"the folder holds {', '.join(there[:6])}" if there else f"the folder holds no {suffixes[0]}"
    raise ImportProblem("there is no such file", f"did you mean {near[0]!r}?" if near else listed)
