"""Kelvin–Voigt damping against the decay of beams, and its derivatives against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

from corekit.data.state import State
from corekit.roles.component import BuildContext
from corekit_der.config import Clamp, DERConfig, Joint, Limb
from corekit_der.initial_options import BendingMode, DERInitial
from corekit_der.model import DER

from .test_motion import OMEGA, run

YOUNG, VISCOSITY, POISSON = 1e5, 4e3, 0.3
"""E and η: the first bending mode of `cantilever` has ζ = 3·η·ω/(2·E) = 3 %."""


def modes(rod):
    """Return the frequencies of the free coordinates and the damping ratios of their modes."""
    free = rod.free
    squared, shape = eigh(rod.stiffness()[np.ix_(free, free)], np.diag(rod.mass()[free]))
    frequency = np.sqrt(squared)
    return frequency, np.einsum("ia,ij,ja->a", shape, rod.damping()[np.ix_(free, free)], shape) / (
        2 * frequency
    )


def test_every_mode_of_a_rod_decays_as_its_retardation_time_says(cantilever):
    """ζ = ½·T·ω with T = 3·η/E for stretching and bending, η/G for twisting."""
    frequency, ratio = modes(cantilever(9, viscosity=VISCOSITY, poisson=POISSON))
    times = 2 * ratio / frequency
    expected = np.array([3 * VISCOSITY / YOUNG, 2 * (1 + POISSON) * VISCOSITY / YOUNG])
    nearest = expected[np.abs(times[:, None] - expected).argmin(axis=1)]
    # D = T·K up to the rounding of K's largest eigenvalue, 1e5 times that of the first mode
    assert times == pytest.approx(nearest, rel=1e-8)
    assert [(nearest == each).sum() for each in expected] == [24, 8]


@pytest.mark.parametrize("planar", [False, True])
def test_a_swinging_cantilever_decays_as_a_kelvin_voigt_beam(planar):
    """w = w₀·exp(−ζωt)·cos ωt: the logarithmic decrement between extremes half a period apart is π·ζ."""
    limb: dict[str, Any] = {"radius": 0.02, "young": YOUNG, "density": 500.0, "viscosity": VISCOSITY}
    config = DERConfig(
        limbs=(Limb(name="beam", start=(0, 0, 0), end=(1, 0, 0), nodes=21, **limb),),
        clamps=(Clamp(at="beam.start"),),
        planar=planar,
    )
    initial = DERInitial(modes=(BendingMode(limb="beam", tip=(0.0, 0.0, 0.002)),))
    model, simulation = run(config, 0.2, initial=initial)
    tip = [c.name for c in model.description.coordinates].index("beam-20-z")
    heights = [0.0]
    for _ in range(160):
        simulation.step()
        heights.append(simulation.state.q[tip])
    height = np.array(heights)
    turns = np.flatnonzero(np.diff(np.sign(np.diff(height)))) + 1
    # the vertex of the parabola through three samples, right to (ωh)² = 1e-2 of the decrement's own size
    left, at, right = height[turns - 1], height[turns], height[turns + 1]
    extreme = np.abs(at - (right - left) ** 2 / (8 * (right - 2 * at + left)))
    decrement = np.log(extreme[0] / extreme[-1]) / (len(turns) - 1)
    assert len(turns) == 5
    assert decrement == pytest.approx(np.pi * 1.5 * VISCOSITY * OMEGA / YOUNG, rel=1e-2)


@pytest.mark.parametrize("planar", [False, True])
def test_joined_limbs_of_two_materials_have_exact_derivatives(rod, planar):
    """One limb runs against the other, so that a pair has an edge against its direction."""
    other: dict[str, Any] = {"nodes": 4, "young": 4e6, "radius": 0.02, "viscosity": 5e4}
    tree = rod(
        Limb(name="trunk", start=(0, 0, 0), end=(0, 0, 0.3), nodes=4, viscosity=(2e4,)),
        Limb(name="branch", start=(-0.3, 0, 0.35), end=(0, 0, 0.3), **other),
        joints=(Joint(at=("trunk.end", "branch.end")),),
        planar=planar,
    )
    tree.shake(0.01)
    tree.state.v[:] = np.random.default_rng(1).normal(size=tree.size)
    K, D = tree.stiffness(), tree.damping()
    by_q, by_v = np.zeros_like(K), np.zeros_like(D)
    for j in range(tree.size):
        moved = np.zeros(tree.size)
        moved[j] = 1e-6
        by_q[:, j] = (tree.force(tree.displace(-moved)) - tree.force(tree.displace(moved))) / 2e-6
        faster = tree.state.copy()
        faster.v[j] += 1.0
        by_v[:, j] = tree.force() - tree.force(faster)
    # central differences of 1e-6 in edges of 0.1 m: truncation (1e-5)², rounding 1e-16/1e-6
    np.testing.assert_allclose(K, by_q, rtol=0, atol=2e-9 * np.abs(K).max())
    np.testing.assert_allclose(D, by_v, rtol=0, atol=1e-12 * np.abs(D).max())
    assert np.abs(K - K.T).max() > 1e-2 * np.abs(K).max()


def test_a_mounted_rod_is_damped_as_a_clamped_one():
    """Behind the clamp stands an edge that does not bend and shares no rate with the half edge before it."""
    limb = Limb(start=(0, 0, 0), end=(0.3, 0, 0), nodes=5, viscosity=(VISCOSITY,))
    config = DERConfig(limbs=(limb,), clamps=(Clamp(at="rod.start"),))
    found = []
    for free_base in (False, True):
        model = DER(config, BuildContext(free_base=free_base))
        n = len(model.description.coordinates)
        state = State.zeros(n, n, model.description.aux)
        model.compute_initial_state(None, state)
        held = np.isin(np.arange(n), DER(config).description.prescribed_velocity_index)
        state.v[:] = np.where(held, 0.0, np.random.default_rng(2).normal(size=n))
        found.append(model.compute_force_terms(state, np.zeros(0))["viscosity"])
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-12 * np.abs(found[0]).max())
