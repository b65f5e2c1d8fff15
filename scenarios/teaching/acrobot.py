"""An acrobot from its energies: two links below a bar, a motor in the elbow, an elbow and a hand that touch things."""

import casadi as ca


def acrobot(system, option):
    """Write masses, friction, motor and hand; angles [rad] from hanging, the second one from the first link."""
    q, v = system.coordinates("shoulder", "elbow")
    turned = q[0] + q[1]
    elbow = option.length * ca.vertcat(ca.sin(q[0]), 0, -ca.cos(q[0]))
    hand = elbow + option.length * ca.vertcat(ca.sin(turned), 0, -ca.cos(turned))
    system.mass(option.mass, elbow)
    system.mass(option.mass, hand)
    system.dissipation(0.5 * option.damping * ca.dot(v, v))
    system.force(ca.vertcat(0, system.input("torque", "N·m", lower=-6.0, upper=6.0)), "motor")
    system.shape("sphere", [0.03], system.frame("elbow", elbow))
    system.shape("sphere", [0.03], system.frame("hand", hand))
    system.never_touch(0, 1)
    system.outline([[0, 0, 0], elbow, hand], 0.015)
    system.planar = True
