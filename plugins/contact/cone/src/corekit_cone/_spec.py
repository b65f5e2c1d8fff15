"""Specification of the contact solver `cone`."""

from corekit.registry.spec import ComponentSpec

__all__ = ["cone"]

cone = ComponentSpec(
    role="contact_solvers",
    name="cone",
    api="0.2",
    target="corekit_cone.cone:ConeContact",
    config="corekit_cone.config:ConeContactConfig",
    summary="Coulomb's cone itself, by Newton's method, Gauss-Seidel sweeps over exact contacts, and interior points.",
    provides={"impulses", "compiled-form"},
    modules=("numba",),
    citation=(
        "De Saxcé, Feng (1998), The bipotential method: a constructive approach to design the complete contact law "
        "with friction and improved numerical algorithms, Mathematical and Computer Modelling 28; Alart, Curnier "
        "(1991), A mixed formulation for frictional contact problems prone to Newton like solution methods, Computer "
        "Methods in Applied Mechanics and Engineering 92; Acary, Cadoux, Lemaréchal, Malick (2011), A formulation of "
        "the linear discrete Coulomb friction problem via convex optimization, ZAMM 91."
    ),
)
