"""What every contact potential and every detector promises."""

from corekit_testing.conformance import conformance

test_imc = conformance("contact_solvers", "imc")
test_imc_wide_layer = conformance(
    "contact_solvers", "imc", options={"tolerance": 2e-2, "adapt": False, "slip_tolerance": 0.5}
)
test_edges = conformance("contact_detectors", "edges")
