"""Light descriptions of this distribution's components."""

from corekit.registry.spec import ComponentSpec

__all__ = ["implicit_euler", "implicit_midpoint", "rk23", "semi_implicit_euler"]

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

implicit_euler = ComponentSpec(
    role="integrators",
    name="implicit-euler",
    target="corekit_timestep.implicit_euler:ImplicitEuler",
    config="corekit_timestep.config:NewtonConfig",
    summary="First order, damping, at ease with stiff models: Newton's method with line search, adaptive step.",
    provides=frozenset({"coupled", "implicit", "newton", "impulses", "potential"}),
    citation=(
        "P. Deuflhard, Newton Methods for Nonlinear Problems: Affine Invariance and Adaptive Algorithms, "
        "Springer Series in Computational Mathematics 35 (2011)."
    ),
)

implicit_midpoint = ComponentSpec(
    role="integrators",
    name="implicit-midpoint",
    target="corekit_timestep.implicit_midpoint:ImplicitMidpoint",
    config="corekit_timestep.config:NewtonConfig",
    summary="Second order, symplectic, undamped: Newton's method with line search, adaptive step.",
    provides=frozenset({"coupled", "implicit", "newton", "impulses", "potential"}),
    citation=(
        "E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, Springer Series in Computational "
        "Mathematics 31 (2006)."
    ),
)

rk23 = ComponentSpec(
    role="integrators",
    name="rk23",
    target="corekit_timestep.rk23:Rk23",
    config="corekit_timestep.config:Rk23Config",
    summary="Third order, explicit, error-controlled inner steps, stiff damping split off; contact once a step.",
    provides=frozenset({"split", "impulses", "potential"}),
    citation="P. Bogacki, L. F. Shampine, A 3(2) pair of Runge-Kutta formulas, Appl. Math. Lett. 2 (1989) 321-325.",
)
