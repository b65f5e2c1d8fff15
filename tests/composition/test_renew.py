"""`reset(parameters=…)` replaces models where only numbers change, and gives what composing anew gives, to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from corekit.errors import ConfigError
from corekit.registry.discover import discover
from corekit.scenario.load import loads

HEAD = """
format = "corekit-scenario/1"
name = "renewed"
time = { duration = 0.05, step = 1e-3 }
output = { every = 0.01 }
[[world.obstacles]]
name = "floor"
shape = "half-space"
position = [0.0, 0.0, -0.03]
[contact]
friction = 0.4
detector = "sdf"
solver = "lcp"
[integrator]
use = "implicit-midpoint"
[[bodies]]
name = "it"
"""
BODIES = {
    "pcc": (
        (
            'use = "pcc"\noptions = { sections = 2, length = 0.08, mass = 0.03, stiffness = 50.0, damping = 1.0, '
            "chamber_radius = 0.01 }\nbase = { rotation_rpy = [0.0, 1.4, 0.0] }\n"
            'inputs = [{ channel = "chamber-force", signal = { kind = "sine", amplitude = 1.0, frequency = 3.0 } }]\n'
        ),
        {"stiffness": 70.0, "damping": 2.0},
    ),
    "gvs": (
        (
            'use = "gvs"\n[[bodies.options.links]]\nname = "arm"\ncollision = "capsules"\n'
            'divisions = [{ length = 0.3, radius = "0.012 - 0.01*X", young = 3e5, density = 1100, viscosity = 3e3 }]\n'
        ),
        {"links.arm.divisions[0].young": 5e5, "links[0].divisions[0].viscosity": 4000},
    ),
    "rigid": (
        (
            'use = "rigid"\noptions = { shape = "sphere", size = [0.03], mass = 0.1, linear_damping = 0.5 }\n'
            "initial = { velocity = [0.3, 0.0, 0.0] }\n"
        ),
        {"mass": 0.2},
    ),
    "vine": (
        (
            'use = "vine"\noptions = { bodies = 6, length = 0.3, heading = -0.1, joint_stiffness = 0.1, '
            "body_mass = 0.002 }\n"
        ),
        {"joint_stiffness": 0.2, "body_mass": 0.003},
    ),
    "der": (
        (
            'use = "der"\noptions = { clamps = [{ at = "rod.start" }], limbs = [{ name = "rod", '
            "start = [0.0, 0.0, 0.0], end = [0.2, 0.0, 0.0], nodes = 9, radius = 4e-3, "
            "young = 1e6, density = 1200.0 }] }\n"
        ),
        {"limbs.rod.young": 2e6, "limbs.rod.density": 1000.0},
    ),
}


def _loaded(name):
    missing = {name, "sdf", "lcp", "implicit-midpoint"} - {row.name for row in discover() if row.usable}
    if missing:
        pytest.skip(f"not installed: {', '.join(sorted(missing))}")
    return HEAD + BODIES[name][0], {f"bodies.it.options.{key}": x for key, x in BODIES[name][1].items()}


def _end(sim):
    sim.run(0.05)
    return np.concatenate([sim.state.q, sim.state.v])


@pytest.fixture
def nothing_is_composed(monkeypatch):
    def refuse(*_):
        raise AssertionError("the scenario was composed anew")

    monkeypatch.setattr("corekit.scenario.renew.with_values", refuse)


@pytest.mark.parametrize("name", BODIES)
def test_a_model_with_other_numbers_moves_as_one_that_is_composed_with_them(name, nothing_is_composed):
    text, parameters = _loaded(name)
    expected = _end(loads(text, [f"{path}={value}" for path, value in parameters.items()]).compose())
    sim = loads(text).compose()
    first = _end(sim)
    assert np.abs(first - expected).max() > 1e-6 * np.abs(first).max()
    for path, value in parameters.items():  # one after the other: the first stays
        sim.reset(parameters={path: value})
    np.testing.assert_array_equal(_end(sim), expected)
    sim.reset()
    np.testing.assert_array_equal(_end(sim), expected)


@pytest.mark.parametrize("name", BODIES)
def test_a_model_that_can_exchange_numbers_is_not_built_anew(name, nothing_is_composed, monkeypatch):
    text, parameters = _loaded(name)
    sim = loads(text).compose()
    before = sim.body("it").model

    def refuse(*_):
        raise AssertionError("the model was built anew")

    monkeypatch.setattr("corekit.scenario.compose.Builder.build_model", refuse)
    sim.reset(parameters=parameters)
    assert sim.body("it").model is not before
    assert sim.body("it").description is before.description


def test_a_clamp_that_is_elsewhere_holds_from_the_start(nothing_is_composed):
    text, _ = _loaded("der")
    path = "bodies.it.options.limbs.rod.start[2]"
    sim, other = loads(text).compose(), loads(text, [f"{path}=0.01"]).compose()
    sim.reset(parameters={path: 0.01})
    np.testing.assert_array_equal(sim.state.q, other.state.q)
    np.testing.assert_array_equal(_end(sim), _end(other))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("bodies.it.options.sections", 3),
        ("bodies.it.options.length", 0.09),
        ("bodies.it.options.coriolis", True),
        ("world.gravity", [0.0, 0.0, -3.0]),
    ],
)
def test_what_changes_more_than_numbers_is_composed_anew(path, value):
    text, _ = _loaded("pcc")
    sim = loads(text).compose()
    sim.reset(parameters={path: value})
    np.testing.assert_array_equal(_end(sim), _end(loads(text, [f"{path}={str(value).lower()}"]).compose()))


def test_a_refused_value_leaves_the_simulation_as_it_was():
    text, _ = _loaded("pcc")
    sim = loads(text).compose()
    sim.reset(parameters={"bodies.it.options.stiffness": 60.0})
    kept = _end(sim)
    for wrong in (-1.0, "stiff", True, [1.0, 2.0, 3.0]):
        with pytest.raises(ConfigError, match="stiffness"):
            sim.reset(parameters={"bodies.it.options.stiffness": wrong})
    with pytest.raises(ConfigError, match="stifness"):
        sim.reset(parameters={"bodies.it.options.stifness": 1.0})
    sim.reset()
    np.testing.assert_array_equal(_end(sim), kept)
