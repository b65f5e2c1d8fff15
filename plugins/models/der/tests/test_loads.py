"""Masses, weights, drag, forces and natural curvature of free rods with known results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attrs import evolve

from corekit.errors import ConfigError
from corekit.linalg.matrices import Sparse
from corekit_der.config import Clamp, Force, Joint, Limb
from corekit_testing.rounding import rounding

STRAIGHT: dict[str, Any] = {
    "start": (0.0, 0.0, 0.0),
    "end": (1.0, 0.0, 0.0),
    "nodes": 6,
    "radius": (0.02,),
    "density": (500.0,),
}
MASS = 500.0 * np.pi * 0.02**2


def test_nodes_have_the_mass_of_the_rod_and_edges_its_polar_inertia(rod):
    """Σm = ρAL; the inertia of an edge's angle is ρ·(I₁ + I₂)·L, not ρ·J: they differ for a rectangle."""
    made = rod(Limb(**STRAIGHT))
    assert made.mass()[made.nodes("rod", 6)[:, 0]].sum() == pytest.approx(MASS, rel=rounding(24))
    oblong = rod(
        Limb(start=(0, 0, 0), end=(1, 0, 0), nodes=5, section="rectangle", width=(0.02,), height=(0.01,))
    )
    polar = 1000.0 * (0.01 * 0.02**3 + 0.02 * 0.01**3) / 12
    assert oblong.mass()[oblong.indices("rod-0-angle")[0]] == pytest.approx(polar * 0.25, rel=1e-12)


def test_velocity_scale_of_an_angle_is_the_radius_of_its_edge(rod):
    """The scale is 1 at nodes and the radius of the edge at angles."""
    limb = Limb(start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), nodes=4, radius=(0.03, 0.01))
    made = rod(limb)
    scale, nodes = made.description.velocity_scale, made.nodes("rod", 4).ravel()
    assert scale[nodes].tolist() == [1.0] * 12
    assert np.delete(scale, nodes) == pytest.approx([0.08 / 3, 0.02, 0.04 / 3])
    assert rod(limb, planar=True).description.velocity_scale is None


@pytest.mark.parametrize("hole", [0.0, 0.008])
def test_a_hollow_rod_is_a_full_one_less_its_hole(rod, hole):
    """E·A, E·I and G·J of radii 10 and 8 mm, G = E/3; ρ·A and ρ·(I₁ + I₂) likewise."""
    made = rod(
        Limb(start=(0, 0, 0), end=(1, 0, 0), nodes=3, radius=(0.01,), inner_radius=(hole,), young=(1e6,))
    )
    area, polar = np.pi * (1e-4 - hole**2), 0.5 * np.pi * (1e-8 - hole**4)
    assert made.tables.axial == pytest.approx(1e6 * area)
    stiffness = 1e6 * polar * np.array([0.5, 0.5, 1.0 / 3.0]) / 0.5
    assert made.tables.pair_stiffness[0] == pytest.approx(stiffness)
    assert made.mass()[made.nodes("rod", 3)[1, 0]] == pytest.approx(1000.0 * area * 0.5)
    assert made.mass()[made.indices("rod-0-angle")[0]] == pytest.approx(1000.0 * polar * 0.5)


def test_a_hole_must_be_smaller_than_the_rod_everywhere():
    """Both are linear between their own knots, so they are compared at all of them."""
    with pytest.raises(ConfigError, match=r"inner_radius.*below the radius"):
        Limb(start=(0, 0, 0), end=(1, 0, 0), radius=(0.02, 0.002), inner_radius=(0.0, 0.012, 0.0))
    Limb(start=(0, 0, 0), end=(1, 0, 0), radius=(0.02, 0.002), inner_radius=(0.0, 0.010, 0.0))
    with pytest.raises(ConfigError, match=r"inner_radius.*round"):
        Limb(start=(0, 0, 0), end=(1, 0, 0), section="rectangle", inner_radius=(0.001,))


def test_an_oblong_section_is_softer_across_its_thin_side(rod):
    """The stiffness for κ₁, bending about director 2, grows with the cube of the width along director 1."""
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
    across[made.indices("rod-1-y")], upright[made.indices("rod-1-z")] = 1.0, 1.0
    K = made.stiffness()
    assert across @ K @ across / (upright @ K @ upright) == pytest.approx(4.0, rel=1e-12)


def test_a_tapered_rod_has_the_sections_of_its_edges(rod):
    made = rod(Limb(start=(0, 0, 0), end=(1, 0, 0), nodes=3, radius=(0.03, 0.01), young=(1e6,)))
    assert made.tables.axial == pytest.approx(1e6 * np.pi * np.array([0.025, 0.015]) ** 2)


def test_buoyancy_and_added_mass_reduce_the_fall(rod):
    """A free rod in a fluid accelerates with (ρ − ρ_f)/(ρ + c·ρ_f)·g."""
    made = rod(Limb(**STRAIGHT, fluid_density=200.0, added_mass=0.5), gravity=(0.0, 0.0, -9.81))
    fall = made.force()[made.nodes("rod", 6)] / made.mass()[made.nodes("rod", 6)]
    assert fall[:, 2] == pytest.approx(-9.81 * 300.0 / 600.0, rel=1e-12)


@pytest.mark.parametrize("kind", ["viscous_drag", "drag_normal"])
def test_drag_acts_against_the_motion_of_every_node(rod, kind):
    """Pitfalls: drag acts on the last node too, and against the velocity; the sum is −c·L·v."""
    made = rod(Limb(**STRAIGHT | {kind: 3.0}))
    x = made.nodes("rod", 6)
    made.state.v[x] = (0.0, 0.2, 0.0)
    drag = made.force()[x]
    assert drag[:, 1].sum() == pytest.approx(-3.0 * 1.0 * 0.2, rel=1e-12)
    assert drag[-1, 1] == pytest.approx(-3.0 * 0.1 * 0.2, rel=1e-12)


def test_a_slender_rod_has_less_drag_along_its_axis(rod):
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


def test_planar_and_spatial_rods_have_equal_drag(rod):
    """The forces agree, and K and D agree with finite differences of the force."""
    points = ((0.0, 0.0, 0.0), (0.2, 0.0, 0.1), (0.4, 0.0, 0.05), (0.6, 0.0, 0.3))
    limb = Limb(points=points, young=(1e3,), drag_normal=2.0, drag_tangential=0.5)
    flat, full = rod(limb, planar=True), rod(limb)
    speed = np.random.default_rng(1).normal(size=(4, 2))
    flat.state.v[flat.nodes("rod", 4, "xz")] = speed
    full.state.v[full.nodes("rod", 4)[:, [0, 2]]] = speed
    assert flat.force() == pytest.approx(full.force()[full.nodes("rod", 4)[:, [0, 2]]].ravel(), rel=1e-12)
    stiffness, damping, n = flat.stiffness(), flat.damping(), flat.size
    for i, step in enumerate(1e-6 * np.eye(n)):
        ahead, behind = flat.force(flat.displace(step)), flat.force(flat.displace(-step))
        assert stiffness[:, i] == pytest.approx((behind - ahead) / 2e-6, abs=1e-6 * np.abs(stiffness).max())
    before = flat.force()
    flat.state.v[:] += 0.1
    assert damping @ np.full(n, 0.1) == pytest.approx(before - flat.force(), rel=1e-9, abs=1e-12)


def test_a_nodal_force_acts_in_world_axes(rod):
    """Pitfall: the force on a free node has the sign and the axes of its input."""
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


def test_following_forces_of_planar_and_spatial_rods_are_equal(rod):
    """In the axes (director 1, y, tangent) the forces agree, and K agrees with their finite difference."""
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
        slope = (flat.force(flat.displace(-step)) - flat.force(flat.displace(step))) / 2e-6
        assert stiffness[:, i] == pytest.approx(slope, abs=1e-6 * np.abs(stiffness).max())


@pytest.mark.parametrize("options", [{}, {"planar": True}, {"curvature_input": "nodes"}])
def test_input_jacobian_is_the_derivative_of_forces(rod, options):
    values: dict[str, Any] = {
        "curvature_input": "uniform",
        "natural_curvature": (3.0, 0.0),
        "young": (1e5,),
        **options,
    }
    planar = values.pop("planar", False)
    limb = Limb(points=((0, 0, 0), (0.1, 0, 0.02), (0.2, 0, 0), (0.25, 0, 0.1)), **values)
    made = rod(limb, planar=planar, forces=(Force(name="f", at="rod.end", follows=True),))
    made.shake(0.02, seed=3)
    made.inputs[:] = np.random.default_rng(0).normal(size=len(made.inputs))
    jacobian = np.full((made.size, len(made.inputs)), np.nan)
    made.model.compute_input_jacobian(made.state, made.inputs, jacobian)
    slope, h, before = [], 1e-5, made.inputs.copy()
    for e in np.eye(len(before)):
        made.inputs = before + h * e
        up = made.force()
        made.inputs = before - h * e
        slope.append((up - made.force()) / (2 * h))
    assert jacobian == pytest.approx(np.array(slope).T, abs=1e-7 * np.abs(jacobian).max())


@pytest.mark.parametrize("kind", ["clamp", "pin", "edge"])
def test_nodal_curvature_has_three_inputs_per_inner_node(rod, kind):
    """For every kind of clamp; the input of a node bends the rod only at that node."""
    limb = Limb(start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), nodes=6, curvature_input="nodes")
    made = rod(limb, clamps=(Clamp(at="rod.start", kind=kind),))
    assert made.description.inputs[0].size == 3 * 4
    made.inputs[3:6] = (0.5, 0.0, 0.0)  # the second inner node
    bent = np.flatnonzero(np.abs(made.force()[made.nodes("rod", 6)]).max(axis=1) > 1e-12)
    assert bent.tolist() == [1, 2, 3]


def test_a_hub_of_five_edges_has_ten_pairs_and_one_mass(spider, rod_of):
    """n edges make n(n − 1)/2 pairs; the mass of the joint is the sum of its half edges."""
    made = rod_of(spider)
    limbs, edges = 9, 9 * 5
    hub = made.indices("body-5-x")[0]
    at_hub = made.tables.pair_dofs[:, 2] == hub
    assert at_hub.sum() == 10
    assert len(made.tables.length) == edges
    assert len(made.tables.pair) == limbs * 4 + 10 + 4
    half = 0.5 * 0.02 * 1180.0 * np.pi * 5e-3**2
    assert made.mass()[hub] == pytest.approx(5 * half, rel=1e-12)
    assert np.abs(made.force()).max() < 1e-12  # stress free as built


def test_a_free_spider_has_six_rigid_motions(spider, rod_of):
    made = rod_of(spider)
    assert isinstance(made.model.new_stiffness_and_damping()[0], Sparse)
    values = np.linalg.eigvalsh(made.stiffness())
    assert int((np.abs(values) < 1e-9 * values[-1]).sum()) == 6


def test_joint_stiffness_scales_its_pairs(rod):
    one = Limb(name="a", start=(0.0, 0.0, 0.0), end=(0.1, 0.0, 0.0), nodes=3)
    two = Limb(name="b", start=(0.1, 0.0, 0.0), end=(0.1, 0.1, 0.0), nodes=3)
    soft, stiff = (
        rod(one, two, joints=(Joint(at=("a.end", "b.start"), stiffness=factor),)).tables.pair_stiffness
        for factor in (1.0, 3.0)
    )
    assert stiff[-1] == pytest.approx(3.0 * soft[-1])
    assert stiff[0] == pytest.approx(soft[0])
