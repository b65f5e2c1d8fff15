"""The papers' cases, readable without importing what runs them."""

from corekit.registry.case import Case

__all__ = [
    "ablation",
    "ball_targets",
    "ball_x",
    "ball_y",
    "ball_z",
    "dismech_cantilever",
    "dismech_entanglement",
    "dismech_friction",
    "dismech_helix",
    "dismech_real2sim",
    "dismech_spider",
    "dismech_table2",
    "inclined_box",
    "random_contacts",
    "two_spheres",
    "vine_circle",
    "vine_cluttered",
    "vine_oscillation",
    "vine_runtime",
    "vine_swing_fit",
    "vine_wall",
]

_CUSP = "M. Azizkhani, Y. Chen, Unified Complementarity-Based Contact Modeling and Planning for Soft Robots."
_DISMECH = "A. Choi et al. (2024), DisMech: A Discrete Differential Geometry-Based Physical Simulator, IEEE RA-L 9(4)."
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

ball_x = Case(
    paper="cusp",
    name="ball-x",
    source="Figure 4, section V-C",
    shows="A soft arm turns a ball by 90° about x with its end disk: planned, certified and simulated.",
    target="corekit_scenarios.cases.ball_task:ball_x",
    minutes=1.7,
    citation=_CUSP,
)

ball_y = Case(
    paper="cusp",
    name="ball-y",
    source="Figure 4, section V-C",
    shows="A soft arm turns a ball by 90° about y with its end disk: planned, certified and simulated.",
    target="corekit_scenarios.cases.ball_task:ball_y",
    minutes=1.7,
    citation=_CUSP,
)

ball_z = Case(
    paper="cusp",
    name="ball-z",
    source="Figure 4, section V-C",
    shows="A soft arm without a wrist turns a ball by 90° about z with its end disk: planned, certified and simulated.",
    target="corekit_scenarios.cases.ball_task:ball_z",
    minutes=2.7,
    citation=_CUSP,
)

ball_targets = Case(
    paper="cusp",
    name="ball-targets",
    source="the task of Figure 4, section V-C, with other targets",
    shows="Twenty random turns of the ball by the same compiled programs; every certificate checked from outside.",
    target="corekit_scenarios.cases.ball_targets:ball_targets",
    minutes=8.0,
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

dismech_cantilever = Case(
    paper="dismech",
    name="cantilever",
    source="Figure 3 (a1, a2), section IV-A",
    shows="Two cantilevers swing in their first mode: frequency, order and amplitude against beam theory.",
    target="corekit_scenarios.cases.rod_swings:cantilever",
    minutes=0.2,
    citation=_DISMECH,
)

dismech_helix = Case(
    paper="dismech",
    name="helix",
    source="Figure 3 (b1–b3), section IV-B",
    shows="A hanging helix swings, soft and stiff, and comes to rest with drag.",
    target="corekit_scenarios.cases.rod_swings:helix",
    minutes=0.5,
    citation=_DISMECH,
)

dismech_table2 = Case(
    paper="dismech",
    name="table2",
    source="Table II, section IV",
    shows="What the five benchmarks cost, against DisMech's C++ code and PyElastica.",
    target="corekit_scenarios.cases.rod_times:table2",
    minutes=0.5,
    citation=_DISMECH,
)

dismech_friction = Case(
    paper="dismech",
    name="friction",
    source="Figure 3 (c), section IV-C",
    shows="A rod on a floor is pushed by 44 forces: kinetic energy against theory.",
    target="corekit_scenarios.cases.rod_contacts:friction",
    minutes=1.5,
    citation=_DISMECH,
)

dismech_spider = Case(
    paper="dismech",
    name="spider",
    source="Figure 2, section V-A",
    shows="A spider of nine rods falls onto a slope and is held by friction.",
    target="corekit_scenarios.cases.rod_contacts:spider",
    minutes=0.4,
    citation=_DISMECH,
)

dismech_entanglement = Case(
    paper="dismech",
    name="entanglement",
    source="Figure 4, section V-B",
    shows="Five fingers curl at random and wind around each other, with friction and without.",
    target="corekit_scenarios.cases.rod_contacts:entanglement",
    minutes=4,
    citation=_DISMECH,
)

vine_swing_fit = Case(
    paper="vine",
    name="swing-fit",
    source="Figure 6, section IV-B",
    shows="Stiffness and damping of a swinging vine robot from synthetic video markers.",
    target="corekit_scenarios.cases.vine_fits:swing_fit",
    minutes=0.3,
    citation=_VINE,
)

vine_wall = Case(
    paper="vine",
    name="wall",
    source="Figure 7, section IV-B",
    shows="A vine robot that grows into a wall, fitted to markers; what they say of its stiffness, and what not.",
    target="corekit_scenarios.cases.vine_fits:wall_fit",
    minutes=3,
    citation=_VINE,
)

dismech_real2sim = Case(
    paper="dismech",
    name="real2sim",
    source="Figures 5 and 6, section V-B",
    shows="Natural curvatures of a manipulator of two limbs from markers, by descent and by Gauss-Newton.",
    target="corekit_scenarios.cases.real2sim:real2sim",
    minutes=1.5,
    citation=(
        "A. Choi, R. Jing, A. Sabelhaus, M. K. Jawed (2024), DisMech: A Discrete Differential Geometry-Based Physical "
        "Simulator for Soft Robots and Structures, IEEE Robotics and Automation Letters 9(4)."
    ),
)
