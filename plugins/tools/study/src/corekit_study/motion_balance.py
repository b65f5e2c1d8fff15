"""The balance of forces about a motion: what a law needs that tells an error of the model from a contact.

At the middle of the interval from t_k to t_{k+1} of length T, with the displacement ξ̄ of the coordinates there and that
of the inputs δu, every world without constraints obeys, to first order,

    M·Δv/T = f + B·δu − K·ξ̄ − D·Δξ/T + Σᵢ θᵢ·(eᵢ + Eᵢ·ξ̄) + Uᵀ·w                              (1)

f, K, D, B are the models' forces along the motion and their derivatives. eᵢ are the named parts of f (ability
`force-terms`), and θᵢ is by how much of itself such a part of the real world differs from the model's. w is what nobody
measures: force and moment on every frame of a driven body that touches something, wherever on it the contact is. U has
their rows, N those of the gaps' rates, and G·w is what each contact presses with; contacts of a frame share its force.
(1) holds for the velocities of driven bodies; what acts on the others by contact is left out.

An object that turns about a fixed centre may stand elsewhere than planned, by p. The motion moves with it where the
frame that touches it keeps its place and axes as seen from it, by the least change of coordinates,

    δq = S·p,   S = J_F⁺·[1; 0],   J_F the frame's velocity and angular velocity by v               (2)

and the contact's force W, moved along, acts on the coordinates by ∂(J_Fᵀ·W)/∂q·S·p = L·p more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.simulation.loop import Simulation

__all__ = ["MotionBalance", "WorldForces", "balance_motion"]

_DISPLACED = 1e-6
"""Of coordinates [m or rad], velocities [m/s or rad/s] and inputs."""
_STICKS = 2e-3
"""Slip up to which a contact of a motion sticks [m/s]: a planner's edge may be rounder than the world's."""
_CARRIED = 1e-4
"""Of an object, for the second derivatives of (2) [m]."""


@frozen(eq=False)
class MotionBalance:
    """(1) and (2) along a motion of N intervals in a world of nv velocities and m driven inputs.

    Args:
        mass, stiffness, damping: M, K, D, shape (N, nv, nv). force: f, shape (N, nv). drive: B, shape (N, nv, m).
        terms: e, shape (N, terms, nv). term_slopes: E, shape (N, terms, nv, nv). term_names: `body.term`.
        unknown: U, shape (N, w, nv). normals: N, shape (N, c, nv). pressing: G, shape (N, c, w). All have rows of zeros
            where fewer contacts are closed than elsewhere.
        driven: 1 for velocities of driven bodies, else 0, shape (nv,).
        object: name of the object of (2), or empty. place: of its first frame, as planned [m], shape (3,).
        carried: S at the instants, shape (N + 1, nv, 3). carried_load: L, shape (N, nv, 3).
    """

    mass: Array
    force: Array
    stiffness: Array
    damping: Array
    drive: Array
    terms: Array
    term_slopes: Array
    term_names: tuple[str, ...]
    unknown: Array
    normals: Array
    pressing: Array
    driven: Array
    object: str
    place: Array
    carried: Array
    carried_load: Array

    def as_arrays(self) -> dict[str, Array]:
        """Return everything as arrays by name, for `write_arrays`."""
        kept = (
            "mass", "force", "stiffness", "damping", "drive", "terms", "term_slopes", "unknown", "normals",
            "pressing", "driven", "place", "carried", "carried_load",
        )  # fmt: skip
        texts = {"term_names": np.array(self.term_names, dtype=str), "object": np.array([self.object])}
        return {**{name: getattr(self, name) for name in kept}, **texts}


def balance_motion(
    simulation: Simulation,
    states: Sequence[State],
    time: Array,
    inputs: Mapping[str, Array],
    objects: Sequence[str] = (),
) -> MotionBalance:
    """Balance the forces about a motion.

    Args:
        simulation: of the world. states: of the whole world at the instants.
        time: instants [s], shape (N + 1,).
        inputs: per driven body all of its inputs over each interval, shape (N, nu).
        objects: names of bodies; the first of them that has a fixed place is the object of (2).
    """
    world = WorldForces(simulation, tuple(inputs))
    u = np.concatenate([np.zeros((len(time) - 1, 0)), *inputs.values()], axis=1)
    lengths = np.diff(time)
    middle = [
        world.moved(state, 0.5 * t * after.v)
        for state, after, t in zip(states, states[1:], lengths, strict=False)
    ]
    for state, after in zip(middle, states[1:], strict=True):
        state.v[:] = after.v
    about = [world.about(state, driven) for state, driven in zip(middle, u, strict=True)]
    contacts = _stacked([world.contacts(state) for state in middle])
    changes = [(after.v - state.v) / t for state, after, t in zip(states, states[1:], lengths, strict=False)]
    needed = [each["mass"] @ dv - each["force"] for each, dv in zip(about, changes, strict=True)]
    carried = _Carried(world, states, next((name for name in objects if world.stands(name, states[0])), ""))
    stacked = {name: np.array([each[name] for each in about]) for name in about[0]}
    return MotionBalance(
        **stacked,
        term_names=world.term_names(middle[0], u[0]),
        **contacts,
        driven=world.is_driven(),
        object=carried.name,
        place=carried.place,
        carried=np.array([carried.shift(k) for k in range(len(states))]),
        carried_load=np.array([carried.load(k + 1, each) for k, each in enumerate(needed)]),
    )


@frozen(eq=False)
class _Touch:
    """Rows of a contact's gap's rate and slip; body and frame that it pushes along `way`, driven if it can be."""

    row: Array
    across: Array
    way: Array
    body: str
    frame: int
    bodies: set[str]


def _stacked(each: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Arrays of instants as one, padded by zeros."""
    out = {}
    for name in each[0]:
        most = np.max([one[name].shape for one in each], axis=0)
        out[name] = np.array(
            [
                np.pad(one[name], [(0, m - n) for m, n in zip(most, one[name].shape, strict=True)])
                for one in each
            ]
        )
    return out


class WorldForces:
    """The forces of all bodies of a world at a state."""

    def __init__(self, simulation: Simulation, driven: tuple[str, ...]) -> None:
        self.simulation, self.driven = simulation, driven
        self.nv = simulation.state.v.size
        self.slices = {}
        first = 0
        for body in simulation.bodies:
            self.slices[body.name] = slice(first, first + body.nv)
            first += body.nv

    def is_driven(self) -> Array:
        out = np.zeros(self.nv)
        for name in self.driven:
            out[self.slices[name]] = 1.0
        return out

    def moved(self, state: State, displacement: Array) -> State:
        out = state.copy()
        for body, own, end in zip(self.simulation.bodies, state.body_states, out.body_states, strict=True):
            body.model.integrate(own, displacement[self.slices[body.name]], 1.0, own, end)
        return out

    def _inputs(self, u: Array) -> dict[str, Array]:
        given, first = {}, 0
        for body in self.simulation.bodies:
            given[body.name] = np.zeros(body.description.input_size)
        for name in self.driven:
            size = len(given[name])
            given[name], first = u[first : first + size], first + size
        return given

    def _mass_and_force(self, state: State, u: Array) -> tuple[Array, Array]:
        mass, force, given = np.zeros((self.nv, self.nv)), np.zeros(self.nv), self._inputs(u)
        for body, own in zip(self.simulation.bodies, state.body_states, strict=True):
            part, buffer = self.slices[body.name], body.model.new_mass_matrix()
            body.model.compute_mass_and_force(own, given[body.name], buffer, force[part])
            mass[part, part] = buffer.dense()
        return mass, force

    def force(self, state: State, u: Array) -> Array:
        """f of (1), shape (nv,)."""
        return self._mass_and_force(state, u)[1]

    def drive(self, state: State, u: Array) -> Array:
        """B of (1), shape (nv, m)."""
        force = self.force(state, u)
        return (
            np.array([self.force(state, u + more) - force for more in np.eye(len(u))]).reshape(-1, self.nv).T
        )

    def term_names(self, state: State, u: Array) -> tuple[str, ...]:
        return tuple(self._terms(state, u))

    def _terms(self, state: State, u: Array) -> dict[str, Array]:
        found, given = {}, self._inputs(u)
        for body, own in zip(self.simulation.bodies, state.body_states, strict=True):
            if body.abilities.force_terms is None:
                continue
            for name, part in body.abilities.force_terms.compute_force_terms(own, given[body.name]).items():
                found[f"{body.name}.{name}"] = np.zeros(self.nv)
                found[f"{body.name}.{name}"][self.slices[body.name]] = part
        return found

    def about(self, state: State, u: Array) -> dict[str, Array]:
        """The coefficients of (1) but J."""

        def terms(at: State) -> Array:
            return np.array(list(self._terms(at, u).values())).reshape(-1, self.nv)

        mass, force = self._mass_and_force(state, u)
        stiffness, damping = np.zeros((2, self.nv, self.nv))
        drive, parts = self.drive(state, u), terms(state)
        slopes = np.zeros((len(parts), self.nv, self.nv))
        for i, step in enumerate(_DISPLACED * np.eye(self.nv)):
            ends = [self.moved(state, sign * step) for sign in (1.0, -1.0)]
            forces = [self._mass_and_force(each, u)[1] for each in ends]
            stiffness[:, i] = (forces[1] - forces[0]) / (2.0 * _DISPLACED)
            slopes[:, :, i] = (terms(ends[0]) - terms(ends[1])) / (2.0 * _DISPLACED)
            for each, sign in zip(ends, (1.0, -1.0), strict=True):
                each.q[:], each.v[:] = state.q, state.v + sign * step
            forces = [self._mass_and_force(each, u)[1] for each in ends]
            damping[:, i] = (forces[1] - forces[0]) / (2.0 * _DISPLACED)
        return {
            "mass": mass, "force": force, "stiffness": stiffness, "damping": damping, "drive": drive,
            "terms": parts, "term_slopes": slopes,
        }  # fmt: skip

    def contacts(self, state: State) -> dict[str, Array]:
        """U, N and G of (1)."""
        found = self._touches(state)
        frames = sorted({(each.body, each.frame) for each in found if each.body in self.driven})
        unknown = [self.frame_jacobian(state, *each) for each in frames]
        pressing = np.zeros((len(found), sum(len(each) for each in unknown)))
        owners = [(each.body, each.frame) for each in found]
        for row, each, owner in zip(pressing, found, owners, strict=True):
            if owner in frames:
                first = 6 * frames.index(owner)
                row[first : first + 3] = each.way / owners.count(owner)
        normals = np.array([each.row for each in found]).reshape(-1, self.nv)
        return {
            "unknown": np.vstack([np.zeros((0, self.nv)), *unknown]),
            "normals": normals,
            "pressing": pressing,
        }

    def _touches(self, state: State) -> list[_Touch]:
        pipeline = self.simulation.system.pipeline
        count = 0 if pipeline is None else pipeline.detect_anew(state, pipeline.least_margin)
        if pipeline is None or not count:
            return []
        contacts, found = pipeline.contacts, []
        rows = pipeline.rows_at(state).toarray().reshape(count, pipeline.width, self.nv)
        for c in range(count):
            points = zip(contacts.frame[c], contacts.weight[c], strict=True)
            sides = [(*self._owner(int(frame)), weight) for frame, weight in points if frame >= 0]
            body, frame, weight = next((each for each in sides if each[0] in self.driven), sides[0])
            way = np.sign(weight) * contacts.normal[c]
            found.append(_Touch(rows[c, 0], rows[c, 1:], way, body, frame, {name for name, *_ in sides}))
        return found

    def sticking(self, state: State) -> Array:
        """N of the contacts of driven bodies that do not slip, shape (c, nv)."""
        rows = [
            each.row
            for each in self._touches(state)
            if each.body in self.driven and np.linalg.norm(each.across @ state.v) <= _STICKS
        ]
        return np.array(rows).reshape(-1, self.nv)

    def touching_frame(self, state: State, name: str) -> tuple[str, int] | None:
        """Driven body and frame of the first that touches a body."""
        found = (each for each in self._touches(state) if each.body in self.driven and name in each.bodies)
        first = next(found, None)
        return None if first is None else (first.body, first.frame)

    def _owner(self, frame: int) -> tuple[str, int]:
        body = next(each for each in reversed(self.simulation.bodies) if each.first_frame <= frame)
        return body.name, frame - body.first_frame

    def place(self, name: str, state: State) -> Array:
        """Origin of the first frame of a body [m]."""
        body = self.simulation.body(name)
        count = len(body.description.frames)
        places = np.zeros((count, 3))
        body.model.compute_frame_poses(state.body_states[body.index], places, np.zeros((count, 3, 3)))
        return places[0]

    def stands(self, name: str, state: State) -> bool:
        """Whether the first frame of a body has a place that no coordinate moves."""
        ends = [self.moved(state, _CARRIED * each) for each in np.eye(self.nv)]
        return all(np.allclose(self.place(name, end), self.place(name, state), atol=1e-9) for end in ends)

    def frame_jacobian(self, state: State, name: str, frame: int) -> Array:
        """J_F of (2), shape (6, nv)."""
        body = self.simulation.body(name)
        model, width = body.abilities.point_jacobian, body.description.jacobian_width
        assert model is not None  # a shape of it touches
        local = np.vstack([np.zeros(3), np.eye(3)])
        dofs, values = np.zeros((4, width), dtype=np.int64), np.zeros((4, 3, width))
        own = state.body_states[body.index]
        model.compute_point_jacobians(own, np.full(4, frame), local, dofs, values)
        rows = np.zeros((4, 3, self.nv))
        for row, index, each in zip(rows, dofs + self.slices[name].start, values, strict=True):
            np.add.at(row.T, index, each.T)
        count = len(body.description.frames)
        axes = np.zeros((count, 3, 3))
        body.model.compute_frame_poses(own, np.zeros((count, 3)), axes)
        # of axes aᵢ that turn with ω, Σ aᵢ × (ω × aᵢ) = 2·ω
        turning = 0.5 * sum(np.cross(axes[frame][:, i], (rows[i + 1] - rows[0]).T).T for i in range(3))
        return np.vstack([rows[0], turning])


class _Carried:
    """(2) along a motion, for the frame that touches the object, or touches it next where none does."""

    def __init__(self, world: WorldForces, states: Sequence[State], name: str) -> None:
        self._world, self._states = world, states
        touching = [world.touching_frame(each, name) if name else None for each in states]
        known = next((each for each in touching if each is not None), None)
        self.name = name if known is not None else ""
        self.place = world.place(name, states[0]) if self.name else np.zeros(3)
        self._touching = []
        for each in touching:
            known = each or known
            self._touching.append(known)

    def _jacobian(self, k: int, displacement: Array | None = None) -> Array:
        touching = self._touching[k]
        assert touching is not None
        state = self._states[k]
        state = state if displacement is None else self._world.moved(state, displacement)
        return self._world.frame_jacobian(state, *touching)

    def shift(self, k: int) -> Array:
        """S at an instant, shape (nv, 3)."""
        if not self.name:
            return np.zeros((self._world.nv, 3))
        return np.asarray(np.linalg.pinv(self._jacobian(k))[:, :3], dtype=np.float64)

    def load(self, k: int, needed: Array) -> Array:
        """L at an instant, where a force on the coordinates is the contact's, shape (nv, 3)."""
        out = np.zeros((self._world.nv, 3))
        if not self.name:
            return out
        force = np.linalg.lstsq(self._jacobian(k).T, needed, rcond=None)[0]
        for i, step in enumerate(_CARRIED * self.shift(k).T):
            ends = [self._jacobian(k, sign * step).T @ force for sign in (1.0, -1.0)]
            out[:, i] = (ends[0] - ends[1]) / (2.0 * _CARRIED)
        return out
