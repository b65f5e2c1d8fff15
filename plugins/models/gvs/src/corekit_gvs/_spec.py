"""What `corekit list` and composition read of this plugin."""

from corekit.registry.spec import ComponentSpec

__all__ = ["gvs"]

gvs = ComponentSpec(
    role="models",
    name="gvs",
    api="0.2",
    target="corekit_gvs.model:GVS",
    config="corekit_gvs.config:GVSConfig",
    initial="corekit_gvs.config:GVSInitial",
    summary="Trees and loops of soft and rigid links: geometric variable strain with any strain basis.",
    provides=(
        "point-jacobian",
        "force-derivatives",
        "inverse-dynamics",
        "constraints",
        "bounded-constraints",
        "free-base",
        "new-numbers",
        "compiled-form",
        "prescribed",
        "reparametrisation",
        "energy",
        "force-terms",
        "input-jacobian",
        "symbolic",
        "symbolic-parameters",
    ),
    modules=("numba", "sympy"),
    ability_modules={"symbolic": ("casadi",), "symbolic-parameters": ("casadi",)},
    citation=(
        "Mathew, Ben Hmida, Armanini, Boyer, Renda (2022), SoRoSim: A MATLAB Toolbox for Hybrid Rigid-Soft Robots "
        "Based on the Geometric Variable-Strain Approach, IEEE Robotics and Automation Magazine; "
        "Renda, Armanini, Lebastard, Candelier, Boyer (2020), A geometric variable-strain approach for static "
        "modeling of soft manipulators with tendon and fluidic actuation, IEEE Robotics and Automation Letters 5(3); "
        "Mathew et al. (2024), Reduced order modeling of hybrid soft-rigid robots using global, local, and "
        "state-dependent strain parameterization, IJRR"
    ),
    symbols={
        "robot": '`robot = { file = "arm.urdf" }`, whose links stand before `links`, is read by corekit-import',
        "x, y, z": "axes of a section: x along the rod from base to tip; torsion and stretch along x, bends and shears "
        "along y and z",
        "X": "place along a division as a share of its length, 0 … 1: of `radius`, strain functions, rest strains",
        "s": "arc length from the link's base [m]: of a cable's or chamber's `y`, `z`",
        "t": "time [s]",
        "joint-LINK, tension-CABLE, pressure-CHAMBER, load-NAME, …": "input channels, one for each that options give",
        "q1, q2, …": "a dependent basis' own coordinates",
    },
)
