"""Aim a throw by its gradient: a ball strikes a floor with spin, bounces, slides, rolls, and must end at a target.

    python examples/gradients/aim_a_throw.py [--picture aim.png]

The variables are the velocity and the spin with which it leaves the hand. Friction of the impacts turns speed into
spin and back; the gradient of each run comes from one sweep back over its steps.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from corekit.scenario.load import loads

TARGET = np.array([0.9, 0.35])
"""Where the ball must be after 0.8 s [m]."""
SCENARIO = """
format = "corekit-scenario/1"
name = "throw"
time = { duration = 0.8, step = 2e-3 }

[[world.obstacles]]
name = "floor"
shape = "half-space"

[[world.friction]]
between = ["ball", "floor"]
value = 0.4

[[bodies]]
name = "ball"
use = "rigid"
options = { shape = "sphere", size = [0.05], mass = 0.2 }
initial = { position = [0.0, 0.0, 0.3], velocity = [0.6, 0.0, 0.0], angular_velocity = [0.0, 0.0, 0.0] }

[contact]
detector = "sdf"
solver = "lcp"
impact = { restitution = 0.5 }
stabilisation = { push_out = 500.0, cap = 10.0 }

[integrator]
use = "semi-implicit-euler"
"""

LIMITS = {"ftol": 1e-12, "maxiter": 12}


def miss(instant: Any) -> float:
    """Squared distance from the target [m²]."""
    return float(np.sum((instant.frame("ball.body").position[:2] - TARGET) ** 2))


def path(scenario: Any, objective: Any, x: np.ndarray) -> np.ndarray:
    """Places of the ball during a throw, shape (steps + 1, 3) [m]."""
    simulation = objective.simulation(x)
    places = [simulation.frame("ball.body").position.copy()]
    while simulation.time < scenario.time.duration - 1e-9:
        simulation.step()
        places.append(simulation.frame("ball.body").position.copy())
    return np.array(places)


def main() -> float:
    """Aim, print the throws on the way, and return how far the last one ends from the target [m]."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, help="where to draw the throws, a PNG")
    picture = parser.parse_args().picture
    scenario = loads(SCENARIO)
    objective = scenario.objective(
        miss, ["bodies.ball.initial.velocity", "bodies.ball.initial.angular_velocity"]
    )
    tried: list[np.ndarray] = [objective.start]

    def keep(x: np.ndarray) -> None:
        tried.append(x.copy())

    settings: dict[str, Any] = {"jac": True, "method": "L-BFGS-B", "callback": keep, "options": LIMITS}
    found = minimize(objective, objective.start, **settings)
    throws = [path(scenario, objective, x) for x in tried]
    for number, (x, throw) in enumerate(zip(tried, throws, strict=True)):
        ends = np.linalg.norm(throw[-1, :2] - TARGET)
        print(
            f"throw {number}: v = {x[:3].round(3)} m/s, ω = {x[3:].round(2)} rad/s ends {1e3 * ends:.2f} mm off"
        )
    assert objective.last is not None
    report = objective.last.report
    print(
        f"{objective.calls} gradients; the last one through {report.impacts} impacts in {report.steps} steps"
    )
    if picture is not None:
        draw(throws, picture)
    return float(np.sqrt(found.fun))


def draw(throws: list[np.ndarray], picture: Path) -> None:
    """Draw the throws from the side and from above, the last one dark."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, (side, top) = plt.subplots(2, 1, figsize=(7.0, 5.0), sharex=True, layout="constrained")
    for number, throw in enumerate(throws):
        is_last = number == len(throws) - 1
        colour, width = ("#b3261e", 2.0) if is_last else (str(0.8 - 0.5 * number / len(throws)), 1.0)
        side.plot(throw[:, 0], throw[:, 2], color=colour, linewidth=width)
        top.plot(throw[:, 0], throw[:, 1], color=colour, linewidth=width)
        top.plot(throw[-1, 0], throw[-1, 1], "o", color=colour, markersize=4)
    top.plot(*TARGET, "x", color="#1f4e8c", markersize=10, markeredgewidth=2)
    side.axhline(0.0, color="0.4", linewidth=0.8)
    side.set_ylabel("height [m]")
    top.set(xlabel="x [m]", ylabel="y [m]")
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main()
