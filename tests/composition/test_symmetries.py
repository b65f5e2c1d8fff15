"""Worlds that are moved, turned or written in other units move alike: no origin, direction or unit is preferred.

Scaling lengths by L, masses by M and times by T scales every number of a scenario by its own power of these, and every
result by its own. A tolerance with a hidden unit shows here, as does an axis that something takes for the vertical.
"""

from __future__ import annotations

import copy
import tomllib
from functools import cache

import numpy as np
import pytest
import tomli_w
from scipy.spatial.transform import Rotation

from corekit.scenario.load import loads
from corekit_scenarios.files import folder

TURN, SHIFT = Rotation.from_euler("xyz", [0.7, -1.1, 2.3]), np.array([0.4, -2.0, 1.3])
STEPS = {"rigid": 250, "pcc": 150, "gvs": 150, "der": 80}
"""Until both obstacles are touched."""


def world(model, solver, integrator):
    """A model of the matrix comes down on a ball and a block; it touches both within the first steps."""
    for needed in (f"corekit_{model}", f"corekit_{solver}", "corekit_sdf", "corekit_mpr", "corekit_timestep"):
        pytest.importorskip(needed)
    document = tomllib.loads((folder() / "matrix" / f"{model}.toml").read_text(encoding="utf-8"))
    document["integrator"] = {"use": integrator}
    if integrator == "implicit-midpoint":  # which leaves less than what impulses are compared to
        document["integrator"]["options"] = {"tolerance": 1e-10}
    document["contact"]["solver"] = {"use": solver}
    if solver == "lcp":
        document["contact"]["friction"] = 0.0  # its pyramid has directions
    return document


def moved(document):
    """The world turned and shifted, gravity and all."""
    new = copy.deepcopy(document)
    new["world"]["gravity"] = TURN.apply(new["world"]["gravity"]).tolist()
    for placed in (*new["world"]["obstacles"], *(body.setdefault("base", {}) for body in new["bodies"])):
        turned = TURN * Rotation.from_euler("xyz", placed.get("rotation_rpy", [0.0, 0.0, 0.0]))
        placed["position"] = (TURN.apply(placed.get("position", [0.0, 0.0, 0.0])) + SHIFT).tolist()
        placed["rotation_rpy"] = turned.as_euler("xyz").tolist()
    return new


def run(document):
    """Frames' origins [m] and the sum of normal impulses [N·s] after every step."""
    return _run(tomli_w.dumps(document), STEPS[document["bodies"][0]["use"]])


@cache
def _run(text, steps):
    simulation, positions, impulses = loads(text).compose(), [], []
    for _ in range(steps):
        simulation.step()
        own = [
            simulation.frame(f"{body.name}.{frame}").position
            for body in simulation.bodies
            for frame in body.description.frames
        ]
        positions.append(own)
        impulses.append(simulation.contacts().normal_impulse.sum())
    assert max(impulses) > 0.0, "nothing touched"
    return np.array(positions), np.array(impulses)


@pytest.mark.parametrize("solver", ["cone", "lcp", "imc"])
@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "implicit-midpoint"])
@pytest.mark.parametrize("model", ["rigid", "pcc", "gvs", "der"])
def test_a_world_that_is_turned_and_shifted_moves_alike(model, integrator, solver):
    document = world(model, solver, integrator)
    (here, pushed), (there, pushed_too) = run(document), run(moved(document))
    turned = TURN.apply(here.reshape(-1, 3)).reshape(here.shape) + SHIFT
    assert there == pytest.approx(turned, abs=1e-9)
    if model != "gvs":  # its five contacts share what four coordinates can carry in more than one way
        assert pushed_too == pytest.approx(pushed, abs=1e-6 * pushed.max())


POWERS = {  # of (length, mass, time)
    "size": (1, 0, 0), "position": (1, 0, 0), "start": (1, 0, 0), "end": (1, 0, 0), "radius": (1, 0, 0),
    "length": (1, 0, 0), "chamber_radius": (1, 0, 0), "disk_radius": (1, 0, 0), "disk_half_height": (1, 0, 0),
    "distance_tolerance": (1, 0, 0), "margin": (1, 0, 0), "reference_gap": (1, 0, 0), "gravity": (1, 0, -2),
    "mass": (0, 1, 0), "density": (-3, 1, 0), "young": (-1, 1, -2), "stiffness": (0, 1, -2), "damping": (0, 1, -1),
    "linear_damping": (0, 1, -1), "angular_damping": (2, 1, -1), "viscous_drag": (-1, 1, -1), "duration": (0, 0, 1),
    "step": (0, 0, 1), "every": (0, 0, 1), "push_out": (0, 0, -1), "cap": (1, 0, -1), "slip_tolerance": (1, 0, -1),
    "viscosity": (-1, 1, -1),
}  # fmt: skip
PLAIN = {
    "friction",
    "approach",
    "rotation_rpy",
    "sections",
    "disks",
    "nodes",
    "shapes",
    "order",
    "kind",
    "name",
}
WITH_UNITS = {
    "lcp": {"rank_selection": {"reference_gap": 1e-3}},
    "cone": {},
    "imc": {"distance_tolerance": 5e-4, "stiffness": 1e4, "slip_tolerance": 1e-3},
}


def rescaled(value, units, key=""):
    """A table of the scenario in other units, by the power of its key."""
    if isinstance(value, dict):
        return {name: rescaled(each, units, name) for name, each in value.items()}
    if isinstance(value, list):
        return [rescaled(each, units, key) for each in value]
    if isinstance(value, (str, bool)):
        return value
    assert key in POWERS or key in PLAIN, key
    return value * float(np.prod(np.power(units, POWERS[key]))) if key in POWERS else value


@pytest.mark.parametrize(
    "units", [(1e-3, 1e-9, 1.0), (1e2, 1e6, 1.0), (1.0, 1e-6, 1e-2)], ids=["mm", "100-m", "mg-and-10-ms"]
)
@pytest.mark.parametrize("solver", ["cone", "lcp", "imc"])
@pytest.mark.parametrize("model", ["rigid", "pcc", "der"])
def test_a_world_in_other_units_moves_alike(model, solver, units):
    document = world(model, solver, "semi-implicit-euler")
    document["contact"] |= {
        "margin": 1e-3,
        "stabilisation": {"approach": 1.0, "push_out": 20.0, "cap": 0.5},
        "solver": {"use": solver, "options": WITH_UNITS[solver]},
    }
    (here, pushed), (there, pushed_too) = run(document), run(rescaled(document, units))
    length, mass, time = units
    assert there / length == pytest.approx(here, abs=1e-9)
    assert pushed_too * time / (length * mass) == pytest.approx(pushed, abs=1e-6 * pushed.max())
