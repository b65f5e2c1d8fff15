"""Colours for colour-blind readers, on white.

Sources: Okabe & Ito (2008), "Color universal design"; Tol (2021), "Colour schemes", light scheme.
"""

from __future__ import annotations

import numpy as np

from corekit.data.arrays import Array
from corekit.data.contacts import ContactMode

__all__ = [
    "BODIES",
    "GROUND",
    "INK",
    "MODES",
    "OBSTACLE",
    "SHAPES",
    "body_colour",
    "darker",
    "hexadecimal",
    "rgb",
]

BODIES = ("#77AADD", "#EEDD88", "#FFAABB", "#BBCC33", "#99DDFF", "#C9B3DC")
OBSTACLE = "#CFCCC6"
GROUND = "#E4E2DD"
INK = "#2B2B2B"
SHAPES = 0.82
"""Brightness of collision shapes relative to the outline of their body."""
MODES: tuple[tuple[ContactMode, str, str, str], ...] = (
    (ContactMode.STICK, "stick", "#00795A", "o"),
    (ContactMode.SLIDE, "slide", "#D55E00", "D"),
)
"""Mode, name, colour and marker; an open contact has no force and is not drawn."""


def rgb(colour: str) -> Array:
    """Return red, green, blue in 0…1 of "#RRGGBB", shape (3,)."""
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0


def hexadecimal(colour: Array) -> str:
    """Return "#RRGGBB" of red, green, blue in 0…1."""
    return "#" + "".join(f"{round(255 * float(part)):02X}" for part in np.clip(colour, 0.0, 1.0))


def darker(colour: Array, factor: float = 0.72) -> Array:
    """Return a darker shade of a colour."""
    return colour * factor


def body_colour(index: int) -> Array:
    """Return the colour of the body with this index; after six bodies the colours repeat darker, then lighter."""
    base = rgb(BODIES[index % len(BODIES)])
    turn = index // len(BODIES) % 3
    return (base, darker(base, 0.8), 1.0 - 0.6 * (1.0 - base))[turn]
