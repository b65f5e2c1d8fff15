"""The model `pcc`: what the kernel calls of a piecewise-constant-curvature arm."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from itertools import pairwise
from typing import TYPE_CHECKING, final

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit.geometry.shapes import Shape
from corekit.linalg.matrices import Dense, Matrix
from corekit.roles.compiled_form import CompiledForm
from corekit.roles.component import BuildContext
from corekit.roles.model import Channel, Coordinate, Model, ModelDescription, Outline
from corekit_pcc.actuator_lines import actuator_lines
from corekit_pcc.arm import arm_of, disk_places, place_name, section_matrices, with_matter_of
from corekit_pcc.cables import (
    add_cable_forces,
    add_cable_stiffness,
    cable_channel,
    cables_of,
    write_cable_jacobian,
)
from corekit_pcc.compiled_form import form_of
from corekit_pcc.config import PCCConfig, PCCInitial
from corekit_pcc.doubts import doubts_of
from corekit_pcc.mass_gradient import packed_mass_gradient
from corekit_pcc.mounted import BASE, BASE_COORDINATES, BASE_VELOCITIES, MountedBase, place
from corekit_pcc.packed import pack, packed_dynamics, packed_poses, packed_rows, packed_tangent

if TYPE_CHECKING:
    from corekit_pcc.symbolic import SymbolicArm

__all__ = ["PCC"]

_OUTLINE_POINTS = 12
_ATMOSPHERE = 101325.0
"""Standard pressure of the air [Pa]: less a vacuum cannot suck."""
_NO_LENGTH = 1e-14
"""Length of a section, relative to that at rest, which rounding of its elongations leaves of none."""


@final
class PCC(Model):
    """A chain of sections, each an arc of constant curvature that bends in any direction and stretches.

        M(q)·v̇ + C(q, v)·v + D·v + K·q + G(q) = Aᵀ·τ + Jᵀ·f_contact,   v = q̇               (1)

    Coordinates q [m] are three a section: with three chambers their elongations, with more the backbone's
    elongation and the bending vector times the chamber radius (see `chambers`). Inputs τ [N] are the chambers'
    axial forces, pushing them longer, all sections stacked; with the option `material` they are pressures [Pa], and
    K, D and M are those of a beam (see `material`).

    Frames: `base`, and one at every disk (see `description.frames`), z along the backbone; each disk is a cylinder.

    Cables beside the chambers pull by tension or by length (see `cables`).

    Where the base moves, its pose stands before q and its twist before q̇ (see `mounted`).

    Abilities: `point-jacobian`, `force-derivatives`, `mass-gradient`, `energy`, `force-terms`, `input-jacobian`,
    `free-base`, `new-numbers`, `compiled-form`; `symbolic` and `symbolic-parameters` with CasADi.

    Source: Azizkhani and Chen, "Unified Complementarity-Based Contact Modeling and Planning for Soft Robots"
    (CUSP), equation (2); Godage et al. (2016).
    """

    def __init__(self, config: PCCConfig, context: BuildContext | None = None) -> None:
        context = BuildContext() if context is None else context
        self._config = config
        self._path = context.path or "pcc"
        self._arm = arm_of(config, context.base, context.gravity, free_base=context.free_base)
        self._packed = pack(self._arm)
        self._coriolis = config.coriolis
        places = [(0, 0.0), *disk_places(config)]
        self._frame_section: IntArray = np.array([i for i, _ in places], dtype=np.int64)
        self._frame_place: Array = np.array([s for _, s in places], dtype=np.float64)
        self._layout = _layout(config, free_base=context.free_base)
        self._stands = context.base
        self._base = MountedBase(self._arm, self._packed) if context.free_base else None
        n = 3 * config.sections
        self._moved: Array = np.zeros(n)
        self._scratch_mass: Array = np.zeros((n, n))
        self._scratch_force: Array = np.zeros(n)
        self._whole: Array = np.zeros((5, BASE + n))
        self._scratch_tangent: tuple[Array, Array] = (np.zeros((n, n)), np.zeros((n, n)))
        self._cables = cables_of(config.cables, self._arm.to_arc, len(self._arm.chamber))
        nodes = len(self._arm.node)
        self._node_section: IntArray = np.repeat(np.arange(config.sections, dtype=np.int64), nodes)
        self._node_place: Array = np.tile(self._arm.node, config.sections)
        self._node_position: Array = np.zeros((config.sections * nodes, 3))
        self._node_rotation: Array = np.zeros((config.sections * nodes, 3, 3))

    @property
    def description(self) -> ModelDescription:
        """Coordinates, inputs, frames and disks."""
        return self._layout

    def with_numbers(self, config: PCCConfig) -> PCC | None:
        """The same arm with other stiffness, damping and mass; None where the base moves, or more is different."""
        if self._base is not None or not self._config.is_same_but_for_matter(config):
            return None
        other, arm = copy(self), with_matter_of(self._arm, config)
        vars(other).update(_config=config, _arm=arm, _packed=pack(arm))
        return other

    def compiled_form(self) -> CompiledForm | str:
        """The tables and entries of `compiled_form`; in words what has none."""
        if self._base is not None:
            return "a base that moves"
        if self._config.cables:
            return "cables"
        inputs, places = self._layout.input_size, (self._frame_section, self._frame_place)
        return form_of(self._packed, *places, inputs, coriolis=self._coriolis)

    def _settle(self, state: State) -> tuple[Array, Array]:
        """Return q and v of the arm itself, and show the kernels where its base is."""
        return (state.q, state.v) if self._base is None else self._base.settle(state)

    def compute_initial_state(self, initial: PCCInitial | None, out: State) -> None:
        """Write the state that `initial` gives, the straight unloaded arm at rest if it is None.

        Raises:
            ConfigError: wrong number of entries, or a section without length.
        """
        initial = PCCInitial() if initial is None else initial
        mistakes: list[Mistake] = []
        if self._base is not None:
            place(out, self._stands.position, self._stands.rotation, np.zeros(3), np.zeros(3))
        q, v = self._settle(out)
        for name, target in (("elongation", q), ("velocity", v)):
            values = getattr(initial, name)
            if len(values) in (1, self._config.sections, target.size):
                target[:] = self._coordinates(values)
            else:
                allowed = (
                    f"give 1, {self._config.sections} (one a section) or {target.size} (every coordinate)"
                )
                mistakes.append(Mistake(f"{self._path}.initial.{name}", f"{len(values)} entries", allowed))
        lengths = self._arm.length + np.einsum("ij,ij->i", self._arm.to_arc[:, 0], q.reshape(-1, 3))
        if not mistakes and (lengths <= _NO_LENGTH * self._arm.length).any():
            found = f"length {lengths.min():.6g} m of section {int(lengths.argmin()) + 1}"
            mistakes.append(Mistake(f"{self._path}.initial.elongation", found, "lengths must be > 0"))
        if mistakes:
            raise ConfigError(mistakes, "the initial state")
        out.time = 0.0

    def _coordinates(self, values: tuple[float, ...]) -> Array:
        """Coordinates from what an initial option holds; 1 or S entries are pure extensions."""
        sections = self._config.sections
        if len(values) == 3 * sections:
            return np.array(values)
        if not any(values):
            return np.zeros(3 * sections)
        extension = np.broadcast_to(np.array(values), (sections,))
        arc = np.zeros((sections, 3, 1))
        arc[:, 0, 0] = extension
        return np.asarray(np.linalg.solve(self._arm.to_arc, arc), dtype=np.float64).reshape(-1)

    def new_mass_matrix(self) -> Dense:
        """A dense buffer."""
        return Dense(len(self._layout.velocities))

    def place_base(
        self, state: State, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> None:
        """Write pose and twist of the base; the arm keeps its shape."""
        place(state, position, rotation, velocity, angular_velocity)

    def compute_mass_and_force(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        """Write M and f of `dynamics`, and of `free_base` where the base moves."""
        q, v = self._settle(state)
        own, push = (mass.data, force) if self._base is None else (self._scratch_mass, self._scratch_force)
        packed_dynamics(*self._packed, q, v, inputs, self._coriolis, own, push)
        if self._config.cables:
            add_cable_forces(self._cables, q, inputs, push)
        if self._base is not None:
            self._base.add_to_dynamics(q, v, own, push, self._coriolis, mass.data, force)

    def new_stiffness_and_damping(self) -> tuple[Dense, Dense]:
        """Dense buffers for K and D."""
        return self.new_mass_matrix(), self.new_mass_matrix()

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        """Write the exact K = −∂f/∂q and D = −∂f/∂v of `tangent`, `cables` and `free_base`."""
        q, v = self._settle(state)
        own = (stiffness.data, damping.data) if self._base is None else self._scratch_tangent
        packed_tangent(*self._packed, q, v, self._coriolis, *own)
        if self._config.cables:
            add_cable_stiffness(self._cables, q, inputs, own[0])
        if self._base is not None:
            self._base.add_to_tangent(q, v, own, self._coriolis, stiffness.data, damping.data)

    def compute_mass_gradient(self, state: State, w: Array, x: Array, out: Array) -> None:
        """Write ∂(wᵀ·M·x)/∂δ of `mass_gradient`."""
        q, _ = self._settle(state)
        one, other, found, *_ = self._whole
        n = len(out)
        one[-n:], other[-n:] = w, x
        packed_mass_gradient(*self._packed, q, one, other, self._whole[3:], found)
        out[:] = found[-n:]

    def compute_input_jacobian(self, state: State, inputs: Array, out: Array) -> None:
        """Write ∂f/∂u: Aᵀ of the chambers, and (2) of `cables` per input."""
        out[:] = 0.0
        q, _ = self._settle(state)
        own = out[len(out) - len(q) :]
        for i, (first, last) in enumerate(pairwise(self._arm.chamber_start)):
            own[3 * i : 3 * i + 3, first:last] = self._arm.chamber[first:last].T
        write_cable_jacobian(self._cables, q, inputs, own)

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        """Write q + h·v̄, and the base turned by h·ω."""
        if self._base is not None:
            self._base.move(start, velocity, step, out)
            velocity = velocity[BASE:]
        np.multiply(velocity, step, out=self._moved)
        n = len(velocity)
        np.add(start.q[-n:], self._moved, out=out.q[-n:])

    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        """Write the poses of the base and of every disk."""
        q, v = self._settle(state)
        packed_poses(*self._packed, q, v, self._frame_section, self._frame_place, position, rotation)

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        """Write rows of points fixed in frames: equation (1) of `frames`."""
        q, v = self._settle(state)
        places = self._frame_section, self._frame_place
        if self._base is None:
            packed_rows(*self._packed, q, v, *places, frame, local, dofs, values)
        else:
            self._base.write_rows(q, v, places, frame, local, dofs, values)

    def compute_energies(self, state: State) -> tuple[float, float]:
        """Kinetic energy T, and elastic and gravitational potential V [J]; heights count from the world's origin.

        T = ½·vᵀM·v,    V = ½·qᵀK·q − Σ_k m_k·g·x_k,    x_k the nodes of the mass matrix in the world
        """
        arm, mass, force = self._arm, self.new_mass_matrix(), np.zeros(len(state.v))
        self.compute_mass_and_force(state, np.zeros(self._layout.input_size), mass, force)
        q, v = self._settle(state)
        packed_poses(
            *self._packed,
            q,
            v,
            self._node_section,
            self._node_place,
            self._node_position,
            self._node_rotation,
        )
        elongation = q.reshape(-1, 3)
        elastic = 0.5 * float(np.einsum("ia,iab,ib->", elongation, arm.stiffness, elongation))
        falling = float(arm.node_mass.reshape(-1) @ (self._node_position @ arm.gravity))
        return 0.5 * float(state.v @ mass.data @ state.v), elastic - falling

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        """f as actuation, stiffness, damping, gravity and coriolis [N]."""
        arm, mass = self._arm, self.new_mass_matrix()
        q, v = self._settle(state)
        unloaded, lead = np.zeros(self._layout.input_size), len(state.v) - len(v)

        def whole(own: Array) -> Array:
            """With zeros for the base, on which nothing of the arm acts."""
            return np.concatenate([np.zeros(lead), own])

        def force(velocity: Array) -> Array:
            out = np.zeros(len(velocity))
            at = State(state.q, velocity, state.aux, state.time)
            self.compute_mass_and_force(at, unloaded, mass, out)
            return out

        cables = whole(self._actuation(q, unloaded))
        stiffness = whole(-np.einsum("iab,ib->ia", arm.stiffness, q.reshape(-1, 3)).reshape(-1))
        damping = whole(-np.einsum("iab,ib->ia", arm.damping, v.reshape(-1, 3)).reshape(-1))
        resting = force(np.zeros_like(state.v)) - cables
        moving = force(state.v) - cables - damping - resting if self._coriolis else np.zeros_like(damping)
        return {
            "actuation": whole(self._actuation(q, inputs)),
            "stiffness": stiffness,
            "damping": damping,
            "gravity": resting - stiffness,
            "coriolis": moving,
        }

    def _actuation(self, q: Array, inputs: Array) -> Array:
        """Aᵀ·τ of equation (3) in `chambers`, and (2) of `cables`."""
        arm = self._arm
        pairs = pairwise(arm.chamber_start)
        out = np.concatenate([arm.chamber[first:last].T @ inputs[first:last] for first, last in pairs])
        add_cable_forces(self._cables, q, inputs, out)
        return out

    def compute_outline(self, state: State) -> Outline:
        """The backbone as one polyline, as thick as the circle of chambers, with chambers and cables."""
        places = [
            (i, k / _OUTLINE_POINTS)
            for i in range(self._config.sections)
            for k in range(0 if i == 0 or self._arm.plate[i - 1] > 0.0 else 1, _OUTLINE_POINTS + 1)
        ]
        section = np.array([i for i, _ in places], dtype=np.int64)
        shares = np.array([s for _, s in places])
        points, rotations = np.zeros((len(places), 3)), np.zeros((len(places), 3, 3))
        packed_poses(*self._packed, *self._settle(state), section, shares, points, rotations)
        return Outline(
            points=points,
            radius=np.array(self._config.spread("chamber_radius"))[section],
            actuators=actuator_lines(self._config, section, points, rotations),
        )

    def symbolic(self) -> SymbolicArm:
        """The same equations as CasADi expressions; needs `corekit-pcc[symbolic]`.

        Raises:
            ConfigError: the base moves.
        """
        if self._base is not None:
            raise ConfigError(
                [Mistake(f"{self._path}.base", "a base that moves", "must stand for CasADi expressions")],
                "the arm",
            )
        from corekit_pcc.symbolic import SymbolicArm

        return SymbolicArm(
            self._arm,
            self._frame_section,
            self._frame_place,
            coriolis=self._config.coriolis,
            matrices=section_matrices(self._config),
            cables=self._cables,
        )


def _channels(config: PCCConfig) -> tuple[Channel, ...]:
    """The chambers' forces, or with a material their pressures, and one of every cable."""
    return (*_chamber_channels(config), *map(cable_channel, config.cables))


def _chamber_channels(config: PCCConfig) -> tuple[Channel, ...]:
    if config.material is None:
        size = sum(config.spread("chambers"))
        return (Channel("chamber-force", "N", size, sign="pushes the chamber longer, one per chamber"),)
    pairs = zip(config.spread("chambers"), config.spread("material.chamber_area"), strict=True)
    size = sum(chambers for chambers, area in pairs if area > 0.0)
    channel = Channel(
        "pressure",
        "Pa",
        size,
        lower=-_ATMOSPHERE,
        upper=config.material.max_pressure,
        sign="gauge pressure: lengthens the chamber, one per chamber",
    )
    return (channel,) if size else ()


def _layout(config: PCCConfig, *, free_base: bool) -> ModelDescription:
    """Names, units and disks."""
    coordinates: list[tuple[str, ...]] = []
    for i, chambers in enumerate(config.spread("chambers")):
        names = (
            ("chamber-1", "chamber-2", "chamber-3") if chambers == 3 else ("extension", "bend-x", "bend-y")
        )
        coordinates.append(tuple(f"section-{i + 1}-{name}" for name in names))
    names = [name for section in coordinates for name in section]
    inside = config.spread("disks")
    places = disk_places(config)
    carriers = [(0, 0), *((1 + k, i) for k, (i, _) in enumerate(places))]
    radius, half_height = config.spread("disk_radius"), config.spread("disk_half_height")
    shapes = tuple(
        Shape("cylinder", (radius[i], half_height[i]), frame=frame, friction=config.friction)
        for frame, i in carriers[0 if config.base_disk else 1 :]
    )
    first = np.arange(len(shapes) - 1, dtype=np.int64)
    return ModelDescription(
        coordinates=(*(BASE_COORDINATES if free_base else ()), *(Coordinate(name, "m") for name in names)),
        velocities=(*(BASE_VELOCITIES if free_base else ()), *(Coordinate(name, "m/s") for name in names)),
        inputs=_channels(config),
        frames=("base", *(place_name(i, s, inside[i]) for i, s in places)),
        shapes=shapes,
        excluded_pairs=np.column_stack([first, first + 1]),
        self_contact=config.self_contact,
        jacobian_width=len(names) + (BASE if free_base else 0),
        untracked_work="cables driven by length"
        if any(cable.drive == "length" for cable in config.cables)
        else "",
        doubts=doubts_of(config),
    )
