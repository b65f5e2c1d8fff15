"""A run whose results file is damaged or missing goes on from its checkpoint, and says which records are lost."""

from __future__ import annotations

import os

import h5py
import numpy as np
import pytest

from corekit.cli import main
from corekit.errors import ResultsError
from corekit_record.digest import seal
from corekit_record.results import Results
from corekit_run.checkpoint import newest_checkpoint
from corekit_run.running import resume

from .killing import STEPS, arrays, bits, killed, reached, wait_for


def newest(folder):
    checkpoint = newest_checkpoint(folder)[0]
    assert checkpoint is not None
    return checkpoint


def turn_a_bit(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def lose_a_variable(file):
    with h5py.File(file, "r+") as opened:
        del opened["v"]
    seal(file)


DAMAGES = {
    "missing": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:3000]),
    "turned": turn_a_bit,
    "foreign": lambda file: file.write_text("time,q\n0,1\n"),
    "incomplete": lose_a_variable,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_run_goes_on_from_its_checkpoint_with_records_from_there(cut, whole, damage):
    file = cut / "results.nc"
    DAMAGES[damage](file)
    before = file.read_bytes() if file.exists() else None
    checkpoint = newest(cut)
    said: list[str] = []
    results = resume(cut, warn=said.append)
    assert results.status == "finished"
    assert results.time[0] == checkpoint.time
    assert results.first_step == checkpoint.step
    assert len(results.solves.time) == STEPS - checkpoint.step
    assert checkpoint.step > 25
    (sentence,) = said
    assert "Its records up to this checkpoint are lost, and new ones begin here" in sentence
    assert f"at t = {checkpoint.time:.9g} s" in sentence
    assert results.lost == sentence
    assert [event["reason"] for event in results.events if event["event"] == "records lost"] == [sentence]
    kept = list(cut.glob("damaged-*"))
    assert [each.read_bytes() for each in kept] == ([] if before is None else [before])

    # the motion and what is counted are those of a run that lost nothing
    ours, theirs = arrays(cut), whole[1]
    for name, value in theirs.items():
        if (
            name.startswith("end/")
            and not name.startswith("end/recorder/")
            and name != "end/statistics/counters"
        ):
            assert bits(ours[name]) == bits(value), name
    assert results.statistics["steps"] == STEPS
    assert results.statistics["contact_phases"] == Results(cut.parent / "whole").statistics["contact_phases"]
    rows = np.isin(theirs["time"], ours["time"][1:])
    assert rows.sum() == len(ours["time"]) - 1
    for name in ("time", "q", "v", "contact_count", "residual_normal"):
        assert bits(ours[name][1:]) == bits(theirs[name][rows]), name


@pytest.fixture(autouse=True)
def whole_run_beside(made, tmp_path):
    (tmp_path / "whole").symlink_to(made / "whole")


def test_a_run_that_lost_records_is_killed_and_goes_on_again(cut, whole, often):
    (cut / "results.nc").unlink()
    first = newest(cut)
    child = os.fork()
    if child == 0:
        try:
            resume(cut)
        finally:
            os._exit(0)
    wait_for(lambda: reached(cut) > first.step + 2)
    assert killed(child)
    results = resume(cut)
    assert results.first_step == first.step
    assert results.time[0] == first.time
    assert results.lost.endswith(f"at t = {first.time:.9g} s.")
    assert bits(results.q[-1]) == bits(whole[1]["q"][-1])


def test_a_run_with_nothing_left_to_step_records_its_end(cut, whole):
    resume(cut)
    (cut / "results.nc").unlink()
    (cut / "STATUS").write_text("interrupted\n")
    results = resume(cut, warn=lambda _sentence: None)
    assert results.first_step == STEPS
    assert results.time.tolist() == [whole[1]["time"][-1]]
    assert bits(results.q[-1]) == bits(whole[1]["q"][-1])
    assert len(results.solves.time) == 0


def test_without_a_checkpoint_a_run_with_damaged_results_begins_again(cut, whole):
    for path in cut.glob("checkpoint-*.npz"):
        path.unlink()
    turn_a_bit(cut / "results.nc")
    said: list[str] = []
    results = resume(cut, warn=said.append)
    assert (
        "It is made anew from the start, at t = 0 s. The damaged one is kept as damaged-1-results.nc."
        in said[0]
    )
    assert results.first_step == 0
    assert results.lost == ""
    ours = arrays(cut)
    for name, value in whole[1].items():
        assert bits(ours[name]) == bits(value), name


def test_steps_keep_their_numbers(cut, capsys):
    (cut / "results.nc").unlink()
    first = newest(cut).step
    resume(cut, warn=lambda _sentence: None)
    capsys.readouterr()
    assert main(["info", str(cut), "--step", str(first + 3)]) == 0
    assert f"step {first + 3} of {STEPS}, ends at t = {(first + 4) * 1e-3:.9g} s" in capsys.readouterr().out
    assert main(["info", str(cut), "--step", "3"]) == 2
    assert f"has no step 3: it has {first} to {STEPS - 1}, t = " in capsys.readouterr().err
    assert main(["info", str(cut)]) == 0
    assert "Its records up to this checkpoint are lost" in " ".join(capsys.readouterr().out.split())


def test_damaged_results_say_how_the_run_goes_on(cut):
    turn_a_bit(cut / "results.nc")
    with pytest.raises(
        ResultsError, match=r"goes on with `corekit run --resume cut`, with records from its checkpoint"
    ):
        Results(cut)
