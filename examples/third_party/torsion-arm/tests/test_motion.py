"""Motions and rest shapes known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipk

from corekit.data.state import State
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit.roles.component import BuildContext
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.small_world import small_world
from torsion_arm.config import TorsionArmConfig, TorsionArmInitial
from torsion_arm.model import TorsionArm

G, LENGTH, MASS = 9.81, 0.4, 0.7
HANGING = Pose(rotation=rotation_from_rpy((0.0, math.pi, 0.0)))
LEVEL = Pose(rotation=rotation_from_rpy((0.0, math.pi / 2, 0.0)))


def free(links=1, base=HANGING, stiffness=0.0, damping=0.0, gravity=(0.0, 0.0, -G), **more):
    config = TorsionArmConfig(
        links=links, length=(LENGTH,), mass=(MASS,), stiffness=(stiffness,), damping=(damping,), **more
    )
    return TorsionArm(config, BuildContext(base=base, gravity=np.array(gravity)))


def swung(arm, start, h, duration):
    """The simulation by implicit midpoint from angles at rest."""
    midpoint = ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=h))
    simulation = small_world({"arm": arm}, midpoint, step=h)
    simulation.state.q[:] = start
    simulation.run(duration)
    return simulation


@pytest.mark.parametrize("amplitude", [0.05, 1.2])
def test_a_rod_on_a_hinge_swings_with_the_period_of_the_elliptic_integral(amplitude):
    period = 4 * math.sqrt(2 * LENGTH / (3 * G)) * ellipk(math.sin(amplitude / 2) ** 2)
    steps = 400
    simulation = swung(free(), [amplitude], period / steps, period)
    assert simulation.state.q[0] == pytest.approx(amplitude, rel=1e-4)
    assert simulation.state.v[0] == pytest.approx(0.0, abs=2e-3 * amplitude / period * 2 * math.pi)


def test_a_torsion_spring_alone_swings_a_rod_about_its_end():
    stiffness, gravity = 2.0, (0.0, 0.0, 0.0)
    period = 2 * math.pi * math.sqrt(MASS * LENGTH**2 / 3 / stiffness)
    simulation = swung(free(stiffness=stiffness, gravity=gravity), [0.3], period / 800, period / 2)
    assert simulation.state.q[0] == pytest.approx(-0.3, rel=1e-5)


def test_three_undamped_links_keep_their_energy_to_second_order():
    def drift(h):
        arm = free(links=3, stiffness=0.5)
        start = np.array([0.9, -0.4, 0.6])
        before = sum(arm.compute_energies(State(start, np.zeros(3), np.zeros(0))))
        return abs(sum(arm.compute_energies(swung(arm, start, h, 0.4).state)) - before)

    assert drift(1e-3) < 1e-4
    assert drift(2e-3) / drift(1e-3) == pytest.approx(4.0, rel=0.2)


def equilibrium(arm, q):
    """Newton's method on f(q) = 0."""
    n = len(q)
    mass, force = arm.new_mass_matrix(), np.zeros(n)
    K, D = arm.new_stiffness_and_damping()
    for _ in range(50):
        state = State(q, np.zeros(n), np.zeros(0))
        arm.compute_mass_and_force(state, np.zeros(n), mass, force)
        arm.compute_stiffness_and_damping(state, np.zeros(n), K, D)
        q = q + np.linalg.solve(K.dense(), force)
    assert np.abs(force).max() < 1e-10
    return q


def test_a_level_link_sags_until_its_spring_carries_the_moment_of_its_weight():
    stiffness = 3.0
    sag = brentq(lambda a: stiffness * a - MASS * G * LENGTH / 2 * math.cos(a), 0.0, 1.5)
    assert equilibrium(free(base=LEVEL, stiffness=stiffness), np.zeros(1)) == pytest.approx([sag], rel=1e-9)


def test_every_spring_of_a_sagging_arm_carries_the_moment_of_all_weights_beyond_it():
    n, stiffness = 5, 20.0
    arm = free(links=n, base=LEVEL, stiffness=stiffness)
    q = equilibrium(arm, np.zeros(n))
    joints = arm.compute_outline(State(q, np.zeros(n), np.zeros(0))).points
    middles = 0.5 * (joints[1:] + joints[:-1])
    moments = [MASS * G * np.sum(middles[i:, 0] - joints[i, 0]) for i in range(n)]
    assert stiffness * q == pytest.approx(moments, rel=1e-9)
    assert joints[-1, 2] < -0.1


def test_a_chain_of_links_hangs_straight_down():
    assert equilibrium(free(links=4, stiffness=0.1), np.full(4, 0.1)) == pytest.approx(np.zeros(4), abs=1e-9)


def test_initial_options_spread_one_number_over_all_joints():
    arm, state = free(links=3), State.zeros(3, 3)
    arm.compute_initial_state(TorsionArmInitial(angle=(0.2,), rate=(1.0, 2.0, 3.0)), state)
    assert [*state.q, *state.v] == pytest.approx([0.2, 0.2, 0.2, 1.0, 2.0, 3.0])
    arm.compute_initial_state(None, state)
    assert [*state.q, *state.v] == pytest.approx([0.0] * 6)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"links": 0}, "links"),
        ({"mass": -1.0}, "mass"),
        ({"links": 3, "length": (0.1, 0.2)}, "length: give one"),
    ],
)
def test_impossible_arms_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        TorsionArmConfig(**wrong)
