"""`corekit.open`: trees with forces and units, tables of pandas, sweeps."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import corekit
from corekit.errors import ResultsError

G = 9.81


def test_a_tree_has_forces_beside_impulses_with_units(results):
    tree = corekit.open(results.path)
    contacts = tree["contacts"].dataset
    assert contacts["force"].attrs["units"] == "N"
    assert contacts["normal_impulse"].attrs["units"] == "N·s"
    step = results["step_length"][contacts["record"].values]
    np.testing.assert_allclose(
        contacts["normal_force"] * step, contacts["normal_impulse"], rtol=1e-12, atol=1e-15
    )
    last = contacts.where(contacts.contact_time == contacts.contact_time.max(), drop=True)
    pairs = set(zip(last["first"].values, last["second"].values, strict=True))
    assert pairs == {("top", "bottom"), ("bottom", "floor")}
    assert set(last["mode"].values) <= {"stick", "slide", "separate"}


def test_the_forces_of_a_pile_are_the_weights_above(results):
    forces = corekit.open(results.path)["forces"].dataset
    assert forces["on"].attrs["units"] == forces["between"].attrs["units"] == "N"
    at_end = forces["on"].isel(time=-1).sel(xyz="z")
    for name, expected in (("top", G), ("bottom", 2.0 * G), ("floor", -3.0 * G), ("rod", 0.0)):
        assert float(at_end.sel(thing=name)) == pytest.approx(expected, abs=1e-3 * G)
    # whatever presses is pressed
    np.testing.assert_allclose(forces["on"].sum("thing"), 0.0, atol=1e-9)


def test_force_between_two_names_is_what_the_records_say(results):
    tree = corekit.open(results.path / "results.nc")
    force = tree.corekit.force("top", "bottom")
    assert force.dims == ("time", "xyz")
    assert force.attrs["units"] == "N"
    np.testing.assert_array_equal(force, results.force("top", "bottom"))
    with pytest.raises(ResultsError, match="no body or obstacle 'tip'"):
        tree.corekit.force("tip")


def test_one_call_gives_a_table_of_pandas_with_units(results):
    frame = corekit.open(results.path).corekit.to_pandas()
    np.testing.assert_array_equal(frame.index, results.time)
    np.testing.assert_array_equal(frame["frame_position:top.body:z"], results.frame_position[:, 0, 2])
    units = frame.attrs["units"]
    assert units["frame_position:top.body:z"] == "m"
    assert units["force:top:z"] == "N"
    assert [units[f"q:{name}"] for name, _ in results.coordinates] == [
        unit for _, unit in results.coordinates
    ]
    assert frame["force:floor:z"].iloc[-1] == pytest.approx(-3.0 * G, rel=1e-3)
    clamp = [name for name in frame if name.startswith("reaction:rod.") and name.endswith("z")]
    assert frame[clamp].iloc[1:].notna().all(axis=None)


def test_every_step_and_outline_is_there(results):
    tree = corekit.open(results.path)
    assert tree["steps"].sizes["step"] == 50
    np.testing.assert_allclose(tree["steps"]["step_time"], np.arange(1, 51) * 2e-3)
    assert tree["outline/outline"].sizes["time"] == len(results.time)
    assert tree.attrs["status"] == "finished"


def test_what_a_run_left_out_is_not_in_its_tree(tmp_path):
    scenario = corekit.load("teaching/balls-in-a-tray", ["time.duration=0.004", "output.record=['frames']"])
    tree = corekit.open(scenario.run(directory=tmp_path / "run").path)
    assert set(tree.children) == {"steps"}
    assert "frame_position" in tree
    assert "q" in tree


def test_a_sweep_is_its_table_with_the_runs_it_kept(results, tmp_path):
    (tmp_path / "sweep.json").write_text(json.dumps({"vary": ["contact.friction=0.1,0.2"]}))
    with (tmp_path / "sweep.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerows(
            [["contact.friction", "status", "steps"], ["0.1", "finished", "50"], ["0.2", "failed", ""]]
        )
    (tmp_path / "run-1").symlink_to(results.path)
    tree = corekit.open(tmp_path)
    assert tree["contact.friction"].attrs["varied"] == 1
    assert tree["status"].attrs["varied"] == 0
    np.testing.assert_allclose(tree["contact.friction"], [0.1, 0.2], rtol=4.5e-16)  # read from text
    assert np.isnan(tree["steps"].values[1])
    assert list(tree["runs"].children) == ["run-1"]
    assert tree["runs/run-1"].corekit.force("top").shape == (len(results.time), 3)
    frame = tree.corekit.to_pandas()
    assert frame["status"].tolist() == ["finished", "failed"]
    assert not corekit.open(tmp_path, runs=False).children
    with pytest.raises(ResultsError, match="of a sweep take"):
        tree.corekit.force("top")


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(ResultsError, match="no results in"):
        corekit.open(tmp_path)
    (tmp_path / "sweep.csv").write_text("a,b\n1\n")
    with pytest.raises(ResultsError, match="is no table"):
        corekit.open(tmp_path)


def test_notebooks_show_a_run_with_a_picture(results):
    html = results._repr_html_()
    assert "pile-and-rod" in html
    assert "finished" in html
    assert "data:image/png;base64," in html
