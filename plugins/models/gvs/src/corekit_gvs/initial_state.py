"""Where a tree starts, how prescribed joints move, and how exponential coordinates are re-centred.

The turn of a spherical or free joint stands at R = R₀·exp(k̃), R₀ in aux. Beyond an angle of π its tangent operator
nears the singularity at 2π, so between steps

    R₀ ← R₀·exp(k̃),   k ← 0,   k̇ ← exp(k̃)ᵀ·T₃(k)·k̇                                                   (1)

which is the same motion: poses and body twist do not change. Where the joint has stiffness R₀ is its pose at rest and
stays. Its energy is that of the shortest turn, a function of the pose alone, and beyond π that is the one from the
other side,

    k ← k·(1 − 2π/|k|),   T₃(k⁺)ᵀ·k̇⁺ = T₃(k)ᵀ·k̇                                                        (3)

The step that passes π by δ has wound the spring up by δ too far: it loses up to 2π·δ times the stiffness, of order h.

A basis that moves with t moves the tree at q̇ = 0 too: with T = ½·q̇ᵀ·M·q̇ + pᵀ·q̇ + T₀ rest is where T is least,

    M·q̇ = −p,   p = ∂T/∂q̇ at q̇ = 0                                                                     (2)

over the velocities that are not given: what a sudden start of the basis' motion leaves of a tree at rest.

Where the rate of a prescribed joint jumps, between steps too, q̇ of a joint whose `jump` is "alone" becomes ṗ(t⁺).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.data.instants import same_instant
from corekit.data.signals import Signal
from corekit.data.state import State
from corekit.errors import ConfigError, Mistake
from corekit_gvs.config import GVSConfig, GVSInitial
from corekit_gvs.exponential import ROTATION, T3, WIDTH, exponential
from corekit_gvs.joints import BALLS
from corekit_gvs.mistakes import Mistakes, near
from corekit_gvs.tree import Tree

__all__ = ["PrescribedJoints", "rest_velocity", "write_initial"]

_ELSEWHERE = 1e-6
"""What is given of a prescribed coordinate is another one beyond that, relative to it or to 1."""


@final
class PrescribedJoints:
    """Prescribed joints and charts of a tree.

    Attributes:
        index: prescribed velocities, in order.
        signals: their motions.
    """

    def __init__(self, config: GVSConfig, tree: Tree, mistakes: Mistakes) -> None:
        index: list[int] = []
        self._signals: list[tuple[Signal, slice]] = []
        self._alone: list[tuple[Signal, slice]] = []
        wrong: list[Mistake] = []
        for i, link in enumerate(config.links):
            motion = link.joint.motion
            if motion is None:
                continue
            if motion.size != link.joint.size:
                said = f"must give {link.joint.size} numbers: one a coordinate"
                wrong.append(Mistake(f"links[{i}].joint.motion", f"{motion.size} numbers", said))
                continue
            self._signals.append((motion, slice(len(index), len(index) + link.joint.size)))
            first = tree.first[link.name]
            index.extend(range(first, first + link.joint.size))
            if link.joint.jump == "alone":
                self._alone.append((motion, slice(first, first + link.joint.size)))
        with mistakes.collecting():
            if wrong:
                raise ConfigError(wrong, "the joints")
        mistakes.raise_if_any()
        self.index: IntArray = np.array(index, dtype=np.int64)
        self.signals = tuple(signal for signal, _ in self._signals)
        self._charts = tree.charts
        self._springs = {
            tree.first[link.name]
            for link in config.links
            if link.joint.kind in BALLS and any(link.joint.stiffness)
        }

    def write(self, time: float, value: Array, rate: Array) -> None:
        """Write p(t) and ṗ(t)."""
        for signal, where in self._signals:
            signal.value(time, value[where])
            signal.rate(time, rate[where])

    def rest(self, out: State) -> None:
        """Write q = 0, v = 0, frames of charts at their joints; prescribed joints at p(0), ṗ(0)."""
        out.q[:] = 0.0
        out.v[:] = 0.0
        for _, aux in self._charts:
            out.aux[aux : aux + 12] = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
        value, rate = np.zeros(len(self.index)), np.zeros(len(self.index))
        self.write(0.0, value, rate)
        out.q[self.index], out.v[self.index] = value, rate
        out.time = 0.0

    def jump(self, state: State) -> bool:
        """Give joints that jump alone the rate after a breakpoint at the state's time; True if any has one there."""
        jumped, near = False, same_instant(state.time)
        for signal, own in self._alone:
            if times := signal.breakpoints(state.time - near, state.time + near):
                signal.rate(max(state.time, *times) + near, state.v[own])
                jumped = True
        return jumped

    def reparametrise(self, state: State) -> bool:
        """Re-centre by (1) or (3) what turned by more than π, and `jump`; True if anything changed."""
        changed = self.jump(state)
        for first, aux in self._charts:
            turn = state.q[first : first + 3]
            if turn @ turn > np.pi**2:
                if first in self._springs:
                    _shorten(state, first)
                else:
                    _recentre(state, first, aux)
                changed = True
        return changed


def _recentre(state: State, first: int, aux: int) -> None:
    k, rate = state.q[first : first + 3], state.v[first : first + 3]
    rel, c = np.zeros(WIDTH), np.zeros(10)
    exponential((k[0], k[1], k[2]), (0.0, 0.0, 0.0), c, rel)
    turn, blend = (rel[at : at + 9].reshape(3, 3) for at in (ROTATION, T3))
    frame = state.aux[aux : aux + 9]
    u, _, vt = np.linalg.svd(frame.reshape(3, 3) @ turn)  # rounding must not pile up over many turns
    frame[:], k[:], rate[:] = (u @ vt).ravel(), 0.0, turn.T @ blend @ rate


def _shorten(state: State, first: int) -> None:
    k, rate = state.q[first : first + 3], state.v[first : first + 3]
    angle = float(np.linalg.norm(k))
    spin = _blend(k).T @ rate
    k *= 1.0 - 2.0 * np.pi * np.round(0.5 * angle / np.pi) / angle
    rate[:] = np.linalg.solve(_blend(k).T, spin)


def _blend(k: Array) -> Array:
    """T₃(k)."""
    rel, c = np.zeros(WIDTH), np.zeros(10)
    exponential((k[0], k[1], k[2]), (0.0, 0.0, 0.0), c, rel)
    return rel[T3 : T3 + 9].reshape(3, 3)


def write_initial(
    initial: GVSInitial | None, config: GVSConfig, tree: Tree, motions: PrescribedJoints, path: str, out: State
) -> BoolArray:  # fmt: skip
    """Write the state of `initial`; returns which velocities are neither given nor prescribed, (n,)."""
    motions.rest(out)
    left: BoolArray = np.ones(len(out.v), dtype=bool)
    left[motions.index] = False
    if initial is None:
        return left
    wrong: list[Mistake] = []

    value, rate = np.zeros(len(motions.index)), np.zeros(len(motions.index))
    motions.write(0.0, value, rate)
    prescribed = np.full((2, len(out.v)), np.nan)
    prescribed[:, motions.index] = value, rate

    def write(values: tuple[float, ...], target: Array, starts: Array, where: str) -> None:
        if not values:
            return
        if len(values) != len(target):
            wrong.append(Mistake(where, f"{len(values)} entries", f"give {len(target)}, or none"))
            return
        target[:] = values
        for k in np.flatnonzero(np.abs(target - starts) > _ELSEWHERE * np.maximum(np.abs(starts), 1.0)):
            said = f"must be {starts[k]:.9g}, at which the `motion` of its joint starts"
            wrong.append(Mistake(f"{where}[{k}]", values[k], said))

    for name, target, starts in zip(("coordinates", "velocity"), (out.q, out.v), prescribed, strict=True):
        of_all = getattr(initial, name)
        write(of_all, target, starts, f"{path}.initial.{name}")
        twice = [i for i, each in enumerate(initial.links) if getattr(each, name)] if of_all else []
        if twice:
            said = f"give this or `links[{twice[0]}].{name}`, not both"
            wrong.append(Mistake(f"{path}.initial.{name}", f"{len(of_all)} entries", said))
    left &= not initial.velocity
    sizes = {link.name: link.size for link in config.links}
    seen: dict[str, int] = {}
    for i, each in enumerate(initial.links):
        where = f"{path}.initial.links[{i}]"
        if each.name not in sizes:
            said = f"must be one of {', '.join(sizes)}"
            wrong.append(Mistake(f"{where}.name", each.name, said, near(each.name, sizes)))
            continue
        if each.name in seen:
            said = f"is the link of links[{seen[each.name]}]: start each link once"
            wrong.append(Mistake(f"{where}.name", each.name, said))
            continue
        seen[each.name] = i
        own = slice(tree.first[each.name], tree.first[each.name] + sizes[each.name])
        write(each.coordinates, out.q[own], prescribed[0, own], f"{where}.coordinates")
        write(each.velocity, out.v[own], prescribed[1, own], f"{where}.velocity")
        left[own] &= not each.velocity
    if wrong:
        raise ConfigError(wrong, "the initial state")
    out.q[motions.index], out.v[motions.index] = value, rate
    return left


def rest_velocity(kinetic: Callable[[Array], float], mass: Array, v: Array, left: BoolArray) -> None:
    """Write (2) into the velocities that are `left`, 0 for those without mass; `kinetic` is T of all velocities."""
    n, size = len(v), np.sqrt(np.diag(mass))
    scale = np.where(left & (size > 0.0), 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
    # T is quadratic: differences of any width are exact
    slope = np.array([0.5 * (kinetic(v + e) - kinetic(v - e)) for e in np.diag(scale)])
    change, *_ = np.linalg.lstsq(scale[:, None] * mass * scale, -slope, rcond=1e-13 * n)
    v += scale * change
