"""A detector of a shape that the kit has never heard of is judged as one of the kernel's shapes is."""

import json

import numpy as np
import pytest
from attrs import evolve

from corekit.cli import FAILED, main
from corekit.geometry.shape_specs import KERNEL_SHAPES
from corekit_testing.conformance import Subject, checks_of, run_checks, shape_conformance
from corekit_testing.conformance.check import Verdict
from corekit_testing.conformance.claims import judged
from corekit_testing.conformance.common import PAPER
from corekit_testing.conformance.shapes import SHAPE_CLAIMS

from . import tori
from .defects import altered, bring, counter
from .mistakes_of_shapes import DRAWN, SHAPES
from .test_wrong_detectors import inward, long_normals, measured, near_sighted, one_id

OWN = checks_of("contact_detectors")[len(PAPER) :]


@pytest.fixture(autouse=True)
def lab(tmp_path, monkeypatch):
    """A distribution that brings the shape."""
    bring(tmp_path, monkeypatch, "corekit.shapes", tori.KIND, f"{tori.__name__}:torus")


def verdicts(**methods):
    """Check → verdict, of the detector with other methods."""
    subject = altered(Subject(spec=tori.spec, entry=f"{tori.__name__}:spec"), **methods)
    return {each.check: each.verdict for each in run_checks(subject, checks=OWN)}


def test_the_sound_one_is_judged_by_all_but_the_formulas_of_the_kit_and_passes():
    judged = {name: verdict for name, verdict in verdicts().items() if verdict is not Verdict.PASSED}
    assert judged == {"gap-analytic": Verdict.NOT_APPLICABLE, "state-copied": Verdict.NOT_APPLICABLE}


@measured
def millimetres(self, out, new, poses):
    out.gap[new] *= 1e3


@measured
def not_a_number(self, out, new, poses):
    out.gap[new] = np.nan


@measured
def other_frames(self, out, new, poses):
    out.frame[new] = np.where(out.frame[new] >= 0, out.frame[new] + 5, -1)


@measured
def new_ids(self, out, new, poses):
    out.id[new] += 1000 * counter(self)


def uncounted(right, self, candidates, poses, margin, out):
    before = out.count
    right(self, candidates, poses, margin, out)
    out.count = before


WRONG = {
    "reversed normal": (inward, "normal-into-first"),
    "long normal": (long_normals, "normal-unit"),
    "millimetres": (millimetres, "gap-rate"),
    "not a number": (not_a_number, "normal-into-first"),
    "other frames": (other_frames, "shapes-named"),
    "one id": (one_id, "ids-unique-and-persistent"),
    "new ids": (new_ids, "ids-unique-and-persistent"),
    "uncounted": (uncounted, "measure-appends"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_one_is_caught(name):
    change, check = WRONG[name]
    assert verdicts(compute_contacts=change)[check] is Verdict.FAILED


def test_one_that_misses_candidates_is_caught():
    assert verdicts(find_candidates=near_sighted)["candidates-complete"] is Verdict.FAILED


def test_a_shape_that_reaches_beyond_its_bounding_radius_is_caught(monkeypatch):
    small = {"find_candidates": lambda right, self, *more: right(shrunk(self), *more)}
    assert verdicts(**small)["candidates-complete"] is Verdict.FAILED


def shrunk(detector):
    detector._bound = np.minimum(detector._bound, 0.01)
    return detector


@pytest.mark.parametrize("kinds", [("ring", "sphere"), ("torsu", "sphere")])
def test_one_of_whose_pairs_the_kit_can_judge_none_fails_once(kinds):
    found = verdicts(supported_pairs=lambda right, self: frozenset({kinds}))
    assert found.pop("pairs-placed") is Verdict.FAILED
    assert set(found.values()) == {Verdict.NOT_APPLICABLE}


@pytest.mark.parametrize("name", DRAWN)
def test_a_surface_elsewhere_than_that_of_the_detector_is_caught(name, monkeypatch):
    drawn, _ = DRAWN[name]
    monkeypatch.setattr(tori, "torus", evolve(tori.torus, surface=f"{drawn.__module__}:{drawn.__name__}"))
    assert verdicts()["touched-where-drawn"] is Verdict.FAILED


def test_every_check_of_shapes_refuses_a_wrong_one():
    assert {check for _, check, _ in SHAPES.values()} == set(SHAPE_CLAIMS) - {"shape-light"}


test_the_sphere = shape_conformance("sphere", [(0.1,), (2.0,)])


@pytest.mark.parametrize("kind", sorted(KERNEL_SHAPES))
def test_the_shapes_of_the_kernel_pass(kind):
    found = judged(SHAPE_CLAIMS, KERNEL_SHAPES[kind], None)
    assert {each.check for each in found if each.verdict is Verdict.FAILED} == set()


def test_a_shape_is_judged_by_its_kind_and_with_sizes_of_its_own(capsys):
    """The kit's own example imports the kernel's contract, and NumPy: too much for every listing, and it is told."""
    assert main(["conform", f"shapes.{tori.KIND}", "--shape", f"{tori.KIND}=0.3,0.01", "--json"]) == FAILED
    told = json.loads(capsys.readouterr().out)["checks"]
    (light,) = (each for each in told if each["verdict"] == "failed")
    assert light["check"] == "shape-light"
    assert "imports" in light["reason"]
    assert {each["check"] for each in told} == set(SHAPE_CLAIMS)
