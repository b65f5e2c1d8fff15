"""The papers' cases, readable without importing what runs them."""

from corekit.registry.case import Case

inclined_box = Case(
    paper="cusp",
    name="inclined-box",
    source="Scenario A, section V-B",
    shows="A soft arm falls onto an inclined box, sticks, and slides when its pressure rises.",
    target="corekit_scenarios.cases.inclined_box:inclined_box",
    minutes=0.1,
    citation="M. Azizkhani, Y. Chen, Unified Complementarity-Based Contact Modeling and Planning for Soft Robots.",
)

random_contacts = Case(
    paper="cusp",
    name="random-contacts",
    source="section IV, what conditioning is for",
    shows="Ten thousand random contact problems of the arm, solved by the default chain, judged from outside.",
    target="corekit_scenarios.cases.random_contacts:random_contacts",
    minutes=1.5,
    citation=inclined_box.citation,
)
