"""Springs of spherical and free joints: the energy is ½·k·φ² of the shortest turn φ, and the pose at rest stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corekit.scenario.load import from_document
from corekit_gvs.config import GVSConfig, Joint, Link

from .robots import Robot

pytest.importorskip("corekit_timestep")

K, INERTIA, SPEED, STEP = 0.01, 0.01, 4.0, 1e-3


def ball(kind):
    stiffness = (K, K, K, 0.0, 0.0, 0.0) if kind == "free" else (K,)
    joint = Joint(kind=kind, stiffness=stiffness)
    return Robot(GVSConfig(links=(Link.rigid("b", mass=1.0, inertia=(INERTIA, 0.02, 0.03), joint=joint),)))


@pytest.mark.parametrize("kind", ["spherical", "free"])
def test_a_spring_beyond_half_a_turn_pulls_from_the_other_side(kind):
    """Pose and spin stay, and energy and force are those of the shortest turn, found by SciPy."""
    robot, axis = ball(kind), np.array([0.6, -0.48, 0.64])
    for angle in (3.3, 4.4, 6.0):
        q, v = np.zeros((2, robot.size))
        q[:3], v[:3] = angle * axis, [0.3, -0.2, 0.5]
        count = len(robot.description.frames)
        local, frame = np.vstack([np.zeros(3), np.eye(3)]), np.full(4, count - 1)
        moved = []
        for change in (False, True):
            if change:
                assert robot.model.reparametrise(robot.state)
            else:
                robot.at(q, v)
            dofs = np.zeros((4, robot.description.jacobian_width), dtype=np.int64)
            values = np.zeros((4, 3, robot.description.jacobian_width))
            robot.model.compute_point_jacobians(robot.state, frame, local, dofs, values)
            rates = np.einsum("cik,ck->ci", values, robot.state.v[dofs])
            moved.append((robot.place("b.tip")[1].copy(), rates))
        for one, other in zip(*moved, strict=True):
            assert one == pytest.approx(other, abs=1e-13)
        turn = Rotation.from_matrix(moved[0][0]).as_rotvec()
        assert robot.state.q[:3] == pytest.approx(turn, abs=1e-12)
        assert np.linalg.norm(turn) == pytest.approx(2.0 * np.pi - angle, abs=1e-12)
        still = robot.at(v=np.zeros(robot.size))
        assert still.energy()[1] == pytest.approx(0.5 * K * (turn @ turn), rel=1e-12)
        assert still.dynamics()[1][:3] == pytest.approx(-K * turn, abs=1e-15)
        assert not robot.model.reparametrise(robot.state)


def test_a_ball_that_is_spun_over_keeps_its_energy():
    """φ = A·sin t up to π, where it goes on from −π: a period is 2·asin(π/A) and the pose at rest is where it was."""
    simulation = from_document(
        {
            "format": "corekit-scenario/1",
            "name": "spun",
            "time": {"duration": 6.0, "step": STEP},
            "world": {"gravity": [0.0, 0.0, 0.0]},
            "bodies": [
                {
                    "name": "b",
                    "use": "gvs",
                    "initial": {"links": [{"name": "l", "velocity": [0.0, 0.0, SPEED]}]},
                    "options": {
                        "links": [
                            {
                                "name": "l", "kind": "rigid", "mass": 1.0, "inertia": [INERTIA] * 3,
                                "joint": {"kind": "spherical", "stiffness": K},
                            }
                        ]
                    },
                }
            ],
            "integrator": "implicit-midpoint",
            "output": {"every": 0.1},
        }
    ).compose()  # fmt: skip
    half, crossings, angle = np.arcsin(np.pi / SPEED), 0, 0.0
    model: Any = simulation.bodies[0].model
    while simulation.time < 5.0:
        simulation.step()
        before, angle = angle, simulation.state.q[2]
        crossings += bool(angle < before - 3.0)
        kinetic, elastic = model.compute_energies(simulation.state.body_states[0])
        lost = 0.5 * INERTIA * SPEED**2 - kinetic - elastic
        assert -1e-7 < lost < 2.0 * np.pi * K * SPEED * STEP * crossings + 1e-7
    assert crossings == 3
    phase = (simulation.time + half) % (2.0 * half) - half
    assert simulation.state.v[2] == pytest.approx(SPEED * np.cos(phase), abs=0.02)
    assert angle == pytest.approx(SPEED * np.sin(phase), abs=0.02)
