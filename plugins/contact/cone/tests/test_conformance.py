"""The conformance checks of contact solvers, for `cone`."""

from corekit_testing.conformance import conformance

test_cone = conformance("contact_solvers", "cone")
