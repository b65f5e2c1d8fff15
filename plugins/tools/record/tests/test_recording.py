"""What is recorded is what was simulated, with units, and can be read back and drawn without any plugin."""

from __future__ import annotations

from typing import Any

import h5netcdf
import numpy as np
import pytest

from corekit.data.contacts import ContactMode
from corekit.data.status import Status
from corekit.errors import ConfigError, ResultsError
from corekit_record.recorder import Recorder
from corekit_record.results import Results
from corekit_record.statistics import Statistics


def record(simulation, folder, duration=0.5, every=0.01):
    statistics = Statistics()
    with Recorder(folder / "results.nc", simulation, every, statistics, "tiny") as recorder:
        simulation.observe(statistics.on_step_accepted)
        simulation.observe(recorder.on_step_accepted)
        simulation.run(duration)
    return statistics, Results(folder)


@pytest.fixture(scope="module")
def recorded(world, recomputed, tmp_path_factory):
    """A run, what was seen of it apart from the recorder, its statistics and its results, which nobody changes."""
    simulation = world(balls=2)
    seen = recomputed(simulation)
    statistics, results = record(simulation, tmp_path_factory.mktemp("recorded"))
    return simulation, seen, statistics, results


def test_every_tenth_step_and_the_initial_state_are_kept(recorded):
    _, seen, _, results = recorded
    assert np.array_equal(results.time, [0.0, *seen["time"][9::10]])
    assert np.array_equal(results.q[1:], seen["q"][9::10])
    assert np.array_equal(results.q[0], [0.0, 0.0, 0.3, 0.5, 0.0, 0.3])


def test_contact_records_come_back_whole(recorded):
    _, seen, _, results = recorded
    assert results.contact_count.max() == 2
    for k, record in enumerate(seen["contacts"][9::10], start=1):
        found = results.contacts(k)
        for name in ("id", "shape", "gap", "point", "normal", "tangent", "normal_impulse",
                     "tangential_impulse", "slip", "mode", "residual"):  # fmt: skip
            assert np.array_equal(getattr(found, name), getattr(record, name)), name
        assert found.names == record.names
        assert np.array_equal(found.force, record.force)
    assert np.any(results.contacts(-1).force)
    assert results.contacts(0).count == 0
    assert results.contacts(-1).count == 2
    for wrong in (0.5, True, "0"):  # which is no fault of the file
        with pytest.raises(ResultsError, match=f"a record has a whole number, not {wrong!r}: `time` lists"):
            results.contacts(wrong)
    with pytest.raises(ResultsError, match="no record 51"):
        results.contacts(51)


def test_frames_follow_the_centres(recorded):
    _, _, _, results = recorded
    assert results.frames == ("ball.centre", "ball1.centre")
    assert np.array_equal(results.frame_position.reshape(51, 6), results.q)
    assert np.array_equal(results.frame_quat_wxyz, np.tile([1.0, 0, 0, 0], (51, 2, 1)))


def test_inputs_follow_their_signal(recorded):
    results = recorded[3]
    assert np.allclose(results.inputs[:, 2], -np.minimum(results.time / 0.1, 1.0), atol=1e-12)
    assert not results.inputs[:, [0, 1, 3, 4, 5]].any()


def test_energy_is_that_of_the_states_and_nan_without_the_ability(recorded):
    results = recorded[3]
    kinetic = 0.5 * 2.0 * np.sum(results.v[:, :3] ** 2, axis=1)
    assert np.allclose(results.energy.kinetic[:, 0], kinetic, rtol=1e-14)
    assert np.allclose(results.energy.potential[:, 0], 2.0 * 9.81 * results.q[:, 2], rtol=1e-14)
    assert np.isnan(results.energy.kinetic[:, 1]).all()


def test_statistics_equal_a_count_made_apart(recorded):
    _, seen, statistics, results = recorded
    whole = statistics.totals
    assert whole.steps == len(seen["time"]) == 500
    assert whole.deepest_penetration == pytest.approx(max(0.0, -min(seen["gap"])), abs=0)
    assert whole.worst_residual == max(seen["residual"])
    assert statistics.most_contacts == 2
    touching = sum(record.count > 0 for record in seen["contacts"])
    assert statistics.answered == {"factorisation": 500 - touching, "tiny sweeps": touching}
    assert results.statistics == statistics.summary()


def test_the_deepest_penetration_is_that_of_a_start_inside_the_floor(world, recomputed, tmp_path):
    simulation = world()
    seen = recomputed(simulation)
    simulation.state.q[2] = 0.09  # its radius is 0.1
    statistics, _ = record(simulation, tmp_path, duration=0.02)
    assert statistics.totals.deepest_penetration == -min(seen["gap"]) == pytest.approx(0.01, rel=1e-12)


def test_a_record_carries_what_happened_since_the_last_one(recorded):
    _, seen, _, results = recorded
    assert np.array_equal(results["steps_since"], [0] + [10] * 50)
    gaps = np.array(seen["gap"]).reshape(50, 10).min(axis=1)
    assert np.array_equal(results["deepest_penetration_since"][1:], np.maximum(0.0, -gaps))
    worst = np.array(seen["residual"]).reshape(50, 10).max(axis=1)
    assert np.array_equal(results["worst_residual_since"][1:], worst)
    iterations = np.array(seen["iterations"]).reshape(50, 10)
    assert np.array_equal(results["iterations_since"][1:], iterations.sum(axis=1))
    assert np.array_equal(results["most_iterations_since"][1:], iterations.max(axis=1))


def test_answered_by_is_an_index_into_names(recorded):
    results = recorded[3]
    with h5netcdf.File(results.path / "results.nc") as file:
        about: Any = file["answered_by"].attrs
        values, names = list(about["flag_values"]), about["flag_meanings"].split()
    words = [names[values.index(index)] for index in results["answered_by"]]
    assert words[0] == "no_solve_yet"
    assert words[1:] == ["tiny_sweeps" if count else "factorisation" for count in results.contact_count[1:]]


def test_every_step_records_its_solver_and_its_residual_recorded_or_not(recorded):
    _, seen, _, results = recorded
    solves = results.solves
    assert np.array_equal(solves.time, seen["time"])
    assert np.array_equal(solves.iterations, seen["iterations"])
    assert np.array_equal(solves.residual, seen["residual"])
    assert np.array_equal(solves.contacts, [record.count for record in seen["contacts"]])
    assert set(solves.status) == {Status.CONVERGED}
    assert list(solves.answered_by) == [
        "tiny_sweeps" if record.count else "factorisation" for record in seen["contacts"]
    ]


def test_steps_are_reported_past_the_block_in_which_they_are_buffered(world, tmp_path, monkeypatch):
    monkeypatch.setattr("corekit_record.recorder._STEP_BLOCK", 16)
    _, results = record(world(step=1e-4), tmp_path, duration=0.01, every=0.002)
    assert results.solves.time == pytest.approx(1e-4 * np.arange(1, 101))
    assert results.time == pytest.approx(0.002 * np.arange(6))


def test_every_number_has_a_unit_and_every_entry_a_name(recorded):
    results = recorded[3]
    with h5netcdf.File(results.path / "results.nc") as file:
        units = {name: variable.attrs.get("units") for name, variable in file.variables.items()}
        plain = {name for name, variable in file.variables.items() if variable.dtype.kind == "O"}
        assert file["contact_count"].attrs["sample_dimension"] == "contact"
        assert file["q"].dimensions == ("time", "coordinate")
        assert file["contact_point"].dimensions == ("contact", "xyz")
    assert {name for name, unit in units.items() if unit is None} - plain == set()
    assert units["time"] == "s"
    assert units["v"] == "m/s"
    assert units["contact_normal_impulse"] == "N·s"
    assert results.coordinates[3] == ("ball1.x", "m")
    assert results.velocities[0] == ("ball.vx", "m/s")
    assert list(results["input"][:2]) == ["ball.push[0]", "ball.push[1]"]


def test_contact_modes_over_time_read_as_phases(world, tmp_path):
    simulation = world()
    simulation.state.v[0] = 2.0
    statistics, results = record(simulation, tmp_path)
    phases = statistics.phases()
    assert [phase.kind for phase in phases] == ["free", "slide", "stick"]
    # 0.2 m of fall take √(2·0.2/9.81) = 0.20 s; the impact takes μ·2 m/s of 2 m/s, friction the rest in 0.2 s
    assert 0.18 < phases[1].begin < 0.22
    assert 0.35 < phases[2].begin < 0.45
    assert str(phases[0]).startswith("0.00–")
    assert str(phases[2]).endswith("stick 1")
    modes = [results.contacts(k).mode for k in range(len(results.time))]
    sticking = [t for t, mode in zip(results.time, modes, strict=True) if ContactMode.STICK in mode]
    assert phases[2].begin == sticking[0]


def test_substeps_at_breakpoints_are_counted_but_not_kept(world, tmp_path):
    simulation = world(step=0.03)
    statistics, results = record(simulation, tmp_path, duration=0.3, every=0.06)
    # the push has a breakpoint at 0.1 s, inside the fourth step
    assert statistics.totals.steps == 11
    assert np.allclose(results.time, np.arange(6) * 0.06, atol=1e-15)


def test_many_blocks_and_more_contacts_than_the_buffer_holds_are_kept_in_order(
    world, recomputed, tmp_path, monkeypatch
):
    """Blocks of 16 records with 80 contacts, in a buffer with room for 16 at first; the file grows in chunks of 64."""
    monkeypatch.setattr("corekit_record.recorder._ROW_BLOCK", 16)
    monkeypatch.setattr("corekit_record.recorder.CHUNK", 1)
    simulation = world(balls=5)
    for part in simulation.state.body_states:
        part.q[2] = 0.1
    seen = recomputed(simulation)
    _, results = record(simulation, tmp_path, duration=0.07, every=0.001)
    assert np.array_equal(results.time, [0.0, *seen["time"]])
    assert np.array_equal(results.q[1:], seen["q"])
    assert results.contact_count[1:].min() == 5
    assert np.array_equal(results["contact_shape"][:, 0].reshape(70, 5), np.tile(np.arange(5), (70, 1)))
    gaps = np.concatenate([contacts.gap for contacts in seen["contacts"]])
    assert np.array_equal(results["contact_gap"], gaps)


def test_a_world_without_obstacles_and_contacts_is_recorded(world, tmp_path):
    _, results = record(world(floor=False), tmp_path, duration=0.05)
    assert results.contact_count.sum() == 0
    assert results.replay().obstacles == ()


@pytest.mark.parametrize("wrong", [3, None, b"x", [1], True])
def test_what_is_no_path_is_refused(wrong):
    with pytest.raises(ConfigError, match=r"path.*: found .*must be the path"):
        Results(wrong)


def test_records_between_steps_are_refused(world, tmp_path):
    with pytest.raises(ConfigError, match=r"output\.every.*nearest is 0\.002"):
        Recorder(tmp_path / "results.nc", world(), 0.0017, Statistics())


REPLAYED = """
import sys
from corekit_record.results import Results
Results(sys.argv[1]).replay()
print([name for name in sys.modules if name.startswith("tiny_plugin")])
"""


def test_replay_is_built_without_importing_a_plugin(recorded, shell, tmp_path):
    results = recorded[3]
    replay = results.replay()
    assert replay.title == "tiny"
    assert [body.name for body in replay.bodies] == ["ball", "ball1"]
    ball, floor = replay.bodies[0], replay.obstacles[0]
    assert ball.shapes[0].kind == "sphere"
    assert np.array_equal(ball.shape_position[:, 0], results.q[:, :3])
    # the trail begins with two points and may get a third: its ends stay where they are
    assert ball.outline.shape == (51, 2, 3)
    assert np.allclose(ball.outline[:, -1], results.q[:, :3], atol=1e-6)
    assert floor.position[-1] == pytest.approx([0.0, 0.0, -0.025])
    # at rest the floor carries the weight and the push
    assert replay.contacts[-1].force[0] == pytest.approx([0.0, 0.0, 2.0 * 9.81 + 1.0], abs=1e-6)
    (tmp_path / "replayed.py").write_text(REPLAYED)
    told = shell.python("replayed", str(results.path))
    assert (told.stdout.strip(), told.stderr) == ("[]", "")


def test_refresh_shows_what_was_published_since(world, tmp_path):
    simulation, statistics = world(), Statistics()
    recorder = Recorder(tmp_path / "results.nc", simulation, 0.01, statistics, "tiny")
    recorder.begin()
    simulation.observe(recorder.on_step_accepted)
    results = Results(tmp_path)
    simulation.run(0.1)
    assert len(results.time) == len(results.q) == 1
    recorder.close()
    assert len(results.v) == 1
    assert results.outdated
    results.refresh()
    assert not results.outdated
    assert len(results.time) == len(results.q) == 11


def test_unknown_variable_is_named_with_those_there_are(recorded):
    with pytest.raises(ResultsError, match=r"no 'tension'; it has .*kinetic_energy"):
        recorded[3]["tension"]


def test_xarray_reads_it_or_is_asked_for(recorded):
    results = recorded[3]
    try:
        import xarray  # noqa: F401 # pyrefly: ignore[missing-import]
    except ImportError:
        with pytest.raises(ResultsError, match="pip install xarray"):
            results.to_xarray()
        return
    dataset = results.to_xarray()
    assert dataset.q.sel(coordinate="ball.x").attrs["units"] == "m"
    assert np.array_equal(dataset.time, results.time)
