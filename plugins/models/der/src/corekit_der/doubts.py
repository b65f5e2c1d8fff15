"""What is improbable about rods, and what they leave out and matters in a state.

The angular momentum of spins is left out without `gyroscopic`. The couples C that turn it with the tangents stand
against the moments of the forces f on the nodes, and of the motion of their masses, about the centre c of the body.
With the fastest turn u of a tangent,

    C = Σ_edges I·|s|·|ṫ|,     share = C/(Σ_nodes |f|·|x − c| + u·Σ_nodes m·|x − c|·|ẋ − ċ|),     u = max |ṫ|       (1)

Where a body rolls straight on, u and C vanish, and its weight does not.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.geometry.sections import outline_doubt
from corekit.roles.options import doubt_given
from corekit_der.config import DERConfig
from corekit_der.tables import Rods

__all__ = ["fluid_doubts", "idle_options", "outline_doubts", "spin_doubts"]

_MATTERS = 0.02
"""Of (1)."""


def outline_doubts(config: DERConfig) -> tuple[str, ...]:
    """Return a sentence on every limb whose section would twist as it bends."""
    return tuple(
        f"limbs[{i}].outline {said}"
        for i, limb in enumerate(config.limbs)
        if limb.section == "outline"
        and not config.planar
        and (said := outline_doubt(limb.outline, limb.holes))
    )


def fluid_doubts(config: DERConfig) -> tuple[str, ...]:
    """Return a sentence on every limb whose added mass is that of no fluid."""
    return tuple(
        f"limbs[{i}].added_mass does nothing without a fluid: give `limbs[{i}].fluid_density`"
        for i, limb in enumerate(config.limbs)
        if limb.added_mass and not limb.fluid_density
    )


def idle_options(config: DERConfig) -> tuple[str, ...]:
    """Return a sentence on every option that a choice beside it leaves unread: what touches, a drive."""
    said: list[str] = []
    if config.collision == "none":
        said += doubt_given(config, "collision", ("self_contact",))
        said += (
            f"limbs[{i}].friction does nothing with collision = 'none'"
            for i, limb in enumerate(config.limbs)
            if limb.friction is not None
        )
    for i, cable in enumerate(config.cables):
        if cable.drive == "tension":
            said += doubt_given(cable, "drive", ("stiffness",), f"cables[{i}].")
    return tuple(said)


def spin_doubts(
    rods: Rods, nodes: IntArray, angles: IntArray, mass: Array, q: Array, v: Array, force: Array
) -> tuple[str, ...]:
    """Return a sentence if (1) is large, for the edge state.

    Args:
        nodes, angles: indices of nodes (N, 3) and of angles (E,).
        mass: diagonal of M, (n,). force: f, (n,).
    """
    length, tangent = rods.edge_state[:, 3], rods.edge_state[:, :3]
    rate = v[rods.edge[:, 1, None] + np.arange(3)] - v[rods.edge[:, 0, None] + np.arange(3)]
    spin = v[angles] + np.einsum("ei,ei->e", rods.edge_state[:, 10:13], rate)
    turn = np.linalg.norm(np.cross(tangent, rate), axis=1) / length
    couple = float(mass[angles] @ np.abs(spin * turn))
    heavy = mass[nodes[:, :1]]
    arm, speed = (
        np.linalg.norm(each[nodes] - (heavy * each[nodes]).sum(axis=0) / heavy.sum(), axis=1)
        for each in (q, v)
    )
    moments = float(np.linalg.norm(force[nodes], axis=1) @ arm + turn.max() * (heavy[:, 0] * arm) @ speed)
    if not couple > _MATTERS * moments:
        return ()
    said = (
        "it spins about its own axis and turns, and the moments by which its spin resists that are left out, "
    )
    return (f"{said}{couple / moments:.2g} times its others: the option `gyroscopic = true` has them",)
