"""From options to packed tables: a tree of links, what acts on it, its frames and shapes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve, frozen

from corekit.data.arrays import Array, IntArray
from corekit.errors import ConfigError, Mistake
from corekit.geometry.frames import Pose
from corekit.roles.component import BuildContext
from corekit_gvs.applied_loads import AppliedLoads, Varying
from corekit_gvs.config import GVSConfig
from corekit_gvs.frames_and_shapes import Visible, visible_of
from corekit_gvs.joint_rows import JointRows, joint_rows
from corekit_gvs.joints import BALLS
from corekit_gvs.linear_stiffness import linear_matrices
from corekit_gvs.loop_tables import LoopTable, loop_tables
from corekit_gvs.mistakes import Mistakes
from corekit_gvs.state_loads import StateLoad
from corekit_gvs.tables import (
    ACTIONS,
    BASES,
    CURVATURES,
    STRAINS,
    STRESS,
    WRENCHES,
    Packed,
    pack,
    table_of,
)  # fmt: skip
from corekit_gvs.tree import Tree

if TYPE_CHECKING:
    from corekit_gvs.dependent import DependentBasis
    from corekit_gvs.elastic_law import ElasticLaw

__all__ = ["Robot", "build", "with_tree"]


@frozen(eq=False)
class Robot:
    """A tree of links in packed tables.

    Attributes:
        packed: the tables; integers, reals: those of them that are given, by name.
        size: number of velocities.
        last: number of nodes that forces need; the rest carry frames.
        tree, acting, visible, loops, joint_rows: what was built, in words.
    """

    packed: Packed
    integers: Mapping[str, IntArray]
    reals: Mapping[str, Array]
    size: int
    last: int
    tree: Tree
    acting: AppliedLoads
    visible: Visible
    loops: LoopTable
    joint_rows: JointRows
    varying: tuple[Varying, ...]
    state_loads: tuple[StateLoad, ...]
    dependents: tuple[DependentBasis, ...]
    laws: tuple[ElasticLaw, ...]

    @cached_property
    def strains(self) -> Array:
        """STRAINS, rewritten between sweeps as the next four."""
        return table_of(self.packed, STRAINS).reshape(-1, 18)

    @cached_property
    def bases(self) -> Array:
        """BASES: B and two derivatives."""
        return table_of(self.packed, BASES).reshape(3, -1)

    @cached_property
    def curvatures(self) -> Array:
        """CURVATURES."""
        return table_of(self.packed, CURVATURES)

    @cached_property
    def actions(self) -> Array:
        """ACTIONS."""
        return table_of(self.packed, ACTIONS).reshape(-1, 7)

    @cached_property
    def wrenches(self) -> Array:
        """WRENCHES."""
        return table_of(self.packed, WRENCHES).reshape(-1, 9)

    def refresh(self, q: Array, v: Array, t: float) -> None:
        """Write what depends on state or time beside the sweep: dependent bases, elastic laws, distributed wrenches."""
        for basis in self.dependents:
            basis.update(q, v, t, self.strains, self.bases[0])
        for law in self.laws:
            law.update(q, self.strains, self.bases[0], self.actions)
        for each in self.varying:
            each.update(t, self.actions, self.wrenches)

    def update_state_loads(self, t: float) -> None:
        """Write loads that depend on the state, after a sweep with velocities."""
        for each in self.state_loads:
            each.update(self.packed, self.wrenches, t)

    def refresh_slopes(self, q: Array, v: Array, w: Array, t: float) -> None:
        """Write the further derivatives of dependent bases that tangents at q̈ = w need; an empty w is 0."""
        for basis in self.dependents:
            basis.update_slopes(q, v, w, t, self.bases, self.curvatures)


def build(config: GVSConfig, context: BuildContext) -> Robot:
    """Tables of a tree.

    Raises:
        ConfigError: all places, links or formulas that do not exist or make no sense.
    """
    mistakes = Mistakes(context.path)
    tree = _tree(config, mistakes, moving=context.free_base)
    acting = AppliedLoads(tree)
    acting.add_all(config, mistakes)
    laws = _elastic_laws(tree, acting, mistakes)
    loops = loop_tables(config, tree, mistakes)
    last = len(tree.nodes)
    with mistakes.collecting():
        visible = visible_of(config, tree)
    mistakes.raise_if_any()
    n = tree.sizes[0]
    integers, reals, order = _tables(config, tree, acting, loops, context)
    for law in laws:
        law.rows = order[law.rows]
        reals["SECTIONS"][law.where, 1:7] = 0.0  # Hooke's
    packed = _pack(integers, reals, n, last)
    varying = tuple(
        Varying(each.function, each.X, order[each.rows], each.weight, each.internal)
        if each.internal
        else each
        for each in acting.varying
    )
    for each in acting.frictions:
        each.rows = order[each.rows]
    return Robot(
        packed=packed,
        integers=integers,
        reals=reals,
        size=n,
        last=last,
        tree=tree,
        acting=acting,
        visible=visible,
        loops=loops,
        joint_rows=joint_rows(config, tree, loops.height),
        varying=varying,
        state_loads=tuple(acting.state_loads),
        dependents=tuple(tree.dependents),
        laws=tuple(laws),
    )


def with_tree(robot: Robot, tree: Tree) -> Robot:
    """The robot with a tree that differs in its sections and masses alone."""
    reals = {**robot.reals, "SECTIONS": np.array(tree.sections), "BODIES": np.array(tree.bodies)}
    packed = _pack(robot.integers, reals, robot.size, robot.last)
    return evolve(robot, tree=tree, reals=reals, packed=packed)


def _pack(integers: Mapping[str, IntArray], reals: Mapping[str, Array], size: int, last: int) -> Packed:
    return pack(integers, {**reals, "LINEAR": linear_matrices(integers, reals, size)}, size, last)


def _tree(config: GVSConfig, mistakes: Mistakes, *, moving: bool) -> Tree:
    """The links; one that hangs on a link with mistakes is not looked at, for its place is not known.

    The base's frame is where the first link begins if the base is `moving`.
    """
    tree = Tree(config.fluid_density)
    tree.begin()
    wrong: set[str] = set()
    for i, link in enumerate(config.links):
        if link.on.partition(".")[0] not in wrong:
            with mistakes.collecting():
                tree.add(link, f"links[{i}]")
                if moving and i == 0:
                    tree.places["world"] = tree.places[f"{link.name}.base"]
                continue
        wrong.add(link.name)
    mistakes.raise_if_any()
    if not tree.sizes[0]:
        with mistakes.collecting():
            raise ConfigError(
                [Mistake("links", "no coordinates", "give a joint or a strain basis that moves")],
                "the list of links",
            )
    mistakes.raise_if_any()
    return tree


def _elastic_laws(tree: Tree, acting: AppliedLoads, mistakes: Mistakes) -> list[ElasticLaw]:
    """Laws of divisions that have one, with places for their stresses among the actuators."""
    laws: list[ElasticLaw] = []
    for part in (part for parts in tree.parts.values() for part in parts if part.division.strain_energy):
        from corekit_gvs.elastic_law import ElasticLaw  # brings SymPy

        points = np.array([tree.quadrature[i][0] for i in part.quadrature], dtype=np.int64)
        places = np.array([tree.points[point][0] for point in points], dtype=np.int64)
        rows = np.arange(len(points), dtype=np.int64) + len(acting.actuators)
        sections = np.array([tree.sections[i] for i in part.quadrature])
        with mistakes.collecting():
            laws.append(ElasticLaw(part, sections, points, places, tree.pieces[part.piece][3], rows))
            acting.actuators.extend((i, -1, STRESS, np.zeros(6)) for i in part.quadrature)
    return laws


def _rows(values: list[list[int]], width: int) -> IntArray:
    return np.array(values, dtype=np.int64).reshape(-1, width)


def _pieces(tree: Tree) -> list[list[int]]:
    """Pieces with where their columns stand."""
    starts = np.concatenate([[0], np.cumsum([len(each) for each in tree.columns])])
    return [
        [piece[0], piece[1], int(start), piece[3]] for piece, start in zip(tree.pieces, starts, strict=False)
    ]


def _tables(
    config: GVSConfig, tree: Tree, acting: AppliedLoads, loops: LoopTable, context: BuildContext
) -> tuple[dict[str, IntArray], dict[str, Array], IntArray]:
    """All tables by name, and where each actuator stands among them."""
    by_place = np.argsort([each[0] for each in acting.actuators], kind="stable")
    order = np.empty(len(by_place), dtype=np.int64)
    order[by_place] = np.arange(len(by_place))
    actuators = [acting.actuators[int(k)] for k in by_place]
    quadrature = _rows(tree.quadrature, 4)
    held = np.array([each[0] for each in actuators], dtype=np.int64)
    quadrature[:, 2] = np.searchsorted(held, np.arange(len(quadrature)), side="left")
    quadrature[:, 3] = np.searchsorted(held, np.arange(len(quadrature)), side="right")
    integers = {
        "NODES": _rows(tree.nodes, 8),
        "PIECES": _rows(_pieces(tree), 4),
        "COLUMNS": np.array([c for each in tree.columns for c in each], dtype=np.int64),
        "POINTS": _rows(tree.points, 3),
        "QUADRATURE": quadrature,
        "ACTUATORS": _rows([[each[1], each[2]] for each in actuators], 2),
        "MASSES": np.array(tree.masses, dtype=np.int64),
        "LOADS": _rows(acting.loads, 3),
        "TENDONS": _rows(acting.tendons, 3),
        "DRIVEN": _rows(acting.driven, 2),
        "LOOPS": loops.rows,
    }
    bases = np.concatenate([*tree.bases, np.zeros(0)])
    reals = {
        "STEPS": np.array(tree.steps),
        "STRAINS": np.array(tree.strains),
        "BASES": np.concatenate([bases, np.zeros(2 * len(bases))]),
        "CURVATURES": np.zeros(tree.sizes[2]),
        "SECTIONS": np.array(tree.sections),
        "ACTIONS": np.array([np.append(each[3], 1.0) for each in actuators]),
        "BODIES": np.array(tree.bodies),
        "WRENCHES": np.array(acting.wrenches),
        "ENDS": np.array(acting.ends),
        "SPRINGS": _springs(config, tree),
        "BALLS": _balls(config, tree, acting),
        "WORLD": _world(context.base, context.gravity),
        "LOOP_FRAMES": loops.frames,
    }
    return integers, reals, order


def _springs(config: GVSConfig, tree: Tree) -> Array:
    """Stiffness, damping and added mass of every velocity."""
    springs = np.zeros((tree.sizes[0], 3))
    for link in config.links:
        first, count = tree.first[link.name], link.joint.size
        springs[first : first + count, 0] = link.joint.stiffness
        springs[first : first + count, 1] = link.joint.damping
        if link.joint.kind in BALLS:
            springs[first : first + 3, 1] = 0.0  # of BALLS
        else:
            springs[first : first + count, 2] = link.joint.armature
        springs[first + count : first + link.size, 2] = config.regularisation
    return springs


def _balls(config: GVSConfig, tree: Tree, acting: AppliedLoads) -> Array:
    """First velocity, damping, first input and armature of the turns of balls that have any, (b, 6)."""
    rows = [
        [
            tree.first[link.name],
            *np.broadcast_to(link.joint.damping, link.joint.size)[:3],
            acting.ball_drives.get(tree.first[link.name], -1),
            link.joint.armature,
        ]
        for link in config.links
        if link.joint.kind in BALLS and (any(link.joint.damping) or link.joint.driven or link.joint.armature)
    ]
    return np.array(rows, dtype=float).reshape(-1, 6)


def _world(base: Pose, gravity: Array) -> Array:
    return np.concatenate([gravity, base.position, base.rotation.ravel()])
