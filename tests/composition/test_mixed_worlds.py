"""Bodies of several models in one world: what one gives, another gets, and one word changes who answers."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import load, loads
from corekit_testing.rounding import rounding

COLLISION = """
format = "corekit-scenario/1"
name = "three-models-collide"
time = { duration = 0.1, step = 5e-4 }
world = { gravity = [0.0, 0.0, 0.0] }

[[bodies]]
name = "ball"
use = "rigid"
options = { shape = "sphere", size = [0.03], mass = 0.1 }
initial = { position = [0.03, -0.045, 0.0], velocity = [0.3, 1.5, 0.1], angular_velocity = [5.0, 0.0, 20.0] }

[[bodies]]
name = "rod"
use = "der"
[bodies.options]
limbs = [{ name = "rod", start = [-0.1, 0.0, 0.0], end = [0.1, 0.0, 0.0], nodes = 9, radius = [0.01], young = [1e5] }]
collision = "capsules"

[[bodies]]
name = "strip"
use = "gvs"
base = { position = [-0.06, 0.022, 0.004] }
[[bodies.options.links]]
name = "strip"
collision = "capsules"
shapes = 5
joint = { kind = "free" }
[[bodies.options.links.divisions]]
length = 0.15
radius = 0.01
young = 1e5
strain = [{ kind = "legendre", order = 1 }]

[contact]
friction = 0.5
detector = "sdf"
solver = { use = "lcp" }

[integrator]
use = "semi-implicit-euler"
options = { form = "explicit" }

[output]
every = 0.01
"""


def _gravities(simulation, pulled):
    """Generalised force of a unit gravity along each axis on each body, M·(uniform translation): (3, nv) each."""
    found = []
    for b, (body, state) in enumerate(zip(simulation.bodies, simulation.state.body_states, strict=True)):
        forces = []
        for world in (simulation, *pulled):
            model, force = world.bodies[b].model, np.zeros(body.nv)
            model.compute_mass_and_force(state, body.inputs.value_at(0.0), model.new_mass_matrix(), force)
            forces.append(force)
        found.append(np.array(forces[1:]) - forces[0])
    return found


@pytest.mark.parametrize("solver", ["lcp", "qp"])
def test_momentum_goes_from_model_to_model_and_none_is_lost(solver):
    """A spinning ball hits a rod, the rod a strip: what contact gives to the three sums up to nothing in every step.

    What contact gave is M·(v⁺ − v⁺ without contact), taken along uniform translations, with A = M in explicit steps.
    """
    chosen = [f'contact.solver={{use="{solver}"}}']
    simulation = loads(COLLISION, chosen).compose()
    alone = loads(
        COLLISION[: COLLISION.index("[contact]")] + COLLISION[COLLISION.index("[integrator]") :]
    ).compose()
    pulled = [
        loads(COLLISION, [*chosen, f"world.gravity={list(axis)}"]).compose() for axis in np.eye(3).tolist()
    ]
    got = np.zeros((3, 3))
    for _ in range(200):
        alone.state.copy_from(simulation.state)
        gravity = _gravities(simulation, pulled)
        simulation.step()
        alone.step()
        given = np.array(
            [
                force @ (with_.v - without.v)
                for force, with_, without in zip(
                    gravity, simulation.state.body_states, alone.state.body_states, strict=True
                )
            ]
        )
        # differences of velocities up to the largest there is, weighted by forces
        speed = np.abs(simulation.state.v).max()
        rounded = rounding(64, max(np.abs(force).max() for force in gravity), 1.0 + speed)
        assert given.sum(axis=0) == pytest.approx(0.0, abs=rounded)
        got += np.abs(given)
    assert (got.max(axis=1) > 1e-3).all(), "each of the three has got or given some"


@pytest.mark.parametrize("name", ["arm_ball_rod", "vine_between_fingers"])
@pytest.mark.parametrize("solver", ["lcp", "qp", "imc"])
def test_a_mixed_world_runs_with_every_contact_solver(name, solver):
    """Its first contacts, up to where two models push each other."""
    words = [f'contact.solver={{use="{solver}"}}']
    if solver == "imc":
        words.append('integrator={use="implicit-euler"}')
    simulation = load(f"mixed/{name}", words).compose()
    met = set()
    while simulation.time < 0.6 and len(met) < 2:
        assert simulation.step().solve_info.status.name == "CONVERGED"
        record = simulation.contacts()
        met |= {tuple(pair) for pair in record.shape[record.normal_impulse > 0].tolist()}
    assert len(met) >= 2
