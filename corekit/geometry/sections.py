"""Constants of a rod's cross-section, from which models make the stiffness and the inertia of rods.

The axes y and z of a section are principal and begin at its centroid. With Young's modulus E, Poisson's ratio ν and
G = E/(2·(1 + ν)) a straight rod resists

    stretch  E·A,      bending about y  E·I_y,   I_y = ∫z² dA,      about z  E·I_z,   I_z = ∫y² dA
    twist    G·J,      shear along y  k_y·G·A,   along z  k_z·G·A,  1/k = (b + a·ν)/(1 + ν)             (1)

J is Saint-Venant's torsion constant: a section that twists also leaves its plane, so that J < I_y + I_z unless it is
round (27 times for a strip of ten to one). The inertia of a turning section is that of its polar moment, ρ·(I_y + I_z).
The shear coefficients k are Cowper's: of the choices in use they follow from the three-dimensional equations without a
fitted constant, agree with Timoshenko's 5/6 of a rectangle at ν = 0, and are known in closed form. Their a and b do not
depend on the material. Near a held end a section cannot leave its plane, and the rod is stiffer: within about the size
of the section, and much farther where its walls are thin and open.

Sources: Timoshenko, Goodier (1970), "Theory of elasticity", sections 101 to 109; Cowper (1966), "The shear coefficient
in Timoshenko's beam theory", Journal of Applied Mechanics 33(2).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from corekit.data.arrays import Array
from corekit.geometry.section_solvers import section_solver

__all__ = [
    "Loop",
    "OutlineConstants",
    "SectionConstants",
    "ellipse",
    "outline",
    "outline_doubt",
    "outline_problem",
    "rectangle",
    "tube",
]

Loop = tuple[tuple[float, ...], ...]
"""Vertices (y, z) [m] in turn; after a third number b an arc leads to the next one, b the tangent of a quarter of its
angle, positive counter-clockwise: 1 is a half circle. (So are arcs in polylines of DXF files.)"""

_ZETA = 1.0369277551433699263 * 31.0 / 32.0
"""Σ 1/n⁵ over n = 1, 3, 5, …"""


class SectionConstants(NamedTuple):
    """Constants (1) of sections at p places, arrays of shape (p,) and of the last two (p, 2).

    Attributes:
        area: A [m²].
        inertia_y, inertia_z: I_y, I_z [m⁴].
        torsion: J [m⁴].
        shear_y, shear_z: (b, a) of k_y and k_z.
    """

    area: Array
    inertia_y: Array
    inertia_z: Array
    torsion: Array
    shear_y: Array
    shear_z: Array

    def shear_coefficients(self, poisson: float) -> tuple[Array, Array]:
        """k_y and k_z for a Poisson's ratio, shape (p,) each."""
        k_y, k_z = ((1.0 + poisson) / (each @ (1.0, poisson)) for each in (self.shear_y, self.shear_z))
        return k_y, k_z


def tube(outer: Array, inner: Array | float = 0.0) -> SectionConstants:
    """Round sections, hollow or not, by their radii [m]; m = inner/outer,

    1/k = [(7 + 6·ν)·(1 + m²)² + (20 + 12·ν)·m²]/[6·(1 + ν)·(1 + m²)²]                             (2)
    """
    area, inertia = math.pi * (outer**2 - inner**2), 0.25 * math.pi * (outer**4 - inner**4)
    hollow = (inner / outer) ** 2 / (1.0 + (inner / outer) ** 2) ** 2
    shear = np.stack([7.0 / 6.0 + 10.0 / 3.0 * hollow, 1.0 + 2.0 * hollow], axis=-1)
    return SectionConstants(area, inertia, inertia, 2.0 * inertia, shear, shear)


def rectangle(height: Array, width: Array) -> SectionConstants:
    """Rectangles by their edges along y and z [m]; with e the longer and d the shorter one,

        J = e·d³·[1/3 − 64·d/(π⁵·e)·Σ tanh(n·π·e/(2·d))/n⁵],   n = 1, 3, 5, …                           (3)
        1/k = (12 + 11·ν)/(10·(1 + ν))                                                                (4)

    tanh is 1 less 2/(e^(n·π·e/d) + 1), of which six terms reach rounding.
    """
    long, short = np.maximum(height, width), np.minimum(height, width)
    n = np.arange(1.0, 12.0, 2.0)
    with np.errstate(over="ignore"):  # of a strip: 2/∞
        below = 2.0 / (np.exp(math.pi * np.multiply.outer(long / short, n)) + 1.0)
    torsion = long * short**3 * (1.0 / 3.0 - 64.0 * short / (math.pi**5 * long) * (_ZETA - below @ n**-5.0))
    shear = np.ones_like(torsion)[..., None] * (1.2, 1.1)
    return SectionConstants(
        height * width, height * width**3 / 12.0, height**3 * width / 12.0, torsion, shear, shear
    )


def ellipse(semi_y: Array, semi_z: Array) -> SectionConstants:
    """Ellipses by their semi-axes a and b [m]: J = π·a³·b³/(a² + b²), and for shear along a

    1/k = [(40 + 37·ν)·a⁴ + (16 + 10·ν)·a²·b² + ν·b⁴]/[12·(1 + ν)·a²·(3·a² + b²)]                  (5)
    """

    def shear(along: Array, across: Array) -> Array:
        s = (across / along) ** 2
        return np.stack([40.0 + 16.0 * s, 37.0 + 10.0 * s + s**2], axis=-1) / (12.0 * (3.0 + s))[..., None]

    a, b = semi_y, semi_z
    return SectionConstants(
        area=math.pi * a * b,
        inertia_y=0.25 * math.pi * a * b**3,
        inertia_z=0.25 * math.pi * a**3 * b,
        torsion=math.pi * (a * b) ** 3 / (a**2 + b**2),
        shear_y=shear(a, b),
        shear_z=shear(b, a),
    )


class OutlineConstants(NamedTuple):
    """Constants of one section, as of `SectionConstants`, and where its shear centre is from the centroid, (y, z) [m].

    `loops` are its outline and its holes as polygons about the centroid, (n, 2) each [m].
    """

    area: float
    inertia_y: float
    inertia_z: float
    torsion: float
    shear_y: tuple[float, float]
    shear_z: tuple[float, float]
    shear_centre: tuple[float, float]
    loops: tuple[Array, ...]


def outline(vertices: Loop, holes: tuple[Loop, ...], scale: Array) -> SectionConstants:
    """Sections of any outline, `scale` times as large as drawn, from the installed solver of sections.

    Raises:
        ValueError: in words, what is wrong with the outline.
    """
    found: OutlineConstants = section_solver()(vertices, holes)
    one = np.ones_like(scale)
    return SectionConstants(
        area=scale**2 * found.area,
        inertia_y=scale**4 * found.inertia_y,
        inertia_z=scale**4 * found.inertia_z,
        torsion=scale**4 * found.torsion,
        shear_y=np.multiply.outer(one, found.shear_y),
        shear_z=np.multiply.outer(one, found.shear_z),
    )


def outline_problem(vertices: Loop, holes: tuple[Loop, ...]) -> str | None:
    """What is wrong with an outline, or None."""
    if min(map(len, (vertices, *holes))) < 2:
        return "must have three vertices or more in every loop, or two and an arc"
    if not all(len(each) in (2, 3) for loop in (vertices, *holes) for each in loop):
        return "must have vertices [y, z], or [y, z, bulge] where an arc begins"
    try:
        section_solver()(vertices, holes)
    except ValueError as error:
        return str(error)
    return None


def outline_doubt(vertices: Loop, holes: tuple[Loop, ...]) -> str | None:
    """What rods leave out of a section with its shear centre off its centroid by 1 % of its radius of gyration."""
    found: OutlineConstants = section_solver()(vertices, holes)
    away, gyration = (
        math.hypot(*found.shear_centre),
        math.sqrt((found.inertia_y + found.inertia_z) / found.area),
    )
    if away < 0.01 * gyration:
        return None
    return (
        f"has its shear centre {1e3 * away:.3g} mm from its centroid, where forces act: the twist F·e·L/(G·J) "
        "of a force across the rod is left out"
    )
