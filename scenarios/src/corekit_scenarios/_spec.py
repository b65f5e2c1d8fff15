"""The papers' cases, readable without importing what runs them."""

from corekit.registry.case import Case

__all__ = [
    "ablation",
    "inclined_box",
    "random_contacts",
    "two_spheres",
    "vine_circle",
    "vine_cluttered",
    "vine_oscillation",
    "vine_runtime",
]

_CUSP = "M. Azizkhani, Y. Chen, Unified Complementarity-Based Contact Modeling and Planning for Soft Robots."
_VINE = "R. Jitosho, N. Agharese, A. Okamura, Z. Manchester (2021), A Dynamics Simulator for Soft Growing Robots, ICRA."

inclined_box = Case(
    paper="cusp",
    name="inclined-box",
    source="Scenario A, section V-B",
    shows="A soft arm falls onto an inclined box, sticks, and slides when its pressure rises.",
    target="corekit_scenarios.cases.inclined_box:inclined_box",
    minutes=0.5,
    citation=_CUSP,
)

two_spheres = Case(
    paper="cusp",
    name="two-spheres",
    source="Scenario B, section V-B",
    shows="A soft arm falls over a sphere and bends onto a second, lower one.",
    target="corekit_scenarios.cases.two_spheres:two_spheres",
    minutes=0.2,
    citation=_CUSP,
)

ablation = Case(
    paper="cusp",
    name="ablation",
    source="Scenario C, section V-B",
    shows="Every subset of the conditioning stages, two angles, two integrators: 64 runs for each LCP solver.",
    target="corekit_scenarios.cases.ablation:ablation",
    minutes=45,
    choices=("semismooth-newton", "lemke", "pgs"),
    citation=_CUSP,
)

random_contacts = Case(
    paper="cusp",
    name="random-contacts",
    source="section IV, what conditioning is for",
    shows="Ten thousand random contact problems of the arm, solved by the default chain, judged from outside.",
    target="corekit_scenarios.cases.random_contacts:random_contacts",
    minutes=1.5,
    citation=_CUSP,
)

vine_circle = Case(
    paper="vine",
    name="circle",
    source="Figure 4, section IV-A",
    shows="A vine robot of 30 bodies grows past a circle, as the paper's equations have it.",
    target="corekit_scenarios.cases.vine_paths:circle",
    minutes=0.1,
    citation=_VINE,
)

vine_cluttered = Case(
    paper="vine",
    name="cluttered",
    source="Figure 1, section IV-C",
    shows="A vine robot grows between boxes; explicit and implicit spring, 50 and 200 bodies.",
    target="corekit_scenarios.cases.vine_paths:cluttered",
    minutes=0.2,
    citation=_VINE,
)

vine_oscillation = Case(
    paper="vine",
    name="oscillation",
    source="Figure 6, section IV-B",
    shows="A cantilevered vine robot swings: frequency and damping against theory.",
    target="corekit_scenarios.cases.vine_paths:oscillation",
    minutes=0.1,
    citation=_VINE,
)

vine_runtime = Case(
    paper="vine",
    name="runtime",
    source="Figure 5, section IV-A",
    shows="The time of a step against the number of bodies, 20 to 5000.",
    target="corekit_scenarios.cases.vine_runtime:runtime",
    minutes=0.5,
    citation=_VINE,
)
