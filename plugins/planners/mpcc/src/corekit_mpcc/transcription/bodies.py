"""Stacked bodies as expressions: models with the ability `symbolic`, q̇ = v and inputs that are efforts.

    M(q)·v̇ = f(q, v, u) + Q,   M·x = ∂T(q, x)/∂x   with T the kinetic energy                    (1)

so the mass matrix is never formed: its product needs one forward and one reverse sweep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.errors import CompositionError
from corekit.roles.model import ChannelKind, Model, ModelDescription

__all__ = ["Bodies"]

_SCALE = {"m": 0.1, "m/s": 0.1, "rad": 1.0, "rad/s": 1.0, "N": 10.0, "N·m": 1.0}
"""Typical size of a quantity by its unit, equal to an NLP variable of 1."""


@frozen
class _Part:
    name: str
    description: ModelDescription
    symbolic: Any
    first_q: int
    first_u: int


@final
class Bodies:
    """Several stacked bodies.

    Args:
        models: body name → model.
    Raises:
        CompositionError: a model with nq ≠ nv, constraints, prescribed coordinates, auxiliary state, or inputs that
            are not efforts.
    """

    def __init__(self, models: Mapping[str, Model]) -> None:
        parts: list[_Part] = []
        nq = nu = 0
        for name, model in models.items():
            description = model.description
            _check_supported(name, description)
            symbolic: Any = model
            parts.append(_Part(name, description, symbolic.symbolic(), nq, nu))
            nq, nu = nq + len(description.coordinates), nu + description.input_size
        self._parts = tuple(parts)
        self.coordinates, self.inputs = nq, nu
        units = [each.unit for part in parts for each in part.description.coordinates]
        self.coordinate_scale = _scales(units)
        channels = [channel for part in parts for channel in part.description.inputs]
        self.input_scale = _scales([channel.unit for channel in channels for _ in range(channel.size)])

    @property
    def layouts(self) -> dict[str, ModelDescription]:
        """Body name → description."""
        return {part.name: part.description for part in self._parts}

    def slices(self, name: str) -> tuple[slice, slice]:
        """Return the slices of the coordinates and the inputs of a body."""
        part = self._part(name)
        nq, nu = len(part.description.coordinates), part.description.input_size
        return slice(part.first_q, part.first_q + nq), slice(part.first_u, part.first_u + nu)

    def multiply_mass(self, q: Any, x: Any) -> Any:
        """Return M(q)·x of (1), shape (nq, 1)."""
        rows = []
        for part, q_part, x_part in zip(self._parts, self._split(q), self._split(x), strict=True):
            v_part = ca.SX.sym("x", x_part.numel())
            momentum = ca.gradient(part.symbolic.kinetic_energy(q_part, v_part), v_part)
            rows.append(ca.substitute(momentum, v_part, x_part))
        return ca.vertcat(*rows)

    def force(self, q: Any, v: Any, u: Any) -> Any:
        """Return f(q, v, u), shape (nq, 1)."""
        rows = []
        for part, q_part, v_part in zip(self._parts, self._split(q), self._split(v), strict=True):
            rows.append(
                part.symbolic.force(
                    q_part, v_part, u[part.first_u : part.first_u + part.description.input_size]
                )
            )
        return ca.vertcat(*rows)

    def pose(self, q: Any, name: str, frame: int) -> tuple[Any, Any]:
        """Return world position (3, 1) [m] and rotation (3, 3) of a frame of a body."""
        part = self._part(name)
        nq = len(part.description.coordinates)
        return part.symbolic.pose(q[part.first_q : part.first_q + nq], frame)

    def _part(self, name: str) -> _Part:
        return next(part for part in self._parts if part.name == name)

    def _split(self, x: Any) -> list[Any]:
        return [x[part.first_q : part.first_q + len(part.description.coordinates)] for part in self._parts]


def _scales(units: Sequence[str]) -> Array:
    return np.array([_SCALE.get(unit, 1.0) for unit in units])


def _check_supported(name: str, description: ModelDescription) -> None:
    reasons = []
    if len(description.coordinates) != len(description.velocities):
        reasons.append("its counts of coordinates and velocities differ")
    if description.constraint_count:
        reasons.append(f"it has {description.constraint_count} constraints")
    if len(description.prescribed_velocity_index):
        reasons.append("it has prescribed coordinates")
    if description.aux:
        reasons.append("its state has more than coordinates and velocities")
    other = [channel.name for channel in description.inputs if channel.kind is not ChannelKind.EFFORT]
    if other:
        reasons.append(f"its inputs {', '.join(other)} are not efforts")
    if reasons:
        raise CompositionError(
            f"planner 'ipopt-mpcc' cannot move body {name!r}: {'; '.join(reasons)}. Choose a model in minimal "
            "coordinates that is driven by forces, for example `pcc`."
        )
