"""What `corekit list` and composition read of this plugin."""

from corekit.registry.spec import ComponentSpec

__all__ = ["adaptive_tracking", "computed_torque", "pd", "sensors", "tracking_lqr"]

adaptive_tracking = ComponentSpec(
    role="controllers",
    name="adaptive-tracking",
    api="0.2",
    target="corekit_feedback.adaptive_tracking:AdaptiveTracking",
    config="corekit_feedback.config:AdaptiveTrackingConfig",
    summary="A motion through contact is tracked where stiffness and the object's place differ from the planned ones.",
    modules=("scipy",),
    citation="Slotine, Li (1991), Applied Nonlinear Control",
)

computed_torque = ComponentSpec(
    role="controllers",
    name="computed-torque",
    api="0.2",
    target="corekit_feedback.computed_torque:ComputedTorque",
    config="corekit_feedback.config:ComputedTorqueConfig",
    summary="A frame follows a path: inputs within bounds from the model's own M, f, K, D and point Jacobians.",
    modules=("scipy",),
    citation="Khatib (1987), A unified approach for motion and force control of robot manipulators, IEEE J-RA 3(1)",
)

pd = ComponentSpec(
    role="controllers",
    name="pd",
    api="0.2",
    target="corekit_feedback.pd:PD",
    config="corekit_feedback.config:PDConfig",
    summary="A channel drives coordinates to a target by their errors, rates and the integral of the errors.",
)

sensors = ComponentSpec(
    role="controllers",
    name="sensors",
    api="0.2",
    target="corekit_feedback.sensors:Sensors",
    config="corekit_feedback.sensors:SensorsConfig",
    summary="Readings by name with noise and delay: frame pose, strain, tendon length, contact force, IMU.",
)

tracking_lqr = ComponentSpec(
    role="controllers",
    name="tracking-lqr",
    api="0.2",
    target="corekit_feedback.tracking_lqr:TrackingLqr",
    config="corekit_feedback.config:TrackingLqrConfig",
    summary="A motion through contact is tracked by a regulator about the simulator's own steps; stiffness stays.",
    modules=("scipy",),
    citation="Anderson, Moore (1990), Optimal Control: Linear Quadratic Methods",
)
