"""Light descriptions of the reference plugins; their names all begin with `reference-`."""

from __future__ import annotations

from corekit.registry.spec import ComponentSpec

__all__ = [
    "detector",
    "gauss_seidel",
    "implicit_euler",
    "penalty",
    "pendulum",
    "point_chain",
    "sdirk",
    "semi_implicit_euler",
    "velocity_verlet",
]

point_chain = ComponentSpec(
    role="models",
    name="reference-point-chain",
    api="0.2",
    target="corekit_testing.point_chain:PointChain",
    config="corekit_testing.point_chain_config:PointChainConfig",
    summary="Point masses joined by springs, rods, winches, brakes and tendons; every ability, plain numpy.",
    provides={
        "point-jacobian",
        "force-derivatives",
        "constraints",
        "bounded-constraints",
        "prescribed",
        "energy",
        "force-terms",
    },
)

pendulum = ComponentSpec(
    role="models",
    name="reference-pendulum",
    api="0.2",
    target="corekit_testing.pendulum:Pendulum",
    config="corekit_testing.pendulum:PendulumConfig",
    summary="A pendulum of n rods in its angles: a dense mass matrix that depends on q.",
    provides={
        "point-jacobian",
        "force-derivatives",
        "inverse-dynamics",
        "mass-gradient",
        "energy",
        "force-terms",
        "input-jacobian",
    },
)

detector = ComponentSpec(
    role="contact_detectors",
    name="reference-detector",
    api="0.2",
    target="corekit_testing.reference_detector:ReferenceDetector",
    config="corekit_testing.reference_detector_config:ReferenceDetectorConfig",
    summary="Spheres on half-spaces and spheres, edges on edges; tests every pair.",
)

gauss_seidel = ComponentSpec(
    role="contact_solvers",
    name="reference-gauss-seidel",
    api="0.2",
    target="corekit_testing.projected_gauss_seidel:ProjectedGaussSeidel",
    config="corekit_testing.projected_gauss_seidel_config:ProjectedGaussSeidelConfig",
    summary="Projected Gauss–Seidel with the exact circular friction cone; simple, slow, accurate.",
    provides={"impulses", "bounded-constraints"},
)

penalty = ComponentSpec(
    role="contact_solvers",
    name="reference-penalty",
    api="0.2",
    target="corekit_testing.penalty:Penalty",
    config="corekit_testing.penalty:PenaltyConfig",
    summary="A power of the penetration with regularised friction and exact derivatives.",
    provides={"potential"},
)

semi_implicit_euler = ComponentSpec(
    role="integrators",
    name="reference-semi-implicit-euler",
    api="0.2",
    target="corekit_testing.semi_implicit_euler:SemiImplicitEuler",
    config="corekit_testing.semi_implicit_euler:SemiImplicitEulerConfig",
    summary="One linear solve a step, first order.",
    order=1,
    provides={"coupled", "impulses", "potential"},
)

implicit_euler = ComponentSpec(
    role="integrators",
    name="reference-implicit-euler",
    api="0.2",
    target="corekit_testing.implicit_euler:ImplicitEuler",
    config="corekit_testing.implicit_euler:ImplicitEulerConfig",
    summary="Newton's method on implicit Euler (θ = 1) or implicit midpoint (θ = ½).",
    order=1,
    provides={"coupled", "implicit", "newton", "impulses", "potential"},
)

velocity_verlet = ComponentSpec(
    role="integrators",
    name="reference-velocity-verlet",
    api="0.2",
    target="corekit_testing.velocity_verlet:VelocityVerlet",
    config="corekit_testing.velocity_verlet:VelocityVerletConfig",
    summary="Velocity Verlet, then one contact problem; second order in free motion.",
    order=2,
    provides={"split", "impulses", "potential"},
)

sdirk = ComponentSpec(
    role="integrators",
    name="reference-sdirk",
    api="0.2",
    target="corekit_testing.sdirk:Sdirk",
    config="corekit_testing.sdirk:SdirkConfig",
    summary="Two implicit stages of the smooth dynamics, L-stable, then one contact problem; second order.",
    order=2,
    provides={"split", "implicit", "newton", "impulses", "potential"},
)
