"""What acts on a tree, as rows of the tables: threads, chambers, distributed wrenches, loads, joint efforts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen

from corekit.data.arrays import Array, IntArray
from corekit.errors import ConfigError, Mistake
from corekit.roles.model import Channel, ChannelKind
from corekit_gvs.cable_friction import CableFriction
from corekit_gvs.config import GVSConfig
from corekit_gvs.joints import BALLS
from corekit_gvs.length_drives import LengthDrive
from corekit_gvs.load_options import Cable, Chamber, Distributed, Load, Tendon
from corekit_gvs.mistakes import Mistakes, near
from corekit_gvs.profiles import profile_of
from corekit_gvs.python_functions import call, function_of, is_function
from corekit_gvs.sections import reach_at
from corekit_gvs.state_loads import StateLoad
from corekit_gvs.tables import (
    BODY_INPUT,
    BODY_TABLE,
    THREAD,
    WORLD_INPUT,
    WORLD_TABLE,
    WRENCH,
)  # fmt: skip
from corekit_gvs.tree import Part, Tree

__all__ = ["AppliedLoads", "Varying"]


@frozen(eq=False)
class Varying:
    """A distributed wrench that depends on time: rows of ACTIONS or WRENCHES it writes, and their factors."""

    function: Callable[..., Array]
    X: Array
    rows: IntArray
    weight: Array
    internal: bool

    def update(self, t: float, actions: Array, wrenches: Array) -> None:
        """Write its values at t."""
        values = self.function(self.X, t).T * self.weight[:, None]
        (actions if self.internal else wrenches)[self.rows, :6] = values


def _wrench(each: Distributed, path: str) -> tuple[Callable[..., Array], bool]:
    """A distributed wrench as a function of X, (p,), and t that returns (6, p), and whether it may change in time."""
    if len(each.wrench) == 1:
        whole = function_of(each.wrench[0], path)
        return (lambda X, t: call(whole, path, (6, len(X)), X.copy(), t)), True
    typed = {r: text for r, text in enumerate(each.wrench) if not is_function(text)}
    given = {r: function_of(entry, f"{path}[{r}]") for r, entry in enumerate(each.wrench) if r not in typed}
    formulas: Callable[..., Array] | None = None
    moving = len(typed) < 6
    if typed:
        from corekit_gvs.formula import evaluator, expression  # brings SymPy

        made = [expression(str(text), ["X", "t"], f"{path}[{r}]") for r, text in typed.items()]
        formulas = evaluator(made, ["X", "t"])
        moving = moving or any("t" in map(str, f.free_symbols) for f in made)

    def values(X: Array, t: float) -> Array:
        out = np.zeros((6, len(X)))
        if formulas is not None:
            out[list(typed)] = formulas(X, t)
        for r, function in given.items():
            out[r] = call(function, f"{path}[{r}]", X.shape, X.copy(), t)
        return out

    return values, moving


_PULLS = "pulls, and a cable cannot push"
_GUIDED = "right only if something guides it outside"
_INSIDE = "a chamber lies inside; give y and z in metres"
_WINDS = "wound up from the unstrained shape on; below 0 it is let out and slack"


@frozen(eq=False)
class AppliedLoads:
    """What acts on the links; inputs in the order of `channels`. See `tables` for the rows."""

    tree: Tree
    channels: list[Channel] = field(factory=list)
    size: list[int] = field(factory=lambda: [0])
    actuators: list[tuple[int, int, int, Array]] = field(factory=list)
    loads: list[list[int]] = field(factory=list)
    wrenches: list[Array] = field(factory=list)
    tendons: list[list[int]] = field(factory=list)
    ends: list[Array] = field(factory=list)
    driven: list[list[int]] = field(factory=list)
    ball_drives: dict[int, int] = field(factory=dict)
    varying: list[Varying] = field(factory=list)
    state_loads: list[StateLoad] = field(factory=list)
    length_drives: list[LengthDrive] = field(factory=list)
    frictions: list[CableFriction] = field(factory=list)
    doubts: list[str] = field(factory=list)

    def add_all(self, config: GVSConfig, mistakes: Mistakes) -> None:
        """Everything of the options, in order."""
        for link in config.links:
            if link.joint.driven and link.joint.size:
                turning = link.joint.kind in ("revolute", "helical", "universal", "spherical")
                unit = "N·m" if turning else ("N" if link.joint.kind == "prismatic" else "N·m, N")
                most = link.joint.effort_limit or math.inf
                first = self._channel(f"joint-{link.name}", unit, link.joint.size, lower=-most, upper=most)
                at = self.tree.first[link.name]
                is_ball = link.joint.kind in BALLS
                if is_ball:
                    self.ball_drives[at] = first
                self.driven.extend([at + k, first + k] for k in range(3 if is_ball else 0, link.joint.size))
        parts: list[tuple[str, Callable[[Any, str], None]]] = [
            ("cables", self._cable),
            ("tendons", self._tendon),
            ("chambers", self._chamber),
            ("distributed", self._distributed),
            ("loads", self._load),
        ]
        for group, add in parts:
            for i, each in enumerate(getattr(config, group)):
                with mistakes.collecting():
                    add(each, f"{group}[{i}]")

    def _channel(self, name: str, unit: str, size: int = 1, **about: Any) -> int:
        self.channels.append(Channel(name, unit, size, **about))
        self.size[0] += size
        return self.size[0] - size

    def _parts(self, link: str, divisions: tuple[int, ...], path: str) -> list[Part]:
        """The divisions by their numbers, or all of them, from the link's base on."""
        if link not in self.tree.parts:
            said = f"must be one of the soft links: {', '.join(self.tree.parts) or 'none'}"
            raise ConfigError(
                [Mistake(f"{path}.link", link, said, near(link, self.tree.parts))], "the list of links"
            )
        parts = self.tree.parts[link]
        if divisions and max(divisions) >= len(parts):
            said = f"must be numbers of divisions, 0 … {len(parts) - 1}"
            raise ConfigError([Mistake(f"{path}.divisions", list(divisions), said)], "the list of links")
        return [parts[k] for k in sorted(divisions)] if divisions else parts

    def _act(self, quadrature: int, index: int, kind: int, action: Array) -> None:
        self.actuators.append((quadrature, index, kind, action))

    def _thread(self, thread: Cable | Tendon) -> int:
        """The input of a cable or tendon."""
        if thread.drive == "tension":
            return self._channel(f"tension-{thread.name}", "N", lower=0.0, upper=thread.limit, sign=_PULLS)
        index = self._channel(f"length-{thread.name}", "m", kind=ChannelKind.POSITION, sign=_WINDS)
        self.length_drives.append(LengthDrive(index, thread.stiffness or 0.0, thread.limit))
        return index

    def _cable(self, cable: Cable, path: str) -> None:
        index = self._thread(cable)
        parts, before = self._parts(cable.link, cable.divisions, path), len(self.actuators)
        for part in parts:
            s = part.start + part.division.length * np.array(part.quadrature_place)
            y, dy = profile_of(cable.y, "s", s, f"{path}.y")
            z, dz = profile_of(cable.z, "s", s, f"{path}.z")
            self._doubt_offset(part, np.array(y), np.array(z), path)
            for k, i in enumerate(part.quadrature):
                self._act(i, index, THREAD, np.array([0.0, y[k], z[k], 0.0, dy[k], dz[k]]))
        if cable.friction:
            rows = np.arange(before, len(self.actuators))
            self.frictions.append(CableFriction(index, cable.friction, parts, rows))

    def _doubt_offset(self, part: Part, y: Array, z: Array, path: str, right: str = _GUIDED) -> None:
        """Note where a cable or chamber is outside the sections; `right` says when that may be."""
        reach = reach_at(part.division, np.array(part.quadrature_place), part.path)
        beyond = np.hypot(y, z) - reach
        if not (beyond > 1e-9 * reach).any():
            return
        k = int(np.argmax(beyond))
        circle = part.division.section in ("circle", "given")
        said = (
            f"radius is {1e3 * reach[k]:.3g} mm"
            if circle
            else f"section ends {1e3 * reach[k]:.3g} mm from it"
        )
        self.doubts.append(
            f"{path} runs {1e3 * np.hypot(y[k], z[k]):.3g} mm beside the axis of {part.path}, whose {said} there: "
            f"{right}"
        )

    def _tendon(self, tendon: Tendon, path: str) -> None:
        one = self.tree.node_of(tendon.first, f"{path}.first")
        two = self.tree.node_of(tendon.second, f"{path}.second")
        if one == two and tendon.first_offset == tendon.second_offset:
            raise ConfigError(
                [Mistake(f"{path}.second", tendon.second, "is the same point")], "the list of tendons"
            )
        self.tendons.append([one, two, self._thread(tendon)])
        self.ends.append(np.array([*tendon.first_offset, *tendon.second_offset]))

    def _load(self, load: Load, path: str) -> None:
        node = self.tree.node_of(load.at, f"{path}.at")
        if load.function is None:
            first = self._channel(f"load-{load.name}", "N·m, N", 6)
            self.loads.append([node, first, BODY_INPUT if load.follows else WORLD_INPUT])
        else:
            offset, row = np.array(load.offset), len(self.wrenches)
            made = StateLoad(load.function, f"{path}.function", node, row, offset, load.follows)
            self.state_loads.append(made)
            self.loads.append([node, -1, BODY_TABLE if load.follows else WORLD_TABLE])
        self.wrenches.append(np.array([0.0] * 6 + list(load.offset)))

    def _chamber(self, chamber: Chamber, path: str) -> None:
        index = self._channel(f"pressure-{chamber.name}", "Pa", sign="pushes the chamber longer")
        for part in self._parts(chamber.link, chamber.divisions, path):
            s = part.start + part.division.length * np.array(part.quadrature_place)
            area, y, z = (
                profile_of(getattr(chamber, name), "s", s, f"{path}.{name}")[0] for name in ("area", "y", "z")
            )
            if not (area >= 0.0).all():
                where = s[~(area >= 0.0)][0]
                said = f"must be ≥ 0, it is not at s = {where:.6g}"
                raise ConfigError([Mistake(f"{path}.area", chamber.area, said)], "the list of chambers")
            self._doubt_offset(part, np.array(y), np.array(z), path, _INSIDE)
            for k, i in enumerate(part.quadrature):
                # A·(d × e_x; e_x)
                self._act(i, index, WRENCH, area[k] * np.array([0.0, z[k], -y[k], 1.0, 0.0, 0.0]))

    def _distributed(self, each: Distributed, path: str) -> None:
        index = self._channel(f"distributed-{each.name}", "1") if each.input else -1
        function, moving = _wrench(each, f"{path}.wrench")
        for part in self._parts(each.link, (), path):
            places = np.array(part.quadrature_place)
            X = (part.start + part.division.length * places) / self.tree.links[each.link].length
            internal = each.kind == "internal"
            lengths = np.array([self.tree.sections[i][0] for i in part.quadrature])
            weight = np.ones(len(X)) if internal else lengths
            values = function(X, 0.0).T * weight[:, None]
            if not np.isfinite(values).all():
                raise ConfigError(
                    [Mistake(f"{path}.wrench", list(each.wrench), "is not finite at t = 0")], "a formula"
                )
            if internal:
                rows = len(self.actuators) + np.arange(len(X))
                for k, i in enumerate(part.quadrature):
                    self._act(i, index, WRENCH, values[k])
            else:
                rows = len(self.loads) + np.arange(len(X))
                for k, node in enumerate(part.quadrature_node):
                    self.loads.append([node, index, WORLD_TABLE if each.kind == "world" else BODY_TABLE])
                    self.wrenches.append(np.concatenate([values[k], np.zeros(3)]))
            if moving:
                self.varying.append(Varying(function, X, rows, weight, internal))
