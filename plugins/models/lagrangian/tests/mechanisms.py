"""Equations as a user writes them: functions of a system and its options."""

from __future__ import annotations

import casadi as ca
import sympy


def turned(angle):
    """Axes of a link whose z axis points along it, at an angle from −z about −y."""
    s, c = ca.sin(angle), ca.cos(angle)
    return ca.vertcat(ca.horzcat(-c, 0, s), ca.horzcat(0, 1, 0), ca.horzcat(-s, 0, -c))


def acrobot(system, option):
    """Two links hang in the x–z plane; a motor turns the elbow."""
    q, v = system.coordinates("shoulder", "elbow")
    joint, angle = ca.SX.zeros(3), 0
    for i, length in enumerate(option.lengths):
        angle += q[i]
        along = ca.vertcat(ca.sin(angle), 0, -ca.cos(angle))
        middle, joint = joint + 0.5 * length * along, joint + length * along
        inertia = option.masses[i] * length**2 / 12
        system.body(option.masses[i], ca.vertcat(inertia, inertia, 0), middle, turned(angle))
        half = 0.5 * option.number("lengths")[i]
        system.shape("capsule", [0.02, half], system.frame(f"link{i}", middle, turned(angle)), friction=0.5)
    system.never_touch(0, 1)
    system.dissipation(0.5 * option.damping * ca.dot(v, v))
    system.force(ca.vertcat(0, system.input("torque", "N·m")), "motor")


def pendulum(system, option):
    """Point masses on massless rods, by their angles from −z, as the reference pendulum of the kit."""
    q, v = system.coordinates(*[f"angle{i}" for i in range(len(option.lengths))])
    end = ca.SX.zeros(3)
    for i, length in enumerate(option.lengths):
        end += length * ca.vertcat(ca.sin(q[i]), 0, -ca.cos(q[i]))
        system.mass(option.masses[i], end)
        system.frame(f"mass{i}", end, -turned(q[i])[:, [0, 1, 2]] @ ca.diag([1, -1, 1]))
    joints = ca.vertcat(v[0], v[1:] - v[:-1])
    system.dissipation(0.5 * option.damping * ca.dot(joints, joints))
    system.force(system.input("torque", "N·m", len(option.lengths)), "torque")


def cart_by_sympy(system, option):
    """A pendulum on a spring-held cart, in SymPy."""
    (x, rate), (angle, spin) = system.coordinates("cart", unit="m"), system.coordinates("angle")
    push = system.input("push", "N")
    x, rate, angle, spin, push, m, length, k = system.sympy(
        x, rate, angle, spin, push, option.mass, option.length, option.stiffness
    )
    bob_x, bob_z = rate + length * sympy.cos(angle) * spin, length * sympy.sin(angle) * spin
    system.kinetic_energy(option.cart * system.casadi(rate) ** 2 / 2)
    system.kinetic_energy(m * (bob_x**2 + bob_z**2) / 2)
    system.potential_energy(-m * system.gravity[2] * (-length * sympy.cos(angle)), "gravity")
    system.potential_energy(k * x**2 / 2, "spring")
    system.force(sympy.Matrix([push, 0]), "push")
    system.frame("bob", sympy.Matrix([x + length * sympy.sin(angle), 0, -length * sympy.cos(angle)]))
    system.outline([[x, 0, 0], [x + length * sympy.sin(angle), 0, -length * sympy.cos(angle)]], 0.01)


def cart(system, option):
    """The same in CasADi, by its masses."""
    (x, _), (angle, _) = system.coordinates("cart", unit="m"), system.coordinates("angle")
    bob = ca.vertcat(x + option.length * ca.sin(angle), 0, -option.length * ca.cos(angle))
    system.mass(option.cart, [x, 0, 0])
    system.mass(option.mass, bob)
    system.potential_energy(0.5 * option.stiffness * x**2, "spring")
    system.force_at([x, 0, 0], ca.vertcat(system.input("push", "N"), 0, 0), "push")
    system.frame("bob", bob)
    system.outline([[x, 0, 0], bob], 0.01)


def gimbal(system, option):
    """A rigid body about a fixed point, by the angles z–y–x."""
    q, _ = system.coordinates("yaw", "pitch", "roll", rest=(0.3, 0.4, -0.2))
    rotation = ca.SX.eye(3)
    for axis, angle in ((2, q[0]), (1, q[1]), (0, q[2])):
        c, s = ca.cos(angle), ca.sin(angle)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn = ca.SX.eye(3)
        turn[i, i], turn[i, j], turn[j, i], turn[j, j] = c, -s, s, c
        rotation = rotation @ turn
    centre = rotation @ ca.vertcat(*option.centre)
    system.body(option.mass, ca.vertcat(*option.inertia), centre, rotation)
    system.frame("body", centre, rotation)


def arm(system, option):
    """Two solid links on a solid foot; motors turn both joints, one about y and one about x."""
    q, v = system.coordinates("shoulder", "elbow")
    system.body(option.foot, ca.vertcat(*[option.foot * 4e-4] * 3), [0, 0, 0.01], ca.SX.eye(3))
    c, s, d, e = ca.cos(q[0]), ca.sin(q[0]), ca.cos(q[1]), ca.sin(q[1])
    first = ca.vertcat(ca.horzcat(c, 0, s), ca.horzcat(0, 1, 0), ca.horzcat(-s, 0, c))
    second = first @ ca.vertcat(ca.horzcat(1, 0, 0), ca.horzcat(0, d, -e), ca.horzcat(0, e, d))
    joint = ca.SX.zeros(3)
    for i, (turn, length) in enumerate(zip((first, second), option.lengths, strict=True)):
        across = option.masses[i] * length**2 / 12
        centre = joint + turn @ ca.vertcat(0, 0, 0.5 * length)
        system.body(option.masses[i], ca.vertcat(across, across, 0.1 * across), centre, turn)
        joint += turn @ ca.vertcat(0, 0, length)
        system.frame(f"end{i}", joint, turn)
    system.dissipation(0.5 * option.damping * ca.dot(v, v))
    system.potential_energy(0.5 * option.stiffness * ca.dot(q, q), "springs")
    system.force(system.input("torque", "N·m", 2), "motors")
    system.force_at(joint, system.input("thrust", "N", 3), "thruster")


SHAPES = {
    "sine": lambda a, b: ca.sin(a + 2 * b),
    "cosine": lambda a, b: ca.cos(a - b),
    "bump": lambda a, b: ca.exp(-(a**2) - b**2),
    "root": lambda a, b: ca.sqrt(1 + a**2 + b**2),
    "ratio": lambda a, b: a / (2 + ca.sin(b)),
    "power": lambda a, b: a**3 * b,
    "angle": lambda a, b: ca.atan2(a, 2 + b**2),
    "step": lambda a, b: ca.tanh(a * b),
    "logarithm": lambda a, b: ca.log(1 + a**2 + 2 * b**2),
}
"""Smooth functions of two coordinates."""


def surface(system, option):
    """A mass on a surface that the options give, each by three coefficients, over a block that moves in the plane."""
    q, v = system.coordinates("first", "second", unit="m")
    place = 0.3 * ca.vertcat(q, 0)
    for name, function in SHAPES.items():
        if name in vars(option):
            place += ca.vertcat(*getattr(option, name)) * function(q[0], q[1])
    system.body(option.block, ca.vertcat(*[option.block * 4e-4] * 3), ca.vertcat(q, 0), ca.SX.eye(3))
    system.mass(option.mass, place)
    system.frame("mass", place)
    system.dissipation(0.5 * option.damping * ca.dot(v, v))
    system.potential_energy(0.5 * option.stiffness * ca.dot(place, place), "spring")
    system.force_at(place, system.input("push", "N", 3), "push")
