"""Prescribed motion of clamped nodes and angles.

    x(t) = x_c + u(t) + R(t)·(x₀ − x_c),   R(t) = rotation about a fixed axis n by α(t)        (1)
    θ(t) = θ₀ + φ(α(t)) + (twist(t))

R is a twist about t₀ by φ, followed by the smallest rotation from t₀ to R·t₀, which is the motion of the reference
directors:

    φ(α) = 2·atan(c·tan(α/2)) continued,   φ̇ = c·α̇/(cos²(α/2) + c²·sin²(α/2)),   c = n·t₀      (2)

So directors turn with the clamp, about the rod's tangent by any number of turns. Across the tangent the angle must
stay below half a turn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from corekit.data.arrays import Array, IntArray
from corekit.data.signals import Signal
from corekit.errors import ConfigError, Mistake
from corekit.roles.options import refuse_given
from corekit_der.config import Clamp
from corekit_der.graph import Graph
from corekit_der.numbering import Numbering

__all__ = ["ClampMotion"]


class ClampMotion:
    """p(t) and ṗ(t) of all clamped coordinates.

    Attributes:
        index: indices into q and v, shape (p,).
        signals: the signals of their motion.
    """

    def __init__(self, graph: Graph, numbering: Numbering, axes: Sequence[int], *, twisting: bool) -> None:
        self._axes = list(axes)
        self._parts: list[_ClampPart] = []
        index: list[IntArray] = [np.zeros(0, dtype=np.int64)]
        rest: list[Array] = [np.zeros(0)]
        mistakes: list[Mistake] = []
        first = 0
        for i, (clamp, node, nodes, edges) in enumerate(graph.clamps):
            edges = edges if twisting else edges[:0]
            dofs = (numbering.node[nodes, None] + np.arange(len(axes))).ravel()
            index.append(np.concatenate([dofs, numbering.edge[edges]]))
            rest.append(np.concatenate([graph.position[nodes][:, self._axes].ravel(), np.zeros(len(edges))]))
            part = _ClampPart(clamp, graph.position[node], graph.position[nodes], graph.tangent[edges], first)
            mistakes.extend(part.mistakes(f"clamps[{i}]", planar=not twisting))
            if part.moving:
                self._parts.append(part)
            first += len(index[-1])
        if mistakes:
            raise ConfigError(mistakes, "the clamps")
        self.index: IntArray = np.concatenate(index)
        self.signals = tuple(signal for part in self._parts for signal in part.signals)
        self._rest = np.concatenate(rest)

    def evaluate(self, time: float, value: Array, rate: Array) -> None:
        """Write p(t) and ṗ(t), shape (p,)."""
        value[:] = self._rest
        rate.fill(0.0)
        for part in self._parts:
            part.write(time, self._axes, value, rate)


class _ClampPart:
    """Motion of one clamp."""

    def __init__(self, clamp: Clamp, centre: Array, position: Array, tangent: Array, first: int) -> None:
        self._clamp = clamp
        self._centre, self._position, self._tangent, self._first = centre, position, tangent, first
        axis = np.array(clamp.axis)
        self._length = float(np.linalg.norm(axis))
        self._axis = axis / (self._length or 1.0)

    @property
    def signals(self) -> tuple[Signal, ...]:
        clamp = self._clamp
        return tuple(each for each in (clamp.displacement, clamp.angle, clamp.twist) if each is not None)

    @property
    def moving(self) -> bool:
        return bool(self.signals)

    def mistakes(self, where: str, *, planar: bool) -> list[Mistake]:
        """Return the mistakes in the clamp's options."""
        clamp, mistakes = self._clamp, []
        for name, size in (("displacement", 3), ("angle", 1), ("twist", 1)):
            signal = getattr(clamp, name)
            if signal is not None and signal.size != size:
                mistakes.append(Mistake(f"{where}.{name}", f"{signal.size} numbers", f"give {size}"))
        if not self._length:
            mistakes.append(Mistake(f"{where}.axis", list(clamp.axis), "must not be zero"))
        if clamp.twist is not None and not len(self._tangent):
            reason = "a planar rod does not twist" if planar else "a pin has no twist: use kind clamp or edge"
            mistakes.append(Mistake(f"{where}.twist", "a signal", reason))
        if clamp.kind == "pin" and clamp.angle is not None:
            reason = "a pin has no direction to turn: use kind clamp or edge"
            mistakes.append(Mistake(f"{where}.angle", "a signal", reason))
        elif clamp.angle is None:
            reason = "must be left out, or give the `angle` of the turn about it"
            mistakes.extend(
                Mistake(f"{where}.{each.path}", each.found, each.allowed)
                for each in refuse_given(clamp, ("axis",), reason)
            )
        elif planar and abs(self._axis[1]) < 1.0 - 1e-12:
            mistakes.append(Mistake(f"{where}.axis", list(clamp.axis), "a planar rod turns about [0, 1, 0]"))
        return mistakes

    def _evaluate_signal(self, signal: Signal | None, time: float, size: int) -> tuple[Any, Any]:
        """Return value and rate of a signal, zero if there is none."""
        value, rate = np.zeros(size), np.zeros(size)
        if signal is not None:
            signal.value(time, value)
            signal.rate(time, rate)
        return value, rate

    def write(self, time: float, axes: list[int], value: Array, rate: Array) -> None:
        """Write this clamp's part of p and ṗ."""
        clamp, n = self._clamp, self._axis
        shift, drift = self._evaluate_signal(clamp.displacement, time, 3)
        (angle,), (turning,) = self._evaluate_signal(clamp.angle, time, 1)
        (twist,), (twisting,) = self._evaluate_signal(clamp.twist, time, 1)
        arm = self._position - self._centre
        axial = np.outer(arm @ n, n)
        turned = axial + math.cos(angle) * (arm - axial) + math.sin(angle) * np.cross(n, arm)
        points = self._centre + shift + turned
        velocity = drift + turning * np.cross(n, turned)
        first, count = self._first, arm.shape[0] * len(axes)
        value[first : first + count] = points[:, axes].ravel()
        rate[first : first + count] = velocity[:, axes].ravel()
        edges = len(self._tangent)
        if edges:
            c = self._tangent @ n
            cosine, sine = math.cos(0.5 * angle), math.sin(0.5 * angle)
            # count whole turns apart, to stay on the branch of atan
            turns = math.floor(angle / (2.0 * math.pi) + 0.5)
            rest = angle - 2.0 * math.pi * turns
            phi = 2.0 * np.arctan2(c * math.sin(0.5 * rest), math.cos(0.5 * rest))
            phi += 2.0 * math.pi * turns * np.sign(c)
            value[first + count : first + count + edges] = phi + twist
            slope = c / (cosine * cosine + c * c * sine * sine)
            rate[first + count : first + count + edges] = slope * turning + twisting
