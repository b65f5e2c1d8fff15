"""What a run reports of a contact potential is the force where the accepted step has it act, by its own formula.

A ball meets a floor, slides and spins. With K₁ = 15/δ, K₂ = 15/ν and the gap g, the potential pushes and rubs by

    λ = 2·k·S·σ,  S = log(1 + exp(−K₁·g))/K₁,  σ = 1/(1 + exp(K₁·g)),    f = −μ·λ·tanh(½·K₂·|u|)·u/|u|      (1)

at q_θ = integrate(q₀, v̄, θh), v̄ = (1 − θ)·v₀ + θ·v⁺, with the slip u of v̄; of v⁺ where the rest of the step is solved
once, and at the end of a step where the potential is part of the smooth motion.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corekit.scenario.load import from_document

for needed in ("rigid", "sdf", "imc", "timestep"):
    pytest.importorskip(f"corekit_{needed}")

H, RADIUS, LAYER, STIFFNESS, SLIP, FRICTION = 5e-4, 0.02, 5e-4, 1e5, 1e-3, 0.5
PLACES = {
    "implicit-euler": 1.0, "implicit-midpoint": 0.5, "semi-implicit-euler": 1.0, "verlet": 0.5, "rk23": 0.5,
    "newmark": None, "generalized-alpha": None, "scipy-radau": None,
}  # fmt: skip
"""θ of the place; None: the end, of schemes whose smooth motion has the potential."""


def world(integrator):
    ball = {
        "name": "ball", "use": "rigid", "options": {"shape": "sphere", "size": [RADIUS], "mass": 0.1},
        "initial": {
            "position": [0.0, 0.0, RADIUS + 6e-4], "velocity": [0.3, 0.1, -0.4],
            "angular_velocity": [3.0, -8.0, 20.0],
        },
    }  # fmt: skip
    options = {
        "stiffness": STIFFNESS,
        "adapt": False,
        "damping": 0.0,
        "distance_tolerance": LAYER,
        "slip_tolerance": SLIP,
    }
    return {
        "format": "corekit-scenario/1", "name": "ball", "time": {"duration": 1.0, "step": H}, "bodies": [ball],
        "world": {"obstacles": [{"name": "floor", "shape": "half-space"}]}, "integrator": {"use": integrator},
        "contact": {
            "detector": "sdf", "solver": {"use": "imc", "options": options}, "friction": FRICTION,
        },
    }  # fmt: skip


def force(place, spin, velocity):
    """(1), shape (3,) [N], of a centre [m], a rate of turning in the world [rad/s] and a velocity [m/s]."""
    gap = place[2] - RADIUS
    if gap >= LAYER:
        return np.zeros(3)
    rate = 15.0 / LAYER
    push = 2.0 * STIFFNESS * np.log1p(np.exp(-rate * gap)) / rate / (1.0 + np.exp(rate * gap))
    slip = (velocity + np.cross(spin, [0.0, 0.0, -RADIUS - 0.5 * gap]))[:2]
    speed = np.linalg.norm(slip)
    rubbed = FRICTION * push * np.tanh(7.5 / SLIP * speed) * slip / speed
    return np.array([-rubbed[0], -rubbed[1], push])


@pytest.mark.parametrize("integrator", PLACES)
def test_the_force_that_a_run_reports_is_that_of_the_accepted_place(integrator):
    """It was that before the last correction of Newton's method, up to 1e-3 of the largest beside it."""
    theta, simulation, found, right = PLACES[integrator], from_document(world(integrator)).compose(), [], []
    for _ in range(16):
        start = simulation.state.copy()
        with simulation.record_steps() as tape:
            simulation.step()
        if len(tape) > 1:
            continue  # a scheme whose iterations failed cut it: what is reported is the mean of several
        end, contacts = simulation.state, simulation.contacts()
        theirs = np.zeros(3)
        if contacts.count:
            (n,), (t,), (pushed,) = contacts.normal, contacts.tangent, contacts.tangential_impulse
            sideways = pushed[0] * t + pushed[1] * np.cross(n, t)
            theirs = (contacts.normal_impulse[0] * n + sideways) / H
        found.append(theirs)
        share = 1.0 if theta is None else theta
        mean = (1.0 - share) * start.v + share * end.v
        turn = Rotation.from_quat(start.q[[4, 5, 6, 3]]) * Rotation.from_rotvec(share * H * mean[3:])
        acts = mean if integrator.startswith("implicit") else end.v
        place = start.q[:3] + share * H * mean[:3] if theta is not None else end.q[:3]
        if theta is None:
            turn = Rotation.from_quat(end.q[[4, 5, 6, 3]])
        right.append(force(place, turn.apply(acts[3:]), acts[:3]))
    found, right = np.array(found), np.array(right)
    assert (right[:, 2] > 1.0).sum() > 1
    assert found == pytest.approx(right, rel=0.0, abs=1e-10 * np.abs(right).max())
