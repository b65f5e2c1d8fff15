"""What every contact solver promises; `qp` asks another distribution's program solvers, by name."""

from corekit_testing.conformance import conformance

test_qp = conformance("contact_solvers", "qp")
