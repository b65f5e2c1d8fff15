"""Specification of the contact solver `qp`."""

from corekit.registry.spec import ComponentSpec

__all__ = ["qp"]

qp = ComponentSpec(
    role="contact_solvers",
    name="qp",
    api="0.2",
    target="corekit_qp.qp:QPContact",
    config="corekit_qp.config:QPContactConfig",
    summary="A step as one convex quadratic program, with friction by a cone relaxation and exact corrections.",
    provides={"impulses", "anisotropic-coulomb", "convex-friction", "compiled-form"},
    requires={"qp_solvers": (), "lcp_solvers": ()},
    modules=("numba",),
    serves=40,
    citation=(
        "Anitescu (2006), Optimization-based simulation of nonsmooth rigid multibody dynamics, Mathematical "
        "Programming 105; Acary, Cadoux, Lemaréchal, Malick (2011), A formulation of the linear discrete Coulomb "
        "friction problem via convex optimization, ZAMM 91."
    ),
)
