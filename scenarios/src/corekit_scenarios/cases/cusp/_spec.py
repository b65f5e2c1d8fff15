"""The cases of CUSP, readable without importing what runs them."""

from corekit.registry.spec import Case

__all__ = [
    "ablation",
    "ball_targets",
    "ball_x",
    "ball_y",
    "ball_z",
    "inclined_box",
    "plain_newton",
    "random_contacts",
    "regimes",
    "two_spheres",
]

_CUSP = "M. Azizkhani, Y. Chen, Unified Complementarity-Based Contact Modeling and Planning for Soft Robots."

inclined_box = Case(
    paper="cusp",
    name="inclined-box",
    source="Scenario A, section V-B",
    shows="A soft arm falls onto an inclined box, sticks, and slides when its pressure rises.",
    target="corekit_scenarios.cases.cusp.inclined_box:inclined_box",
    minutes=0.2,
    citation=_CUSP,
)

two_spheres = Case(
    paper="cusp",
    name="two-spheres",
    source="Scenario B, section V-B",
    shows="A soft arm falls over a sphere and bends onto a second, lower one.",
    target="corekit_scenarios.cases.cusp.two_spheres:two_spheres",
    minutes=0.2,
    citation=_CUSP,
)

ablation = Case(
    paper="cusp",
    name="ablation",
    source="Scenario C, section V-B",
    shows="Every subset of the conditioning stages, two angles, two integrators: 64 runs for each LCP solver.",
    target="corekit_scenarios.cases.cusp.ablation:ablation",
    minutes=25,
    choices=("semismooth-newton", "lemke", "pgs", "raw"),
    citation=_CUSP,
)

random_contacts = Case(
    paper="cusp",
    name="random-contacts",
    source="section III-D, what conditioning is for",
    shows="Ten thousand random contact problems of the arm, solved by the default chain, judged from outside.",
    target="corekit_scenarios.cases.cusp.random_contacts:random_contacts",
    minutes=0.5,
    citation=_CUSP,
)

regimes = Case(
    paper="cusp",
    name="regimes",
    source="Scenario C, section V-B: where each stage matters",
    shows="Every subset of the conditioning stages on ordinary, straight, stiff, ill-scaled and many contacts.",
    target="corekit_scenarios.cases.cusp.regimes:regimes",
    minutes=2,
    citation=_CUSP,
)

plain_newton = Case(
    paper="cusp",
    name="plain-newton",
    source="Scenario C, section V-B: where Newton's method starts",
    shows="Four Newton's methods, careful to plain, behind every subset of the conditioning stages.",
    target="corekit_scenarios.cases.cusp.plain_newton:plain_newton",
    minutes=1,
    citation=_CUSP,
)

ball_x = Case(
    paper="cusp",
    name="ball-x",
    source="Figure 4, section V-C",
    shows="A soft arm turns a ball by 90° about x with its end disk: planned, certified and simulated.",
    target="corekit_scenarios.cases.cusp.ball_task:ball_x",
    minutes=3.5,
    citation=_CUSP,
)

ball_y = Case(
    paper="cusp",
    name="ball-y",
    source="Figure 4, section V-C",
    shows="A soft arm turns a ball by 90° about y with its end disk: planned, certified and simulated.",
    target="corekit_scenarios.cases.cusp.ball_task:ball_y",
    minutes=3.5,
    citation=_CUSP,
)

ball_z = Case(
    paper="cusp",
    name="ball-z",
    source="Figure 4, section V-C",
    shows="A soft arm without a wrist turns a ball by 90° about z with its end disk: planned, certified and simulated.",
    target="corekit_scenarios.cases.cusp.ball_task:ball_z",
    minutes=5.0,
    citation=_CUSP,
)

ball_targets = Case(
    paper="cusp",
    name="ball-targets",
    source="the task of Figure 4, section V-C, with other targets",
    shows="Twenty random turns of the ball by the same programs; every certificate checked from outside.",
    target="corekit_scenarios.cases.cusp.ball_targets:ball_targets",
    minutes=8.0,
    citation=_CUSP,
)
