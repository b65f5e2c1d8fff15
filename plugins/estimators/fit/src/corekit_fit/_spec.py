"""Component specifications for `corekit list` and composition."""

from corekit.registry.spec import ComponentSpec

__all__ = ["adjoint", "curvature_descent", "gauss_newton", "ipopt_fit", "simulation_fit"]

ipopt_fit = ComponentSpec(
    role="estimators",
    name="ipopt-fit",
    api="0.2",
    target="corekit_fit.ipopt_fit:IpoptFit",
    config="corekit_fit.config:IpoptFitConfig",
    summary="Joint fit of motion and parameters to markers, with the identifiability of each parameter.",
    requires={"models": ("symbolic", "symbolic-parameters")},
    modules=("casadi", "scipy", "h5netcdf"),
    citation=(
        "Jitosho, Agharese, Okamura, Manchester (2021), A Dynamics Simulator for Soft Growing Robots, ICRA; "
        "Wächter, Biegler (2006), On the implementation of an interior-point filter line-search algorithm for "
        "large-scale nonlinear programming, Math. Program. 106(1)"
    ),
)

curvature_descent = ComponentSpec(
    role="estimators",
    name="curvature-descent",
    api="0.2",
    target="corekit_fit.curvature_descent:CurvatureDescent",
    config="corekit_fit.config:CurvatureDescentConfig",
    summary="Natural curvature from a series of equilibrium shapes, by gradient descent on finite differences.",
    requires={"models": ("curvature-input", "force-derivatives")},
    modules=("h5netcdf",),
    citation=(
        "Choi et al. (2024), DisMech: A Discrete Differential Geometry-based Physical Simulator for Soft Robots "
        "and Structures, IEEE Robotics and Automation Letters 9(4), Algorithm 1"
    ),
)

gauss_newton = ComponentSpec(
    role="estimators",
    name="gauss-newton",
    api="0.2",
    target="corekit_fit.gauss_newton:GaussNewton",
    config="corekit_fit.config:GaussNewtonConfig",
    summary="Natural curvature from a series of equilibrium shapes, by Gauss-Newton with the exact sensitivity.",
    requires={"models": ("curvature-input", "input-jacobian", "force-derivatives", "point-jacobian")},
    modules=("h5netcdf",),
    citation="Nocedal, Wright (2006), Numerical Optimization, section 10.3, on equilibria differentiated implicitly.",
)

simulation_fit = ComponentSpec(
    role="estimators",
    name="simulation-fit",
    api="0.2",
    target="corekit_fit.simulation_fit:SimulationFit",
    config="corekit_fit.config:SimulationFitConfig",
    summary="Parameters of any model, with any contact, by least squares over whole simulations.",
    modules=("casadi", "scipy", "h5netcdf"),
    citation=(
        "Branch, Coleman, Li (1999), A subspace, interior, and conjugate gradient method for large-scale "
        "bound-constrained minimization problems, SIAM J. Sci. Comput. 21(1)"
    ),
)

adjoint = ComponentSpec(
    role="estimators",
    name="adjoint",
    api="0.2",
    target="corekit_fit.adjoint:Adjoint",
    config="corekit_fit.config:AdjointConfig",
    summary="Parameters of any model, in contact, by gradients of whole runs: one sweep back for all of them.",
    modules=("casadi", "scipy", "h5netcdf"),
    citation=(
        "Lewis, Overton (2013), Nonsmooth optimization via quasi-Newton methods, Mathematical Programming 141"
    ),
)
