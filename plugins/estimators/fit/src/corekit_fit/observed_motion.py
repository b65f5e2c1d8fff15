"""A run that was observed as a part of the program: its unknowns, equations and markers."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from scipy import sparse

from corekit.data.arrays import Array, BoolArray, IntArray
from corekit.roles.estimator import EstimationTask
from corekit_fit.mapped_program import Block, Rows, select_rows
from corekit_fit.marker_positions import MarkerPositions
from corekit_fit.motion import Motion
from corekit_fit.observations import Observations

__all__ = ["ObservedMotion"]


@final
class ObservedMotion:
    """A run, its unknowns numbered instant by instant.

    Args:
        task: the body in its scenario.
        motion: its functions.
        observed, positions, deviation: its markers.
        first: number of its first unknown.
        start_is_free: whether the initial state is unknown.

    Attributes:
        times: instants [s], shape (K + 1,).
        state: indices of q and v of every instant in the unknowns, (K + 1, 2, nv).
        forces, contact_forces, unmodelled_forces, shifts: indices of λ, ν, ρ, ς of every step, −1 for ν without
            contact, shape (K, …).
        end: number after its last unknown.
    """

    def __init__(
        self,
        task: EstimationTask,
        motion: Motion,
        observed: Observations,
        positions: MarkerPositions,
        deviation: float,
        first: int,
        *,
        start_is_free: bool,
    ) -> None:
        self.task, self.motion, self.start_is_free = task, motion, start_is_free
        self.observed, self.positions, self.deviation = observed, positions, deviation
        steps = max(math.ceil(observed.time[-1] / task.step - 1e-6), 1)
        self.times: Array = task.step * np.arange(steps + 1.0)
        self.active: BoolArray = np.array(
            [[each.is_active(float(time)) for each in motion.contacts] for time in self.times], dtype=bool
        ).reshape(steps + 1, -1)
        self._inexact, self._shifted = (
            motion.free[each[motion.free] > 0.0] for each in (motion.deviations, motion.shifts)
        )
        # columns of a table of all instants; what is absent has no number
        widths = [2 * motion.size, motion.count, len(motion.contacts), len(self._inexact), len(self._shifted)]
        present = np.ones((steps + 1, sum(widths)), dtype=bool)
        present[0, widths[0] :] = False
        nu = widths[0] + widths[1]
        present[1:, nu : nu + widths[2]] = self.active[1:]
        table = np.where(present, first - 1 + np.cumsum(present).reshape(present.shape), -1)
        self.end = first + int(present.sum())
        state, *others = np.split(table, np.cumsum(widths)[:-1], axis=1)
        self.state: IntArray = state.reshape(steps + 1, 2, -1)
        self._instant_forces: IntArray = others[0]
        self.forces, self.contact_forces, self.unmodelled_forces, self.shifts = (each[1:] for each in others)

    def between(self, time: float) -> tuple[int, float]:
        """Return the instant before a time [s], and the fraction of the step after it."""
        k = min(max(int(time / self.task.step + 1e-6), 0), len(self.times) - 1)
        fraction = time / self.task.step - k
        return k, fraction if abs(fraction) > 1e-6 else 0.0

    def constraints(self, parameters: IntArray, size: int, rows: Rows) -> list[Block]:
        """Return steps and instants as blocks and add what is linear in them to the rows.

        Args:
            parameters: indices of z.
            size: count of all unknowns.
            rows: of the program.
        """
        motion, steps, n = self.motion, len(self.times) - 1, self.motion.size
        every = np.tile(parameters, (steps + 1, 1))
        ends = np.concatenate([self.state[:-1], self.state[1:]], axis=1).reshape(steps, -1)
        states = sparse.csr_matrix(
            sparse.kron(sparse.identity(steps), motion.step_coordinates)
        ) @ select_rows(ends, size)
        numbers = _interleave(
            [
                select_rows(every[1:], size),
                states,
                select_rows(np.hstack([self.forces, self.contact_forces]), size),
            ],
            steps,
        )
        free = np.zeros((steps, n), dtype=bool)
        # prescribed coordinates need no equation: their force is free
        free[:, motion.free] = True
        step_rows = rows.new(free)
        rows.add(step_rows[:, self._inexact], self.unmodelled_forces, -motion.deviations[self._inexact])
        load_times = self.times[:-1] + motion.scheme.fraction * self.task.step
        blocks = [Block(motion.step, numbers, self._data(load_times, 1), step_rows, motion.step_jacobian)]
        shift_rows = rows.new(free)
        shift = sparse.coo_matrix(motion.shift)
        rows.add(shift_rows[:, shift.row], ends[:, shift.col], shift.data)
        rows.add(shift_rows[:, self._shifted], self.shifts, -motion.shifts[self._shifted])
        begin = 0 if self.start_is_free else 1
        flat = self.state.reshape(steps + 1, -1)
        if motion.instant.numel_out(0):
            index = np.hstack([every, flat, self._instant_forces])[begin:]
            kept = np.hstack([np.ones((steps + 1, motion.count), dtype=bool), self.active])[begin:]
            blocks.append(
                Block(
                    motion.instant,
                    select_rows(index, size),
                    self._data(self.times[begin:], 1),
                    rows.new(kept),
                )
            )
        if self.start_is_free and motion.first.numel_out(0):
            rigid = motion.first.numel_out(0) - len(motion.contacts)
            kept = np.hstack([np.ones((1, rigid), dtype=bool), self.active[:1]])
            index = np.hstack([every[:1], flat[:1]])
            blocks.append(
                Block(motion.first, select_rows(index, size), self._data(self.times[:1], 2), rows.new(kept))
            )
        return blocks

    def _data(self, times: Array, poses: int) -> Array:
        """Return inputs and poses of obstacles at times, and also a step later if `poses` is 2; a column a time."""
        later = self.task.step * np.arange(poses)
        return np.column_stack(
            [
                np.concatenate(
                    [self.task.inputs(float(time)), *(self.motion.poses(float(time + h)) for h in later)]
                )
                for time in times
            ]
        )

    def misfit(self, size: int) -> Block:
        """Return the first sum of (1) of `program`, with linear interpolation of the coordinates between instants."""
        q, rows = self.state[:, 0], []
        for time in self.observed.time:
            k, fraction = self.between(float(time))
            before, after = q[k : k + 1], q[min(k + 1, len(q) - 1)][None]
            rows.append(select_rows(before, size, 1.0 - fraction) + select_rows(after, size, fraction))
        places = self.observed.position.reshape(len(rows), -1)
        seen = np.isfinite(places)
        data = np.vstack([np.where(seen, places, 0.0).T, (seen / self.deviation).T])
        return Block(self.motion.markers, sparse.vstack(rows).tocsr(), data, np.zeros((0, 0), dtype=np.int64))

    def set_bounds(self, low: Array, high: Array) -> None:
        """Write the bounds of its unknowns."""
        motion = self.motion
        low[self.contact_forces[self.contact_forces >= 0]] = 0.0
        active = motion.prescribed_index
        for k, time in enumerate(self.times.tolist() if len(active) else []):
            for index, known in zip(self.state[k][:, active], motion.prescribed(time), strict=True):
                low[index] = high[index] = known
        if not self.start_is_free:
            for index, known in zip(self.state[0], (self.task.start.q, self.task.start.v), strict=True):
                low[index] = high[index] = known


def _interleave(parts: list[Any], places: int) -> Any:
    """Return the rows of matrices, each of `places` equal groups, group by group."""
    widths = [part.shape[0] // places for part in parts]
    begin = np.cumsum([0, *(part.shape[0] for part in parts)])
    order = np.hstack(
        [
            first + np.arange(places * width).reshape(places, width)
            for first, width in zip(begin[:-1], widths, strict=True)
        ]
    )
    return sparse.vstack(parts).tocsr()[order.ravel()]
