"""What cannot be gone on with is refused in one sentence, and nothing of it is lost."""

from __future__ import annotations

import os

import h5py
import numpy as np
import pytest

from corekit.errors import PluginError, ResultsError
from corekit.scenario.load import load
from corekit_record.digest import seal
from corekit_run import folder, running
from corekit_run.checkpoint import Checkpoint, read_checkpoint
from corekit_run.folder import RunFolder
from corekit_run.running import resume

from .killing import SETTING, arrays, assert_same, contents


def test_a_finished_run_says_so(made):
    before = contents(made / "whole")
    with pytest.raises(ResultsError, match="whole has finished: there is nothing to go on with"):
        resume(made / "whole")
    assert contents(made / "whole") == before


def test_a_run_that_still_runs_is_left_alone(cut):
    (cut / "STATUS").write_text(f"running\nprocess {os.getppid()} on {os.uname().nodename}\n")
    with RunFolder(cut).held():
        before = contents(cut)
        with pytest.raises(ResultsError, match=r"still running: process \d+ on .*remove .*STATUS"):
            resume(cut)
        assert contents(cut) == before


def test_where_folders_have_no_locks_the_process_that_status_names_decides(cut, monkeypatch):
    monkeypatch.setattr(folder, "_lock", lambda _path: folder._NO_LOCKS)
    (cut / "STATUS").write_text(f"running\nprocess {os.getppid()} on {os.uname().nodename}\n")
    with pytest.raises(ResultsError, match=r"still running: process \d+ on .*remove .*STATUS"):
        resume(cut)


@pytest.mark.parametrize(
    "who",
    [f"process {os.getppid()} on {os.uname().nodename}", "process 7 on elsewhere"],
    ids=["parent", "elsewhere"],
)
def test_a_number_that_is_another_s_process_or_a_renamed_machine_blocks_nothing(cut, whole, who):
    """Nobody holds the folder, so nobody runs it, whatever its STATUS says."""
    (cut / "STATUS").write_text(f"running\n{who}\n")
    resume(cut)
    assert_same(arrays(cut), whole[1])


def test_of_two_that_go_on_with_a_run_at_once_the_second_is_refused(cut, monkeypatch):
    """It looked before the first held the folder: what it found says that nobody runs it."""
    found = running.find_resumable(cut)
    monkeypatch.setattr(running, "find_resumable", lambda _folder: found)
    with RunFolder(cut).held():
        before = contents(cut)
        with pytest.raises(ResultsError, match="still running: another process holds it"):
            resume(cut)
        assert contents(cut) == before


@pytest.mark.parametrize("name", ["log.jsonl", "results.nc", "STATUS"])
def test_a_folder_whose_files_are_links_is_refused_and_what_they_point_to_is_left(cut, tmp_path, name):
    target = tmp_path / "elsewhere"
    (cut / name).replace(target)
    (cut / name).symlink_to(target)
    before = target.read_bytes()
    with pytest.raises(ResultsError, match=f"{name} is a symbolic link"):
        resume(cut)
    assert target.read_bytes() == before


def test_a_damaged_newest_checkpoint_is_passed_over_and_logged(cut, whole):
    # a third one where the kill came before the oldest was dropped
    newest, older, *_ = sorted(cut.glob("checkpoint-*.npz"), reverse=True)
    newest.write_bytes(newest.read_bytes()[:3000])
    results = resume(cut)
    (event,) = [event for event in results.events if event["event"] == "resumed"]
    assert event["step"] == int(older.stem.partition("-")[2])
    assert "is not a whole checkpoint" in event["passed_over"][0]
    assert_same(arrays(cut), whole[1])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a whole checkpoint: it is cut short, or something else wrote it"),
        (b"time,q\n0,1\n", "is not a whole checkpoint: it is cut short, or something else wrote it"),
        (None, "is not a whole checkpoint"),
        ({"q": np.zeros(3)}, "has the format 'none'.*something else wrote it"),
        ({"format": np.array("corekit-checkpoint/9")}, "another version of corekit wrote it"),
        ({"format": np.array("corekit-checkpoint/1")}, "it lacks 'scenario'"),
        ({"format": np.array([{}], dtype=object)}, "is not a whole checkpoint"),
    ],
)
def test_checkpoints_that_are_not_whole_or_not_ours_are_one_error_and_nothing_is_lost(cut, content, words):
    for path in cut.glob("checkpoint-*.npz"):
        if isinstance(content, dict):
            np.savez(path, **content)
        else:
            path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    before = contents(cut)
    with pytest.raises(ResultsError, match=rf"(?s)no checkpoint can be read:.*{words}"):
        resume(cut)
    assert contents(cut) == before


def test_a_flipped_bit_is_noticed(cut):
    path = max(cut.glob("checkpoint-*.npz"))
    data = bytearray(path.read_bytes())
    place = data.index(b"memory/v.npy") + 150
    data[place] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ResultsError, match="is not a whole checkpoint"):
        read_checkpoint(path)


@pytest.mark.parametrize("name", ["memory/q", "memory/time", "run/statistics/counters"])
@pytest.mark.parametrize("value", [None, np.zeros((3, 7))], ids=["absent", "another shape"])
def test_a_checkpoint_with_other_arrays_is_one_error_and_nothing_is_lost(cut, name, value):
    for path in cut.glob("checkpoint-*.npz"):
        with np.load(path) as file:
            held = {key: file[key] for key in file.files if key != name}
        assert len(held) < len(np.load(path).files)
        np.savez(path, **held, **({} if value is None else {name: value}))
    before = contents(cut)
    with pytest.raises(ResultsError, match=r"was changed or damaged|is not a whole checkpoint"):
        resume(cut)
    assert contents(cut) == before


def test_another_scenario_is_refused_with_the_paths_that_differ(cut, scenario_file):
    before = contents(cut)
    other = load(scenario_file, (*SETTING, "bodies.ball.options.mass=3.0", "time.step=5e-4"))
    with pytest.raises(ResultsError) as caught:
        resume(cut, other)
    assert str(caught.value).splitlines()[1:-1] == [
        "  bodies[0].options.mass: was 2.0, is 3.0",
        "  integrator.options.nap: was 0.001, is 0.0",
        "  time.step: was 0.001, is 0.0005",
    ]
    assert contents(cut) == before


def test_an_edited_resolved_file_is_refused_the_same_way(cut):
    text = (cut / "resolved.toml").read_text()
    (cut / "resolved.toml").write_text(text.replace("duration = 0.06", "duration = 0.4"))
    with pytest.raises(ResultsError, match=r"time\.duration: was 0\.06, is 0\.4"):
        resume(cut)


def test_other_versions_of_plugins_are_refused_by_name(cut, monkeypatch):
    found = {"corekit": "0.2.0", "plugins": {"tiny-plugin": "2.0"}}
    monkeypatch.setattr("corekit_run.versions.versions_of", lambda *_what: found)
    with pytest.raises(ResultsError, match=r"tiny-plugin: was 1\.0, is 2\.0"):
        resume(cut)


def test_results_of_another_version_of_the_format_are_refused(cut):
    with h5py.File(cut / "results.nc", "r+") as file:
        del file.attrs["format"]
        file.attrs["format"] = "corekit-results/9"
    seal(cut / "results.nc")
    before = contents(cut)
    with pytest.raises(ResultsError, match="another version of corekit wrote it"):
        resume(cut)
    assert contents(cut) == before


def test_results_that_hold_too_little_are_refused(cut, whole):
    other = load(cut / "resolved.toml", ["time.duration=0.002"]).run(directory="short")
    (cut / "results.nc").write_bytes(other.file.read_bytes())
    with pytest.raises(ResultsError, match=r"holds 2 records, the checkpoint belongs to \d+"):
        resume(cut)


def test_results_without_their_checkpoints_are_not_begun_anew(cut):
    for path in cut.glob("checkpoint-*.npz"):
        path.unlink()
    with pytest.raises(ResultsError, match=r"no checkpoint-\*\.npz to go on from"):
        resume(cut)


def test_a_folder_that_is_no_run_is_said_to_be_so(tmp_path):
    with pytest.raises(ResultsError, match="the folder is not there"):
        resume("nowhere")
    with pytest.raises(ResultsError, match=r"holds no resolved\.toml, so it is no run's folder"):
        resume(tmp_path)


def test_an_internal_state_that_is_not_made_of_arrays_is_refused_by_name(tmp_path):
    memory = {"step_index": np.array(1), "solver/history": np.array([{}], dtype=object)}
    made = Checkpoint("name = 'x'", {}, memory, {})
    with pytest.raises(PluginError, match=r"'solver/history' is remembered as object"):
        made.write(tmp_path / "checkpoint-1.npz")
    assert not list(tmp_path.glob("*.npz"))
