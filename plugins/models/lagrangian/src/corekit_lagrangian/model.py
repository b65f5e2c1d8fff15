"""`LagrangianModel`, what an author derives from, and the model of equations that a scenario names.

    class Pendulum(LagrangianModel):
        def define(self, system, option):
            q, v = system.coordinates("angle")
            bob = [option.length * ca.sin(q), 0, -option.length * ca.cos(q)]
            system.mass(option.mass, bob)
            system.shape("sphere", [0.02], system.frame("bob", bob))

is a whole model: numbers among the options become parameters of its expressions, `tape` computes them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from traceback import extract_tb
from typing import Any, Self, final

import casadi as ca
import numpy as np
from attrs import evolve

from corekit.data.arrays import Array, IntArray
from corekit.data.state import State
from corekit.errors import ConfigError, CorekitError, Mistake
from corekit.geometry.frames import Pose
from corekit.linalg.matrices import Dense, Matrix
from corekit.roles.code import import_function
from corekit.roles.component import BuildContext
from corekit.roles.model import Model, ModelDescription, Outline
from corekit.roles.surface_speeds import surface_speeds
from corekit_lagrangian.config import LagrangianInitial, NamedConfig
from corekit_lagrangian.equations import derive
from corekit_lagrangian.moving_base import AXES, BASE, MovingBase
from corekit_lagrangian.option_symbols import OptionSymbols
from corekit_lagrangian.programs import programs_of
from corekit_lagrangian.symbolic import SymbolicEquations
from corekit_lagrangian.system import System
from corekit_lagrangian.tape import Tape
from corekit_lagrangian.tape_kernel import place_points

__all__ = ["LagrangianModel", "NamedModel"]

_NO_NUMBERS = np.zeros(0)


class LagrangianModel(Model):
    """A model from energies. Derive from it, write `define`, and copy the abilities of this plugin's spec into its own.

    Args:
        config: the attrs class of its options. Every `float` and every tuple of them becomes a parameter, which
            `define` finds as a symbol under its name; anything else it finds as it is.
        context: base pose and gravity, and whether the base moves.
    """

    def __init__(self, config: Any, context: BuildContext | None = None) -> None:
        context = context or BuildContext()
        owner = context.path or type(self).__name__
        self._path = owner
        option = OptionSymbols(config)
        system = System(owner, context.gravity, context.base, moving=context.free_base)
        self.define(system, option.found)
        self._moves, self._base = system.base is not None, context.base
        symbols = ca.vertcat(option.symbols, system.base.axes) if system.base else option.symbols
        self._system, self._symbols = system, symbols
        self._terms, programs = programs_of(system, symbols)
        self._option, self._p = option, option.values
        if self._moves:
            self._p = np.concatenate([option.values, context.base.rotation.ravel()])
        self._n = n = system.q.numel()
        self._rest = np.array(system.rest)
        self._description = _description(system, context)
        self._mass_and_force, self._tangent = Tape(programs["mass and force"]), Tape(programs["tangent"])
        self._residual = Tape(programs["residual"])
        self._residual_tangent = Tape(programs["residual's tangent"])
        self._input_jacobian = Tape(programs["input jacobian"])
        self._energies, self._force_terms = Tape(programs["energies"]), Tape(programs["force terms"])
        self._poses, self._slopes = Tape(programs["frames"]), Tape(programs["point jacobians"])
        self._slope = np.zeros((len(system.frames), 4, 3, n))
        self._lines = [(line.shape[1], radius) for line, radius in system.lines]
        self._outline = Tape(programs["outline"])
        self._description = evolve(self._description, velocity_scale=surface_speeds(self))
        if self._moves:
            self._check_mass()

    @abstractmethod
    def define(self, system: System, option: Any) -> None:
        """Write the equations: coordinates, energies, forces, frames and shapes of `system`.

        Args:
            option: the options by name; numbers are symbols, `option.number("radius")` is one of them as a number.
        """

    def _check_mass(self) -> None:
        """Refuse a base whose motion meets no inertia, in the rest state."""
        state, mass = (
            State(self._rest, np.zeros(self._n), self._base.rotation.ravel()),
            self.new_mass_matrix(),
        )
        self.compute_mass_and_force(state, np.zeros(self._description.input_size), mass, np.zeros(self._n))
        M = mass.dense()
        scale = np.sqrt(np.maximum(np.diag(M), 1e-12 * np.trace(M)))  # of units alone
        if np.isfinite(M).all() and np.linalg.eigvalsh(M / np.outer(scale, scale))[0] < 1e-9:
            allowed = (
                "needs inertia against every motion of its own: write a system.body that does not move in it, "
                "the link on which the first joint stands"
            )
            raise ConfigError([Mistake(f"{self._path}.base", "a base that moves", allowed)], self._path)

    @property
    def description(self) -> ModelDescription:
        return self._description

    def with_numbers(self, config: Any) -> Self | None:
        """The same equations with other numbers; None where the base moves, or `define` read what differs."""
        option = None if self._moves else self._option.with_numbers(config)
        if option is None:
            return None
        other = copy(self)
        vars(other).update(_option=option, _p=option.values)
        return other

    def compute_initial_state(self, initial: LagrangianInitial | None, out: State) -> None:
        out.q[:], out.v[:] = self._rest, 0.0
        if self._moves:
            out.aux[:] = self._base.rotation.ravel()
        if initial is None:
            return
        own = BASE if self._moves else 0
        given = {
            "coordinates": (initial.coordinates, out.q[own:]),
            "velocities": (initial.velocities, out.v[own:]),
        }
        count = self._n - own
        wrong = [
            Mistake(
                f"{self._path}.initial.{name}", numbers, f"one number for each of the {count} coordinates"
            )
            for name, (numbers, _) in given.items()
            if numbers and len(numbers) != count
        ]
        if wrong:
            raise ConfigError(wrong, "the initial state")
        for numbers, place in given.values():
            if numbers:
                place[:] = numbers

    def new_mass_matrix(self) -> Matrix:
        return Dense(self._n)

    def _compute(
        self,
        tape: Tape,
        state: State,
        inputs: Array,
        first: Array,
        second: Array = _NO_NUMBERS,
        w: Array = _NO_NUMBERS,
    ) -> None:
        if self._moves:
            self._p[-AXES:] = state.aux
        tape(state.q, state.v, inputs, w, self._p, first, second)

    def place_base(
        self, state: State, position: Array, rotation: Array, velocity: Array, angular_velocity: Array
    ) -> None:
        """Write pose and twist of `moving_base`."""
        MovingBase.place(state, Pose(position, rotation), velocity, angular_velocity)

    def reparametrise(self, state: State) -> bool:
        """Count turns of a moving base from its present axes once it turned far."""
        return self._moves and MovingBase.recentre(state)

    def compute_mass_and_force(self, state: State, inputs: Array, mass: Matrix, force: Array) -> None:
        self._compute(self._mass_and_force, state, inputs, mass.data, force)

    def integrate(self, start: State, velocity: Array, step: float, previous: State, out: State) -> None:
        np.multiply(velocity, step, out=out.q)
        out.q += start.q
        out.aux[:] = start.aux

    def compute_frame_poses(self, state: State, position: Array, rotation: Array) -> None:
        self._compute(self._poses, state, _NO_NUMBERS, position, rotation)

    def compute_point_jacobians(
        self, state: State, frame: IntArray, local: Array, dofs: IntArray, values: Array
    ) -> None:
        self._compute(self._slopes, state, _NO_NUMBERS, self._slope)
        place_points(self._slope, frame, local, dofs, values)

    def compute_outline(self, state: State) -> Outline:
        if not self._lines:
            count = len(self._description.frames)
            position, rotation = np.zeros((count, 3)), np.zeros((count, 3, 3))
            self.compute_frame_poses(state, position, rotation)
            points = position if self._moves else np.vstack([self._base.position, position])
            return Outline(points=points, radius=np.full(len(points), 0.01))
        counts = np.array([count for count, _ in self._lines])
        points = np.zeros((counts.sum(), 3))
        self._compute(self._outline, state, _NO_NUMBERS, points)
        radius = np.repeat([radius for _, radius in self._lines], counts)
        return Outline(points, radius, starts=np.cumsum(counts) - counts)

    def new_stiffness_and_damping(self) -> tuple[Matrix, Matrix]:
        return Dense(self._n), Dense(self._n)

    def compute_stiffness_and_damping(
        self, state: State, inputs: Array, stiffness: Matrix, damping: Matrix
    ) -> None:
        self._compute(self._tangent, state, inputs, stiffness.data, damping.data)

    def compute_dynamics_residual(
        self, state: State, inputs: Array, acceleration: Array, out: Array, mass: Matrix | None = None
    ) -> None:
        used = self.new_mass_matrix() if mass is None else mass
        self._compute(self._residual, state, inputs, out, used.data, w=acceleration)

    def compute_residual_derivatives(
        self,
        state: State,
        inputs: Array,
        acceleration: Array,
        stiffness: Matrix,
        damping: Matrix,
        impulse: Array | None = None,
    ) -> None:
        self._compute(self._residual_tangent, state, inputs, stiffness.data, damping.data, w=acceleration)

    def compute_input_jacobian(self, state: State, inputs: Array, out: Array) -> None:
        found = np.zeros(out.shape)
        self._compute(self._input_jacobian, state, inputs, found)
        out[:] = found

    def compute_energies(self, state: State) -> tuple[float, float]:
        found = np.zeros(2)
        self._compute(self._energies, state, _NO_NUMBERS, found)
        return float(found[0]), float(found[1])

    def compute_force_terms(self, state: State, inputs: Array) -> Mapping[str, Array]:
        found = np.zeros((len(self._terms), self._n))
        self._compute(self._force_terms, state, inputs, found)
        return dict(zip(self._terms, found, strict=True))

    def symbolic(self) -> SymbolicEquations:
        """The same equations as CasADi expressions.

        Raises:
            ConfigError: the base moves.
        """
        if self._moves:
            allowed = "must stand for CasADi expressions"
            raise ConfigError([Mistake(f"{self._path}.base", "a base that moves", allowed)], self._path)
        return SymbolicEquations(derive(self._system, self._symbols), self._option.parameters)


def _description(system: System, context: BuildContext) -> ModelDescription:
    """What is constant about a system on a base."""
    base = context.base
    axes = base.rotation[:, [0, 2]].T
    return ModelDescription(
        coordinates=tuple(system.units),
        velocities=tuple(system.rates),
        inputs=tuple(system.channels),
        frames=tuple(system.frames),
        shapes=tuple(system.shapes),
        excluded_pairs=np.array(system.excluded, dtype=np.int64).reshape(-1, 2),
        self_contact=system.self_contact,
        aux=AXES if system.base else 0,
        jacobian_width=len(system.units),
        plane=np.vstack([base.position, axes]) if system.planar and not system.base else None,
    )


@final
class NamedModel(LagrangianModel):
    """The model of a Python function that a scenario names."""

    def __init__(self, config: NamedConfig, context: BuildContext | None = None) -> None:
        self._place = "" if context is None else f"{context.path}.options."
        self._define: Callable[[System, Any], None] = import_function(
            config.equations, f"{self._place}equations"
        )
        super().__init__(config, context)

    def define(self, system: System, option: Any) -> None:
        try:
            self._define(system, option.parameters)
        except CorekitError:
            raise
        except Exception as error:  # of the user's function, which no plugin is to blame for
            last = extract_tb(error.__traceback__)[-1]
            said = f"raised {type(error).__name__}: {error} (line {last.lineno} of {last.filename})"
            path = f"{self._place}equations"
            raise ConfigError([Mistake(path, option.equations, said)], "a Python function") from error
        if unasked := option.parameters.unasked():
            path = f"{self._place}parameters"
            said = f"{option.equations} reads no parameter of this name"
            raise ConfigError(
                [Mistake(f"{path}.{name}", value, said) for name, value in unasked.items()], path
            )
