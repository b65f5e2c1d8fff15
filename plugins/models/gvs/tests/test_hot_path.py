"""What an evaluation does without: ranks, pseudo-inverses, thresholds, prints, threads, columns of other branches."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

import corekit_gvs
from corekit.roles.component import BuildContext
from corekit_gvs.build import build
from corekit_gvs.config import Basis, GVSConfig, Joint, Link, Loop
from corekit_gvs.tables import JACOBIANS, PLACES, ZETAS, work
from corekit_testing.implicit_euler import ImplicitEuler, ImplicitEulerConfig
from corekit_testing.small_world import small_world

from .robots import DOWN, Robot, octopus, suspended_platform, underwater

ROBOTS = {
    "loops": suspended_platform("fem"),
    "tree": underwater("legendre"),
    "dependent": octopus("dependent"),
}
DECOMPOSITIONS = {
    "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "lstsq", "matrix_rank", "null_space", "orth", "pinv", "qr",
    "svd", "svdvals",
}  # fmt: skip


class Called:
    """Names and files of the Python functions that are called meanwhile."""

    def __enter__(self) -> Self:
        self.names: set[tuple[str, str]] = set()
        self._before = sys.getprofile()
        sys.setprofile(self._see)
        return self

    def _see(self, frame, event, _argument) -> None:
        if event == "call":
            self.names.add((frame.f_code.co_name, Path(frame.f_code.co_filename).as_posix()))

    def __exit__(self, *_error) -> None:
        sys.setprofile(self._before)


def everything(robot, q, v):
    """Ask all that a step asks."""
    robot.at(q, v)
    robot.dynamics()
    robot.tangent()
    if robot.description.constraint_count:
        rows, out = robot.rows(), robot.model.new_stiffness_and_damping()[0]
        robot.model.compute_constraint_force_gradient(robot.state, np.ones(rows.count), out)


@pytest.mark.parametrize("kind", ROBOTS)
def test_an_evaluation_decomposes_nothing_and_prints_nothing(kind, capfd):
    """Not the mass matrix's rank, no pseudo-inverse: no function of numpy's or scipy's linear algebra at all."""
    robot = Robot(ROBOTS[kind], DOWN)
    rng = np.random.default_rng(3)
    start = robot.state.q.copy()
    states = [(start + rng.uniform(-0.1, 0.1, robot.size), rng.uniform(-1, 1, robot.size)) for _ in range(2)]
    everything(robot, *states[0])  # compiles
    capfd.readouterr()
    with Called() as called:
        everything(robot, *states[1])
    assert (
        "compute_mass_and_force",
        Path(str(sys.modules["corekit_gvs.model"].__file__)).as_posix(),
    ) in called.names
    assert not [file for _, file in called.names if "/linalg/" in file and "/corekit/" not in file]
    assert capfd.readouterr() == ("", "")


def four_bar(**pin):
    def bar(name, length, mass, on="", position=(0.0, 0.0, 0.0)):
        inertia = mass * length**2 / 12
        return Link.rigid(
            name, mass, (0, inertia, inertia), Joint.revolute("z"), on=on, position=position,
            centre=(length / 2, 0, 0), tip=(length, 0, 0),
        )  # fmt: skip

    loop = Loop(name="pin", first="coupler.tip", second="rocker.tip", joint=Joint.revolute("z"), **pin)
    bars = (
        bar("crank", 0.2, 1.0),
        bar("coupler", 0.5, 2.0, "crank.tip"),
        bar("rocker", 0.5, 1.8, position=(0.7, 0, 0)),
    )
    return GVSConfig(links=bars, loops=(loop,))


def four_bar_angles(crank):
    """Coordinates at which it is closed."""
    end = 0.2 * np.exp(1j * crank)
    away = 0.7 - end
    pin = end + away / 2 + 1j * away / abs(away) * np.sqrt(0.25 - abs(away) ** 2 / 4)
    return np.array([crank, np.angle(pin - end) - crank, np.angle(pin - 0.7)])


def test_steps_with_loops_are_solved_without_a_rank_or_a_pseudo_inverse():
    """A four-bar's pin: three of its rows repeat what the hinges hold, compliance parts them, no rank is told."""
    model = Robot(four_bar(compliance=1e-9), (0, -9.81, 0)).model
    scheme = ImplicitEuler(ImplicitEulerConfig(), BuildContext(step=1e-3))
    world = small_world(
        {"bars": model}, scheme, step=1e-3, abilities=frozenset({"force-derivatives", "constraints"})
    )
    world.state.q[:] = four_bar_angles(1.0)
    world.step()
    before = world.state.q.copy()
    with Called() as called:
        world.step()
    assert np.abs(world.state.q - before).max() > 1e-7
    assert not {name for name, _ in called.names} & DECOMPOSITIONS


def test_errors_of_loops_are_reported_however_small():
    """No threshold below which a loop counts as closed: an error of 1e-12 rad is told as one of 1e-4 rad is."""
    robot = Robot(four_bar())
    closed, along = four_bar_angles(1.0), np.array([0.0, 1.0, 0.0])
    rows = robot.at(closed).rows()
    slope = np.zeros((rows.count, 3))
    np.add.at(slope, (np.arange(rows.count)[:, None], rows.dofs), rows.values)
    assert np.linalg.norm(slope @ along) == pytest.approx(0.5)  # the coupler's length
    before = rows.position_error.copy()
    for small in (1e-4, 1e-8, 1e-12):
        moved = robot.at(closed + small * along).rows().position_error - before
        np.testing.assert_allclose(moved / small, slope @ along, atol=1e-4 + 1e-15 / small)


def test_no_kernel_asks_for_threads():
    """At 30 to 60 coordinates a second thread costs more than it brings."""
    names = {module.name for module in pkgutil.iter_modules(corekit_gvs.__path__)}
    names.remove("symbolic")  # needs CasADi
    found = [
        value
        for name in names
        for value in vars(importlib.import_module(f"corekit_gvs.{name}")).values()
        if isinstance(value, CPUDispatcher)
    ]
    assert len(found) > 20
    assert not [each.py_func.__name__ for each in found if each.targetoptions.get("parallel", False)]


def arms(count):
    """Soft arms on a free hull."""
    hull = Link.rigid("hull", 1.0, (1, 1, 1), Joint.free())
    soft = [
        Link.soft(f"arm-{i}", length=0.2, strain=(Basis.legendre(2),), points=4, on="hull.tip")
        for i in range(count)
    ]
    return GVSConfig(links=(hull, *soft))


def test_work_grows_with_the_branches_not_with_their_square():
    """A node carries the columns of its ancestors and of its own piece, and its bias as six numbers, not n columns."""
    sizes = {}
    _work: Any = getattr(work, "py_func")  # noqa: B009 - outside of what the type says
    for count in (2, 4, 8):
        robot = build(arms(count), BuildContext())
        ints, _, buffer = robot.packed
        sizes[count] = [len(_work(ints, buffer, table)) for table in (JACOBIANS, ZETAS, PLACES)]
    for two, four, eight in zip(*sizes.values(), strict=True):
        assert eight - four == 2 * (four - two)
    nodes = len(build(arms(2), BuildContext()).tree.nodes)
    assert sizes[2][2] == 24 * nodes


def test_an_arm_on_a_branch_has_no_columns_of_its_neighbour():
    robot = Robot(arms(2))
    rng = np.random.default_rng(5)
    robot.at(rng.uniform(-0.5, 0.5, robot.size), rng.uniform(-1, 1, robot.size))
    mass, _ = robot.dynamics()
    first, second = slice(6, 15), slice(15, 24)
    assert np.abs(mass[:6, first]).max() > 0
    assert not mass[first, second].any()
    frame = np.array([robot.description.frames.index("arm-0.tip")])
    dofs, values = np.zeros((1, robot.size), dtype=np.int64), np.zeros((1, 3, robot.size))
    robot.model.compute_point_jacobians(robot.state, frame, np.zeros((1, 3)), dofs, values)
    assert np.abs(values[0][:, first]).max() > 0
    assert not values[0][:, second].any()
