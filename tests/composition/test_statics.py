"""Equilibria of the models that ship, against roots of their own force and against runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.linalg import eigh
from scipy.optimize import root

from corekit.scenario.load import from_document, load

ARCH = Path(__file__).parents[2] / "scenarios" / "teaching" / "arch_snaps.toml"

ARM = {
    "format": "corekit-scenario/1",
    "name": "arm",
    "time": {"duration": 1.0, "step": 1e-3},
    "bodies": [
        {
            "name": "arm",
            "use": "pcc",
            "base": {"rotation_rpy": [2.0, 0.0, 0.0]},
            "options": {"sections": 2, "mass": 0.4, "stiffness": 300.0},
            "inputs": [{"channel": "chamber-force", "signal": [3.0, -1.0, 2.0, 0.5, 4.0, -2.0]}],
        }
    ],
    "integrator": "semi-implicit-euler",
    "output": {"every": 0.01},
}


def force_at(simulation, q):
    part = simulation.system.terms.bodies[0]
    state = simulation.state.body_states[0]
    model = part.body.model
    probe = state.copy()
    probe.q[:] = q
    probe.v[:] = 0.0
    mass, force = model.new_mass_matrix(), np.zeros(part.body.nv)
    model.compute_mass_and_force(probe, part.body.inputs.value_at(1.0), mass, force)
    return force, mass.dense()


@pytest.mark.parametrize("load_steps", [1, 3])
def test_a_pcc_arm_rests_at_a_root_of_its_own_force_with_the_stiffness_of_its_differences(load_steps):
    found = from_document(ARM).statics(load_steps=load_steps)
    simulation = from_document(ARM).compose()
    start = simulation.state.q.copy()
    wanted = root(lambda q: force_at(simulation, q)[0], start, tol=1e-12)
    assert wanted.success
    assert np.allclose(found.q, wanted.x, atol=1e-9)
    steps = 1e-6 * np.eye(len(start))
    stiffness = -np.stack(
        [(force_at(simulation, found.q + s)[0] - force_at(simulation, found.q - s)[0]) / 2e-6 for s in steps],
        axis=1,
    )
    slowest = eigh(0.5 * (stiffness + stiffness.T), force_at(simulation, found.q)[1])[0][0]
    assert found.equilibrium.stability.smallest == pytest.approx(slowest, rel=1e-5)
    assert found.stable
    assert found.equilibrium.residual["N"] < 1e-8


FLOOR = {"obstacles": [{"name": "floor", "shape": "half-space", "friction": 0.5}]}
CONTACT = {"detector": {"use": "sdf"}, "solver": {"use": "lcp"}}


def test_a_tilted_box_dropped_on_the_floor_lies_on_a_face():
    document = {
        **ARM,
        "name": "box",
        "world": FLOOR,
        "bodies": [
            {
                "name": "box",
                "use": "rigid",
                "base": {"position": [0.0, 0.0, 0.5], "rotation_rpy": [0.12, 0.08, 0.5]},
                "options": {"shape": "box", "size": [0.2, 0.3, 0.1], "mass": 1.5, "friction": 0.5},
            }
        ],
        "contact": CONTACT,
    }
    found = from_document(document).statics()
    equilibrium = found.equilibrium
    assert found.q[2] == pytest.approx(0.05, abs=1e-7)
    assert np.sum(equilibrium.contacts.normal_impulse) == pytest.approx(1.5 * 9.81)
    assert equilibrium.stability.stable
    rotation = found.as_data()["equilibria"][0]["q"][3:]
    # turned about the vertical alone
    assert np.allclose(rotation[1:3], 0.0, atol=1e-7)


def test_an_arm_pressed_on_the_floor_rests_where_a_damped_run_ends():
    free = from_document(ARM).statics()
    height = float(free.frame_position()[-1, 2]) + 0.02
    document = {
        **ARM,
        "world": {
            "obstacles": [
                {"name": "floor", "shape": "half-space", "position": [0, 0, height], "friction": 0.0}
            ]
        },
        "contact": CONTACT,
        "time": {"duration": 4.0, "step": 2e-3},
        "output": {"every": 0.02},
    }
    found = from_document(document).statics()
    simulation = from_document(document).compose()
    simulation.run(4.0)
    assert found.equilibrium.contacts.normal_impulse.max() > 0.1
    assert np.allclose(simulation.state.q, found.q, atol=1e-5)
    pressed = simulation.contacts().normal_impulse.sum() / 2e-3
    assert found.equilibrium.contacts.normal_impulse.sum() == pytest.approx(pressed, rel=1e-3)


def heavy_rod(rigidity, axial, weight):
    """Tip of a heavy elastic line of length 1, clamped along x: θ its slope downwards, ε its stretch.

    B·θ″ = −(1 + ε)·w·(1 − s)·cos θ,   ε = w·(1 − s)·sin θ/C,   θ(0) = 0,  θ′(1) = 0
    """

    def stretched(s, y):
        return 1.0 + weight * (1.0 - s) * np.sin(y[0]) / axial

    def slopes(s, y):
        along = stretched(s, y)
        below = weight * (1.0 - s)
        return np.stack(
            [y[1], -along * below * np.cos(y[0]) / rigidity, along * np.cos(y[0]), -along * np.sin(y[0])]
        )

    def ends(first, last):
        return np.array([first[0], last[1], first[2], first[3]])

    s = np.linspace(0.0, 1.0, 41)
    guess = np.stack([1.2 * np.sqrt(s), np.zeros_like(s), 0.4 * s, -0.9 * s])
    found = solve_bvp(slopes, ends, s, guess, tol=1e-9, max_nodes=20000)
    assert found.success
    return found.y[2:, -1]


def test_a_heavy_rod_hangs_as_the_elastic_line_does():
    """Soft enough to hang almost straight down, in one search from the straight rod."""
    radius, young, density = 0.02, 1e5, 500.0
    area = np.pi * radius**2
    rod = {
        "name": "rod",
        "use": "der",
        "options": {
            "limbs": [
                {
                    "name": "beam", "start": [0, 0, 0], "end": [1, 0, 0], "nodes": 81, "radius": radius,
                    "young": young, "poisson": 0.5, "density": density,
                }
            ],
            "clamps": [{"at": "beam.start"}],
        },
    }  # fmt: skip
    document = {**ARM, "world": {"gravity": [0, 0, -1.0]}, "bodies": [rod], "integrator": "implicit-midpoint"}
    found = from_document(document).statics()
    wanted = heavy_rod(young * area * radius**2 / 4, young * area, density * area)
    tip = found.frame_position()[-1]
    assert tip[1] == pytest.approx(0.0, abs=1e-9)
    assert np.allclose(tip[[0, 2]], wanted, atol=2e-3)
    assert found.stable
    # half an edge stands still at either clamp; the clamp carries the rest of the weight
    weight = density * area
    assert found.equilibrium.reactions.sum() == pytest.approx(weight, rel=0.05)


def test_a_bowed_rod_pushes_back_with_eulers_load_and_snaps_under_a_growing_force():
    """Shortened by e, a clamped elastic line carries 4π²·EI/L²·(1 + e/2L + …)."""
    found = load(ARCH, ["world.gravity=[0,0,0.01]"]).statics(sweep=40)
    euler = 4.0 * np.pi**2 * 1e7 * np.pi * 0.003**4 / 4 / 0.5**2
    told = found.as_data()["equilibria"]
    for k in (2, 8, 14, 20):
        shortening = 0.04 * told[k]["time_s"]
        reactions = told[k]["reactions"]
        along = reactions["arch.rod-0-x"] + reactions["arch.clamp-rod-0-x"]
        assert along == pytest.approx(euler * (1.0 + shortening / (2 * 0.5)), rel=0.01)
    crown = [float(found.frame_position(each)[20, 2]) for each in found.path]
    assert min(crown[2:21]) > 0.02
    assert crown[-1] < -0.05
    assert all(each.stability.stable for each in found.path)
