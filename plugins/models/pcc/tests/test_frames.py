import numpy as np
import pytest

from corekit_pcc.config import PCCConfig
from corekit_pcc.model import PCC
from corekit_testing.rounding import rounding


def _poses(model, state):
    count = len(model.description.frames)
    position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
    model.compute_frame_poses(state, position, rotation)
    return position, rotation


def _rows(model, state, frame, local):
    n = len(model.description.velocities)
    dofs, values = np.zeros((frame.size, n), dtype=np.int64), np.full((frame.size, 3, n), np.nan)
    model.compute_point_jacobians(state, frame, local, dofs, values)
    return dofs, values


def _places(config):
    """(section, s) of every frame, spelled out from the options."""
    places = [(0, 0.0)]
    for i, inside in enumerate(config.spread("disks")):
        places += [(i, k / (inside + 1)) for k in range(1, inside + 2)]
    return places


def test_poses_are_products_of_exponentials(options, build, moving):
    model, reference = build(**options)
    state, _ = moving(model)
    position, rotation = _poses(model, state)
    for f, (i, s) in enumerate(_places(reference.config)):
        expected = reference.pose(state.q, i, s)
        assert position[f] == pytest.approx(expected[:3, 3], rel=0, abs=reference.rounding(expected))
        assert rotation[f] == pytest.approx(expected[:3, :3], rel=0, abs=reference.rounding(expected))


def test_rows_are_derivatives_of_material_points(options, build, moving):
    model, reference = build(**options)
    state, _ = moving(model)
    frame = np.arange(len(model.description.frames))
    local = np.random.default_rng(1).normal(size=(frame.size, 3)) * 0.06
    dofs, values = _rows(model, state, frame, local)
    assert np.array_equal(dofs, np.tile(np.arange(state.v.size), (frame.size, 1)))
    for f, (i, s) in enumerate(_places(reference.config)):

        def point(q, i=i, s=s, f=f):
            return (reference.pose(q, i, s) @ [*local[f], 1.0])[:3]

        expected = reference.derivative(point, state.q)
        assert values[f] == pytest.approx(expected, rel=0, abs=reference.rounding(expected))


def test_a_point_moves_only_with_sections_before_it(build, moving):
    model, _ = build(sections=4, mass=0.3, disks=0)
    state, _ = moving(model)
    _, values = _rows(model, state, np.arange(5), np.full((5, 3), 0.02))
    for f in range(5):
        assert not values[f, :, 3 * f :].any()
        assert values[f, :, : 3 * f].any(axis=0).all()


def test_frames_in_any_order_and_repeated_give_the_same_rows(build, moving):
    model, _ = build()
    state, _ = moving(model)
    frame = np.array([12, 3, 3, 7, 0])
    local = np.random.default_rng(2).normal(size=(5, 3)) * 0.05
    together = _rows(model, state, frame, local)[1]
    alone = [_rows(model, state, frame[k : k + 1], local[k : k + 1])[1][0] for k in range(5)]
    assert together == pytest.approx(np.array(alone), abs=rounding(64))


@pytest.mark.parametrize(("disks", "moving_disks"), [(3, 12), (6, 21), ((0, 2, 1), 6)])
def test_disks_stand_inside_and_at_the_end_of_every_section(disks, moving_disks):
    description = PCC(PCCConfig(disks=disks)).description
    assert len(description.frames) == moving_disks + 1
    assert [shape.frame for shape in description.shapes] == list(range(moving_disks + 1))
    assert {shape.kind for shape in description.shapes} == {"cylinder"}
    assert description.frames[0] == "base"
    assert description.frames[-1] == "section-3-tip"
    assert len(set(description.frames)) == len(description.frames)


def test_without_a_base_disk_the_base_still_has_its_frame():
    description = PCC(PCCConfig(base_disk=False, disk_radius=(0.06, 0.05, 0.04), friction=0.4)).description
    assert description.frames[0] == "base"
    assert [shape.frame for shape in description.shapes] == list(range(1, 13))
    assert [shape.size[0] for shape in description.shapes[::4]] == [0.06, 0.05, 0.04]
    assert {shape.friction for shape in description.shapes} == {0.4}


def test_neighbouring_disks_never_touch_each_other():
    description = PCC(PCCConfig(disks=(1,), self_contact=True)).description
    assert description.self_contact
    assert description.excluded_pairs.tolist() == [[k, k + 1] for k in range(6)]
    assert not PCC(PCCConfig()).description.self_contact


def test_outline_follows_the_backbone(build, moving):
    model, reference = build(plate_thickness=0.02)
    state, _ = moving(model)
    outline = model.compute_outline(state)
    assert outline.points[0] == pytest.approx(reference.base[:3, 3])
    # the reference's exponentials are squared six times, which amplifies rounding 64 times, in three sections
    rounded = rounding(3 * 16, 64.0)
    # the reference's exponentials are squared six times, which amplifies rounding 64 times, in three sections
    rounded = rounding(3 * 16, 64.0)
    assert outline.points[-1] == pytest.approx(reference.pose(state.q, 2, 1.0)[:3, 3], abs=rounded)
    assert outline.points[13] == pytest.approx(reference.pose(state.q, 1, 0.0)[:3, 3], abs=rounded)
    assert len(outline.points) == len(outline.radius) == 39
