"""Masses, weights, drags, forces and natural curvature, each on a free rod with a known answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from corekit.linalg.sparse import Sparse
from corekit_der.config import Clamp, Force, Joint, Limb
from corekit_der.sections import rectangle_torsion
from corekit_testing.rounding import rounding

STRAIGHT: dict[str, Any] = {
    "start": (0.0, 0.0, 0.0),
    "end": (1.0, 0.0, 0.0),
    "nodes": 6,
    "radius": (0.02,),
    "density": (500.0,),
}
MASS = 500.0 * np.pi * 0.02**2


def test_mass_of_nodes_is_the_rods_and_inertia_belongs_to_edges(rod):
    """Σm = ρAL; an edge's angle has ρ·(I₁ + I₂)·L, not ρ·J: it differs for a rectangle."""
    made = rod(Limb(**STRAIGHT))
    assert made.mass()[made.nodes("rod", 6)[:, 0]].sum() == pytest.approx(MASS, rel=rounding(24))
    oblong = rod(
        Limb(start=(0, 0, 0), end=(1, 0, 0), nodes=5, section="rectangle", width=(0.02,), height=(0.01,))
    )
    polar = 1000.0 * (0.01 * 0.02**3 + 0.02 * 0.01**3) / 12
    assert oblong.mass()[oblong.place("rod-0-angle")[0]] == pytest.approx(polar * 0.25, rel=1e-12)


def test_a_spinning_edge_reaches_as_fast_as_its_surface_moves(rod):
    """1 m/s a unit at nodes, the radius at angles: what errors of velocities are judged by."""
    limb = Limb(start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), nodes=4, radius=(0.03, 0.01))
    made = rod(limb)
    reach, nodes = made.layout.reach, made.nodes("rod", 4).ravel()
    assert reach[nodes].tolist() == [1.0] * 12
    assert np.delete(reach, nodes) == pytest.approx([0.08 / 3, 0.02, 0.04 / 3])
    assert rod(limb, planar=True).layout.reach is None


def test_a_square_twists_by_saint_venants_constant():
    """J = 0.1405770·a⁴ of a square, b·a³/3 of a thin strip less 0.63·a⁴/3."""
    one = np.ones(1)
    assert rectangle_torsion(one, one)[0] == pytest.approx(0.140577, rel=1e-5)
    assert rectangle_torsion(one, 0.01 * one)[0] == pytest.approx((1 - 0.63 * 0.01) * 0.01**3 / 3, rel=1e-4)


def test_an_oblong_section_bends_easier_over_its_thin_side(rod):
    """Width along director 1 counts cubed for κ₁, bending about director 2."""
    made = rod(
        Limb(
            start=(0, 0, 0),
            end=(1, 0, 0),
            nodes=3,
            section="rectangle",
            width=(0.02,),
            height=(0.01,),
            director=(0.0, 1.0, 0.0),
            young=(12e6,),
        )
    )
    across, upright = np.zeros(made.size), np.zeros(made.size)
    across[made.place("rod-1-y")], upright[made.place("rod-1-z")] = 1.0, 1.0
    K = made.stiffness()
    assert across @ K @ across / (upright @ K @ upright) == pytest.approx(4.0, rel=1e-12)


def test_a_tapered_rod_has_the_sections_of_its_edges(rod):
    made = rod(Limb(start=(0, 0, 0), end=(1, 0, 0), nodes=3, radius=(0.03, 0.01), young=(1e6,)))
    assert made.tables.axial == pytest.approx(1e6 * np.pi * np.array([0.025, 0.015]) ** 2)


def test_weight_less_buoyancy_and_added_mass(rod):
    """A free rod in a fluid falls with (ρ − ρ_f)/(ρ + c·ρ_f)·g."""
    made = rod(Limb(**STRAIGHT, fluid_density=200.0, added_mass=0.5), gravity=(0.0, 0.0, -9.81))
    fall = made.force()[made.nodes("rod", 6)] / made.mass()[made.nodes("rod", 6)]
    assert fall[:, 2] == pytest.approx(-9.81 * 300.0 / 600.0, rel=1e-12)


@pytest.mark.parametrize("kind", ["viscosity", "drag_normal"])
def test_drag_acts_against_the_motion_of_every_node(rod, kind):
    """Pitfalls: the last node is damped too, and the force points against the velocity: f = −c·L·v in all."""
    made = rod(Limb(**STRAIGHT | {kind: 3.0}))
    x = made.nodes("rod", 6)
    made.state.v[x] = (0.0, 0.2, 0.0)
    drag = made.force()[x]
    assert drag[:, 1].sum() == pytest.approx(-3.0 * 1.0 * 0.2, rel=1e-12)
    assert drag[-1, 1] == pytest.approx(-3.0 * 0.1 * 0.2, rel=1e-12)


def test_a_slender_rod_drags_less_along_itself(rod):
    """With c_n = 2·c_t a falling rod at 45° drifts sideways: f_x = −½·(c_t − c_n)·v."""
    limb = Limb(
        start=(0, 0, 0), end=(np.sqrt(0.5), 0, np.sqrt(0.5)), nodes=4, drag_normal=2.0, drag_tangential=1.0
    )
    made = rod(limb)
    x = made.nodes("rod", 4)
    made.state.v[x[:, 2]] = -1.0
    total = made.force()[x].sum(axis=0)
    # F = −[c_n·1 + (c_t − c_n)·t∘t]·v with t = (1, 0, 1)/√2, v = −e_z
    assert total == pytest.approx([-0.5, 0.0, 1.5], rel=1e-12)


def test_a_rod_in_its_plane_drags_as_it_does_in_space(rod):
    """The same forces, and K and D equal their differences: both are unsymmetric or full across nodes."""
    points = ((0.0, 0.0, 0.0), (0.2, 0.0, 0.1), (0.4, 0.0, 0.05), (0.6, 0.0, 0.3))
    limb = Limb(points=points, young=(1e3,), drag_normal=2.0, drag_tangential=0.5)
    flat, full = rod(limb, planar=True), rod(limb)
    speed = np.random.default_rng(1).normal(size=(4, 2))
    flat.state.v[flat.nodes("rod", 4, "xz")] = speed
    full.state.v[full.nodes("rod", 4)[:, [0, 2]]] = speed
    assert flat.force() == pytest.approx(full.force()[full.nodes("rod", 4)[:, [0, 2]]].ravel(), rel=1e-12)
    stiffness, damping, n = flat.stiffness(), flat.damping(), flat.size
    for i, step in enumerate(1e-6 * np.eye(n)):
        ahead, behind = flat.force(flat.moved(step)), flat.force(flat.moved(-step))
        assert stiffness[:, i] == pytest.approx((behind - ahead) / 2e-6, abs=1e-6 * np.abs(stiffness).max())
    before = flat.force()
    flat.state.v[:] += 0.1
    assert damping @ np.full(n, 0.1) == pytest.approx(before - flat.force(), rel=1e-9, abs=1e-12)


def test_a_force_pulls_the_way_it_points(rod):
    """Pitfall: a free node goes where the world force points, also where the base is turned."""
    made = rod(Limb(**STRAIGHT), forces=(Force(name="f", at="rod.3"),))
    made.inputs[:] = (1.0, -2.0, 3.0)
    force = made.force()
    assert force[made.nodes("rod", 6)[3]] == pytest.approx([1.0, -2.0, 3.0])
    assert np.abs(force).sum() == pytest.approx(6.0)


def test_a_following_force_turns_with_the_rod(rod):
    """On a rod along y with director 1 up, (director 1, director 2, tangent) = (z, x, y)."""
    limb = Limb(start=(0, 0, 0), end=(0, 1, 0), nodes=4, director=(0.0, 0.0, 1.0))
    made = rod(limb, forces=(Force(name="f", at="rod.end", follows=True),))
    made.inputs[:] = (1.0, 2.0, 3.0)
    assert made.force()[made.nodes("rod", 4)[3]] == pytest.approx([2.0, 3.0, 1.0])


def test_a_following_force_turns_with_a_rod_in_its_plane_as_it_does_in_space(rod):
    """(director 1, y, tangent); the same forces on a bent rod, and K is their difference: unsymmetric."""
    limb = Limb(start=(0, 0, 0), end=(0.3, 0, 0), nodes=4, director=(0.0, 0.0, -1.0), young=(1e3,))
    force = (Force(name="f", at="rod.1", follows=True),)
    full, flat = rod(limb, forces=force), rod(evolve(limb, director=None), forces=force, planar=True)
    moved = 0.05 * np.random.default_rng(2).normal(size=(4, 2))
    full.state.q[full.nodes("rod", 4)[:, [0, 2]]] += moved
    flat.state.q[flat.nodes("rod", 4, "xz")] += moved
    full.inputs[:] = flat.inputs[:] = (1.5, 0.0, -2.0)
    assert flat.force() == pytest.approx(full.force()[full.nodes("rod", 4)[:, [0, 2]]].ravel(), rel=1e-9)
    stiffness = flat.stiffness()
    assert np.abs(stiffness - stiffness.T).max() > 1.0
    for i, step in enumerate(1e-6 * np.eye(flat.size)):
        slope = (flat.force(flat.moved(-step)) - flat.force(flat.moved(step))) / 2e-6
        assert stiffness[:, i] == pytest.approx(slope, abs=1e-6 * np.abs(stiffness).max())


@pytest.mark.parametrize("options", [{}, {"planar": True}, {"curvature_input": "nodes"}])
def test_input_jacobian_is_the_slope_of_forces(rod, options):
    given: dict[str, Any] = {
        "curvature_input": "uniform",
        "natural_curvature": (3.0, 0.0),
        "young": (1e5,),
        **options,
    }
    planar = given.pop("planar", False)
    limb = Limb(points=((0, 0, 0), (0.1, 0, 0.02), (0.2, 0, 0), (0.25, 0, 0.1)), **given)
    made = rod(limb, planar=planar, forces=(Force(name="f", at="rod.end", follows=True),))
    made.shake(0.02, seed=3)
    made.inputs[:] = np.random.default_rng(0).normal(size=len(made.inputs))
    found = np.full((made.size, len(made.inputs)), np.nan)
    made.model.input_jacobian(made.state, made.inputs, found)
    slope, h, before = [], 1e-5, made.inputs.copy()
    for e in np.eye(len(before)):
        made.inputs = before + h * e
        up = made.force()
        made.inputs = before - h * e
        slope.append((up - made.force()) / (2 * h))
    assert found == pytest.approx(np.array(slope).T, abs=1e-7 * np.abs(found).max())


@pytest.mark.parametrize("kind", ["clamp", "pin", "edge"])
def test_curvature_of_nodes_has_three_inputs_for_every_inner_node(rod, kind):
    """Whatever holds the ends; the input of a node bends the rod there and nowhere else."""
    limb = Limb(start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), nodes=6, curvature_input="nodes")
    made = rod(limb, clamps=(Clamp(at="rod.start", kind=kind),))
    assert made.layout.inputs[0].size == 3 * 4
    made.inputs[3:6] = (0.5, 0.0, 0.0)  # the second inner node
    bent = np.flatnonzero(np.abs(made.force()[made.nodes("rod", 6)]).max(axis=1) > 1e-12)
    assert bent.tolist() == [1, 2, 3]


def test_a_hub_of_five_edges_has_ten_pairs_and_one_mass(spider, rod_of):
    """n edges make n(n − 1)/2 pairs; the joint's mass is the sum of its half edges."""
    made = rod_of(spider)
    limbs, edges = 9, 9 * 5
    hub = made.place("body-5-x")[0]
    at_hub = made.tables.where[:, 2] == hub
    assert at_hub.sum() == 10
    assert len(made.tables.length) == edges
    assert len(made.tables.pair) == limbs * 4 + 10 + 4
    half = 0.5 * 0.02 * 1180.0 * np.pi * 5e-3**2
    assert made.mass()[hub] == pytest.approx(5 * half, rel=1e-12)
    assert np.abs(made.force()).max() < 1e-12  # stress free as built


def test_a_free_spider_has_six_rigid_motions(spider, rod_of):
    made = rod_of(spider)
    assert isinstance(made.model.tangent_matrices()[0], Sparse)
    values = np.linalg.eigvalsh(made.stiffness())
    assert int((np.abs(values) < 1e-9 * values[-1]).sum()) == 6


def test_joint_stiffness_scales_its_pairs(rod):
    one = Limb(name="a", start=(0.0, 0.0, 0.0), end=(0.1, 0.0, 0.0), nodes=3)
    two = Limb(name="b", start=(0.1, 0.0, 0.0), end=(0.1, 0.1, 0.0), nodes=3)
    soft, stiff = (
        rod(one, two, joints=(Joint(at=("a.end", "b.start"), stiffness=factor),)).tables.bend
        for factor in (1.0, 3.0)
    )
    assert stiff[-1] == pytest.approx(3.0 * soft[-1])
    assert stiff[0] == pytest.approx(soft[0])
