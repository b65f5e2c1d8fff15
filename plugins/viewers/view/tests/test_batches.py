"""Instances have the positions of the replay's bodies, shapes and forces."""

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from corekit.data.contacts import ContactMode
from corekit.geometry.frames import rotation_from_quat_wxyz
from corekit_view.batches import batches, rotation_to
from corekit_view.contacts import Arrows, select_arrows
from corekit_view.scene import Scene, bounds

SCALE = 0.02
ARROWS = Arrows(SCALE)


def made(replay):
    return {batch.name: batch for batch in batches(replay, bounds(replay), ARROWS, 0.001)}


def instances(batch, frame):
    """Return the world vertices of every instance, (n, v, 3)."""
    rotation = rotation_from_quat_wxyz(batch.quat_wxyz[frame])
    local = batch.scale[frame][:, None] * batch.mesh.vertices
    return np.einsum("nij,nvj->nvi", rotation, local) + batch.position[frame][:, None]


@given(arrays(np.float64, 3, elements=st.floats(-1, 1)).filter(lambda v: np.linalg.norm(v) > 1e-3))
def test_least_rotation_takes_z_to_the_direction(vector):
    direction = vector / np.linalg.norm(vector)
    quat = rotation_to(direction)
    assert np.linalg.norm(quat) == pytest.approx(1.0)
    assert rotation_from_quat_wxyz(quat)[:, 2] == pytest.approx(direction, abs=2e-6)
    assert quat[3] == pytest.approx(0.0)


def test_straight_down_is_a_half_turn():
    assert rotation_from_quat_wxyz(rotation_to(np.array([0.0, 0, -1]))) @ [0, 0, 1] == pytest.approx(
        [0, 0, -1]
    )


def test_links_join_neighbouring_points(arm_over_box):
    replay = arm_over_box(5)
    body, links = replay.bodies[0], made(replay)["/bodies/0/links"]
    axis = rotation_from_quat_wxyz(links.quat_wxyz)[..., :, 2] * links.scale[..., 2:]
    assert links.position - axis == pytest.approx(body.outline[:, :-1], abs=1e-9)
    assert links.position + axis == pytest.approx(body.outline[:, 1:], abs=1e-9)


def test_a_line_without_thickness_is_drawn_by_no_viewer(arm_over_box):
    """Its body is what its shapes show, in the page as in pictures, in one shade."""
    replay = arm_over_box(2)
    thin = evolve(replay, bodies=[evolve(each, radius=np.zeros_like(each.radius)) for each in replay.bodies])
    bare = evolve(
        replay,
        bodies=[
            evolve(each, outline=each.outline[:, :0], radius=each.radius[:0], starts=each.starts[:0])
            for each in replay.bodies
        ],
    )
    assert "/bodies/0/links" in made(replay)
    assert not {"/bodies/0/links", "/bodies/0/joints"} & set(made(thin))
    box = bounds(replay)
    pictures = [Scene(each, box, sides=6, thinnest=0.01).soup(1) for each in (thin, bare, replay)]
    assert np.array_equal(pictures[0].corners, pictures[1].corners)
    assert np.array_equal(pictures[0].colours, pictures[1].colours)
    assert len(pictures[0].corners) < len(pictures[2].corners)


def test_tube_ends_are_flat_and_end_with_the_outline(arm_over_box):
    replay = arm_over_box(3)
    body, joints = replay.bodies[0], made(replay)["/bodies/0/joints"]
    tip, before = body.outline[2, -1], body.outline[2, -2]
    tangent = (tip - before) / np.linalg.norm(tip - before)
    beyond = (instances(joints, 2) - tip) @ tangent
    assert beyond.max() < 0.05 * body.radius[-1]


def test_force_arrows_start_at_the_contact_and_point_along_the_force(arm_over_box):
    replay = arm_over_box(60)
    found = made(replay)
    for word, mode in (("stick", ContactMode.STICK), ("slide", ContactMode.SLIDE)):
        shafts, heads = found[f"/contacts/{word}/shafts"], found[f"/contacts/{word}/heads"]
        contact = replay.contacts[-1]
        chosen = contact.mode == mode
        point, force = contact.point[chosen], contact.force[chosen]
        count = len(point)
        assert count > 0
        axis = rotation_from_quat_wxyz(shafts.quat_wxyz[-1, :count])[:, :, 2]
        tail = shafts.position[-1, :count] - shafts.scale[-1, :count, 2:] * axis
        tip = heads.position[-1, :count] + heads.scale[-1, :count, 2:] * axis
        assert tail == pytest.approx(point, abs=1e-9)
        assert tip - tail == pytest.approx(SCALE * force, abs=1e-9)


def test_unused_contacts_have_no_size(arm_over_box):
    points = made(arm_over_box(60))["/contacts/slide/points"]
    assert points.scale.shape[1] == 3
    assert not points.scale[0].any()


def test_without_contacts_there_are_no_contact_batches(arm_over_box):
    assert not any(name.startswith("/contacts") for name in made(arm_over_box(5, contacts=False)))


def test_capsules_are_a_cylinder_and_two_spheres(fallen_bodies):
    replay = fallen_bodies()
    body, found = replay.bodies[0], made(replay)
    radius, half = body.shapes[0].size
    axis = body.shape_rotation[0, 0, :, 2]
    balls = found["/bodies/0/sphere"].position[0, :2]
    assert balls == pytest.approx(body.shape_position[0, 0] + half * np.array([-axis, axis]))
    spread = instances(found["/bodies/0/cylinder"], 0)[0] - body.shape_position[0, 0]
    assert np.abs(spread @ axis).max() == pytest.approx(half, rel=0.01)
    assert np.linalg.norm(np.cross(spread, axis), axis=1).max() == pytest.approx(radius, rel=0.01)


def test_half_space_patch_lies_in_the_plane_near_the_bodies(fallen_bodies):
    replay = fallen_bodies()
    ground = replay.obstacles[0]
    cells = instances(made(replay)["/obstacles/0/even"], 0)[0]
    assert (cells - ground.position[0]) @ ground.rotation[0, :, 2] == pytest.approx(0.0, abs=1e-9)
    assert np.linalg.norm(cells.mean(axis=0) - bounds(replay).centre) < bounds(replay).extent


def test_only_bodies_that_would_hide_forces_are_transparent(arm_over_box, fallen_bodies):
    def opacity(replay, arrows):
        found = batches(replay, bounds(replay), arrows, 0.001)
        return {batch.name.split("/")[1]: batch.opacity for batch in found}

    assert opacity(arm_over_box(60), ARROWS) == {"bodies": 0.4, "obstacles": 1.0, "contacts": 1.0}
    assert opacity(arm_over_box(5, contacts=False), Arrows(0.0))["bodies"] == 1.0
    assert opacity(fallen_bodies(), ARROWS)["bodies"] == 1.0  # rods of 12 mm in a scene of more than a metre


def test_an_impact_is_shortened_so_that_steady_forces_are_visible(arm_over_box):
    replay = arm_over_box(60)
    blow = evolve(replay.contacts[-1], force=1000.0 * replay.contacts[-1].force)
    usual = select_arrows(replay, 1.0, None)
    struck = select_arrows(evolve(replay, contacts=(*replay.contacts[:-1], blow)), 1.0, None)
    assert struck.scale == pytest.approx(usual.scale, rel=0.6)
    assert struck.cut(blow.force).all()
    lengths = np.linalg.norm(struck.vectors(blow.force), axis=1)
    assert lengths == pytest.approx(np.full(len(lengths), 0.2))
    assert not usual.cut(np.concatenate([contact.force for contact in replay.contacts])).any()


def test_the_scale_of_the_user_is_kept(arm_over_box):
    arrows = select_arrows(arm_over_box(60), 1.0, 0.5)
    assert arrows.vectors(np.array([[0.0, 300.0, 0.0]])) == pytest.approx(np.array([[0.0, 150.0, 0.0]]))
