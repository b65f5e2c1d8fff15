"""Friction of pairs of surfaces: which coefficient wins, whose axis counts, and where the first tangent points."""

import math

import numpy as np
import pytest
from attrs import evolve

from corekit.data.signals import Constant
from corekit.errors import CompositionError
from corekit.geometry.frames import Pose, rotation_from_rpy
from corekit.geometry.shapes import Shape
from corekit.roles.body import stack_bodies
from corekit.roles.collision_scene import CollisionScene
from corekit.roles.friction import (
    ANISOTROPIC_COULOMB,
    COULOMB,
    FrictionLaw,
    SurfaceFriction,
    surface_friction,
)
from corekit.roles.model import ModelDescription
from corekit.roles.obstacles import Obstacle
from corekit.roles.surface_pairs import assign_friction_records, friction_table
from corekit_testing.rounding import rounding

SCALES = {"forward": 0.2, "backward": 0.8, "sideways": 0.5}


class Solid:
    """A body of which only shapes matter."""

    def __init__(self, *shapes, self_contact=False):
        self.description = ModelDescription(
            coordinates=(),
            velocities=(),
            inputs=(),
            frames=("frame",),
            shapes=shapes,
            self_contact=self_contact,
        )


def capsule(friction=None, offset=None):
    return Shape("capsule", (0.01, 0.05), friction=friction, offset=offset or Pose())


def table(bodies, obstacles=(), explicit=None, otherwise=None):
    """The friction table of bodies, name → (solid, friction), and of half-spaces, name → friction."""
    stacked = stack_bodies(
        [(name, solid, frozenset(), {}, friction) for name, (solid, friction) in bodies.items()]
    )
    zero = Constant((0.0, 0.0, 0.0))
    around = [
        Obstacle(
            name=name, shape=Shape("half-space", ()), position=zero, rotation_rpy=zero, friction=friction
        )
        for name, friction in dict(obstacles).items()
    ]
    return friction_table(CollisionScene(stacked, around), stacked, around, explicit or {}, otherwise)


def test_a_pair_takes_its_entry_else_the_one_value_else_the_geometric_mean():
    made = table(
        {"a": (Solid(capsule(), capsule(friction=0.9)), 0.4), "b": (Solid(capsule()), None)},
        {"floor": 0.1},
        {("floor", "b"): 0.7},
        otherwise=0.3,
    )
    assert made.law is COULOMB
    assert made.record.shape[2] == 0
    a, own, b, floor = made.surface
    np.testing.assert_allclose(made.coefficient[a, floor], math.sqrt(0.4 * 0.1), rtol=rounding(4))
    np.testing.assert_allclose(made.coefficient[own, floor], math.sqrt(0.9 * 0.1), rtol=rounding(4))
    assert made.coefficient[a, b] == 0.4
    assert made.coefficient[b, floor] == made.coefficient[floor, b] == 0.7
    assert made.coefficient[b, b] == 0.3


def test_a_law_says_what_one_coefficient_is_in_its_own_units_and_0_is_no_friction_in_any():
    """An ellipse whose second number is its ratio of axes, 1 for a circle: not the coefficient."""
    oval = FrictionLaw(
        name="lab:oval", coefficients=("friction", "ratio"),
        gauge=lambda record, along, across: math.hypot(along, across * record[1]) / record[0],
        dissipation=lambda record, along, across: record[0] * math.hypot(along, across / record[1]),
        isotropic=lambda coefficient: (coefficient, 1.0),
    )  # fmt: skip
    made = table(
        {"a": (Solid(capsule()), SurfaceFriction(oval, (0.4, 4.0))), "b": (Solid(capsule()), None)},
        {"rough": 0.9, "smooth": 0.0, "bare": None},
        otherwise=0.3,
    )
    a, b, rough, smooth, bare = made.surface
    np.testing.assert_allclose(made.record[a, rough], [0.6, 2.0], rtol=rounding(4))
    np.testing.assert_allclose(made.coefficient[a, rough], 0.6, rtol=rounding(8))
    np.testing.assert_array_equal(made.record[b, rough], [0.9, 1.0])
    np.testing.assert_array_equal(made.record[b, bare], [0.3, 1.0])
    np.testing.assert_array_equal(made.record[a, bare], [0.4, 4.0])
    for other in (a, b):
        np.testing.assert_array_equal(made.record[other, smooth], [0.0, 0.0])
        assert made.coefficient[other, smooth] == 0.0


def test_lengths_are_combined_or_that_of_one_surface_holds():
    """What does not slide with friction has none."""
    made = table(
        {"a": (Solid(capsule()), {"sliding": 0.4, "torsional": 0.01, "rolling": 0.001}), "b": (Solid(capsule()), None)},
        {
            "one": 0.9, "both": {"sliding": 0.9, "torsional": 0.04}, "none": {"sliding": 0.9, "torsional": 0.0},
            "ice": 0.0, "named": 0.1,
        },
        {("named", "b"): {"sliding": 0.5, "rolling": 0.02}},
        otherwise=0.3,
    )  # fmt: skip
    a, b, one, both, none, ice, named = made.surface
    for other, length in ((one, 0.01), (both, 0.02), (none, 0.0)):
        np.testing.assert_allclose(made.coefficient[a, other], 0.6, rtol=rounding(4))
        np.testing.assert_allclose(made.torsional[a, other], length, rtol=rounding(8))
        assert made.torsional[other, a] == made.torsional[a, other]
        assert made.rolling[a, other] == made.rolling[other, a] == 0.001
    for pair in ((a, ice), (b, one), (b, b)):
        assert made.torsional[pair] == made.rolling[pair] == 0.0
    assert (made.torsional[a, b], made.rolling[a, b]) == (0.01, 0.001)
    assert (made.torsional[b, named], made.rolling[b, named], made.rolling[named, b]) == (0.0, 0.02, 0.02)
    assert made.resists_turning


def test_equal_bodies_are_one_surface_but_for_those_that_an_entry_names():
    """A table of every two of 1,000 names would be quadratic in a pile."""
    made = table({name: (Solid(capsule()), None) for name in "abcde"}, {}, {("a", "b"): 0.7}, otherwise=0.2)
    a, b, *others = made.surface
    assert made.coefficient.shape == (3, 3)
    assert len(set(others)) == 1
    assert made.coefficient[a, b] == made.coefficient[b, a] == 0.7
    assert made.coefficient[a, others[0]] == made.coefficient[others[0], others[0]] == 0.2


def test_coefficients_of_a_direction_meet_one_coefficient_in_geometric_means():
    made = table({"snake": (Solid(capsule()), SCALES)}, {"floor": 0.5, "ice": None})
    assert made.law is ANISOTROPIC_COULOMB
    snake, floor, ice = made.surface
    np.testing.assert_allclose(
        made.record[snake, floor], np.sqrt([0.2 * 0.5, 0.8 * 0.5, 0.5 * 0.5]), rtol=rounding(4)
    )
    np.testing.assert_array_equal(made.record[snake, ice], [0.2, 0.8, 0.5])
    assert made.coefficient[snake, ice] == 0.8
    assert (made.axis_owner[snake, floor], made.axis_owner[floor, snake]) == (1, 2)
    assert made.axis_owner[floor, ice] == 0


def test_an_entry_is_along_the_axis_of_the_first_one_named():
    bodies = {"one": (Solid(capsule()), SCALES), "two": (Solid(capsule()), SCALES)}
    made = table(bodies, explicit={("two", "one"): SCALES})
    one, two = made.surface
    assert (made.axis_owner[one, two], made.axis_owner[two, one]) == (2, 1)


def test_two_directions_in_one_contact_are_refused_unless_an_entry_says_which_counts():
    worm = {"worm": (Solid(capsule(), self_contact=True), SCALES)}
    with pytest.raises(CompositionError, match="'worm' can touch itself"):
        table(worm)
    assert table(worm, explicit={("worm", "worm"): 0.3}).coefficient[0, 0] == 0.3
    assert table({"worm": (Solid(capsule()), SCALES)}).coefficient[0, 0] == 0.0
    with pytest.raises(CompositionError, match=r"'worm' and 'rug' can touch.*between"):
        table(worm, {"rug": {**SCALES, "axis": [1, 0, 0]}}, {("worm", "worm"): 0.3})


def test_a_shape_without_axis_needs_one():
    ball = {"ball": (Solid(Shape("sphere", (0.1,))), SCALES)}
    with pytest.raises(CompositionError, match=r"a sphere has no axis: give `axis = \[x, y, z\]`"):
        table(ball, {"floor": None})
    turned = Pose(np.zeros(3), rotation_from_rpy((0.3, -0.7, 1.1)))
    made = table(
        {"ball": (Solid(capsule(offset=turned)), {**SCALES, "axis": [3.0, 0.0, 4.0]})}, {"floor": None}
    )
    np.testing.assert_allclose(turned.rotation @ made.axis[0], [0.6, 0.0, 0.8], atol=rounding(20))


def test_axes_that_contradict_each_other_are_refused():
    body = {"ball": (Solid(Shape("sphere", (0.1,))), {**SCALES, "axis": [1, 0, 0]})}
    with pytest.raises(CompositionError, match="two axes"):
        table(body, {"floor": None}, {("ball", "floor"): {**SCALES, "axis": [0, 1, 0]}})


def test_two_laws_in_one_world_are_refused():
    other = evolve(ANISOTROPIC_COULOMB, name="lab:other")
    bodies = {
        "one": (Solid(capsule()), SCALES),
        "two": (Solid(capsule()), SurfaceFriction(other, (0.1, 0.2, 0.3))),
    }
    with pytest.raises(CompositionError, match=r"one friction law.*anisotropic-coulomb and lab:other"):
        table(bodies, {"floor": 0.5})


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("edge", [False, True])
def test_the_first_tangent_is_the_axis_in_the_tangent_plane(second, edge):
    random = np.random.default_rng(3)
    for _ in range(20):
        rotation = rotation_from_rpy(random.uniform(-3, 3, 3))
        normal = random.normal(size=3)
        normal /= np.linalg.norm(normal)
        axis = random.normal(size=3)
        axis /= np.linalg.norm(axis)
        world = rotation @ axis
        shape = 1 if second else 0
        local, position, end = np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 3))
        if edge:
            position[shape], end[shape] = random.normal(size=(2, 3))
            world = end[shape] - position[shape]
        else:
            local[shape] = axis
        tangent, record = np.zeros((1, 3)), np.zeros((1, 3))
        owner = np.array([[0, 2], [1, 0]]) if second else np.array([[0, 1], [2, 0]])
        assign_friction_records(
            1, False, np.array([0, 1]), np.full((2, 2, 3), 0.4), owner, local, np.array([rotation] * 2),
            position, end, np.array([[0, 1]]), normal[None], tangent, record,
        )  # fmt: skip
        along = world - normal * (world @ normal)
        # forward of the second is backward of the first
        expected = (-1.0 if second else 1.0) * along / np.linalg.norm(along)
        np.testing.assert_allclose(
            tangent[0], expected, atol=rounding(40, 1.0 / float(np.linalg.norm(along)))
        )
        np.testing.assert_array_equal(record, 0.4)


def test_an_axis_along_the_normal_leaves_the_tangent():
    tangent, record = np.array([[0.6, 0.8, 0.0]]), np.zeros((1, 3))
    assign_friction_records(
        1, False, np.array([0, 1]), np.full((2, 2, 3), 0.4), np.array([[0, 1], [2, 0]]),
        np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]), np.array([np.eye(3)] * 2), np.zeros((2, 3)), np.zeros((2, 3)),
        np.array([[0, 1]]), np.array([[0.0, 0.0, 1.0]]), tangent, record,
    )  # fmt: skip
    np.testing.assert_array_equal(tangent, [[0.6, 0.8, 0.0]])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"forward": 0.2, "backward": 0.8}, "lacks sideways"),
        ({**SCALES, "forward": 0.0}, "forward must be a number > 0"),
        ({**SCALES, "sideways": True}, "sideways must be a number > 0"),
        ({**SCALES, "across": 0.1}, "unknown key 'across'"),
        ({**SCALES, "axis": [0, 0, 0]}, "axis must be three numbers"),
        ({**SCALES, "law": "viscous"}, "unknown friction law 'viscous'"),
        ({"law": "coulomb", "friction": 0.3, "axis": [1, 0, 0]}, "unknown key 'axis'"),
    ],
)
def test_a_table_that_says_too_little_or_too_much_is_refused(value, words):
    with pytest.raises(ValueError, match=words):
        surface_friction(value)


def test_a_coefficient_is_coulombs_law():
    assert surface_friction(0.3) == SurfaceFriction(COULOMB, (0.3,))
    assert surface_friction({"law": "coulomb", "friction": 0.3}) == SurfaceFriction(COULOMB, (0.3,))
    assert surface_friction(None) is None


def test_maximum_dissipation_is_that_of_all_admissible_friction():
    """d of (4) against the largest −f·w over many f on the edge of F: it exceeds that by the sagitta alone."""
    record = (0.2, 0.8, 0.5)
    angle = np.linspace(0.0, 2.0 * np.pi, 20_001)
    unit = np.array([np.cos(angle), np.sin(angle)])
    edge = unit * [np.where(unit[0] <= 0.0, 0.2, 0.8), np.full(angle.size, 0.5)]
    assert max(abs(ANISOTROPIC_COULOMB.gauge(record, *f) - 1.0) for f in edge.T[::97]) <= rounding(10)
    for w in np.random.default_rng(0).normal(size=(40, 2)):
        most = ANISOTROPIC_COULOMB.dissipation(record, *w)
        sagitta = (angle[1] - angle[0]) ** 2 / 8.0 * 0.8 * np.linalg.norm(w)
        assert -rounding(10) <= most - (-edge.T @ w).max() <= sagitta + rounding(10)
