"""The model `vine`: a growing robot."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, final

import attrs
import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.geometry.pose_coordinates import read_pose
from corekit.linalg.constraint_rows import ConstraintRows
from corekit.linalg.matrices import Banded, Diagonal, Matrix
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import BuildContext
from corekit.roles.model import Model, ModelDescription, Outline
from corekit.roles.options import all_but
from corekit.roles.surface_speeds import surface_speeds
from corekit_vine.angle_cache import new_angle_cache
from corekit_vine.chain import COMPLIANCE, HEADING_RATES, MAX_FORCE, RATE_COUNT, ROWS_PER_LINK, build_chain
from corekit_vine.compiled_form import form_of
from corekit_vine.config import VineConfig, VineInitial
from corekit_vine.coupling import (
    add_coupling,
    add_coupling_derivatives,
    build_coupling,
    coupling_energy,
    coupling_width,
)
from corekit_vine.description import describe_robot
from corekit_vine.dynamics import (
    compute_energies,
    compute_mass_and_force,
    compute_stiffness_and_damping,
    integrate,
)
from corekit_vine.frames import compute_point_jacobians, compute_poses
from corekit_vine.initial_state import write_initial_state
from corekit_vine.joints import (
    WIDTH,
    compute_constraints,
    compute_force_gradient,
    constraint_dofs,
    write_growth_limits,
)
from corekit_vine.matter import add_matter, keep_motion, update_growth
from corekit_vine.mounted import BASE, POSE, MountedChain
from corekit_vine.standing_base import check_standing_base

if TYPE_CHECKING:
    from corekit_vine.symbolic import SymbolicVine

__all__ = ["Vine"]

_ALL_BUT_MATTER = all_but(
    VineConfig, "wall_density", "gas_density", "body_mass", "body_inertia", "bending_stiffness", "bending_damping",
    "joint_stiffness", "joint_damping", "natural_curvature", "pressure", "yield_pressure",
)  # fmt: skip

_NO_SPIN, _NO_TURN = np.zeros(0), np.eye(3)


@final
class Vine(Model):
    """Planar chain of rigid bodies with alternating pins, which bend, and telescoping joints, which grow.

        M·(v⁺ − v) = h·f + J_bᵀ·λ + J_cᵀ·λ_c                                                     (1)

    Coordinates are (x, y, t) of every body in the base's x–z plane, from the base's origin; growth does not change
    their count. Inputs: `growth-rate` [m/s] (of the tip, or one per link) or `pressure` [Pa]; `heading` [rad], added
    to the option, and where pins damp its rate `heading-rate` [rad/s], which follows the signal; `curvature` [1/m], one
    per actuator; `tip-force` [N], in the plane's axes.

    Frames: `base` with its axes, and one at the far end of every body, with x along the tube. Where the base moves, its
    pose stands before q, its twist before v, and the plane goes with it (see `mounted`).

    Source: Jitosho, Agharese, Okamura, Manchester (2021), A Dynamics Simulator for Soft Growing Robots, ICRA.
    """

    def __init__(self, config: VineConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._path = context.path or "vine"
        self._is_mounted, self._gravity = context.free_base, context.gravity
        self._start = context.base
        # the weight on a base that moves is that of `moving_base`
        self._inside = attrs.evolve(context, gravity=np.zeros(3)) if self._is_mounted else context
        turn = context.base.rotation
        first, second = turn[:, 0], turn[:, 2]
        self._first_q, self._first_v = (POSE, BASE) if self._is_mounted else (0, 0)
        self._start_position, self._start_rotation = np.zeros(3), np.zeros((3, 3))
        self._plane: Array = np.ascontiguousarray(
            np.vstack([context.base.position, first, second, np.cross(first, second)])
        )
        if not self._is_mounted:
            check_standing_base(config, f"{self._path}.options")
        if self._is_mounted and build_coupling(config).size:
            wrong = "must be one number, or one per pin, on a base that moves"
            raise ConfigError(
                [Mistake(f"{self._path}.options.joint_stiffness", config.joint_stiffness, wrong)], self._path
            )
        self._layout = describe_robot(config, None if self._is_mounted else self._plane[:3])
        self._zero_inputs = np.zeros(self._layout.input_size)
        Vine._set_config(self, config)
        self._layout = attrs.evolve(self._layout, velocity_scale=surface_speeds(self))

    def _set_config(self, config: VineConfig) -> None:
        """Compute by the numbers of a config from now on."""
        self._config = config
        self._chain = chain = build_chain(config, self._inside)
        self._scalars, self._start_lengths, self._pins = chain
        self._base = MountedChain(config, self._gravity, self._scalars) if self._is_mounted else None
        self._coupling = build_coupling(config)
        self._angle_cache = new_angle_cache(config.bodies)
        n, self._aux_lengths = 3 * config.bodies, config.links if config.form != "telescope" else 0
        self._rates, self._flows = int(self._scalars[RATE_COUNT]), np.zeros(config.links)
        limited = config.extensibility > 0.0 or np.isfinite(config.growth_force)
        self._limited = config.form == "everting" and limited
        self._inertia, self._bands = np.zeros(n), (np.zeros((6, n)), np.zeros((4, n)))

    def with_numbers(self, config: VineConfig) -> Vine | None:
        """The same robot with other stiffness, damping, natural curvature, mass and pressures of wrinkling and yield.

        None where its base moves, or more is different; ConfigError as of `check_standing_base`.
        """
        if self._base is not None or _ALL_BUT_MATTER(self._config) != _ALL_BUT_MATTER(config):
            return None
        check_standing_base(config, f"{self._path}.options")
        if build_coupling(config).shape != self._coupling.shape or config.is_damped != self._config.is_damped:
            return None
        other = copy(self)
        Vine._set_config(other, config)
        return other

    def compiled_form(self) -> CompiledForm | str:
        """The tables and entries of `compiled_form`; in words what has none."""
        if self._base is not None:
            return "a base that moves"
        if self._coupling.size:
            return "pins that are coupled"
        return form_of(
            self._chain, self._plane, self._layout.input_size, rates=self._rates, has_lengths=self._aux_lengths > 0,
            is_limited=self._limited,
        )  # fmt: skip

    @property
    def description(self) -> ModelDescription:
        """Coordinates, inputs, frames and shapes."""
        return self._layout

    def compute_initial_state(self, initial: VineInitial | None, out: State) -> None:
        """Write the state of `initial`; it satisfies every constraint. A base that moves stands where it begins.

        Raises:
            ConfigError: wrong number of entries, or a length at which the bodies overlap entirely.
        """
        initial = VineInitial() if initial is None else initial
        if self._base is not None:
            self._base.place(out, self._start.position, self._start.rotation, np.zeros(3), np.zeros(3))
        own = self._settle(out)
        lengths = out.aux[: self._aux_lengths]
        write_initial_state(self._config, self._chain, initial, self._path, lengths, own.q, own.v)
        self.reparametrise(out)
        out.time = 0.0

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        """Write q + h·v̄; angles never wrap, and lengths stay until `reparametrise`."""
        out.aux[:] = start.aux
        if self._base is None:
            integrate(start.q, velocity, step, out.q)
            return
        self._base.move(start, velocity, step, out)
        integrate(start.q[POSE:], velocity[BASE:], step, out.q[POSE:])

    def reparametrise(self, state: State) -> bool:
        """Update the lengths of links and the centres of bodies, and keep q and v, see `matter`."""
        if not self._aux_lengths:
            return False
        changed = update_growth(state.aux, state.q[self._first_q :], state.v[self._first_v :])
        return bool(keep_motion(state.q, state.v, state.aux[self._aux_lengths :])) or changed

    def _lengths(self, state: State) -> Array:
        """The lengths of the links by which a state is computed; other numbers may follow them."""
        return state.aux if self._aux_lengths else self._start_lengths

    def _settle(self, state: State) -> State:
        """Put the plane where the base of a state has it; return the state of the robot alone, views."""
        if self._base is None:
            return state
        own, turn = self._base.settle(state), self._base.rotation
        self._plane[0], self._plane[1], self._plane[2] = self._base.position, turn[:, 0], turn[:, 2]
        np.negative(turn[:, 1], out=self._plane[3])
        return own

    def place_base(
        self, state: State, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> None:
        """Write pose and twist of the base, see `mounted`."""
        MountedChain.place(state, position, rotation, velocity, angular_velocity)
        self.reparametrise(state)

    def new_mass_matrix(self) -> Matrix:
        """Return a diagonal buffer, or a sparse one with the rows and columns of a base that moves."""
        return Diagonal(3 * self._config.bodies) if self._base is None else self._base.new_matrix()

    def compute_mass_and_force(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        """Write M and f of `dynamics`, and of `moving_base` where the base moves."""
        lengths, base = self._lengths(state), self._base
        if base is None:
            self._write_own(lengths, state.q, state.v, inputs, mass.data, force)
        else:
            own = self._settle(state)
            force[:BASE] = 0.0
            self._write_own(lengths, own.q, own.v, inputs, self._inertia, force[BASE:])
            mass.zero()
            base.add_inertia(lengths, own, state.v, mass.data, force)
            base.add_tip_load(lengths, own, inputs, force)
        if self._aux_lengths and (inputs[0] != 0.0 or self._rates > 1):
            self._add_matter(state.aux, inputs, force)

    def _write_own(
        self, lengths: Array, q: Array, v: Array, inputs: Array, inertia: Array, force: Array
    ) -> None:
        """Write the diagonal of M and f of a robot on a base that stands."""
        scalars, pins, coupling = self._scalars, self._pins, self._coupling
        compute_mass_and_force(scalars, lengths, pins, q, v, inputs, inertia, force)
        if coupling.size:
            add_coupling(coupling, scalars, lengths, pins, q, v, inputs, force)

    def _add_matter(self, aux: Array, inputs: Array, force: Array) -> None:
        links, nq = self._config.links, len(self._layout.coordinates)
        q, v, rotation, spin = aux[links : links + nq], aux[links + nq :], _NO_TURN, _NO_SPIN
        if self._base is not None:
            rotation, spin = self._start_rotation, v[3:BASE]
            read_pose(q, self._start_position, rotation)
        add_matter(
            self._scalars, aux, rotation, spin, q[self._first_q :], v[self._first_v :], inputs, self._flows, force
        )  # fmt: skip

    def new_stiffness_and_damping(self) -> tuple[Matrix, Matrix]:
        """Return bands, or sparse ones: K also holds ∂(J_bᵀ·λ)/∂q, D couples the bodies of a pin."""
        n = 3 * self._config.bodies
        if self._base is not None:
            return self._base.new_matrix(), self._base.new_matrix()
        if self._coupling.size:
            width = coupling_width(self._config.links)
            return Banded(n, width), Banded(n, width)
        return Banded(n, 5), Banded(n, 3)

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        """Write the exact K and D of `dynamics`, and of `moving_base` where the base moves."""
        base, lengths = self._base, self._lengths(state)
        if base is None:
            compute_stiffness_and_damping(
                self._scalars, lengths, self._pins, state.q, inputs, stiffness.data, damping.data
            )
            if self._coupling.size:
                add_coupling_derivatives(self._coupling, stiffness.data, damping.data)
            return
        own = self._settle(state)
        compute_stiffness_and_damping(self._scalars, lengths, self._pins, own.q, inputs, *self._bands)
        for matrix, band in zip((stiffness, damping), self._bands, strict=True):
            matrix.zero()
            base.add_band(band, matrix.data)
        base.add_derivatives(lengths, own, state.v, inputs, stiffness.data, damping.data)

    def compute_energies(self, state: State) -> tuple[float, float]:
        """Return kinetic energy, and elastic and gravitational energy [J] for zero inputs; heights from the base.

        If it moves, heights count from the world's origin.
        """
        own, lengths = self._settle(state), self._lengths(state)
        arrays = self._scalars, lengths, self._pins
        found = compute_energies(*arrays, own.q, own.v, self._zero_inputs)
        if self._base is None:
            return found[0], found[1] + coupling_energy(self._coupling, *arrays, own.q, self._zero_inputs)
        mass, momentum = self.new_mass_matrix(), np.zeros(len(state.v))
        self.compute_mass_and_force(state, self._zero_inputs, mass, np.zeros(len(state.v)))
        mass.multiply(state.v, momentum)
        return 0.5 * float(momentum @ state.v), found[1] + self._base.height_energy(lengths, own)

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        """Return f as gravity, bending, damping and tip load, flowing matter, and inertia on a base that moves."""
        own, base, lengths = self._settle(state), self._base, self._lengths(state)
        terms = self._own_force_terms(lengths, own, inputs)
        if base is not None:
            terms = {name: np.concatenate([np.zeros(BASE), term]) for name, term in terms.items()}
            base.add_tip_load(lengths, own, inputs, terms["tip-load"])
            mass, whole = self.new_mass_matrix(), np.zeros(len(state.v))
            base.add_inertia(lengths, own, state.v, mass.data, terms["gravity"], moving=False)
            base.add_inertia(lengths, own, state.v, mass.data, whole)
            terms["inertia"] = whole - terms["gravity"]
        if self._aux_lengths:
            terms["matter"] = np.zeros(len(state.v))
            self._add_matter(state.aux, inputs, terms["matter"])
        return terms

    def _own_force_terms(self, lengths: Array, state: State, inputs: Array) -> dict[str, Array]:
        n = 3 * self._config.bodies
        scratch = np.zeros(n)

        def force(v: Array, u: Array) -> Array:
            out = np.zeros(n)
            self._write_own(lengths, state.q, v, u, scratch, out)
            return out

        still = inputs.copy()
        still[self._rates + 1 : self._rates + 1 + int(self._scalars[HEADING_RATES])] = 0.0
        loaded, unloaded = force(np.zeros(n), still), still.copy()
        unloaded[-2:] = 0.0
        free = force(np.zeros(n), unloaded)
        is_angle = np.arange(n) % 3 == 2
        return {
            "gravity": np.where(is_angle, 0.0, free),
            "bending": np.where(is_angle, free, 0.0),
            "damping": force(state.v, inputs) - loaded,
            "tip-load": loaded - free,
        }

    def new_constraints(self) -> ConstraintRows:
        """Return five rows per link, six if growth is irreversible: pin, pin, side, turn, growth(, no shrinking)."""
        links, per_link = self._config.links, int(self._scalars[ROWS_PER_LINK])
        kind = np.arange(links * per_link) % per_link
        force_bounded = (kind == 4) & bool(np.isfinite(self._scalars[MAX_FORCE]))
        bounded = force_bounded | (kind == 5)
        rows = ConstraintRows(links * per_link, WIDTH, kind >= 4, bounded, time_dependent=False)
        rows.dofs[:] = constraint_dofs(links, per_link) + (0 if self._base is None else BASE)
        rows.compliance[kind == 4] = self._scalars[COMPLIANCE]
        rows.lower[kind == 4], rows.upper[kind == 4] = -self._scalars[MAX_FORCE], self._scalars[MAX_FORCE]
        rows.lower[kind == 5] = 0.0
        return rows

    def compute_constraints(self, state: State, inputs: Array, rows: ConstraintRows) -> None:
        """Write the constraints of `joints`."""
        own = self._settle(state)
        compute_constraints(
            self._scalars, self._lengths(state), own.q, own.v, self._angle_cache, inputs, rows.values,
            rows.position_error, rows.target_rate,
        )  # fmt: skip
        if self._limited:
            write_growth_limits(
                self._scalars, self._lengths(state), inputs, rows.compliance, rows.lower, rows.upper
            )

    def compute_constraint_force_gradient(self, state: State, impulse: Array, out: Matrix) -> None:
        """Write ∂(J_bᵀ·λ)/∂q."""
        own = self._settle(state)
        band = out.data if self._base is None else self._bands[0]
        compute_force_gradient(self._scalars, self._lengths(state), own.q, own.v, impulse, band)
        if self._base is not None:
            out.zero()
            self._base.add_band(band, out.data)

    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write the poses of the base and of every body's far end."""
        own, lengths = self._settle(state), self._lengths(state)
        compute_poses(self._scalars, lengths, self._plane, own.q, self._angle_cache, position, rotation)

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Write the Jacobians of points fixed in frames."""
        scalars, lengths, plane = self._scalars, self._lengths(state), self._plane
        if self._base is None:
            compute_point_jacobians(scalars, lengths, plane, state.q, frame, local, dofs, values)
            return
        own, frames = self._settle(state), len(self._layout.frames)
        position, rotation = np.empty((frames, 3)), np.empty((frames, 3, 3))
        compute_poses(scalars, lengths, plane, own.q, self._angle_cache, position, rotation)
        own_dofs, rows = np.empty((len(frame), 3), dtype=np.int64), np.empty((len(frame), 3, 3))
        compute_point_jacobians(scalars, lengths, plane, own.q, frame, local, own_dofs, rows)
        self._base.write_rows((position, rotation), (frame, local), (own_dofs, rows), dofs, values)

    def compute_outline(self, state: State) -> Outline:
        """Return the tube as one polyline through the pins, with its radius."""
        links = self._config.links
        d = 0.25 * self._lengths(state)[:links, None]
        far = self._settle(state).q.reshape(links, 2, 3)[:, 1]
        ends = far[:, :2] + d * np.column_stack([np.cos(far[:, 2]), np.sin(far[:, 2])])
        flat = np.vstack([np.zeros(2), ends])
        points = self._plane[0] + flat @ self._plane[1:3]
        return Outline(points=points, radius=np.full(links + 1, 0.5 * self._config.diameter))

    def symbolic(self) -> SymbolicVine:
        """Return the same equations as CasADi expressions; needs `corekit-vine[symbolic]`.

        Raises:
            ConfigError: the base moves.
        """
        if self._base is not None:
            allowed = "must stand for CasADi expressions"
            raise ConfigError([Mistake(f"{self._path}.base", "a base that moves", allowed)], self._path)
        from corekit_vine.symbolic import SymbolicVine

        return SymbolicVine(self._chain, self._plane, self._config)
