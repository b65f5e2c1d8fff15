"""Weights of the cost of a motion; all are parameters of the prepared programs."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["AS_PRINTED", "Cost"]


@frozen(kw_only=True)
class Cost:
    """J = h·Σ_k [running terms at the end of step k] + terminal terms, in SI units.

    running·E + force_rate·Σ(Δf_z)² − force_reward·Σf_z + acceleration·|Δv|² + object_acceleration·|Δω|²
    + quaternion_norm·(|q|² − 1)² + posture·|l − l₀|² + speed·|v|² + slip·Σγ² + friction·Σ|f_t|²
    + effort·|τ|² + effort_rate·|Δτ|²                                                                        (1)
    terminal·E at the end                                                                                    (2)

    E is the orientation error 1 − (qᵀq*)² plus |c − c*|²/(1 m²) if the object translates; Δ is the change over a
    step. `AS_PRINTED` is CUSP's cost (20). It penalises static efforts against gravity, so its optimum throws the
    object and opens the contact. The defaults penalise changes of efforts instead.
    """

    running: float = option(0.03, "distance from the target during the motion", low=0)
    terminal: float = option(100.0, "distance from the target at the end", low=0)
    force_rate: float = option(0.2, "change of normal forces", low=0)
    force_reward: float = option(0.0, "reward of normal forces", low=0)
    acceleration: float = option(1e-3, "change of the bodies' velocities, dynamic phase", low=0)
    kinematic_acceleration: float = option(
        1000.0, "change of the bodies' velocities, kinematic phase; replaces the change of efforts", low=0
    )
    object_acceleration: float = option(1e-3, "change of the object's velocities", low=0)
    quaternion_norm: float = option(10.0, "deviation of the quaternion from norm 1", low=0)
    posture: float = option(1e-2, "distance of the bodies' coordinates from the initial ones", low=0)
    speed: float = option(5.0, "the bodies' velocities", low=0)
    slip: float = option(1e-3, "slip", low=0)
    friction: float = option(1e-4, "friction forces", low=0)
    effort: float = option(0.0, "inputs", low=0)
    effort_rate: float = option(0.1, "change of inputs", low=0)


AS_PRINTED = Cost(
    running=10.0,
    terminal=100.0,
    force_rate=0.2,
    force_reward=1e-3,
    acceleration=1e-3,
    kinematic_acceleration=1e-3,
    object_acceleration=1e-3,
    quaternion_norm=10.0,
    posture=0.0,
    speed=0.0,
    slip=0.0,
    friction=0.0,
    effort=1e-2,
    effort_rate=0.0,
)
"""CUSP's cost (20) as printed in the paper."""
