"""Equations of an arm for random worlds: two hinges across each other, and a link that slides out of the other.

Its coordinates have two units and its shapes are capsules, so that nothing in it is the same in a mirror, in another
order or in other units by chance.
"""

from __future__ import annotations

from typing import Any

__all__ = ["telescopic_arm"]


def telescopic_arm(system: Any, option: Any) -> None:
    """Write an arm along z of its base: a hinge about y, one about x, and a slide along the second link.

    Args:
        system: `corekit_lagrangian.system.System`.
        option: `length` and `mass` of two links, `radius`; `hinge_stiffness`, `hinge_damping` of both hinges;
            `stiffness`, `damping` of the slide.
    """
    import casadi as ca

    q, v = system.coordinates("swing", "tilt")
    slide, rate = system.coordinates("slide", unit="m")
    c, s, d, e = ca.cos(q[0]), ca.sin(q[0]), ca.cos(q[1]), ca.sin(q[1])
    first = ca.vertcat(ca.horzcat(c, 0, s), ca.horzcat(0, 1, 0), ca.horzcat(-s, 0, c))
    second = first @ ca.vertcat(ca.horzcat(1, 0, 0), ca.horzcat(0, d, -e), ca.horzcat(0, e, d))
    joint = ca.SX.zeros(3)
    radius, lengths = option.number("radius"), option.number("length")
    for i, (turn, out) in enumerate(((first, 0), (second, slide))):
        length, mass = option.length[i], option.mass[i]
        centre = joint + turn @ ca.vertcat(0, 0, 0.5 * length + out)
        joint += turn @ ca.vertcat(0, 0, length)
        across = mass * length**2 / 12
        system.body(mass, ca.vertcat(across, across, 0.5 * mass * option.radius**2), centre, turn)
        system.shape("capsule", [radius, 0.4 * lengths[i]], system.frame(f"link-{i}", centre, turn))
    system.never_touch(0, 1)
    system.potential_energy(0.5 * option.hinge_stiffness * ca.dot(q, q), "hinges")
    system.potential_energy(0.5 * option.stiffness * slide**2, "slide")
    system.dissipation(0.5 * option.hinge_damping * ca.dot(v, v) + 0.5 * option.damping * rate**2)
