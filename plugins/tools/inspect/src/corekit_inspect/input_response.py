"""What inputs would do to a body at rest, to first order: pressures that bend nothing, loads that wind a body up.

About the start, with the stiffness K without inputs and the force f(u) that an input alone brings, coordinates move by

    δ = K⁻¹·(f(u) − f(0))                                                                         (1)

u is the largest that the input's signal has. A pressure is doubted where (1) moves no frame by more than `_SEEN` of the
body's size and turns none by more than that, in rad: it is what no camera sees, and 1 bar written as 1 Pa brings 1e-5
of what was meant. Any input is doubted where (1) bends the body more sharply than it is thick, by (1) of `sharp_bends`;
the turns of that are those of a small share of δ, times what is missing. Nothing is said of bodies with a motion
without stiffness, which (1) does not tell, nor of those that rows or joints hold, as to sharp bends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.body import Body
from corekit.roles.model import Channel, ChannelKind
from corekit.simulation.loop import Simulation
from corekit_inspect.sharp_bends import sharpest_bend

__all__ = ["input_doubts"]

_SEEN = 1e-4
_INSTANTS = 200
_MOST = 400
"""Velocities up to which (1) is solved: densely."""
_SHARE = 0.5
"""Angle [rad] below which neighbouring pieces of an outline count turns as they are."""


def input_doubts(simulation: Simulation, duration: float) -> Iterator[str]:
    """Yield a sentence for every improbable input of a scenario that lasts `duration` [s]."""
    for body in simulation.bodies:
        if body.inputs.signals and body.abilities.force_derivatives is not None and body.nv <= _MOST:
            held = bool(simulation.system.joints) or body.description.constraint_count > 0
            with np.errstate(all="ignore"):
                yield from _Response(body, simulation.state.body_states[body.index]).doubts(
                    duration, held=held
                )


class _Response:
    """(1) of one body at its start."""

    def __init__(self, body: Body, state: State) -> None:
        self._body, self._state = body, state
        self._end = state.copy()
        about = body.description
        self._count = len(about.frames)
        self._mass, self._nothing = body.model.new_mass_matrix(), np.zeros(about.input_size)
        self._free = np.setdiff1d(np.arange(body.nv), about.prescribed_velocity_index)

    def doubts(self, duration: float, *, held: bool) -> Iterator[str]:
        largest, begin = self._largest_inputs(duration), 0
        factor = self._factor()
        if factor is None:
            return
        for channel in self._body.description.inputs:
            u = np.zeros_like(self._nothing)
            u[begin : begin + channel.size] = largest[begin : begin + channel.size]
            begin += channel.size
            if channel.kind is ChannelKind.EFFORT and u.any():
                moved = np.zeros(self._body.nv)
                moved[self._free] = cho_solve(
                    factor, (self._force(u) - self._force(self._nothing))[self._free]
                )
                most = float(np.max(np.abs(u)))
                if np.isfinite(moved).all() and (said := self._doubt(channel, most, moved, held=held)):
                    yield said

    def _doubt(self, channel: Channel, most: float, moved: Array, *, held: bool) -> str:
        where = f"bodies.{self._body.name}.inputs: {channel.name} of at most {most:.3g} {channel.unit}"
        if channel.unit == "Pa" and (share := self._share_moved(moved)) < _SEEN:
            return f"{where} moves nothing by more than {share:.1g} of the body's size: is it in Pa? 1 bar is 1e5 Pa"
        if held:
            return ""
        sharp, turned, length, radius = self._bend(moved)
        if not sharp > 1.0:
            return ""
        return (
            f"{where} would wind the body up, by {turned / (2.0 * math.pi):.3g} turns in {length:.3g} m, sharper than "
            f"its radius of {1e3 * radius:.3g} mm allows: look for a unit, of the input or of the stiffness"
        )

    def _largest_inputs(self, duration: float) -> Array:
        """Return the inputs that are largest in size at any instant, one by one, with their signs."""
        inputs = self._body.inputs
        instants = [*np.linspace(0.0, duration, _INSTANTS), *inputs.breakpoints(0.0, duration)[:_INSTANTS]]
        largest = np.zeros_like(self._nothing)
        for time in instants:
            u = inputs.value_at(float(time))
            np.copyto(largest, u, where=np.abs(u) > np.abs(largest))
        inputs.value_at(self._state.time)
        return largest

    def _force(self, u: Array) -> Array:
        force = np.zeros(self._body.nv)
        self._body.model.compute_mass_and_force(self._state, u, self._mass, force)
        return force

    def _factor(self) -> tuple[Array, bool] | None:
        """Return the Cholesky factor of K's symmetric part without inputs, None unless all of it is stiff."""
        derivatives = self._body.abilities.force_derivatives
        assert derivatives is not None
        stiffness, damping = derivatives.new_stiffness_and_damping()
        derivatives.compute_stiffness_and_damping(self._state, self._nothing, stiffness, damping)
        dense = stiffness.dense()[np.ix_(self._free, self._free)]
        if not (len(dense) and np.isfinite(dense).all() and (np.diag(dense) > 0.0).all()):
            return None
        scale = 1.0 / np.sqrt(np.diag(dense))
        dense = 0.5 * (dense + dense.T)
        try:
            # what has a stiffness of rounding alone is loose, too
            np.linalg.cholesky(dense * scale[:, None] * scale - len(dense) ** 2 * 1e-14 * np.eye(len(dense)))
            factor: tuple[Array, bool] = cho_factor(dense)
        except LinAlgError:
            return None
        return factor

    def _poses(self, moved: Array | None = None) -> tuple[Array, Array]:
        positions, rotations = np.zeros((self._count, 3)), np.zeros((self._count, 3, 3))
        state = self._state if moved is None else self._moved(moved)
        self._body.model.compute_frame_poses(state, positions, rotations)
        return positions, rotations

    def _moved(self, moved: Array) -> State:
        self._body.model.integrate(self._state, moved, 1.0, self._state, self._end)
        return self._end

    def _share_moved(self, moved: Array) -> float:
        """Return how far frames move, relative to the body's size, or turn [rad], whichever is more."""
        points = self._body.model.compute_outline(self._state).points
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
        (before, turned_before), (after, turned_after) = self._poses(), self._poses(moved)
        path = float(np.linalg.norm(after - before, axis=1).max(initial=0.0))
        turn = float(np.linalg.norm(turned_after - turned_before, axis=(1, 2)).max(initial=0.0)) / math.sqrt(
            2.0
        )
        return max(path / size if size > 0.0 else math.inf, turn)

    def _bend(self, moved: Array) -> tuple[float, float, float, float]:
        """Return what `sharpest_bend` does of the body behind (1), turns of which polylines cannot tell included."""
        share = 1.0
        found = sharpest_bend(self._body.model.compute_outline(self._moved(moved)))
        if not found[0] > 1.0:
            return found
        while found[1] > _SHARE and share > 1e-9:
            share *= 0.1
            found = sharpest_bend(self._body.model.compute_outline(self._moved(share * moved)))
        straight = sharpest_bend(self._body.model.compute_outline(self._state))
        turned = (found[1] - straight[1]) / share + straight[1]
        return found[3] * turned / found[2] if found[2] else 0.0, turned, found[2], found[3]
