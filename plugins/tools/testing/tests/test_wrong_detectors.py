"""Each wrong detector breaks one promise, and exactly the checks of that promise fail."""

import numpy as np
import pytest

from corekit_testing.conformance.shape_scenes import SIZES

from .defects import after, counter, drift, failing, role_checks, wrong

(BALL,) = SIZES["sphere"]


def detector(**methods):
    return wrong("contact_detectors", "reference-detector", **methods)


def measured(change):
    """`measure` whose new contacts, a slice, go through `change(self, out, new, poses)`."""

    def method(right, self, candidates, poses, margin, out):
        before = out.count
        right(self, candidates, poses, margin, out)
        change(self, out, slice(before, out.count), poses)

    return method


@after
def touch_the_poses(self, poses, margin, out):
    poses.end[:] += 1e-12


@measured
def counted_points(self, out, new, poses):
    out.point[new] += 1e-9 * counter(self)


@measured
def points_by_lot(self, out, new, poses):
    out.point[new] += 1e-9 * drift(self)


def forgetful(right, self, memory):
    self._pairs = self._pairs[:0]


@measured
def add_to_the_points(self, out, new, poses):
    out.point[new] += np.where(out.tangent[new] == 0.0, 0.0, 1.0)
    out.tangent[new] = 1.0


def endless(right, self):
    """Serves a kind without an end alone, which scenes cannot hold."""
    return frozenset({("sphere", "ring")})


@measured
def thicker(self, out, new, poses):
    out.gap[new] -= 1e-9


@measured
def long_normals(self, out, new, poses):
    out.normal[new] *= 1.0 + 1e-8


@measured
def inward(self, out, new, poses):
    out.normal[new] *= -1.0
    out.weight[new] *= -1.0


@measured
def other_shape(self, out, new, poses):
    out.shape[new, 1] = out.shape[new, 0]


@measured
def turned_normals(self, out, new, poses):
    """By 1e-5 rad about one axis of the world, whichever shape stands first."""
    x, y, z = out.normal[new].T.copy()
    out.normal[new] = np.stack([x - 1e-5 * y, y + 1e-5 * x, z], axis=1)


@measured
def rounded_normals(self, out, new, poses):
    """To seven digits: every other check takes that for exact."""
    normal = np.round(out.normal[new], 7)
    out.normal[new] = normal / np.linalg.norm(normal, axis=1, keepdims=True)


def to_the_centre(out, new):
    """From the contact point to the centre of a first shape that is a ball [m], 0 for edges."""
    ball = out.frame[new, 2] < 0
    return np.where(ball, BALL + 0.5 * out.gap[new], 0.0)[:, None] * out.normal[new]


@measured
def at_the_centre(self, out, new, poses):
    """Contact point and material points at the centre of the first ball: friction turns nothing."""
    by = to_the_centre(out, new)
    out.point[new] += by
    for slot in range(2):
        move_carriers(out, new, poses, slot, by)


@measured
def carriers_at_the_centre(self, out, new, poses):
    move_carriers(out, new, poses, 0, to_the_centre(out, new))


def move_carriers(out, new, poses, slot, by):
    frame = out.frame[new, slot]
    local = np.einsum("kji,kj->ki", poses.frame_rotation[frame], by)
    out.local_point[new, slot] += np.where(frame[:, None] >= 0, local, 0.0)


@measured
def running_numbers(self, out, new, poses):
    out.id[new] = np.arange(out.count)[new]


@measured
def other_id_inside(self, out, new, poses):
    out.id[new] += 1000 * (out.gap[new] < 0.0)


@measured
def lost_in_the_deep(self, out, new, poses):
    out.point[new][out.gap[new] < -0.1] = np.nan


def wears_off(right, self, table, served):
    before, self.number = getattr(self, "number", len(table)), len(table)
    right(self, table, served)
    self._radius *= 1.0 if before == self.number else 0.999


def keeps_idle_slots(right, self, candidates, poses, margin, out):
    """Writes the slots in use alone."""
    start, left = out.count, out.weight.copy()
    right(self, candidates, poses, margin, out)
    new = slice(start, min(out.count, len(left)))
    out.weight[new] = np.where(out.frame[new] < 0, left[new], out.weight[new])


@measured
def uneven(self, out, new, poses):
    """Pairs of spheres have normals that lean to one side of the world, whichever stands first."""
    two = (out.frame[new, 1] >= 0) & (out.frame[new, 2] < 0)
    out.normal[new] = np.where(two[:, None], tilted(out.normal[new]), out.normal[new])


def tilted(normal):
    turned = normal + 1e-4 * np.abs(normal)
    return turned / np.linalg.norm(turned, axis=1, keepdims=True)


@measured
def one_id(self, out, new, poses):
    out.id[new] = 0


def near_sighted(right, self, poses, margin, out):
    right(self, poses, 0.5 * margin, out)


def generous(right, self, candidates, poses, margin, out):
    right(self, candidates, poses, margin + 0.01, out)


def replacing(right, self, candidates, poses, margin, out):
    out.count = 0
    right(self, candidates, poses, margin, out)


WRONG = {
    "inputs-unchanged": (lambda: detector(find_candidates=touch_the_poses), ()),
    "deterministic": (
        lambda: detector(compute_contacts=points_by_lot),
        ("answers-own-memory", "saved-and-loaded", "instances-apart", "buffers-overwritten"),
    ),
    "saved-and-loaded": (lambda: detector(compute_contacts=counted_points), ()),
    "buffers-overwritten": (lambda: detector(compute_contacts=add_to_the_points), ()),
    "pairs-placed": (lambda: detector(supported_pairs=endless), ()),
    "gap-analytic": (lambda: detector(compute_contacts=thicker), ()),
    "normal-unit": (lambda: detector(compute_contacts=long_normals), ()),
    "normal-into-first": (lambda: detector(compute_contacts=inward), ("shapes-named",)),
    "shapes-named": (lambda: detector(compute_contacts=other_shape), ()),
    "gap-rate": (lambda: detector(compute_contacts=turned_normals), ()),
    "slopes-told": (lambda: detector(compute_contacts=rounded_normals), ()),
    "swap-symmetric": (lambda: detector(compute_contacts=uneven), ("gap-rate",)),
    "ids-unique-and-persistent": (lambda: detector(compute_contacts=one_id), ()),
    "candidates-complete": (lambda: detector(find_candidates=near_sighted), ()),
    "margin-respected": (lambda: detector(compute_contacts=generous), ("candidates-complete",)),
    "measure-appends": (lambda: detector(compute_contacts=replacing), ()),
    "answers-own-memory": (lambda: detector(compute_contacts=keeps_the_buffer), ()),
    "point-between": (lambda: detector(compute_contacts=at_the_centre), ()),
    "carriers-at-point": (lambda: detector(compute_contacts=carriers_at_the_centre), ()),
    "ids-of-features": (lambda: detector(compute_contacts=running_numbers), ()),
    "deep-finite": (lambda: detector(compute_contacts=lost_in_the_deep), ()),
    "prepared-anew": (lambda: detector(prepare=wears_off), ()),
}


def keeps_the_buffer(right, self, candidates, poses, margin, out):
    """Copies points from the buffer it filled last, trusting that nobody has written to it."""
    before = out.count
    right(self, candidates, poses, margin, out)
    last = getattr(self, "last", None)
    if last is not None and last[0] is not out:
        out.point[before : out.count] += 0.0 * np.sum(last[0].gap[: last[1]])
    self.last = out, out.count


def in_any_order(right, self, poses, margin, out):
    """Goes through a set whose order is another one in every run."""
    right(self, poses, margin, out)
    shuffled = np.random.default_rng().permutation(out.count)
    out.pairs[: out.count] = out.pairs[shuffled]


def test_an_order_of_candidates_that_changes_is_seen():
    assert "deterministic" in failing(detector(find_candidates=in_any_order))


MORE = {
    "slots that are not cleared": (keeps_idle_slots, "buffers-overwritten"),
    "another id inside": (other_id_inside, "ids-of-features"),
}


@pytest.mark.parametrize("name", MORE)
def test_one_check_alone_catches_it(name):
    change, check = MORE[name]
    assert failing(detector(compute_contacts=change)) == {check}


@pytest.mark.parametrize("name", list(WRONG))
def test_exactly_the_right_checks_catch_it(name):
    make, others = WRONG[name]
    assert failing(make()) == {name, *others}


def test_every_check_of_detectors_catches_a_wrong_one():
    """Surfaces that are drawn elsewhere are planted in `test_wrong_tori.py`."""
    assert role_checks("contact_detectors") == {*WRONG, "touched-where-drawn"}
