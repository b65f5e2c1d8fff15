"""Drag of a contact potential that regularises friction: solved for at the end of a step, for any h·d."""

from __future__ import annotations

import math

import numpy as np
import pytest

from corekit.data.signals import Ramp
from corekit.roles.component import BuildContext
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.small_world import floor, small_world
from corekit_timestep.config import Rk23Config, VerletConfig
from corekit_timestep.rk23 import Rk23
from corekit_timestep.verlet import Verlet

M, G, MU, SLIP, STIFF, LAYER = 2.0, 9.81, 0.5, 1e-3, 2e4, 1e-3
SCHEMES = {
    "rk23": lambda h: Rk23(Rk23Config(), BuildContext(step=h)),
    "verlet": lambda h: Verlet(VerletConfig(), BuildContext(step=h)),
    "position-verlet": lambda h: Verlet(VerletConfig(form="position"), BuildContext(step=h)),
}


def resting(integrator, h, pull=0.0, bodies=1, **options):
    """Balls on the linear potential of a floor, with a force along x."""
    balls = {}
    for k in range(bodies):
        chain = PointChain(
            PointChainConfig(
                masses=(M * (k + 1),), positions=((float(k), 0.0, 0.1 + LAYER - M * (k + 1) * G / STIFF),),
                shape="sphere", radius=0.1, **options,
            )
        )  # fmt: skip
        balls[f"ball-{k}"] = chain
    channel = balls["ball-0"].description.inputs[0].name
    signal = Ramp(begin=0.0, end=1e-6, value=(pull, 0.0, 0.0))
    solver = Penalty(PenaltyConfig(stiffness=STIFF, power=1, thickness=LAYER, slip_scale=SLIP))
    return small_world(
        balls, integrator, step=h, solver=solver, detector=ReferenceDetector(), obstacles=[floor()],
        friction=MU, inputs={"ball-0": {channel: signal}},
    )  # fmt: skip


def test_the_drag_of_contacts_splits_off_no_damping_of_a_body():
    """At rest it is μ·g/ε = 4905/s; the smooth motion has none of it, and keeps its order with the body's own 150/s."""
    for bodies, drag in ((1, 0.0), (2, 0.0), (1, 300.0), (2, 300.0)):
        simulation = resting(SCHEMES["rk23"](1e-3), 1e-3, bodies=bodies, drag=drag)
        system, state = simulation.system, simulation.state
        system.split.begin_step(state, 1e-3, potential_last=True)
        acceleration = np.zeros(3 * bodies)
        assert system.smooth.compute_acceleration(state, acceleration)
        assert acceleration == pytest.approx(np.tile([0.0, 0.0, -G], bodies), rel=1e-12)
        assert 0.9 * drag / M <= system.split.max_damping_rate() <= drag / M * (1.0 + 1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("h", [1e-3, 1e-2])
def test_a_load_under_the_cone_creeps_at_the_speed_at_which_friction_balances_it(scheme, h):
    """μ·N·u/√(u² + ε²) = T;  h·d is 5 and 50, and an explicit drag would be unstable above 2."""
    pull = 0.6 * MU * M * G
    simulation = resting(SCHEMES[scheme](h), h, pull)
    inner_steps = []
    simulation.observe(lambda _run, report: inner_steps.append(report.iterations))
    simulation.run(0.5)
    assert simulation.state.v[0] == pytest.approx(SLIP * 0.6 / math.sqrt(1.0 - 0.36), rel=1e-9)
    assert simulation.contacts().normal_impulse == pytest.approx([h * M * G], rel=1e-9)
    assert max(inner_steps[5:]) <= 2  # one inner step per step: no inner step resolves the drag


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_sliding_ball_is_slowed_by_coulomb_friction(scheme):
    """Above the cone v̇ = T/m − μ·g, at speeds above the regularisation's ε."""
    simulation = resting(SCHEMES[scheme](1e-3), 1e-3, pull=2.0 * MU * M * G)
    simulation.run(0.1)
    before = simulation.state.v[0]
    simulation.run(0.2)
    assert simulation.state.v[0] - before == pytest.approx(MU * G * 0.1, rel=1e-4)
