"""What a motion costs: weights of every term, of which all are parameters of the prepared solvers."""

from __future__ import annotations

from attrs import frozen

from corekit.roles.options import option

__all__ = ["AS_PRINTED", "Cost"]


@frozen(kw_only=True)
class Cost:
    """J = h·Σ_k [running terms at the end of step k] + terminal terms, in SI units.

    running·E + force_rate·Σ(Δf_z)² − force_reward·Σf_z + acceleration·|Δv|² + turning·|Δω|² + unit·(|q|² − 1)²
    + shape·|l − l₀|² + speed·|v|² + slip·Σγ² + friction·Σ|f_t|² + effort·|τ|² + effort_rate·|Δτ|²          (1)
    terminal·E at the end                                                                                    (2)

    E is the orientation error 1 − (qᵀq*)² plus |c − c*|²/(1 m²) where the object translates; Δ is the change over a
    step. CUSP's cost (20) is `AS_PRINTED`: it counts the static forces that hold the arm up, and the optimum then
    flicks the object and lets go. The defaults count how fast efforts change instead.
    """

    running: float = option(0.03, "distance from the target on the way", low=0)
    terminal: float = option(100.0, "distance from the target at the end", low=0)
    force_rate: float = option(0.2, "change of normal forces", low=0)
    force_reward: float = option(0.0, "reward of normal forces", low=0)
    acceleration: float = option(1e-3, "change of the bodies' velocities, dynamic stage", low=0)
    kinematic_acceleration: float = option(
        1000.0, "change of the bodies' velocities, kinematic stage: stands for the change of efforts", low=0
    )
    turning: float = option(1e-3, "change of the object's velocities", low=0)
    unit: float = option(10.0, "deviation of the quaternion from norm 1", low=0)
    shape: float = option(1e-2, "distance of the bodies' coordinates from the start", low=0)
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
    turning=1e-3,
    unit=10.0,
    shape=0.0,
    speed=0.0,
    slip=0.0,
    friction=0.0,
    effort=1e-2,
    effort_rate=0.0,
)
"""CUSP's cost (20) as the paper prints it."""
