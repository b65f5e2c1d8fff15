"""The cases of the vine robots' paper, readable without importing what runs them."""

from corekit.registry.spec import Case

__all__ = [
    "circle",
    "cluttered",
    "oscillation",
    "runtime",
    "swing_fit",
    "wall",
]

_VINE = "R. Jitosho, N. Agharese, A. Okamura, Z. Manchester (2021), A Dynamics Simulator for Soft Growing Robots, ICRA."

circle = Case(
    paper="vine",
    name="circle",
    source="Figure 4, section IV-A",
    shows="A vine robot of 30 bodies grows past a circle, as the paper's equations have it.",
    target="corekit_scenarios.cases.vine.paths:circle",
    minutes=0.1,
    citation=_VINE,
)

cluttered = Case(
    paper="vine",
    name="cluttered",
    source="Figure 1, section IV-C",
    shows="A vine robot grows between boxes; explicit and implicit spring, 50 and 200 bodies.",
    target="corekit_scenarios.cases.vine.paths:cluttered",
    minutes=0.2,
    citation=_VINE,
)

oscillation = Case(
    paper="vine",
    name="oscillation",
    source="Figure 6, section IV-B",
    shows="A cantilevered vine robot swings: frequency and damping against theory.",
    target="corekit_scenarios.cases.vine.paths:oscillation",
    minutes=0.1,
    citation=_VINE,
)

runtime = Case(
    paper="vine",
    name="runtime",
    source="Figure 5, section IV-A",
    shows="The time of a step against the number of bodies, 20 to 5000.",
    target="corekit_scenarios.cases.vine.runtime:runtime",
    minutes=0.5,
    alone=True,
    citation=_VINE,
)

swing_fit = Case(
    paper="vine",
    name="swing-fit",
    source="Figure 6, section IV-B",
    shows="Stiffness and damping of a swinging vine robot from synthetic markers: one, of every pin, and as matrices.",
    target="corekit_scenarios.cases.vine.fits:swing_fit",
    minutes=0.6,
    citation=_VINE,
)

wall = Case(
    paper="vine",
    name="wall",
    source="Figure 7, section IV-B",
    shows="A vine robot that grows into a wall, fitted to markers; what they say of its stiffness, and what not.",
    target="corekit_scenarios.cases.vine.fits:wall_fit",
    minutes=3,
    citation=_VINE,
)
