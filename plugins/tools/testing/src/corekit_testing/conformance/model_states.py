"""States at which a model is looked at, and the session of questions put to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.registry.resolve import load_target
from corekit.roles.model import Model
from corekit_testing.conformance.subject import Answer, Session, Subject, skew_context, structured

__all__ = [
    "ModelSession",
    "Probe",
    "directions",
    "displacement_scales",
    "extent",
    "model_states",
    "moved",
    "new_state",
    "points_of",
    "random_motions",
    "rest_state",
]

_ALL_DIRECTIONS = 24
_FAR = 4.0
"""How many times farther than the others the last state is displaced: angles by more than one radian."""
_POINTS = 24
"""Points to compute at least, several of one frame among them: as many as a body in contact everywhere has."""
"""Models with at most this many velocities are looked at in every direction, larger ones in random ones."""


def new_state(model: Model) -> State:
    """A zeroed state of a model."""
    description = model.description
    return State.zeros(len(description.coordinates), len(description.velocities), description.aux)


def extent(model: Model, rest: State) -> float:
    """How large the model is [m], by its outline; at least 0.1."""
    points = model.compute_outline(rest).points
    away = points - points.mean(axis=0) if len(points) else points
    return max(0.1, float(np.max(np.linalg.norm(away, axis=1), initial=0.0)))


def displacement_scales(model: Model, rest: State) -> Array:
    """A moderate displacement of each velocity's own coordinate, by its unit, shape (nv,)."""
    size = extent(model, rest)
    known = {"m/s": 0.05 * size, "rad/s": 0.3, "rad/(m·s)": 0.3 / size, "1/(m·s)": 0.3 / size}
    return np.array([known.get(velocity.unit, 0.1) for velocity in model.description.velocities])


def model_states(subject: Subject, model: Model, count: int = 3) -> list[State]:
    """Seeded states: the rest state displaced by `advance`, moving; or those that the subject gives.

    Then one moving through the place of rest, where series replace quotients, and one bent far.
    Displacements are normal with 5 % of the model's size for lengths, 0.3 rad for angles, 0.3/size for
    curvatures and 0.1 for others, times `spread`; velocities are four times that a second.
    """
    random = np.random.default_rng(1)
    if callable(subject.states):
        return [subject.states(model, random) for _ in range(count)]
    if subject.states is not None:
        cls = load_target(subject.spec.initial or "")
        found = []
        for table in subject.states:
            state = new_state(model)
            model.compute_initial_state(structured(cls, table, "states"), state)
            found.append(state)
        return found
    rest = rest_state(model)
    found = []
    for displacement, velocity in random_motions(subject, model, rest, count):
        state = moved(model, rest, displacement, 1.0)
        state.v[:] = velocity
        found.append(state)
    (near, velocity), *_ = random_motions(subject, model, rest, 1)
    far = _FAR * subject.spread * displacement_scales(model, rest) * np.sign(near)
    for displacement in (np.zeros_like(near), far):
        state = moved(model, rest, displacement, 1.0)
        state.v[:] = velocity
        found.append(state)
    return found


def rest_state(model: Model) -> State:
    """The rest state."""
    rest = new_state(model)
    model.compute_initial_state(None, rest)
    return rest


def random_motions(subject: Subject, model: Model, rest: State, count: int = 3) -> list[tuple[Array, Array]]:
    """Seeded displacements of the rest state, and velocities, of the sizes of `model_states`."""
    random = np.random.default_rng(1)
    scale = subject.spread * displacement_scales(model, rest)
    return [
        (scale * random.normal(size=scale.size), 4.0 * scale * random.normal(size=scale.size))
        for _ in range(count)
    ]


def moved(model: Model, start: State, velocity: Array, step: float) -> State:
    """advance(start, velocity, step) as a new state, with the start's velocity and time."""
    out = start.copy()
    model.integrate(start, velocity, step, start, out)
    return out


def directions(model: Model, state: State) -> Array:
    """Displacements to differentiate along, shape (k, nv): every coordinate's own, or random mixtures."""
    scale = displacement_scales(model, state)
    if scale.size <= _ALL_DIRECTIONS:
        return np.diag(scale)
    return np.random.default_rng(2).normal(size=(_ALL_DIRECTIONS, scale.size)) * scale


def points_of(model: Model, size: float) -> tuple[IntArray, Array]:
    """A few frames, the last among them, each with several points off its origin."""
    count = len(model.description.frames)
    chosen = np.unique(np.linspace(0, count - 1, min(count, 6)).round().astype(np.int64))
    frame = np.tile(chosen, -(-_POINTS // max(1, len(chosen))))
    return frame, np.random.default_rng(3).normal(size=(len(frame), 3)) * 0.2 * size


class Probe:
    """A model with its answers as new arrays.

    Args:
        subject: what is checked.
        context: base and gravity; None: askew.
    """

    def __init__(self, subject: Subject, context: Any = None) -> None:
        self.subject = subject
        self.model: Any = subject.build(context or skew_context())
        self.description = self.model.description
        self.inputs = np.random.default_rng(4).normal(size=self.description.input_size)
        self.states = model_states(subject, self.model)

    def mass(self, state: State) -> Array:
        """M, shape (nv, nv)."""
        mass = self.model.new_mass_matrix()
        self.model.compute_mass_and_force(state, self.inputs, mass, np.zeros(state.v.size))
        return mass.dense()

    def force(self, state: State, inputs: Array | None = None) -> Array:
        """f, shape (nv,)."""
        force = np.full(state.v.size, np.nan)
        given = self.inputs if inputs is None else inputs
        self.model.compute_mass_and_force(state, given, self.model.new_mass_matrix(), force)
        return force

    def inertial_terms(self, state: State) -> float:
        """Size of the inertial terms in f, which cancel but for rounding in a link that turns in balance."""
        return float(np.abs(self.mass(state)).max(initial=0.0) * np.abs(state.v).max(initial=0.0) ** 2)

    def reach(self, state: State) -> float:
        """Size of places and turns, whose differences are rows that cancel where a loop closes nothing."""
        return 1.0 + float(np.abs(self.poses(state)[0]).max(initial=0.0))

    def tangent(self, state: State) -> tuple[Array, Array]:
        """K and D."""
        stiffness, damping = self.model.new_stiffness_and_damping()
        self.model.compute_stiffness_and_damping(state, self.inputs, stiffness, damping)
        return stiffness.dense(), damping.dense()

    def balance(self, state: State, acceleration: Array, mass: Any = None) -> Array:
        """f − M·w, shape (nv,)."""
        out = np.full(state.v.size, np.nan)
        self.model.compute_dynamics_residual(state, self.inputs, acceleration, out, mass)
        return out

    def poses(self, state: State) -> tuple[Array, Array]:
        """Positions and rotations of the frames."""
        count = len(self.description.frames)
        position, rotation = np.full((count, 3), np.nan), np.full((count, 3, 3), np.nan)
        self.model.compute_frame_poses(state, position, rotation)
        return position, rotation

    def points(self, state: State, frame: IntArray, local: Array) -> Array:
        """World places of points fixed in frames, shape (c, 3)."""
        position, rotation = self.poses(state)
        return position[frame] + np.einsum("cij,cj->ci", rotation[frame], local)

    def rows(self, state: State, frame: IntArray, local: Array) -> Array:
        """Carrier rows as a dense array, shape (c, 3, nv)."""
        k, n = self.description.jacobian_width, len(self.description.velocities)
        dofs = np.zeros((len(frame), k), dtype=np.int64)
        values = np.full((len(frame), 3, k), np.nan)
        self.model.compute_point_jacobians(state, frame, local, dofs, values)
        dense = np.zeros((len(frame), 3, n))
        for c in range(len(frame)):
            for j in range(k):
                dense[c, :, dofs[c, j]] += values[c, :, j]
        return dense

    def bilateral(self, state: State) -> Any:
        """The bilateral rows."""
        rows = self.model.new_constraints()
        self.model.compute_constraints(state, self.inputs, rows)
        return rows

    def along(
        self, state: State, direction: Array, ask: Callable[[State], Array]
    ) -> Callable[[float], Array]:
        """s ↦ ask(advance(state, s·direction, 1))."""
        return lambda s: ask(moved(self.model, state, s * direction, 1.0))


class ModelSession(Session):
    """Every question of the model role and of the declared abilities, at one state after the other."""

    questions = 5

    def __init__(self, subject: Subject, component: Any, *, reuse: bool = False) -> None:
        super().__init__(subject, component, reuse=reuse)
        self._model = component
        self._states = model_states(subject, self._model)
        description = self._model.description
        self._inputs = np.random.default_rng(4).normal(size=description.input_size)
        self._frame, self._local = points_of(self._model, 1.0)

    def ask(self, index: int) -> Answer:
        model, description, can = self._model, self._model.description, self.subject.spec.provides
        state, inputs = self._states[index % len(self._states)].copy(), self._inputs.copy()
        velocity, frame, local = state.v.copy(), self._frame.copy(), self._local.copy()
        handed = {
            "q": state.q, "v": state.v, "aux": state.aux, "inputs": inputs,
            "velocity": velocity, "frame": frame, "local": local,
        }  # fmt: skip
        before = {name: values.copy() for name, values in handed.items()}
        n, f, c = len(description.velocities), len(description.frames), len(frame)
        found: dict[str, Array] = {}
        mass, force = self.buffer("mass", model.new_mass_matrix), self.buffer("force", lambda: np.zeros(n))
        model.compute_mass_and_force(state, inputs, mass, force)
        found |= {"mass": mass.data, "force": force}
        end = self.buffer("end", lambda: new_state(model))
        model.integrate(state, velocity, 1e-2, state, end)
        found |= {"advanced q": end.q, "advanced aux": end.aux}
        rest = self.buffer("rest", lambda: new_state(model))
        model.compute_initial_state(None, rest)
        found |= {"rest q": rest.q, "rest v": rest.v, "rest aux": rest.aux}
        position = self.buffer("position", lambda: np.zeros((f, 3)))
        rotation = self.buffer("rotation", lambda: np.zeros((f, 3, 3)))
        model.compute_frame_poses(state, position, rotation)
        outline = model.compute_outline(state)
        found |= {"position": position, "rotation": rotation}
        found |= {"outline": outline.points, "outline radius": outline.radius}
        if "prescribed" in can:
            count = len(description.prescribed_velocity_index)
            value, rate = (self.buffer(name, lambda: np.zeros(count)) for name in ("value", "rate"))
            model.compute_prescribed_motion(0.3, value, rate)
            found |= {"prescribed": value, "prescribed rate": rate}
        if "point-jacobian" in can and f:
            k = description.jacobian_width
            dofs = self.buffer("dofs", lambda: np.zeros((c, k), dtype=np.int64))
            values = self.buffer("values", lambda: np.zeros((c, 3, k)))
            model.compute_point_jacobians(state, frame, local, dofs, values)
            found |= {"dofs": dofs, "rows": values}
        if "force-derivatives" in can:
            stiffness, damping = self.buffer("stiffness and damping", model.new_stiffness_and_damping)
            model.compute_stiffness_and_damping(state, inputs, stiffness, damping)
            found |= {"stiffness": stiffness.data, "damping": damping.data}
        if "inverse-dynamics" in can:
            unbalanced = self.buffer("unbalanced", lambda: np.zeros(n))
            stiffness, damping = self.buffer("balance tangent", model.new_stiffness_and_damping)
            model.compute_dynamics_residual(state, inputs, velocity, unbalanced)
            model.compute_residual_derivatives(state, inputs, velocity, stiffness, damping)
            found |= {"unbalanced": unbalanced, "its stiffness": stiffness.data, "its damping": damping.data}
        if "constraints" in can:
            found |= self._bilateral(state, inputs)
        if "input-jacobian" in can and description.input_size:
            jacobian = self.buffer("input jacobian", lambda: np.zeros((n, description.input_size)))
            model.compute_input_jacobian(state, inputs, jacobian)
            found["input jacobian"] = jacobian
        if "energy" in can:
            found["energy"] = np.array(model.compute_energies(state))
        if "force-terms" in can:
            found |= {f"term {name}": term for name, term in model.compute_force_terms(state, inputs).items()}
        return Answer({name: (before[name], values) for name, values in handed.items()}, found)

    def _bilateral(self, state: State, inputs: Array) -> dict[str, Array]:
        rows = self.buffer("constraints", self._model.new_constraints)
        self._model.compute_constraints(state, inputs, rows)
        found = {
            "J_b": rows.values, "J_b dofs": rows.dofs, "constraint": rows.position_error, "target": rows.target_rate,
            "compliance": rows.compliance, "lower": rows.lower, "upper": rows.upper,
        }  # fmt: skip
        if rows.count and "force-derivatives" in self.subject.spec.provides:
            out = self.buffer("curvature", lambda: self._model.new_stiffness_and_damping()[0])
            self._model.compute_constraint_force_gradient(state, np.ones(rows.count), out)
            found["curvature"] = out.data
        return found
