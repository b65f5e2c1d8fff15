"""What the detector owes its role: candidates, margins, carriers, order, refusals."""

import numpy as np
import pytest

from corekit.data.contacts import Candidates, ContactSet
from corekit.errors import PluginError
from corekit_sdf._spec import sdf
from corekit_sdf.config import SdfConfig
from corekit_sdf.detector import SdfDetector

from .pairs import KINDS, LENGTH, Scene, random_rotation, random_size


def crowd(rng, obstacles=4, **options):
    """Sixteen bodies and some obstacles of all kinds, close enough for some to touch."""
    kinds = [str(rng.choice(["cylinder", "capsule", "sphere", "box"])) for _ in range(16)]
    kinds += [str(rng.choice(["half-space", "box", "sphere", "cylinder"])) for _ in range(obstacles)]
    scene = Scene([(kind, random_size(rng, kind)) for kind in kinds], obstacles=obstacles, **options)
    for k in range(len(kinds)):
        scene.place(k, rng.normal(size=3) * 0.3, random_rotation(rng))
    return scene


def test_candidates_miss_no_contact():
    rng = np.random.default_rng(4)
    found_any = 0
    for _ in range(20):
        scene = crowd(rng)
        everything = ContactSet()
        every = Candidates()
        scene.detector.candidates(scene.poses, np.inf, every)
        for margin in (-0.05, 0.0, 0.02, 0.3):
            everything.count = 0
            scene.detector.measure(every, scene.poses, margin, everything)
            found = scene.measure(margin)
            np.testing.assert_array_equal(found.id[: found.count], everything.id[: everything.count])
            assert np.all(found.gap[: found.count] < margin)
            found_any += found.count
    assert found_any > 100


def test_candidates_leave_out_what_is_far():
    scene = Scene([("cylinder", (0.05, 0.01)), ("box", (5.0, 5.0, 0.05))])
    scene.place(0, (0.0, 0.0, 0.3))
    scene.measure(0.1)
    assert scene.near.count == 0
    scene.place(0, (0.0, 0.0, 0.1))
    scene.measure(0.1)
    assert scene.near.count == 1


def test_contacts_are_appended_and_ids_are_unique():
    scene = crowd(np.random.default_rng(8))
    once = scene.measure().count
    first = scene.found.id[:once].copy()
    assert len(set(first)) == once
    scene.detector.measure(scene.near, scene.poses, np.inf, scene.found)
    assert scene.found.count == 2 * once
    np.testing.assert_array_equal(scene.found.id[:once], first)
    np.testing.assert_array_equal(scene.found.id[once : 2 * once], first)


def test_carriers_place_the_point_in_both_frames_or_one_against_an_obstacle():
    scene = crowd(np.random.default_rng(9))
    found = scene.measure()
    n = scene.table.body
    for row in range(found.count):
        i, j = found.shape[row]
        assert list(found.weight[row]) == [1.0, -1.0 if n[j] >= 0 else 0.0, 0.0, 0.0]
        assert list(found.frame[row]) == [scene.table.frame[i], scene.table.frame[j], -1, -1]
        for carrier in range(4):
            f = found.frame[row, carrier]
            local = found.local[row, carrier]
            if f < 0:
                np.testing.assert_array_equal(local, 0.0)
            else:
                world = scene.rotation[f] @ local + scene.position[f]
                np.testing.assert_allclose(world, found.point[row], atol=LENGTH)


def test_stale_rows_leave_no_carriers_behind():
    scene = Scene([("sphere", (0.05,)), ("sphere", (0.05,))])
    scene.found.frame[:] = 7
    scene.found.weight[:] = 3.0
    scene.found.local[:] = 1.0
    found = scene.measure()
    assert list(found.frame[0]) == [0, -1, -1, -1]
    assert list(found.weight[0]) == [1.0, 0.0, 0.0, 0.0]
    np.testing.assert_array_equal(found.local[0, 1:], 0.0)


def test_a_pose_that_is_not_finite_is_seen_not_hidden():
    for first, second in KINDS:
        rng = np.random.default_rng(0)
        scene = Scene([(first, random_size(rng, first)), (second, random_size(rng, second))])
        scene.place(0, (np.nan, 0.0, 0.0))
        found = scene.measure(margin=0.01)
        assert found.count >= 1
        assert np.isnan(found.gap[0])


def test_an_empty_world_has_no_contacts():
    scene = Scene([("sphere", (0.05,)), ("cylinder", (0.05, 0.01))], obstacles=2)
    assert scene.measure().count == 0


def test_kinds_without_a_closed_form_are_refused_by_name():
    detector = SdfDetector(SdfConfig())
    scene = Scene([("sphere", (0.05,)), ("sphere", (0.05,))])
    with pytest.raises(PluginError, match="box–box, box–polytope"):
        detector.prepare(scene.table, frozenset({("box", "box"), ("box", "polytope"), ("sphere", "sphere")}))


def test_only_the_assigned_kinds_are_measured():
    scene = Scene([("sphere", (0.05,)), ("cylinder", (0.05, 0.05)), ("box", (0.1, 0.1, 0.1))])
    scene.detector.prepare(scene.table, frozenset({("sphere", "box")}))
    found = scene.measure()
    np.testing.assert_array_equal(found.shape[: found.count], [[0, 2]])


@pytest.mark.parametrize("angle", [0.0, -0.1, 0.6, np.nan])
def test_a_flat_angle_outside_its_range_is_refused(angle):
    with pytest.raises(ValueError, match="flat_angle"):
        SdfConfig(flat_angle=angle)


def test_answers_depend_on_the_poses_alone():
    scene = crowd(np.random.default_rng(12))
    first = scene.measure()
    kept = ContactSet()
    kept.copy_from(first)
    assert scene.detector.memory() == {}
    scene.detector.remember({})
    position = scene.position.copy()
    scene.position += 1.0
    scene.measure()
    scene.position[:] = position
    again = scene.measure()
    for name in ("id", "gap", "point", "normal", "local"):
        np.testing.assert_array_equal(getattr(again, name)[: again.count], getattr(kept, name)[: kept.count])


def test_the_spec_names_what_exists():
    assert sdf.target == f"{SdfDetector.__module__}:{SdfDetector.__name__}"
    assert sdf.config == f"{SdfConfig.__module__}:{SdfConfig.__name__}"
