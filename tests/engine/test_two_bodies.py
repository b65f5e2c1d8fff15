"""Two bodies in one world: momentum between them, and independence where they do not touch."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.data.contacts import ContactMode
from corekit.geometry.frames import Pose
from corekit.roles.component import BuildContext
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.penalty import Penalty, PenaltyConfig
from corekit_testing.pendulum import Pendulum, PendulumConfig
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.projected_gauss_seidel import ProjectedGaussSeidel
from corekit_testing.reference_detector import ReferenceDetector
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import floor, small_world
from corekit_testing.velocity_verlet import VelocityVerlet

H = 1e-3
INTEGRATORS = {
    "semi-implicit": lambda: SemiImplicitEuler(None, BuildContext(step=H)),
    "euler": lambda: ImplicitEuler(None, BuildContext(step=H)),
    "midpoint": lambda: ImplicitEuler(ImplicitEulerConfig(theta=0.5), BuildContext(step=H)),
    "verlet": lambda: VelocityVerlet(None, BuildContext(step=H)),
}
SOLVERS = {
    "impulses": ProjectedGaussSeidel,
    "potential": lambda: Penalty(PenaltyConfig(stiffness=2e6, power=2, thickness=5e-3)),
}


def ball(mass, position, velocity, gravity=0.0):
    config = PointChainConfig(masses=(mass,), positions=(position,), velocities=(velocity,), shape="sphere")
    return PointChain(config, BuildContext(gravity=np.array([0.0, 0.0, -gravity])))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_collision_keeps_momentum_to_rounding(integrator, solver):
    simulation = small_world(
        {
            "light": ball(0.3, (0.0, 0.0, 0.0), (1.0, 0.1, 0.0)),
            "heavy": ball(2.0, (0.25, 0.03, 0.01), (-0.5, 0.0, 0.0)),
        },
        INTEGRATORS[integrator](),
        step=H,
        solver=SOLVERS[solver](),
        detector=ReferenceDetector(),
        friction=0.3,
    )
    masses = np.array([0.3, 2.0])
    before = masses @ simulation.state.v.reshape(2, 3)
    energy = masses @ (simulation.state.v.reshape(2, 3) ** 2).sum(axis=1)
    simulation.run(0.1)
    v = simulation.state.v.reshape(2, 3)
    assert masses @ v == pytest.approx(before, abs=1e-13)
    assert masses @ (v**2).sum(axis=1) <= energy + 1e-9
    apart = np.diff(simulation.state.q.reshape(2, 3), axis=0)[0]
    # they have met, and do not approach each other any more
    assert np.diff(v, axis=0)[0] @ apart > -1e-6
    assert abs(v[0, 0] - 1.0) > 0.5


def test_stack_of_three_balls_carries_its_weight_down():
    """Contact impulses of a vertical stack: the weight above each contact times h."""
    models = {
        f"b{i}": ball(m, (0.0, 0.0, 0.1 + 0.2 * i), (0.0, 0.0, 0.0), 9.81)
        for i, m in enumerate((1.0, 2.0, 0.5))
    }
    simulation = small_world(
        models,
        INTEGRATORS["semi-implicit"](),
        step=H,
        solver=ProjectedGaussSeidel(),
        detector=ReferenceDetector(),
        obstacles=[floor()],
    )
    simulation.run(0.05)
    record = simulation.contacts()
    found = dict(zip(record.shape.sum(axis=1).tolist(), record.normal_impulse / H / 9.81, strict=True))
    # shapes 0, 1, 2 are the balls, 3 the floor
    assert found == pytest.approx({3: 3.5, 1: 2.5, 3 + 0: 3.5} | {1 + 2: found[3]}, rel=1e-9)
    assert np.abs(simulation.state.v).max() < 1e-10


def test_bodies_that_do_not_touch_move_as_if_alone():
    arm = PendulumConfig(
        lengths=(0.5, 0.4), masses=(1.0, 0.5), angles=(0.5, 0.2), rates=(0.0, 0.0), damping=0.1
    )
    chain = PointChainConfig(
        masses=(1.0, 0.4), positions=((5.0, 0.0, 0.0), (5.3, 0.0, 0.0)), links=("none", "spring"), shape="sphere",
        driven=(0,), drive_amplitude=(0.0, 0.1, 0.0),
    )  # fmt: skip

    def run(models, integrator):
        simulation = small_world(
            models, INTEGRATORS[integrator](), step=H, solver=ProjectedGaussSeidel(), detector=ReferenceDetector(),
            obstacles=[floor((0.0, 0.0, -0.5))], friction=0.3,
        )  # fmt: skip
        simulation.run(0.2)
        return simulation

    for integrator in INTEGRATORS:
        both = run({"arm": Pendulum(arm), "chain": PointChain(chain)}, integrator)
        alone = [run({"arm": Pendulum(arm)}, integrator), run({"chain": PointChain(chain)}, integrator)]
        q = np.concatenate([simulation.state.q for simulation in alone])
        assert np.allclose(both.state.q, q, rtol=0, atol=1e-8), integrator
        reaction = alone[1].system.reaction()
        assert both.system.reaction() == pytest.approx(reaction, abs=1e-9)


def test_two_hanging_chains_rest_against_each_other():
    """Mirror-symmetric chains lean on each other: equal and opposite, no sideways momentum."""

    def chain(side):
        return PointChain(
            PointChainConfig(
                masses=(0.5, 0.5),
                positions=((side * 0.2, 0.0, -0.4), (side * 0.09, 0.0, -0.9)),
                links=("rod", "rod"),
                shape="sphere",
                drag=2.0,
            ),
            BuildContext(base=Pose(position=np.array([side * 0.02, 0.0, 0.0]))),
        )

    simulation = small_world(
        {"left": chain(-1.0), "right": chain(1.0)},
        ImplicitEuler(None, BuildContext(step=4e-3)),
        step=4e-3,
        solver=ProjectedGaussSeidel(),
        detector=ReferenceDetector(),
        friction=0.0,
    )
    simulation.run(1.5)
    q = simulation.state.q.reshape(2, 2, 3)
    assert q[0] * [-1, 1, 1] == pytest.approx(q[1], abs=1e-7)
    record = simulation.contacts()
    assert record.normal_impulse.max() > 0
    assert (record.gap > -1e-6).all()
    pressing = record.normal_impulse > 1e-9
    assert set(record.mode[pressing].tolist()) <= {ContactMode.STICK, ContactMode.SLIDE}
    assert np.abs(simulation.state.v).max() < 2e-2
