"""Component specification for `corekit list` and `corekit plan`."""

from corekit.registry.spec import ComponentSpec

__all__ = ["ipopt_mpcc"]

ipopt_mpcc = ComponentSpec(
    role="planners",
    name="ipopt-mpcc",
    api="0.2",
    target="corekit_mpcc.planner:IpoptMpcc",
    config="corekit_mpcc.config:MpccConfig",
    summary="Trajectories through contact: an MPCC in two phases, certified in physical units.",
    requires={"models": ("symbolic",)},
    modules=("casadi", "numba"),
    citation=(
        "Azizkhani, Chen, Unified Complementarity-Based Contact Modeling and Planning for Soft Robots (CUSP); "
        "Waechter, Biegler (2006), On the implementation of an interior-point filter line-search algorithm for "
        "large-scale nonlinear programming"
    ),
)
