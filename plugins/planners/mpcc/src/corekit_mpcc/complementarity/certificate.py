"""What a point is worth, measured on the program as stated: physical units, no relaxation, no scaling.

For a family with sides G, H at every step

    natural  = max |min(G, H)|,   product = max |G·H|,   negative = max(0, −G), max(0, −H)          (1)

and for a group of rows the largest violation of its bounds.

`natural` is what certifies: it is zero exactly at complementary points and, unlike the product, does not shrink
because one side is small everywhere. Where the sides have different units it is in the smaller one's.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

__all__ = ["Certificate", "PairResidual", "Verdict"]


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
class Verdict:
    """A certificate in four numbers, for every iterate.

    Attributes:
        cost: Σ c.
        infeasibility: largest violation of rows, signs and bounds.
        complementarity: largest `natural` of all families.
        worst: largest violation / its tolerance; infinite where a number is not finite.
    """

    cost: float
    infeasibility: float
    complementarity: float
    worst: float

    @property
    def certified(self) -> bool:
        """Whether every residual is within its tolerance."""
        return self.worst <= 1.0


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
        worst: that violation / tolerance; infinite where a number is not finite.
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
        return self.worst <= 1.0

    @property
    def infeasibility(self) -> float:
        """Largest violation of rows, signs and bounds."""
        signs = (max(f.first_negative, f.second_negative) for f in self.families.values())
        return max([self.bounds, *(value for value, _ in self.rows.values()), *signs])

    @property
    def complementarity(self) -> float:
        """Largest `natural` of all families."""
        return max([0.0, *(f.natural for f in self.families.values())])
