"""What `corekit list` and composition read of this distribution."""

from corekit.registry.spec import ComponentSpec

__all__ = ["torsion_arm"]

torsion_arm = ComponentSpec(
    role="models",
    name="torsion-arm",
    api="0.2",
    target="torsion_arm.model:TorsionArm",
    config="torsion_arm.config:TorsionArmConfig",
    initial="torsion_arm.config:TorsionArmInitial",
    summary="Planar arm of rigid links with torsion springs, dampers and torques at its joints.",
    provides={"point-jacobian", "force-derivatives", "energy", "force-terms", "planar"},
)
