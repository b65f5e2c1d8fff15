"""What every integrator promises, of both forms."""

from corekit.testing.conformance import conformance

test_linearly_implicit = conformance("integrators", "semi-implicit-euler")
test_explicit = conformance("integrators", "semi-implicit-euler", options={"form": "explicit"})
