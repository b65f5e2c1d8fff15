"""An answer that the order of a set of texts decides is another one in every run, and in one process never shows."""

from __future__ import annotations

from importlib import invalidate_caches

import pytest

from corekit.registry.resolve import load_target
from corekit_testing.conformance import Subject

from .defects import failing

SPEC = """
from corekit.registry.spec import ComponentSpec

spec = ComponentSpec(
    role="contact_detectors", name="hashed", api="0.2", target="{package}.detector:Hashed",
    config="corekit_testing.reference_detector_config:ReferenceDetectorConfig", summary="Contacts by order of {order}.",
)
"""
DETECTOR = """
from typing import final

import numpy as np
from corekit_testing.reference_detector import ReferenceDetector

WORDS = {{f"feature {{k}}" for k in range(12)}}
RANK = {{word: i for i, word in enumerate({order})}}


@final
class Hashed(ReferenceDetector):
    def compute_contacts(self, candidates, poses, margin, out):
        begin = out.count
        super().compute_contacts(candidates, poses, margin, out)
        mine = sorted(range(begin, out.count), key=lambda c: RANK[f"feature {{(c - begin) % 12}}"])
        out.select(np.array([*range(begin), *mine], dtype=np.int64))
"""


@pytest.fixture
def detector(tmp_path, monkeypatch):
    """Makes the subject of a detector that puts its contacts into an order."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(package: str, order: str) -> Subject:
        for name, text in (("__init__", ""), ("_spec", SPEC), ("detector", DETECTOR)):
            file = tmp_path / package / f"{name}.py"
            file.parent.mkdir(exist_ok=True)
            file.write_text(text.format(order=order, package=package))
        invalidate_caches()
        entry = f"{package}._spec:spec"
        return Subject(spec=load_target(entry), entry=entry)

    return make


def test_contacts_in_the_order_of_a_set_of_texts_are_refused_by_this_check_alone(detector):
    assert failing(detector("by_hash", "WORDS")) == {"order-certain"}


def test_contacts_in_the_order_of_sorted_texts_pass(detector):
    assert failing(detector("by_name", "sorted(WORDS)")) == set()
