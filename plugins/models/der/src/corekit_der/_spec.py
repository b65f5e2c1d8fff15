"""Component specification for `corekit list` and composition."""

from corekit.registry.spec import ComponentSpec

__all__ = ["der"]

der = ComponentSpec(
    role="models",
    name="der",
    api="0.2",
    target="corekit_der.model:DER",
    config="corekit_der.config:DERConfig",
    initial="corekit_der.initial_options:DERInitial",
    summary="Discrete elastic rods: any graph of limbs that stretch, bend and twist, jointed, clamped and loaded.",
    provides=(
        "point-jacobian",
        "force-derivatives",
        "prescribed",
        "reparametrisation",
        "free-base",
        "energy",
        "force-terms",
        "curvature-input",
        "input-jacobian",
        "new-numbers",
        "compiled-form",
        "state-doubts",
        "symbolic",
        "symbolic-parameters",
    ),
    modules=("numba", "scipy"),
    ability_modules={"symbolic": ("casadi",), "symbolic-parameters": ("casadi",)},
    citation=(
        "Bergou et al. (2008), Discrete elastic rods, ACM Trans. Graphics 27(3); "
        "Bergou et al. (2010), Discrete viscous threads, ACM Trans. Graphics 29(4); "
        "Choi et al. (2024), DisMech: A Discrete Differential Geometry-based Physical Simulator for Soft Robots "
        "and Structures, IEEE Robotics and Automation Letters 9(4)"
    ),
    symbols={
        "x, y, z": "the base's axes, in which nodes are given; a planar rod lies in x and z",
        "κ1, κ2": "curvatures about director 2 and about minus director 1",
        "limb.start, limb.end, limb.7": "a node",
    },
)
