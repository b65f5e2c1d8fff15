"""Options that have no meaning for rods in a plane."""

from __future__ import annotations

import numpy as np

from corekit.errors import ConfigError, Mistake
from corekit_der.config import DERConfig

__all__ = ["check_plane"]


def check_plane(config: DERConfig) -> None:
    """Raise ConfigError for options that have no meaning in a plane."""
    mistakes: list[Mistake] = []
    if config.gyroscopic:
        mistakes.append(Mistake("gyroscopic", True, "remove it: what moves in a plane does not spin"))
    if config.end_frames:
        reason = "remove them: nothing holds what moves in a plane alone"
        mistakes.append(Mistake("end_frames", list(config.end_frames), reason))
    for i, limb in enumerate(config.limbs):
        if np.any(limb.positions()[:, 1] != 0.0):
            mistakes.append(
                Mistake(f"limbs[{i}]", "a y coordinate", "a planar rod lies in the base's x–z plane")
            )
        if limb.director is not None:
            reason = "remove it: director 1 of a planar rod lies in the plane"
            mistakes.append(Mistake(f"limbs[{i}].director", list(limb.director), reason))
        if limb.natural_twist or limb.natural_curvature[1]:
            reason = "a planar rod has only κ₁: no κ₂ and no twist"
            mistakes.append(Mistake(f"limbs[{i}].natural_curvature", list(limb.natural_curvature), reason))
    if mistakes:
        raise ConfigError(mistakes, "the planar rods")
