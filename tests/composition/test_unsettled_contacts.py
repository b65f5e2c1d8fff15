"""What an implicit step says of contacts that do not settle: which, between what shapes, and who found them."""

import json

import pytest

from corekit.errors import StepFailed
from corekit.scenario.load import from_document
from corekit_run.running import run

for needed in ("rigid", "sdf", "mpr", "lcp", "timestep", "record"):
    pytest.importorskip(f"corekit_{needed}")

FOUND = "light.0 (box) and floor (half-space), found by sdf"


def world(**options):
    """A ball of 10 kg that rests on the floor, and a box of 1 g that falls on a corner within the first step.

    One iteration solves nothing that changes a velocity: the heavy ball settles, and the box does not.
    """
    heavy = {"shape": "sphere", "size": [0.05], "mass": 10.0}
    light = {"shape": "box", "size": [0.02, 0.03, 0.04], "mass": 1e-3}
    falls = {"position": [0.3, 0.0, 0.028], "rotation_rpy": [0.5, 0.6, 0.0], "velocity": [0.0, 0.0, -3.0]}
    settings = {"max_iterations": 1, "reuse": 0.0, **options}
    return from_document(
        {
            "format": "corekit-scenario/1", "name": "unsettled", "time": {"duration": 0.002, "step": 2e-3},
            "world": {"obstacles": [{"name": "floor", "shape": "half-space"}]},
            "bodies": [
                {"name": "heavy", "use": "rigid", "options": heavy, "initial": {"position": [0.0, 0.0, 0.05]}},
                {"name": "light", "use": "rigid", "options": light, "initial": falls},
            ],
            "contact": {"detector": ["sdf", "mpr"], "solver": {"use": "lcp"}, "friction": 0.5},
            "integrator": {"use": "implicit-euler", "options": settings},
        }
    )  # fmt: skip


def test_a_step_that_fails_names_the_contact_that_did_not_settle():
    simulation = world(adaptive=False).compose()
    with pytest.raises(StepFailed, match="iteration limit") as failed:
        simulation.step()
    assert f"What settles least is the contact of {FOUND}." in str(failed.value)


def test_the_remark_of_a_cut_step_names_it_too(tmp_path):
    results = run(world(max_iterations=3), directory=tmp_path / "run", warn=lambda _: None)
    lines = [json.loads(line) for line in (results.path / "log.jsonl").read_text("utf-8").splitlines()]
    remarks = [line for line in lines if line.get("event") == "remark"]
    assert remarks[0]["said"].startswith("step")
    assert remarks[0]["between"] == FOUND
    record = results.contacts(-1)
    assert record.names[int(record.normal_impulse.argmax())] == ("heavy", "floor")
