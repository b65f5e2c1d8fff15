"""Film the finger of this folder: another one plays it, with other numbers, shorter steps, and noise of 0.2 mm.

python examples/gradients/film_of_a_finger/film.py film.csv
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

import corekit

TRUE = {
    "bodies.finger.options.stiffness": 90.0,
    "bodies.finger.options.damping": 2.0,
    "world.friction[0].value": 0.3,
}
"""What the fit must find."""
SHORTER = 8


def main(path: Path) -> None:
    """Write the film, a picture every 10 ms."""
    step = corekit.load(Path(__file__).with_name("finger.toml")).time.step / SHORTER
    changes = [*(f"{name}={value}" for name, value in TRUE.items()), f"time.step={step}"]
    finger = corekit.load(Path(__file__).with_name("finger.toml"), changes).compose()
    rng, every = np.random.default_rng(1), round(0.01 / step)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["time", "marker", "x", "y", "z"])
        for _ in range(20):
            for _ in range(every):
                finger.step()
            for marker, frame in (("middle", "section-1-tip"), ("tip", "section-2-tip")):
                place = finger.frame(f"finger.{frame}").position + 2e-4 * rng.normal(size=3)
                table.writerow([f"{finger.time:.3f}", marker, *(f"{x:.6f}" for x in place)])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
