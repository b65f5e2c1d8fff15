"""The papers' cases, readable without importing what runs them."""

from corekit.registry.case import Case

__all__ = ["ablation", "inclined_box", "random_contacts", "two_spheres"]

_CUSP = "M. Azizkhani, Y. Chen, Unified Complementarity-Based Contact Modeling and Planning for Soft Robots."

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
    minutes=20,
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
