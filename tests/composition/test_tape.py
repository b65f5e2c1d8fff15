"""Records of accepted steps: what solved a step stands in its record alone, and later steps leave it as it is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from corekit.data.state import State
from corekit.engine.world.world_system import WorldSystem
from corekit_gradients.adjoint.frozen_step import FrozenStep
from corekit_gradients.adjoint.solutions import Kind

from .point_worlds import MASSES, SPEEDS, make_world

pytest.importorskip("corekit_timestep")
pytest.importorskip("corekit_sdf")

SCALE = max(MASSES) * np.abs(SPEEDS).max()
"""Of impulses [N·s]."""
WORLDS = [
    ("joints", "constraints"), ("bounded", "prescribed"), ("joints", "potential"), ("islands", "restitution"),
    ("bounded", "unreduced"), ("moving obstacle", "mounted base"), ("planar", "constraints"),
]  # fmt: skip
INTEGRATORS = ("semi-implicit-euler", "implicit-euler", "implicit-midpoint")


def recorded(pair, integrator, steps=40):
    solver = "qp" if "unreduced" in pair else "imc" if "potential" in pair else "lcp"
    pytest.importorskip(f"corekit_{solver}")
    simulation = make_world(pair, solver).compose(integrator={"use": integrator})
    with simulation.record_steps() as tape:
        for _ in range(steps):
            simulation.step()
    return simulation, tape


def arrays(value):
    """Every array in a record."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, State):
        yield from (value.q, value.v, value.aux)
    elif isinstance(value, tuple):
        for each in value:
            yield from arrays(each)
    elif hasattr(value, "__attrs_attrs__"):
        for each in value.__attrs_attrs__:
            yield from arrays(getattr(value, each.name))


def masses(simulation):
    """Masses by velocities, and weights: models of points and balls have no others, and diagonal mass matrices."""
    mass, weight = np.zeros((2, simulation.system.nv))
    for body, where in zip(simulation.bodies, simulation.system.slices, strict=True):
        matrix, state = body.model.new_mass_matrix(), simulation.state.body_states[body.index]
        body.model.compute_mass_and_force(state, np.zeros(body.description.input_size), matrix, weight[where])
        matrix.multiply(np.ones(body.nv), mass[where])
    return mass, weight


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("pair", WORLDS, ids=" and ".join)
def test_a_record_balances_the_momentum_of_its_step(pair, integrator):
    """Momentum beyond that of forces is what rows and potential gave, in every solution; driven nodes take the rest."""
    simulation, tape = recorded(pair, integrator)
    system, (mass, weight) = simulation.system, masses(simulation)
    assert isinstance(system, WorldSystem)
    step, kinds = FrozenStep(system), dict.fromkeys(("constraints", "joints", "contacts", "potential"), 0.0)
    free = np.concatenate([terms.free for terms in system.terms.bodies])
    for record in tape:
        if record.separation is not None and {"joints", "constraints", "islands"} & set(pair):
            continue  # what derivatives refuse
        step.load(record)
        for solution, residual in zip(step.solutions, step.here.residuals, strict=True):
            assert residual.linear is not None
            rows = np.concatenate([solution.of_constraints, solution.of_joints])
            pushed = residual.linear.rows.T @ rows + residual.contacts.given
            if solution.kind is Kind.APART:
                gained = mass * solution.velocity
            else:
                gained = mass * (solution.velocity - record.start.v) - step.step * weight
            # what Newton's method leaves of a step, 1e-8 of the velocities (`DEFAULT_TOLERANCE`)
            missing = (gained - pushed)[free]
            assert "potential" in pair or np.abs(missing).max() <= 1e-7 * SCALE
            assert np.abs(residual.momentum[free]).max() <= 1e-7 * SCALE
            assert np.abs(residual.rows).max(initial=0.0) <= 1e-7 * np.abs(SPEEDS).max()
            found = solution.of_constraints, solution.of_joints, solution.of_contacts, missing
            for name, own in zip(kinds, found, strict=True):
                kinds[name] = max(kinds[name], np.abs(own).max(initial=0.0))
    assert kinds["potential" if "potential" in pair else "contacts"] > 1e-3
    assert ("joints" in pair or "mounted base" in pair) == (kinds["joints"] > 0.0)
    assert not {"constraints", "bounded", "unreduced"} & set(pair) or kinds["constraints"] > 1e-3


@pytest.mark.parametrize("integrator", ["verlet", "rk23"])
def test_a_step_behind_a_smooth_motion_has_no_scheme(integrator):
    _, tape = recorded(WORLDS[0], integrator)
    assert all(record.scheme is None and record.contacts is None for record in tape)


@pytest.mark.parametrize("pair", [WORLDS[0], WORLDS[2]], ids=" and ".join)
def test_a_record_stays_when_the_run_goes_on_and_cannot_be_written(pair):
    simulation, tape = recorded(pair, "implicit-midpoint")
    known = [[each.copy() for each in arrays(record)] for record in tape]
    count = len(tape)
    for _ in range(10):
        simulation.step()
    assert len(tape) == count >= 40
    for record, before in zip(tape, known, strict=True):
        for one, other in zip(arrays(record), before, strict=True):
            np.testing.assert_array_equal(one, other)
            with pytest.raises(ValueError, match="read-only"):
                one[...] = 0.0


def test_records_follow_each_other_and_cost_no_bit():
    simulation, tape = recorded(("joints", "constraints"), "semi-implicit-euler")
    plain = make_world(("joints", "constraints"), "lcp").compose(integrator={"use": "semi-implicit-euler"})
    for _ in range(40):
        plain.step()
    np.testing.assert_array_equal(plain.state.qv, simulation.state.qv)
    for before, after in pairwise(tape):
        np.testing.assert_array_equal(before.end.qv, after.start.qv)
    assert tape[-1].end.time == simulation.time
    assert sum(record.end.time - record.start.time for record in tape) == pytest.approx(simulation.time)


def test_steps_that_follow_each_other_share_what_they_can():
    """A state is kept once, and v⁺ is that of the end."""
    _, tape = recorded(("joints", "constraints"), "semi-implicit-euler")
    for before, after in pairwise(tape):
        assert after.start is before.end
        assert np.shares_memory(after.velocity, after.end.v)
    assert any(record.contacts is not None for record in tape)


def test_contacts_of_a_record_are_what_the_step_fulfilled():
    """0 ≤ λ_n ⊥ w_n ≥ 0, with rows that are evaluated anew."""
    simulation, tape = recorded(("joints", "constraints"), "semi-implicit-euler")
    system, touched = simulation.system, 0
    assert isinstance(system, WorldSystem)
    step = FrozenStep(system)
    for record in tape:
        step.load(record)
        if record.contacts is not None:
            found = step.contacts.found
            assert found is not None and (found.place >= 0).all()
            w, impulse = found.rows @ record.velocity + record.contacts.bias, record.contacts.impulse[:, 0]
            assert w[:, 0].min() > -1e-11
            assert impulse.min() >= 0.0
            assert np.abs(w[:, 0] * impulse).max() < 1e-11
            touched += int(impulse.any())
    assert touched
