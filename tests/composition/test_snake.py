"""A snake of the shipped scenario against a quasi-static one, whose shape is prescribed and whose friction is (3) of
`corekit.roles.friction`.

Without inertia the rigid motion (U, Ω) of a body of prescribed shape balances friction, and as friction is the one of
maximum dissipation, it is the minimum of a convex function over the edges of equal weight,

    min over U, Ω of  Σ d(uᵢ + U + Ω × rᵢ),     uᵢ the velocity of an edge in the frame of the shape         (1)

The scenario differs from it by its pyramid of 8 directions, which dissipates at least cos(π/8) of d, by inertia,
(length/period²)/(μ·g) = 0.03, and by bending of the rod under friction, μ·w·L²/(8·EI·κ) < 0.01.
"""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from corekit.roles.friction import ANISOTROPIC_COULOMB, COULOMB
from corekit.scenario.load import load

PERIOD, LENGTH, NODES, CURVATURE = 2.0, 0.5, 17, 9.0
SCALES = (0.1, 0.15, 0.5)
EVERY_WAY = 0.3
MASS_OF_NODE = 1000.0 * math.pi * 0.01**2 * LENGTH / (NODES - 1)
AS_EXPECTED = 1.0 - math.cos(math.pi / 8.0) + 0.03 + 0.01


def shape(time):
    """Middles of the edges, in the frame of the first one, and their angles."""
    inner = np.arange(1, NODES - 1) / (NODES - 1)
    turns = CURVATURE * LENGTH / (NODES - 1) * np.sin(2.0 * np.pi * (time / PERIOD + inner))
    angle = np.concatenate([[0.0], np.cumsum(turns)])
    edge = LENGTH / (NODES - 1) * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.cumsum(edge, axis=0) - 0.5 * edge, angle


def turned(angle, vector):
    c, s = math.cos(angle), math.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]])


def predicted_displacement(law, record, instants=50):
    """Of the centre in one period by (1), as a distance [m]."""
    step = PERIOD / instants
    place, heading, motion = np.zeros(2), 0.0, np.zeros(3)
    for i in range(instants):
        (before, angle), (after, later) = shape(i * step), shape((i + 1) * step)
        velocity, middle, angle = (after - before) / step, 0.5 * (before + after), 0.5 * (angle + later)
        arm = (middle - middle.mean(axis=0)) @ np.array([[0.0, 1.0], [-1.0, 0.0]])

        def dissipation(v, velocity=velocity, arm=arm, angle=angle):
            u = velocity + v[:2] + v[2] * arm
            along = u[:, 0] * np.cos(angle) + u[:, 1] * np.sin(angle)
            across = u[:, 1] * np.cos(angle) - u[:, 0] * np.sin(angle)
            return sum(law.dissipation(record, *each) for each in zip(along, across, strict=True))

        motion = minimize(dissipation, motion, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9}).x
        place += step * turned(heading + 0.5 * step * motion[2], motion[:2] + velocity.mean(axis=0))
        heading += step * motion[2]
    return float(np.linalg.norm(place))


def crawled(overrides, periods):
    """The displacement of the centre in the last of so many periods, or in a part of the first; the mean direction from
    tail to head [m]; the coordinates.
    """
    simulation = load("teaching/snake", overrides).compose()
    body = simulation.bodies[0]
    position, rotation = np.zeros((NODES, 3)), np.zeros((NODES, 3, 3))
    centres, forward, unsolved = [], np.zeros(2), 0

    def look(_, report):
        nonlocal unsolved
        unsolved += not report.solve_info.status.solved

    simulation.observe(look)
    for i in range(max(8 * (periods - 1), 0), round(8 * periods) + 1):
        simulation.run(i * PERIOD / 8.0)
        body.model.compute_frame_poses(simulation.state.body_states[0], position, rotation)
        centres.append(position.mean(axis=0)[:2])
        forward += (position[-1] - position[0])[:2]
    assert unsolved == 0
    return centres[-1] - centres[0], forward / np.linalg.norm(forward), simulation.state.q.copy()


def test_it_crawls_forward_as_far_as_maximum_dissipation_says():
    moved, forward, _ = crawled([], 2)
    expected = predicted_displacement(ANISOTROPIC_COULOMB, SCALES)
    assert expected > 0.5 * LENGTH
    np.testing.assert_allclose(np.linalg.norm(moved), expected, rtol=AS_EXPECTED)
    np.testing.assert_allclose(moved @ forward, np.linalg.norm(moved), rtol=AS_EXPECTED)


def test_with_the_same_friction_every_way_it_stays_in_place():
    moved, _, _ = crawled([f"bodies[0].friction={EVERY_WAY}"], 2)
    assert predicted_displacement(COULOMB, (EVERY_WAY,)) < 0.01 * LENGTH
    assert np.linalg.norm(moved) < 0.01 * LENGTH


@pytest.mark.parametrize("friction", ["{forward=0.1,backward=0.15,sideways=0.5}", f"{EVERY_WAY}"])
def test_lcp_and_qp_agree(friction):
    """An impulse off by the tolerance of 1e-8 N·s moves a node off by that over its mass and the rest of half a period.

    They start straight: where friction holds, equilibria are many.
    """
    ends = []
    for solver in ("lcp", "qp"):
        change = [
            f"bodies[0].friction={friction}",
            f"contact.solver.use={solver}",
            "contact.solver.options={}",
            "start=initial",
        ]
        ends.append(crawled(change, 0.5)[2])
    np.testing.assert_allclose(ends[0], ends[1], rtol=0.0, atol=1e-8 / MASS_OF_NODE * PERIOD / 2)
