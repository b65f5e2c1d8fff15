"""Columns under loads that follow them, which have no energy: Beck's, Ziegler's and Nicolai's against closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigvals
from scipy.optimize import brentq

from corekit.errors import StaticsFailed
from corekit.scenario.load import from_document
from corekit_statics.modes import modes_of

LENGTH, RADIUS, YOUNG, DENSITY = 1.0, 0.001, 1e11, 1000.0
"""So thin that the inertia of turning sections, which Beck leaves out, counts for 6e-6 in the second mode."""
EI = YOUNG * np.pi * RADIUS**4 / 4
PACE = np.sqrt(EI / (DENSITY * np.pi * RADIUS**2))
"""√(EI/(ρ·A)) [m²/s]: frequencies of a rod of 1 m in units of it."""


def document(body):
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "column", "time": {"duration": 1.0, "step": 1e-3},
            "world": {"gravity": [0.0, 0.0, 0.0]}, "bodies": [body], "integrator": "implicit-midpoint",
        }
    )  # fmt: skip


def gvs(wrench, *, modes=("bend-y",), order=9, follows=True, **options):
    division = {
        "length": LENGTH, "radius": RADIUS, "young": YOUNG, "density": DENSITY,
        "strain": [{"kind": "legendre", "order": order, "modes": list(modes)}], **options,
    }  # fmt: skip
    loads = [{"name": "tip", "at": "rod.tip", "follows": follows}]
    links = [{"name": "rod", "divisions": [division]}]
    inputs = [{"channel": "load-tip", "signal": list(wrench)}]
    return document(
        {"name": "rod", "use": "gvs", "options": {"links": links, "loads": loads}, "inputs": inputs}
    )


def column(load, **options):
    """A clamped rod along x under a force [EI/L²] that follows its tip."""
    return gvs([0.0, 0.0, 0.0, -load * EI, 0.0, 0.0], **options)


def rods(load, nodes=41):
    limb = {
        "name": "rod", "start": [0, 0, 0], "end": [LENGTH, 0, 0], "nodes": nodes, "radius": [RADIUS],
        "young": [YOUNG], "density": [DENSITY],
    }  # fmt: skip
    options = {
        "limbs": [limb], "clamps": [{"at": "rod.start"}],
        "forces": [{"name": "tip", "at": "rod.end", "follows": True}],
    }  # fmt: skip
    inputs = [{"channel": "force-tip", "signal": [0.0, 0.0, -load * EI]}]
    return document({"name": "rod", "use": "der", "options": options, "inputs": inputs})


def stability(scenario):
    return scenario.statics().equilibrium.stability


def becks_frequencies(load):
    """The two lowest [Hz] of p² + 2ω² + p·ω·sinh a·sin b + 2ω²·cosh a·cos b = 0, a, b = √(√(p²/4 + ω²) ∓ p/2)."""

    def equation(w):
        root = np.sqrt(load**2 / 4.0 + w * w)
        a, b = np.sqrt(root - load / 2.0), np.sqrt(root + load / 2.0)
        return (
            load**2 + 2.0 * w * w
            + load * w * np.sinh(a) * np.sin(b) + 2.0 * w * w * np.cosh(a) * np.cos(b)
        )  # fmt: skip

    grid = np.linspace(0.5, 40.0, 800)
    signs = [equation(w) for w in grid]
    brackets = [k for k in range(len(grid) - 1) if signs[k] * signs[k + 1] < 0.0]
    return np.array([brentq(equation, grid[k], grid[k + 1]) for k in brackets[:2]]) * PACE / (2.0 * np.pi)


@pytest.mark.parametrize("load", [5.0, 15.0])
def test_a_column_under_a_following_force_has_the_frequencies_of_becks_equation(load):
    """At 15 the symmetric part of K has lost its sign, and at 5 it gives 2.665 Hz for 3.356."""
    equilibrium = column(load).statics().equilibrium
    assert equilibrium.stability.stable
    # the quadrature along the rod is 3e-5 off in the second mode, and less with a higher order
    assert modes_of(equilibrium, 2).frequencies == pytest.approx(becks_frequencies(load), rel=5e-5)


def test_it_flutters_beyond_becks_load():
    """P = 20.0510·EI/L² (Beck 1952)."""
    assert stability(column(20.04)).stable
    found = stability(column(20.06))
    assert (found.verdict, found.modes) == ("unstable", 1)
    assert "by flutter at" in str(found)
    modes = modes_of(column(25.0).statics().equilibrium, 2)
    assert np.isfinite(modes.growth[0])
    # without damping the verdict and the modes speak of one motion
    growth = stability(column(25.0)).growth
    assert growth == pytest.approx(modes.growth[0] + 2j * np.pi * modes.frequencies[0], rel=1e-8)


def test_a_little_damping_inside_takes_half_of_becks_load_away():
    """P = 10.94·EI/L² for vanishing damping in proportion to the strain rate (Bolotin 1963)."""
    assert stability(column(10.8, viscosity=1e7)).stable
    assert stability(column(11.1, viscosity=1e7)).verdict == "unstable"


def test_a_rod_of_edges_tends_to_what_becks_column_does():
    """Its band can hold no skew part. Errors fall with the square of the edge: 40 and 80 of them give the limit."""

    def frequencies(nodes):
        equilibrium = rods(19.5, nodes).statics().equilibrium
        assert equilibrium.stability.stable
        # two planes: each frequency comes twice
        return modes_of(equilibrium, 4).frequencies[[0, 2]]

    coarse, fine = frequencies(41), frequencies(81)
    assert fine == pytest.approx(becks_frequencies(19.5), rel=3e-3)
    assert (4.0 * fine - coarse) / 3.0 == pytest.approx(becks_frequencies(19.5), rel=2e-4)


def test_a_rod_of_edges_flutters_beyond_becks_load():
    assert "2 modes" in str(stability(rods(20.6)))
    assert stability(rods(20.6)).growth.imag > 0.0


def test_a_round_rod_under_a_following_torque_flutters_at_once():
    """Nicolai's paradox: the two planes have one frequency, and any torque that follows makes one of them grow."""
    scenario = gvs([0.4 * EI, 0, 0, 0, 0, 0], modes=("torsion", "bend-y", "bend-z"), order=2)
    found = stability(scenario)
    assert found.verdict == "unstable"
    assert "by flutter" in str(found)
    assert found.circulation is not None
    slowest = found.circulation.growing[np.argmin(np.abs(found.circulation.growing))]
    assert abs(slowest) == pytest.approx(1.8751**2 * PACE, rel=0.01)
    # another method, of the model's own matrices: s² = −ω² of all of K
    simulation = scenario.compose()
    model: Any = simulation.bodies[0].model
    state = simulation.state.body_states[0]
    (stiffness, damping), mass = model.new_stiffness_and_damping(), model.new_mass_matrix()
    inputs = simulation.bodies[0].inputs.value_at(0.0)
    state.q[:] = scenario.statics().equilibrium.state.q
    model.compute_mass_and_force(state, inputs, mass, np.zeros(len(state.v)))
    model.compute_stiffness_and_damping(state, inputs, stiffness, damping)
    roots = np.sqrt(-eigvals(stiffness.data, mass.data).astype(complex))
    nearest = np.min(np.abs(np.abs(roots.real) + 1j * np.abs(roots.imag) - slowest))
    assert nearest < 1e-6 * abs(slowest)


@pytest.mark.parametrize("viscosity", [0.0, 1e8])
def test_a_free_rod_between_following_forces_is_neutral_in_its_rigid_motions(viscosity):
    """Beck's critical load of a free rod under one force is 109.9; two that press are of that order."""
    limb = {
        "name": "rod", "start": [0, 0, 0], "end": [LENGTH, 0, 0], "nodes": 21, "radius": [RADIUS],
        "young": [YOUNG], "density": [DENSITY], "viscosity": [viscosity],
    }  # fmt: skip
    ends = (("left", "rod.start", 5.0), ("right", "rod.end", -5.0))
    options = {
        "limbs": [limb],
        "forces": [{"name": name, "at": at, "follows": True} for name, at, _ in ends],
    }
    inputs = [{"channel": f"force-{name}", "signal": [0.0, 0.0, load * EI]} for name, _, load in ends]
    found = stability(document({"name": "rod", "use": "der", "options": options, "inputs": inputs}))
    assert found.circulation is not None
    assert (found.verdict, found.neutral) == ("neutral", 6)


def test_loads_with_an_energy_are_judged_as_before():
    dead = column(2.0, follows=False).statics().equilibrium.stability
    assert dead.circulation is None
    assert dead.stable
    over = column(2.6, follows=False).statics().equilibrium.stability
    assert (over.verdict, over.growth) == ("unstable", 0.0)


def test_more_velocities_than_can_be_judged_are_said(monkeypatch):
    monkeypatch.setattr("corekit_statics.stability.LARGEST_CIRCULATORY", 5)
    equilibrium = column(5.0).statics().equilibrium
    assert str(equilibrium.stability) == "not judged (loads without an energy on more than 5 velocities)"
    with pytest.raises(StaticsFailed, match="loads without an energy"):
        modes_of(equilibrium, 2)
