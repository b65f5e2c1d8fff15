"""Specifications of the complementarity solvers."""

from corekit.registry.spec import ComponentSpec

__all__ = ["chain", "lemke", "pgs", "semismooth_newton"]

lemke = ComponentSpec(
    role="lcp_solvers",
    name="lemke",
    api="0.2",
    target="corekit_complementarity.lemke:Lemke",
    config="corekit_complementarity.config:LemkeConfig",
    summary="Lemke's complementary pivoting, lexicographic, exact to rounding.",
    modules=("numba",),
    serves=40,
    citation="Lemke (1965), Bimatrix equilibrium points and mathematical programming, Management Science 11.",
)

pgs = ComponentSpec(
    role="lcp_solvers",
    name="pgs",
    api="0.2",
    target="corekit_complementarity.pgs:ProjectedGaussSeidel",
    config="corekit_complementarity.config:ProjectedGaussSeidelConfig",
    summary="Projected Gauss–Seidel contact by contact, each solved exactly; always returns an approximation.",
    modules=("numba",),
    serves=16,
    citation="Jourdan, Alart, Jean (1998), A Gauss–Seidel like algorithm to solve frictional contact "
    "problems, Comput. Methods Appl. Mech. Engrg. 155.",
)

semismooth_newton = ComponentSpec(
    role="lcp_solvers",
    name="semismooth-newton",
    api="0.2",
    target="corekit_complementarity.semismooth_newton:SemismoothNewton",
    config="corekit_complementarity.config:SemismoothNewtonConfig",
    summary="Semismooth Newton on Fischer–Burmeister, by a shift or in a trust region.",
    modules=("numba",),
    serves=16,
    citation="De Luca, Facchinei, Kanzow (1996), A semismooth equation approach to the solution of nonlinear "
    "complementarity problems, Mathematical Programming 75.",
)

chain = ComponentSpec(
    role="lcp_solvers",
    name="chain",
    api="0.2",
    target="corekit_complementarity.chain:Chain",
    config="corekit_complementarity.config:ChainConfig",
    summary="Tries solvers in order until one converges, and records which one did.",
)
