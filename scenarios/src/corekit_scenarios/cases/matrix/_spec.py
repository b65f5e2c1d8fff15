"""The matrix of models, contact solvers and integrators, readable without importing what runs it."""

from corekit.registry.spec import Case

__all__ = ["impacts", "solvers"]

solvers = Case(
    paper="matrix",
    name="solvers",
    source="corekit",
    shows="Every model with every contact solver and integrator, lowered onto two obstacles until it rests.",
    target="corekit_scenarios.cases.matrix.solvers:matrix",
    minutes=2.5,
    choices=("pcc", "vine", "gvs", "der", "rigid"),
)

impacts = Case(
    paper="matrix",
    name="impacts",
    source="corekit",
    shows="Every detector with every contact solver and integrator: nothing that moves fast passes through anything.",
    target="corekit_scenarios.cases.matrix.impacts:impacts",
    minutes=3.0,
)
