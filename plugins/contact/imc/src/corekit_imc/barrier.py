"""Contact energy as a function of the gap, and friction as a function of the slip speed.

With g the gap [m], K₁ = 15/δ and the softplus S = log(1 + exp(−K₁·g))/K₁ [m], energy k·φ, normal force −k·φ′:

    φ = S²,   φ′ = −2·S·σ,   φ″ = 2·σ² + 2·K₁·S·σ·(1 − σ),   σ = 1/(1 + exp(K₁·g)),   φ = 0 for g ≥ δ      (1)

Deep inside φ → g², φ″ → 2: a spring of stiffness 2·k. The paper switches to g² at g = −δ, where S differs
from −g by 2·10⁻⁸·δ; (1) has no such jump, and the one at +δ is below 10⁻¹³·δ².

With u the slip speed [m/s] and K₂ = 15/ν, γ is the fraction of Coulomb's force that acts against the slip:

    γ = 2/(1 + exp(−K₂·u)) − 1 = tanh(½·K₂·u),   γ′ = ½·K₂·(1 − γ²),   γ/u → ½·K₂ as u → 0                (2)

Source: Choi et al. (2024), "DisMech: a discrete differential geometry-based physical simulator for soft
robots and structures", eq. (10)–(13); Tong et al. (2023).
"""

from __future__ import annotations

import math

from corekit.compiled import compiled

__all__ = ["barrier", "depth_and_fraction", "slip_factors"]


@compiled
def depth_and_fraction(gap: float, layer: float) -> tuple[float, float, float]:
    """Return S [m], σ [-] and 1 − σ of (1), without the cut at δ."""
    rate = 15.0 / layer
    x = -rate * gap
    # e^−|x| never overflows; log1p keeps S exact where it is small
    exponential = math.exp(-abs(x))
    soft = (math.log1p(exponential) + max(0.0, x)) / rate
    large, small = 1.0 / (1.0 + exponential), exponential / (1.0 + exponential)
    return (soft, large, small) if x >= 0.0 else (soft, small, large)


@compiled
def barrier(gap: float, layer: float) -> tuple[float, float, float]:
    """Return φ [m²], φ′ [m] and φ″ [-] of (1) for a gap [m] and δ = `layer` [m]."""
    if gap >= layer:
        return 0.0, 0.0, 0.0
    soft, factor, complement = depth_and_fraction(gap, layer)
    return soft * soft, -2.0 * soft * factor, 2.0 * factor * (factor + 15.0 / layer * soft * complement)


@compiled
def slip_factors(speed: float, scale: float) -> tuple[float, float, float]:
    """Return γ [-], γ/u [s/m] and γ′ [s/m] of (2) for u = `speed` ≥ 0 [m/s] and ν = `scale` [m/s]."""
    rate = 15.0 / scale
    x = 0.5 * rate * speed
    factor = math.tanh(x)
    # tanh(x)/x = 1 − x²/3 + … : below 1e-4 the series is exact to rounding
    ratio = 0.5 * rate * (1.0 - x * x / 3.0) if x < 1e-4 else factor / speed
    return factor, ratio, 0.5 * rate * (1.0 - factor * factor)
