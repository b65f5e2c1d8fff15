"""Light descriptions of this distribution's components."""

from corekit.registry.spec import ComponentSpec

__all__ = ["semi_implicit_euler"]

semi_implicit_euler = ComponentSpec(
    role="integrators",
    name="semi-implicit-euler",
    target="corekit_timestep.semi_implicit_euler:SemiImplicitEuler",
    config="corekit_timestep.config:SemiImplicitEulerConfig",
    summary="One linear solve a step, first order; stiffness and damping explicit or linearly implicit.",
    provides=frozenset({"coupled", "impulses", "potential"}),
    citation=(
        "D. E. Stewart, J. C. Trinkle, An implicit time-stepping scheme for rigid body dynamics with "
        "inelastic collisions and Coulomb friction, Int. J. Numer. Meth. Eng. 39 (1996) 2673-2691."
    ),
)
