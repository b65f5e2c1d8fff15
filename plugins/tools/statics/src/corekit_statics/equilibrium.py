"""What statics answers, and how it is asked."""

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
    """How an equilibrium is looked for.

    Args:
        tolerance: unbalanced force that is small enough, as a share of the largest force term.
        max_iterations: steps at one load factor.
        load_steps: equal steps of the load factor.
    """

    tolerance: float = 1e-10
    max_iterations: int = 150
    load_steps: int = 1


@frozen(eq=False)
class Equilibrium:
    """A world in balance.

    Args:
        state: q at rest, v = 0, at time T.
        load: load factor s.
        iterations: steps it took from the equilibrium before, or from the start.
        unbalanced: F, zero at prescribed entries, shape (nv,) [N or N·m].
        residual: largest |F| by unit, for example {"N": 3e-12}.
        row_error: largest error of bilateral rows [m or rad].
        gap_error: how far pressing contacts are from touching, or others inside [m].
        scale: largest force term on any coordinate: what the tolerance is a share of [N or N·m].
        energy: potential energy of bodies and contact potentials [J]; nan where a model cannot tell.
        reactions: on prescribed coordinates, stacked over bodies [N or N·m].
        row_forces: λ_b of every body's rows [N or N·m].
        contacts: what every contact carries, as impulses over 1 s.
        stability: of it.
        note: what else is to be known, empty if nothing.
    """

    state: State
    load: float
    iterations: int
    unbalanced: Array
    residual: Mapping[str, float]
    row_error: float
    gap_error: float
    scale: float
    energy: float
    reactions: Array
    row_forces: tuple[Array, ...]
    contacts: ContactRecord
    stability: Stability
    note: str = ""

    @property
    def q(self) -> Array:
        """Coordinates, shape (nq,)."""
        return self.state.q
