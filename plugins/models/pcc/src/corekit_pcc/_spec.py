"""What `corekit list` and composition read of this plugin."""

from corekit.registry.spec import ComponentSpec

__all__ = ["pcc"]

pcc = ComponentSpec(
    role="models",
    name="pcc",
    api="0.2",
    target="corekit_pcc.model:PCC",
    config="corekit_pcc.config:PCCConfig",
    initial="corekit_pcc.config:PCCInitial",
    summary="Piecewise-constant-curvature arm of any number of sections, driven by chambers.",
    provides=(
        "point-jacobian",
        "force-derivatives",
        "mass-gradient",
        "energy",
        "force-terms",
        "input-jacobian",
        "free-base",
        "new-numbers",
        "compiled-form",
        "symbolic",
        "symbolic-parameters",
    ),
    modules=("numba",),
    ability_modules={"symbolic": ("casadi",), "symbolic-parameters": ("casadi",)},
    citation=(
        "Godage et al. (2016), Dynamics for variable length multisection continuum arms, IJRR 35(6); "
        "Azizkhani, Chen, Unified Complementarity-Based Contact Modeling and Planning for Soft Robots (CUSP)"
    ),
    symbols={
        "x, y, z": "axes of a section: z along the backbone from base to tip at rest; the first chamber stands at "
        "`chamber_angle` from x, turned about z",
    },
)
