"""What hangs on the place `world`, the base's frame, goes with a base that moves, and gives it no momentum."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.data.state import State
from corekit.geometry.frames import rotation_from_rpy
from corekit.roles.component import BuildContext
from corekit_gvs.config import Basis, GVSConfig, GVSInitial, Joint, Link, Loop, Tendon
from corekit_gvs.model import GVS

BASE = 6
CONFIG = GVSConfig(
    links=(
        Link.soft(
            "arm", length=0.3, radius=0.01, young=1e5, strain=(Basis.legendre(1, "bend-y", "bend-z", "stretch"),)
        ),
        Link.rigid("beside", on="world", mass=0.1, tip=(0.0, 0.1, 0.0), joint=Joint(kind="revolute", axis="z")),
    ),
    tendons=(Tendon(name="t", first="world", first_offset=(0.0, 0.02, 0.1), second="arm.tip"),),
    loops=(Loop(name="end", first="arm.tip", second_offset=(0.25, 0.0, 0.1), joint=Joint(kind="spherical")),),
)  # fmt: skip


def answers(moving):
    """f of 2 N in the tendon and nothing else, errors and rows of the loop, and the tip seen from the base."""
    model = GVS(CONFIG, BuildContext(gravity=np.zeros(3), free_base=moving))
    about = model.description
    n = len(about.velocities)
    state = State.zeros(len(about.coordinates), n, about.aux)
    model.compute_initial_state(GVSInitial(), state)
    place, turn = np.zeros(3), np.eye(3)
    if moving:
        place, turn = np.array([0.4, 1.0, -0.2]), rotation_from_rpy((0.5, -2.0, 1.0))
        model.place_base(state, place, turn, np.zeros(3), np.zeros(3))
    state.q[n - 7 :] = [1.0, -2.0, 3.0, 0.5, 0.02, -0.01, 0.4]
    forces = []
    for tension in (2.0, 0.0):
        force = np.zeros(n)
        model.compute_mass_and_force(state, np.array([tension]), model.new_mass_matrix(), force)
        forces.append(force)
    rows = model.new_constraints()
    model.compute_constraints(state, np.zeros(1), rows)
    dense = np.zeros((rows.count, n))
    np.add.at(dense, (np.arange(rows.count)[:, None], rows.dofs), rows.values)
    position, rotation = np.zeros((len(about.frames), 3)), np.zeros((len(about.frames), 3, 3))
    model.compute_frame_poses(state, position, rotation)
    ends = [about.frames.index(name) for name in ("arm.tip", "beside.tip")]
    return forces[0] - forces[1], rows.position_error.copy(), dense, (position[ends] - place) @ turn


def test_what_joins_a_body_to_its_base_knows_no_motion_of_the_base():
    """An inner force has no power in a rigid motion, and shapes and rows are those on a base that stands."""
    (pull, error, J, ends), (still_pull, still_error, still_J, still_ends) = answers(True), answers(False)
    scale = np.abs(still_pull).max()
    np.testing.assert_allclose(pull[:BASE], 0.0, atol=1e-13 * scale)
    np.testing.assert_allclose(pull[BASE:], still_pull, rtol=1e-11, atol=1e-13)
    assert scale > 0.01
    np.testing.assert_allclose(ends, still_ends, atol=1e-14)
    np.testing.assert_allclose(error, still_error, atol=1e-14)
    assert np.linalg.norm(error) > 0.01
    np.testing.assert_allclose(J[:, :BASE], 0.0, atol=1e-13)
    np.testing.assert_allclose(J[:, BASE:], still_J, atol=1e-13)


@pytest.mark.parametrize("kind", ["tension", "length"])
def test_a_tendon_to_the_base_keeps_its_length_as_the_base_moves(kind):
    """T at rest is that of the drive whatever the pose; K has no part of a rigid motion."""
    tendon = Tendon(
        name="t", first="world", first_offset=(0.0, 0.02, 0.1), second="arm.tip", drive=kind,
        stiffness=500.0 if kind == "length" else None,
    )  # fmt: skip
    config = GVSConfig(links=CONFIG.links[:1], tendons=(tendon,))
    model = GVS(config, BuildContext(gravity=np.zeros(3), free_base=True))
    n = len(model.description.velocities)
    state = State.zeros(len(model.description.coordinates), n, model.description.aux)
    model.compute_initial_state(GVSInitial(), state)
    state.q[BASE:] = [1.0, -2.0, 3.0, 0.5, 0.02, -0.01]
    found = []
    for at, turn in (((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), ((3.0, -1.0, 0.5), (0.4, 0.2, -1.5))):
        model.place_base(state, np.array(at), rotation_from_rpy(turn), np.zeros(3), np.zeros(3))
        force = np.zeros(n)
        K, D = model.new_stiffness_and_damping()
        inputs = np.array([0.02])
        model.compute_mass_and_force(state, inputs, model.new_mass_matrix(), force)
        model.compute_stiffness_and_damping(state, inputs, K, D)
        found.append((force, K.dense()))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-11)
    for force, K in found:
        np.testing.assert_allclose(force[:BASE], 0.0, atol=1e-11)
        np.testing.assert_allclose(K[:BASE], 0.0, atol=1e-9)
        np.testing.assert_allclose(K[:, :BASE], 0.0, atol=1e-9)
