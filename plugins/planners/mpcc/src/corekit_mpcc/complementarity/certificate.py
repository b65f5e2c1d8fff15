"""What a point is worth, measured on the program as stated: physical units, no relaxation, no scaling.

For a family with sides G, H at every step

    natural  = max |min(G, H)|,   product = max |G·H|,   negative = max(0, −G), max(0, −H)          (1)

and for a group of rows the largest violation of its bounds. Nothing here is taken from the solver or from the
relaxed program that it solved.

`natural` is what certifies: it is zero exactly at complementary points and, unlike the product, does not shrink
because one side is small everywhere. Where the sides have different units it is in the smaller one's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import casadi as ca
import numpy as np
from attrs import frozen

from corekit.data.arrays import Array
from corekit_mpcc.complementarity.problem import Mpcc

__all__ = ["Certificate", "Certifier", "PairResidual"]


@frozen
class PairResidual:
    """Residuals (1) of one family.

    Attributes:
        natural: max |min(G, H)|.
        product: max |G·H|.
        first_negative, second_negative: how far below zero the sides go.
        stage, pair: where `natural` is taken.
        tolerance: of `natural`.
    """

    natural: float
    product: float
    first_negative: float
    second_negative: float
    stage: int
    pair: int
    tolerance: float


@frozen
class Certificate:
    """What a point is worth.

    Attributes:
        cost: Σ c.
        rows: by group, the largest violation [the group's unit] and its tolerance.
        families: by family.
        bounds: largest violation of the variables' bounds [the variable's unit].
        finite: whether every number is finite.
        culprit: the group, family or variable that violates most, measured in its tolerance, and where.
        worst: that violation / tolerance.
    """

    cost: float
    rows: Mapping[str, tuple[float, float]]
    families: Mapping[str, PairResidual]
    bounds: float
    finite: bool
    culprit: str
    worst: float

    @property
    def certified(self) -> bool:
        """Whether every residual is within its tolerance."""
        return self.finite and self.worst <= 1.0

    @property
    def infeasibility(self) -> float:
        """Largest violation of rows, signs and bounds."""
        signs = (max(f.first_negative, f.second_negative) for f in self.families.values())
        return max([self.bounds, *(value for value, _ in self.rows.values()), *signs])

    @property
    def complementarity(self) -> float:
        """Largest `natural` of all families."""
        return max([0.0, *(f.natural for f in self.families.values())])


@final
class Certifier:
    """Measures points of one program.

    Args:
        program: as stated.
        bounds_tolerance: violation of a variable's bounds up to which a point is feasible, in units of its scale.
    """

    def __init__(self, program: Mpcc, bounds_tolerance: float = 1e-6) -> None:
        self._program = program
        self._bounds_tolerance = bounds_tolerance
        columns = [ca.densify(ca.SX(program.cost))]
        columns += [ca.densify(rows.expression) for rows in program.rows]
        for family in program.families:
            columns += [ca.densify(family.first), ca.densify(family.second)]
        self._step = ca.Function("stated", program.arguments(), columns, {"cse": True})
        self._steps = self._step.map(program.stages)

    def __call__(
        self,
        x: Array,
        shared: Array,
        own: Array,
        start: Array,
        low: Array,
        high: Array,
        without: frozenset[str] = frozenset(),
    ) -> Certificate:
        """Measure one point.

        Args:
            x: physical variables, shape (N, n); own: (N, k); start: x_{−1}, shape (n,) or (0,).
            low, high: bounds of x, shape (N, n).
            without: rows and families that are not asked for.
        """
        program = self._program
        stages = program.stages
        told = self._values(x, shared, own, start)
        cost = float(told[0].sum())
        finite = bool(np.all(np.isfinite(x))) and all(bool(np.all(np.isfinite(value))) for value in told)
        shares: list[tuple[float, str]] = []
        rows: dict[str, tuple[float, float]] = {}
        for group, value in zip(program.rows, told[1:], strict=False):
            if group.name in without or group.size == 0:
                continue
            chosen = {"every": slice(None), "first": slice(0, 1), "last": slice(-1, None)}[group.at]
            off = np.maximum(np.maximum(group.low - value, value - group.high), 0.0)[chosen]
            off = np.where(np.isnan(off), np.inf, off)
            worst = float(off.max())
            step, entry = np.unravel_index(int(off.argmax()), off.shape)
            step = step + (stages - 1 if group.at == "last" else 0)
            rows[group.name] = (worst, group.tolerance)
            shares.append(
                (worst / group.tolerance, f"{group.name}[{entry}] at step {step}: {worst:.3g} {group.unit}")
            )
        families: dict[str, PairResidual] = {}
        at = 1 + len(program.rows)
        for family in program.families:
            first, second = told[at], told[at + 1]
            at += 2
            if family.name in without or family.size == 0:
                continue
            off = np.abs(np.minimum(first, second))
            off = np.where(np.isnan(off), np.inf, off)
            step, pair = np.unravel_index(int(off.argmax()), off.shape)
            families[family.name] = PairResidual(
                natural=float(off.max()),
                product=float(np.abs(first * second).max()),
                first_negative=float(np.maximum(-first, 0.0).max()),
                second_negative=float(np.maximum(-second, 0.0).max()),
                stage=int(step),
                pair=int(pair),
                tolerance=family.tolerance,
            )
            share = float(off.max()) / family.tolerance
            shares.append((share, f"{family.name}[{pair}] at step {step}: |min| = {float(off.max()):.3g}"))
        outside = np.maximum(np.maximum(low - x, x - high), 0.0)
        scaled = outside / program.scales
        step, entry = np.unravel_index(int(scaled.argmax()), scaled.shape)
        shares.append(
            (
                float(scaled.max()) / self._bounds_tolerance,
                f"bound of {program.variable(int(entry))} at step {step}: {outside[step, entry]:.3g}",
            )
        )
        worst, culprit = max(shares, key=lambda share: share[0])
        return Certificate(
            cost=cost,
            rows=rows,
            families=families,
            bounds=float(outside.max()),
            finite=finite,
            culprit=culprit if worst > 0.0 else "",
            worst=worst if finite else float("inf"),
        )

    def sides(self, x: Array, shared: Array, own: Array, start: Array) -> dict[str, tuple[Array, Array]]:
        """Both sides of every family, in the scales of the nonlinear program, shape (N, pairs) each."""
        told = self._values(x, shared, own, start)[1 + len(self._program.rows) :]
        return {
            family.name: (family.first_scale * told[2 * i], family.second_scale * told[2 * i + 1])
            for i, family in enumerate(self._program.families)
        }

    def _values(self, x: Array, shared: Array, own: Array, start: Array) -> list[Array]:
        """Cost, rows and sides of every step, shape (N, size) each."""
        stages = self._program.stages
        before = (
            np.vstack([start[None, :], x[:-1]]) if self._program.before is not None else np.zeros((stages, 0))
        )
        given = (before.T, x.T, np.repeat(shared[:, None], stages, axis=1), own.T)
        values = self._steps.call([ca.DM(part) for part in given])
        return [value.full().T for value in values]
