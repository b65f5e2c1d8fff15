"""Cases that set the plugins beside each other, readable without importing what runs them."""

from corekit.registry.case import Case

__all__ = ["matrix"]

matrix = Case(
    paper="matrix",
    name="solvers",
    source="corekit",
    shows="Every model with every contact solver and integrator, lowered onto two obstacles until it rests.",
    target="corekit_scenarios.cases.matrix:matrix",
    minutes=10,
    choices=("pcc", "vine", "gvs", "der", "rigid"),
)
