"""The shipped gripper of three mounted arms: it holds the ball, and the welds carry what hangs on them.

A finger of density ρ, radius R, length L and three chambers of area a in each section weighs ρ·(π·R² − 3·a)·L·g. Under
its tip load the boom, a cantilever of stiffness E·I whose load hangs at x, sinks at its tip by

    F·x²·(3·L − x)/(6·E·I)                                                                            (1)
"""

from functools import cache

import numpy as np
import pytest

from corekit.scenario.load import load

for plugin in ("gvs", "pcc", "rigid", "sdf", "lcp", "cone"):
    pytest.importorskip(f"corekit_{plugin}")

GRAVITY = 9.81


@cache
def held(*overrides):
    """What the welds carry [N], where the ball is [m], and how far the boom's tip is below its base [m], at the end."""
    simulation = load("teaching/mounted-gripper", overrides).compose()
    simulation.run(2.4)
    carried = sum(simulation.joint_force(f"finger-{i}.base").force for i in (1, 2, 3))
    boom = [simulation.frame(f"robot.boom.{end}").position for end in ("base", "tip")]
    return carried, simulation.frame("ball.body").position, boom[0][2] - boom[1][2]


def test_the_welds_carry_fingers_and_ball_and_the_boom_sinks():
    finger = 1100.0 * (np.pi * 0.01**2 - 3 * 2e-5) * 0.1
    heavy, ball, deep = held()
    assert ball[2] == pytest.approx(0.1, abs=0.002)
    light, _, less = held("bodies[4].options.mass=0.02")
    for carried, mass in ((heavy, 0.05), (light, 0.02)):
        # the rest still swings a little
        assert carried == pytest.approx([0.0, 0.0, (3 * finger + mass) * GRAVITY], abs=0.005)
    x = 0.3 + ball[0]
    sinks = 0.03 * GRAVITY * x**2 * (0.9 - x) / (6.0 * 5e7 * 0.25 * np.pi * 0.012**4)
    assert deep - less == pytest.approx(
        sinks, rel=0.08
    )  # the boom is shorter where it bends, and turns the palm


def test_another_solver_and_another_integrator_hold_the_ball_in_the_same_place():
    _, ball, deep = held()
    overrides = "contact.solver.use=cone", "integrator.use=semi-implicit-euler", "time.step=1e-3"
    _, other, other_deep = held(*overrides)
    assert other == pytest.approx(ball, abs=5e-4)
    assert other_deep == pytest.approx(deep, abs=1e-4)
