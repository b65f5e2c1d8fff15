"""A base that moves: the first link's joint becomes a free one.

The joint shifts by l along the axes of where the base began, then turns by R₀·exp(k̃), R₀ in aux (see `initial_state`).
At k = 0 its rates are the turn's body rates and the shift's velocity, so that a pose (p, R) and a twist (v, ω) in world
axes are written as

    l = R_baseᵀ·(p − p_base),   R₀ = R_baseᵀ·R,   k = 0,   k̇ = Rᵀ·ω,   l̇ = R_baseᵀ·v                     (1)

The place `world`, the base's frame, is where that joint ends: what hangs on the base goes with it.
"""

from __future__ import annotations

import attrs

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.geometry.frames import Pose
from corekit_gvs.config import GVSConfig
from corekit_gvs.joints import Joint

__all__ = ["place_free_joint", "with_free_base"]


def with_free_base(config: GVSConfig, path: str) -> GVSConfig:
    """Return the options with a free joint at the base.

    Raises:
        ConfigError: another link than the first one at the base, several of them, one that a joint moves there, or one
            that stands beside the base.
    """
    at_base = [i for i, link in enumerate(config.links) if not link.on]
    wrong: list[Mistake] = []
    if at_base != [0]:
        said = "a moving base carries the first link alone: let the others hang on it"
        wrong += [Mistake(f"{path}.links[{i}].on", config.links[i].on, said) for i in at_base if i] or [
            Mistake(f"{path}.links[0].on", config.links[0].on, said)
        ]
    elif config.links[0].joint.kind != "fixed":
        said = "must be 'fixed': a moving base moves freely. Let a rigid link stand before this joint"
        wrong.append(Mistake(f"{path}.links[0].joint.kind", config.links[0].joint.kind, said))
    if not wrong:
        first = config.links[0]
        said = "must be left out: a moving base is the first link's own; place the body by its `base` instead"
        for name in ("position", "rotation_rpy"):
            if any(getattr(first, name)):
                wrong.append(Mistake(f"{path}.links[0].{name}", list(getattr(first, name)), said))
    if wrong:
        raise ConfigError(wrong, path)
    first = attrs.evolve(config.links[0], joint=Joint(kind="free"))
    return attrs.evolve(config, links=(first, *config.links[1:]))


def place_free_joint(
    base: Pose, state: State, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
) -> None:
    """Write (1); `base` is where the base began."""
    state.aux[:9] = (base.rotation.T @ rotation).ravel()
    state.q[:3], state.q[3:6] = 0.0, base.rotation.T @ (position - base.position)
    state.v[:3], state.v[3:6] = rotation.T @ angular_velocity, base.rotation.T @ velocity
