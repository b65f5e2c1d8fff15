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
        "modeling of soft manipulators with tendon and fluidic actuation, IEEE Robotics and Automation Letters 5(3)"
    ),
)
