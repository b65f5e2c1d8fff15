"""A vine robot whose clamp turns by its input `heading`: the pins damp against the clamp as it turns."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from corekit.data.signals import Ramp
from corekit.errors import CompositionError
from corekit.scenario.load import from_document

pytest.importorskip("corekit_vine")
pytest.importorskip("corekit_timestep")

SPEED, STEP = 0.8, 2e-3
EI, C = 0.1, 0.02
DAMPED = {
    "tube": {"bending_stiffness": EI, "bending_damping": C},
    "coupled": {
        "form": "telescope", "joint_stiffness": [[2.0], [0.3, 1.0]], "joint_damping": [[0.4], [0.06, 0.2]],
    },
}  # fmt: skip


def arm(options, inputs, integrator="implicit-midpoint", **more):
    document = {
        "format": "corekit-scenario/1",
        "name": "turned",
        "time": {"duration": 2.0, "step": STEP},
        "world": {"gravity": [0.0, 0.0, 0.0]},
        "bodies": [
            {
                "name": "arm",
                "use": "vine",
                "options": {"bodies": 4, "length": 0.2, "body_mass": 0.01, **options},
                "inputs": inputs,
            }
        ],
        "integrator": integrator,
        "output": {"every": 0.1},
    }
    return from_document({**document, **more})


def turning(size=1.0):
    return {
        "channel": "heading",
        "signal": {"kind": "ramp", "from": 0.0, "to": 2.0, "value": size * 2.0 * SPEED},
    }


def angles(simulation):
    return simulation.state.q[2::3]


@pytest.mark.parametrize(("integrator", "late"), [("implicit-midpoint", 0.0), ("semi-implicit-euler", STEP)])
@pytest.mark.parametrize("name", DAMPED)
def test_an_arm_follows_a_clamp_that_turns_evenly_without_a_lag(name, integrator, late):
    """Where all turn at Ω no pin turns; a clamp that counts as resting leaves Ω·C/K = 160 mrad at its pin.

    Euler's scheme reads inputs where a step begins.
    """
    simulation = arm(DAMPED[name], [turning()], integrator).compose()
    while simulation.time < 1.9:
        simulation.step()
    assert angles(simulation) == pytest.approx(SPEED * (simulation.time - late), abs=1e-6)


@pytest.mark.parametrize("name", DAMPED)
def test_force_of_a_clamp_is_that_of_the_expressions_and_of_its_terms(name):
    pytest.importorskip("casadi")
    body = arm(DAMPED[name], [turning()]).compose().bodies[0]
    model: Any = body.model
    n = body.nv
    random = np.random.default_rng(3)
    state = arm(DAMPED[name], []).compose().state.body_states[0].copy()
    state.q += 0.02 * random.normal(size=n)
    state.v[:] = random.normal(size=n)
    names = [channel.name for channel in body.description.inputs]
    assert names == ["growth-rate", "heading", "heading-rate", "tip-force"]
    u, forces = np.array([0.0, 0.3, 0.7, 0.1, -0.2]), []
    for rate in (0.7, 0.0):
        u[2] = rate
        force = np.zeros(n)
        model.compute_mass_and_force(state, u, model.new_mass_matrix(), force)
        expressed = model.symbolic().functions()["force"](state.q, state.v, u)
        assert np.array(expressed).ravel() == pytest.approx(force, abs=1e-12)
        terms = model.compute_force_terms(state, u)
        assert sum(terms.values()) == pytest.approx(force, abs=1e-12)
        forces.append((force, terms["damping"]))
    # C·Ω at the clamp's pin, and through what couples it at the other one
    own, across = {"tube": (C / 0.05, 0.0), "coupled": (0.4, 0.06)}[name]
    wanted = np.zeros(n)
    wanted[2], wanted[8], wanted[5] = 0.7 * own, 0.7 * across, -0.7 * across
    for one, other in zip(*forces, strict=True):
        assert one - other == pytest.approx(wanted, abs=1e-12)


def test_statics_at_an_instant_of_a_turn_know_no_rate():
    """At rest under a load across the tip, at the heading that the clamp has at 1 s."""
    push = {"channel": "tip-force", "signal": [0.0, 0.2]}
    held = {"channel": "heading", "signal": SPEED}
    moving, still = (
        arm(DAMPED["tube"], [each, push]).statics(at=1.0) for each in (turning(), held)
    )  # fmt: skip
    assert moving.q == pytest.approx(still.q, abs=1e-12)
    assert abs(still.q[2] - SPEED) > 1e-3


def test_a_rate_follows_its_signal_and_what_is_written():
    simulation = arm(DAMPED["tube"], [turning()]).compose()
    inputs = simulation.inputs["arm"]
    assert inputs_at(simulation, 1.0) == [0.0, SPEED, SPEED, 0.0, 0.0]
    assert inputs_at(simulation, 2.5) == [0.0, 2.0 * SPEED, 0.0, 0.0, 0.0]
    table = simulation.bodies[0].inputs.signals_at(np.array([0.5, 1.0, 3.0]))
    assert table[:, 2].tolist() == [SPEED, SPEED, 0.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inputs["heading"] = 0.3
        assert inputs_at(simulation, 1.0) == [0.0, 0.3, 0.0, 0.0, 0.0]
        inputs["heading"] = 0.3
    with pytest.warns(
        RuntimeWarning, match="'heading' is written and moves, and its rate counts as 0: write 'heading-rate'"
    ):
        inputs["heading"] = 0.4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        inputs["heading"] = 0.5
        inputs["heading-rate"] = 0.2
        inputs["heading"] = 0.6
        assert inputs_at(simulation, 1.0) == [0.0, 0.6, 0.2, 0.0, 0.0]
    kept = simulation.bodies[0].inputs.internal_state()
    simulation.bodies[0].inputs.release()
    assert inputs_at(simulation, 1.0) == [0.0, SPEED, SPEED, 0.0, 0.0]
    simulation.bodies[0].inputs.restore(kept)
    assert inputs_at(simulation, 1.0) == [0.0, 0.6, 0.2, 0.0, 0.0]


def inputs_at(simulation, time):
    return simulation.bodies[0].inputs.value_at(time).tolist()


def test_writing_heading_and_its_rate_is_the_signal():
    signal, written = arm(DAMPED["tube"], [turning()]).compose(), arm(DAMPED["tube"], []).compose()
    ramp, out = Ramp(begin=0.0, end=2.0, value=2.0 * SPEED), np.zeros(1)
    for _ in range(100):
        for channel, of in (("heading", ramp.value), ("heading-rate", ramp.rate)):
            of(written.time + 0.5 * STEP, out)
            written.inputs["arm"][channel] = out
        signal.step()
        written.step()
    assert angles(written) == pytest.approx(angles(signal), abs=1e-12)


def test_a_signal_of_the_rate_beside_that_of_the_channel_is_refused():
    own = {"channel": "heading-rate", "signal": 0.1}
    with pytest.raises(
        CompositionError, match="'heading-rate' is the rate of 'heading', which has a signal: remove"
    ):
        arm(DAMPED["tube"], [turning(), own]).compose()


def test_robots_without_damping_have_no_such_channel():
    names = [each.name for each in arm({}, []).compose().bodies[0].description.inputs]
    assert "heading-rate" not in names


def test_a_batch_turns_its_robots_by_signals_and_by_what_is_written():
    """Bits are those of single simulations; a heading that is written rests."""
    contact = {
        "friction": 0.0,
        "detector": "sdf",
        "solver": {"use": "qp", "options": {"qp_solver": "banded"}},
    }
    for name in ("corekit_batch", "corekit_qp", "corekit_sdf", "corekit_quadratic"):
        pytest.importorskip(name)
    post = {"name": "post", "shape": "sphere", "size": [0.05], "position": [-1.0, 0.0, 0.0]}
    published = {
        "form": "telescope", "equations": "published", "joint_stiffness": 2.0, "joint_damping": 0.02,
        "body_inertia": 2e-3, "collision": "points",
    }  # fmt: skip
    scenario = arm(
        published,
        [turning()],
        {"use": "semi-implicit-euler", "options": {"form": "explicit"}},
        contact=contact,
        world={"gravity": [0.0, 0.0, 0.0], "obstacles": [post]},
    )
    batch, simulation = scenario.batch(1, threads=1), scenario.compose()
    for written in (False, True):
        if written:
            batch.inputs["arm"]["heading"] = 0.3
            simulation.inputs["arm"]["heading"] = 0.3
        batch.step(50)
        for _ in range(50):
            simulation.step()
        assert np.array_equal(batch.q[0], simulation.state.q)
        assert np.array_equal(batch.v[0], simulation.state.v)
