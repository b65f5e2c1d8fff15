"""Lines to draw lie on the rod between the places they are led through."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit_gvs.config import Basis, GVSConfig, Joint, Link
from corekit_testing.rounding import rounding

from .robots import Robot


def test_the_line_of_a_bent_rod_is_its_circle():
    """Half a turn over 0.3 m: every point drawn is on the circle of radius 0.3/π, chords would leave it by 2 mm."""
    rod = Link.soft("rod", length=0.3, radius=(0.02, -0.01), strain=(Basis.constant("bend-z"),), points=5)
    post = Link.rigid("post", joint=Joint(kind="fixed"), tip=(0.0, 0.0, 0.1), radius=0.01)
    robot = Robot(GVSConfig(links=(rod, post)))
    line = robot.at([np.pi]).model.compute_outline(robot.state)
    ends = [*line.starts[1:], len(line.points)]
    bent, straight = (slice(int(a), int(b)) for a, b in zip(line.starts, ends, strict=True))
    radius = 0.3 / np.pi
    away = np.hypot(line.points[bent, 0], line.points[bent, 1] - radius)
    np.testing.assert_allclose(away, radius, atol=1e-6)
    np.testing.assert_allclose(line.points[bent][[0, -1]], [[0, 0, 0], [0, 2 * radius, 0]], atol=1e-9)
    np.testing.assert_allclose(line.radius[bent][[0, -1]], [0.02, 0.01], rtol=1e-12)
    assert (np.diff(line.radius[bent]) < 0).all()
    # a rigid link has no axis to follow: its line is straight, though its tip is across its x
    np.testing.assert_allclose(np.ptp(line.points[straight], axis=0), [0.0, 0.0, 0.1], atol=rounding(16))


def test_spheres_are_at_the_asked_places_and_as_thick_as_the_rod_there():
    rod = Link.soft(
        "rod", length=0.3, radius=(0.02, -0.01), strain=(Basis.constant("bend-z"),),
        collision="spheres", spheres=(0.0, 0.1, 0.9, 1.0),
    )  # fmt: skip
    robot = Robot(GVSConfig(links=(rod,)))
    places = [robot.place(f"rod/{k + 1}")[0][0] for k in range(4)]
    np.testing.assert_allclose(places, [0.0, 0.03, 0.27, 0.3], atol=rounding(16))
    sizes = [shape.size[0] for shape in robot.description.shapes]
    np.testing.assert_allclose(sizes, [0.02, 0.019, 0.011, 0.01], rtol=1e-12)
    with pytest.raises(ConfigError, match=r"spheres.*must be left out, for a rigid link"):
        Link.rigid("post", tip=(0.0, 0.0, 0.1), collision="spheres", spheres=(0.5,))
