"""Which collision shapes are drawn beside the tube of their body, and how large."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.geometry.shapes import Shape
from corekit.roles.viewer import BodyTrack
from corekit_view.skin import drawn_sizes

ALONG_X = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""Turns the axis of a capsule, z, to x."""


def track(shape: Shape, position: list[float], tip_radius: float = 0.01) -> BodyTrack:
    """A tube along x, 100 mm long and 10 mm thick at its base, with one shape along it."""
    points = np.zeros((1, 11, 3))
    points[0, :, 0] = np.linspace(0.0, 0.1, 11)
    return BodyTrack(
        "arm", points, np.linspace(0.01, tip_radius, 11), np.zeros(1, dtype=np.int64), (shape,),
        np.array([[position]]), ALONG_X[None, None],
    )  # fmt: skip


BALL, CAPSULE = Shape("sphere", (0.01,)), Shape("capsule", (0.01, 0.02))


@pytest.mark.parametrize(
    ("shape", "position", "size"),
    [
        (CAPSULE, [0.05, 0.0, 0.0], 0.0),  # within
        (CAPSULE, [0.025, 0.0, 0.0], 0.985),  # looks out of the base by 5 mm
        (CAPSULE, [0.05, 0.002, 0.0], 1.0),  # beside the axis
        (BALL, [0.05, 0.0, 0.0], 0.0),
        (BALL, [0.1, 0.0, 0.0], 0.985),
        (Shape("sphere", (0.012,)), [0.05, 0.0, 0.0], 1.0),  # thicker than the tube
        (Shape("box", (0.001, 0.001, 0.001)), [0.05, 0.0, 0.0], 1.0),
    ],
)
def test_what_the_tube_shows_already_is_not_drawn_again(shape, position, size):
    assert drawn_sizes(track(shape, position)).tolist() == [size]


def test_a_ball_is_compared_with_the_tube_where_it_is():
    """Half way along a tube that tapers to nothing a ball of its first radius stands out."""
    assert drawn_sizes(track(BALL, [0.05, 0.0, 0.0], tip_radius=0.0)).tolist() == [1.0]
    assert drawn_sizes(track(Shape("sphere", (0.005,)), [0.05, 0.0, 0.0], tip_radius=0.0)).tolist() == [0.0]


def test_without_an_outline_every_shape_is_drawn():
    bare = BodyTrack(
        "ball", np.zeros((1, 0, 3)), np.zeros(0), np.zeros(0, dtype=np.int64), (BALL,), np.zeros((1, 1, 3)),
        np.eye(3)[None, None],
    )  # fmt: skip
    assert drawn_sizes(bare).tolist() == [1.0]
