"""Draw the front page's pictures anew by the commands that anybody would use: `python docs/gallery.py [NAME…]`.

Each scene is run (or planned) into a folder for the moment and drawn by `corekit render` into docs/images.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

__all__ = ["SCENES", "Scene", "commands", "draw"]

IMAGES = Path(__file__).parent / "images"


@frozen(kw_only=True)
class Scene:
    """A picture of the front page.

    Args:
        name: of the picture's file. source: the scenario or plan.
        verb: `run`, or `plan`, of which the simulation with feedback is drawn.
        times: instants that are drawn [s]. view: further options of the picture. options: further words of the verb.
    """

    name: str
    source: str
    verb: str = "run"
    times: tuple[float, ...]
    view: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


_FROM_THE_SIDE = ("azimuth=-1.5708", "elevation=0.0")
_FROM_ABOVE = ("azimuth=-1.5708", "elevation=1.5")
SCENES = (
    Scene(name="cusp_two_spheres", source="cusp/two-spheres", times=(0.0, 0.11, 2.0)),
    Scene(name="cusp_ball", source="cusp/ball-x", verb="plan", times=(0.0, 0.6, 1.6)),
    Scene(name="vine_cluttered", source="vine/cluttered", times=(0.0, 1.5, 3.0), view=_FROM_THE_SIDE),
    Scene(name="vine_wall", source="vine/wall", times=(0.0, 1.0, 1.9), view=_FROM_THE_SIDE),
    Scene(name="gvs_cable_manipulator", source="gvs/cable-manipulator", times=(0.0, 4.0, 8.0)),
    Scene(name="gvs_underwater", source="gvs/underwater", times=(0.0, 9.0, 20.0)),
    Scene(name="gvs_cdpr", source="gvs/cdpr", times=(0.0, 1.6, 5.0)),
    Scene(name="gvs_octopus", source="gvs/octopus", times=(0.0, 0.84, 2.0)),
    Scene(name="dismech_spider", source="dismech/spider", times=(0.0, 0.14, 2.0)),
    Scene(name="dismech_entanglement", source="dismech/entanglement", times=(0.0, 5.0, 15.0)),
    Scene(name="mixed_arm_ball_rod", source="mixed/arm-ball-rod", times=(0.0, 0.8, 2.0)),
    Scene(
        name="teaching_acrobot",
        source="teaching/acrobot",
        times=(0.0, 1.1, 10.0),
        options=("--allow-code",),
    ),
    Scene(name="teaching_gripper", source="teaching/gripper-lifts-pawn", times=(0.0, 0.34, 1.6)),
    Scene(name="teaching_mounted_gripper", source="teaching/mounted-gripper", times=(0.0, 0.9, 2.4)),
    Scene(name="teaching_pneumatic_gripper", source="teaching/pneumatic-gripper", times=(0.0, 0.4, 1.6)),
    Scene(
        name="teaching_muscular_arm",
        source="teaching/muscular-arm",
        times=(0.0, 1.2, 3.0),
        view=_FROM_THE_SIDE,
    ),
    Scene(name="teaching_pneumatic_crawler", source="teaching/pneumatic-crawler", times=(0.0, 5.0, 8.0)),
    Scene(
        name="teaching_continuum_snake",
        source="teaching/continuum-snake",
        times=(0.0, 6.0, 12.0),
        view=_FROM_ABOVE,
    ),
    Scene(
        name="teaching_balls",
        source="teaching/balls-in-a-tray",
        times=(0.0, 0.2, 0.44),
        view=("dpi=80",),
    ),
    Scene(name="mixed_vine_between_fingers", source="mixed/vine-between-fingers", times=(0.0, 1.0, 2.0)),
)


def commands(scene: Scene, folder: Path) -> list[list[str]]:
    """What is called for a scene, in order."""
    shown = folder / "replay-feedback" if scene.verb == "plan" else folder
    times = "[" + ", ".join(f"{time:g}" for time in scene.times) + "]"
    options = [f"times={times}", "plots=false", "dpi=105", *scene.view]
    return [
        ["corekit", scene.verb, scene.source, "--out", str(folder), "--quiet", *scene.options],
        ["corekit", "render", str(shown), "-o", str(IMAGES / f"{scene.name}.png"), "--quiet"]
        + [word for option in options for word in ("--set", option)],
    ]


def draw(names: Sequence[str] = ()) -> None:
    """Draw the scenes of these names, all of them without any."""
    for scene in SCENES:
        if names and scene.name not in names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for command in commands(scene, Path(folder) / "run"):
                subprocess.run([sys.executable, "-P", "-m", "corekit.cli", *command[1:]], check=True)
        print(IMAGES / f"{scene.name}.png")


if __name__ == "__main__":
    draw(sys.argv[1:])
