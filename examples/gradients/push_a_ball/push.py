"""Push a ball to a target by the gradient of `push.toml`, and draw the ways of the ball.

python examples/gradients/push_a_ball/push.py [--picture push.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from corekit_gradients.optimise import optimise
from corekit_gradients.optimise_file import load_optimise

FILE = Path(__file__).with_name("push.toml")


def ways(scenario: Any, channel_values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of ball and tip through a run, each of shape (steps + 1, 3) [m], with forces of equal parts of it."""
    simulation, steps = scenario.compose(), round(scenario.time.duration / scenario.time.step)
    parts = channel_values.reshape(-1, 9)

    def push(world: Any) -> dict[str, dict[str, np.ndarray]]:
        return {"arm": {"chamber-force": parts[min(world.step_index * len(parts) // steps, len(parts) - 1)]}}

    simulation.add_controller(push, name="push")
    found = []
    for k in range(steps + 1):
        if k:
            simulation.step()
        found.append([simulation.frame(name).position for name in ("ball.body", "arm.section-3-tip")])
    ball, tip = np.array(found).transpose(1, 0, 2)
    return ball, tip


def main() -> float:
    """Search, tell what was found, and return how far from the target the ball ends [m]."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--picture", type=Path, help="where to draw the ways from above, a PNG")
    picture = parser.parse_args().picture
    file = load_optimise(FILE)
    assert file.loaded is not None
    target = np.array(file.terms[0].target)
    found = optimise(file)
    first, last = (ways(file.loaded, each) for each in (found.start, found.found))
    for name, (ball, _) in (("start", first), ("found", last)):
        off = 1e3 * np.linalg.norm(ball[-1, :2] - target)
        print(f"{name}: the ball ends at {ball[-1, :2].round(4)} m, {off:.1f} mm off")
    print(
        f"{found.minimum.calls} runs with their gradients; the last one through {found.report.impacts} impacts"
    )
    if picture is not None:
        draw(first, last, target, picture)
    return float(np.linalg.norm(last[0][-1, :2] - target))


def draw(first: tuple[Any, Any], last: tuple[Any, Any], target: np.ndarray, picture: Path) -> None:
    """Draw the ways of ball and tip from above, those of the start grey."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.0, 6.0), layout="constrained")
    for (ball, tip), colour, name in ((first, "0.65", "start"), (last, "#b3261e", "found")):
        axes.plot(ball[:, 0], ball[:, 1], color=colour, linewidth=2.0, label=f"ball, {name}")
        axes.plot(
            tip[:, 0], tip[:, 1], color=colour, linewidth=1.0, linestyle="--", label=f"tip of the arm, {name}"
        )
        axes.add_patch(plt.Circle(ball[-1, :2], 0.06, fill=False, color=colour))
    axes.add_patch(plt.Circle(first[0][0, :2], 0.06, fill=False, color="0.3", linestyle=":"))
    axes.plot(*target, "x", color="#1f4e8c", markersize=11, markeredgewidth=2.5, label="target")
    axes.set(xlabel="x [m]", ylabel="y [m]", aspect="equal", xlim=(-0.15, 0.4))
    axes.legend(loc="lower right", fontsize=7)
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main()
