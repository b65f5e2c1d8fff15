"""An equilibrium, and the options of the search for it."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from corekit.data.arrays import Array
from corekit.data.contacts import ContactRecord
from corekit.data.state import State
from corekit_statics.stability import Stability

__all__ = ["Equilibrium", "SearchOptions"]


@frozen(kw_only=True)
class SearchOptions:
    """Options of the search for an equilibrium.

    Args:
        tolerance: accepted out-of-balance force relative to the largest force term of the same state.
        max_iterations: steps at one load factor; the viscous flow may take ten times as many more.
        load_steps: equal steps of the load factor.
    """

    tolerance: float = 1e-10
    max_iterations: int = 150
    load_steps: int = 1


@frozen(eq=False)
class Equilibrium:
    """A world at equilibrium.

    Args:
        state: q, with v = 0, at time T.
        load_factor: s.
        iterations: steps from the equilibrium before, or from the start.
        out_of_balance_force: F, zero at prescribed entries, shape (nv,) [N or N·m].
        residual: largest |F| by unit, for example {"N": 3e-12}.
        constraint_error: largest error of position constraints [m or rad].
        gap_error: largest |gap| of pressing contacts, or penetration of others [m].
        scale: largest force term on any coordinate, to which the tolerance is relative [N or N·m].
        energy: potential energy of bodies and contact potentials [J]; nan where a model gives none.
        reactions: forces on prescribed coordinates, stacked over bodies [N or N·m].
        constraint_forces: λ_b of every body [N or N·m].
        contacts: what every contact carries, as impulses over 1 s.
        stability: whether the world returns to it.
        note: a remark for the user, or empty.
    """

    state: State
    load_factor: float
    iterations: int
    out_of_balance_force: Array
    residual: Mapping[str, float]
    constraint_error: float
    gap_error: float
    scale: float
    energy: float
    reactions: Array
    constraint_forces: tuple[Array, ...]
    contacts: ContactRecord
    stability: Stability
    note: str = ""

    @property
    def q(self) -> Array:
        """Coordinates, shape (nq,)."""
        return self.state.q
