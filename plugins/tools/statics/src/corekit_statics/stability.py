"""Whether an equilibrium is stable: the lowest squares ω² of the frequencies of small motions about it.

ω² > 0: the world swings back, √ω² is the frequency of the slowest mode. ω² < 0: it leaves with the rate √−ω². An ω²
that is 0 but for rounding of K and M is neutral: a free body has six such modes. The equation and what it leaves out
stand in `small_motions`: it does not contain the turning of contact normals, so that a ball in a hollow is neutral
here, as on a plane; how ω² and its error are found in `lowest_modes`; and what decides under loads that have no energy,
such as forces that follow the body, in `circulation`.
"""

from __future__ import annotations

import math

import numpy as np
from attrs import evolve, field, frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit_statics.circulation import (
    LARGEST_CIRCULATORY,
    Circulation,
    circulates,
    circulates_without_mass,
    find_circulation,
)
from corekit_statics.equilibrium_system import EquilibriumSystem
from corekit_statics.lowest_modes import IndefiniteError, LowestModes, lowest_modes
from corekit_statics.small_motions import LARGEST_DENSE, SmallMotions, small_motions

__all__ = ["Stability", "stability_of"]

_SWINGS = 1e-3
"""Im s/|s| from which a motion that grows is said to flutter."""
_FIRST = 8
"""Modes looked for at first: the rigid motions of a free body, and one that decides."""


@frozen(eq=False)
class Stability:
    """The lowest small motions about an equilibrium.

    Args:
        verdict: `stable`, `neutral`, `unstable` or `not judged`.
        smallest: lowest ω² [1/s²]; nan if it is not known.
        modes: number of unstable modes; −1 if there are some but their number is not known.
        reason: why there is no verdict, or what was left out.
        mode: the lowest one as a displacement, of largest entry 1, shape (nv,); None if it is not known.
        neutral: number of modes without stiffness, such as rigid motions.
        error: the size up to which `smallest` may be 0 but for rounding [1/s²]; nan if it is not known.
        motions: the small motions that were judged, or None.
        growth: s of the fastest motion under loads without an energy, which leaves as exp(s·t) [1/s]; 0 if none does.
        circulation: small motions under such loads, where they matter.
    """

    verdict: str
    smallest: float = math.nan
    modes: int = 0
    reason: str = ""
    mode: Array | None = None
    neutral: int = 0
    error: float = math.nan
    motions: SmallMotions | None = field(default=None, repr=False)
    growth: complex = 0.0
    circulation: Circulation | None = field(default=None, repr=False)

    @property
    def stable(self) -> bool:
        """Whether the world returns after every small displacement."""
        return self.verdict == "stable"

    def __str__(self) -> str:
        if math.isnan(self.smallest):
            said = self.verdict
        elif self.growth:
            count, pace = _modes(self.modes), f"grows by e in {1 / self.growth.real:.3g} s"
            swings = abs(self.growth.imag) > _SWINGS * abs(self.growth)
            by = f" by flutter at {self.growth.imag / (2 * math.pi):.4g} Hz" if swings else ""
            said = f"unstable{by}, {count}, {pace}"
        elif self.verdict == "stable" and self.smallest < 0.0:
            said = "stable by damping"
        elif self.verdict == "stable":
            said = f"stable, slowest mode {math.sqrt(self.smallest) / (2 * math.pi):.4g} Hz"
        elif self.verdict == "unstable":
            count = "" if self.modes < 0 else f"{_modes(self.modes)}, "
            said = f"unstable, {count}grows by e in {1 / math.sqrt(-self.smallest):.3g} s"
        else:
            said = f"neutral, {_modes(self.neutral)} without stiffness"
        return f"{said} ({self.reason})" if self.reason else said


def _modes(count: int) -> str:
    return f"{count} mode{'s' if count != 1 else ''}"


def stability_of(system: EquilibriumSystem, state: State) -> Stability:
    """The stability of the state that a system was evaluated at last, with its λ."""
    motions = small_motions(system)
    if motions is None:
        return Stability("not judged", reason=f"more than {LARGEST_DENSE} velocities with rows or contacts")
    count = _FIRST
    try:
        while True:
            found = lowest_modes(motions, count)
            # beyond the unstable and neutral ones there must be one that is neither, or no more
            if len(found.squares) < count or found.squares[-1] > found.errors[-1]:
                break
            count *= 2
    except IndefiniteError:
        if circulates_without_mass(system, state, motions):
            reason = "coordinates without mass under loads without an energy"
            return Stability("not judged", reason=reason, motions=motions)
        return _without_mass(motions)
    judged = _judge(found, motions)
    if not circulates(system, state, motions, found):
        return judged
    if (system.contacts.potential is not None and system.contacts.count) or motions.reason:
        left = f"{motions.reason}, what loads do without an energy left out"
        return evolve(judged, reason=left.removeprefix(", "))
    if len(motions.free) > LARGEST_CIRCULATORY:
        reason = f"loads without an energy on more than {LARGEST_CIRCULATORY} velocities"
        return Stability("not judged", reason=reason, motions=motions)
    return _judge_circulation(find_circulation(system, state, motions, found), judged)


def _judge_circulation(found: Circulation, symmetric: Stability) -> Stability:
    motions, unstable = symmetric.motions, len(found.growing)
    assert motions is not None
    verdict = "unstable" if unstable else "neutral" if found.neutral else "stable"
    growth = complex(found.growing[0]) if unstable else 0.0
    mode, smallest = motions.displacement(found.shapes[:, 0]), float(found.squares[0].real)
    return evolve(
        symmetric, verdict=verdict, smallest=smallest, modes=unstable, mode=mode, neutral=found.neutral,
        error=float(found.errors[0]), growth=growth, circulation=found,
    )  # fmt: skip


def _judge(found: LowestModes, motions: SmallMotions) -> Stability:
    if not len(found.squares):
        return Stability("stable", reason="nothing can move", motions=motions)
    unstable = int(np.count_nonzero(found.squares < -found.errors))
    neutral = int(np.count_nonzero(np.abs(found.squares) <= found.errors))
    return Stability(
        "unstable" if unstable else "neutral" if neutral else "stable",
        float(found.squares[0]),
        unstable,
        motions.reason,
        motions.displacement(found.shapes[:, 0]),
        neutral,
        float(found.errors[0]),
        motions,
    )


def _without_mass(motions: SmallMotions) -> Stability:
    """The verdict where massless coordinates leave ω² without meaning, but not its sign."""
    reason = f"{motions.reason}, massless coordinates" if motions.reason else "massless coordinates"
    if len(motions.free) > LARGEST_DENSE:
        return Stability("unstable", modes=-1, reason=reason, motions=motions)
    stiffness = motions.stiffness
    if not isinstance(stiffness, np.ndarray):
        stiffness = stiffness.toarray()
    if motions.kernel is not None:
        stiffness = motions.kernel.T @ stiffness @ motions.kernel
    scale = np.sqrt(np.maximum(np.abs(stiffness.diagonal()), 1e-300))
    values = np.linalg.eigvalsh(stiffness / np.outer(scale, scale))
    # a symmetric solver's error, relative to the largest
    error = len(values) * float(np.finfo(float).eps) * float(np.max(np.abs(values)))
    unstable = int(np.count_nonzero(values < -error))
    neutral = int(np.count_nonzero(np.abs(values) <= error))
    verdict = "unstable" if unstable else "neutral" if neutral else "stable"
    return Stability(verdict, math.nan, unstable, reason, neutral=neutral, motions=motions)
