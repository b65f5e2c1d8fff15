"""Rolling friction, |m_t| ≤ ρ·λ_n, against closed forms, by every solver with impulses.

A ball of the radius R that rolls has I·dω/dt = f·R − ρ·m·g and m·R·dω/dt = −f, I = 2·m·R²/5, so that it slows down by
5/7·ρ·g/R, and stays on a slope up to tan α = ρ/R.
"""

import math

import numpy as np
import pytest

from .test_friction_of_areas import (
    BOTH,
    BRAKES,
    EULER,
    INERTIA,
    MASS,
    MU,
    NEAR,
    RADIUS,
    ROLLING,
    ROLLS,
    SOLVERS,
    G,
    H,
    after,
    ball,
    world,
)  # fmt: skip


@pytest.mark.parametrize("integrator", EULER)
@pytest.mark.parametrize("friction", [ROLLS, BOTH], ids=["rolling", "both"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_ball_that_rolls_is_slowed_down_evenly_until_it_stands(solver, friction, integrator):
    """In a direction that is none of the tangents; it does not rise, and keeps its heading."""
    speed = 3.5 * BRAKES * H
    start = {
        "velocity": [0.6 * speed, 0.8 * speed, 0.0],
        "angular_velocity": [-0.8 * speed / RADIUS, 0.6 * speed / RADIUS, 0.0],
    }
    simulation = world(solver, ball(friction=friction, **start), integrator=integrator).compose()
    rolls = np.array([0.6, 0.8, 0.0, -0.8 / RADIUS, 0.6 / RADIUS, 0.0])
    for left in (2.5, 1.5, 0.5, 0.0, 0.0):
        (motion,) = after(simulation, 1)
        assert np.abs(motion - left * BRAKES * H * rolls).max() <= G * H * NEAR / RADIUS
    assert abs(simulation.state.q[2] - RADIUS) <= NEAR * H


@pytest.mark.parametrize("towards", [0.0, 0.7])
@pytest.mark.parametrize("friction", [ROLLS, BOTH], ids=["rolling", "both"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_ball_stays_on_a_slope_below_the_rolling_length_and_rolls_above_it(solver, friction, towards):
    """Above it a = 5/7·g·(sin α − cos α·ρ/R).

    Pyramids of eight directions turn only with what moves: at rest they hold up to cos(π/8) of it where the slope falls
    between two, and what begins to roll there begins in another direction.
    """
    limit, steps = ROLLING / RADIUS, 10
    between = solver != "cone" and towards > 0.0
    for slope in (0.99 * limit * math.cos(math.pi / 8),) if between else (0.99 * limit, 1.5 * limit):
        angle = math.atan(slope)
        along = np.array([math.cos(towards), math.sin(towards), 0.0])
        pull = G * math.sin(angle) * along - [0.0, 0.0, G * math.cos(angle)]
        (motion,) = after(world(solver, ball(friction=friction), gravity=pull).compose(), steps)
        gains = 5.0 / 7.0 * G * (math.sin(angle) - math.cos(angle) * limit) if slope > limit else 0.0
        moves = gains * steps * H * np.concatenate([along, np.cross([0.0, 0.0, 1.0], along) / RADIUS])
        assert np.abs(motion - moves).max() <= steps * G * H * NEAR / RADIUS


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_ball_that_slides_has_both_frictions_at_once(solver):
    """dv/dt = −μ·g, I·dω/dt = μ·m·g·R − ρ·m·g where it turns forwards."""
    u, spin, steps = 2.0, 10.0, 10
    start = {"velocity": [u, 0.0, 0.0], "angular_velocity": [0.0, spin, 0.0]}
    (motion,) = after(world(solver, ball(friction=ROLLS, **start)).compose(), steps)
    gains = MASS * G * (MU * RADIUS - ROLLING) / INERTIA * steps * H
    assert (
        np.abs(motion - [u - MU * G * steps * H, 0.0, 0.0, 0.0, spin + gains, 0.0]).max()
        <= steps * NEAR / RADIUS
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_plate_that_turns_over_an_axis_in_it_rolls_a_ball_by_the_rolling_length(solver):
    """Without sliding friction to speak of: I·dω/dt = ρ·λ_n until the ball turns with the plate."""
    slippery = {"sliding": 1e-9, "rolling": ROLLING}
    gains = ROLLING * MASS * G / INERTIA
    turns = {"kind": "ramp", "from": 0.0, "to": 1.0, "value": [0.0, 2.5 * gains * H, 0.0]}
    simulation = world(solver, ball(friction=slippery), rotation_rpy=turns).compose()
    for gained in (1.0, 2.0, 2.5, 2.5):
        (motion,) = after(simulation, 1)
        assert motion[4] == pytest.approx(gained * gains * H, rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_impact_takes_rolling_by_its_impulse(solver):
    """Without sliding friction to speak of: Δω = ρ·P/I."""
    slippery = {"sliding": 1e-9, "rolling": ROLLING}
    start = {"velocity": [0.0, 0.0, -1.0], "angular_velocity": [0.0, 6.0, 0.0]}
    contact = {"impact": {"level": "velocity", "restitution": 0.5}}
    (motion,) = after(world(solver, ball(friction=slippery, **start), contact=contact).compose(), 1)
    assert motion[4] == pytest.approx(6.0 - ROLLING * MASS * (1.5 + G * H) / INERTIA, rel=1e-7)
    assert motion[2] == pytest.approx(0.5, rel=1e-7)
