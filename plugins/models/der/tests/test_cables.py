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
