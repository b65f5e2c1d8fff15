"""Conformance of the contact detector, with and without patches."""

from corekit_testing.conformance import conformance

test_mpr = conformance("contact_detectors", "mpr")
test_mpr_without_patches = conformance("contact_detectors", "mpr", options={"patch": False})
