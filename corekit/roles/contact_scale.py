"""The scale of a contact problem: what its errors are measured against, so that a tolerance is a pure number.

Impulses count as the velocities that they cause, by the mobility of their contact or bounded row,

    m_c = tr W_cc/width,   m_b = W_bb                                                             (1)

An error is a residual of `corekit.roles.contact_laws` of m·λ and w [m/s], in the place of λ and w. It is relative to

    V_c = max(V, s_b·√W_nn),   V_b = √W_bb·max(s_c, s_b),   s = max |wᵢ|/√Wᵢᵢ                     (2)

with w the free velocity w₀ of a contact, its normal part only if that closes, and of a bounded row |w₀| + W_bb·|λ|, λ
the least impulse within its bounds. V is the largest of all contacts, s_c and s_b are those of contacts and of bounded
rows. s² is an energy: velocities in m/s and in rad/s can be compared by it.

A problem has one V: its slow contacts are solved as exactly as its fast ones, in m/s. Worlds of many bodies are solved
island by island, each with its own V. Where V and s_b are zero nothing closes, and λ = 0 is the solution.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np

from corekit.compiled import compiled
from corekit.data.arrays import Array
from corekit.roles.contact import StepProblem

__all__ = ["ScaledContactProblem", "contact_scales", "write_scaled"]

_LEAST = 1e-150
"""Least reference velocity: its square is a number still."""


@compiled
def contact_scales(
    diagonal: Array, free: Array, lower: Array, upper: Array, width: int, mobility: Array, reference: Array
) -> None:
    """Write (1) and (2) of the contacts and then of the bounded rows, shape (m + p,).

    Args:
        diagonal: of W, shape (R,). free: w₀, shape (R,). lower, upper: bounds of the impulses of bounded rows (p,).
    """
    rows, bounded = len(free), len(lower)
    begin = rows - bounded
    contacts = begin // width
    speed = of_contacts = of_bounded = largest = 0.0
    for c in range(contacts):
        trace = 0.0
        for i in range(c * width, (c + 1) * width):
            own = abs(free[i]) if i > c * width else max(-free[i], 0.0)
            speed, trace = max(speed, own), trace + diagonal[i]
            if diagonal[i] > 0.0:
                of_contacts = max(of_contacts, own / math.sqrt(diagonal[i]))
        mobility[c] = trace / width
        largest = max(largest, mobility[c])
    for b in range(bounded):
        own, least = diagonal[begin + b], max(lower[b], -upper[b], 0.0)
        if own > 0.0:
            of_bounded = max(of_bounded, abs(free[begin + b]) / math.sqrt(own) + math.sqrt(own) * least)
        mobility[contacts + b] = own
        largest = max(largest, own)
    for k in range(contacts + bounded):
        if not mobility[k] > 0.0:  # what no impulse moves
            mobility[k] = largest if largest > 0.0 else 1.0
    for c in range(contacts):
        own = diagonal[c * width] if diagonal[c * width] > 0.0 else mobility[c]
        reference[c] = max(speed, of_bounded * math.sqrt(own), _LEAST)
    for b in range(contacts, contacts + bounded):
        reference[b] = max(math.sqrt(mobility[b]) * max(of_contacts, of_bounded), _LEAST)


@compiled
def write_scaled(
    delassus: Array, free: Array, lower: Array, upper: Array, width: int, contacts: int, numbers: Array, guess: Array,
) -> tuple[float, float]:  # fmt: skip
    """Write W, w₀, the bounds, (1) and (2) in units of the problem's own, and λ of a guess; return these units.

    Args:
        numbers: all of them, one behind the other, see `ScaledContactProblem`.
    """
    rows, bounded = len(free), len(lower)
    matrix, ends = numbers[: rows * rows].reshape(rows, rows), rows * rows + rows
    velocity, low, high = numbers[rows * rows : ends], numbers[ends:], numbers[ends + bounded :]
    scales = numbers[ends + 2 * bounded :]
    mobility, reference = scales[: contacts + bounded], scales[contacts + bounded : 2 * (contacts + bounded)]
    for i in range(rows):
        velocity[i] = delassus[i, i]
    contact_scales(velocity, free, lower, upper, width, mobility, reference)
    speed, largest = math.inf, 0.0
    for k in range(len(mobility)):
        speed, largest = min(speed, reference[k]), max(largest, mobility[k])
    if not (speed < math.inf and largest < math.inf):  # numbers that are not finite stay so
        speed = largest = 1.0
    unit = speed / largest
    for k in range(len(mobility)):
        mobility[k] /= largest
        reference[k] /= speed
    for i in range(rows):
        velocity[i] = free[i] / speed
        guess[i] = guess[i] / unit if speed > _LEAST else 0.0
        for j in range(rows):
            matrix[i, j] = delassus[i, j] / largest
    for b in range(bounded):
        low[b], high[b] = lower[b] / unit, upper[b] / unit
    return speed, unit


@final
class ScaledContactProblem(StepProblem):
    """A `StepProblem` in units of its own: the least V of (2), and the impulse that gives the largest m that speed.

    In them the laws keep their form, and no number depends on the speeds and masses of the world.

    Attributes:
        problem: the problem in m/s and N·s.
        mobility, reference: (1) and (2) in these units, shape (m + p,).
        velocity_unit, impulse_unit: what they are [m/s], [N·s].
    """

    def __init__(self) -> None:
        self._numbers: Array = np.zeros(0)
        self._sizes = (-1, -1, -1)

    def set_problem(self, problem: StepProblem, guess: Array) -> None:
        """Set a problem, in the memory of the last one, and bring a guess into its units, in place.

        Where nothing closes, the answer is zero, and so is the guess.
        """
        free, lower, width = problem.free_velocity, problem.lower, problem.rows_per_contact
        if (len(free), len(lower), width) != self._sizes:
            self._sizes = len(free), len(lower), width
            self._allocate(*self._sizes)
        self.problem, self.id, self.gap, self.step = problem, problem.id, problem.gap, problem.step
        self.friction, self.friction_record = problem.friction, problem.friction_record
        self.velocity_unit, self.impulse_unit = write_scaled(
            np.ascontiguousarray(problem.delassus()), free, lower, problem.upper, width, self.contact_count,
            self._numbers, guess,
        )  # fmt: skip

    def _allocate(self, rows: int, bounded: int, width: int) -> None:
        self.contact_count, self.bounded_count = (rows - bounded) // width, bounded
        self.rows_per_contact, own = width, self.contact_count + bounded
        sizes = (rows * rows, rows, bounded, bounded, own, own)
        if len(self._numbers) < sum(sizes):
            self._numbers = np.empty(sum(sizes) + sum(sizes) // 2)
        parts, begin = list[Array](), 0
        for size in sizes:
            parts.append(self._numbers[begin : begin + size])
            begin += size
        self._delassus = parts[0].reshape(rows, rows)
        self.free_velocity, self.lower, self.upper, self.mobility, self.reference = parts[1:]

    def delassus(self) -> Array:
        """W in these units, shape (R, R)."""
        return self._delassus

    def write_answer(self, impulse: Array) -> None:
        """Bring impulses into N·s, in place; bounds hold exactly."""
        impulse *= self.impulse_unit
        if bounded := len(self.lower):
            np.clip(impulse[-bounded:], self.problem.lower, self.problem.upper, out=impulse[-bounded:])
