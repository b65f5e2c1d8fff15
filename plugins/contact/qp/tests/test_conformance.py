"""The conformance checks of contact solvers, for `qp` with the program solvers of another distribution."""

from corekit_testing.conformance import conformance

test_qp = conformance("contact_solvers", "qp")
