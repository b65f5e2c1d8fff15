"""Materials of divisions as symbols: Young's modulus and viscosity in the sections' elastic and viscous diagonals.

    Σ = diag(G·J, E·I_y, E·I_z, E·A, k_y·G·A, k_z·G·A),   Υ = η·diag(J, 3·I_y, 3·I_z, 3·A, k_y·A, k_z·A),
    G = E/(2·(1 + ν))                                                                                     (1)

so Σ goes with E, and Υ is what Σ says of the section's shape, times η. Sections given by their rigidity have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, final

import casadi as ca
import numpy as np

from corekit.data.arrays import Array
from corekit.roles.symbolic import SymbolicParameter
from corekit_gvs.tree import Tree

__all__ = ["Materials"]

Expression = Any


@final
class Materials:
    """Σ and Υ of every quadrature point, as numbers or with parameters in them.

    Args:
        tree: as built.
        names: the parameters that are symbols.
        without_young: paths of divisions whose elastic law does not hold Hooke's rigidities.

    Attributes:
        parameters: what there is, named as the options: `links[0].divisions[0].young`.
        symbols: of `names`.
    """

    def __init__(
        self, tree: Tree, names: tuple[str, ...] = (), without_young: AbstractSet[str] = frozenset()
    ) -> None:
        self.symbols = {name: ca.SX.sym(name) for name in names}
        self.parameters: Mapping[str, SymbolicParameter] = {}
        found: dict[str, SymbolicParameter] = {}
        self._of_point: dict[int, tuple[str, float, float]] = {}
        for part in (part for parts in tree.parts.values() for part in parts):
            division = part.division
            if division.section == "given":
                continue
            if part.path not in without_young:
                found[f"{part.path}.young"] = SymbolicParameter("Pa", division.young)
            found[f"{part.path}.viscosity"] = SymbolicParameter("Pa·s", division.viscosity)
            for i in part.quadrature:
                self._of_point[i] = part.path, division.young, division.poisson
        self.parameters = found

    def elastic(self, i: int, numbers: Array) -> Expression:
        """Σ's diagonal at a quadrature point, (6, 1), from its numbers."""
        path, young, _ = self._of_point.get(i, ("", 1.0, 0.0))
        symbol = self.symbols.get(f"{path}.young")
        return ca.DM(numbers) if symbol is None else ca.DM(numbers / young) * symbol

    def viscous(self, i: int, numbers: Array, elastic: Array) -> Expression:
        """Υ's diagonal at a quadrature point, (6, 1), from its numbers and those of Σ."""
        path, young, poisson = self._of_point.get(i, ("", 1.0, 0.0))
        symbol = self.symbols.get(f"{path}.viscosity")
        if symbol is None:
            return ca.DM(numbers)
        shear = 0.5 / (1.0 + poisson)
        shape = np.array([1.0 / shear, 3.0, 3.0, 3.0, 1.0 / shear, 1.0 / shear]) / young
        return ca.DM(shape * elastic) * symbol
