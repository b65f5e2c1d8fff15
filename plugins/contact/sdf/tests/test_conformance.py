"""Conformance of the contact detector, with and without patches."""

from corekit_testing.conformance import conformance

test_sdf = conformance("contact_detectors", "sdf")
test_sdf_without_patches = conformance("contact_detectors", "sdf", options={"patch": False})
