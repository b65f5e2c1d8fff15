"""Equilibria against beam theory: deflection, elastica, helix, twist, buckling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from corekit.data.signals import Constant
from corekit_der.config import Clamp, Force, Joint, Limb
from corekit_testing.rounding import rounding

EI = 1e5 * np.pi * 0.02**4 / 4
"""Bending stiffness of the fixture `cantilever` [N·m²]."""


def test_tip_load_bends_a_cantilever_by_euler_bernoulli_to_second_order(cantilever):
    """w = P·L³/(3·EI); half the edge length gives a quarter of the error, because the clamp bends over half an edge."""
    load = 1e-4 * EI
    errors = []
    for nodes in (11, 21, 41):
        made = cantilever(nodes)
        made.inputs[:] = (0.0, 0.0, -load)
        made.find_equilibrium(tolerance=1e-11)
        tip = made.state.q[made.indices(f"beam-{nodes - 1}-z")[0]]
        errors.append(-tip / (load / (3 * EI)) - 1.0)
    assert abs(errors[-1]) < 4e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.02)


def test_clamping_two_nodes_makes_a_cantilever_half_an_edge_shorter(cantilever):
    """Pitfall: with `edge` the deflection is that of L − ½·edge, an error of first order."""
    nodes, load = 41, 1e-4 * EI
    made = cantilever(nodes, kind="edge")
    made.inputs[:] = (0.0, 0.0, -load)
    made.find_equilibrium(tolerance=1e-11)
    tip = -made.state.q[made.indices(f"beam-{nodes - 1}-z")[0]]
    short = 1.0 - 0.5 / (nodes - 1)
    assert tip * 3 * EI / load == pytest.approx(short**3, rel=1e-3)


def test_own_weight_bends_a_cantilever_by_beam_theory(cantilever):
    """w = ρ·A·g·L⁴/(8·EI)."""
    made = cantilever(41, gravity=(0.0, 0.0, -1e-4))
    made.find_equilibrium(tolerance=1e-11)
    weight = 500.0 * np.pi * 0.02**2 * 1e-4
    tip = -made.state.q[made.indices("beam-40-z")[0]]
    assert tip == pytest.approx(weight / (8 * EI), rel=1e-3)


def elastica(load: float) -> tuple[float, float]:
    """Return the tip (x, z) of an inextensible unit cantilever under a transverse dead load: φ″ = −(P/EI)·cos φ."""

    def path(slope):
        return solve_ivp(
            lambda s, y: (y[1], -load * np.cos(y[0]), np.cos(y[0]), np.sin(y[0])),
            (0.0, 1.0),
            (0.0, slope, 0.0, 0.0),
            rtol=1e-10,
            atol=1e-12,
        )

    moment = brentq(lambda slope: path(slope).y[1, -1], 0.0, load)
    return path(moment).y[2, -1], path(moment).y[3, -1]


@pytest.mark.parametrize("planar", [False, True])
def test_large_deflection_is_the_elastica(cantilever, planar):
    """At P·L²/EI = 5 the tip agrees with the boundary value problem of the elastica."""
    made = cantilever(61, planar=planar)
    for fraction in (0.25, 0.5, 1.0):
        made.inputs[:] = (0.0, 0.0, fraction * 5.0 * EI)
        made.find_equilibrium(tolerance=1e-10, max_increment=0.2)
    tip = made.state.q[made.indices("beam-60-x", "beam-60-z")]
    # EA is finite: the bound is the axial strain due to the load
    assert tip == pytest.approx(elastica(5.0), abs=2e-3)


def test_planar_and_spatial_rods_bend_alike(cantilever):
    tips = []
    for planar in (False, True):
        made = cantilever(21, planar=planar)
        made.inputs[:] = (0.0, 0.0, 2.0 * EI)
        made.find_equilibrium(max_increment=0.2)
        tips.append(made.state.q[made.indices("beam-20-x", "beam-20-z")])
    assert tips[0] == pytest.approx(tips[1], abs=1e-10)


def test_natural_curvature_and_twist_make_the_helix_of_that_curvature_and_torsion(rod):
    """Without load the radius is κ/(κ² + τ²) and the pitch 2πτ/(κ² + τ²)."""
    kappa, tau, nodes = 4.0, 3.0, 41
    limb = Limb(
        start=(0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), nodes=nodes, radius=(5e-3,), curvature_input="uniform"
    )
    made = rod(limb, clamps=(Clamp(at="rod.start"),))
    for fraction in np.linspace(0.2, 1.0, 5):
        made.inputs[:] = fraction * np.array([kappa, 0.0, tau])
        made.find_equilibrium(max_increment=0.3, tolerance=1e-9)
    x = made.state.q[made.nodes("rod", nodes)]
    # torsion of a polygon: angle between neighbouring osculating planes per edge length
    e = np.diff(x, axis=0)
    b = np.cross(e[:-1], e[1:])
    b /= np.linalg.norm(b, axis=1)[:, None]
    t = e[1:-1] / np.linalg.norm(e[1:-1], axis=1)[:, None]
    torsion = np.einsum("ij,ij->i", np.cross(b[:-1], b[1:]), t) * (nodes - 1)
    turning = np.arccos(np.clip(np.einsum("ij,ij->i", e[:-1], e[1:]) * (nodes - 1) ** 2, -1, 1)) * (nodes - 1)
    assert torsion == pytest.approx(tau, rel=5e-3)
    assert turning == pytest.approx(kappa, rel=5e-3)


def test_a_turned_end_gives_a_uniform_twist(rod):
    """Two clamps, one turned by one and a half turns: the torque is GJ·α/L everywhere."""
    limb = Limb(start=(0.0, 0.0, 0.0), end=(0.5, 0.0, 0.0), nodes=9, radius=(0.01,), young=(3e5,))
    clamps = (Clamp(at="rod.start"), Clamp(at="rod.end", twist=Constant((3 * np.pi,))))
    made = rod(limb, clamps=clamps)
    held = made.description.prescribed_velocity_index
    value, rate = np.zeros(len(held)), np.zeros(len(held))
    made.model.compute_prescribed_motion(0.0, value, rate)
    start = made.state.q[held]
    for fraction in np.linspace(0.2, 1.0, 5):  # less than half a turn per increment
        step = np.zeros(made.size)
        step[held] = start + fraction * (value - start) - made.state.q[held]
        made.state = made.displace(step)
        made.find_equilibrium(tolerance=1e-12, max_increment=10.0)
    angles = made.state.q[made.indices(*(f"rod-{i}-angle" for i in range(8)))]
    assert np.diff(angles) == pytest.approx(3 * np.pi / 8, rel=1e-9)
    GJ = 3e5 / 3.0 * np.pi * 0.01**4 / 2
    assert made.force()[made.indices("clamp-rod-7-angle")[0]] == pytest.approx(
        -GJ * 3 * np.pi / 0.5, rel=1e-9
    )


def least_eigenvalue(made) -> float:
    """Return the least eigenvalue of the Hessian in the free coordinates."""
    free = made.free
    return float(np.linalg.eigvalsh(made.stiffness()[np.ix_(free, free)])[0])


def test_a_pressed_column_buckles_at_eulers_load(cantilever):
    """P = π²·EI/(4·L²) for a thin column; the bound includes the axial shortening."""
    made = cantilever(41, planar=True, radius=0.002)
    stiffness = 1e5 * np.pi * 0.002**4 / 4

    def lowest(fraction: float) -> float:
        made.inputs[:] = (-fraction * np.pi**2 * stiffness / 4, 0.0, 0.0)
        made.find_equilibrium(tolerance=1e-12)
        return least_eigenvalue(made)

    assert brentq(lowest, 0.9, 1.1, xtol=1e-4) == pytest.approx(1.0, rel=2e-3)


def test_a_ring_under_pressure_buckles_at_three_ei_over_radius_cubed(rod):
    """p = 3·EI/R³ per length in the plane, to 0.3 %; the potential of the pressure is p times the enclosed area."""
    n, radius = 80, 0.1
    angle = 2 * np.pi * np.arange(n) / n
    points = tuple((radius * np.cos(a), 0.0, radius * np.sin(a)) for a in angle)
    made = rod(Limb(name="ring", points=points, closed=True, radius=(5e-4,), young=(1e7,)), planar=True)
    stiffness = 1e7 * np.pi * 5e-4**4 / 4
    x = made.nodes("ring", n, "xz")
    after = np.roll(x, -1, axis=0)
    area = np.zeros((made.size, made.size))  # ½·qᵀ·area·q is the enclosed area
    area[x[:, 0], after[:, 1]] += 0.5
    area[x[:, 1], after[:, 0]] -= 0.5
    area += area.T
    ovals, fractions = [], (0.99, 1.01)
    for fraction in fractions:
        pressure = fraction * 3 * stiffness / radius**3
        for _ in range(6):
            gradient = pressure * area @ made.state.q - made.force()
            step, *_ = np.linalg.lstsq(made.stiffness() + pressure * area, -gradient, rcond=1e-12)
            made.state = made.displace(step)
        values = np.linalg.eigvalsh(made.stiffness() + pressure * area)[:5] * radius**3 / stiffness
        # three eigenvalues are rigid motions; the other two are the ovals, nearly equal
        free = np.argsort(np.abs(values))[:3]
        assert np.abs(values[free]).max() < 1e-6
        ovals.append(np.delete(values, free))
    assert ovals[0].min() > 1e-4
    assert ovals[1].max() < -1e-4
    # interpolate the stiffness of the ovals linearly
    first, last = (each.mean() for each in ovals)
    threshold = fractions[0] + (fractions[1] - fractions[0]) * first / (first - last)
    assert threshold == pytest.approx(1.0, abs=3e-3)


def test_michells_ring_buckles_at_its_critical_twist(rod):
    """A straight rod closed to a ring buckles out of its plane at the twist 2π·√3·EI/GJ.

    The error of 40 and 80 edges is of order 1/n²; extrapolated, 1/n⁴ and (r/R)² = 1e-4 are left.
    """
    coarse, fine = (critical_twist(rod, n) - 1.0 for n in (40, 80))
    assert coarse / fine == pytest.approx(4.0, rel=0.05)
    assert (4.0 * fine - coarse) / 3.0 == pytest.approx(0.0, abs=1e-4)


def critical_twist(rod, n: int) -> float:
    """Twist, in parts of Michell's, at which the out-of-plane mode of a ring of `n` edges has no stiffness."""
    angle = 2 * np.pi * np.arange(n) / n
    ratio = 1.5  # EI/GJ of a round section with ν = ½
    critical = 2 * np.pi * np.sqrt(3.0) * ratio

    def flattest(fraction: float) -> float:
        """Return the eigenvalue of the out-of-plane mode; those of rigid motions and spin are zero."""
        twist = fraction * critical
        radius = 0.1
        points = tuple((radius * np.cos(a), radius * np.sin(a), 0.0) for a in angle)
        length = 2 * n * radius * np.sin(np.pi / n)
        # an unloaded twist of −α/L in an untwisted ring is equivalent to the twist α
        ring = Limb(
            name="ring", points=points, closed=True, unloaded="straight", radius=(1e-3,), young=(1e8,),
            natural_twist=-twist / length,
        )  # fmt: skip
        made = rod(ring)
        x = made.nodes("ring", n)
        for _ in range(10):  # the bending moment stretches the ring slightly: Newton's method for the radius
            direction = np.zeros(made.size)
            direction[x[:, 0]], direction[x[:, 1]] = np.cos(angle), np.sin(angle)
            radial_force, K = direction @ made.force(), direction @ made.stiffness() @ direction
            made.state = made.displace(direction * radial_force / K)
        assert np.abs(made.force()).max() < 1e-9
        stiffness = made.stiffness()
        values = np.linalg.eigvalsh(stiffness)[:12]
        # zero but for rounding; at the threshold the mode is more than that from 1e-7 of the twist on, less than `xtol`
        return values[np.abs(values) > rounding(made.size, np.linalg.norm(stiffness, 2))][0]

    return float(brentq(flattest, 0.9, 1.1, xtol=1e-6))


def test_a_joint_is_stress_free_as_built_and_as_stiff_as_both_rods(rod):
    """Two collinear rods of different stiffness bend like a beam with a step in EI at the joint."""
    one = Limb(name="a", start=(0.0, 0.0, 0.0), end=(0.5, 0.0, 0.0), nodes=21, radius=(0.02,), young=(1e5,))
    two = Limb(name="b", start=(1.0, 0.0, 0.0), end=(0.5, 0.0, 0.0), nodes=21, radius=(0.02,), young=(4e5,))
    made = rod(
        one,
        two,
        joints=(Joint(at=("a.end", "b.end")),),
        clamps=(Clamp(at="a.start"),),
        forces=(Force(name="tip", at="b.start"),),
    )
    # rounding strains an edge of 25 mm at coordinates of 1 m; EA is that of the stiffer rod
    assert np.abs(made.force()).max() < 4e5 * np.pi * 0.02**2 * rounding(16, 1.0 / 0.025)
    load = 1e-4 * EI
    made.inputs[:] = (0.0, 0.0, load)
    made.find_equilibrium(tolerance=1e-11)
    # ∫ P·(1 − s)²/EI ds over both halves
    expected = load / EI * ((1 - 0.5**3) / 3 + 0.5**3 / 3 / 4)
    assert made.state.q[made.indices("b-0-z")[0]] == pytest.approx(expected, rel=1e-3)


def test_a_corner_keeps_its_angle_and_a_pin_does_not(rod):
    one = Limb(name="a", start=(0.0, 0.0, 0.0), end=(0.1, 0.0, 0.0), nodes=4)
    two = Limb(name="b", start=(0.1, 0.0, 0.0), end=(0.1, 0.1, 0.0), nodes=4)
    for kind, zero in (("elastic", 6), ("pin", 9)):
        made = rod(one, two, joints=(Joint(at=("a.end", "b.start"), kind=kind),))
        values = np.linalg.eigvalsh(made.stiffness())
        assert int((np.abs(values) < 1e-9 * values[-1]).sum()) == zero
