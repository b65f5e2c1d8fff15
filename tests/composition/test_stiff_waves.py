"""Waves that a step does not resolve: what undamped implicit schemes do with their energy, and that it is said.

A free rod rings, its nodes thrown across it at random. Its stretching waves of 100 m/s need steps of 0.27 ms.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import fsolve

from corekit.errors import StepFailed
from corekit.scenario.load import from_document
from corekit_run.running import run

STEP = 1e-3


def scenario(integrator: str, speed: float, energy: str = "warn", duration: float = 0.05):
    limb = {
        "name": "rod", "start": [0.0, -0.1, 0.0], "end": [0.0, 0.1, 0.0], "nodes": 9, "radius": [0.003],
        "young": [1e7], "density": [1000.0],
    }  # fmt: skip
    random = np.random.default_rng(1).standard_normal((9, 2))
    velocities = [[speed * x, 0.0, speed * z] for x, z in random.tolist()]
    return from_document(
        {
            "format": "corekit-scenario/1",
            "name": "stiff-waves",
            "time": {"duration": duration, "step": STEP},
            "world": {"gravity": [0.0, 0.0, 0.0]},
            "bodies": [
                {
                    "name": "rod", "use": "der", "options": {"limbs": [limb], "clamps": []},
                    "initial": {"limbs": [{"limb": "rod", "velocities": velocities}]},
                }
            ],
            "integrator": {"use": integrator},
            "watchdog": {"energy": {"policy": energy}},
        }
    )  # fmt: skip


def energy(simulation) -> float:
    return sum(simulation.bodies[0].model.compute_energies(simulation.state.body_states[0]))


def test_newmark_is_the_trapezoidal_rule_on_waves_it_does_not_resolve():
    """Of the model's own equation M·a = f, solved here by a general root finder from the start of each step."""
    simulation = scenario("newmark", 2.0).compose()
    body = simulation.bodies[0]
    model, inputs = body.model, np.zeros(body.description.input_size)
    here, there = (simulation.system.new_state().body_states[0] for _ in range(2))
    here.copy_from(simulation.state.body_states[0])
    mass, force = model.new_mass_matrix(), np.zeros(body.nv)

    def acceleration(state):
        model.compute_mass_and_force(state, inputs, mass, force)
        return np.linalg.solve(mass.dense(), force)

    def advance(after, before):
        model.integrate(here, here.v + 0.25 * STEP * (before + after), STEP, here, there)
        there.v[:] = here.v + 0.5 * STEP * (before + after)
        there.time = here.time + STEP
        return acceleration(there) - after

    before = acceleration(here)
    for _ in range(4):
        after = fsolve(advance, before, args=(before,), xtol=1e-12)
        advance(after, before)
        here.copy_from(there)
        before = after
        simulation.step()
        np.testing.assert_allclose(simulation.state.v, here.v, atol=1e-5)
    assert np.abs(here.v).max() > 2.0


@pytest.mark.parametrize("integrator", ["newmark", "implicit-midpoint"])
def test_energy_that_an_undamped_scheme_makes_of_waves_is_told_with_what_helps(integrator, tmp_path):
    """The schemes keep the energy of linear modes alone; at 20 m/s edges of 25 mm stretch and turn far in a step."""
    with pytest.raises(StepFailed, match=r"energy grew by .* J that no work explains") as caught:
        run(scenario(integrator, 20.0, "stop", duration=0.2), directory=tmp_path / "out")
    assert "or a scheme that damps: longer steps do not resolve the fastest motion of 'rod'" in str(
        caught.value
    )


def test_implicit_euler_damps_the_same_waves_in_every_step():
    simulation = scenario("implicit-euler", 20.0).compose()
    energies = [energy(simulation)]
    while simulation.time < 0.05 - 0.5 * STEP:
        simulation.step()
        energies.append(energy(simulation))
    assert max(np.diff(energies)) < 1e-9 * energies[0]
