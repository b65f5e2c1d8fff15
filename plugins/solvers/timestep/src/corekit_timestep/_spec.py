"""Specifications of the integrators."""

from corekit.registry.spec import ComponentSpec

__all__ = [
    "generalized_alpha", "implicit_euler", "implicit_midpoint", "newmark", "rk23", "scipy_bdf", "scipy_radau",
    "scipy_rk45", "semi_implicit_euler", "verlet",
]  # fmt: skip

semi_implicit_euler = ComponentSpec(
    role="integrators",
    name="semi-implicit-euler",
    api="0.2",
    target="corekit_timestep.semi_implicit_euler:SemiImplicitEuler",
    config="corekit_timestep.config:SemiImplicitEulerConfig",
    summary="One linear solve per step, first order; stiffness and damping explicit or linearly implicit.",
    order=1,
    provides=frozenset({"coupled", "impulses", "potential", "single-solve"}),
    citation=(
        "D. E. Stewart, J. C. Trinkle, An implicit time-stepping scheme for rigid body dynamics with "
        "inelastic collisions and Coulomb friction, Int. J. Numer. Meth. Eng. 39 (1996) 2673-2691."
    ),
)

implicit_euler = ComponentSpec(
    role="integrators",
    name="implicit-euler",
    api="0.2",
    target="corekit_timestep.theta_integrator:ThetaIntegrator",
    config="corekit_timestep.config:ImplicitEulerConfig",
    summary="First order, damping, suits stiff models: Newton's method with line search, adaptive step.",
    order=1,
    provides=frozenset({"coupled", "implicit", "newton", "impulses", "potential"}),
    citation=(
        "P. Deuflhard, Newton Methods for Nonlinear Problems: Affine Invariance and Adaptive Algorithms, "
        "Springer Series in Computational Mathematics 35 (2011)."
    ),
)

implicit_midpoint = ComponentSpec(
    role="integrators",
    name="implicit-midpoint",
    api="0.2",
    target="corekit_timestep.theta_integrator:ThetaIntegrator",
    config="corekit_timestep.config:ImplicitMidpointConfig",
    summary="Second order, symplectic, undamped: Newton's method with line search, adaptive step.",
    order=2,
    provides=frozenset({"coupled", "implicit", "newton", "impulses", "potential"}),
    citation=(
        "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, Springer Series in Computational "
        "Mathematics 31 (2006)."
    ),
)

rk23 = ComponentSpec(
    role="integrators",
    name="rk23",
    api="0.2",
    target="corekit_timestep.rk23:Rk23",
    config="corekit_timestep.config:Rk23Config",
    summary="Third order, explicit, error-controlled inner steps, stiff damping split off; contact once per step.",
    provides=frozenset({"split", "impulses", "potential"}),
    citation="P. Bogacki, L. F. Shampine, A 3(2) pair of Runge-Kutta formulas, Appl. Math. Lett. 2 (1989) 321-325.",
)

newmark = ComponentSpec(
    role="integrators",
    name="newmark",
    api="0.2",
    target="corekit_timestep.alpha_integrator:AlphaIntegrator",
    config="corekit_timestep.config:NewmarkConfig",
    summary="Second order (average acceleration), implicit in the smooth motion; for potentials, or without contact.",
    order=2,
    provides=frozenset({"split", "implicit", "newton", "impulses", "potential"}),
    citation=(
        "N. M. Newmark, A method of computation for structural dynamics, J. Eng. Mech. Div. 85(3) (1959) 67-94."
    ),
)

generalized_alpha = ComponentSpec(
    role="integrators",
    name="generalized-alpha",
    api="0.2",
    target="corekit_timestep.alpha_integrator:AlphaIntegrator",
    config="corekit_timestep.config:GeneralizedAlphaConfig",
    summary="Second order, damps fast modes alone, implicit in the smooth motion; for potentials, or without contact.",
    order=2,
    provides=frozenset({"split", "implicit", "newton", "impulses", "potential"}),
    citation=(
        "J. Chung, G. M. Hulbert, A time integration algorithm for structural dynamics with improved numerical "
        "dissipation: the generalized-alpha method, J. Appl. Mech. 60(2) (1993) 371-375."
    ),
)

verlet = ComponentSpec(
    role="integrators",
    name="verlet",
    api="0.2",
    target="corekit_timestep.verlet:Verlet",
    config="corekit_timestep.config:VerletConfig",
    summary="Second order, explicit, symplectic: velocity or position form, then one contact problem per step.",
    order=2,
    provides=frozenset({"split", "impulses", "potential"}),
    citation=(
        "W. C. Swope, H. C. Andersen, P. H. Berens, K. R. Wilson, A computer simulation method for the calculation of "
        "equilibrium constants for the formation of physical clusters of molecules, J. Chem. Phys. 76(1) (1982)."
    ),
)

scipy_bdf = ComponentSpec(
    role="integrators",
    name="scipy-bdf",
    api="0.2",
    target="corekit_timestep.scipy_integrator:ScipyIntegrator",
    config="corekit_timestep.config:ScipyBdfConfig",
    summary="SciPy's BDF, orders 1 to 5 to a tolerance, steps longer than the grid's; stiff models without impacts.",
    provides=frozenset({"split", "implicit", "error-controlled", "impulses", "potential"}),
    citation="L. F. Shampine, M. W. Reichelt, The MATLAB ODE Suite, SIAM J. Sci. Comput. 18(1) (1997) 1-22.",
)

scipy_radau = ComponentSpec(
    role="integrators",
    name="scipy-radau",
    api="0.2",
    target="corekit_timestep.scipy_integrator:ScipyIntegrator",
    config="corekit_timestep.config:ScipyRadauConfig",
    summary="SciPy's Radau IIA, order 5 to a tolerance, steps longer than the grid's; stiff models without impacts.",
    provides=frozenset({"split", "implicit", "error-controlled", "impulses", "potential"}),
    citation=(
        "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, Springer Series in Computational "
        "Mathematics 14 (1996)."
    ),
)

scipy_rk45 = ComponentSpec(
    role="integrators",
    name="scipy-rk45",
    api="0.2",
    target="corekit_timestep.scipy_integrator:ScipyIntegrator",
    config="corekit_timestep.config:ScipyRk45Config",
    summary="SciPy's RK45, order 5 to a tolerance, explicit, steps longer than the grid's; contact once per step.",
    provides=frozenset({"split", "error-controlled", "impulses", "potential"}),
    citation=(
        "J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6(1) (1980) "
        "19-26."
    ),
)
