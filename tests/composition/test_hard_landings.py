"""A ball falls hard on a smooth contact: no scheme makes energy of it, and where something does the watch says so."""

import numpy as np
import pytest

from corekit.errors import CompositionError
from corekit.registry.discover import discover
from corekit.scenario.load import from_document
from corekit_imc.contact_stiffness import ContactStiffness
from corekit_record.energy_balance import EnergyBalance

DROP, STEP, LAYER, G = 0.1, 1e-3, 5e-4, 9.81
INTEGRATORS = sorted(
    row.name for row in discover() if row.role == "integrators" and row.usable and not row.reference
)


def landing(integrator, *, adapt):
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "landing",
            "time": {"duration": 1.0, "step": STEP},
            "world": {"gravity": [0.0, 0.0, -G], "obstacles": [{"name": "floor", "shape": "half-space"}]},
            "bodies": [
                {
                    "name": "ball",
                    "use": "rigid",
                    "options": {"shape": "sphere", "size": [0.05], "mass": 1.0},
                    "initial": {"position": [0.0, 0.0, 0.05 + DROP]},
                }
            ],
            "contact": {
                "friction": 0.3,
                "detector": {"use": "sdf"},
                "solver": {"use": "imc", "options": {"adapt": adapt, "distance_tolerance": LAYER}},
            },
            "integrator": {"use": integrator},
            "output": {"every": STEP},
        }
    ).compose()


def fall(simulation):
    """Run through the landing: the largest energy of the ball, the least gap, and whether the watch warns."""
    balance, (own,) = EnergyBalance(simulation), simulation.bodies
    energies, gaps, warns = [], [], False
    while simulation.time < 0.175:  # it meets the floor at 0.143 s
        simulation.step()
        balance.sample(simulation)
        energies.append(sum(own.model.compute_energies(simulation.state.body_states[0])))
        gaps.append(simulation.state.q[2] - 0.05)
        warns = warns or balance.exceeds(0.05)
    return max(energies), min(gaps), warns


@pytest.mark.parametrize("adapt", [True, False], ids=["own stiffness", "fixed"])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_hard_landing_makes_no_energy(integrator, adapt):
    """1.4 m/s is 2.8 times δ per step. k·δ² = m·v² keeps the ball within δ; a fixed 10 kN/m lets it in by 1 cm."""
    try:
        simulation = landing(integrator, adapt=adapt)
    except CompositionError as refusal:
        assert "unsound for a stiff model" in str(refusal)  # noqa: PT017
        return
    energy, gap, warns = fall(simulation)
    assert energy <= G * (0.05 + DROP) + 1e-3 * G * DROP
    assert not warns
    assert -LAYER < gap < 0.0 if adapt else -1.1e-2 < gap < -0.8e-2


@pytest.mark.parametrize("integrator", ["implicit-midpoint", "newmark", "rk23"])
def test_the_watch_warns_of_a_stiffness_that_rises_under_load(integrator, monkeypatch):
    """Doubled at each step deeper than δ, as published: each doubling stores k·φ which nothing gave."""
    stiffness = [1e4]

    def update(_, contacts, motion):
        if contacts.count and contacts.gap[0] < -LAYER and motion.normal_velocity[0] < 0.0:
            stiffness[0] *= 2.0

    monkeypatch.setattr(ContactStiffness, "of", lambda _, contacts: np.full(contacts.count, stiffness[0]))
    monkeypatch.setattr(ContactStiffness, "update", update)
    energy, _, warns = fall(landing(integrator, adapt=True))
    assert energy > G * (0.05 + DROP) + 0.05 * G * DROP
    assert warns
