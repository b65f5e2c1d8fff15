"""What of imported files was left out and may be missed, or is improbable, for `corekit check`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corekit.scenario.scenario import Scenario

if TYPE_CHECKING:
    from corekit.errors import Mistake

__all__ = ["import_doubts"]


def import_doubts(scenario: Scenario, _simulation: Any) -> list[str]:
    """Sentences on a scenario that was composed; none where it was resolved before, and names no files."""
    folder = None if scenario.source is None else scenario.source.parent
    found: list[str] = []
    for i, body in enumerate(scenario.document.get("bodies", ())):
        if robot := body.get("options", {}).get("robot"):
            path = f"bodies[{i}].options.robot.file"
            found += [f"bodies.{body['name']}: {sentence}" for sentence in _of_robot(robot, path, folder)]
    return found


def _of_robot(robot: Mapping[str, Any], path: str, folder: Path | None) -> list[str]:
    # every run calls it, and hardly any has a robot: reading one imports a tenth of what a run starts with
    from corekit.scenario.structure import structure
    from corekit_import.read_robot import robot_links
    from corekit_import.robot_source import RobotSource
    from corekit_import.xml_file import XmlReader

    mistakes: list[Mistake] = []
    source = structure(RobotSource, robot, "robot", mistakes, directory=folder)
    if source is None:
        return []
    reader = XmlReader(path, str(robot["file"]))
    robot_links(source, reader, mistakes)
    return [f"{reader.file}: {sentence}" for sentence in reader.doubts]
