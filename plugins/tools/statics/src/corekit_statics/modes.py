"""Natural frequencies and shapes of small motions about an equilibrium."""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
from attrs import Factory, field, frozen

from corekit.data.arrays import Array
from corekit.data.state import State
from corekit.errors import StaticsFailed
from corekit.simulation.loop import Simulation
from corekit_statics.circulation import Circulation
from corekit_statics.equilibrium import Equilibrium
from corekit_statics.equilibrium_path import frame_positions
from corekit_statics.lowest_modes import IndefiniteError, lowest_modes
from corekit_statics.small_motions import SmallMotions

__all__ = ["Modes", "displaced", "modes_of", "visible_amplitude"]

_SHOWN = 0.15
"""Largest displacement of a frame in a picture of a mode, relative to the size of the world."""
_PAIRED = 1e-6
"""Im ω²/|ω²| above which two modes have become a pair that flutters."""
_TURNED = 0.3
"""Largest rotation or coordinate in a picture of a mode that moves no frame's origin."""


@final
@frozen(eq=False)
class Modes:
    """The lowest modes about an equilibrium, x(t) = x·exp(±iωt).

    Args:
        squares: ω² in ascending order, of modes that flutter its real part [1/s²], shape (k,).
        flutter: Im ω² ≥ 0 under loads without an energy [1/s²], shape (k,); 0 of other modes.
        errors: size up to which an ω² may be 0 but for rounding [1/s²], shape (k,).
        shapes: displacements x of all velocities with xᵀ·M·x = 1, shape (nv, k).
        reason: what was left out, or empty.
    """

    squares: Array
    errors: Array
    shapes: Array = field(repr=False)
    reason: str = ""
    flutter: Array = field(
        default=Factory(lambda modes: np.zeros(len(modes.squares)), takes_self=True), repr=False
    )

    @property
    def frequencies(self) -> Array:
        """Re ω/2π [Hz], shape (k,); 0 for a mode without stiffness, nan for one that grows without swinging."""
        values = np.where(np.abs(self.squares) <= self.errors, 0.0, self.squares) + 1j * self.flutter
        swings = (values.real >= 0.0) | (values.imag > 0.0)
        return np.where(swings, np.sqrt(values).real / (2.0 * math.pi), np.nan)

    @property
    def growth(self) -> Array:
        """Im ω, the rate by which a mode grows [1/s], shape (k,); nan where it does not."""
        values = np.where(np.abs(self.squares) <= self.errors, 0.0, self.squares) + 1j * self.flutter
        return np.where((values.real < 0.0) | (values.imag > 0.0), np.sqrt(values).imag, np.nan)

    def as_data(self, names: list[str]) -> list[dict[str, Any]]:
        """The modes as JSON; `names` (nv,) are those of the velocities."""
        rows: list[dict[str, Any]] = []
        for k, (frequency, growth) in enumerate(zip(self.frequencies, self.growth, strict=True)):
            square, shape = float(self.squares[k]), self.shapes[:, k]
            rows.append(
                {
                    "mode": k + 1,
                    "frequency_Hz": float(frequency) if math.isfinite(frequency) else None,
                    "growth_1_per_s": float(growth) if math.isfinite(growth) else None,
                    "omega_squared_1_per_s2": square,
                    "error_1_per_s2": float(self.errors[k]),
                    "largest_in": names[int(np.argmax(np.abs(shape)))],
                    "shape": shape.tolist(),
                }
            )
        return rows


def modes_of(equilibrium: Equilibrium, count: int) -> Modes:
    """The `count` lowest modes about an equilibrium, or all there are.

    Raises:
        StaticsFailed: they cannot be found, with the reason.
    """
    stability = equilibrium.stability
    motions, circulation = stability.motions, stability.circulation
    if motions is None or stability.verdict == "not judged":
        raise StaticsFailed(f"the modes were not looked for: {stability.reason}")
    if circulation is not None:
        return _circulating(circulation, motions, count)
    try:
        found = lowest_modes(motions, count)
    except IndefiniteError as error:
        raise StaticsFailed(
            "the frequencies are not known: coordinates without mass have no stiffness, or a negative one"
        ) from error
    shapes = np.zeros((motions.size, len(found.squares)))
    shapes[motions.free] = found.shapes
    first = slice(0, count)
    return Modes(found.squares[first], found.errors[first], shapes[:, first], stability.reason)


def _circulating(found: Circulation, motions: SmallMotions, count: int) -> Modes:
    shapes = np.zeros((motions.size, len(found.squares)))
    shapes[motions.free] = found.shapes
    first = slice(0, count)
    squares = found.squares[first]
    flutter = np.where(squares.imag > _PAIRED * np.abs(squares), squares.imag, 0.0)
    return Modes(squares.real, found.errors[first], shapes[:, first], motions.reason, flutter)


def displaced(simulation: Simulation, equilibrium: State, shape: Array, amplitude: float) -> State:
    """A state displaced by amplitude·x from an equilibrium, at rest."""
    out = equilibrium.copy()
    for body, where in zip(simulation.bodies, simulation.system.slices, strict=True):
        part = equilibrium.body_states[body.index]
        body.model.integrate(part, amplitude * shape[where], 1.0, part, out.body_states[body.index])
    out.time = equilibrium.time
    return out


def visible_amplitude(simulation: Simulation, equilibrium: State, shape: Array) -> float:
    """The amplitude at which a shape is seen well: a frame moves by a share of the size of the world."""
    rest = frame_positions(simulation, equilibrium)
    size = float(np.max(np.ptp(rest, axis=0), initial=0.0)) if len(rest) else 0.0
    small = 1e-6 / float(np.max(np.abs(shape)))
    moved = frame_positions(simulation, displaced(simulation, equilibrium, shape, small)) - rest
    most = float(np.max(np.linalg.norm(moved, axis=1), initial=0.0)) / small
    turned = _TURNED / float(np.max(np.abs(shape)))
    # of one body of one frame nothing but the shape says how large it is
    return min(_SHOWN * size / most, 10.0 * turned) if size > 0 and most > 1e-6 else turned
