"""Meshes that a robot's file names: found beside the file or in packages, read as convex pieces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from attrs import frozen

from corekit_import.mesh_source import ImportProblem, MeshSource
from corekit_import.robot import Triple
from corekit_import.robot_source import RobotSource
from corekit_import.xml_file import XmlReader

if TYPE_CHECKING:
    from corekit_import.mesh import Solid

__all__ = ["MeshReader"]


@frozen
class MeshReader:
    """Reads the meshes of one robot."""

    source: RobotSource
    reader: XmlReader

    def read(
        self,
        element: Element,
        name: str,
        scale: Triple = (1.0, 1.0, 1.0),
        folder: Path | None = None,
        *,
        weighs: bool = False,
    ) -> Solid | None:
        """A mesh; None after a mistake, which is the reader's.

        Args:
            element: where it is named.
            name: a path, `file://…` or `package://NAME/…`.
            scale: factors along the axes.
            folder: where relative paths begin; the robot's folder if None.
            weighs: whether its volume, centre and inertia count.
        """
        from corekit_import.mesh import read_solid

        try:
            path = self._find(name, folder or self.source.file.parent)
            solid = read_solid(MeshSource(file=path, convex=self.source.convex), scale, weighs=weighs)
        except ImportProblem as problem:
            self.reader.problem(element, f"its mesh {name!r} {problem.allowed}", problem.hint)
            return None
        return solid

    def _find(self, name: str, folder: Path) -> Path:
        kind, separator, rest = name.partition("://")
        if not separator:
            return folder / name
        if kind == "file":
            return Path(rest)
        package, _, inside = rest.partition("/")
        given = self.source.packages.get(package)
        above = [each for each in self.source.file.resolve().parents if each.name == package]
        if kind != "package" or (given is None and not above):
            raise ImportProblem(
                f"is in a package that is not known: {package!r}",
                f'give its folder: packages = {{ {package} = "FOLDER" }}',
            )
        return (given or above[0]) / inside
