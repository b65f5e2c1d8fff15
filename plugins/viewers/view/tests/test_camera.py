"""Views are rigid; the automatic view shows the motion from the side."""

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from corekit.geometry.shapes import Shape
from corekit.roles.viewer import ObstacleTrack
from corekit_view.camera import View, automatic_azimuth, automatic_view, window
from corekit_view.frames import key_frames
from corekit_view.raster import rasterise
from corekit_view.scene import Scene, bounds


@given(azimuth=st.floats(-7, 7), elevation=st.floats(-1.5, 1.5))
def test_axes_are_a_right_handed_triad_with_level_horizon(azimuth, elevation):
    axes = View(azimuth, elevation).axes
    assert axes @ axes.T == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert axes[0, 2] == 0.0
    assert axes[1, 2] > 0.0


def test_view_from_minus_y_shows_x_to_the_right_and_z_up():
    assert View(-np.pi / 2, 0.0).project(np.eye(3))[:, :2] == pytest.approx(
        np.array([[1, 0], [0, 0], [0, 1.0]])
    )


def test_window_maps_its_corners_to_the_pictures(planar_rod):
    view = View(0.3, 0.2)
    frame = window(view, bounds(planar_rod()))
    corner = np.array([[frame.left, frame.top, 2.0], [frame.right, frame.bottom, -1.0]])
    assert frame.pixels(corner, 400, 300) == pytest.approx(np.array([[0, 0, -2.0], [400, 300, 1.0]]))


def test_window_contains_all_moving_points(arm_over_box):
    replay, view = arm_over_box(20), View(0.3, 0.2)
    frame = window(view, bounds(replay))
    flat = view.project(replay.bodies[0].outline)
    assert frame.left < flat[..., 0].min()
    assert flat[..., 0].max() < frame.right
    assert frame.bottom < flat[..., 1].min()
    assert flat[..., 1].max() < frame.top


def test_motion_in_the_xz_plane_is_viewed_along_y(planar_rod):
    replay = planar_rod()
    azimuth = automatic_azimuth(replay, bounds(replay), key_frames(replay, 6), 0.3)
    assert abs(np.sin(azimuth)) > 0.9


@pytest.mark.parametrize("turn", [0.0, np.pi / 2, 1.9])
def test_turning_the_scene_about_z_turns_the_camera_with_it(arm_over_box, turn):
    replay = arm_over_box(20)
    c, s = np.cos(turn), np.sin(turn)
    about_z = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    body, box = replay.bodies[0], replay.obstacles[0]
    turned = evolve(
        replay,
        bodies=(
            evolve(
                body,
                outline=body.outline @ about_z.T,
                shape_position=body.shape_position @ about_z.T,
                shape_rotation=about_z @ body.shape_rotation,
            ),
        ),
        obstacles=(evolve(box, position=box.position @ about_z.T, rotation=about_z @ box.rotation),),
    )
    azimuth = automatic_azimuth(turned, bounds(turned), key_frames(turned, 6), 0.3)
    # the slope is along the turned y axis: its profile is visible within 35° of the turned ±x axis
    assert abs(np.cos(azimuth - turn)) > np.cos(np.radians(35))


def test_far_and_huge_obstacles_do_not_shrink_the_arm(arm_over_box):
    replay = arm_over_box(10)
    alone = bounds(evolve(replay, obstacles=()))
    box = replay.obstacles[0]
    far = evolve(box, position=box.position + 50.0)
    huge = evolve(box, shape=evolve(box.shape, size=(50.0, 50.0, 0.05)))
    assert bounds(evolve(replay, obstacles=(far,))).extent == pytest.approx(alone.extent)
    assert bounds(evolve(replay, obstacles=(huge,))).extent < 3.0 * alone.extent


@pytest.mark.parametrize("turn", [0.0, 1.0])
def test_a_planar_world_is_seen_face_on_unless_told_otherwise(planar_rod, turn):
    c, s = np.cos(turn), np.sin(turn)
    about_z = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    replay, corners = planar_rod(), np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.0, 0.1]])
    frames = len(replay.time)
    body = evolve(replay.bodies[0], outline=replay.bodies[0].outline @ about_z.T)
    wall = ObstacleTrack(
        "wall",
        Shape("polygon", (), vertices=corners),
        np.zeros((frames, 3)),
        np.tile(about_z, (frames, 1, 1)),
    )
    world = evolve(replay, bodies=(body,), obstacles=(wall,))
    box, keys = bounds(world), key_frames(world, 6)
    view = automatic_view(world, box, keys, None, None)
    # the plane's own x and z axes are the picture's
    np.testing.assert_allclose(view.project(about_z[:, [0, 2]].T)[:, :2], np.eye(2), atol=1e-12)
    assert automatic_view(world, box, keys, None, 0.2).elevation == 0.2
    solid = evolve(world, obstacles=(evolve(wall, shape=Shape("sphere", (0.1,))),))
    assert automatic_view(solid, box, keys, None, None).elevation == 0.35


@pytest.mark.parametrize("angle", [-np.pi / 2, 0.0, 0.4])
def test_a_half_space_that_is_seen_edge_on_is_filled_on_its_inner_side_alone(planar_rod, angle):
    """The middle of the picture lies in the wall's surface: one half of what is near it is wall, the other free."""
    replay = planar_rod()
    box, frames = bounds(replay), len(replay.time)
    c, s = np.cos(angle), np.sin(angle)
    wall = ObstacleTrack(
        name="wall",
        shape=Shape("half-space", ()),
        position=np.tile(box.centre, (frames, 1)),
        rotation=np.tile(np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]), (frames, 1, 1)),
    )
    view = View(-np.pi / 2, 0.0)
    scene = Scene(
        evolve(replay, bodies=(), obstacles=(wall,)), box, sides=6, thinnest=1e-3, towards=view.axes[2]
    )
    frame = window(view, box)
    _, seen = rasterise(frame.pixels(view.project(scene.soup(0).corners), 200, 200), 200, 200)
    across = np.linspace(-0.05, 0.05, 20)[:, None] * box.extent * np.array([s, 0.0, c]) + box.centre
    column, row, _ = frame.pixels(view.project(across), 200, 200).T
    filled = seen[row.astype(int), column.astype(int)] >= 0
    np.testing.assert_array_equal(filled, np.arange(20) < 10)
