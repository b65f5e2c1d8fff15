"""Fits from file to file: markers of a simulated body in, its own parameters and inputs out."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import corekit
from corekit.cli import main
from corekit.errors import CompositionError, ConfigError
from corekit.roles.estimator import EstimationTask
from corekit_study.fit import fit, task_of
from corekit_study.fit_file import load_fit

pytest.importorskip("corekit_fit", reason="corekit-fit is not installed")
pytest.importorskip("casadi", reason="casadi is not installed")

SWING = """
format = "corekit-scenario/1"
name = "swing"
time = { duration = 0.3, step = 0.01 }
world = { gravity = [0.0, 0.0, 0.0] }
[[bodies]]
name = "robot"
use = "vine"
options = { bodies = 4, length = 0.4, bending_stiffness = 0.02, bending_damping = 4e-4, collision = "none" }
initial = { bend = [0.03, 0.03] }
[integrator]
use = "semi-implicit-euler"
options = { beta = 0.5 }
[output]
every = 0.01
"""

HANGING = """
format = "corekit-scenario/1"
name = "hanging"
time = { duration = 1.0, step = 0.01 }
[[bodies]]
name = "rod"
use = "der"
[[bodies.options.limbs]]
start = [0.0, 0.0, 0.0]
end = [0.1, 0.0, 0.0]
nodes = 6
radius = 5e-3
young = 1e6
director = [0.0, 0.0, 1.0]
curvature_input = "uniform"
[[bodies.options.clamps]]
at = "rod.start"
[[bodies.inputs]]
channel = "curvature-rod"
signal = { kind = "ramp", from = 0.0, to = 1.0, value = [6.0, -4.0, 0.0] }
[integrator]
use = "implicit-euler"
[output]
every = 0.1
"""


def write_markers(path: Path, times: np.ndarray, place: np.ndarray, axes: str = "xz") -> None:
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["time", "marker", *axes])
        columns = ["xyz".index(axis) for axis in axes]
        for time, points in zip(times, place, strict=True):
            table.writerows([time, i, *point[columns]] for i, point in enumerate(points))


@pytest.fixture(scope="module")
def swing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a scenario, the noiseless places of its frames at every third step, and a fit file."""
    folder = tmp_path_factory.mktemp("swing")
    (folder / "swing.toml").write_text(SWING)
    simulation = corekit.load(folder / "swing.toml").compose()
    body = simulation.bodies[0]
    times, places, turn = [], [], np.zeros((len(body.description.frames), 3, 3))
    for k in range(22):
        if k % 3 == 0:
            place = np.zeros((len(body.description.frames), 3))
            body.model.compute_frame_poses(simulation.state.body_states[0], place, turn)
            times.append(simulation.time)
            places.append(place)
        simulation.step()
    write_markers(folder / "seen.csv", np.array(times), np.array(places))
    (folder / "fit.toml").write_text(
        'format = "corekit-fit/1"\nname = "swing"\nscenario = "swing.toml"\nuse = "ipopt-fit"\n'
        'set = ["bodies.robot.options.bending_stiffness=0.005", "bodies.robot.options.bending_damping=1e-4"]\n'
        '[options]\nprofile = "none"\nmarkers = { file = "seen.csv", deviation = 1e-4 }\n'
        'parameters = [{ name = "bending_stiffness", low = 1e-3, high = 1.0 }, '
        '{ name = "bending_damping", low = 1e-6, high = 0.1 }]\n'
    )
    return folder


def test_a_vine_gives_back_the_tube_it_was_simulated_with(swing, capsys):
    assert main(["fit", str(swing / "fit.toml"), "--out", str(swing / "out"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    K, C = (each["value"] for each in report["parameters"])
    # the simulation holds its joints by linearised rows, the fit exactly: second order in the step
    assert pytest.approx(0.02, rel=2e-3) == K
    assert pytest.approx(4e-4, rel=2e-2) == C
    assert [each["verdict"] for each in report["parameters"]] == ["identified", "identified"]
    assert report["markers"]["largest_m"] < 1e-4
    again = corekit.load(swing / "out" / "fitted.toml")
    assert again.bodies[0].options["bending_stiffness"] == pytest.approx(K)
    files = {path.name for path in (swing / "out").iterdir()}
    assert {"report.json", "residuals.csv", "fit.toml", "fitted.toml", "overlay.png"} <= files


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            ["bodies.robot.initial={ bend = [0.03], grown_length = 0.5 }"],
            "of a vine that has grown, its length",
        ),
        (['bodies.robot.inputs=[{ channel = "growth-rate", signal = 0.05 }]'], "use simulation-fit"),
    ],
)
def test_a_tube_whose_length_is_not_that_of_its_options_is_refused_by_the_fit_of_its_expressions(
    swing, changes, said
):
    text = (swing / "fit.toml").read_text()
    for form in ("tube", "telescope"):
        asked = [*changes, f'bodies.robot.options.form="{form}"']
        listed = ", ".join(f"{each!r}" for each in asked)
        (swing / "grown.toml").write_text(text.replace("set = [", f"set = [{listed}, "))
        if form == "tube":
            with pytest.raises(CompositionError, match=said):
                fit(load_fit(swing / "grown.toml"))
        else:
            assert fit(load_fit(swing / "grown.toml")) is not None


def test_a_fit_that_was_not_solved_says_so_and_leaves_no_scenario(swing, capsys):
    text = (swing / "fit.toml").read_text().replace('profile = "none"', "max_iterations = 1")
    (swing / "hasty.toml").write_text(text)
    assert main(["fit", str(swing / "hasty.toml"), "--out", str(swing / "hasty")]) == 1
    assert "iteration limit" in capsys.readouterr().out
    assert (swing / "hasty" / "report.json").is_file()
    assert not (swing / "hasty" / "fitted.toml").exists()


def test_every_mistake_of_a_fit_file_is_reported_at_once(swing):
    text = (swing / "fit.toml").read_text()
    wrong = (
        text.replace("deviation = 1e-4", "deviation = -1.0")
        .replace('profile = "none"', 'profil = "none"')
        .replace('scenario = "swing.toml"', 'scenario = "swing.toml"\nbody = "arm"')
    )
    (swing / "wrong.toml").write_text(wrong)
    with pytest.raises(ConfigError) as caught:
        load_fit(swing / "wrong.toml")
    assert {each.path for each in caught.value.mistakes} >= {
        "options.markers.deviation",
        "options.profil",
        "body",
    }
    (swing / "lost.toml").write_text(
        text.replace("swing.toml", "swung.toml").replace("ipopt-fit", "ipopt-fits")
    )
    with pytest.raises(ConfigError, match=r"(?s)did you mean 'ipopt-fit'.*scenario: .*swung"):
        load_fit(swing / "lost.toml")
    assert main(["fit", str(swing / "nowhere.toml")]) == 2


@pytest.fixture(scope="module")
def hanging(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, EstimationTask, np.ndarray]:
    """A folder with a rod's scenario and the places of its nodes at rest at two times; its task; the places."""
    folder = tmp_path_factory.mktemp("hanging")
    (folder / "hanging.toml").write_text(HANGING)
    task = task_of(corekit.load(folder / "hanging.toml"), "rod")
    places, near = [], task.start
    place, turn = np.zeros((6, 3)), np.zeros((6, 3, 3))
    for time in (0.5, 1.0):
        near = task.find_equilibrium(task.inputs(time).copy(), near, time)
        task.model.compute_frame_poses(near, place, turn)
        places.append(place.copy())
    write_markers(folder / "seen.csv", np.array([0.5, 1.0]), np.array(places), "xyz")
    return folder, task, np.array(places)


@pytest.mark.parametrize(
    ("estimator", "options", "near"),
    [("gauss-newton", "prior_deviation = 1e5", 1e-6), ("curvature-descent", "", 2e-2)],
)
def test_curvatures_come_back_from_shapes_at_rest(hanging, estimator, options, near):
    folder, _, places = hanging
    file = folder / f"{estimator}.toml"
    file.write_text(
        f'format = "corekit-fit/1"\nname = "rod"\nscenario = "hanging.toml"\nuse = "{estimator}"\n'
        f'set = ["bodies[0].inputs=[]"]\n[options]\n{options}\n[options.markers]\nfile = "seen.csv"\n'
    )
    into = folder / estimator
    into.mkdir()
    made = fit(load_fit(file), into)
    assert made.info.status.solved
    schedule = made.estimate.schedules[0]
    np.testing.assert_allclose(schedule.values, [[3.0, -2.0, 0.0], [6.0, -4.0, 0.0]], atol=near * 6.0)
    np.testing.assert_allclose(made.estimate.predicted, places, atol=near * 0.02)
    signal = corekit.load(into / "fitted.toml").bodies[0].inputs[0].signal
    value = np.zeros(3)
    signal.value(0.75, value)
    np.testing.assert_allclose(value, [4.5, -3.0, 0.0], atol=near * 6.0)


def test_sensitivity_of_equilibria_is_their_difference(hanging):
    from corekit_fit.config import GaussNewtonConfig, Markers
    from corekit_fit.equilibrium_shapes import EquilibriumShapes
    from corekit_fit.gauss_newton import sensitivity

    folder, task, _ = hanging
    shapes = EquilibriumShapes(
        task, GaussNewtonConfig(markers=Markers(file=folder / "seen.csv"), components=(0, 1, 2))
    )
    x, probe = np.array([5.0, -3.0, 2.0]), 1e-4
    here = shapes.solve(x, task.start, 0.5)
    found = sensitivity(shapes, here, 0.5)
    for i, unit in enumerate(np.eye(3)):
        ahead, behind = (
            shapes.solve(x + side * probe * unit, here.state, 0.5).markers for side in (1.0, -1.0)
        )
        difference = (ahead - behind).ravel() / (2.0 * probe)
        np.testing.assert_allclose(found[:, i], difference, atol=1e-6 * max(np.abs(difference).max(), 1e-4))


ARM = """
format = "corekit-scenario/1"
name = "arm"
time = { duration = 0.2, step = 0.01 }
[[bodies]]
name = "arm"
use = "pcc"
base = { position = [0.0, 0.0, 0.5], rotation_rpy = [3.141592653589793, 0.0, 0.0] }
options = { sections = 1, mass = 0.5, stiffness = 300.0, damping = 4.0 }
initial = { elongation = [0.01, 0.0, -0.01] }
[integrator]
use = "semi-implicit-euler"
[output]
every = 0.01
"""


def test_an_arm_gives_back_the_stiffness_and_damping_of_its_chambers(tmp_path):
    # a dense body without rows: its mass depends on where it is, and its weight is known
    (tmp_path / "arm.toml").write_text(ARM)
    simulation = corekit.load(tmp_path / "arm.toml").compose()
    body = simulation.bodies[0]
    count = len(body.description.frames)
    times, places = [], []
    for _ in range(9):
        place = np.zeros((count, 3))
        body.model.compute_frame_poses(simulation.state.body_states[0], place, np.zeros((count, 3, 3)))
        times.append(simulation.time)
        places.append(place)
        simulation.step()
    write_markers(tmp_path / "seen.csv", np.array(times), np.array(places), "xyz")
    (tmp_path / "fit.toml").write_text(
        'format = "corekit-fit/1"\nname = "arm"\nscenario = "arm.toml"\nuse = "ipopt-fit"\n'
        'set = ["bodies.arm.options.stiffness=150.0", "bodies.arm.options.damping=1.0"]\n'
        '[options]\nprofile = "none"\nmarkers = { file = "seen.csv", deviation = 1e-4 }\n'
        'parameters = [{ name = "stiffness", low = 10.0, high = 1e4 }, { name = "damping", low = 0.1, high = 100.0 }]\n'
    )
    made = fit(load_fit(tmp_path / "fit.toml"))
    assert made.info.status.solved
    assert [each.value for each in made.estimate.fitted] == pytest.approx([300.0, 4.0], rel=1e-5)
    assert np.nanmax(made.estimate.distance) < 1e-7


STRAINED = """
format = "corekit-scenario/1"
name = "strained"
time = { duration = 0.2, step = 0.01 }
[[bodies]]
name = "arm"
use = "gvs"
[bodies.options]
[[bodies.options.links]]
name = "arm"
frames = [0.5]
[[bodies.options.links.divisions]]
length = 0.3
radius = 0.01
young = 2e5
viscosity = 2e3
points = 3
magnus = 2
strain = [{ kind = "legendre", order = 0, modes = ["bend-y"] }]
[integrator]
use = "implicit-midpoint"
[output]
every = 0.01
"""


def seen_by_frames(folder: Path, text: str, steps: int) -> Path:
    """A folder with a scenario and the places of its one body's frames at every step."""
    (folder / "scene.toml").write_text(text)
    simulation = corekit.load(folder / "scene.toml").compose()
    body, times, places = simulation.bodies[0], [], []
    count = len(body.description.frames)
    for _ in range(steps):
        place = np.zeros((count, 3))
        body.model.compute_frame_poses(simulation.state.body_states[0], place, np.zeros((count, 3, 3)))
        times.append(simulation.time)
        places.append(place)
        simulation.step()
    write_markers(folder / "seen.csv", np.array(times), np.array(places), "xyz")
    return folder


def test_an_arm_by_strain_gives_back_the_material_of_its_division(tmp_path):
    folder = seen_by_frames(tmp_path, STRAINED, 16)
    young, viscosity = (f"links[0].divisions[0].{name}" for name in ("young", "viscosity"))
    (folder / "fit.toml").write_text(
        'format = "corekit-fit/1"\nname = "arm"\nscenario = "scene.toml"\nuse = "ipopt-fit"\n'
        f'set = ["bodies.arm.options.{young}=1e5", "bodies.arm.options.{viscosity}=500.0"]\n'
        '[options]\nprofile = "none"\nmarkers = { file = "seen.csv", deviation = 1e-4 }\n'
        f'parameters = [{{ name = "{young}", low = 1e4, high = 1e7 }}, '
        f'{{ name = "{viscosity}", low = 1.0, high = 1e5 }}]\n'
    )
    into = folder / "out"
    into.mkdir()
    made = fit(load_fit(folder / "fit.toml"), into)
    assert made.info.status.solved
    # gravity bends an arm of known weight, so that modulus and viscosity come with their units
    assert [each.value for each in made.estimate.fitted] == pytest.approx([2e5, 2e3], rel=1e-4)
    division = corekit.load(into / "fitted.toml").bodies[0].options["links"][0]["divisions"][0]
    assert division["young"] == pytest.approx(2e5, rel=1e-4)


ROD = """
format = "corekit-scenario/1"
name = "rod"
time = { duration = 0.2, step = 0.01 }
[[bodies]]
name = "rod"
use = "der"
[bodies.options]
planar = true
[[bodies.options.limbs]]
start = [0.0, 0.0, 0.0]
end = [0.1, 0.0, 0.0]
nodes = 5
radius = 5e-3
young = 1e6
viscous_drag = 0.5
[[bodies.options.clamps]]
at = "rod.start"
[integrator]
use = "implicit-midpoint"
[output]
every = 0.01
"""


def test_a_clamped_rod_gives_back_its_modulus_and_its_drag(tmp_path):
    folder = seen_by_frames(tmp_path, ROD, 16)
    (folder / "fit.toml").write_text(
        'format = "corekit-fit/1"\nname = "rod"\nscenario = "scene.toml"\nuse = "ipopt-fit"\n'
        'set = ["bodies.rod.options.limbs[0].young=5e5", "bodies.rod.options.limbs[0].viscous_drag=0.1"]\n'
        '[options]\nprofile = "none"\nmarkers = { file = "seen.csv", deviation = 1e-4 }\n'
        'parameters = [{ name = "limbs[0].young", low = 1e4, high = 1e8 }, '
        '{ name = "limbs[0].viscous_drag", low = 1e-3, high = 10.0 }]\n'
    )
    made = fit(load_fit(folder / "fit.toml"))
    assert made.info.status.solved
    # the clamp holds with whatever force it takes; the weight is known
    assert [each.value for each in made.estimate.fitted] == pytest.approx([1e6, 0.5], rel=1e-3)
    assert np.nanmax(made.estimate.distance) < 1e-6
