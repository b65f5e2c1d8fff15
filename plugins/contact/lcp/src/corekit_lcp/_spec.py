"""Specification of the contact solver `lcp`."""

from corekit.registry.spec import ComponentSpec

__all__ = ["lcp"]

lcp = ComponentSpec(
    role="contact_solvers",
    name="lcp",
    api="0.2",
    target="corekit_lcp.lcp:LCPContact",
    config="corekit_lcp.config:LCPContactConfig",
    summary="Friction pyramids as one LCP, conditioned by rank selection, equilibration and regularisation.",
    provides={"impulses", "anisotropic-coulomb", "convex-friction", "compiled-form"},
    requires={"lcp_solvers": ()},
    modules=("numba",),
    serves=40,
    citation="Anitescu and Potra (1997), Formulating dynamic multi-rigid-body contact problems with friction as "
    "solvable linear complementarity problems, Nonlinear Dynamics 14; Azizkhani and Chen, Unified "
    "Complementarity-Based Contact Modeling and Planning for Soft Robots",
)
