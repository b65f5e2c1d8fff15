"""Worlds of point masses with two abilities at once, and what a step of theirs must fulfil by Newton's second law.

A step h of semi-implicit Euler in its explicit form has, with M = diag(m), rows J at the start and g the weights,

    M·(v⁺ − v₀) = h·M·g + Jᵀ·λ,      J·v⁺ = −c/h   of rods, joints, mounts,      v⁺ = ṗ of driven nodes      (1)
    J·v⁺ + s(φ)/h − u ≥ 0 ⊥ λ ≥ 0    of contacts, u an obstacle's normal velocity                              (2)
    w = J·v⁺ + c/h:   λ ∈ h·[lo, hi] where w = 0, λ = h·lo where w > 0, λ = h·hi where w < 0   of tendons      (3)

As M is positive definite, v⁺ is the only solution. Nothing here asks the engine for a row: places come from the
state, everything else from the description of the world.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from corekit.engine.world.world_system import WorldSystem
from corekit.scenario.load import from_document
from corekit.simulation.loop import Simulation

G, H, RADIUS = 9.81, 1e-3, 0.02
APPROACH, PUSH_OUT, CAP = 1.0, 20.0, 0.5
LOWER, UPPER = -20.0, 10.0
"""Bounds of tendons [N]."""
RESTITUTION = 0.4
DRIVE, LIFT = np.array([0.2, 0.0, 0.3]), np.array([0.1, 0.0, 0.2])
"""Rates of the driven node and of the floor that moves [m/s]."""
ABOVE = np.array([0.0, 0.0, 0.12])
"""Where a mounted sphere stands over its node [m]."""
LAYER, STIFFNESS = 1e-3, 2e4
"""δ [m] and k [N/m] of the potential: energy k·S²."""
NODES = np.array([[0.0, 0.0, 0.031], [0.1, 0.0, 0.034], [0.2, 0.0, 0.028]])
SPEEDS = np.array([[0.3, 0.0, -0.6], [0.0, 0.0, -0.9], [-0.2, 0.0, -0.4]])
MASSES = (0.4, 0.3, 0.5)
LOOSE, MANY = 3, 4
"""Bodies of two spheres, and contacts from which they are divided into islands: fewer than in worlds of users, so that
the same is solved in a world of a third as many velocities.
"""
ROW_TOLERANCE = 1e-7
"""Velocity below which a row is at rest [m/s]."""


@dataclass
class World:
    """A scenario, and what it is made of.

    Args:
        mass: of every point. shaped: which points are spheres, of one radius. body: of every point.
        where: of every point the index of its body and the place of its first coordinate there, and the axes of those.
        equal: points (i, j) with x_i − x_j constant; j = −1: held in the world, −2: by the floor.
        rods, tendons: points (i, j) that keep their distance, or slip at the bounds of force.
        driven: points on a given path.
        many_contacts: from how many on they are solved island by island; None: from as many as always.
    """

    document: dict[str, Any]
    mass: list[float] = field(default_factory=list)
    shaped: list[bool] = field(default_factory=list)
    body: list[int] = field(default_factory=list)
    where: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)
    equal: list[tuple[int, int]] = field(default_factory=list)
    rods: list[tuple[int, int]] = field(default_factory=list)
    tendons: list[tuple[int, int]] = field(default_factory=list)
    driven: list[int] = field(default_factory=list)
    lift: Any = field(default_factory=lambda: np.zeros(3))
    many_contacts: int | None = None

    def compose(self, **changes: Any) -> Simulation:
        """The world, with other tables of its document."""
        simulation = from_document(self.document | changes).compose()
        if self.many_contacts is not None:
            system = simulation.system
            assert isinstance(system, WorldSystem)
            system.terms.many_contacts = self.many_contacts
        return simulation

    def add_chain(self, name: str, masses, places, speeds, planar: bool, **options: Any) -> None:
        axes = (0, 2) if planar else (0, 1, 2)
        options |= {
            "masses": list(masses), "positions": np.asarray(places)[:, axes].tolist(), "planar": planar,
            "velocities": np.asarray(speeds)[:, axes].tolist(), "radius": RADIUS,
        }  # fmt: skip
        index = len(self.document["bodies"])
        self.document["bodies"].append({"name": name, "use": "reference-point-chain", "options": options})
        for i, mass in enumerate(masses):
            self.mass.append(mass)
            self.shaped.append(options.get("shape", "none") == "sphere")
            self.body.append(index)
            self.where.append((index, len(axes) * i, axes))


def make_world(abilities: Collection[str], solver: str = "lcp") -> World:
    """A chain of three masses that falls on a floor, and what two abilities add to it, all on the same nodes."""
    has, is_planar = set(abilities).__contains__, "planar" in abilities
    floor: dict[str, Any] = {"name": "floor", "shape": "half-space", "friction": 0.0}
    world = World({
        "format": "corekit-scenario/1", "name": "pair", "time": {"duration": 1.0, "step": H},
        "world": {"gravity": [0.0, 0.0, -G], "obstacles": [floor]}, "bodies": [],
        "contact": {"detector": "sdf", "margin": 0.05, "impact": {"level": "position"}, "solver": {"use": solver}},
        "integrator": {"use": "semi-implicit-euler", "options": {"form": "explicit"}},
    })  # fmt: skip
    contact = world.document["contact"]
    raised = np.array([0.0, 0.0, 2.0 * RADIUS if has("islands") else 0.0])
    chain: dict[str, Any] = {"shape": "sphere", "structure": "banded" if has("unreduced") else "dense"}
    links = ["none", "none", "none"]
    if has("constraints") or has("unreduced"):
        links[1:] = ["rod", "rod"]
        world.rods = [(1, 0), (2, 1)]
    if has("bounded"):
        kept = links[1] == "rod"
        links[1:] = ["rod" if kept else "tendon", "tendon"]
        world.rods, world.tendons = ([(1, 0)] if kept else []), ([(2, 1)] if kept else [(1, 0), (2, 1)])
        chain |= {"lower": LOWER, "upper": UPPER}
    if has("prescribed"):
        chain |= {"driven": [0], "drive_rate": DRIVE[[0, 2, 1] if is_planar else [0, 1, 2]].tolist()}
        world.driven = [0]
    world.add_chain("chain", MASSES, NODES + raised, SPEEDS, is_planar, links=links, **chain)
    held = 0 if has("prescribed") else 2
    if has("moving obstacle"):
        floor["position"] = {"kind": "ramp", "from": 0.0, "to": 1.0, "value": LIFT.tolist()}
        world.lift = LIFT
    if has("joints"):
        if has("unreduced") or has("moving obstacle"):
            other, second = ("floor", -2) if has("moving obstacle") else ("world", -1)
            world.equal.append((held, second))
        else:
            other = "bob.node0"
            world.add_chain("bob", [0.2], [(NODES + raised)[held]], [SPEEDS[held]], is_planar)
            world.equal.append((held, len(world.mass) - 1))
        world.document["joints"] = [{"name": "pin", "kind": "ball", "between": [f"chain.node{held}", other]}]
    if has("islands"):
        world.many_contacts = MANY
        for k in range(LOOSE):
            x = 0.212 if k == 0 else 0.5 + 0.2 * k
            places = [[x, 0.0, RADIUS + 1e-4 * k], [x + 0.06, 0.0, RADIUS + 2e-3]]
            world.add_chain(
                f"loose{k}", [0.1, 0.2], places, np.zeros((2, 3)), is_planar, links=["none", "rod"], shape="sphere",
            )  # fmt: skip
            world.rods.append((len(world.mass) - 1, len(world.mass) - 2))
    if has("mounted base"):
        base = {"mount": f"chain.node{held}", "position": ABOVE.tolist()}
        options = {"shape": "sphere", "size": [RADIUS], "mass": 0.25}
        world.document["bodies"].append({"name": "rider", "use": "rigid", "base": base, "options": options})
        world.mass.append(0.25)
        world.shaped.append(True)
        world.body.append(len(world.document["bodies"]) - 1)
        world.where.append((world.body[-1], 0, (0, 1, 2)))
        world.equal.append((len(world.mass) - 1, held))
    if has("potential"):
        contact.pop("impact")
        options = {"distance_tolerance": LAYER, "stiffness": STIFFNESS, "adapt": False, "damping": 0.0}
        contact["solver"] = {"use": "imc", "options": options}
    if has("restitution"):
        contact["impact"] = {"restitution": RESTITUTION}
    return world


@dataclass
class Rows:
    """Rows of one kind: J, and b of w = J·v + b, with the bounds of λ."""

    jacobian: Any
    bias: Any
    lower: float = -np.inf
    upper: float = np.inf


class Step:
    """A step of a world, from q₀, v₀ to q⁺, v⁺, in the coordinates of its points.

    Args:
        world: its description. places: of its points at time 0. start, end: states.
    """

    def __init__(self, world: World, places: Any, start: Any, end: Any) -> None:
        self.world, self.places = world, places
        self.time, self.step = start.time, end.time - start.time
        self.x, self.v = points(world, start)
        self.x_end, self.v_end = points(world, end)
        self.free = np.concatenate([3 * i + np.array(axes) for i, (_, _, axes) in enumerate(world.where)])
        self.mass = np.repeat(world.mass, 3)

    @property
    def velocity_of_places(self) -> Any:
        """(q⁺ − q₀)/h; of driven nodes the end velocity, which binds the others."""
        velocity = (self.x_end - self.x) / self.step
        velocity[self.world.driven] = self.v_end[self.world.driven]
        return velocity.ravel()

    def momentum(self, velocity: Any) -> Any:
        """M·(v⁺ − v₀) − h·M·g."""
        gain = self.mass * (velocity - self.v.ravel())
        gain[2::3] += self.step * self.mass[2::3] * G
        return gain

    def _between(self, i: int, j: int, direction: Any) -> Any:
        row = np.zeros((len(self.x), 3))
        row[i] += direction
        if j >= 0:
            row[j] -= direction
        return row.ravel()

    def held(self) -> dict[str, Rows]:
        """The rows of (1) and (3)."""
        world, h, found = self.world, self.step, {}
        for name, pairs, bounds in (
            ("rods", world.rods, (-np.inf, np.inf)), ("tendons", world.tendons, (h * LOWER, h * UPPER)),
        ):  # fmt: skip
            if pairs:
                spans = [self.x[i] - self.x[j] for i, j in pairs]
                first = [np.linalg.norm(self.places[i] - self.places[j]) for i, j in pairs]
                rows = [
                    self._between(i, j, s / np.linalg.norm(s)) for (i, j), s in zip(pairs, spans, strict=True)
                ]
                found[name] = Rows(np.array(rows), (np.linalg.norm(spans, axis=1) - first) / h, *bounds)
        rows, bias = [], []
        for i, j in world.equal:
            carried = self.x[j] - self.places[j] if j >= 0 else np.zeros(3)
            if j == -2:
                carried = world.lift * (self.time + h)
            rows += [self._between(i, j, axis) for axis in np.eye(3)]
            bias += list((self.x[i] - self.places[i] - carried) / h)
        if rows:
            found["joints"] = Rows(np.array(rows), np.array(bias))
        if world.driven:
            rows = [self._between(i, -1, axis) for i in world.driven for axis in np.eye(3)]
            found["driven"] = Rows(np.array(rows), -np.tile(DRIVE, len(world.driven)))
        return found

    def gaps(self, x: Any, time: float) -> tuple[Any, Any]:
        """φ and ∂φ/∂x of all contacts that there may be: spheres on the floor, and on those of other bodies."""
        world, gap, slope = self.world, [], []
        shaped = [i for i, is_shaped in enumerate(world.shaped) if is_shaped]
        for i in shaped:
            gap.append(x[i, 2] - world.lift[2] * time - RADIUS)
            slope.append(self._between(i, -1, [0.0, 0.0, 1.0]))
        for i in shaped:
            for j in shaped:
                if i < j and world.body[i] != world.body[j]:
                    span = x[i] - x[j]
                    gap.append(np.linalg.norm(span) - 2.0 * RADIUS)
                    slope.append(self._between(i, j, span / np.linalg.norm(span)))
        return np.array(gap), np.array(slope)

    def contacts(self) -> Rows:
        """The rows of (2). Beside an obstacle that moves they are those where the start velocities lead."""
        h, gap, slope = self.step, *self.gaps(self.x, self.time)
        rate = np.zeros(len(gap))
        rate[: sum(self.world.shaped)] = self.world.lift[2]
        reach = np.where(gap > 0.0, APPROACH * gap, h * np.maximum(gap * min(1.0 / h, PUSH_OUT), -CAP))
        if self.world.lift.any():
            ahead, slope = self.gaps(self.x + h * self.v, self.time + h)
            reach += ahead - gap - h * (slope @ self.v.ravel() - rate)
        return Rows(slope, reach / h - rate, 0.0)

    def bounced(self, contacts: Rows, velocity: Any, impulse: Any) -> Rows:
        """The rows of an impact, v_n⁺ + e·min(v_n⁻, 0) ≥ 0, of contacts that closed at v⁺ of the places.

        Others leave the problem; those of bodies that no impact reached stay as they were solved.
        """
        slope, bias = contacts.jacobian, contacts.bias.copy()
        closed = (impulse > 0.0) | (slope @ velocity + bias <= ROW_TOLERANCE)
        changed = np.abs(self.v_end.ravel() - velocity) > ROW_TOLERANCE
        reached = ((slope != 0.0) & changed).any(axis=1)
        rate = np.zeros(len(bias))
        rate[: sum(self.world.shaped)] = self.world.lift[2]
        bias = np.where(reached, RESTITUTION * np.minimum(slope @ self.v.ravel() - rate, 0.0) - rate, bias)
        return Rows(slope[closed], bias[closed], 0.0)

    def pushed(self, velocity: Any) -> Any:
        """h·Jᵀ·f of the potential k·S² at the end of the step."""
        gap, slope = self.gaps(self.x + self.step * velocity.reshape(-1, 3), self.time + self.step)
        gap, slope = gap[gap < LAYER], slope[gap < LAYER]
        rate = 15.0 / LAYER
        soft, share = np.logaddexp(0.0, -rate * gap) / rate, 1.0 / (1.0 + np.exp(rate * gap))
        return self.step * slope.T @ (2.0 * STIFFNESS * soft * share)

    def judge(self, velocity: Any, contacts: Rows | None) -> tuple[Any, float, dict[str, Any]]:
        """How far v⁺ is from (1) to (3).

        Returns:
            The momentum that no admissible impulse gives (3·n,) [N·s], the largest velocity by which a row is missed
            [m/s], and λ by kind.
        """
        groups = self.held()
        if contacts is not None:
            groups["contacts"] = contacts
        missing = self.momentum(velocity) - (0.0 if contacts is not None else self.pushed(velocity))
        found = {name: np.zeros(len(rows.bias)) for name, rows in groups.items()}
        missed, columns, lower, upper, owner = 0.0, [], [], [], []
        for name, rows in groups.items():
            left = rows.jacobian @ velocity + rows.bias
            if name in ("rods", "joints", "driven"):
                missed = max(missed, np.abs(left).max())
            elif name == "contacts":
                missed = max(missed, -left.min(initial=0.0))
            for r, (row, slack) in enumerate(zip(rows.jacobian, left, strict=True)):
                is_tight = abs(slack) <= ROW_TOLERANCE
                low = rows.lower if is_tight or slack > 0.0 else rows.upper
                high = rows.upper if is_tight or slack < 0.0 else rows.lower
                if name in ("rods", "joints", "driven"):
                    low, high = -np.inf, np.inf
                if low < high:
                    columns.append(row)
                    lower.append(low)
                    upper.append(high)
                    owner.append((name, r))
                else:
                    missing = missing - low * row
                    found[name][r] = low
        if not columns:
            return missing[self.free], missed, found
        weight = 1.0 / np.sqrt(self.mass[self.free])
        given = (np.array(columns)[:, self.free] * weight).T
        answer = lsq_linear(given, weight * missing[self.free], (lower, upper), method="bvls", tol=1e-15)
        for (name, r), impulse in zip(owner, answer.x, strict=True):
            found[name][r] = impulse
        return (missing[self.free] - given @ answer.x / weight), missed, found


def points(world: World, state: Any) -> tuple[Any, Any]:
    """Places and velocities of all points, shape (n, 3) each."""
    x, v = np.zeros((2, len(world.where), 3))
    for i, (body, first, axes) in enumerate(world.where):
        own = state.body_states[body]
        x[i, axes], v[i, axes] = own.q[first : first + len(axes)], own.v[first : first + len(axes)]
    return x, v
