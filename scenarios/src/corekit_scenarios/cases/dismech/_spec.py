"""The cases of DisMech, readable without importing what runs them."""

from corekit.registry.spec import Case

__all__ = [
    "cantilever",
    "entanglement",
    "friction",
    "helix",
    "real2sim",
    "spider",
    "table2",
]

_DISMECH = "A. Choi et al. (2024), DisMech: A Discrete Differential Geometry-Based Physical Simulator, IEEE RA-L 9(4)."

cantilever = Case(
    paper="dismech",
    name="cantilever",
    source="Figure 3 (a1, a2), section IV-A",
    shows="Two cantilevers swing in their first mode: frequency, order and amplitude against beam theory.",
    target="corekit_scenarios.cases.dismech.swings:cantilever",
    minutes=0.2,
    citation=_DISMECH,
)

helix = Case(
    paper="dismech",
    name="helix",
    source="Figure 3 (b1–b3), section IV-B",
    shows="A hanging helix swings, soft and stiff, and comes to rest with drag.",
    target="corekit_scenarios.cases.dismech.swings:helix",
    minutes=0.5,
    citation=_DISMECH,
)

table2 = Case(
    paper="dismech",
    name="table2",
    source="Table II, section IV",
    shows="What the five benchmarks cost, against DisMech's C++ code and PyElastica.",
    target="corekit_scenarios.cases.dismech.times:table2",
    minutes=0.5,
    alone=True,
    citation=_DISMECH,
)

friction = Case(
    paper="dismech",
    name="friction",
    source="Figure 3 (c), section IV-C",
    shows="A rod on a floor is pushed by 44 forces: kinetic energy against theory.",
    target="corekit_scenarios.cases.dismech.contacts:friction",
    minutes=1.5,
    citation=_DISMECH,
)

spider = Case(
    paper="dismech",
    name="spider",
    source="Figure 2, section V-A1",
    shows="A spider of nine rods falls onto a slope, where friction holds it; whether it comes to rest.",
    target="corekit_scenarios.cases.dismech.contacts:spider",
    minutes=0.4,
    citation=_DISMECH,
)

entanglement = Case(
    paper="dismech",
    name="entanglement",
    source="Figure 4, section V-A2",
    shows="Five fingers curl at random and wind around each other, with friction and without.",
    target="corekit_scenarios.cases.dismech.contacts:entanglement",
    minutes=4,
    citation=_DISMECH,
)

real2sim = Case(
    paper="dismech",
    name="real2sim",
    source="Figures 5 and 6, section V-B",
    shows="Natural curvatures of a manipulator of two limbs from markers: Algorithm 1, descent and Gauss-Newton.",
    target="corekit_scenarios.cases.dismech.real2sim:real2sim",
    minutes=2.5,
    citation=(
        "A. Choi, R. Jing, A. Sabelhaus, M. K. Jawed (2024), DisMech: A Discrete Differential Geometry-Based Physical "
        "Simulator for Soft Robots and Structures, IEEE Robotics and Automation Letters 9(4)."
    ),
)
