"""The cases of the GVS paper, readable without importing what runs them."""

from corekit.registry.spec import Case

__all__ = [
    "at_rest",
    "beam",
    "cable_manipulator",
    "cdpr",
    "dependent_external",
    "dependent_moment",
    "octopus",
    "perturbed",
    "strains",
    "underwater",
]

_GVS = (
    "A. T. Mathew et al. (2024), Reduced order modeling of hybrid soft-rigid "
    "robots using global, local, and state-dependent strain parameterization, IJRR."
)

at_rest = Case(
    paper="gvs",
    name="at-rest",
    source="Figures 9 and 10, section 4",
    shows="A local moment bends a beam: coordinates that eight independent bases need for a dependent one's error.",
    target="corekit_scenarios.cases.gvs.at_rest:at_rest",
    minutes=0.3,
    citation=_GVS,
)

beam = Case(
    paper="gvs",
    name="beam",
    source="section 3",
    shows="A slender beam at rest under its weight and a load: global and local bases against the elastica.",
    target="corekit_scenarios.cases.gvs.beam:beam",
    minutes=0.5,
    citation=_GVS,
)

dependent_external = Case(
    paper="gvs",
    name="dependent-external",
    source="section 4.2",
    shows="An external moment travels along a beam: one step of strain with three coordinates against cubic elements.",
    target="corekit_scenarios.cases.gvs.dependent:external",
    minutes=0.5,
    citation=_GVS,
)

cable_manipulator = Case(
    paper="gvs",
    name="cable-manipulator",
    source="sections 5.1 and 6",
    shows="A soft manipulator pulled by four cables, Legendre polynomials against quadratic elements.",
    target="corekit_scenarios.cases.gvs.arms:cable_manipulator",
    minutes=0.5,
    citation=_GVS,
)

cdpr = Case(
    paper="gvs",
    name="cdpr",
    source="sections 5.3 and 6",
    shows="A platform on four ropes in the wind, with closed loops: elements against Legendre polynomials.",
    target="corekit_scenarios.cases.gvs.arms:cdpr",
    minutes=2,
    citation=_GVS,
)

dependent_moment = Case(
    paper="gvs",
    name="dependent-moment",
    source="section 4.1",
    shows="A moment travels along a beam: a dependent basis of two coordinates against elements, resting and moving.",
    target="corekit_scenarios.cases.gvs.moment:moment",
    minutes=0.5,
    citation=_GVS,
)

octopus = Case(
    paper="gvs",
    name="octopus",
    source="sections 5.4 and 6",
    shows="An octopus's arm bends in water: six coordinates of a dependent basis against 31 of cubic elements.",
    target="corekit_scenarios.cases.gvs.arms:octopus",
    minutes=0.5,
    citation=_GVS,
)

perturbed = Case(
    paper="gvs",
    name="perturbed",
    source="Figure 8, section 3.2",
    shows="One coordinate of a beam at rest is changed: a global basis bends all of it, a local one half.",
    target="corekit_scenarios.cases.gvs.strain_fields:perturbed",
    minutes=0.1,
    citation=_GVS,
)

strains = Case(
    paper="gvs",
    name="strains",
    source="Figure 7, section 3.2",
    shows="Strain fields of a global and a local basis under weight and a load, beside the elastica's.",
    target="corekit_scenarios.cases.gvs.strain_fields:strains",
    minutes=0.1,
    citation=_GVS,
)

underwater = Case(
    paper="gvs",
    name="underwater",
    source="sections 5.2 and 6",
    shows="A robot swims with four flagella and grips a rod with two of them: elements against Legendre polynomials.",
    target="corekit_scenarios.cases.gvs.underwater:underwater",
    minutes=3,
    citation=_GVS,
)
