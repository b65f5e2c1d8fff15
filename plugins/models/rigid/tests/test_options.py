import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit.geometry.frames import rotation_from_rpy
from corekit.roles.component import BuildContext
from corekit_rigid._spec import rigid
from corekit_rigid.config import RigidConfig, RigidInitial
from corekit_rigid.model import Rigid
from corekit_testing.rounding import rounding

from .conftest import BODIES, pose, still_of

BAR = tuple((x, y, z) for x in (-0.5, 0.5) for y in (-0.1, 0.1) for z in (-0.1, 0.1))
FLAT = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"shape": "cone"}, "shape = 'cone'.*one of 'sphere'"),
        ({"shape": "box"}, r"size: found 'nothing'; must be \[edge_x, edge_y, edge_z\], each > 0"),
        ({"shape": "box", "size": (0.1, 0.2)}, r"size: found \[0.1, 0.2\]"),
        ({"shape": "disk", "size": (0.1, 0.0)}, r"must be \[radius, thickness\], each > 0"),
        ({"shape": "sphere", "size": (float("nan"),)}, "finite"),
        ({"vertices": FLAT}, "only a polytope has them"),
        ({"shape": "polytope", "vertices": FLAT[:3]}, "at least 4 points"),
        ({"shape": "polytope", "vertices": FLAT}, "they lie in one plane"),
        ({"shape": "polytope", "vertices": (FLAT[0],) * 5}, "they lie in one plane"),
        ({"shape": "polytope", "size": (1.0,), "vertices": FLAT}, "must be left out, for shape 'polytope'"),
        ({"shape": "polytopes"}, "pieces: found '0 pieces'; give them for shape 'polytopes'"),
        ({"pieces": (FLAT,)}, "and for no other"),
        ({"shape": "polytopes", "pieces": (FLAT,)}, r"pieces\[0\]: found '4 points'.*they lie in one plane"),
        (
            {"shape": "polytopes", "pieces": (BAR, BAR)},
            r"pieces\[1\].*must not overlap pieces\[0\].*share 100",
        ),
        ({"mass": 1.0, "density": 2.0}, "the mass or the density, not both"),
        ({"mass": 0.0}, "> 0"),
        ({"density": -1.0}, "> 0"),
        ({"inertia": (1.0, 1.0, 1.0)}, "mass: found 'nothing'; must be given where the inertia is"),
        ({"mass": 1.0, "inertia": (1.0, 1.0)}, "give 3 numbers"),
        ({"mass": 1.0, "inertia": (1.0, 1.0, -1.0)}, "principal moments must be > 0"),
        ({"mass": 1.0, "inertia": (1.0, 1.0, 1.0, 2.0, 0.0, 0.0)}, "principal moments must be > 0"),
        ({"mass": 1.0, "inertia": (1.0, 1.0, 2.1)}, "no body has it"),
        ({"mass": 1.0, "centre_of_mass": (0.1, 0.0, 0.0)}, "inertia: found 'nothing'"),
        ({"pivot": (0.0, 0.0, 0.1)}, "needs fixed_centre = true"),
        ({"linear_damping": -1.0}, "≥ 0"),
        (
            {"linear_damping": 1.0, "fixed_centre": True},
            "linear_damping: found 1.0; must be left out, or give a `pivot`",
        ),
        ({"angular_damping": -1.0}, "≥ 0"),
        ({"friction": -0.1}, "≥ 0"),
    ],
)
def test_bad_options_say_what_is_allowed(options, said):
    with pytest.raises((ConfigError, ValueError), match=said):
        RigidConfig(**options)


def test_pieces_that_cross_need_mass_inertia_and_centre():
    """Bars of 10 × 2 × 2 that cross share a fifth of each, which would weigh twice."""
    pieces = (BAR, tuple((y, x, z) for x, y, z in BAR))
    given: dict[str, Any] = {"mass": 2.0, "inertia": (1.0, 1.0, 1.5), "centre_of_mass": (0.0, 0.0, 0.0)}
    for left_out in ((), ("centre_of_mass",), ("inertia", "centre_of_mass"), tuple(given)):
        told = {key: value for key, value in given.items() if key not in left_out}
        if not left_out:
            assert RigidConfig(shape="polytopes", pieces=pieces, **told).mass_properties().mass == 2.0
            continue
        with pytest.raises(ConfigError, match=r"they share 20\.0% — give mass, inertia and centre_of_mass"):
            RigidConfig(shape="polytopes", pieces=pieces, **told)


def test_all_mistakes_are_reported_at_once():
    with pytest.raises(ConfigError) as caught:
        RigidConfig(shape="box", mass=1.0, density=2.0, pivot=(0.0, 0.0, 0.0))
    assert [mistake.path for mistake in caught.value.mistakes] == ["size", "density", "pivot"]


def test_a_fixed_centre_neither_starts_elsewhere_nor_moves():
    model = Rigid(RigidConfig(fixed_centre=True), BuildContext(path="bodies.top"))
    with pytest.raises(ConfigError) as caught:
        model.compute_initial_state(RigidInitial(position=(1.0, 0, 0), velocity=(1.0, 0, 0)), still_of(model))
    paths = [mistake.path for mistake in caught.value.mistakes]
    assert paths == ["bodies.top.initial.position", "bodies.top.initial.velocity"]


def test_the_base_places_the_shape_s_origin(options, context):
    model = Rigid(RigidConfig(**options), context)
    position, rotation = pose(model, still_of(model))
    # by way of a quaternion and, where the centre is held, of its pivot
    np.testing.assert_allclose(position, context.base.position, atol=rounding(32))
    np.testing.assert_allclose(rotation, context.base.rotation, atol=rounding(32))


def test_the_initial_table_starts_from_the_base(context):
    model = Rigid(RigidConfig(**BODIES["wedge"]), context)
    state = still_of(model)
    rpy, shift = (0.1, 0.5, -0.7), (0.3, 0.2, -0.1)
    model.compute_initial_state(
        RigidInitial(position=shift, rotation_rpy=rpy, velocity=(1, 2, 3), angular_velocity=(4, 5, 6)), state
    )
    position, rotation = pose(model, state)
    base = context.base
    np.testing.assert_allclose(position, base.position + base.rotation @ shift, atol=rounding(64))
    np.testing.assert_allclose(rotation, base.rotation @ rotation_from_rpy(rpy), atol=rounding(64))
    np.testing.assert_array_equal(state.v[:3], (1, 2, 3))
    np.testing.assert_allclose(rotation @ state.v[3:], (4, 5, 6))  # ω is kept in body axes


def test_a_fixed_body_has_three_velocities_and_its_pivot_stays(make):
    model, state, _ = make(BODIES["top"])
    assert (len(model.description.coordinates), len(model.description.velocities)) == (4, 3)
    at_rest = pose(model, still_of(model))
    moved = pose(model, state)
    pivot = np.array(BODIES["top"]["pivot"])
    assert not np.allclose(moved[1], at_rest[1], atol=0.1)
    np.testing.assert_allclose(
        moved[0] + moved[1] @ pivot, at_rest[0] + at_rest[1] @ pivot, atol=rounding(32)
    )


@pytest.mark.parametrize(
    ("options", "kind", "size"),
    [
        ({"shape": "box", "size": (0.1, 0.2, 0.3)}, "box", (0.05, 0.1, 0.15)),
        ({"shape": "disk", "size": (0.1, 0.02)}, "cylinder", (0.1, 0.01)),
        ({"shape": "capsule", "size": (0.1, 0.4)}, "capsule", (0.1, 0.2)),
        ({}, "sphere", (0.05,)),
    ],
)
def test_collision_shapes_take_halves_of_edges_and_lengths(options, kind, size):
    (shape,) = Rigid(RigidConfig(**options)).description.shapes
    assert (shape.kind, shape.frame) == (kind, 0)
    assert shape.size == pytest.approx(size)


def test_a_polytope_s_shape_has_the_corners_of_its_hull():
    corners = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
    (shape,) = Rigid(RigidConfig(shape="polytope", vertices=(*corners, (0.5, 0.5, 0.5)))).description.shapes
    assert shape.vertices is not None
    np.testing.assert_array_equal(shape.vertices, corners)


def test_the_spec_names_what_exists_and_imports_nothing_heavy():
    assert rigid.target == f"{Rigid.__module__}:{Rigid.__name__}"
    assert rigid.config == f"{RigidConfig.__module__}:{RigidConfig.__name__}"
    code = "import sys, corekit_rigid._spec; print('numpy' in sys.modules, 'numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ({"shape": "sphere", "size": (0.05,)}, (1, 1, 1, 0.05, 0.05, 0.05)),
        ({"shape": "capsule", "size": (0.03, 0.2)}, (1, 1, 1, 0.13, 0.13, 0.03)),
        ({"shape": "disk", "size": (0.3, 0.8)}, (1, 1, 1, 0.5, 0.5, 0.3)),
        ({"shape": "box", "size": (0.6, 0.8, 2.4)}, (1, 1, 1, np.hypot(0.4, 1.2), np.hypot(0.3, 1.2), 0.5)),
        (
            {"shape": "sphere", "size": (0.05,), "fixed_centre": True, "pivot": (0.0, 0.0, 0.2)},
            (0.25, 0.25, 0.05),
        ),
    ],
)
def test_velocities_are_weighed_by_how_fast_they_move_the_surface(options, scale):
    """Of ω about an axis that is the distance of the farthest point from it; 32 points stand for a circle."""
    found = Rigid(RigidConfig(**options)).description.velocity_scale
    assert found == pytest.approx(scale, rel=1.0 - np.cos(np.pi / 32))
