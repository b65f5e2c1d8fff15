"""Stiffness and damping of the pins as numbers, one per pin, and as the matrices of the paper's equation (7)."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit.roles.component import BuildContext
from corekit_testing.rounding import rounding
from corekit_vine.config import VineConfig
from corekit_vine.model import Vine
from corekit_vine.pin_values import pin_matrix

LINKS, ANGLES, RATES = 3, (0.2, -0.1, 0.3), (0.5, 0.4, -0.2)
K = ((0.5,), (0.1, 0.4), (-0.05, 0.2, 0.3))
C = ((1e-3,), (2e-4, 2e-3), (0.0, -3e-4, 1e-3))


def bent(robot, **options):
    start = {"bend": ANGLES, "bend_rate": RATES}
    return robot(bodies=2 * LINKS, length=0.3, form="telescope", initial=start, **options)


def spread():
    """R of (8): the torque of a pin turns the body behind it, and the one before it back."""
    R = np.zeros((6 * LINKS, LINKS))
    for j in range(LINKS):
        R[6 * j + 2, j] = 1.0
        if j > 0:
            R[6 * j - 1, j] = -1.0
    return R


@pytest.mark.parametrize(
    ("stiffness", "damping"),
    [(0.5, 2e-3), ((0.5, 0.4, 0.3), (1e-3, 0.0, 2e-3)), (K, C), (K, 1e-3), ((0.5, 0.4, 0.3), C)],
    ids=["one", "one per pin", "matrices", "stiffness alone couples", "damping alone couples"],
)
def test_torques_are_those_of_the_matrices(robot, stiffness, damping):
    arm = bent(robot, joint_stiffness=stiffness, joint_damping=damping)
    torque = -pin_matrix(stiffness, LINKS) @ ANGLES - pin_matrix(damping, LINKS) @ RATES
    np.testing.assert_allclose(arm.dynamics()[1], spread() @ torque, rtol=0.0, atol=rounding(16))
    kinetic = float(arm.state.v @ arm.dynamics()[0] @ arm.state.v) / 2.0
    elastic = 0.5 * np.array(ANGLES) @ pin_matrix(stiffness, LINKS) @ ANGLES
    assert arm.model.compute_energies(arm.state) == pytest.approx((kinetic, elastic), rel=1e-13)


def test_equal_values_per_pin_and_a_diagonal_matrix_change_nothing(robot):
    expected = bent(robot, joint_stiffness=0.4, joint_damping=1e-3).dynamics()[1]
    for stiffness, damping in (
        ((0.4,) * 3, (1e-3,) * 3),
        (((0.4,), (0.0, 0.4), (0.0, 0.0, 0.4)), ((1e-3,), (0.0, 1e-3), (0.0, 0.0, 1e-3))),
    ):
        found = bent(robot, joint_stiffness=stiffness, joint_damping=damping).dynamics()[1]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (-0.1, "must be ≥ 0"),
        ((0.5, -0.1, 0.2), "must be ≥ 0"),
        ((0.5, 0.4), "give one number, 3, one per pin, or 3 rows"),
        (((0.5,), (0.1, 0.4)), "3 rows of a lower triangle"),
        (((0.5, 0.1), (0.1, 0.4)), "rows of a lower triangle, of 1, 2"),
        (((0.5,), 0.4, (0.0, 0.0, 0.1)), "rows of a lower triangle, of 1, 2"),
        (((0.1,), (0.5, 0.1), (0.0, 0.0, 0.1)), "positive semidefinite; its least eigenvalue is -0.4"),
        ("stiff", "give one number"),
        (True, "give one number"),
        (float("nan"), "must be finite"),
    ],
)
@pytest.mark.parametrize("option", ["joint_stiffness", "joint_damping"])
def test_what_is_no_matrix_is_refused(option, values, message):
    with pytest.raises((ConfigError, ValueError), match=message):
        VineConfig(bodies=2 * LINKS, form="telescope", **{option: values})


def test_a_matrix_of_rank_one_is_none_that_is_refused_by_rounding():
    column = np.array([0.1, 0.7, -0.3])
    rows = tuple(tuple(row[: i + 1].tolist()) for i, row in enumerate(np.outer(column, column)))
    assert VineConfig(bodies=2 * LINKS, form="telescope", joint_stiffness=rows).joint_stiffness == rows


def test_only_a_telescope_on_a_base_that_stands_couples_pins():
    with pytest.raises(ConfigError, match="needs form = 'telescope'"):
        VineConfig(bodies=2 * LINKS, joint_stiffness=K)
    config = VineConfig(bodies=2 * LINKS, form="telescope", joint_damping=C)
    with pytest.raises(ConfigError, match="one per pin, on a base that moves"):
        Vine(config, BuildContext(free_base=True))


def test_other_numbers_are_taken_where_they_couple_the_same_pins(robot):
    arm = bent(robot, joint_stiffness=K)
    less = tuple(tuple(0.5 * each for each in row) for row in K)
    other = arm.model.with_numbers(VineConfig(bodies=6, length=0.3, form="telescope", joint_stiffness=less))
    arm.model = other
    torque = -0.5 * pin_matrix(K, LINKS) @ ANGLES
    np.testing.assert_allclose(arm.dynamics()[1], spread() @ torque, rtol=0.0, atol=rounding(16))
    assert other.with_numbers(VineConfig(bodies=6, length=0.3, form="telescope", joint_stiffness=1.0)) is None


@pytest.mark.parametrize("couples", [False, True], ids=["one per pin", "matrix"])
def test_expressions_name_every_entry_and_take_others(robot, couples):
    casadi = pytest.importorskip("casadi", reason="the extra `symbolic` is not installed")
    given, wanted = {}, {}
    for option, values in (("joint_stiffness", K), ("joint_damping", C)):
        given[option] = values if couples else tuple(row[-1] for row in values)
        wanted[option] = (
            tuple(tuple(2.0 * each for each in row) for row in values)
            if couples
            else tuple(3.0 * row[-1] for row in values)
        )
    symbolic, expected = bent(robot, **given).model.symbolic(), bent(robot, **wanted)
    names = {
        f"{option}[{j}][{k}]" if couples else f"{option}[{j}]": wanted[option][j][k] if couples else wanted[option][j]
        for option in given
        for j in range(LINKS)
        for k in range(j + 1 if couples else 1)
    }  # fmt: skip
    assert set(names) == {name for name in symbolic.parameters if name.startswith("joint")}
    other = symbolic.with_parameters({name: casadi.SX(value) for name, value in names.items()})
    q, v, u = casadi.SX.sym("q", 18), casadi.SX.sym("v", 18), casadi.SX.sym("u", symbolic.inputs)
    force = casadi.Function("f", [q, v, u], [other.force(q, v, u)])
    found = np.array(force(expected.state.q, expected.state.v, expected.inputs)).ravel()
    np.testing.assert_allclose(found, expected.dynamics()[1], atol=1e-14)
