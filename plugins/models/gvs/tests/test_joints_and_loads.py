"""Every joint of the table and every kind of load, each against the slow reference or the work it does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corekit.data.signals import Ramp
from corekit.errors import ConfigError
from corekit_gvs.config import (
    Basis,
    Cable,
    Chamber,
    Distributed,
    GVSConfig,
    Joint,
    Link,
    Load,
    Tendon,
)

from . import reference_basis as slow
from .reference_series import pose
from .reference_tree import Link as SlowLink
from .reference_tree import Piece, Rigid, Tree, circle
from .robots import DOWN, Robot

E = np.eye(6)
JOINTS = [
    (Joint.revolute("z"), E[:, [2]]),
    (Joint.prismatic("y"), E[:, [4]]),
    (Joint.helical("x", 0.1), E[:, [0]] + 0.1 * E[:, [3]]),
    (Joint.cylindrical("y"), E[:, [1, 4]]),
    (Joint.universal("z", "y"), (E[:, [2]], E[:, [1]])),
    (Joint.planar("x"), (E[:, [4, 5]], E[:, [0]])),
    (Joint.spherical(), E[:, :3]),
    (Joint.free(), (E[:, 3:], E[:, :3])),
]
TURN_FIRST = [*range(7), 9, 7, 8, *range(10, 13), 16, 17, 18, 13, 14, 15]
"""Our coordinates among those of the slow tree, where shifts of planar and free joints stand before their turns."""


def chain():
    """A chain with one joint of each kind, every link with its own centre, tip and inertia."""
    ours, theirs = [], []
    rng = np.random.default_rng(7)
    last = ""
    for joint, columns in JOINTS:
        centre, tip, inertia, mass = (
            rng.uniform(0.05, 0.2, 3),
            rng.uniform(0.1, 0.3, 3),
            rng.uniform(1, 2, 3),
            0.7,
        )
        ours.append(
            Link.rigid(
                joint.kind, mass, tuple(1e-2 * inertia), joint, on=last, centre=tuple(centre), tip=tuple(tip)
            )
        )
        body = Rigid(np.diag([*(1e-2 * inertia), mass, mass, mass]), pose(centre), pose(tip - centre))
        for more in columns[:-1] if isinstance(columns, tuple) else ():
            theirs.append(SlowLink(Rigid(), len(theirs) - 1, joint=more))  # a step without a body
        theirs.append(
            SlowLink(body, len(theirs) - 1, joint=columns[-1] if isinstance(columns, tuple) else columns)
        )
        last = f"{joint.kind}.tip"
    return Robot(tuple(ours), DOWN), Tree(theirs)


def test_every_joint_moves_as_its_table_says():
    robot, tree = chain()
    rng = np.random.default_rng(3)
    q, v = rng.uniform(-1, 1, tree.size), rng.uniform(-1, 1, tree.size)
    mass, force = robot.at(q[TURN_FIRST], v[TURN_FIRST]).dynamics()
    slow_mass, parts = tree.terms(q, v)
    wanted, slow_force = (
        slow_mass[np.ix_(TURN_FIRST, TURN_FIRST)],
        np.sum(list(parts.values()), axis=0)[TURN_FIRST],
    )
    np.testing.assert_allclose(mass, wanted, rtol=1e-10, atol=1e-10 * np.abs(wanted).max())
    np.testing.assert_allclose(force, slow_force, rtol=1e-9, atol=1e-10 * np.abs(force).max())


def test_tangents_of_every_joint_are_slopes():
    """The turn of a planar or free joint moves what is behind its shift, with earlier columns than the shift's."""
    robot, _ = chain()
    rng = np.random.default_rng(4)
    q, v = rng.uniform(-1, 1, robot.size), rng.uniform(-1, 1, robot.size)
    stiffness, damping = robot.at(q, v).tangent()
    step = 1e-5
    slopes = np.zeros((2, robot.size, robot.size))
    for k, e in enumerate(step * np.eye(robot.size)):
        for slope, move, push in ((slopes[0], e, 0 * e), (slopes[1], 0 * e, e)):
            ahead = robot.at(q + move, v + push).dynamics()[1].copy()
            slope[:, k] = -(ahead - robot.at(q - move, v - push).dynamics()[1]) / (2 * step)
    for found, slope in zip((stiffness, damping), slopes, strict=True):
        np.testing.assert_allclose(found, slope, atol=1e-8 * np.abs(slope).max())


@pytest.mark.parametrize(("joint", "across"), [(Joint.free(), (3, 4, 5)), (Joint.planar("y"), (2, 1))])
def test_planar_and_free_joints_shift_along_the_axes_of_what_carries_them(joint, across):
    """However far the link turned: p = l, and a spin does not turn what moves it, p̈ = l̈."""
    robot = Robot(Link.rigid("box", 0.5, (1e-3, 2e-3, 3e-3), joint))
    rng = np.random.default_rng(6)
    q, v = rng.uniform(-1, 1, robot.size), rng.uniform(-1, 1, robot.size)
    axes = (0, 1, 2) if joint.kind == "free" else (0, 2)  # planar y: shifts along z, then x
    position, rotation = robot.at(q, v).place("box.base")
    np.testing.assert_allclose(position[list(axes)], q[list(across)], atol=1e-15)
    turn = q[:3] if joint.kind == "free" else np.array([0.0, q[0], 0.0])
    np.testing.assert_allclose(rotation, Rotation.from_rotvec(turn).as_matrix(), atol=1e-14)
    mass, force = robot.dynamics()
    np.testing.assert_allclose(mass[across, across], 0.5, rtol=1e-14)
    assert np.abs(np.delete(mass[list(across)], across, axis=1)).max() < 1e-15
    assert np.abs(force[list(across)]).max() < 1e-15


@pytest.mark.parametrize("turns", [1, 100])
def test_a_joint_that_turned_and_turned_moves_as_one_that_did_not(turns):
    """Series of the angle would cancel: from −1.7 over 4.6, where they end, and at 630."""
    robot, _ = chain()
    rng = np.random.default_rng(5)
    q, v = rng.uniform(-1, 1, robot.size), rng.uniform(-1, 1, robot.size)
    q[0] = -1.7
    wanted = (*robot.at(q, v).dynamics(), *robot.tangent())
    q[0] += 2 * np.pi * turns
    for ours, theirs in zip((*robot.at(q, v).dynamics(), *robot.tangent()), wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("angle", [4.4, 4.6, 200.0])
def test_expressions_turn_as_far_as_numbers_do(angle):
    pytest.importorskip("casadi")
    crank = Link.rigid("crank", 1.0, (1e-3, 2e-3, 3e-3), Joint.revolute("y"), centre=(0.1, 0, 0))
    robot = Robot(crank, DOWN).at([angle], [0.7])
    wanted = 9.81 * 0.1 * np.cos(angle)
    assert robot.dynamics()[1] == pytest.approx([wanted], rel=1e-10)
    found = robot.model.symbolic().functions()["force"](robot.state.q, robot.state.v, robot.inputs)
    assert float(found[0]) == pytest.approx(wanted, rel=1e-10)


def test_only_a_joint_that_jumps_alone_takes_the_rate_after_a_breakpoint_at_once():
    ramp = Ramp(begin=1.0, end=2.0, value=3.0)
    links = (
        Link.rigid("one", 0.1, joint=Joint.revolute("z", motion=ramp, jump="alone")),
        Link.rigid("two", 0.1, joint=Joint.revolute("z", motion=ramp), on="one.tip"),
        Link.rigid("three", 0.1, joint=Joint.revolute("z"), on="two.tip"),
    )
    robot = Robot(links).at(v=[0.0, 0.0, 0.7], t=1.0)
    assert robot.model.reparametrise(robot.state)
    np.testing.assert_array_equal(robot.state.v, [3.0, 0.0, 0.7])
    assert not robot.at(v=[3.0, 3.0, 0.7], t=1.5).model.reparametrise(robot.state)
    with pytest.raises(ConfigError, match="motion"):
        Joint.revolute("z", jump="alone")


LOADED = GVSConfig(
    links=(
        Link.soft(
            "arm", length=0.3, radius=0.01, strain=(Basis.legendre(1),), points=6,
            joint=Joint.revolute("y", driven=True),
        ),
        Link.rigid("hand", 0.1, (1e-4, 1e-4, 1e-4), on="arm.tip", centre=(0.03, 0, 0), tip=(0.06, 0, 0)),
    ),
    cables=(Cable(name="c", link="arm", y="0.01 - 0.02*s", z=0.004),),
    tendons=(Tendon(name="t", first="world", second="hand.tip", first_offset=(0.1, 0.3, 0.2)),),
    chambers=(Chamber(name="p", link="arm", area=2e-4, y=0.005, z=-0.002),),
    distributed=(
        Distributed(name="muscle", link="arm", wrench=("0.1*X", "0.2", "X**2", "0", "0", "0"), input=True),
        Distributed(name="wind", link="arm", wrench=("0", "0", "0", "0", "1", "X"), kind="world", input=True),
        Distributed(name="suck", link="arm", wrench=("0", "X", "0", "0", "1", "0"), kind="section", input=True),
    ),
    loads=(
        Load(name="dead", at="hand.tip"),
        Load(name="held", at="hand.centre", follows=True),
    ),
)  # fmt: skip


@pytest.fixture(scope="module")
def loaded():
    """The robot, its slow twin and a state."""
    piece = Piece(
        0.3, slow.modes(slow.MODES[:3], slow.legendre_shape(1)), slow.gauss(6), lambda x: circle(0.01), 1e6,
        0.5, 1000,
    )  # fmt: skip
    hand = Rigid(np.diag([1e-4, 1e-4, 1e-4, 0.1, 0.1, 0.1]), pose([0.03, 0, 0]), pose([0.03, 0, 0]))
    tree = Tree([SlowLink([piece], joint=E[:, [1]]), SlowLink(hand, 0)])
    return Robot(LOADED, DOWN), tree, np.random.default_rng(9).uniform(-0.5, 0.5, 7)


def columns_of(robot, q, channel):
    """∂f/∂u of one channel by differences of f, which is affine in u, (n, size)."""
    out, used = [], 0
    for each in robot.description.inputs:
        if each.name == channel:
            rest = robot.at(q, 0 * q, inputs=0).dynamics()[1]
            for k in range(each.size):
                u = np.zeros(len(robot.inputs))
                u[used + k] = 1.0
                out.append(robot.at(inputs=u).dynamics()[1] - rest)
            robot.at(inputs=0)
        used += each.size
    assert out, [each.name for each in robot.description.inputs]
    return np.array(out).T


def test_inputs_push_as_the_reference_has_it(loaded):
    robot, tree, q = loaded
    points, tips = tree.sweep(q, 0 * q)

    def path(s):
        return np.array([0, 0.01 - 0.02 * s, 0.004])

    cable, _ = tree.cable(q, path, lambda s: np.array([0, -0.02, 0]), [(0, 0, 0.0)])
    chamber = tree.internal(q, lambda x: 2e-4 * np.array([0, -0.002, -0.005, 1, 0, 0]), (0, 0))
    muscle = tree.internal(q, lambda x: np.array([0.1 * x, 0.2, x**2, 0, 0, 0]), (0, 0))
    along = [p for p in points if p.piece is not None]
    wind = sum(p.weight * tree.force_at(p, np.array([0, 1, p.x])) for p in along)
    suck = sum(p.weight * tree.wrench_at(p, np.array([0, p.x, 0, 0, 1, 0])) for p in along)
    hand = next(p for p in points if p.place == (1, 0))
    for channel, wanted in (
        ("joint-arm", np.eye(7)[0]),
        ("tension-c", -cable),
        ("pressure-p", chamber),
        ("distributed-muscle", muscle),
        ("distributed-wind", wind),
        ("distributed-suck", suck),
    ):
        np.testing.assert_allclose(columns_of(robot, q, channel)[:, 0], wanted, atol=1e-9, err_msg=channel)
    turned = tips[1].pose[:3, :3]
    world = tips[1].columns.T @ np.block([[turned.T, np.zeros((3, 3))], [np.zeros((3, 3)), turned.T]])
    np.testing.assert_allclose(columns_of(robot, q, "load-dead"), world, atol=1e-9)
    np.testing.assert_allclose(columns_of(robot, q, "load-held"), hand.columns.T, atol=1e-9)


def test_a_tendon_pulls_against_the_slope_of_its_length(loaded):
    robot, tree, q = loaded

    def length(at):
        return np.linalg.norm(tree.sweep(at, 0 * at)[1][1].pose[:3, 3] - [0.1, 0.3, 0.2])

    step = 1e-6
    slope = [(length(q + step * e) - length(q - step * e)) / (2 * step) for e in np.eye(7)]
    np.testing.assert_allclose(columns_of(robot, q, "tension-t")[:, 0], -np.array(slope), atol=1e-8)


def test_the_input_jacobian_is_the_columns_of_all_inputs(loaded):
    robot, _, q = loaded
    found = np.zeros((7, len(robot.inputs)))
    robot.at(q, 0 * q).model.compute_input_jacobian(robot.state, robot.inputs, found)
    wanted = np.hstack([columns_of(robot, q, each.name) for each in robot.description.inputs])
    np.testing.assert_allclose(found, wanted, atol=1e-9)
