"""Conformance of the LCP solvers."""

from corekit_testing.conformance import conformance

test_lemke = conformance("lcp_solvers", "lemke")
test_semismooth_newton = conformance("lcp_solvers", "semismooth-newton")
test_pgs = conformance("lcp_solvers", "pgs")
test_chain = conformance("lcp_solvers", "chain")
