"""Cables along rods against springs in series."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit_der.config import Cable, Clamp, Limb

YOUNG, RADIUS, LENGTH, OFFSET, STIFFNESS = 1e6, 0.01, 0.4, 6e-3, 900.0


def pulled(rod, offset, planar=False, **drive):
    limb = Limb(
        start=(0, 0, 0),
        end=(LENGTH, 0, 0),
        nodes=11,
        radius=(RADIUS,),
        young=(YOUNG,),
        director=None if planar else (0, 0, 1),
    )
    cable = Cable(name="side", offset=offset, **drive)
    return rod(limb, clamps=(Clamp(at="rod.start"),), cables=(cable,), planar=planar)


@pytest.mark.parametrize(("wound", "limit"), [(2e-3, np.inf), (2e-3, 0.8), (-2e-3, np.inf)])
@pytest.mark.parametrize("planar", [False, True])
def test_a_wound_up_cable_stretches_in_series_with_the_rod(rod, planar, wound, limit):
    """u = T·(1/k + L/(E·A) + d²·L/(E·I)); the tip then stands on the arc of κ = T·d/(E·I). Let out, it is slack."""
    cantilever = pulled(rod, (OFFSET, 0.0), planar, drive="length", stiffness=STIFFNESS, limit=limit)
    cantilever.inputs[:] = wound
    cantilever.find_equilibrium(tolerance=1e-11)
    axial, bending = YOUNG * np.pi * RADIUS**2, YOUNG * np.pi * RADIUS**4 / 4
    # the free end's half edge does not bend
    bent = LENGTH * (1 - 1 / 20)
    compliance = 1 / STIFFNESS + LENGTH / axial + OFFSET**2 * bent / bending
    tension = min(max(wound / compliance, 0.0), limit)
    half, shorter = 0.5 * tension * OFFSET * LENGTH / bending, LENGTH * (1 - tension / axial)
    expected = shorter * np.sinc(half / np.pi) * np.array([np.cos(half), np.sin(half)])
    tip = cantilever.state.q[cantilever.indices("rod-10-x", "rod-10-z")]
    # deflection by the trapezoidal rule: 1/(2·10²) of the bent part; the moment T·d, by the strain T/(E·A) below 0.2 %
    assert np.abs(tip) == pytest.approx(expected, rel=1e-2 * half + 2e-3, abs=1e-12)
    # director 1 is the z axis, or in the plane minus it: towards it the cable pulls
    assert tip[1] * (-1.0 if planar else 1.0) >= 0.0


@pytest.mark.parametrize("planar", [False, True])
def test_a_cable_is_drawn_beside_the_rod_as_long_as_its_drive_left_it(rod, planar):
    """Of what is wound up the cable gives T/k by its own stretch, and the rod what is left."""
    wound = 2e-3
    cantilever = pulled(rod, (OFFSET, 0.0), planar, drive="length", stiffness=STIFFNESS)
    ((name, straight),) = cantilever.model.compute_outline(cantilever.state).actuators
    assert name == "side"
    side = np.array([0.0, 0.0, -OFFSET if planar else OFFSET])
    assert straight[[0, -1]] == pytest.approx(np.array([[0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0]]) + side)
    cantilever.inputs[:] = wound
    cantilever.find_equilibrium(tolerance=1e-11)
    ((_, bent),) = cantilever.model.compute_outline(cantilever.state).actuators
    axial, bending = YOUNG * np.pi * RADIUS**2, YOUNG * np.pi * RADIUS**4 / 4
    compliance = 1 / STIFFNESS + LENGTH / axial + OFFSET**2 * LENGTH * (1 - 1 / 20) / bending
    tension, edge = wound / compliance, LENGTH / 10
    shorter = wound - tension / STIFFNESS
    angle = tension * OFFSET / bending * edge
    corners = 9 * edge * angle**2 / 8  # between middles of edges a chord cuts a corner off
    way = LENGTH - np.linalg.norm(np.diff(bent, axis=0), axis=1).sum()
    assert way == pytest.approx(shorter + corners, rel=1e-3)


def test_a_cable_of_a_ring_is_closed_and_shorter_inside(rod):
    """Of a circle through the corners of n edges of length l, middles moved inwards by y stand on a smaller polygon."""
    count, radius = 12, 0.1
    angles = 2 * np.pi * np.arange(count) / count
    points = np.stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(count)], axis=1)
    limb = Limb(
        points=tuple(map(tuple, points)), closed=True, radius=(RADIUS,), young=(YOUNG,), director=(0, 0, 1)
    )
    ring = rod(limb, cables=(Cable(name="hoop", offset=(0.0, OFFSET)),))
    ((_, line),) = ring.model.compute_outline(ring.state).actuators
    assert line[0] == pytest.approx(line[-1])
    apothem = radius * np.cos(np.pi / count)
    middle = np.linalg.norm(line, axis=1)
    assert middle == pytest.approx(np.full(count + 1, middle[0]))
    assert abs(middle[0] - apothem) == pytest.approx(OFFSET)


def test_a_tension_bends_as_a_moment_and_keeps_the_band(rod):
    cantilever = pulled(rod, (0.0, OFFSET))
    (channel,) = cantilever.description.inputs
    assert (channel.name, channel.lower) == ("tension-side", 0.0)
    assert type(cantilever.model.new_stiffness_and_damping()[0]).__name__ == "Banded"
    cantilever.inputs[:] = 0.01
    cantilever.find_equilibrium(tolerance=1e-11)
    # δ = T·d·L²/(2·E·I); director 2 is −y, and the tension's own P·δ acts along the rod
    deflection = 0.01 * OFFSET * LENGTH**2 / (2 * YOUNG * np.pi * RADIUS**4 / 4)
    assert cantilever.state.q[cantilever.indices("rod-10-y")] == pytest.approx([-deflection], rel=1e-4)


@pytest.mark.parametrize("at", ["rod.start", "rod.end"])
def test_friction_takes_from_the_bending_what_the_capstan_equation_says(rod, at):
    """E·I·θ′ = d·T·exp(−μ·θ), so θ(L) = ln(1 + μ·d·T·L/(E·I))/μ; held at its end, the rod turns under its drive."""
    mu, nodes, tension = 0.8, 41, 6.0
    limb = Limb(
        start=(0, 0, 0), end=(LENGTH, 0, 0), nodes=nodes, radius=(RADIUS,), young=(YOUNG,), director=(0, 0, 1)
    )
    cable = Cable(name="side", offset=(OFFSET, 0.0), friction=mu)
    cantilever = rod(limb, clamps=(Clamp(at=at),), cables=(cable,))
    for share in (0.2, 0.4, 0.6, 0.8, 1.0):
        cantilever.inputs[:] = share * tension
        cantilever.find_equilibrium(tolerance=1e-10)
    places = cantilever.state.q[cantilever.nodes("rod", nodes, "xz")]
    angles = np.arctan2(*np.diff(places, axis=0)[:, ::-1].T)
    rigidity, bent = YOUNG * np.pi * RADIUS**4 / 4, LENGTH * (1 - 0.5 / (nodes - 1))
    expected = np.log(1.0 + mu * OFFSET * tension * bent / rigidity) / mu
    free = OFFSET * tension * bent / rigidity
    assert expected < 0.8 * free
    # ε of every pair, and tan(φ/2) for φ/2
    within = nodes * 1e-5 + (free / nodes) ** 2 / 12 * free
    assert np.abs(angles).max() == pytest.approx(expected, abs=within)


def test_what_is_missing_is_said(rod):
    with pytest.raises(ConfigError, match="give E·A/L of the cable"):
        Cable(name="side", drive="length")
    with pytest.raises(ConfigError, match="limbs are rod"):
        rod(Limb(start=(0, 0, 0), end=(1, 0, 0)), cables=(Cable(name="side", limb="red"),))
