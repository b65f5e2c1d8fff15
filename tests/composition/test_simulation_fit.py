"""`simulation-fit` from file to file: what a body was simulated with comes back, with intervals that hold."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corekit
from corekit.errors import ConfigError, PluginFailed
from corekit_study.fit import FitResult, fit, task_of
from corekit_study.fit_file import load_fit

pytest.importorskip("corekit_fit", reason="corekit-fit is not installed")
pytest.importorskip("casadi", reason="casadi is not installed")

SWING = """
format = "corekit-scenario/1"
name = "swing"
time = { duration = 0.4, step = 0.02 }
world = { gravity = [0.0, 0.0, 0.0] }
[[bodies]]
name = "robot"
use = "vine"
options = { bodies = 4, length = 0.4, bending_stiffness = 0.02, bending_damping = 4e-4, collision = "none" }
initial = { bend = [0.03, 0.03] }
[integrator]
use = "implicit-midpoint"
[output]
every = 0.02
"""
HEAD = (
    'format = "corekit-fit/1"\nname = "swing"\nscenario = "swing.toml"\nuse = "simulation-fit"\n[options]\n'
)
TRUE = {"bending_stiffness": 0.02, "bending_damping": 4e-4}
PARAMETERS = """parameters = [
  { name = "bending_stiffness", start = 0.008, low = 1e-3, high = 1.0 },
  { name = "bending_damping", start = 1e-3, low = 1e-6, high = 0.1 },
]
"""


def observe(folder: Path, name: str, noise: float, seed: int = 0, changes: tuple[str, ...] = ()) -> None:
    """Write where two frames of the swing are between its steps, with noise and gaps."""
    simulation = corekit.load(folder / "swing.toml", changes).compose()
    frames = simulation.bodies[0].description.frames
    rng = np.random.default_rng(seed)
    with (folder / name).open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["time", "marker", "x", "z"])
        for _ in range(20):
            before = [simulation.frame(f"robot.{frames[i]}").position.copy() for i in (1, -1)]
            simulation.step()
            for i, old in zip((1, -1), before, strict=True):
                new = simulation.frame(f"robot.{frames[i]}").position
                seen = 0.3 * old + 0.7 * new + noise * rng.normal(size=3)
                if rng.random() < 0.8:
                    table.writerow([simulation.time - 0.006, frames[i], *seen[[0, 2]].tolist()])


def markers(name: str, deviation: float, frames: tuple[str, str]) -> str:
    attached = ", ".join(f'{{ marker = "{each}", frame = "{each}" }}' for each in frames)
    return f'{{ file = "{name}", deviation = {deviation}, attached = [{attached}] }}'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("swing")
    (made / "swing.toml").write_text(SWING)
    return made


@pytest.fixture(scope="module")
def frames(folder: Path) -> tuple[str, str]:
    names = corekit.load(folder / "swing.toml").compose().bodies[0].description.frames
    return names[1], names[-1]


def fitted(folder: Path, options: str, *experiments: str) -> FitResult:
    text = HEAD + options + "".join(f"[[options.experiments]]\n{each}\n" for each in experiments)
    (folder / "fit.toml").write_text(text)
    return fit(load_fit(folder / "fit.toml"))


def values(found: FitResult) -> dict[str, float]:
    return {each.name: each.value for each in found.estimate.fitted}


def test_what_was_simulated_comes_back_from_between_its_steps(folder, frames):
    observe(folder, "clean.csv", 0.0)
    found = fitted(folder, PARAMETERS, f"markers = {markers('clean.csv', 1e-5, frames)}")
    assert values(found) == pytest.approx(TRUE, rel=1e-5)
    assert [each.verdict for each in found.estimate.fitted] == ["identified"] * 2
    assert [each.unit for each in found.estimate.fitted] == ["N·m²", "N·m²·s"]
    assert found.as_data()["markers"]["largest_m"] < 1e-7


def test_an_option_deep_in_a_table_has_its_unit():
    task = task_of(corekit.load("gvs/beam"), "beam")
    assert task.unit_of("links[0].divisions[0].young") == "Pa"
    assert task.unit_of("links[0].divisions[0].strain[0].order") == ""
    acrobot = task_of(corekit.load("teaching/acrobot", allow_code=True), "acrobot")
    assert acrobot.unit_of("parameters.mass") == ""


def test_intervals_of_noisy_markers_hold_the_truth(folder, frames):
    """Errors over their deviations are normal numbers: of 2 × 5 the mean square is 1 ± 0.45 at one deviation."""
    errors: list[float] = []
    for seed in range(5):
        observe(folder, "noisy.csv", 2e-4, seed)
        found = fitted(folder, PARAMETERS, f"markers = {markers('noisy.csv', 2e-4, frames)}")
        assert 0.8 < found.estimate.metrics["residual_rms_in_deviations"] < 1.2
        for each in found.estimate.fitted:
            deviation = np.log(each.high / each.low) / (2 * 1.96)
            errors.append(np.log(each.value / TRUE[each.name]) / deviation)
    assert 0.15 < np.mean(np.square(errors)) < 2.6


def test_two_experiments_under_different_conditions_are_fitted_at_once(folder, frames):
    gravity = "world.gravity=[0.0, 0.0, -3.0]"
    observe(folder, "flat.csv", 2e-4, 1)
    observe(folder, "heavy.csv", 2e-4, 2, (gravity,))
    one = f"markers = {markers('flat.csv', 2e-4, frames)}"
    two = f'set = ["{gravity}"]\nmarkers = {markers("heavy.csv", 2e-4, frames)}'
    alone, both = fitted(folder, PARAMETERS, one), fitted(folder, PARAMETERS, one, two)
    assert sorted(both.estimate.markers) == sorted(f"{k}/{name}" for k in (1, 2) for name in frames)
    for narrow, wide in zip(both.estimate.fitted, alone.estimate.fitted, strict=True):
        assert narrow.low < TRUE[narrow.name] < narrow.high
        assert narrow.high / narrow.low < wide.high / wide.low


def test_a_model_that_cannot_explain_the_markers_says_so(folder, frames):
    observe(folder, "heavy.csv", 2e-4, 2, ("world.gravity=[0.0, 0.0, -3.0]",))
    found = fitted(folder, PARAMETERS, f"markers = {markers('heavy.csv', 2e-4, frames)}")
    assert {each.verdict for each in found.estimate.fitted} <= {"model misfit", "not identifiable"}
    assert found.estimate.notes[0].startswith("the model misses the markers: they are ")


def test_what_the_markers_do_not_tell_is_said(folder, frames):
    observe(folder, "noisy.csv", 2e-4, 1)
    narrow = PARAMETERS.replace("low = 1e-3, high = 1.0", "low = 1e-3, high = 0.01")
    found = fitted(folder, narrow, f"markers = {markers('noisy.csv', 2e-4, frames)}")
    held = found.estimate.fitted[0]
    assert held.value == pytest.approx(0.01, rel=1e-5)
    assert (held.verdict, held.note) == ("not identifiable", "it ends at its bound, and might go on beyond")
    # the length at which it would stop to retract, if it did
    idle = '{ name = "shortest", start = 0.01, low = 1e-3, high = 0.05 },'
    idle = PARAMETERS.replace("parameters = [", f"parameters = [\n  {idle}")
    found = fitted(folder, idle, f"markers = {markers('noisy.csv', 2e-4, frames)}")
    verdicts = {each.name: each.verdict for each in found.estimate.fitted}
    assert verdicts == {
        "shortest": "not identifiable",
        "bending_stiffness": "identified",
        "bending_damping": "identified",
    }


def test_several_starts_leave_a_minimum_that_is_out_of_phase(folder, frames):
    """A swing that is hardly damped, at 15 times its stiffness: the nearest minimum is some periods off."""
    light = "bodies.robot.options.bending_damping=2e-5"
    observe(folder, "ringing.csv", 2e-4, 1, (light,))
    seen = f'set = ["{light}"]\nmarkers = {markers("ringing.csv", 2e-4, frames)}'
    far = 'parameters = [{ name = "bending_stiffness", start = 0.3, low = 1e-3, high = 1.0 }]\nmax_iterations = 20\n'
    one, several = fitted(folder, far, seen), fitted(folder, far + "starts = 4\nseed = 1\n", seen)
    assert one.estimate.fitted[0].verdict == "model misfit"
    assert values(one)["bending_stiffness"] > 0.1
    assert one.estimate.metrics["objective"] > 50 * several.estimate.metrics["objective"]
    assert values(several)["bending_stiffness"] == pytest.approx(TRUE["bending_stiffness"], rel=0.01)
    assert several.estimate.metrics["starts_that_end_at_the_best"] >= 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            PARAMETERS.replace("bending_damping", "bending_dampings"),
            "must be an option of the body's model",
        ),
        (PARAMETERS.replace("bending_damping", "collision"), "must be an option of the body's model"),
        (PARAMETERS.replace("low = 1e-6, ", "low = 0.0, ") + "starts = 3\n", "needs low and high"),
    ],
)
def test_options_that_make_no_sense_are_refused(folder, frames, options, said):
    observe(folder, "noisy.csv", 2e-4, 1)
    with pytest.raises(ConfigError, match=said):
        fitted(folder, options, f"markers = {markers('noisy.csv', 2e-4, frames)}")


def test_a_change_that_the_scenario_does_not_know_is_refused(folder, frames):
    observe(folder, "noisy.csv", 2e-4, 1)
    one: Any = f'set = ["world.gravitation=[0.0, 0.0, 1.0]"]\nmarkers = {markers("noisy.csv", 2e-4, frames)}'
    with pytest.raises(ConfigError, match="gravitation"):
        fitted(folder, PARAMETERS, one)


SCALED = """parameters = [
  { name = "bending_stiffness", start = 0.01, low = 1e-3, high = 1.0 },
  { name = "bending_damping", start = 5e-4, low = 1e-5, high = 1e-2 },
  { name = "wall_density", start = 700.0, low = 30.0, high = 3e4 },
]
"""


@pytest.mark.parametrize("deviation", [1e-3, 1e-4, 1e-6])
def test_a_set_whose_scale_changes_no_motion_is_not_identifiable(folder, frames, deviation):
    """Without gravity and gas k·EI, k·η and k·ρ move as EI, η and ρ do: markers tell ratios, however exact they are."""
    observe(folder, "scale.csv", deviation, 3)
    found = fitted(folder, SCALED, f"markers = {markers('scale.csv', deviation, frames)}")
    assert [each.verdict for each in found.estimate.fitted] == ["not identifiable"] * 3
    stiffness, damping, density = (each.value for each in found.estimate.fitted)
    assert damping / stiffness == pytest.approx(TRUE["bending_damping"] / TRUE["bending_stiffness"], rel=0.3)
    assert density / stiffness == pytest.approx(920.0 / TRUE["bending_stiffness"], rel=0.3)


def test_a_start_at_a_bound_far_off_is_no_misfit_of_the_model(folder, frames):
    """A tube 10^10 times too soft: it does not swing, whatever is tried near there."""
    observe(folder, "noisy.csv", 2e-4, 1)
    far = PARAMETERS.replace(
        "start = 0.008, low = 1e-3, high = 1.0", "start = 2e-12, low = 2e-12, high = 1.0"
    )
    found = fitted(folder, far, f"markers = {markers('noisy.csv', 2e-4, frames)}")
    assert {each.verdict for each in found.estimate.fitted} == {"not identifiable"}
    assert (
        "the search did not leave the bound at which it began: give another start" in found.estimate.notes[0]
    )
    assert "(bending_stiffness)" in found.estimate.notes[0]


@pytest.mark.parametrize(
    ("column", "said"), [("time", "are instants in milliseconds?"), ("x", "markers in millimetres?")]
)
def test_milliseconds_and_millimetres_are_said_before_the_search(folder, frames, column, said):
    observe(folder, "right.csv", 2e-4, 1)
    with (folder / "right.csv").open() as file:
        rows = list(csv.DictReader(file))
    columns = ("time",) if column == "time" else ("x", "z")
    with (folder / "wrong.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows({**row, **{name: 1e3 * float(row[name]) for name in columns}} for row in rows)
    text = f"markers = {markers('wrong.csv', 2e-4, frames)}"
    (folder / "fit.toml").write_text(HEAD + PARAMETERS + f"[[options.experiments]]\n{text}\n")

    class Told(Exception):
        pass

    def stop(sentence: str) -> None:
        raise Told(sentence)

    with pytest.raises(PluginFailed, match=re.escape(said)):
        fit(load_fit(folder / "fit.toml"), report=stop)
