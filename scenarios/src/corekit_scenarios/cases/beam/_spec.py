"""One beam in four theories, readable without importing what runs it."""

from corekit.registry.spec import Case

__all__ = ["theories"]

theories = Case(
    paper="beam",
    name="theories",
    source="corekit",
    shows="One cantilever in pcc, gvs, der and vine: deflections, elastica and frequencies, each at its order.",
    target="corekit_scenarios.cases.beam.theories:beam",
    minutes=0.5,
    choices=("pcc", "gvs", "der", "vine"),
)
