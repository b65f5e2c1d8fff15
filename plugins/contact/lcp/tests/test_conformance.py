"""The conformance checks of contact solvers, for `lcp` with the LCP solvers of another distribution."""

from corekit_testing.conformance import conformance

test_lcp = conformance("contact_solvers", "lcp")
test_lcp_without_conditioning = conformance(
    "contact_solvers",
    "lcp",
    options={
        "friction_directions": 4,
        "rank_selection": {"enabled": False},
        "equilibration": {"enabled": False},
        "regularisation": {"enabled": False},
    },
)
