"""The detector's contract: candidates, margins, material points, order, errors."""

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
        scene.set_pose(k, rng.normal(size=3) * 0.3, random_rotation(rng))
    return scene


def test_candidates_miss_no_contact():
    rng = np.random.default_rng(4)
    total = 0
    for _ in range(20):
        scene = crowd(rng)
        all_contacts = ContactSet()
        all_pairs = Candidates()
        scene.detector.find_candidates(scene.poses, np.inf, all_pairs)
        for margin in (-0.05, 0.0, 0.02, 0.3):
            all_contacts.count = 0
            scene.detector.compute_contacts(all_pairs, scene.poses, margin, all_contacts)
            contacts = scene.measure(margin)
            np.testing.assert_array_equal(
                contacts.id[: contacts.count], all_contacts.id[: all_contacts.count]
            )
            assert np.all(contacts.gap[: contacts.count] < margin)
            total += contacts.count
    assert total > 100


def test_candidates_omit_distant_pairs():
    scene = Scene([("cylinder", (0.05, 0.01)), ("box", (5.0, 5.0, 0.05))])
    scene.set_pose(0, (0.0, 0.0, 0.3))
    scene.measure(0.1)
    assert scene.candidates.count == 0
    scene.set_pose(0, (0.0, 0.0, 0.1))
    scene.measure(0.1)
    assert scene.candidates.count == 1


def test_candidates_of_long_shapes_are_those_beside_them():
    """Disks along a post: a sphere about the post holds all of them, the post itself passes two."""
    disk, post = ("cylinder", (0.018, 0.005)), ("capsule", (0.012, 0.3))
    scene = Scene([post, *[disk] * 8], obstacles=8)
    for k in range(8):
        scene.set_pose(1 + k, (0.04 * k, 0.0, 0.05))
    scene.measure(0.005)
    np.testing.assert_array_equal(scene.candidates.pairs[: scene.candidates.count], [[0, 1]])
    along_x = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    scene.set_pose(0, (0.0, 0.0, 0.0), along_x)
    scene.measure(0.05)
    assert scene.candidates.count == 8


def test_candidates_of_long_shapes_miss_no_contact():
    rng = np.random.default_rng(11)
    total, omitted = 0, 0
    for _ in range(40):
        kinds = ["cylinder", "capsule"] * 6
        long = [(rng.uniform(0.005, 0.02), rng.uniform(0.1, 0.5)) for _ in kinds]
        flat = [(rng.uniform(0.1, 0.3), rng.uniform(0.002, 0.02)) for _ in kinds]
        sizes = [flat[k] if k % 4 == 0 else long[k] for k in range(len(kinds))]
        scene = Scene(list(zip(kinds, sizes, strict=True)))
        for k in range(len(kinds)):
            scene.set_pose(k, rng.normal(size=3) * 0.3, random_rotation(rng))
        every, every_contact = Candidates(), ContactSet()
        scene.detector.find_candidates(scene.poses, np.inf, every)
        for margin in (-0.1, -0.01, 0.0, 0.03):
            every_contact.count = 0
            scene.detector.compute_contacts(every, scene.poses, margin, every_contact)
            contacts = scene.measure(margin)
            np.testing.assert_array_equal(
                contacts.id[: contacts.count], every_contact.id[: every_contact.count]
            )
            total, omitted = total + contacts.count, omitted + every.count - scene.candidates.count
    assert total > 200
    assert omitted > 3000


def test_contacts_are_appended_and_ids_are_unique():
    scene = crowd(np.random.default_rng(8))
    once = scene.measure().count
    first = scene.contacts.id[:once].copy()
    assert len(set(first)) == once
    scene.detector.compute_contacts(scene.candidates, scene.poses, np.inf, scene.contacts)
    assert scene.contacts.count == 2 * once
    np.testing.assert_array_equal(scene.contacts.id[:once], first)
    np.testing.assert_array_equal(scene.contacts.id[once : 2 * once], first)


def test_material_points_are_the_contact_point_in_both_frames_or_one_against_an_obstacle():
    scene = crowd(np.random.default_rng(9))
    contacts = scene.measure()
    n = scene.table.body
    for row in range(contacts.count):
        i, j = contacts.shape[row]
        assert list(contacts.weight[row]) == [1.0, -1.0 if n[j] >= 0 else 0.0, 0.0, 0.0]
        assert list(contacts.frame[row]) == [scene.table.frame[i], scene.table.frame[j], -1, -1]
        for slot in range(4):
            f = contacts.frame[row, slot]
            local = contacts.local_point[row, slot]
            if f < 0:
                np.testing.assert_array_equal(local, 0.0)
            else:
                world = scene.rotation[f] @ local + scene.position[f]
                np.testing.assert_allclose(world, contacts.point[row], atol=LENGTH)


def test_rows_overwrite_the_material_points_of_earlier_contacts():
    scene = Scene([("sphere", (0.05,)), ("sphere", (0.05,))])
    scene.contacts.frame[:] = 7
    scene.contacts.weight[:] = 3.0
    scene.contacts.local_point[:] = 1.0
    contacts = scene.measure()
    assert list(contacts.frame[0]) == [0, -1, -1, -1]
    assert list(contacts.weight[0]) == [1.0, 0.0, 0.0, 0.0]
    np.testing.assert_array_equal(contacts.local_point[0, 1:], 0.0)


def test_a_pose_that_is_not_finite_gives_a_contact_with_gap_nan():
    for first, second in KINDS:
        rng = np.random.default_rng(0)
        scene = Scene([(first, random_size(rng, first)), (second, random_size(rng, second))])
        scene.set_pose(0, (np.nan, 0.0, 0.0))
        contacts = scene.measure(margin=0.01)
        assert contacts.count >= 1
        assert np.isnan(contacts.gap[0])


def test_an_empty_world_has_no_contacts():
    scene = Scene([("sphere", (0.05,)), ("cylinder", (0.05, 0.01))], obstacles=2)
    assert scene.measure().count == 0


def test_the_error_names_the_kinds_without_a_closed_form():
    detector = SdfDetector(SdfConfig())
    scene = Scene([("sphere", (0.05,)), ("sphere", (0.05,))])
    with pytest.raises(PluginError, match="box–box, box–polytope"):
        detector.prepare(scene.table, frozenset({("box", "box"), ("box", "polytope"), ("sphere", "sphere")}))


def test_only_the_assigned_kinds_are_measured():
    scene = Scene([("sphere", (0.05,)), ("cylinder", (0.05, 0.05)), ("box", (0.1, 0.1, 0.1))])
    scene.detector.prepare(scene.table, frozenset({("sphere", "box")}))
    contacts = scene.measure()
    np.testing.assert_array_equal(contacts.shape[: contacts.count], [[0, 2]])


@pytest.mark.parametrize("angle", [0.0, -0.1, 0.6, np.nan])
def test_a_flat_angle_outside_its_range_is_refused(angle):
    with pytest.raises(ValueError, match="flat_angle"):
        SdfConfig(flat_angle=angle)


def test_contacts_depend_on_the_poses_alone():
    scene = crowd(np.random.default_rng(12))
    first = scene.measure()
    saved = ContactSet()
    saved.copy_from(first)
    position = scene.position.copy()
    scene.position += 1.0
    scene.measure()
    scene.position[:] = position
    again = scene.measure()
    for name in ("id", "gap", "point", "normal", "local_point"):
        np.testing.assert_array_equal(
            getattr(again, name)[: again.count], getattr(saved, name)[: saved.count]
        )


def test_the_spec_names_what_exists():
    assert sdf.target == f"{SdfDetector.__module__}:{SdfDetector.__name__}"
    assert sdf.config == f"{SdfConfig.__module__}:{SdfConfig.__name__}"
