"""M, f and rows of the four published linkages against the slow reference, and 5.1 against the published figures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from corekit_testing.rounding import rounding

from . import reference_linkages as slow
from . import robots
from .reference_loops import acceleration, closed, constraints
from .robots import DOWN, Robot

PUBLISHED = json.loads((Path(__file__).parent / "accelerations_51.json").read_text())


def close(found, wanted, tolerance=1e-10):
    """Relative in the norm of the whole."""
    assert np.linalg.norm(found - wanted) <= tolerance * np.linalg.norm(wanted)


@pytest.mark.parametrize("basis", ["legendre", "fem_quadratic"])
def test_accelerations_of_the_cable_driven_arm_are_the_published_ones(basis):
    data = PUBLISHED[basis]
    robot = Robot(robots.published_arm(basis), DOWN)
    for q, v, published, tip in zip(*(np.array(data[k]) for k in ("Q", "QD", "QDD", "TIP")), strict=True):
        mass, force = robot.at(q, v, inputs=-np.array(data["u_const"])).dynamics()
        close(np.linalg.solve(mass, force), published)
        np.testing.assert_allclose(
            robot.place("arm.tip")[0], tip, atol=rounding(32 * 12)
        )  # some thirty steps, four products each


def agree(robot, tree, q, v, t=0.0, force=None):
    """M, f and q̈ of a robot and of its slow reference; what M cannot turn alone is left to the loops."""
    mass, found = robot.at(q, v, t).dynamics()
    wanted_mass, parts = tree.terms(q, v, t)
    wanted = sum(parts.values()) if force is None else force
    close(mass, wanted_mass)
    close(found, wanted)
    return mass, found, wanted_mass, wanted


@pytest.mark.parametrize("basis", ["dependent", "fem"])
def test_accelerations_of_the_octopus_s_arm_keep_every_term(basis):
    robot, tree = Robot(robots.octopus(basis), DOWN), slow.octopus(basis)
    rng = np.random.default_rng(4)
    q, v = rng.uniform(-0.3, 0.3, tree.size), rng.uniform(-1, 1, tree.size)
    if basis == "dependent":
        q += [-14.5, 10.7, 0.5, 0, 0, 0]
    mass, found, wanted_mass, wanted = agree(robot, tree, q, v)
    close(np.linalg.solve(mass, found), np.linalg.solve(wanted_mass, wanted))


@pytest.mark.parametrize("basis", ["legendre", "fem-linear"])
def test_accelerations_of_the_underwater_robot_are_those_of_the_reference(basis):
    robot, tree = Robot(robots.underwater(basis), DOWN), slow.underwater(basis)
    rng = np.random.default_rng(5)
    q, v = rng.uniform(-0.4, 0.4, tree.size), rng.uniform(-1, 1, tree.size)
    order = [
        3,
        4,
        5,
        0,
        1,
        2,
        *range(6, tree.size),
    ]  # our coordinates of the hull are its turn, then its shift
    mass, found = robot.at(q[order], v[order]).dynamics()
    wanted_mass, parts = tree.terms(q, v)
    wanted = np.sum(list(parts.values()), axis=0)
    close(mass, wanted_mass[np.ix_(order, order)])
    close(found, wanted[order])
    close(np.linalg.solve(mass, found), np.linalg.solve(wanted_mass, wanted)[order])


def hanging(tree, loops, rng):
    """A random configuration that closes the loops, and a random velocity that keeps them closed."""
    q = rng.uniform(-0.02, 0.02, tree.size)
    q[[1, 16, 31, 46]] += 0.589
    q[-1] -= 0.589
    q = closed(tree, loops, q)
    _, rows, _ = constraints(tree, loops, q, 0 * q)
    v = rng.uniform(-0.2, 0.2, tree.size)
    return q, v - np.linalg.pinv(rows) @ (rows @ v)


@pytest.mark.parametrize("basis", ["fem"])
def test_accelerations_of_the_platform_on_ropes_are_those_of_the_reference(basis):
    """Loops and massless joint links: M alone is singular, the saddle system is not."""
    tree, loops = slow.suspended_platform(basis)
    robot = Robot(robots.suspended_platform(basis), DOWN)
    q, v = hanging(tree, loops, np.random.default_rng(6))
    mass, found, wanted_mass, wanted = agree(robot, tree, q, v)
    rows = robot.rows()
    ours = np.zeros((rows.count, tree.size))
    np.add.at(ours, (np.arange(rows.count)[:, None], rows.dofs), rows.values)
    error, exact, drift = constraints(tree, loops, q, v)
    assert np.abs(error).max() < 1e-12
    assert np.abs(rows.position_error).max() < 1e-12
    turned = np.linalg.lstsq(exact.T, ours.T, rcond=None)[0].T  # another basis of the same forbidden twists
    close(turned @ exact, ours)
    exact_rate, force_of_loops = acceleration(tree, loops, q, v, wanted, wanted_mass, np.inf)
    # the last digit of M moves q̈ by 3e-10: the reference's q̈ must solve our equations to rounding
    pull = np.linalg.lstsq(ours.T, mass @ exact_rate - found, rcond=None)[0]
    left = mass @ exact_rate - found - ours.T @ pull
    assert np.linalg.norm(left) < 1e-10 * np.linalg.norm(found)
    assert np.linalg.norm(pull) == pytest.approx(
        np.linalg.norm(np.linalg.pinv(turned.T) @ force_of_loops), rel=1e-6
    )
    saddle = np.block([[mass, -ours.T], [ours, np.zeros((15, 15))]])
    found = np.linalg.solve(saddle, np.concatenate((found, -turned @ drift)))[: tree.size]
    close(found, exact_rate, 3e-9)
