"""Certificate of a point in the original program: physical units, no relaxation, no scaling.

For a family with sides G, H at every step

    natural  = max |min(G, H)|,   product = max |G·H|,   negative = max(0, −G), max(0, −H)          (1)

and for a group of rows the largest violation of its bounds.

`natural` certifies a family: it is zero exactly at complementary points and, unlike the product, is not small just
because one side is small everywhere. It has the unit of the smaller side.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

__all__ = ["Certificate", "CertificateSummary", "PairResidual"]


@frozen
class PairResidual:
    """Residuals (1) of one family.

    Attributes:
        natural: max |min(G, H)|.
        product: max |G·H|.
        first_negative, second_negative: max(0, −G) and max(0, −H).
        stage, pair: step and pair of `natural`.
        tolerance: tolerance of `natural`.
    """

    natural: float
    product: float
    first_negative: float
    second_negative: float
    stage: int
    pair: int
    tolerance: float


@frozen
class CertificateSummary:
    """Summary of a certificate, for every iterate.

    Attributes:
        cost: Σ c.
        infeasibility: largest violation of rows, signs and bounds.
        complementarity: largest `natural` of all families.
        worst: largest violation / its tolerance; infinite if a number is not finite.
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
    """Certificate of a point.

    Attributes:
        cost: Σ c.
        rows: largest violation [unit of the group] and tolerance by group.
        families: residuals by family.
        bounds: largest violation of the variables' bounds [the variable's unit].
        finite: whether every number is finite.
        culprit: group, family or variable with the largest violation / tolerance, and its step.
        worst: this violation / tolerance; infinite if a number is not finite.
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
