"""Component specification for `corekit list` and composition."""

from corekit.registry.spec import ComponentSpec

__all__ = ["vine"]

vine = ComponentSpec(
    role="models",
    name="vine",
    api="0.2",
    target="corekit_vine.model:Vine",
    config="corekit_vine.config:VineConfig",
    initial="corekit_vine.config:VineInitial",
    summary="Growing vine robot in a plane: rigid bodies with pins and telescoping joints.",
    provides=(
        "point-jacobian",
        "free-base",
        "new-numbers",
        "reparametrisation",
        "force-derivatives",
        "constraints",
        "bounded-constraints",
        "compiled-form",
        "energy",
        "force-terms",
        "planar",
        "growth",
        "curvature-input",
        "symbolic",
        "symbolic-parameters",
        "symbolic-constraints",
    ),
    modules=("numba",),
    ability_modules={
        "symbolic": ("casadi",),
        "symbolic-parameters": ("casadi",),
        "symbolic-constraints": ("casadi",),
    },
    citation="Jitosho, Agharese, Okamura, Manchester (2021), A Dynamics Simulator for Soft Growing Robots, ICRA.",
    symbols={"x, z": "the plane of the robot, of its base's axes; angles turn from x to z"},
)
