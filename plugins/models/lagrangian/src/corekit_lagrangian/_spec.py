"""What `corekit list` and composition read of this plugin."""

from corekit.registry.spec import ComponentSpec

__all__ = ["lagrangian"]

lagrangian = ComponentSpec(
    role="models",
    name="lagrangian",
    api="0.2",
    target="corekit_lagrangian.model:NamedModel",
    config="corekit_lagrangian.config:NamedConfig",
    initial="corekit_lagrangian.config:LagrangianInitial",
    summary="A mechanism whose energies a Python function gives: links, springs, motors, anything with coordinates.",
    provides=(
        "point-jacobian",
        "force-derivatives",
        "inverse-dynamics",
        "energy",
        "force-terms",
        "input-jacobian",
        "free-base",
        "reparametrisation",
        "new-numbers",
        "symbolic",
        "symbolic-parameters",
    ),
    modules=("casadi", "numba"),
    citation="Goldstein, Poole, Safko (2002), Classical Mechanics, 3rd ed., chapters 1 and 2",
)
