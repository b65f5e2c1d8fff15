"""What `corekit list` and composition read of this plugin."""

from corekit.registry.spec import ComponentSpec

__all__ = ["rigid"]

rigid = ComponentSpec(
    role="models",
    name="rigid",
    api="0.2",
    target="corekit_rigid.model:Rigid",
    config="corekit_rigid.config:RigidConfig",
    initial="corekit_rigid.config:RigidInitial",
    summary="Rigid body, free or turning about a fixed point: ball, box, capsule, cylinder, disk or polytope.",
    provides=(
        "point-jacobian",
        "force-derivatives",
        "dissipation",
        "energy",
        "force-terms",
        "free-base",
        "new-numbers",
        "compiled-form",
    ),
    modules=("numba", "scipy"),
    symbols={
        "mesh": '`mesh = { file = "part.stl", units = "mm" }` instead of shape and sizes is read by corekit-import',
    },
    citation=(
        "Goldstein, Poole, Safko (2002), Classical Mechanics, 3rd ed., chapter 5; "
        "Sola (2017), Quaternion kinematics for the error-state Kalman filter, arXiv:1711.02508"
    ),
)
