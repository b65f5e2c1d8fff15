"""Hanging chains from any start, against the polygon of their forces and the catenary that is its limit.

A chain of n links of length ℓ and stiffness k with equal masses at its joints carries the force (H, V₀ + i·W) in link
i, along the link; H and V₀ follow from where its ends are, by a root in two unknowns.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq, fsolve

from corekit.roles.component import BuildContext
from corekit_statics.equilibria import move_to_equilibrium
from corekit_testing.point_chain import PointChain
from corekit_testing.point_chain_config import PointChainConfig
from corekit_testing.semi_implicit_euler import SemiImplicitEuler
from corekit_testing.small_world import small_world

G, LINKS, LENGTH, SPAN = 9.81, 40, 1.0, 0.6
LINK = LENGTH / LINKS
TOTAL = 1.8e-3
"""Weight of all masses, the last of which the end carries [N]."""


def polygon(stiffness):
    """The joints (LINKS, 2) in a plane and the forces of the links (LINKS, 2) [N]."""
    weight = TOTAL / LINKS

    def joints(unknown):
        forces = np.stack([np.full(LINKS, unknown[0]), unknown[1] + weight * np.arange(LINKS)], axis=1)
        size = np.linalg.norm(forces, axis=1)
        return np.cumsum(forces / size[:, None] * (LINK + size / stiffness)[:, None], axis=0), forces

    guess = [0.3 * TOTAL, -0.5 * TOTAL]
    unknown = fsolve(lambda x: joints(x)[0][-1] - np.array([SPAN, 0.0]), guess, xtol=1e-13)
    return joints(unknown)


def start(kind, seed=0):
    """Joints to begin from, in a plane: V-shaped, upside down, straight and pressed, in zigzag, or shaken."""
    s = np.arange(1, LINKS + 1) / LINKS
    depth = math.sqrt((LENGTH / 2) ** 2 - (SPAN / 2) ** 2)
    v = depth * (1 - np.abs(2 * s - 1))
    tooth = math.sqrt(LINK**2 - (SPAN / LINKS) ** 2) * (np.arange(1, LINKS + 1) % 2)
    z = {"v": -v, "inverted": v, "straight": 0 * s, "zigzag": tooth, "tangled": 0 * s}[kind]
    joints = np.stack([SPAN * s, z], axis=1)
    if kind == "tangled":
        joints[:-1] += np.random.default_rng(seed).uniform(-1, 1, (LINKS - 1, 2)) * LINK
    return joints


def hang(joints, stiffness):
    model = PointChain(
        PointChainConfig(
            planar=True, masses=(TOTAL / LINKS / G,) * LINKS, positions=tuple(map(tuple, joints)),
            links=("spring",) * LINKS, lengths=(LINK,) * LINKS, stiffness=stiffness, driven=(LINKS - 1,),
            structure="banded",
        ),
        BuildContext(gravity=np.array([0.0, 0.0, -G])),
    )  # fmt: skip
    integrator = SemiImplicitEuler(None, BuildContext(step=1e-3))
    simulation = small_world({"chain": model}, integrator, step=1e-3)
    return move_to_equilibrium(simulation)[-1]


STARTS = [
    ("v", 0),
    ("inverted", 0),
    ("straight", 0),
    ("zigzag", 0),
    *(("tangled", seed) for seed in range(2)),
]


@pytest.mark.parametrize("stiffness", [1.0, 1e4], ids=["soft", "stiff"])
@pytest.mark.parametrize(("kind", "seed"), STARTS, ids=[f"{kind}{seed}" for kind, seed in STARTS])
def test_a_chain_hangs_as_the_polygon_of_its_forces_from_any_start(kind, seed, stiffness):
    """What is left unbalanced, |F|, moves the joints by at most |K⁻¹|·|F|; the slowest mode bounds |K⁻¹| = 1/(m·ω²)."""
    found = hang(start(kind, seed), stiffness)
    wanted, forces = polygon(stiffness)
    left = found.residual["N"]
    assert left <= max(1e-10 * TOTAL, 1e-15 * 400 * stiffness)
    assert found.scale <= np.max(np.abs(forces)) + 1.01 * TOTAL / LINKS
    assert found.stability.stable
    mass = TOTAL / LINKS / G
    bound = 10 * math.sqrt(LINKS) * (left + 1e-12 * TOTAL) / (mass * found.stability.smallest)
    assert np.max(np.abs(found.q.reshape(-1, 2) - wanted)) <= bound
    # of the end's reaction: the last link's pull, and the last mass's weight; a link's force is good to k times this
    assert found.reactions[0] == pytest.approx(forces[-1, 0], abs=left * LINKS + 1e-9 * TOTAL)


def test_the_polygon_nears_the_catenary_with_the_square_of_its_links():
    """w = TOTAL/LENGTH, H = w·a with 2a·sinh(SPAN/2a) = LENGTH; sag a·(cosh(SPAN/2a) − 1), off by order (1/n)²."""
    a = brentq(lambda a: 2 * a * math.sinh(SPAN / 2 / a) - LENGTH, 0.05, 10.0)
    sag = a * (math.cosh(SPAN / 2 / a) - 1)
    found = hang(start("v"), 1e4)
    assert found.reactions[0] == pytest.approx(TOTAL * a / LENGTH, rel=4.0 / LINKS**2)
    assert -np.min(found.q.reshape(-1, 2)[:, 1]) == pytest.approx(sag, rel=4.0 / LINKS**2)
