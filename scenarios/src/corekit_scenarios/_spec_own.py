"""Cases that set the plugins beside each other, readable without importing what runs them."""

from corekit.registry.case import Case

__all__ = ["beam", "matrix"]

matrix = Case(
    paper="matrix",
    name="solvers",
    source="corekit",
    shows="Every model with every contact solver and integrator, lowered onto two obstacles until it rests.",
    target="corekit_scenarios.cases.matrix:matrix",
    minutes=10,
    choices=("pcc", "vine", "gvs", "der", "rigid"),
)

beam = Case(
    paper="beam",
    name="theories",
    source="corekit",
    shows="One cantilever in pcc, gvs, der and vine: deflections, elastica and frequencies, each at its order.",
    target="corekit_scenarios.cases.beam_theories:beam",
    minutes=0.5,
    choices=("pcc", "gvs", "der", "vine"),
)
