"""The system in which an author writes equations: coordinates, energies, forces, frames and shapes.

Everything is written in the axes of the body's base, whose z axis points upwards unless a scenario turns it;
`system.gravity` is the gravitational acceleration in them. Expressions are CasADi's or, after `system.sympy`, SymPy's.

The same equations serve a base that moves (`moving_base`), if masses and bodies say what inertia and weight there is:
`system` then knows how they move in the world. Forces on coordinates act between the body and its base.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, final

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit.errors import ConfigError, Mistake, PluginError
from corekit.geometry.frames import Pose
from corekit.geometry.shapes import Shape
from corekit.roles.model import Channel, ChannelKind, Coordinate
from corekit_lagrangian.moving_base import BASE, MovingBase

__all__ = ["Expression", "System"]

Expression = Any
"""A CasADi SX or DM, a SymPy expression or matrix, a NumPy array or a number."""

_SYMPY_NAMES: Mapping[str, Any] = {
    **{name: getattr(ca, name) for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
        "log", "sqrt", "sign", "erf", "floor",
    )},
    "Abs": ca.fabs, "Max": ca.fmax, "Min": ca.fmin, "ceiling": ca.ceil, "pi": np.pi,
}  # fmt: skip


@final
class System:
    """What `LagrangianModel.define` fills.

    Args:
        owner: name of the model, for messages.
        gravity: gravitational acceleration in world axes [m/s²], shape (3,).
        base: where the base stands, or begins.
        moving: whether it moves.

    Attributes:
        base: the coordinates of a base that moves, or None.
        origin, turn: pose of the base in the world, expressions or numbers, (3, 1) and (3, 3).
    """

    def __init__(self, owner: str, gravity: Array, base: Pose | None = None, *, moving: bool = False) -> None:
        pose = base or Pose()
        self.owner, self._gravity = owner, gravity if moving else pose.rotation.T @ gravity
        self.base = MovingBase() if moving else None
        self.origin, self.turn = ca.DM(pose.position), ca.DM(pose.rotation)
        self.q, self.v, self.u = ca.SX(0, 1), ca.SX(0, 1), ca.SX(0, 1)
        self.units: list[Coordinate] = []
        self.rates: list[Coordinate] = []
        self.rest: list[float] = []
        self.channels: list[Channel] = []
        self.kinetic: Any = ca.SX(0)
        self.potentials: dict[str, Any] = {}
        self.rayleigh: Any = ca.SX(0)
        self.forces: dict[str, Any] = {}
        self.frames: dict[str, tuple[Any, Any]] = {}
        self.shapes: list[Shape] = []
        self.lines: list[tuple[Any, float]] = []
        self.excluded: list[tuple[int, int]] = []
        self.planar = False
        self.self_contact = False
        self._sympy: dict[Any, Any] = {}
        if self.base is not None:
            self.q, self.v = self.base.q, self.base.v
            self.origin, self.turn = self.base.origin, self.base.turn
            self.units, self.rates = list(self.base.coordinates), list(self.base.rates)
            self.rest = [*pose.position.tolist(), 0.0, 0.0, 0.0]
            self.frame("base", ca.SX.zeros(3))

    # — what there is —

    @property
    def gravity(self) -> Array:
        """Gravitational acceleration in the base's axes [m/s²], shape (3,).

        Raises:
            ConfigError: the base moves.
        """
        if self.base is not None:
            raise self._fixed("system.gravity changes with it: write weights by system.mass or system.body")
        return self._gravity

    def coordinates(self, *names: str, unit: str = "rad", rest: Sequence[float] = ()) -> tuple[Any, Any]:
        """Add coordinates; returns q and v = q̇ of these, columns.

        Args:
            names: one a coordinate.
            unit: of them, `rad` or `m`.
            rest: where they are when a scenario says nothing; 0 without it.
        """
        known = {each.name for each in self.units}
        if not names or len({*names, *known}) < len(names) + len(known):
            raise self._wrong(f"coordinates {', '.join(names)}: give one name or more, each once")
        if rest and len(rest) != len(names):
            raise self._wrong(
                f"coordinates {', '.join(names)}: rest has {len(rest)} numbers for {len(names)} of them"
            )
        q = ca.vertcat(*[ca.SX.sym(name) for name in names])
        v = ca.vertcat(*[ca.SX.sym(f"{name}_rate") for name in names])
        self.q, self.v = ca.vertcat(self.q, q), ca.vertcat(self.v, v)
        self.units += [Coordinate(name, unit) for name in names]
        self.rates += [Coordinate(f"{name}-rate", f"{unit}/s") for name in names]
        self.rest += [float(number) for number in rest or [0.0] * len(names)]
        return q, v

    def input(
        self,
        name: str,
        unit: str,
        size: int = 1,
        *,
        lower: float = -math.inf,
        upper: float = math.inf,
        sign: str = "",
    ) -> Any:
        """Add an input channel of efforts; returns its symbols, a column.

        Args:
            name, unit, size: of the channel.
            lower, upper, sign: bounds of every number and what a positive one does, as in `Channel`.
        """
        if size < 1 or name in {channel.name for channel in self.channels}:
            raise self._wrong(f"input {name}: give a size of 1 or more, and each name once")
        if not lower < upper:
            raise self._wrong(
                f"input {name}: its lower bound {lower:g} is not below the upper one, {upper:g}"
            )
        u = ca.SX.sym(name, size)
        self.u = ca.vertcat(self.u, u)
        self.channels.append(Channel(name, unit, size, ChannelKind.EFFORT, lower, upper, sign))
        return u

    # — kinematics —

    def velocity(self, x: Expression) -> Any:
        """ẋ = ∂x/∂q·v of an expression of the coordinates, in its shape."""
        x = self.casadi(x)
        return ca.reshape(ca.jtimes(ca.vec(x), self.q, self.v), x.shape)

    def angular_velocity(self, rotation: Expression) -> Any:
        """ω of a rotation (3, 3) in its own axes, from Rᵀ·Ṙ = ω×, shape (3, 1) [rad/s]."""
        rotation = self.casadi(rotation)
        spin = rotation.T @ self.velocity(rotation)
        return ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])

    # — energies and forces —

    def kinetic_energy(self, energy: Expression) -> None:
        """Add a kinetic energy T(q, v) [J], quadratic in v.

        Raises:
            ConfigError: the base moves, and T(q, v) does not know how.
        """
        if self.base is not None:
            raise self._fixed("a kinetic energy counts its motion too: write system.mass or system.body")
        self._add_kinetic(energy)

    def _add_kinetic(self, energy: Expression) -> None:
        self.kinetic += self._scalar("kinetic energy", energy)

    def potential_energy(self, energy: Expression, name: str = "potential") -> None:
        """Add a potential energy V(q) [J]; its force −∂V/∂q is recorded under its name."""
        value = self._scalar(f"potential energy {name}", energy)
        if ca.depends_on(value, ca.vertcat(self.v, self.u)):
            raise self._wrong(
                f"potential energy {name} depends on velocities or inputs: give a force or dissipation"
            )
        self.potentials[name] = self.potentials.get(name, 0) + value

    def dissipation(self, power: Expression) -> None:
        """Add a Rayleigh function R(q, v) [W], whose force is −∂R/∂v: ½·d·v² for a damper."""
        self.rayleigh += self._scalar("dissipation", power)

    def force(self, force: Expression, name: str = "force") -> None:
        """Add generalised forces Q(q, v, u), one a coordinate."""
        value, base = self.casadi(force), 0 if self.base is None else BASE
        count = self.q.numel() - base
        if value.shape != (count, 1):
            raise self._wrong(f"force {name} has shape {value.shape}, there are {count} coordinates")
        self._add_force(ca.vertcat(ca.SX.zeros(base), value), name)

    def _add_force(self, value: Any, name: str) -> None:
        self.forces[name] = self.forces.get(name, 0) + value

    def force_at(self, point: Expression, force: Expression, name: str = "force") -> None:
        """Add a force (3, 1) [N] on a point (3, 1) [m]: Q = (∂x/∂q)ᵀ·F."""
        place, pull = self._vector(f"point of force {name}", point), self._vector(f"force {name}", force)
        if self.base is not None:
            place, pull = self.origin + self.turn @ place, self.turn @ pull
        self._add_force(ca.jacobian(place, self.q).T @ pull, name)

    def mass(self, mass: Expression, position: Expression) -> None:
        """Add a point mass [kg] at a position (3, 1) [m]: T = ½·m·|ẋ|², V = −m·g·x."""
        place, amount = self._vector("position of a mass", position), self._scalar("mass", mass)
        speed, weight = self.velocity(place), ca.DM(self._gravity)
        height = ca.dot(weight, place)
        if self.base is not None:
            speed += self.base.velocity + ca.cross(self.base.spin, place)
            height = ca.dot(weight, self.origin) + ca.dot(self.turn.T @ weight, place)
        self._add_kinetic(0.5 * amount * ca.dot(speed, speed))
        self.potential_energy(-amount * height, "gravity")

    def body(self, mass: Expression, inertia: Expression, position: Expression, rotation: Expression) -> None:
        """Add a rigid body: a mass at its centre, and T = ½·ωᵀ·I·ω.

        Args:
            mass: [kg]. inertia: about the centre in the rotation's axes, (3,) or (3, 3) [kg·m²].
            position: of the centre, (3, 1) [m]. rotation: (3, 3).
        """
        self.mass(mass, position)
        tensor = self.casadi(inertia)
        spin = self.angular_velocity(rotation)
        if self.base is not None:
            spin += self.casadi(rotation).T @ self.base.spin
        turned = tensor @ spin if tensor.shape == (3, 3) else self._vector("inertia", tensor) * spin
        self._add_kinetic(0.5 * ca.dot(spin, turned))

    # — frames, shapes, outline —

    def frame(self, name: str, position: Expression, rotation: Expression | None = None) -> int:
        """Add a frame that carries shapes and points of interest; returns its index.

        Args:
            position: of its origin, (3, 1) [m]. rotation: its axes as columns, (3, 3); those of the base without it.
        """
        if name in self.frames:
            raise self._wrong(f"there are two frames {name}")
        turn = ca.SX(np.eye(3)) if rotation is None else self.casadi(rotation)
        if turn.shape != (3, 3):
            raise self._wrong(f"the rotation of frame {name} has shape {turn.shape}, not (3, 3)")
        self.frames[name] = self._vector(f"position of frame {name}", position), turn
        return len(self.frames) - 1

    def shape(
        self,
        kind: str,
        size: Sequence[float],
        frame: int,
        offset: Pose | None = None,
        friction: float | None = None,
    ) -> int:
        """Add a collision shape on a frame; returns its index. Sizes are numbers: `system.number(option.radius)`."""
        made = Shape(kind, tuple(size), frame=frame, offset=offset or Pose(), friction=friction)
        if not 0 <= frame < len(self.frames):
            raise self._wrong(f"shape {kind} stands on frame {frame}; there are {len(self.frames)} so far")
        self.shapes.append(made)
        return len(self.shapes) - 1

    def never_touch(self, one: int, other: int) -> None:
        """Two of its own shapes, by index, that are never tested."""
        self.excluded.append((min(one, other), max(one, other)))

    def outline(self, points: Sequence[Expression], radius: float) -> None:
        """Draw a line of a radius [m] through points (3, 1) [m]; without any a line joins the frames."""
        self.lines.append(
            (ca.horzcat(*[self._vector("point of an outline", each) for each in points]), radius)
        )

    # — SymPy —

    def sympy(self, *expressions: Any) -> Any:
        """SymPy symbols for symbols of the system or options: a matrix for a column, nested as they are given."""
        import sympy

        def convert(given: Any) -> Any:
            if isinstance(given, (tuple, list)):
                return tuple(convert(each) for each in given)
            if not isinstance(given, ca.SX):
                return given
            symbols = [self._sympy_symbol(entry) for entry in ca.vertsplit(given)]
            return symbols[0] if len(symbols) == 1 else sympy.Matrix(symbols)

        found = tuple(convert(each) for each in expressions)
        return found[0] if len(found) == 1 else found

    def _sympy_symbol(self, entry: Any) -> Any:
        """The one symbol of SymPy for a symbol of CasADi; names are no identity: an option may have a coordinate's."""
        import sympy

        for symbol, known in self._sympy.items():
            if ca.is_equal(known, entry):
                return symbol
        symbol = sympy.Dummy(entry.name(), real=True)
        self._sympy[symbol] = entry
        return symbol

    def casadi(self, expression: Expression) -> Any:
        """An expression of either kind as CasADi's SX."""
        if isinstance(expression, (list, tuple)):
            return ca.vertcat(*[self.casadi(each) for each in expression])
        if not hasattr(expression, "free_symbols"):
            return ca.SX(expression)
        import sympy

        matrix = sympy.Matrix(expression) if hasattr(expression, "shape") else sympy.Matrix([[expression]])
        unknown = [str(each) for each in matrix.free_symbols if each not in self._sympy]
        if unknown:
            raise self._wrong(
                f"{', '.join(sorted(unknown))}: symbols of SymPy that `system.sympy` did not give"
            )
        known = list(self._sympy)
        entries = sympy.lambdify(known, matrix.flat(), modules=[dict(_SYMPY_NAMES)], cse=True)(
            *self._sympy.values()
        )
        return ca.reshape(ca.vertcat(*[ca.SX(entry) for entry in entries]), matrix.cols, matrix.rows).T

    # — checks —

    def _scalar(self, what: str, expression: Expression) -> Any:
        value = self.casadi(expression)
        if value.numel() != 1:
            raise self._wrong(f"{what} has shape {value.shape}; it is one number")
        return value

    def _vector(self, what: str, expression: Expression) -> Any:
        value = self.casadi(expression)
        if value.numel() != 3:
            raise self._wrong(f"{what} has shape {value.shape}; it has three numbers, in the base's axes")
        return ca.vec(value)

    def _fixed(self, said: str) -> ConfigError:
        allowed = f"must stand for these equations; {said}"
        return ConfigError([Mistake(f"{self.owner}.base", "a base that moves", allowed)], self.owner)

    def _wrong(self, said: str) -> PluginError:
        return PluginError(f"{self.owner}: {said}")
