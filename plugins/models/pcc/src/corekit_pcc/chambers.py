"""From coordinates to chamber elongations and to arc parameters: constant linear maps, one a section.

Chamber j of c stands at ψ_j = ψ_0 + 2π·(j − 1)/c on a circle of radius r. Its elongation l_j and the arc
parameters y = (L, b_x, b_y), arc length and Cartesian bending vector (θ = ‖b‖ is the subtended angle), obey

    l_j = (L − L₀) − r·(b_x·cos ψ_j + b_y·sin ψ_j)                                       (1)

Three chambers make (1) invertible, and the coordinates x are the elongations themselves. With more, the
elongations are dependent: the coordinates stay three a section, all in metres. Both are one formulation,

    c = 3:  x = (l_1, l_2, l_3)             else:  x = (L − L₀, r·b_x, r·b_y)
    l = A·x                                 y = (L₀, 0, 0) + E·x                         (2)

so A = 1 for c = 3, and chamber stiffness k, damping d and forces τ (all per chamber) sum as virtual work requires:

    K = k·AᵀA,     D = d·AᵀA,     Q = Aᵀ·τ                                               (3)

In L − L₀ and b, (3) reads c·k and (c/2)·k·r²: an axial stiffness of 795 N/m and a bending stiffness of
0.99 N·m/rad for three chambers of 265 N/m on r = 0.05 m.

Source: Godage et al. (2016), "Dynamics for variable length multisection continuum arms"; the Cartesian
bending vector as in Allen et al. (2020), "Closed-form non-singular constant-curvature continuum manipulator
kinematics".
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from corekit.data.arrays import Array

__all__ = ["chamber_maps"]


@lru_cache(maxsize=64)
def chamber_maps(chambers: int, radius: float, angle: float = 0.0) -> tuple[Array, Array]:
    """The maps A and E of equation (2) for one section.

    Args:
        chambers: c ≥ 3.
        radius: r [m].
        angle: ψ_0 [rad].
    Returns:
        A, shape (c, 3), and E, shape (3, 3): rows L − L₀ [m], b_x, b_y [rad]; shared and read-only.
    """
    psi = angle + 2.0 * np.pi * np.arange(chambers) / chambers
    of_scaled = np.column_stack([np.ones(chambers), -np.cos(psi), -np.sin(psi)])
    to_arc = np.diag([1.0, 1.0 / radius, 1.0 / radius])
    if chambers == 3:
        # the columns of (1) are orthogonal with squared norms 3, 3/2, 3/2, so its inverse is a scaled transpose
        of_scaled, to_arc = np.eye(3), to_arc @ (of_scaled / np.array([3.0, 1.5, 1.5])).T
    of_scaled.flags.writeable = to_arc.flags.writeable = False
    return of_scaled, to_arc
