"""Energies, forces and Hessians, at states with tangents away from the sources of their frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corekit.geometry.frames import rotation_from_rpy
from corekit_der.config import Clamp, Joint, Limb
from corekit_der.initial_options import DERInitial, LimbStart


def bent_rod(count: int = 7, **options) -> Limb:
    """Return a rod with a curved, unevenly divided rest shape and an oblong section."""
    s = np.linspace(0.0, 1.0, count) ** 1.2
    points = np.column_stack([0.4 * s, 0.1 * np.sin(3 * s), 0.1 * s**2])
    values: dict[str, Any] = {
        "section": "rectangle",
        "width": 0.02,
        "height": 0.01,
        "young": 1e5,
        "natural_twist": 1.0,
        **options,
    }
    return Limb(points=tuple(map(tuple, points)), natural_curvature=(2.0, -1.0), **values)


def ring(count: int = 6) -> Limb:
    angle = 2 * np.pi * np.arange(count) / count
    points = np.column_stack([np.cos(angle), np.sin(angle), 0.2 * np.sin(2 * angle)]) * 0.1
    return Limb(name="ring", points=tuple(map(tuple, points)), closed=True, young=(1e5,))


GRAPHS = {
    "rod": ((bent_rod(),), {}),
    "clamped at both ends": ((bent_rod(),), {"clamps": (Clamp(at="rod.start"), Clamp(at="rod.end"))}),
    "ring": ((ring(),), {}),
    "three rods from one node": (
        (
            bent_rod(4),
            Limb(name="b", start=(0.0, 0.0, 0.0), end=(-0.2, 0.1, 0.1), nodes=3),
            Limb(name="c", start=(0.1, -0.3, 0.0), end=(0.0, 0.0, 0.0), nodes=3),
        ),
        {"joints": (Joint(at=("rod.start", "b.start", "c.end"), stiffness=2.0),)},
    ),
    "planar": (
        (Limb(points=((0, 0, 0), (0.1, 0, 0.02), (0.2, 0, 0), (0.25, 0, 0.1)), young=(1e5,)),),
        {"planar": True},
    ),
}


@pytest.fixture(params=list(GRAPHS))
def shaken(request, rod):
    """Return a graph of rods with tangents about 0.3 rad away from their sources."""
    limbs, options = GRAPHS[request.param]
    made = rod(*limbs, **options)
    made.shake(0.02, seed=4)
    return made


def test_forces_are_gradients_of_the_energy(shaken):
    force = shaken.force()
    h = 1e-6
    slope = np.array(
        [
            (
                shaken.model.compute_energies(shaken.displace(-h * e))[1]
                - shaken.model.compute_energies(shaken.displace(h * e))[1]
            )
            / (2 * h)
            for e in np.eye(shaken.size)
        ]
    )
    assert np.abs(force - slope).max() < 1e-6 * np.abs(force).max()


def test_hessian_is_symmetric_and_the_derivative_of_forces(shaken):
    h = 1e-6
    slope = np.array(
        [
            (shaken.force(shaken.displace(-h * e)) - shaken.force(shaken.displace(h * e))) / (2 * h)
            for e in np.eye(shaken.size)
        ]
    )
    stiffness = shaken.stiffness()
    assert np.abs(slope - slope.T).max() < 1e-6 * np.abs(stiffness).max()
    assert np.abs(stiffness - slope.T).max() < 1e-6 * np.abs(stiffness).max()


def test_forces_and_moments_of_a_free_rod_balance(rod):
    made = rod(bent_rod())
    made.shake(0.02, seed=1)
    made.update_reference_frames()  # at the source θ̇ is the spin about the tangent
    force, x = made.force(), made.nodes("rod", 7)
    position, node_force = made.state.q[x], force[x]
    tangent = np.diff(position, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    torque = force[made.indices(*(f"rod-{i}-angle" for i in range(6)))]
    moment = np.cross(position, node_force).sum(axis=0) + (torque[:, None] * tangent).sum(axis=0)
    size = np.abs(node_force).max()
    assert np.abs(node_force.sum(axis=0)).max() < 1e-12 * size
    assert np.abs(moment).max() < 1e-12 * size


def test_new_reference_frames_change_neither_energy_nor_power(rod):
    made = rod(bent_rod())
    made.shake(0.03, seed=2)
    made.state.v[:] = np.random.default_rng(3).normal(size=made.size)
    before = made.state.copy()
    made.update_reference_frames()
    assert np.abs(made.state.aux - before.aux).max() > 0.1
    assert made.model.compute_energies(made.state)[1] == pytest.approx(
        made.model.compute_energies(before)[1], rel=1e-12
    )
    # the power of the elastic forces does not depend on the coordinates
    assert made.force() @ made.state.v == pytest.approx(made.force(before) @ before.v, rel=1e-10)


def test_formulas_of_the_literature_are_wrong_away_from_the_sources(rod):
    """With tangents away from their sources, gradients without A have an error above 0.1 %."""
    made = rod(bent_rod())
    made.shake(0.03, seed=5)
    exact = made.force()
    rods = made.tables
    swept = rods.edge_state[:, 10:13].copy()
    assert np.abs(swept * rods.edge_state[:, 3:4]).max() > 0.05
    torque = exact[rods.edge[:, 2]]
    # the term −(∂E/∂θ)·A of −∂E/∂e is missing without A
    missing = np.abs(torque[:, None] * swept).max()
    assert missing > 1e-3 * np.abs(exact).max()


def test_newton_converges_quadratically_far_from_the_sources(cantilever):
    made = cantilever(15)
    made.inputs[:] = (0.0, 0.02, 0.03)
    made.find_equilibrium(max_increment=0.2, tolerance=1e-3)
    history = made.find_equilibrium(max_increment=10.0, tolerance=1e-12)
    assert np.max(1.0 - made.tables.edge_state[:, 13]) > 0.3  # an edge has turned by more than 45°
    assert history[-1] < 1e-12
    assert history[-2] < 1e-6, history
    assert history[-3] < 1e-3, history


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turn=st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3), seed=st.integers(0, 10**6))
def test_energy_is_invariant_to_rigid_motion(rod, turn, seed):
    """A common rotation and translation of rest shape and start does not change the energy."""
    limb, shift = bent_rod(5, director=(0.0, 0.0, 1.0)), np.array([0.3, -0.1, 0.7])
    shaken = np.array(limb.points) + 0.02 * np.random.default_rng(seed).normal(size=(5, 3))
    energies = []
    for R, offset in ((np.eye(3), np.zeros(3)), (rotation_from_rpy(turn), shift)):
        points, start = (tuple(map(tuple, x @ R.T + offset)) for x in (np.array(limb.points), shaken))
        turned = evolve(limb, points=points, director=tuple(R[:, 2]))
        made = rod(turned, initial=DERInitial(limbs=(LimbStart(limb="rod", points=start),)))
        energies.append(made.model.compute_energies(made.state)[1])
    assert energies[1] == pytest.approx(energies[0], rel=1e-9)


def test_a_circle_has_the_curvature_of_its_turning_angles(rod):
    """κ = 2·tan(φ/2) at every node of a regular polygon."""
    n = 12
    angle = 2 * np.pi * np.arange(n) / n
    points = tuple((np.cos(a), np.sin(a), 0.0) for a in angle)
    made = rod(Limb(points=points, closed=True, unloaded="straight", radius=(0.01,), young=(1e6,)))
    edge = 2 * np.sin(np.pi / n)
    EI = 1e6 * np.pi * 0.01**4 / 4
    expected = n * 0.5 * EI / edge * (2 * np.tan(np.pi / n)) ** 2
    assert made.model.compute_energies(made.state)[1] == pytest.approx(expected, rel=1e-12)


def test_a_ring_with_the_natural_curvature_of_its_polygon_has_no_force(rod):
    n = 10
    angle = 2 * np.pi * np.arange(n) / n
    points = tuple((np.cos(a), np.sin(a), 0.0) for a in angle)
    edge = 2 * np.sin(np.pi / n)
    kappa = 2 * np.pi / n / edge  # 2·tan(κV/2) = 2·tan(π/n)
    limb = Limb(
        points=points,
        closed=True,
        unloaded="straight",
        director=(0.0, 0.0, 1.0),
        natural_curvature=(0.0, -kappa),
    )
    made = rod(limb)
    assert np.abs(made.force()).max() < 1e-12


def test_a_chain_has_half_width_ten_and_a_planar_one_five(rod):
    limb = Limb(start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), nodes=30)
    clamps = (Clamp(at="rod.start"), Clamp(at="rod.end"))
    for planar, width in ((False, 10), (True, 5)):
        stiffness = rod(limb, clamps=clamps, planar=planar).model.new_stiffness_and_damping()[0]
        assert stiffness.width == width


def test_a_ring_is_ordered_into_a_narrow_band(rod):
    stiffness = rod(ring(60)).model.new_stiffness_and_damping()[0]
    assert stiffness.width <= 22
