"""How unevenly the finger of this folder presses on the can, and its picture.

python examples/gradients/even_finger/evenness.py [--picture finger.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

FRAMES = tuple(f"finger.finger.{name}" for name in ("0.2", "0.4", "0.6", "0.8", "tip"))
"""Where the five balls are."""
CENTRE, REACH = np.array([0.0, -0.046]), 0.046
"""Of the can in x and z, and the distance from it at which a ball touches [m]."""
WIDTH = 1e-3
"""The gap [m] that counts as much as a missing mean force."""


def forces(shapes: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """How the five balls press [N]."""
    out = np.zeros(5)
    np.add.at(out, shapes[:, 0], normal)
    return out


def unevenness(instant: Any) -> float:
    """Mean of (s − 1)², s the force of a ball over the mean of all; of one that does not touch s is −gap/WIDTH.

    So a ball that does not touch is drawn to the can, where its force has no derivative yet.
    """
    force = forces(instant.contacts.shapes, instant.contacts.normal)
    places = np.array([instant.frame(name).position for name in FRAMES])
    gap = np.hypot(*(places[:, [0, 2]] - CENTRE).T) - REACH
    pressed = force / (force.mean() or 1.0)
    return float(np.mean((np.where(force > 0.0, pressed, -gap / WIDTH) - 1.0) ** 2))


def main() -> None:
    """Search, tell how both fingers press, and draw them."""
    from corekit.scenario.load import with_values
    from corekit_gradients.optimise import optimise
    from corekit_gradients.optimise_file import load_optimise

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--picture", type=Path, help="where to draw both fingers, a PNG")
    picture = parser.parse_args().picture
    file = load_optimise(Path(__file__).with_name("design.toml"), allow_code=True)
    found, fingers = optimise(file), []
    for numbers in (found.start, found.found):
        assert file.loaded is not None
        simulation = with_values(file.loaded, dict(zip(found.names, numbers.tolist(), strict=True))).compose()
        simulation.run(file.loaded.time.duration)
        record = simulation.contacts()
        force = forces(record.shape, record.normal_impulse / record.step_size)
        fingers.append((simulation, force))
        print(f"{(1e-3 * numbers).round(1)} kPa press with {(1e3 * force).round(2)} mN")
    print(f"{found.minimum.calls} runs with their gradients, {found.minimum.reason}")
    if picture is not None:
        draw(fingers, picture)


def draw(fingers: list[tuple[Any, np.ndarray]], picture: Path) -> None:
    """Draw the can, both fingers around it, and an arrow for each force."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(8.0, 4.2), sharex=True, sharey=True, layout="constrained")
    titles = "one stiffness", "stiffness found"
    for axes, title, (simulation, force) in zip(panels, titles, fingers, strict=True):
        frames = [simulation.frame(name) for name in ("finger.finger.base", *FRAMES)]
        places = np.array([frame.position[[0, 2]] for frame in frames])
        ways = np.array([frame.rotation[[0, 2], 0] for frame in frames])
        axes.add_patch(plt.Circle((CENTRE[0], CENTRE[1]), 0.04, color="0.85"))
        share = np.linspace(0.0, 1.0, 20)[:, None]
        for k in range(
            5
        ):  # cubics through places and directions of the ends, which an arc of 30° is but for 1e-5
            a, b, s, e = places[k], places[k + 1], 0.02 * ways[k], 0.02 * ways[k + 1]
            curve = (
                (1 + 2 * share) * (1 - share) ** 2 * a + share * (1 - share) ** 2 * s
                + share**2 * (3 - 2 * share) * b + share**2 * (share - 1) * e
            )  # fmt: skip
            axes.plot(*curve.T, color="#1f4e8c", linewidth=3.0, solid_capstyle="round")
        for place, size in zip(places[1:], force, strict=True):
            axes.add_patch(plt.Circle(place, 0.006, fill=False, color="#1f4e8c"))
            if size > 0.0:
                inward = (CENTRE - place) / np.linalg.norm(CENTRE - place)
                axes.annotate(
                    "",
                    place + 0.3 * size * inward,
                    place,
                    arrowprops={"arrowstyle": "->", "color": "#b3261e", "lw": 2},
                )
                axes.text(
                    *(place - 0.013 * inward), f"{1e3 * size:.0f}", color="#b3261e", ha="center", va="center"
                )
        axes.set(
            title=f"{title}, forces in mN",
            xlabel="x [m]",
            aspect="equal",
            xlim=(-0.06, 0.075),
            ylim=(-0.115, 0.02),
        )
    panels[0].set_ylabel("z [m]")
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main()
