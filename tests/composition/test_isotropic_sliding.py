"""Friction has no directions of its own where pyramids turn to slip: what slides keeps its heading.

A box with v₀ and μ stops after v₀²/(2·μ·g) straight ahead. Friction of a ball opposes the slip of its lowest point,
s = v + ω × r: its direction is constant, so that the ball moves on a parabola until it rolls at t = 2·|s₀|/(7·μ·g).
"""

import math

import numpy as np
import pytest

from corekit.scenario.load import from_document

G, MU, H, RADIUS, HALF = 9.81, 0.3, 5e-3, 0.05, 0.01
SOLVERS = {"cone": {}, "lcp": {}, "qp": {}}
SHAPES = {
    "box": {"shape": "box", "size": [0.1, 0.1, 2.0 * HALF], "mass": 0.1},
    "ball": {"shape": "sphere", "size": [RADIUS], "mass": 0.1},
    "rod": {"shape": "capsule", "size": [0.01, 0.2], "mass": 0.1},
}


def thrown(solver, shape, initial, options=None, step=H, steps=100):
    """The world after some steps on a floor; every step must be solved."""
    options = SOLVERS[solver] if options is None else options
    simulation = from_document(
        {
            "format": "corekit-scenario/1", "name": "thrown", "time": {"duration": 10.0, "step": step},
            "world": {"obstacles": [{"name": "floor", "shape": "half-space"}]},
            "bodies": [{"name": "thing", "use": "rigid", "options": shape, "initial": initial}],
            "contact": {
                "friction": MU, "detector": {"use": "sdf"}, "solver": {"use": solver, "options": options},
            },
            "integrator": {"use": "semi-implicit-euler"},
        }
    ).compose()  # fmt: skip
    for _ in range(steps):
        info = simulation.step().solve_info
        assert info.status.solved, info.sentence
    return simulation.state


@pytest.mark.parametrize("heading", [0.2, 0.6435, 1.9, -2.5])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_box_slides_straight_ahead_until_it_stops(solver, heading):
    ahead = np.array([math.cos(heading), math.sin(heading)])
    state = thrown(solver, SHAPES["box"], {"position": [0.0, 0.0, HALF], "velocity": [*ahead, 0.0]})
    found = state.q[:2]
    aside = found @ [-ahead[1], ahead[0]]
    # each of 100 steps leaves 1e-8 of its free velocity of 1 m/s at most
    assert abs(aside) <= 100 * 1e-8 * 100 * H
    # semi-implicit Euler falls short by half a step's way, and by up to another one in the step that stops
    exact = 1.0 / (2.0 * MU * G)
    assert found @ ahead == pytest.approx(exact, abs=H)
    assert np.abs(state.v).max() <= 1e-8


@pytest.mark.parametrize("solver", ["lcp", "qp"])
def test_a_pyramid_that_does_not_turn_does_turn_the_box(solver):
    """The kind of the papers: eight directions turn this heading by 5.4°."""
    state = thrown(
        solver, SHAPES["box"], {"position": [0.0, 0.0, HALF], "velocity": [0.8, 0.6, 0.0]}, {"aligned": False}
    )
    turned = math.degrees(math.atan2(0.6, 0.8) - math.atan2(state.q[1], state.q[0]))
    assert 5.0 < turned < 6.0


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_ball_with_spin_goes_the_way_of_its_slip_until_it_rolls(solver):
    heading, spin = 0.4, np.array([10.0, 0.0, 0.0])
    start = np.array([math.cos(heading), math.sin(heading), 0.0])
    initial = {"position": [0.0, 0.0, RADIUS], "velocity": start.tolist(), "angular_velocity": spin.tolist()}
    steps = 200
    state = thrown(solver, SHAPES["ball"], initial, steps=steps)
    slip = start + np.cross(spin, [0.0, 0.0, -RADIUS])
    size = np.linalg.norm(slip)
    ends = 2.0 * size / (7.0 * MU * G)
    push = -MU * G * slip / size
    after = start + push * ends
    exact = start * ends + 0.5 * push * ends**2 + after * (steps * H - ends)
    # the way ends by half a step of friction sooner or later, in the direction of the slip; that across it is exact
    off = (state.q[:3] - exact - [0.0, 0.0, RADIUS])[:2]
    across = np.array([-slip[1], slip[0]]) / size
    assert abs(off @ across) <= steps * 1e-8 * steps * H * 3.0
    assert np.linalg.norm(off) <= MU * G * H * (steps * H)
    # free velocity times 1e-8 a step; the spin counts by its surface speed
    np.testing.assert_allclose(state.v[:2], after[:2], atol=steps * 3e-8)


@pytest.mark.parametrize("solver", ["lcp", "qp"])
def test_a_leaning_rod_that_falls_straight_leaves_alike_whatever_its_heading(solver):
    """Rotated about the vertical, the same motion: the tangential velocity is nothing before the impact."""
    ends = []
    for heading in (0.0, 0.3, 1.2):
        initial = {
            "position": [0.0, 0.0, 0.12],
            "rotation_rpy": [0.0, 0.6, heading],
            "velocity": [0.0, 0.0, -1.0],
        }
        state = thrown(solver, SHAPES["rod"], initial, step=1e-3, steps=60)
        c, s = math.cos(heading), math.sin(heading)
        back = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        ends.append(np.concatenate([back @ state.v[:3], state.v[3:6]]))  # ω in axes of the body
    assert np.abs(ends[0][:2]).max() > 1e-2
    # 60 steps, each solved to 1e-8 of a velocity of 1 m/s, of 20 rad/s at a tip
    for other in ends[1:]:
        np.testing.assert_allclose(other, ends[0], atol=60 * 20e-8)


@pytest.mark.parametrize("solver", ["lcp", "qp"])
def test_what_slides_and_spins_ends_where_the_exact_cone_has_it(solver):
    """A slab on three corners, whose loads are unique; they slide in directions that turn within each step."""
    angles = 0.3 + np.arange(3) * 2.0 * np.pi / 3.0
    corners = [[0.06 * math.cos(a), 0.06 * math.sin(a), z] for z in (-0.01, 0.01) for a in angles]
    initial = {"position": [0.0, 0.0, 0.01], "velocity": [0.8, 0.6, 0.0], "angular_velocity": [0.0, 0.0, 8.0]}
    found, exact = (
        thrown(each, {"shape": "polytope", "vertices": corners, "mass": 0.1}, initial).q[:2]
        for each in (solver, "cone")
    )
    assert np.linalg.norm(found - exact) <= 5e-4
    assert abs(math.atan2(found[1], found[0]) - math.atan2(exact[1], exact[0])) <= math.radians(0.5)
