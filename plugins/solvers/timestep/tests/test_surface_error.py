"""A bound on the error of a place: what turns counts by how far its surface moves.

A ball of radius r that is turned by ω̇ = a·sin(w·t) errs in a step by C·h³·|ω̈| ≤ C·h³·a·w in its angle, C = 1/12, and by
r times that at its surface.
"""

import pytest

from corekit.scenario.load import loads

pytest.importorskip("corekit_rigid")

H, A, W, BOUND = 1e-2, 400.0, 40.0, 1e-4


def parts(scheme: str, radius: float) -> int:
    """How many steps are made in twenty of the grid."""
    inertia = 0.4 * radius**2
    simulation = loads(f"""
format = "corekit-scenario/1"
name = "spun"
time = {{ duration = 1.0, step = {H} }}
world = {{ gravity = [0, 0, 0] }}
integrator = {{ use = "{scheme}", options = {{ local_error = {BOUND} }} }}
[[bodies]]
name = "ball"
use = "rigid"
options = {{ shape = "sphere", size = [{radius}], mass = 1.0 }}
[[bodies.inputs]]
channel = "wrench"
signal = {{ kind = "sine", amplitude = [0, 0, 0, 0, 0, {inertia * A}], frequency = {W / 6.283185307179586} }}
""").compose()
    made: list[float] = []
    simulation.observe(lambda own, _report: made.append(own.time))
    for _ in range(20):
        simulation.step()
    return len(made)


@pytest.mark.parametrize("scheme", ["implicit-midpoint", "newmark", "generalized-alpha"])
def test_a_small_ball_may_turn_where_a_large_one_is_cut(scheme):
    error = A * W * H**3 / 12.0
    small, large = 0.02 * BOUND / error, 50.0 * BOUND / error
    assert parts(scheme, small) == 20
    # the step that (3) permits is shorter by the cube root of 50
    assert parts(scheme, large) > 40
