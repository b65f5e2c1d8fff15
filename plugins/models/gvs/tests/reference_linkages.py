"""The linkages of the published cases as trees of the slow reference. Lengths in m, SI throughout.

Source: Mathew et al. (2024), "Reduced order modeling of hybrid soft-rigid robots using global, local, and
state-dependent strain parameterization", sections 4 and 5.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from .reference_basis import (
    MODES,
    Independent,
    Typed,
    gauss,
    lagrange_shape,
    legendre_shape,
    modes,
    trapezoid,
)
from .reference_loops import Loop
from .reference_series import pose
from .reference_tree import Link, Piece, Rigid, Tree, circle

E = np.eye(6)
WATER = 1000.0
BOTH = [(0, 0, 0.0), (0, 1, 0.15)]
TENDONS = [
    (lambda s: np.array([0, 0.01, 0]), lambda s: np.zeros(3), [(0, 0, 0.0)]),
    (lambda s: np.array([0, -0.01, 0]), lambda s: np.zeros(3), [(0, 1, 0.15)]),
    (
        lambda s: np.array([0, 0.01 * np.sin(50 * s), 0.01 * np.cos(50 * s)]),
        lambda s: np.array([0, 0.5 * np.cos(50 * s), -0.5 * np.sin(50 * s)]),
        BOTH,
    ),
    (lambda s: np.array([0, 0, 0.01 - 0.066667 * s]), lambda s: np.array([0, 0, -0.066667]), BOTH),
]  # fmt: skip
OCTOPUS = "q1/(1+(q2*(X-q3))**2)+q4+q5*X+q6*X**2"


def published_arm(basis: str) -> Tree:
    """Case 5.1: two divisions of 0.15 m, torsion and two bends, 30 coordinates."""

    def piece():
        shape, points = {
            "legendre": (legendre_shape(4), gauss(5)),
            "fem_quadratic": (lagrange_shape(2, 2), gauss(3, 2)),
        }[basis]
        return Piece(0.15, modes(MODES[:3], shape), points, lambda x: circle(0.015), 1e6, 0.5, 1000, 1e4)

    return Tree([Link([piece(), piece()])])


def typed_arm():
    """A spherical joint, a rod whose bend depends on its coordinates, a hinge and a rigid tip; and a state."""
    basis = Typed({"bend_y": "q1*exp(-(q2*(X-q3))**2)", "torsion": "q4*X", "stretch_x": "q5*sin(q4)"}, 5)
    rod = Piece(0.2, basis, gauss(3, 2), lambda x: circle(0.02 - 0.005 * x), 1e4, 0.4, 1000, 10)
    tip = Rigid(np.diag([1e-3, 2e-3, 3e-3, 0.2, 0.2, 0.2]), pose([0.05, 0.02, 0]), pose([0.05, 0, 0]))
    tree = Tree(
        [
            Link([rod], joint=E[:, :3]),
            Link(tip, 0, pose([0, 0.01, 0]), E[:, 2:3], np.array([[0.1]])),
        ]
    )
    rng = np.random.default_rng(3)
    q = rng.uniform(-0.5, 0.5, tree.size)
    q[3:6] = [0.8, 3.0, 0.4]
    return tree, q, rng.uniform(-1, 1, tree.size)


def slender_drag(radius, normal=1.1, lift=-0.1):
    """D_L of a slender section: C_x = 0, C_y = C_z, lift about x [N·s²/m³]."""
    out = np.zeros((6, 6))
    out[4:, 4:] = WATER * radius * np.array([[normal, -lift], [lift, normal]])
    return out


def slender_added(area, factor=0.6):
    """Added mass a length, across the axis [kg/m]."""
    return WATER * factor * area * np.diag([0, 0, 0, 0, 1.0, 1.0])


def octopus(basis="dependent", damping=0.0) -> Tree:
    """Case 5.4: a tapered arm that bends about y, neutrally buoyant in water."""
    if basis == "dependent":
        field, points = Typed({"bend_y": OCTOPUS}, 6), trapezoid(101)
    else:
        field, points = Independent({"bend_y": lagrange_shape(10, 3)}), gauss(4, 10)

    def radius(x):
        return 0.01 - 0.009 * x

    arm = Piece(
        0.2, field, points, lambda x: circle(radius(x)), 1e4, 0.5, 1000, damping,
        added=lambda x: slender_added(np.pi * radius(x) ** 2), drag=lambda x: slender_drag(radius(x)),
    )  # fmt: skip
    mount = pose(rotation=Rotation.from_euler("y", -30, degrees=True).as_matrix())
    return Tree([Link([arm], mount=mount, buoyancy=0.0)])


def flagellum(basis: str) -> Piece:
    shape, points = {
        "legendre": (legendre_shape(3), gauss(5)),
        "fem-linear": (lagrange_shape(3, 1), gauss(2, 3)),
    }[basis]

    def radius(x):
        return 0.0125 - 0.0105 * x

    return Piece(
        0.3, modes(MODES[:3], shape), points, lambda x: circle(radius(x)), 6e5, 0.5, 1000, 20,
        added=lambda x: slender_added(np.pi * radius(x) ** 2), drag=lambda x: slender_drag(radius(x)),
    )  # fmt: skip


def underwater(basis: str) -> Tree:
    """Case 5.2 without the rod it docks at: a hull with four shafts, hooks and flagella, 58 coordinates.

    The hull shifts, then turns.
    """
    hull = Rigid(
        np.diag([0.013, 0.015277, 0.015277, *[3.81778] * 3]),
        added=np.diag([0, 0, 0, 1.8266, 1.9504, 1.9504]),
        drag=np.diag([0.05271, 0, 0, 12.723, 28.923, 28.923]),
        buoyancy=0.0,
    )
    links = [Link(Rigid(), joint=E[:, 3:]), Link(hull, 0, joint=E[:, :3])]
    length, radius, density = 0.015, 0.0025, 2900
    volume = np.pi * radius**2 * length
    across = density * volume * (radius**2 / 4 + length**2 / 12)
    for y, z in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        shaft = Rigid(
            np.diag([density * volume * radius**2 / 2, across, across, *[density * volume] * 3]),
            pose([length / 2, 0, 0]),
            pose([length / 2, 0, 0]),
            buoyancy=1 - WATER / density,
        )
        links.append(Link(shaft, 1, pose([0.0672, 0.0475 * y, 0.0475 * z]), E[:, :1]))
    bent = np.array([0, 15.708, 0, 1, 0, 0])
    for i in range(4):
        hook = Piece(
            0.05, Independent({}), gauss(5), lambda x: circle(0.0125), density=1000, reference=lambda x: bent
        )
        links.append(Link([hook], 2 + i, buoyancy=0.0))
    links += [Link([flagellum(basis)], 6 + i, buoyancy=0.0) for i in range(4)]
    return Tree(links)


CORNERS = [(0.0, 0.0), (0.0, 3.05), (3.05, 3.05), (3.05, 0.0)]
YAWS = np.radians([45.0, -45.0, -135.0, 135.0])
ROPES = [2.47461368, 2.46568339, 2.47464989, 2.46568338]


def rope(length: float, basis: str) -> Piece:
    shape, points = {
        "legendre": (legendre_shape(4), gauss(5)),
        "fem": (lagrange_shape(2, 2), gauss(3, 2)),
    }[basis]
    constant = legendre_shape(0)
    field = Independent({"torsion": constant, "bend_y": shape, "bend_z": shape, "stretch_x": constant})
    return Piece(length, field, points, lambda x: circle(0.0025), 5e8, 0.28, 4854, 2.5e5)


def suspended_platform(basis: str) -> tuple[Tree, list[Loop]]:
    """Case 5.3: a platform on four ropes with massless universal joints, 61 coordinates, 15 constraints."""

    def about(axis, angle):
        return Rotation.from_rotvec(angle * np.eye(3)[axis]).as_matrix()

    links, loops = [], []
    for (x, y), yaw, length in zip(CORNERS, YAWS, ROPES, strict=True):
        links.append(Link(Rigid(), -1, pose([x, y, 2.16], about(2, yaw)), E[:, 2:3]))
        links.append(Link([rope(length, basis)], len(links) - 1, joint=E[:, 1:2]))
        links.append(Link(Rigid(), len(links) - 1, joint=E[:, 2:3]))
    platform = Rigid(np.diag([0.273, 0.359, 0.359, 37, 37, 37]), pose([0.1, 0, -0.135]))
    links.append(Link(platform, 2, joint=E[:, 1:2]))
    for i in range(1, 4):
        turn = about(2, YAWS[i] - YAWS[0])
        corner = pose(turn @ [-0.1, 0, 0] + [0, 0, 0.135], turn)
        loops.append(Loop(3 * i + 2, 12, pose(), corner, E[:, 1:2]))
    return Tree(links), loops
