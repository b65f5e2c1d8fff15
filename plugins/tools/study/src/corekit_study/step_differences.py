"""The steps of a simulation, differenced about a motion: what a linear feedback law needs to know of a world.

With x = (ξ, v), ξ the displacement of the coordinates from the motion's, q = integrate(q*_k, ξ, 1), and u the driven
inputs, held over the interval from t_k to t_{k+1}, the simulator maps the state at its beginning to that at its end:

    x_{k+1} = F_k(x_k, u_k),   A_k = ∂F_k/∂x,   B_k = ∂F_k/∂u,   c_k = F_k(0, u*_k)               (1)

about the motion, x = 0. A_k and B_k are differences of whole intervals of the simulator's own steps, (F(δ) − F(−δ))/2δ,
so that they contain its contacts: what sticks, slides or lifts off within an interval does so in its differences, too.
c_k is what the motion misses; it vanishes for a motion that the simulator made itself.

ξ of a state follows from the chart C_k, the pseudoinverse of ∂integrate(q*_k, ξ, 1)/∂ξ at 0, as ξ = C_k·(q − q*_k),
which is right to the second order: of a quaternion, chords stand for angles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.roles.model import Channel, Model
from corekit.simulation.loop import Simulation

__all__ = ["MotionDifferences", "difference_motion"]

_DISPLACED = 1e-6
"""Of coordinates [m or rad] and of velocities times the interval; of inputs times their size, at least 1."""


@frozen(eq=False)
class MotionDifferences:
    """(1) along a motion of N intervals.

    Args:
        time: t_0 … t_N [s]. q, v: of the whole world, shapes (N + 1, nq), (N + 1, nv). inputs: u*, shape (N, m).
        chart: C, shape (N + 1, nv, nq). a, b, c: shapes (N, 2·nv, 2·nv), (N, 2·nv, m), (N, 2·nv).
        bodies: names in the world's order. velocities: nv of each. channels: driven ones, `body.channel`.
        channel_sizes: numbers of each.
    """

    time: Array
    q: Array
    v: Array
    inputs: Array
    chart: Array
    a: Array
    b: Array
    c: Array
    bodies: tuple[str, ...]
    velocities: tuple[int, ...]
    channels: tuple[str, ...]
    channel_sizes: tuple[int, ...]

    def as_arrays(self) -> dict[str, Array]:
        """Return everything as arrays by name, for `write_arrays`."""
        texts = {"bodies": np.array(self.bodies), "channels": np.array(self.channels)}
        counts = {
            "velocities": np.array(self.velocities, dtype=float),
            "channel_sizes": np.array(self.channel_sizes, dtype=float),
        }
        kept = ("time", "q", "v", "inputs", "chart", "a", "b", "c")
        return {**{name: getattr(self, name) for name in kept}, **texts, **counts}


def difference_motion(
    simulation: Simulation, states: Sequence[State], time: Array, inputs: Mapping[str, Array]
) -> MotionDifferences:
    """Difference the simulator's steps about a motion.

    Args:
        simulation: of the world, without controllers; its step divides every interval. It is reset many times.
        states: of the whole world at the instants.
        time: instants [s], shape (N + 1,).
        inputs: per driven body all of its inputs over each interval, shape (N, nu).
    Raises:
        StepFailed: a step from a displaced state has no answer.
    """
    bodies = [(body.name, body.model) for body in simulation.bodies]
    channels = [(name, each) for name in inputs for each in simulation.body(name).description.inputs]
    nv, count = simulation.state.v.size, len(time) - 1
    u = np.concatenate([np.zeros((count, 0)), *inputs.values()], axis=1)
    chart = np.array([_chart([model for _, model in bodies], state) for state in states])
    a, b, c = (
        np.empty((count, 2 * nv, 2 * nv)),
        np.empty((count, 2 * nv, u.shape[1])),
        np.empty((count, 2 * nv)),
    )
    for k in range(count):
        interval, goal = float(time[k + 1] - time[k]), states[k + 1]
        now = _Interval(simulation, states[k], channels, interval, chart[k + 1], goal)
        c[k] = now.end(np.zeros(2 * nv), u[k])
        by_state = np.concatenate([np.full(nv, _DISPLACED), np.full(nv, _DISPLACED / interval)])
        for i, moved in enumerate(np.diag(by_state)):
            a[k, :, i] = (now.end(moved, u[k]) - now.end(-moved, u[k])) / (2.0 * by_state[i])
        by_input = _DISPLACED * np.maximum(np.abs(u[k]), 1.0) / interval
        for i, pushed in enumerate(np.diag(by_input)):
            ends = [now.end(np.zeros(2 * nv), u[k] + sign * pushed) for sign in (1.0, -1.0)]
            b[k, :, i] = (ends[0] - ends[1]) / (2.0 * by_input[i])
    return MotionDifferences(
        time=np.asarray(time, dtype=float),
        q=np.array([state.q for state in states]),
        v=np.array([state.v for state in states]),
        inputs=u,
        chart=chart,
        a=a,
        b=b,
        c=c,
        bodies=tuple(name for name, _ in bodies),
        velocities=tuple(body.nv for body in simulation.bodies),
        channels=tuple(f"{name}.{channel.name}" for name, channel in channels),
        channel_sizes=tuple(channel.size for _, channel in channels),
    )


def _chart(models: Sequence[Model], state: State) -> Array:
    """C of (1) at a state of the world, shape (nv, nq)."""
    chart = np.zeros((state.v.size, state.q.size))
    first_v = first_q = 0
    for model, own in zip(models, state.body_states, strict=True):
        ends = [own.copy(), own.copy()]
        slopes = np.empty((own.q.size, own.v.size))
        for i, moved in enumerate(_DISPLACED * np.eye(own.v.size)):
            for end, sign in zip(ends, (1.0, -1.0), strict=True):
                model.integrate(own, sign * moved, 1.0, own, end)
            slopes[:, i] = (ends[0].q - ends[1].q) / (2.0 * _DISPLACED)
        rows, columns = slice(first_v, first_v + own.v.size), slice(first_q, first_q + own.q.size)
        chart[rows, columns] = np.linalg.pinv(slopes)
        first_v, first_q = rows.stop, columns.stop
    return chart


class _Interval:
    """F_k of (1)."""

    def __init__(
        self,
        simulation: Simulation,
        start: State,
        channels: Sequence[tuple[str, Channel]],
        length: float,
        chart: Array,
        goal: State,
    ) -> None:
        self._simulation, self._start, self._length = simulation, start, length
        self._channels, self._chart, self._goal = channels, chart, goal

    def end(self, x: Array, u: Array) -> Array:
        """Return x at the end, shape (2·nv,)."""
        simulation, begun = self._simulation, self._start.copy()
        moved, faster = np.split(x, 2)
        first = 0
        for body, own, out in zip(simulation.bodies, self._start.body_states, begun.body_states, strict=True):
            body.model.integrate(own, moved[first : first + body.nv], 1.0, own, out)
            first += body.nv
        begun.v[:] = self._start.v + faster
        simulation.reset(state=begun)
        first = 0
        for name, channel in self._channels:
            simulation.inputs[name][channel.name] = u[first : first + channel.size]
            first += channel.size
        simulation.run(self._length)
        q, v = simulation.state.q, simulation.state.v
        return np.concatenate([self._chart @ (q - self._goal.q), v - self._goal.v])
