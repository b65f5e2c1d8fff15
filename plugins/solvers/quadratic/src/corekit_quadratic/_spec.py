"""Specifications of the quadratic programming solvers."""

from corekit.registry.spec import ComponentSpec

__all__ = ["banded", "osqp", "piqp", "proxqp"]

banded = ComponentSpec(
    role="qp_solvers",
    name="banded",
    api="0.2",
    target="corekit_quadratic.banded:BandedSolver",
    config="corekit_quadratic.config:BandedConfig",
    summary="Active set on the structure of the rows, compiled; linear time for chains.",
    provides={"compiled-form"},
    modules=("numba",),
    citation=(
        "Júdice, Pires (1994), A block principal pivoting algorithm for large-scale strictly monotone linear "
        "complementarity problems, Computers & Operations Research 21; Goldfarb, Idnani (1983), A numerically stable "
        "dual method for solving strictly convex quadratic programs, Mathematical Programming 27."
    ),
)

osqp = ComponentSpec(
    role="qp_solvers",
    name="osqp",
    api="0.2",
    target="corekit_quadratic.osqp_solver:OsqpSolver",
    config="corekit_quadratic.config:OsqpConfig",
    summary="OSQP: operator splitting, warm-started, with an exact last solve.",
    modules=("osqp", "scipy", "numba"),
    citation=(
        "Stellato, Banjac, Goulart, Bemporad, Boyd (2020), OSQP: an operator splitting solver for quadratic programs, "
        "Mathematical Programming Computation 12."
    ),
)

piqp = ComponentSpec(
    role="qp_solvers",
    name="piqp",
    api="0.2",
    target="corekit_quadratic.piqp_solver:PiqpSolver",
    config="corekit_quadratic.config:PiqpConfig",
    summary="PIQP: proximal interior point.",
    modules=("piqp", "scipy", "numba"),
    citation="Schwan, Jiang, Kuhn, Jones (2023), PIQP: A Proximal Interior-Point Quadratic Programming Solver, CDC.",
)

proxqp = ComponentSpec(
    role="qp_solvers",
    name="proxqp",
    api="0.2",
    target="corekit_quadratic.proxqp_solver:ProxqpSolver",
    config="corekit_quadratic.config:ProxqpConfig",
    summary="ProxQP: primal-dual proximal augmented Lagrangian, warm-started.",
    modules=("proxsuite", "scipy", "numba"),
    citation=(
        "Bambade, El-Kazdadi, Taylor, Carpentier (2022), ProxQP: Yet another quadratic programming solver for robotics "
        "and beyond, RSS."
    ),
)
