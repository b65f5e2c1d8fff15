"""Instants, jumps of rates and bounds of errors have no unit: a run in other units of time or length is the same run.

As in `test_units_of_steps` units are powers of two of each other, so that arithmetic is the same but for exponents.
"""

from __future__ import annotations

import numpy as np
import pytest

from corekit.scenario.load import from_document
from corekit_testing.worlds.drawing import make_world
from corekit_testing.worlds.images import in_units

for needed in ("rigid", "der", "cone", "sdf", "mpr", "timestep"):
    pytest.importorskip(f"corekit_{needed}")

H, STEPS, ROUNDED = 2.0**-10, 24, 1e-12
FLOOR, HANGING = (0.0, 0.0, -0.25), (0.5, 0.5, 1.0)
LONG_SECOND = 2.0**-40
"""A second in units of 35,000 years: what is a bare 1e-12 beside an instant is longer than a step."""


def driven(second, integrator):
    """A ball on a floor that begins to rise, a box on a base that does, and a rod clamped to what does.

    Args:
        second: one second in the unit of time.
    """

    def rising(speed, place=(0.0, 0.0, 0.0)):
        begin, end = 4.5 * H * second, 300.0 * H * second
        target = np.add(place, [speed * 295.5 * H, 0.0, speed * 295.5 * H]).tolist()
        return {"kind": "ramp", "from": begin, "to": end, "start": list(place), "value": target}

    limb = {
        "name": "rod", "start": [0.0, 1.0, 0.3], "end": [0.2, 1.0, 0.3], "nodes": 6, "radius": [0.01],
        "young": [1e6 / second**2], "density": [1000.0],
    }  # fmt: skip
    clamps = [{"at": "rod.start", "kind": "clamp", "displacement": rising(0.2)}]
    box = {"shape": "box", "size": [0.1, 0.1, 0.1], "mass": 1.0}
    return {
        "format": "corekit-scenario/1", "name": "driven", "time": {"duration": second, "step": H * second},
        "world": {
            "gravity": [0.0, 0.0, -10.0 / second**2],
            "obstacles": [{"name": "floor", "shape": "box", "size": [4.0, 0.5, 0.5], "position": rising(0.1, FLOOR)}],
        },
        "bodies": [
            {
                "name": "ball", "use": "rigid", "options": {"shape": "sphere", "size": [0.05], "mass": 1.0},
                "initial": {"position": [0.0, 0.0, 0.05]},
            },
            {"name": "box", "use": "rigid", "options": box, "base": {"position": rising(0.3, HANGING)}},
            {"name": "rod", "use": "der", "options": {"limbs": [limb], "clamps": clamps}},
        ],
        "contact": {
            "detector": ["sdf", "mpr"], "solver": "cone", "friction": 0.5, "margin": 1e-3,
            "stabilisation": {"approach": 1.0, "push_out": 20.0 / second, "cap": 0.5 / second},
        },
        "integrator": {"use": integrator},
    }  # fmt: skip


def places(simulation):
    names = [f"{body.name}.{frame}" for body in simulation.bodies for frame in body.description.frames]
    return np.array([simulation.frame(name).position for name in names])


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "implicit-midpoint", "verlet", "rk23"])
def test_driven_motion_begins_at_its_instant_in_any_unit_of_time(integrator):
    here, there = (from_document(driven(second, integrator)).compose() for second in (1.0, LONG_SECOND))
    for _ in range(STEPS):
        one, other = here.step(), there.step()
        assert (one.iterations, one.note) == (other.iterations, other.note)
        assert places(there) == pytest.approx(places(here), rel=0.0, abs=ROUNDED)
    assert np.abs(here.frame("rod.rod-0").velocity).max() > 0.1


FALLING = [
    {"use": "rk23", "options": {"relative": 1e-8}},
    {"use": "implicit-midpoint", "options": {"local_error": 2.0**-20}},
    {"use": "implicit-euler", "options": {"local_error": 2.0**-12}},
]


@pytest.mark.parametrize("integrator", FALLING, ids=["rk23", "midpoint", "euler"])
@pytest.mark.parametrize("units", [(2.0**10, 1.0, 1.0), (1.0, 1.0, 2.0**-6)], ids=["length", "time"])
def test_errors_of_places_and_turns_are_bounded_alike_in_any_unit_of_length(integrator, units):
    """A box that tumbles: its turns counted as metres, or a bare 1e-6 m/s passed."""
    world = make_world(3, ["rigid"] * 2, [], True, 8e-3, {"solver": "cone"}, integrator, 0.0)
    del world["contact"]
    world["bodies"][1]["initial"]["angular_velocity"] = [30.0, -50.0, 40.0]
    image = in_units({**world, "integrator": {"use": integrator["use"]}}, *units).world
    image["integrator"] = {
        "use": integrator["use"],
        "options": {
            name: value * units[0] if name == "local_error" else value
            for name, value in integrator["options"].items()
        },
    }
    here, there, cut = from_document(world).compose(), from_document(image).compose(), 0
    for _ in range(STEPS):
        one, other = here.step(), there.step()
        assert (one.iterations, one.note) == (other.iterations, other.note)
        assert places(there) / units[0] == pytest.approx(places(here), rel=0.0, abs=ROUNDED)
        cut += one.iterations > 1 if integrator["use"] == "rk23" else bool(one.note)
    assert cut
