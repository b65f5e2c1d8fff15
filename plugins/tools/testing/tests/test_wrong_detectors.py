"""Each wrong detector breaks one promise, and exactly the checks of that promise fail."""

import numpy as np
import pytest

from corekit_testing.conformance import checks_of
from corekit_testing.conformance.common import PAPER

from .defects import after, counter, drift, failing, wrong


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
    out.point[new] += counter(self)


@measured
def points_by_lot(self, out, new, poses):
    out.point[new] += drift(self)


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
def shifted_carriers(self, out, new, poses):
    out.local_point[new] += 0.01


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
        ("answers-own-memory", "saved-and-loaded", "buffers-overwritten"),
    ),
    "saved-and-loaded": (lambda: detector(compute_contacts=counted_points), ()),
    "buffers-overwritten": (lambda: detector(compute_contacts=add_to_the_points), ()),
    "pairs-placed": (lambda: detector(supported_pairs=endless), ()),
    "gap-analytic": (lambda: detector(compute_contacts=thicker), ()),
    "normal-unit": (lambda: detector(compute_contacts=long_normals), ()),
    "normal-into-first": (lambda: detector(compute_contacts=inward), ("shapes-named",)),
    "shapes-named": (lambda: detector(compute_contacts=other_shape), ()),
    "gap-rate": (lambda: detector(compute_contacts=shifted_carriers), ()),
    "swap-symmetric": (lambda: detector(compute_contacts=uneven), ("gap-rate",)),
    "ids-unique-and-persistent": (lambda: detector(compute_contacts=one_id), ()),
    "candidates-complete": (lambda: detector(find_candidates=near_sighted), ()),
    "margin-respected": (lambda: detector(compute_contacts=generous), ("candidates-complete",)),
    "measure-appends": (lambda: detector(compute_contacts=replacing), ()),
    "answers-own-memory": (lambda: detector(compute_contacts=keeps_the_buffer), ()),
}


def keeps_the_buffer(right, self, candidates, poses, margin, out):
    """Copies points from the buffer it filled last, trusting that nobody has written to it."""
    before = out.count
    right(self, candidates, poses, margin, out)
    last = getattr(self, "last", None)
    if last is not None and last[0] is not out:
        out.point[before : out.count] += 0.0 * np.sum(last[0].gap[: last[1]])
    self.last = out, out.count


@pytest.mark.parametrize("name", list(WRONG))
def test_exactly_the_right_checks_catch_it(name):
    make, others = WRONG[name]
    assert failing(make()) == {name, *others}


def test_every_check_of_detectors_catches_a_wrong_one():
    assert {check.name for check in checks_of("contact_detectors")} - {check.name for check in PAPER} == set(
        WRONG
    )
