"""Bending moment of an inflated tube from its membrane stress: linear, then wrinkled, then collapsing.

The tube has radius ρ, pressure p, wall stiffness E·t and EI = π·ρ³·E·t. At the curvature κ it wrinkles on the inner
side over the half-angle w, where the stress is zero. Balance of axial force and moment for the tense part:

    κ(w) = κ_w·π/B,   M(w) = p·π·ρ³·(2(π − w) + sin 2w)/(4B),   B = (π − w)·cos w + sin w      (1)
    κ_w = p/(2·E·t),  M_w = EI·κ_w = p·π·ρ³/2,                  M → p·π·ρ³ as w → π            (2)
    dM/dκ = p·ρ³/(4κ_w)·(2(π − w) + sin 2w − 4·B·sin w/(π − w))                                (3)

The energy per length is that of the wall minus the axial force p·π·ρ² times the strain of the axis; dU/dκ = M.

Source: Comer, Levy (1963), Deflections of an inflated circular-cylindrical cantilever beam, AIAA Journal 1(7).
"""

from __future__ import annotations

import math

from corekit.compiled import compiled

__all__ = ["bend_energy", "bend_moment", "wrinkle_angle"]


@compiled
def wrinkle_angle(ratio: float) -> float:
    """Return w with B(w) = π/ratio for ratio = κ/κ_w > 1, by Newton's method inside a shrinking bracket."""
    target = math.pi / ratio
    low, high = 0.0, math.pi
    # B ≈ (π − w)³/3 near collapse and π − ½·π·w² near its onset
    w = math.pi - (3.0 * target) ** (1.0 / 3.0) if ratio > 3.0 else math.sqrt(2.0 * (1.0 - 1.0 / ratio))
    for _ in range(60):
        value = (math.pi - w) * math.cos(w) + math.sin(w) - target
        if value > 0.0:
            low = w
        else:
            high = w
        slope = -(math.pi - w) * math.sin(w)
        step = w - value / slope if slope < 0.0 else 0.5 * (low + high)
        if not low < step < high:
            step = 0.5 * (low + high)
        if abs(step - w) <= 1e-15 * math.pi:
            w = step
            break
        w = step
    return w


@compiled
def bend_moment(curvature: float, stiffness: float, onset: float) -> tuple[float, float]:
    """Return M [N·m] and dM/dκ [N·m²] at the curvature κ [1/m], for EI and the onset κ_w [1/m] (inf: none).

    A tube without pressure, κ_w ≤ 0, carries none.
    """
    size = abs(curvature)
    if onset <= 0.0:
        return 0.0, 0.0
    if not size > onset:
        return stiffness * curvature, stiffness
    w = wrinkle_angle(size / onset)
    b = math.pi * onset / size
    # p·ρ³ = 2·M_w/π
    scale = 2.0 * stiffness * onset / math.pi
    chord = 2.0 * (math.pi - w) + math.sin(2.0 * w)
    moment = scale * math.pi * chord / (4.0 * b)
    slope = scale / (4.0 * onset) * (chord - 4.0 * b * math.sin(w) / (math.pi - w))
    return math.copysign(moment, curvature), max(slope, 0.0)


@compiled
def bend_energy(curvature: float, stiffness: float, onset: float) -> float:
    """Return the energy per length [J/m] at a curvature, zero when straight: ½·EI·κ², and beyond the onset

        EI/π·κ²·((π − w)·(cos²w + ½) + ¾·sin 2w) − 2·EI·κ_w·κ·cos w + EI·κ_w²                  (4)

    The terms are the energy of the wall, the potential of the axial force, and both at κ = 0.
    """
    size = abs(curvature)
    if onset <= 0.0:
        return 0.0
    if not size > onset:
        return 0.5 * stiffness * size * size
    w = wrinkle_angle(size / onset)
    c = math.cos(w)
    wall = stiffness / math.pi * size * size * ((math.pi - w) * (c * c + 0.5) + 0.75 * math.sin(2.0 * w))
    return wall - 2.0 * stiffness * onset * size * c + stiffness * onset * onset
