"""What corekit asks of every model."""

from corekit_testing.conformance import conformance

test_torsion_arm = conformance("models", "torsion-arm", options={"links": 3})
