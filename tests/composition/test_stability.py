"""Stability of rods against Euler's loads, beam theory, and the number of rigid motions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corekit.scenario.load import from_document

LENGTH, RADIUS, YOUNG, DENSITY = 1.0, 0.005, 1e7, 1000.0
EI = YOUNG * np.pi * RADIUS**4 / 4
AREA = np.pi * RADIUS**2
EULER = np.pi**2 * EI / (4 * LENGTH**2)
"""Load under which a clamped-free column buckles [N]; the next one is 9 times as large."""


def document(body: dict[str, Any], **inputs: list[float]) -> dict[str, Any]:
    body["inputs"] = [
        {"channel": channel.replace("_", "-"), "signal": value} for channel, value in inputs.items()
    ]
    return {
        "format": "corekit-scenario/1",
        "name": "column",
        "time": {"duration": 1.0, "step": 1e-3},
        "world": {"gravity": [0.0, 0.0, 0.0]},
        "bodies": [body],
        "integrator": "implicit-midpoint",
        "output": {"every": 0.1},
    }


def der(load: float = 0.0, *, planar: bool = False, clamped: bool = True) -> dict[str, Any]:
    """An upright rod of 161 nodes with a dead load on top."""
    limb = {
        "name": "rod", "start": [0, 0, 0], "end": [0, 0, LENGTH], "nodes": 161, "radius": [RADIUS],
        "young": [YOUNG], "density": [DENSITY],
    }  # fmt: skip
    options = {
        "planar": planar,
        "limbs": [limb],
        "clamps": [{"at": "rod.start"}] if clamped else [],
        "forces": [{"name": "top", "at": "rod.end"}],
    }
    return document({"name": "rod", "use": "der", "options": options}, force_top=[0, 0, -load])


def gvs(load: float = 0.0, *, planar: bool = False, clamped: bool = True) -> dict[str, Any]:
    """The same rod by Legendre polynomials of order 4."""
    modes = ["bend-y"] if planar else ["torsion", "bend-y", "bend-z", "stretch"]
    division = {
        "length": LENGTH, "radius": RADIUS, "young": YOUNG, "density": DENSITY,
        "strain": [{"kind": "legendre", "order": 4, "modes": modes}],
    }  # fmt: skip
    link: dict[str, Any] = {"name": "rod", "rotation_rpy": [0, -np.pi / 2, 0], "divisions": [division]}
    if not clamped:
        link["joint"] = {"kind": "free"}
    options = {"links": [link], "loads": [{"name": "top", "at": "rod.tip"}]}
    return document({"name": "rod", "use": "gvs", "options": options}, load_top=[0, 0, 0, 0, 0, -load])


def stability(scenario: dict[str, Any]):
    return from_document(scenario).statics().equilibrium.stability


@pytest.mark.parametrize("rod", [der, gvs])
@pytest.mark.parametrize("planar", [False, True])
def test_a_column_is_stable_below_eulers_load_and_unstable_above_it(rod, planar):
    """Both rods buckle within 1e-3 of Euler's load: P/EA shortens the column by 1.5e-5, and edges have 6 mm."""
    ways = 1 if planar else 2
    for factor, wanted in ((0.99, 0), (1.01, ways), (1.5, ways), (8.9, ways), (9.5, 2 * ways)):
        found = stability(rod(factor * EULER, planar=planar))
        assert (found.verdict, found.modes) == ("unstable" if wanted else "stable", wanted), factor
        assert found.neutral == 0
        assert abs(found.smallest) > found.error


@pytest.mark.parametrize("rod", [der, gvs])
def test_close_to_eulers_load_the_slowest_mode_slows_as_the_load_that_is_left(rod):
    """ω² falls linearly with the load where the shape is nearly the buckled one: ω² = c·(1 − P/P_E)."""
    below, above = (stability(rod(factor * EULER)).smallest for factor in (0.99, 1.01))
    critical = 0.99 + 0.02 * below / (below - above)
    assert critical == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("rod", [der, gvs])
def test_an_unloaded_cantilever_is_stable_at_the_frequency_of_euler_and_bernoulli(rod):
    """1.8751⁴·EI/(ρ·A·L⁴); the rotation of sections, in gvs alone, takes a share of order (r/L)²."""
    found = stability(rod())
    assert found.verdict == "stable"
    wanted = 1.8751040687119611**4 * EI / (DENSITY * AREA * LENGTH**4)
    assert found.smallest == pytest.approx(wanted, rel=2e-4)


@pytest.mark.parametrize("rod", [der, gvs])
def test_a_free_rod_is_neutral_in_its_six_rigid_motions(rod):
    found = stability(rod(clamped=False))
    assert (found.verdict, found.neutral, found.modes) == ("neutral", 6, 0)
    assert str(found) == "neutral, 6 modes without stiffness"


def test_a_free_rod_in_a_plane_has_three_rigid_motions():
    found = stability(der(planar=True, clamped=False))
    assert (found.verdict, found.neutral) == ("neutral", 3)
