"""A detector of a shape without an end is judged, on sizes that its author gives, and a wrong one is caught."""

import numpy as np
import pytest
from attrs import evolve

from corekit.cli import MISUSE, main
from corekit_testing.conformance import Subject, checks_of, run_checks
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.common import PAPER

from . import terrain
from .defects import altered, bring
from .test_wrong_detectors import measured

OWN = checks_of("contact_detectors")[len(PAPER) :]
SIZES = {terrain.KIND: (0.02, 0.9)}


@pytest.fixture(autouse=True)
def lab(tmp_path, monkeypatch):
    """A distribution that brings the shape."""
    bring(tmp_path, monkeypatch, "corekit.shapes", terrain.KIND, f"{terrain.__name__}:ground")


def verdicts(**methods):
    subject = evolve(Subject(spec=terrain.spec, entry=f"{terrain.__name__}:spec"), shapes=SIZES)
    return {each.check: each for each in run_checks(altered(subject, **methods), checks=OWN)}


def test_a_sound_one_passes():
    found = verdicts()
    assert [each for each in found.values() if each.verdict is Verdict.FAILED] == []
    assert found["gap-rate"].verdict is found["ids-of-features"].verdict is Verdict.PASSED


@measured
def upwards(self, out, new, poses):
    """Takes the ground for flat where it pushes."""
    out.normal[new] = poses.rotation[out.shape[new, 1], :, 2]


def test_a_normal_that_knows_no_slope_is_caught():
    assert verdicts(compute_contacts=upwards)["gap-rate"].verdict is Verdict.FAILED


def nowhere_outside(right, self, candidates, poses, margin, out):
    before = out.count
    right(self, candidates, poses, margin, out)
    out.gap[before : out.count] = -np.abs(out.gap[before : out.count])


def test_a_shape_outside_of_which_nothing_is_found_says_what_to_do():
    reason = verdicts(compute_contacts=nowhere_outside)["normal-unit"].reason
    assert "no place is outside" in reason
    assert "--shape" in reason


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("spere=0.1", "did you mean 'sphere'?"),
        ("sphere", "must be sphere=radius, numbers above 0 in metres"),
        ("sphere=-1", "must be sphere=radius"),
        ("capsule=0.1", "must be capsule=radius,half_length"),
        ("half-space=1", "has no sizes"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(given, said, capsys):
    assert main(["conform", "contact_detectors.reference-detector", "--shape", given]) == MISUSE
    assert said in capsys.readouterr().err


def test_sizes_are_those_of_the_scenes(capsys):
    assert main(["conform", "contact_detectors.reference-detector", "--shape", "sphere=0.03"]) == 0
    assert "gap-analytic" in capsys.readouterr().out
