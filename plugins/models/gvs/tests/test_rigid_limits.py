"""Trees and loops of rigid links alone, whose motion rigid mechanics has in closed form or by other means."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from corekit_gvs.config import Joint, Link, Loop

from .robots import DOWN, Robot


def rolled(robot, q, v, times):
    """q at the times, by an adaptive method of order 8 on q̈ = M⁻¹·f, or with loops on the saddle system."""
    n = robot.size

    def rate(t, y):
        mass, force = robot.at(y[:n], y[n:], t).dynamics()
        if not robot.description.constraint_count:
            return np.concatenate((y[n:], np.linalg.solve(mass, force)))
        rows = dense_rows(robot)
        m = len(rows)
        step = 1e-6
        ahead, behind = (dense_rows(robot.at(y[:n] + s * step * y[n:])) for s in (1, -1))
        drift = (ahead - behind) @ y[n:] / (2 * step)
        saddle = np.block([[mass, -rows.T], [rows, np.zeros((m, m))]])
        answer = np.linalg.lstsq(saddle, np.concatenate((force, -drift)), rcond=1e-12)[0]
        return np.concatenate((y[n:], answer[:n]))

    found = solve_ivp(
        rate, (0, times[-1]), np.concatenate((q, v)), method="DOP853", t_eval=times, rtol=1e-9, atol=1e-10
    )
    return found.y[:n].T, found.y[n:].T


def dense_rows(robot):
    rows = robot.rows()
    out = np.zeros((rows.count, robot.size))
    np.add.at(out, (np.arange(rows.count)[:, None], rows.dofs), rows.values)
    return out


def bar(name, length, mass=0.0, on="", *, at_tip=False, axis="y", position=(0.0, 0.0, 0.0)):
    """A bar along x on a hinge; its mass at its tip, or even along it."""
    centre = length if at_tip else length / 2
    inertia = 0.0 if at_tip else mass * length**2 / 12
    return Link.rigid(
        name, mass, (0, inertia, inertia), Joint.revolute(axis), on=on, position=position, centre=(centre, 0, 0),
        tip=(length, 0, 0),
    )  # fmt: skip


def test_two_point_masses_swing_as_the_double_pendulum():
    """Angles from the vertical against figures of its own equations."""
    robot = Robot((bar("one", 0.5, 1.0, at_tip=True), bar("two", 0.4, 0.7, "one.tip", at_tip=True)), DOWN)
    times = [0.5, 1.0, 1.5, 2.0]
    hanging = np.pi / 2  # about +y, x̂ turns to −z
    q, _ = rolled(robot, [hanging - 1.0, 0.5], [0, 0], times)
    first = hanging - q[:, 0]
    second = first - q[:, 1]
    np.testing.assert_allclose(
        first, [-0.30351952406431465, -0.5244316370874741, 0.24052556859045496, 0.6243433625142459], atol=1e-6
    )
    np.testing.assert_allclose(
        second, [0.0833130798751713, -1.5382063190457715, 0.713535422482159, 0.7785133816501526], atol=1e-6
    )


def test_a_slider_crank_moves_as_its_one_angle_says():
    """Crank a, rod b, slider of mass m: x = a·cos θ + √(b² − a²·sin² θ), energy ½·m·ẋ² + ½·I·θ̇² kept."""
    a, b = 0.2, 0.5
    robot = Robot(
        (
            bar("crank", a, 0.3),
            bar("rod", b, on="crank.tip"),
            Link.rigid("slider", 0.6, (0, 0, 0), Joint.prismatic("x")),
        ),
        loops=(Loop(name="pin", first="rod.tip", second="slider.base", joint=Joint.revolute("y")),),
    )
    theta, speed = 0.7, 3.0

    def slider(angle):
        return a * np.cos(angle) + np.sqrt(b**2 - (a * np.sin(angle)) ** 2)

    lean = -np.arcsin(a / b * np.sin(theta))
    start = np.array([theta, lean - theta, slider(theta)])
    rows = dense_rows(robot.at(start))
    assert np.abs(robot.rows().position_error).max() < 1e-12
    v = np.array([speed, *np.linalg.lstsq(rows[:, 1:], -rows[:, 0] * speed, rcond=None)[0]])
    h = 1e-6
    slope = (slider(theta + h) - slider(theta - h)) / (2 * h)
    assert v[2] == pytest.approx(slope * speed, rel=1e-8)
    q, rates = rolled(robot, start, v, [0.3, 0.6])
    inertia = 0.3 * a**2 / 3

    def effective(angle):
        slope = (slider(angle + h) - slider(angle - h)) / (2 * h)
        return inertia + 0.6 * slope**2

    kept = effective(theta) * speed**2
    for angle, rate, place in zip(q[:, 0], rates[:, 0], q[:, 2], strict=True):
        assert place == pytest.approx(slider(angle), abs=1e-7)
        assert effective(angle) * rate**2 == pytest.approx(kept, rel=1e-6)


FOUR_BAR = {
    0.0: (0.45, 0.43301270189221935),
    0.5: (0.5138299199919498, 0.46404816701480056),
    1.0: (0.511807704195206, 0.463231756035487),
    2.0: (0.37562046112677805, 0.38049693134162854),
    3.0: (0.2578976588061894, 0.23354982318758358),
}
"""Crank's angle → place of the pin of coupler and rocker; ground 0.7, crank 0.2, coupler and rocker 0.5 m."""


def test_a_four_bar_s_pin_is_where_its_circles_meet_at_rest_and_in_motion():
    robot = Robot(
        (
            bar("crank", 0.2, 1.0, axis="z"),
            bar("coupler", 0.5, 2.0, "crank.tip", axis="z"),
            bar("rocker", 0.5, 1.8, position=(0.7, 0, 0), axis="z"),
        ),
        (0, -9.81, 0),
        loops=(Loop(name="pin", first="coupler.tip", second="rocker.tip", joint=Joint.revolute("z")),),
    )

    def pin(angle):
        end = 0.2 * np.exp(1j * angle)
        away = 0.7 - end
        return end + away / 2 + 1j * away / abs(away) * np.sqrt(0.25 - abs(away) ** 2 / 4)

    def closed(angle):
        return np.array(
            [angle, np.angle(pin(angle) - 0.2 * np.exp(1j * angle)) - angle, np.angle(pin(angle) - 0.7)]
        )

    for angle, place in FOUR_BAR.items():
        assert np.abs(robot.at(closed(angle)).rows().position_error).max() < 1e-12
        np.testing.assert_allclose(robot.place("coupler.tip")[0], [*place, 0], atol=1e-12)
    off = robot.at(closed(1.0) + [0, 1e-3, 0]).rows().position_error
    assert np.linalg.norm(off) == pytest.approx(0.5e-3, rel=1e-2)
    q = closed(3.0)
    path, rates = rolled(robot, q, np.zeros(3), [0.2, 0.5])
    for each in path:
        place = robot.at(each).place("rocker.tip")[0]
        np.testing.assert_allclose(place[0] + 1j * place[1], pin(each[0]), atol=1e-7)
    energies = [sum(robot.at(each, rate).energy()) for each, rate in zip(path, rates, strict=True)]
    np.testing.assert_allclose(energies, sum(robot.at(q, np.zeros(3)).energy()), atol=1e-7)


def test_a_free_body_keeps_its_momenta_and_tumbles_like_euler_s_top():
    """Spin about the middle axis: the body's rates follow Euler's equations, momenta stay."""
    inertia = np.array([1e-3, 2e-3, 3e-3])
    robot = Robot(Link.rigid("box", 0.5, tuple(inertia), Joint.free()))
    start = np.array([0.02, 3.0, 0.01, 0.3, -0.2, 0.1])
    q, v = rolled(robot, np.zeros(6), start, [0.4, 0.8])
    euler = solve_ivp(
        lambda t, w: -np.cross(w, inertia * w) / inertia, (0, 0.8), start[:3], t_eval=[0.4, 0.8], rtol=1e-11,
        atol=1e-12,
    ).y.T  # fmt: skip
    for each, rate, spin in zip(q, v, euler, strict=True):
        robot.at(each, rate)
        _, rotation = robot.place("box.base")
        step = 1e-6
        ahead = robot.at(each + step * rate).place("box.base")[1]
        behind = robot.at(each - step * rate).place("box.base")[1]
        turning = rotation.T @ (ahead - behind) / (2 * step)
        body = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
        np.testing.assert_allclose(body, spin, atol=1e-6)
        np.testing.assert_allclose(rotation @ (inertia * body), inertia * start[:3], atol=1e-8)
