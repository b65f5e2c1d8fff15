"""The option `gyroscopic` against the symmetric top, whirling shafts, and the balance of angular momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from corekit.data.signals import Ramp
from corekit.errors import ConfigError
from corekit.scenario.load import from_document
from corekit_der.config import Clamp, DERConfig, Limb
from corekit_der.initial_options import DERInitial, LimbStart
from corekit_der.model import DER
from corekit_testing.conformance import conformance

from .test_conformance import GRIPPED, TREE
from .test_motion import run

GYROSCOPIC = {"gyroscopic": True}
test_a_spinning_tree = conformance("models", "der", TREE | GYROSCOPIC)
test_a_spinning_mounted_rod = conformance("models", "der", GRIPPED | GYROSCOPIC, free_base=True)

LENGTH, RADIUS, DENSITY = 0.3, 0.01, 1000.0


def rod_of(edges, young, radius=RADIUS, gyroscopic=True, clamps=(), first=0.0, **limb):
    """A straight rod along x, with its nodes (edges + 1, 3)."""
    points = np.zeros((edges + 1, 3))
    points[:, 0] = first + np.linspace(0.0, LENGTH, edges + 1)
    shape = tuple(map(tuple, points))
    own = Limb(points=shape, radius=(radius,), young=(young,), density=(DENSITY,), **limb)
    return DERConfig(limbs=(own,), clamps=clamps, gyroscopic=gyroscopic), points


def start(points, velocities, spin):
    own = LimbStart(
        limb="rod", points=tuple(map(tuple, points)), velocities=tuple(map(tuple, velocities)), spin=spin
    )
    return DERInitial(limbs=(own,))


def nodes_and_angles(model):
    """Indices of the only limb's nodes, (n + 1, 3), and of the angles of its edges, (n,)."""
    names = [c.name for c in model.description.coordinates]
    last = max(int(name.split("-")[1]) for name in names if name[-2:] == "-x" and name.startswith("rod-"))
    nodes = [[names.index(f"rod-{i}-{axis}") for axis in "xyz"] for i in range(last + 1)]
    return np.array(nodes), np.array([names.index(f"rod-{i}-angle") for i in range(last)])


def angular_momentum(model, state):
    """Σ m·x × ẋ + Σ I·s·t about the origin; M·v holds I·s at an angle."""
    nodes, angles = nodes_and_angles(model)
    mass = model.new_mass_matrix()
    model.compute_mass_and_force(state, np.zeros(0), mass, np.zeros(len(state.v)))
    spun = np.zeros(len(state.v))
    mass.multiply(state.v, spun)
    position, edge = state.q[nodes], np.diff(state.q[nodes], axis=0)
    orbital = model._rods.mass[nodes[:, :1]] * np.cross(position, state.v[nodes])
    tangent = edge / np.linalg.norm(edge, axis=1)[:, None]
    return orbital.sum(axis=0) + (spun[angles, None] * tangent).sum(axis=0)


def tumble(edges, gyroscopic=True):
    """Error of the axis after 0.5 s, and of the angular momentum relative to its size.

    A symmetric top turns about H at the rate H/I_t, I_t of a thin rod as the model is one.
    """
    spin, rate, time = 300.0, 6.0, 0.5
    config, points = rod_of(edges, 1e8, gyroscopic=gyroscopic, first=-0.5 * LENGTH)
    velocities = np.cross([0.0, 0.0, rate], points)
    model, simulation = run(config, 1e-3, initial=start(points, velocities, spin))
    state = simulation.state.body_states[0]
    before = angular_momentum(model, state)
    for _ in range(500):
        simulation.step()
    state = simulation.state.body_states[0]
    change = np.linalg.norm(angular_momentum(model, state) - before) / np.linalg.norm(before)
    mass = np.pi * RADIUS**2 * DENSITY * LENGTH
    across = mass * LENGTH**2 / 12.0
    momentum = np.array([0.5 * mass * RADIUS**2 * spin, 0.0, across * rate])
    about, turned = momentum / np.linalg.norm(momentum), np.linalg.norm(momentum) / across * time
    axis = np.array([1.0, 0.0, 0.0])
    exact = np.cos(turned) * axis + np.sin(turned) * np.cross(about, axis)
    exact += (1.0 - np.cos(turned)) * about[0] * about
    nodes, _ = nodes_and_angles(model)
    found = state.q[nodes[-1]] - state.q[nodes[0]]
    return np.linalg.norm(found / np.linalg.norm(found) - exact), change


def test_a_rod_that_spins_and_tumbles_precesses_as_a_symmetric_top():
    """Masses at the ends of edges have I_t too large by 2/n²; they would leave the turned angle behind by 3/n²."""
    errors, changes = zip(*(tumble(edges) for edges in (6, 12)), strict=True)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] < 3.0 / 12**2
    # the midpoint rule turns by ωh·(1 − (ωh)²/12) in a step: (ωh)²/12·ωt = 1e-5 at H/I_t = 6.3 rad/s
    assert max(changes) < 1e-5
    assert tumble(6, gyroscopic=False)[1] > 0.05


def test_a_heavy_top_on_its_side_precesses_by_the_torque_of_its_weight():
    """Ω·I·s = m·g·L/2 for a horizontal axis, whatever the inertia across it; g along −z turns the axis about +z."""
    spin, radius, gravity, time = 3000.0, 0.02, 9.81, 0.5
    rate = gravity * LENGTH / (radius**2 * spin)
    pin = (Clamp(at="rod.start", kind="pin"),)
    config, points = rod_of(4, 1e9, radius=radius, clamps=pin)
    first = start(points, np.cross([0.0, 0.0, rate], points), spin)
    model, simulation = run(config, 1e-3, gravity=-gravity, initial=first)
    for _ in range(500):
        simulation.step()
    x, y, z = simulation.state.q[nodes_and_angles(model)[0][-1]]
    # the rod starts straight and bends to and fro by ρ·A·g·L⁴/(8·E·I)·2 = 2e-5 m, or 7e-5 of its length
    assert np.arctan2(y, x) == pytest.approx(rate * time, abs=1e-4)
    assert abs(z) < 1e-4 * LENGTH


@pytest.mark.parametrize("edges", [6, 12])
def test_a_shaft_that_a_clamp_spins_and_swings_bends_by_its_own_couple(edges):
    """The couple I·s·Ω on every length, and no force: w″ = 2·ρ·s·Ω·(L − x)/E. What starts so stays so."""
    spin, rate, young = 300.0, 0.2, 1e6
    swing, turn = (Ramp(begin=0.0, end=10.0, value=(10.0 * speed,), start=(0.0,)) for speed in (rate, spin))
    clamp = Clamp(at="rod.start", axis=(0.0, 0.0, 1.0), angle=swing, twist=turn)
    config, points = rod_of(edges, young, clamps=(clamp,))
    x = points[:, 0].copy()
    points[:, 2] = 2.0 * DENSITY * spin * rate / young * (0.5 * LENGTH * x**2 - x**3 / 6.0)
    first = start(points, np.cross([0.0, 0.0, rate], points), spin)
    model, simulation = run(config, 0.02, initial=first)
    nodes, _ = nodes_and_angles(model)
    for _ in range(60):  # once to and fro in its first mode takes 1.0 s
        simulation.step()
        tip = simulation.state.q[nodes[-1]]
        # it swings about the discrete rod's own bend, off by 1/(2·n²), by that much
        assert tip[2] == pytest.approx(points[-1, 2], rel=1.5 / edges**2)
    assert np.arctan2(tip[1], tip[0]) == pytest.approx(rate * simulation.time, abs=1e-3)


@pytest.mark.parametrize("edges", [8, 16])
def test_a_spinning_shaft_whirls_at_two_rates(rod, edges):
    """Forward and backward, of ρ·A·ẅ + E·I·w⁗ − i·ρ·2·I·s·ẇ″ = 0 between pins, w = sin(π·x/L)·exp(i·ω·t)."""
    spin, radius, young, density = 200.0, 0.02, 1e5, 500.0
    matter: dict[str, Any] = {"radius": radius, "young": young, "density": density}
    shaft = rod(
        Limb(start=(0, 0, 0), end=(1, 0, 0), nodes=edges + 1, **matter),
        clamps=tuple(Clamp(at=at, kind="pin") for at in ("rod.start", "rod.end")),
        gyroscopic=True,
    )
    nodes, angles = nodes_and_angles(shaft.model)
    shaft.state.v[angles] = spin
    free = np.intersect1d(shaft.free, nodes)
    own = np.ix_(free, free)
    mass = shaft.model.new_mass_matrix()
    shaft.model.compute_mass_and_force(shaft.state, shaft.inputs, mass, np.zeros(shaft.size))
    K, D = (np.linalg.solve(mass.dense()[own], each[own]) for each in (shaft.stiffness(), shaft.damping()))
    size = len(free)
    rates = np.linalg.eigvals(np.block([[np.zeros((size, size)), np.eye(size)], [-K, -D]])).imag
    backward, forward = np.sort(rates[rates > 1e-9])[:2]
    half = 0.25 * radius**2 * np.pi**2 * spin
    mean = np.sqrt(half**2 + young * 0.25 * radius**2 * np.pi**4 / density)
    # 1 − π²/(12·n²) of the frequency of lumped masses, and of chords for angles
    assert [backward, forward] == pytest.approx([mean - half, mean + half], rel=0.9 / edges**2)


def impact(step, gyroscopic=True):
    """Relative error of the balance of angular momentum of a spinning rod that hits the floor and is turned by it."""
    for needed in ("corekit_sdf", "corekit_lcp", "corekit_timestep"):
        pytest.importorskip(needed)
    edges, gravity = 8, np.array([0.0, 0.0, -9.81])
    limb = {"start": [0, 0, 0.012], "end": [0.153, 0, 0.0593], "nodes": edges + 1}
    simulation = from_document(
        {
            "format": "corekit-scenario/1", "name": "thrown", "time": {"duration": 1.0, "step": step},
            "world": {"gravity": gravity.tolist(), "obstacles": [{"name": "floor", "shape": "half-space"}]},
            "bodies": [{
                "name": "rod", "use": "der",
                "options": {
                    "limbs": [limb | {"radius": RADIUS, "young": 1e6, "viscosity": 500.0}],
                    "gyroscopic": gyroscopic, "collision": "capsules",
                },
                "initial": {"limbs": [{"limb": "rod", "spin": 300.0, "velocity": [0, 0, -0.5]}]},
            }],
            "contact": {"friction": 0.5, "detector": {"use": "sdf"}, "solver": {"use": "lcp"}},
            "integrator": {"use": "semi-implicit-euler"},
        }
    ).compose()  # fmt: skip
    model = simulation.bodies[0].model
    assert isinstance(model, DER)
    nodes, _ = nodes_and_angles(model)
    weight = model._rods.mass[nodes[:, :1]] * gravity
    before = angular_momentum(model, simulation.state.body_states[0])
    given, turned = np.zeros(3), np.zeros(3)
    for _ in range(round(0.05 / step)):
        given += 0.5 * step * np.cross(simulation.state.q[nodes], weight).sum(axis=0)
        simulation.step()
        given += 0.5 * step * np.cross(simulation.state.q[nodes], weight).sum(axis=0)
        contacts = simulation.contacts()
        turned += np.cross(contacts.point, contacts.impulse).sum(axis=0)
    change = angular_momentum(model, simulation.state.body_states[0]) - before - given
    assert np.linalg.norm(turned) > np.linalg.norm(before)
    return np.linalg.norm(change - turned) / np.linalg.norm(turned)


def test_contact_changes_the_angular_momentum_by_its_impulses():
    """To the order of the scheme; without the couple the balance lacks 5 % however small the step is."""
    for step in (1e-3, 5e-4):
        # the rod turns by 10 rad/s, so that rows of the start of a step are off by half of 10·h
        assert impact(step) < 5.0 * step
    assert impact(5e-4, gyroscopic=False) > 0.02


@pytest.mark.parametrize("spin", [300.0, -300.0, 20.0, 1.0])
def test_a_model_without_the_option_says_when_spin_matters(spin):
    """Not bent, no force acts: the share is ½·m·r²·s of Σ m·x²·Ω, and told from 2 % on."""
    edges, rate = 6, 6.0
    said = []
    for gyroscopic in (False, True):
        config, points = rod_of(edges, 1e8, gyroscopic=gyroscopic, first=-0.5 * LENGTH)
        first = start(points, np.cross([0.0, 0.0, rate], points), spin)
        model, simulation = run(config, 1e-3, initial=first)
        said.append(model.find_state_doubts(simulation.state.body_states[0], np.zeros(0)))
    share = 0.5 * RADIUS**2 * abs(spin) / (LENGTH**2 / 12.0 * (1.0 + 2.0 / edges**2) * rate)
    assert [f"left out, {share:.2g} times its others" in each for each in said[0]] == [True] * (share > 0.02)
    assert not said[1]


def test_rods_in_a_plane_do_not_spin():
    with pytest.raises(ConfigError, match="gyroscopic") as caught:
        DER(DERConfig(planar=True, gyroscopic=True))
    assert "does not spin" in str(caught.value)
    initial = DERInitial(limbs=(LimbStart(limb="rod", spin=1.0),))
    with pytest.raises(ConfigError, match="planar rod stays"):
        run(DERConfig(planar=True), 1e-3, initial=initial)
