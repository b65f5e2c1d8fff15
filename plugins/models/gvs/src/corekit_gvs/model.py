"""The model `gvs`: what the kernel calls of a tree of soft and rigid links."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, final

import numpy as np
from attrs import evolve

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.linalg.constraint_rows import ConstraintRows
from corekit.linalg.matrices import Dense, Matrix
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import BuildContext
from corekit.roles.model import Model, ModelDescription, Outline
from corekit.roles.surface_speeds import surface_speeds
from corekit_gvs.actuator_lines import ActuatorLines
from corekit_gvs.build import Robot, build
from corekit_gvs.compiled_form import form_of
from corekit_gvs.config import GVSConfig, GVSInitial
from corekit_gvs.description import description_of
from corekit_gvs.forces import assemble
from corekit_gvs.forward_recursion import POSES, RATES, ROWS, sweep
from corekit_gvs.free_base import place_free_joint, with_free_base
from corekit_gvs.geometric_stiffness import add_geometric_stiffness
from corekit_gvs.initial_state import PrescribedJoints, rest_velocity, write_initial
from corekit_gvs.jacobian_rates import jacobian_rates
from corekit_gvs.length_drives import cable_length, compute_tensions
from corekit_gvs.lines import Lines
from corekit_gvs.loop_constraints import loop_pushes, loop_rows
from corekit_gvs.matter import is_same_but_for_matter, with_matter_of
from corekit_gvs.mistakes import Mistakes
from corekit_gvs.outputs import energies, frame_poses, point_rows, same
from corekit_gvs.tables import node_wrenches_of, pole_of
from corekit_gvs.tangent import assemble_tangent

if TYPE_CHECKING:
    from corekit_gvs.symbolic import SymbolicTree

__all__ = ["GVS"]

_AT_REST, _NO_MASS = np.zeros(0), np.zeros((0, 0))
_SHARES = ("gravity", "inertia", "elastic", "viscous", "applied", "drag")


@final
class GVS(Model):
    """A tree of soft and rigid links, loops closed by rows, whose coordinates are joints' and strains'.

        M(q)·q̈ = f(q, q̇, u, t) + J_bᵀ·λ,   v = q̇                                                     (1)

    Equations: kinematics in `forward_recursion`, M and f in `forces`, J̇ and J̈ in `jacobian_rates`, K and D in
    `tangent` and `geometric_stiffness`, rows in `loop_constraints`.

    Abilities: `point-jacobian`, `force-derivatives`, `inverse-dynamics`, `constraints`, `bounded-constraints`,
    `prescribed`, `energy`, `force-terms`, `input-jacobian`, `free-base`, `new-numbers`, `compiled-form`; `symbolic`
    and `symbolic-parameters` with CasADi.

    Source: Mathew et al. (2022), SoRoSim; Renda et al. (2020); Boyer, Lebastard, Candelier, Renda (2021), "Dynamics of
    continuum and soft robots: a strain parameterization based approach", IEEE Transactions on Robotics 37(3).
    """

    def __init__(self, config: GVSConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._path, self._base = context.path or "gvs", context.base
        self._config = config = (
            with_free_base(config, f"{self._path}.options") if context.free_base else config
        )
        robot = build(config, context)
        self._last, self._count = robot.last, len(robot.tree.nodes)
        self._renewed = bool(robot.dependents or robot.laws or robot.varying or robot.state_loads)
        self._drifts = any(not basis.steady for basis in robot.dependents)
        self._motions = PrescribedJoints(config, robot.tree, Mistakes(context.path))
        self._layout = description_of(config, robot, self._motions)
        self._frame_node = robot.visible.node
        self._lines, self._actuator_lines = Lines(robot.visible.lines), ActuatorLines(config, robot.tree)
        self._all, self._moved = np.ones(6), np.zeros(robot.size)
        loops = robot.loops
        self._columns, self._unit = np.arange(robot.size), np.zeros(loops.height)
        self._compliance = np.repeat(loops.frames[:, 60], loops.rows[:, 3])
        self._set_robot(robot)
        self._drives = drives = robot.acting.length_drives
        self._length_slope, self._length_stiffness = (
            np.zeros((len(drives), robot.size)),
            np.zeros(len(drives)),
        )
        if drives:
            self._set_rest_lengths()
        self._layout = evolve(self._layout, velocity_scale=surface_speeds(self))

    def _set_robot(self, robot: Robot) -> None:
        """Compute by the tables of a robot from now on; nothing is swept yet."""
        self._robot, self._packed = robot, robot.packed
        self._node_wrenches = node_wrenches_of(robot.packed)
        self._pole = pole_of(robot.packed, robot.last)
        self._held, self._scratch = np.zeros_like(self._node_wrenches), np.zeros((robot.size, robot.size))
        # what the work buffer holds: the state of the last sweep, nodes by level, and of which inputs the wrenches are
        self._at = np.full(2 * robot.size + self._layout.aux, np.nan)
        self._moment, self._swept = np.nan, [0, 0, 0]
        self._given = _AT_REST
        self._pushing: Array | None = None

    def with_numbers(self, config: GVSConfig) -> GVS | None:
        """The same robot with other materials of soft links.

        None where more is different, the base moves, cables rub or are driven by length, or what acts depends on the
        state or on time; elastic laws of users do.
        """
        robot = self._robot
        if self._renewed or self._drives or robot.acting.frictions:
            return None
        if not is_same_but_for_matter(self._config, config):
            return None
        other = copy(self)
        vars(other).update(_config=config)
        GVS._set_robot(other, with_matter_of(robot, config))
        return other

    def compiled_form(self) -> CompiledForm | str:
        """The tables and entries of `compiled_form`; in words what is written into the tables between steps."""
        robot = self._robot
        for asked, found in (
            ("bases, elastic laws or loads that change with state or time", self._renewed),
            ("cables driven by length or with friction", self._drives or robot.acting.frictions),
            ("spherical or free joints, whose frames are centred anew", robot.tree.charts),
        ):
            if found:
                return asked
        inputs, aux = self._layout.input_size, self._layout.aux
        return form_of(self._packed, self._frame_node, robot.size, self._last, self._count, inputs, aux)

    def _set_rest_lengths(self) -> None:
        """Measure cables driven by length at q = 0."""
        rest = State.zeros(self._robot.size, self._robot.size, self._layout.aux)
        self.compute_initial_state(None, rest)
        rest.q[:], rest.v[:] = 0.0, 0.0
        self._sweep(rest, self._last, ROWS)
        for drive in self._drives:
            drive.rest = cable_length(*self._packed, rest.q, rest.v, drive.channel, self._length_slope[0])

    def _tensions(self, state: State, inputs: Array) -> Array:
        """The inputs with tensions in place of lengths, (1) of `length_drives`; a sweep with rows came before.

        What friction leaves of them along their cables is in the tables then, (1) of `cable_friction`.
        """
        for each in self._robot.acting.frictions:
            each.update(self._packed, state.q, state.v, self._robot.actions)
        if not self._drives:
            return inputs
        slope, stiffness = self._length_slope, self._length_stiffness
        return compute_tensions(self._drives, self._packed, state.q, state.v, inputs, slope, stiffness)

    @property
    def description(self) -> ModelDescription:
        """Coordinates by link, inputs, frames and shapes."""
        return self._layout

    def compute_initial_state(self, initial: GVSInitial | None, out: State) -> None:
        """Write the state that `initial` gives; what it leaves out is unstrained and at rest, by (2) of `starts`.

        Raises:
            ConfigError: wrong number of entries, or a link that does not exist.
        """
        left = write_initial(initial, self._config, self._robot.tree, self._motions, self._path, out)
        if self._drifts:
            probe, mass = out.copy(), self.new_mass_matrix()
            self.compute_mass_and_force(
                probe, np.zeros(self._layout.input_size), mass, np.zeros(self._robot.size)
            )

            def kinetic(velocity: Array) -> float:
                probe.v[:] = velocity
                return self.compute_energies(probe)[0]

            rest_velocity(kinetic, mass.data, out.v, left)

    def place_base(
        self, state: State, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> None:
        """Write the free joint of `free_base`."""
        place_free_joint(self._base, state, position, rotation, velocity, angular_velocity)

    def new_mass_matrix(self) -> Dense:
        """A dense buffer."""
        return Dense(self._robot.size)

    def compute_mass_and_force(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        """Write M and f of `forces`."""
        self._balance(state, inputs, _AT_REST, mass.data, force)

    def compute_dynamics_residual(
        self, state: State, inputs: Array, acceleration: Array, out: Array, mass: Matrix | None = None
    ) -> None:
        """Write f − M·w of `forces`, and M if it is wanted."""
        self._balance(state, inputs, acceleration, _NO_MASS if mass is None else mass.data, out)

    def _balance(self, state: State, inputs: Array, w: Array, mass: Array, out: Array) -> None:
        self._sweep(state, self._last, ROWS, w)
        inputs = self._tensions(state, inputs)
        assemble(*self._packed, state.q, state.v, w, inputs, self._all, self._last, mass, out)
        self._pushing = inputs.copy()

    def _sweep(self, state: State, last: int, level: int, w: Array | None = None) -> None:
        """Sweep the first `last` nodes at a state and, where it counts, q̈; those swept there before stay."""
        at, n = self._at, len(state.q)
        here = (
            same(at, state.q, state.v, state.aux)
            and (state.time == self._moment or not self._renewed)
            and (w is None or w is self._given or np.array_equal(w, self._given))
        )
        if not here:
            if self._renewed:
                self._robot.refresh(state.q, state.v, state.time)
            self._given = _AT_REST if w is None or not len(w) else w.copy()
            at[:n], at[n : 2 * n], at[2 * n :] = state.q, state.v, state.aux
            self._moment, self._swept, self._pushing = state.time, [0, 0, 0], None
        swept = self._swept
        if last <= swept[level]:
            return
        sweep(*self._packed, state.q, state.v, state.aux, self._given, swept[level], last, level)
        if self._renewed and level >= RATES:
            self._robot.update_state_loads(state.time)
        for below in range(level + 1):
            swept[below] = max(swept[below], last)

    def new_stiffness_and_damping(self) -> tuple[Dense, Dense]:
        """Dense buffers for K and D."""
        return self.new_mass_matrix(), self.new_mass_matrix()

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        """Write the exact K = −∂f/∂q and D = −∂f/∂q̇ of `tangent`."""
        self._tangent(state, inputs, _AT_REST, stiffness, damping)

    def compute_residual_derivatives(
        self, state: State, inputs: Array, acceleration: Array, stiffness: Matrix, damping: Matrix,
        impulse: Array | None = None,
    ) -> None:  # fmt: skip
        """Write the exact K = −∂(f − M·w + J_bᵀ·λ)/∂q and D = −∂f/∂q̇ of `tangent`; λ is `impulse`."""
        self._tangent(state, inputs, acceleration, stiffness, damping, impulse)

    def _tangent(
        self, state: State, inputs: Array, w: Array, stiffness: Matrix, damping: Matrix, impulse: Array | None = None
    ) -> None:  # fmt: skip
        packed, q, v, last = self._packed, state.q, state.v, self._last
        self._sweep(state, last, ROWS, w)
        if self._renewed:
            self._robot.refresh_slopes(q, v, w, state.time)
        inputs = self._tensions(state, inputs)
        if self._pushing is None or not np.array_equal(self._pushing, inputs):
            assemble(*packed, q, v, w, inputs, self._all, last, _NO_MASS, self._moved)
            self._pushing = inputs.copy()
        moves = self._drifts or bool(v.any()) or bool(w.any())
        if moves:
            jacobian_rates(*packed, last)
        assemble_tangent(*packed, q, v, w, inputs, self._all, last, moves, stiffness.data, damping.data)
        for law in self._robot.laws:
            law.add_stiffness(stiffness.data)
        for load in self._robot.state_loads:
            load.add_slopes(packed, self._pole, state.time, moves, stiffness.data, damping.data)
        node_wrenches = self._node_wrenches
        if impulse is not None:
            loop_pushes(*packed, impulse, self._held, self._scratch)
            stiffness.data -= self._scratch
            node_wrenches = np.add(node_wrenches, self._held, out=self._held)
        add_geometric_stiffness(*packed, node_wrenches, last, -1.0, stiffness.data)
        pull = {each.channel: each for each in self._robot.acting.frictions}
        for channel, rubbing in pull.items():
            rubbing.add_stiffness(float(inputs[channel]), stiffness.data)
        for drive, slope, harder in zip(
            self._drives, self._length_slope, self._length_stiffness, strict=True
        ):
            rubs = pull.get(drive.channel)
            pulls = slope if rubs is None else rubs.share @ rubs.pull
            stiffness.data += np.outer(pulls, harder * slope)

    def new_constraints(self) -> ConstraintRows:
        """Rows of all loops, then of joints, every one over all velocities."""
        joints = self._robot.joint_rows
        rows = ConstraintRows(joints.count, self._robot.size, joints.is_velocity_level, joints.bounded)
        rows.dofs[:] = np.arange(self._robot.size)
        return rows

    def compute_constraints(self, state: State, inputs: Array, rows: ConstraintRows) -> None:
        """Write the rows of `loop_constraints` and `joint_rows`."""
        self._sweep(state, self._last, ROWS)
        rows.dofs[:] = self._columns
        loop_rows(*self._packed, self._unit, rows.values, rows.position_error)
        rows.compliance[: len(self._compliance)] = self._compliance
        rows.target_rate[:] = 0.0
        self._robot.joint_rows.write(state.q, rows)

    def compute_constraint_force_gradient(self, state: State, impulse: Array, out: Matrix) -> None:
        """Write the exact ∂(J_bᵀ·λ)/∂q."""
        packed, last = self._packed, self._last
        self._sweep(state, last, ROWS)
        if self._renewed:
            self._robot.refresh_slopes(state.q, state.v, self._given, state.time)
        loop_pushes(*packed, impulse, self._held, out.data)
        add_geometric_stiffness(*packed, self._held, last, 1.0, out.data)

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        """Write q + h·v̄; the frames of exponential coordinates stay."""
        np.multiply(velocity, step, out=self._moved)
        np.add(start.q, self._moved, out=out.q)
        out.aux[:] = start.aux

    def reparametrise(self, state: State) -> bool:
        """Re-centre spherical and free joints that turned by more than π from their frame."""
        return self._motions.reparametrise(state)

    def compute_prescribed_motion(self, time: float, value: Array, rate: Array) -> None:
        """Write the motions of prescribed joints."""
        self._motions.write(time, value, rate)

    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write the poses of all frames."""
        self._place(state, self._frame_node, position, rotation)

    def _place(self, state: State, node: IntArray, position: Array, rotation: Array) -> None:
        self._sweep(state, self._count, POSES)
        frame_poses(self._packed.ints, self._packed.buffer, node, position, rotation)

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Write rows of points fixed in frames."""
        self._sweep(state, self._count, ROWS)
        point_rows(self._packed.ints, self._packed.buffer, self._frame_node, frame, local, dofs, values)

    def compute_energies(self, state: State) -> tuple[float, float]:
        """Kinetic energy, and elastic and gravitational potential [J]; heights count from the world's origin."""
        self._sweep(state, self._last, RATES)
        out = np.zeros(3)
        energies(*self._packed, state.q, state.v, out)
        return float(out[0]), float(out[1] + out[2] + sum(law.energy() for law in self._robot.laws))

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        """f as gravity, inertia (−c), elastic, viscous, applied and drag [N·m, N]."""
        self._sweep(state, self._last, ROWS, _AT_REST)
        inputs = self._tensions(state, inputs)
        return {name: self._share(state, inputs, k) for k, name in enumerate(_SHARES)}

    def _share(self, state: State, inputs: Array, index: int) -> Array:
        self._sweep(state, self._last, ROWS, _AT_REST)
        term_factors, force = np.zeros(6), np.zeros(self._robot.size)
        term_factors[index] = 1.0
        self._pushing = None
        assemble(*self._packed, state.q, state.v, _AT_REST, inputs, term_factors, self._last, _NO_MASS, force)
        return force

    def compute_input_jacobian(self, state: State, inputs: Array, out: Array) -> None:
        """Write ∂f/∂u, shape (nv, nu): f is affine in tensions and all else, column j is what a unit adds."""
        count = self._layout.input_size
        self._sweep(state, self._last, ROWS, _AT_REST)
        self._tensions(state, inputs)
        nothing = self._share(state, np.zeros(count), _SHARES.index("applied"))
        for j in range(count):
            out[:, j] = self._share(state, np.eye(count)[j], _SHARES.index("applied")) - nothing
        for drive, stiffness in zip(self._drives, self._length_stiffness, strict=True):
            out[:, drive.channel] *= stiffness

    def symbolic(self) -> SymbolicTree:
        """The same equations as CasADi expressions; needs `corekit-gvs[symbolic]`.

        Raises:
            ConfigError: a basis or a distributed wrench that varies in time.
        """
        from corekit_gvs.symbolic import SymbolicTree

        return SymbolicTree(self._robot, self._path)

    def compute_outline(self, state: State) -> Outline:
        """Every link as a polyline as thick as it is, with its cables and chambers."""
        node = np.concatenate([self._lines.node, self._actuator_lines.node])
        position, rotation = np.zeros((len(node), 3)), np.zeros((len(node), 3, 3))
        self._place(state, node, position, rotation)
        count = len(self._lines.node)
        outline = self._lines.through(position[:count], rotation[:count])
        return evolve(outline, actuators=self._actuator_lines.through(position[count:], rotation[count:]))
