"""Conformance of the contact potential and the detector."""

from corekit_testing.conformance import conformance

test_imc = conformance("contact_solvers", "imc")
test_imc_wide_layer = conformance(
    "contact_solvers", "imc", options={"distance_tolerance": 2e-2, "adapt": False, "slip_tolerance": 0.5}
)
test_edges = conformance("contact_detectors", "edges")
