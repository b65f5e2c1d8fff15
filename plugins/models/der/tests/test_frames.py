"""Parallel transport, holonomy, and twists of many turns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corekit_der.config import Clamp, Limb
from corekit_der.elastic_forces import compute_strains
from corekit_der.frames import transport_directors
from corekit_der.vectors import transport
from corekit_testing.rounding import rounding

unit = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda v: np.linalg.norm(v) > 0.1)


@settings(deadline=None)
@given(unit, unit, unit)
def test_transport_is_the_smallest_rotation(a, b, v):
    """It preserves lengths, maps a to b, and does not change the axis a × b."""
    a, b = (tuple(np.array(x) / np.linalg.norm(x)) for x in (a, b))
    if np.dot(a, b) < -0.99:
        return
    assert np.linalg.norm(transport(a, b, v)) == pytest.approx(np.linalg.norm(v), rel=1e-12)
    assert transport(a, b, a) == pytest.approx(b, abs=1e-12)
    axis = tuple(np.cross(a, b))
    assert transport(a, b, axis) == pytest.approx(axis, abs=1e-12)


@pytest.mark.parametrize("cone", [0.3, 1.0, 1.4])
def test_transport_around_a_loop_turns_a_director_by_the_enclosed_solid_angle(cone):
    """The holonomy of a circle of latitude is 2π·(1 − cos ψ)."""
    angle = np.linspace(0.0, 2 * np.pi, 4001)
    tangent = np.column_stack(
        [np.sin(cone) * np.cos(angle), np.sin(cone) * np.sin(angle), np.full_like(angle, np.cos(cone))]
    )
    carried = transport_directors(tangent, np.array([0.0, 1.0, 0.0]))
    first, last, t = carried[0], carried[-1], tangent[0]
    turned = np.arctan2(np.cross(first, last) @ t, first @ last)
    # the sign depends on the sense of the loop in the axes of the tangent plane
    errors = [turned + sign * 2 * np.pi * (1.0 - np.cos(cone)) for sign in (1, -1)]
    closest = min(abs(x - 2 * np.pi * np.rint(x / (2 * np.pi))) for x in errors)
    assert closest < 1e-5


def test_twist_counts_the_turns_of_an_edge_around_a_cone(rod):
    """Three turns of the second edge about the first, without spin, twist the rod by 3·2π·(1 − cos ψ)."""
    cone, turns = np.pi / 3, 3
    limb = Limb(points=((0, 0, 0), (0, 0, 1.0), (np.sin(cone), 0, 1 + np.cos(cone))), young=(1e5,))
    made = rod(limb, clamps=(Clamp(at="rod.start", kind="edge"),))
    renewed = []
    x = made.indices("rod-2-x", "rod-2-y")
    angle = made.indices("rod-1-angle")[0]
    for phi in np.linspace(0.0, 2 * np.pi * turns, 400 * turns + 1)[1:]:
        step = np.zeros(made.size)
        step[x] = np.sin(cone) * np.array([np.cos(phi), np.sin(phi)]) - made.state.q[x]
        made.force()
        step[angle] = -made.tables.edge_state[1, 10:12] @ step[x]  # the edge does not spin
        made.state = made.displace(step)
        if made.model.reparametrise(made.state):
            renewed.append(phi)
    assert len(renewed) > 5
    found = np.zeros((1, 3))
    compute_strains(made.tables, made.state.q, made.state.aux, found)
    assert abs(found[0, 2]) == pytest.approx(2 * np.pi * turns * (1.0 - np.cos(cone)), rel=5e-3)


def test_a_rod_twisted_by_many_turns_keeps_its_branch(rod):
    """Twenty turns of the last edge give the energy ½·GJ·α²/L."""
    limb = Limb(start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), nodes=5, young=(1e5,))
    made = rod(limb)
    angles = made.indices(*(f"rod-{i}-angle" for i in range(4)))
    step = np.zeros(made.size)
    step[angles] = 2 * np.pi * 20 * np.arange(4) / 3
    made.state = made.displace(step)
    GJ = made.tables.pair_stiffness[0, 2]
    assert made.model.compute_energies(made.state)[1] == pytest.approx(
        3 * 0.5 * GJ * (2 * np.pi * 20 / 3) ** 2, rel=1e-12
    )


def test_reparametrisation_is_reported_and_does_not_change_the_frames(rod):
    limb = Limb(start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), nodes=4, young=(1e5,))
    made = rod(limb, collision="capsules")
    assert not made.model.reparametrise(made.state)
    x = made.nodes("rod", 4)
    step = np.zeros(made.size)
    bent = np.array([[0, 0, 0], [0.2, 0, 0.25], [0.25, 0.1, 0.55], [0.2, 0.3, 0.8]])
    step[x] = bent - made.state.q[x]
    made.state = made.displace(step)
    before = made.state.copy()
    assert made.model.reparametrise(made.state)
    assert not made.model.reparametrise(made.state)
    frames = len(made.description.frames)
    poses = []
    for state in (before, made.state):
        position, rotation = np.zeros((frames, 3)), np.zeros((frames, 3, 3))
        made.model.compute_frame_poses(state, position, rotation)
        poses.append((position, rotation))
    assert poses[1][0] == pytest.approx(poses[0][0], abs=rounding(64))
    assert poses[1][1] == pytest.approx(poses[0][1], abs=1e-13)
