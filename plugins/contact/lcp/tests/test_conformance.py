"""What every contact solver promises; `lcp` asks another distribution's LCP solvers, by name."""

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
