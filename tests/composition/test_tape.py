"""Records of accepted steps: what solved a step stands in its record alone, and later steps leave it as it is."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from corekit.data.state import State

from .point_worlds import MASSES, SPEEDS, make_world

pytest.importorskip("corekit_timestep")
pytest.importorskip("corekit_sdf")

SCALE = max(MASSES) * np.abs(SPEEDS).max()
"""Of impulses [N·s]."""
WORLDS = [
    ("joints", "constraints"), ("bounded", "prescribed"), ("joints", "potential"), ("islands", "restitution"),
    ("bounded", "unreduced"), ("moving obstacle", "mounted base"), ("planar", "constraints"),
]  # fmt: skip
INTEGRATORS = ("semi-implicit-euler", "implicit-euler", "implicit-midpoint", "verlet", "rk23")


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
    elif hasattr(value, "indptr"):
        yield from (value.data, value.indices, value.indptr)
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
def test_a_record_alone_balances_the_momentum_of_its_step(pair, integrator):
    """Momentum beyond that of forces is what rows and potential gave, in every step; driven nodes take the rest."""
    simulation, tape = recorded(pair, integrator)
    mass, weight = masses(simulation)
    driven = np.concatenate([terms.free for terms in simulation.system.terms.bodies])
    kinds = dict.fromkeys(("constraints", "joints", "contacts", "potential"), 0.0)
    for record in tape:
        if record.point is None:
            continue
        about = record.point.velocity if record.point.momentum is None else record.point.momentum
        gained = mass * (record.velocity - about) - record.point.force_factor * weight
        # what Newton's method leaves of a step, 1e-8 of the velocities (`DEFAULT_TOLERANCE`)
        np.testing.assert_allclose(record.momentum, gained, atol=1e-7 * SCALE)
        assert np.abs(record.residual()[driven]).max() <= 1e-7 * SCALE
        for name in ("constraints", "joints", "contacts"):
            rows = getattr(record, name)
            kinds[name] = max(kinds[name], 0.0 if rows is None else np.abs(rows.impulse).max(initial=0.0))
        pushed = 0.0 if record.potential is None else np.abs(record.potential).max()
        kinds["potential"] = max(kinds["potential"], pushed)
    assert kinds["potential" if "potential" in pair else "contacts"] > 1e-3
    assert ("joints" in pair or "mounted base" in pair) == (kinds["joints"] > 0.0)
    assert not {"constraints", "bounded", "unreduced"} & set(pair) or kinds["constraints"] > 1e-3


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
    assert sum(record.report.step_size for record in tape) == pytest.approx(simulation.time)


def test_a_row_of_a_record_says_what_the_step_fulfilled():
    """J·Δ + E·λ = r of constraints and joints, and 0 ≤ λ_n ⊥ w_n ≥ 0 of contacts."""
    _, tape = recorded(("joints", "constraints"), "semi-implicit-euler")
    for record in tape:
        assert record.point is not None
        for rows in (record.constraints, record.joints):
            assert rows is not None
            change = record.velocity - record.point.velocity
            left = rows.jacobian @ change + rows.compliance * rows.impulse - rows.target
            assert np.abs(left).max() < 1e-11
        if record.contacts is not None:
            contacts = record.contacts
            w = (contacts.jacobian @ record.velocity).reshape(contacts.bias.shape) + contacts.bias
            assert w[:, 0].min() > -1e-11
            assert contacts.impulse[:, 0].min() >= 0.0
            assert np.abs(w[:, 0] * contacts.impulse[:, 0]).max() < 1e-11
    assert any(record.contacts is not None for record in tape)
