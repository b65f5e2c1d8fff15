"""Steps in which nothing pushes are pulled by K and D of the models as they are by differences of their equations."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.engine.world.world_system import WorldSystem
from corekit.roles.derivatives import StateCovector
from corekit.scenario.load import load
from corekit_gradients.adjoint.body_products import BodyProducts
from corekit_gradients.adjoint.charts import Charts
from corekit_gradients.adjoint.covectors import Covectors
from corekit_gradients.adjoint.frozen_step import FrozenStep
from corekit_gradients.adjoint.smooth_step import SmoothSteps
from corekit_gradients.adjoint.step_derivative import StepDerivative
from corekit_gradients.adjoint.world_derivatives import derivatives_of

pytest.importorskip("corekit_timestep")

INTEGRATORS = {
    "semi-implicit-euler": "{}",
    "implicit-euler": "{ tolerance = 1e-12 }",
    "implicit-midpoint": "{ tolerance = 1e-12 }",
}
SCENARIOS = {
    "cusp/inclined-box": ("pcc", 20),
    "gvs/cable-manipulator": ("gvs", 8),
    "teaching/acrobot": ("lagrangian", 20),
}


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_k_and_d_pull_a_step_as_differences_do(name, integrator):
    """To what differences over 4e-6 leave of a step: 1e-16/4e-6 of its stiffest terms, and what is curved in them."""
    model, steps = SCENARIOS[name]
    pytest.importorskip(f"corekit_{model}")
    options = f"integrator.options={INTEGRATORS[integrator]}"
    simulation = load(name, [f"integrator.use={integrator}", options], allow_code=True).compose()
    for _ in range(steps):
        simulation.step()
    with simulation.record_steps() as tape:
        simulation.step()
    system, record = simulation.system, tape[0]
    assert isinstance(system, WorldSystem)
    charts, nv = Charts(system.terms, record.start), system.nv
    smooth = SmoothSteps(system, BodyProducts(system.terms, charts, record.start))
    step = FrozenStep(system)
    step.load(record)
    a, b = np.random.default_rng(0).standard_normal((2, nv))
    carried = step.arguments.start_impulse
    end = Covectors(a, b, np.zeros_like(step.here.tangents), np.zeros_like(carried))
    exact, _ = StepDerivative(system, step, charts, np.ones(nv), np.ones(nv)).pull(end)
    found = smooth.pull(record, end)
    assert found is not None
    for one, other in zip(found[0][:2], exact[:2], strict=True):
        np.testing.assert_allclose(one, other, atol=2e-6 * np.abs(other).max())


@pytest.mark.parametrize("integrator", ["implicit-euler", "implicit-midpoint"])
def test_a_clamped_rod_of_800_velocities_has_the_gradient_of_differences_of_runs(integrator):
    """By its bands alone; differences of its equations would drown in the rounding of its stretch."""
    pytest.importorskip("corekit_der")
    options = f"integrator.options={INTEGRATORS[integrator]}"
    simulation = load("dismech/cantilever", [f"integrator.use={integrator}", options]).compose()
    system, steps, size = simulation.system, 20, 1e-7
    weights, change = np.random.default_rng(0).standard_normal((2, system.nv))
    driven = ~np.concatenate([terms.free for terms in system.terms.bodies])
    change[driven] = 0.0

    def run(sign):
        simulation.reset()
        simulation.state.v += sign * size * change
        for _ in range(steps):
            simulation.step()
        return weights @ simulation.state.v

    slope = (run(1.0) - run(-1.0)) / (2.0 * size)
    simulation.reset()
    with simulation.record_steps() as tape:
        for _ in range(steps):
            simulation.step()
    last = StateCovector(np.zeros(system.nv), weights)
    found = derivatives_of(system, tape[0].start).sweep_back(tape, lambda k: last if k == steps - 1 else None)
    assert system.nv > 800 and driven.any()
    assert found.velocity @ change == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_rod_on_a_potential_has_the_derivative_of_differences_of_its_step(integrator):
    """By K and D of the rod and of the potential, where the rod slides; as it begins to, Newton's method leaves more.

    Over 1e-7 differences see what it leaves of velocities, 1e-10 to 1e-9. Columns of the whole step would err by 2e-4,
    in a layer this thin.
    """
    for name in ("der", "imc"):
        pytest.importorskip(f"corekit_{name}")
    options = f"integrator.options={INTEGRATORS[integrator]}"
    simulation = load(
        "dismech/friction", [f"integrator.use={integrator}", options], allow_code=True
    ).compose()
    for _ in range(40):
        simulation.step()
    before, system, size = simulation.internal_state(), simulation.system, 1e-7
    with simulation.record_steps() as tape:
        simulation.step()
    assert isinstance(system, WorldSystem)
    assert len(tape) == 1 and system.terms.forces is not None and system.terms.forces.generalised().any()
    a, b, place, velocity = np.random.default_rng(0).standard_normal((4, system.nv))
    driven = ~np.concatenate([terms.free for terms in system.terms.bodies])
    place[driven] = velocity[driven] = 0.0

    def end(sign):
        simulation.restore(before)
        simulation.state.q[:] += sign * size * place
        simulation.state.v[:] += sign * size * velocity
        simulation.step()
        return a @ simulation.state.q + b @ simulation.state.v

    charts = Charts(system.terms, tape[0].start)
    smooth = SmoothSteps(system, BodyProducts(system.terms, charts, tape[0].start))
    found = smooth.pull(tape[0], Covectors(a, b, np.zeros((0, 3)), np.zeros((0, 3))))
    assert found is not None
    slope = (end(1.0) - end(-1.0)) / (2.0 * size)
    assert found[0].place @ place + found[0].velocity @ velocity == pytest.approx(slope, rel=1e-5)
