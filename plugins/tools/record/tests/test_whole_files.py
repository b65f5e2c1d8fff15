"""A file is replaced whole, and one that another program has open is waited for and never ends a run.

Windows refuses to replace such a file; here the refusal is simulated where the system would give it.
"""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import numpy as np
import pytest

import corekit
from corekit.errors import ResultsError
from corekit.files import FileHeldOpen, replace_file, write_text_whole, write_whole
from corekit.scenario.load import loads
from corekit_record.netcdf_file import Variable
from corekit_record.results import Results
from corekit_record.store import GrowingFile
from corekit_run.checkpoint import checkpoint_files
from corekit_run.folder import read_status
from corekit_run.running import resume, run

ACCESS_DENIED, SHARING_VIOLATION = 5, 32


class Reader:
    """Programs that have files open: replacing one of them fails as on Windows, until it is let go."""

    def __init__(self, monkeypatch):
        self.refusals = 0
        self._passed: dict[str, int] = {}
        self._refused: dict[str, float] = {}
        self._replace = os.replace
        monkeypatch.setattr("corekit.files.os.replace", self._try)

    def hold(self, name, *, after=0, times=float("inf")):
        """Let `after` replacements of a file pass, then refuse it so many `times`."""
        self._passed, self._refused = {name: after}, {name: times}

    def let_go(self, name):
        self._refused.pop(name)

    def _try(self, source, target):
        name = Path(target).name
        if self._passed.get(name, 0) > 0:
            self._passed[name] -= 1
        elif self._refused.get(name, 0) > 0:
            self.refusals += 1
            self._refused[name] -= 1
            error = PermissionError(13, "Access is denied", str(source))
            error.winerror = ACCESS_DENIED if self.refusals % 2 else SHARING_VIOLATION  # pyrefly: ignore
            raise error
        self._replace(source, target)


@pytest.fixture
def reader(monkeypatch):
    return Reader(monkeypatch)


def test_a_file_that_is_let_go_in_time_is_replaced(tmp_path, reader):
    path = tmp_path / "STATUS"
    write_text_whole(path, "old\n")
    reader.hold("STATUS", times=5)
    write_text_whole(path, "new, ρ\r\n")
    assert path.read_bytes() == "new, ρ\r\n".encode()
    assert reader.refusals == 5
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_held_for_longer_stays_and_leaves_nothing_beside_it(tmp_path, reader):
    path = tmp_path / "STATUS"
    write_text_whole(path, "old\n")
    reader.hold("STATUS")
    with pytest.raises(FileHeldOpen, match="another program has it open") as caught:
        write_whole(path, lambda partial: partial.write_text("new\n"), patience=0.02)
    # pauses of 1, 2, 4 and 8 ms fit into 20 ms, one of 16 ms more does not
    assert 1 < reader.refusals <= 5
    assert caught.value.filename == str(path)
    assert path.read_text() == "old\n"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_that_waiting_cannot_mend_is_raised_at_once(tmp_path, monkeypatch):
    tries = []

    def refuse(source, target):
        tries.append(target)
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("corekit.files.os.replace", refuse)
    with pytest.raises(PermissionError) as caught:
        replace_file(tmp_path / "a", tmp_path / "b")
    assert not isinstance(caught.value, FileHeldOpen)
    assert len(tries) == 1


def test_a_writer_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def half(partial):
        assert partial.suffix == ".txt"  # from which a drawing library takes its format
        partial.write_text("ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_whole(path, half)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_whole_file_has_the_mode_of_any_new_file(tmp_path):
    usual = os.umask(0o027)
    try:
        write_text_whole(tmp_path / "a", "x")
    finally:
        os.umask(usual)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


SCENARIO = """
format = "corekit-scenario/1"
name = "chain"
[time]
duration = 0.03
step = 0.001
[[bodies]]
name = "chain"
use = "reference-point-chain"
[contact]
detector = { use = "reference-detector" }
solver = { use = "reference-gauss-seidel" }
[integrator]
use = "reference-semi-implicit-euler"
[output]
every = 0.001
"""


@pytest.fixture
def scenario(tmp_path, monkeypatch):
    # every record is published, every step keeps a checkpoint
    monkeypatch.setattr("corekit_record.recorder._PUBLISH_EVERY", 0.0)
    monkeypatch.setattr("corekit_run.checkpoint._EVERY", 0.0)
    monkeypatch.setattr("corekit_record.recorder._SHARE", 1e9)
    monkeypatch.setattr("corekit_run.checkpoint._SHARE", 1e9)
    (tmp_path / "chain.toml").write_text(SCENARIO)
    return corekit.load(tmp_path / "chain.toml")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The coordinates of a run that nobody disturbs, with publications and checkpoints where they usually fall."""
    return run(loads(SCENARIO), directory=tmp_path_factory.mktemp("whole") / "run").q


def test_a_run_whose_results_are_held_open_goes_on_and_publishes_them_when_they_are_free(
    scenario, whole, tmp_path, reader
):
    reader.hold("results.nc", times=15)
    results = run(scenario, directory=tmp_path / "held")
    assert reader.refusals == 15
    assert read_status(results.path).status == "finished"
    assert np.array_equal(results.q, whole)
    assert not list(results.path.glob(".*"))
    assert len(checkpoint_files(results.path)) == 1


def test_checkpoints_wait_for_the_records_that_they_belong_to(scenario, whole, tmp_path, reader, monkeypatch):
    monkeypatch.setattr("corekit_run.checkpoint.PATIENCE", 0.01)
    monkeypatch.setattr("corekit_record.store.PATIENCE", 0.01)
    reader.hold("results.nc")
    with pytest.raises(ResultsError, match=r"another program has .*results\.nc open.*then rename"):
        run(scenario, directory=tmp_path / "held")
    held = tmp_path / "held"
    assert read_status(held).status == "failed"
    assert not checkpoint_files(held)
    # nothing is lost: a whole copy lies beside it, and a name for it is in the sentence
    (beside,) = held.glob("results-*.nc")
    assert beside.name in read_status(held).reason
    reader.let_go("results.nc")
    os.replace(beside, held / "results.nc")
    assert np.array_equal(Results(held).q, whole)


def test_a_run_that_a_reader_held_up_resumes_to_the_same_end(scenario, whole, tmp_path, reader, monkeypatch):
    monkeypatch.setattr("corekit_run.checkpoint.PATIENCE", 0.01)
    monkeypatch.setattr("corekit_record.store.PATIENCE", 0.01)
    reader.hold("results.nc", after=8)
    with pytest.raises(ResultsError, match="another program"):
        run(scenario, directory=tmp_path / "held")
    assert checkpoint_files(tmp_path / "held")  # of the time before
    reader.let_go("results.nc")
    assert np.array_equal(resume(tmp_path / "held").q, whole)


def test_a_file_grows_on_while_a_reader_has_it_open(tmp_path, reader):
    file = GrowingFile(tmp_path / "a.nc", {"time": None}, [Variable("time", ("time",))], {})
    assert file.publish()
    reader.hold("a.nc")
    file.append("time", 3, {"time": np.arange(3.0)})
    assert not file.publish()
    threading.Timer(0.05, reader.let_go, ["a.nc"]).start()
    file.close()  # waits for the reader
    assert [path.name for path in tmp_path.iterdir()] == ["a.nc"]


def test_a_link_in_the_place_of_the_unfinished_file_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("kept")
    path = tmp_path / "STATUS"
    (tmp_path / f".STATUS.{os.getpid()}.partial").symlink_to(precious)
    write_text_whole(path, "running")
    assert precious.read_text() == "kept"
    assert path.read_text() == "running"
    assert not path.is_symlink()
