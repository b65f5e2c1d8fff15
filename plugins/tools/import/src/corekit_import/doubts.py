"""What of imported files was left out and may be missed, for `corekit check`."""

from __future__ import annotations

from typing import Any

from corekit.errors import Mistake
from corekit.scenario.scenario import Scenario
from corekit.scenario.structure import structure
from corekit_import.read_robot import robot_links
from corekit_import.robot_source import RobotSource
from corekit_import.xml_file import XmlReader

__all__ = ["import_doubts"]


def import_doubts(scenario: Scenario, _simulation: Any) -> list[str]:
    """Sentences on a scenario that was composed; none where it was resolved before, and names no files."""
    folder = None if scenario.source is None else scenario.source.parent
    found: list[str] = []
    for i, body in enumerate(scenario.document.get("bodies", ())):
        robot = body.get("options", {}).get("robot")
        mistakes: list[Mistake] = []
        source = structure(RobotSource, robot, "robot", mistakes, directory=folder) if robot else None
        if source is not None:
            reader = XmlReader(f"bodies[{i}].options.robot.file", str(robot["file"]))
            robot_links(source, reader, mistakes)
            found += [f"bodies.{body['name']}: {reader.file}: {sentence}" for sentence in reader.left_out]
    return found
