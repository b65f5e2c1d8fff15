"""A disk that is full, a file that is damaged or that somebody made: one clear error, never a crash."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import tempfile
import zipfile
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

from corekit.errors import ResultsError
from corekit.scenario.load import load
from corekit_record.digest import seal
from corekit_record.netcdf_file import Variable
from corekit_record.results import Results
from corekit_record.store import GrowingFile
from corekit_run.checkpoint import read_checkpoint
from corekit_run.folder import read_status

TEMPORARY = tempfile.TemporaryFile


@pytest.mark.parametrize("make", ["mkfifo", "mkdir"])
def test_what_is_no_file_is_not_waited_for(make, tmp_path):
    if not hasattr(os, make):
        pytest.skip("needs pipes with names")
    getattr(os, make)(tmp_path / "results.nc")
    with pytest.raises(ResultsError, match=r"results\.nc is no results file: a folder, a pipe or a device"):
        Results(tmp_path)


class SmallDisk:
    """Temporary files that take so many bytes, whole or the first part of a write."""

    def __init__(self, room):
        self.room = room

    def open(self, **options):
        file = TEMPORARY(**options)

        def write(data):
            length = min(len(data), self.room)
            if length == 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            self.room -= length
            return file.write(data[:length])

        names = ("seek", "readinto", "truncate", "close")
        return SimpleNamespace(write=write, closed=False, **{name: getattr(file, name) for name in names})


@pytest.mark.parametrize("room", [0, 500, 5_000, 20_000, 60_000, 150_000])
def test_a_full_disk_is_an_error_after_which_the_file_closes(room, tmp_path, monkeypatch):
    """HDF5 would end the process when it closes a file that it could not write."""
    monkeypatch.setattr("corekit_record.unfailing_file.tempfile.TemporaryFile", SmallDisk(room).open)
    variables = [Variable("time", ("time",)), Variable("q", ("time", "coordinate"))]
    with pytest.raises(ResultsError, match=r"cannot write .*No space left"):  # noqa: PT012, SIM117
        with GrowingFile(tmp_path / "a.nc", {"time": None, "coordinate": 20}, variables, {}) as file:
            for _ in range(40):
                file.append("time", 50, {"time": np.ones(50), "q": np.ones((50, 20))})
                file.publish()
    assert not list(tmp_path.glob(".*"))


def look_at_everything(path):
    results = Results(path)
    for name in (
        "time",
        "q",
        "inputs",
        "coordinates",
        "velocities",
        "frames",
        "bodies",
        "energy",
        "solves",
        "statistics",
    ):
        getattr(results, name)
    for name in results._names:
        results[name]
    results.contacts(-1)
    results.replay()


@pytest.fixture
def finished(tiny, scenario_file, tmp_path):
    return load(scenario_file, ["time.duration=0.05"]).run(directory=tmp_path / "run").file


def test_numbers_in_another_file_are_not_read(finished, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(np.arange(1000.0).tobytes())
    for kind in ("external", "link", "soft", "virtual", "huge"):
        file = shutil.copy(finished, tmp_path / f"{kind}.nc")
        with h5py.File(file, "r+") as made:
            shape = made["v"].shape
            del made["v"]
            if kind == "external":
                made.create_dataset("v", shape, "f8", external=[(str(secret), 0, h5py.h5f.UNLIMITED)])
            elif kind == "link":
                made["v"] = h5py.ExternalLink(str(finished), "q")
            elif kind == "soft":
                made["v"] = h5py.SoftLink("/q")
            elif kind == "virtual":
                layout = h5py.VirtualLayout(shape, "f8")
                layout[:] = h5py.VirtualSource(str(finished), "q", shape)
                made.create_virtual_dataset("v", layout)
            else:
                made.create_dataset("v", (10**10,), "f8", chunks=(1000,))
        seal(file)
        with pytest.raises(ResultsError, match=r"is a link|in another file|larger than its file"):
            Results(file)


def test_a_turned_bit_anywhere_is_refused_before_hdf5_reads_it(finished, tmp_path, monkeypatch):
    """HDF5 loops for ever in one of a hundred such files, in code that nothing interrupts."""
    look_at_everything(finished)
    monkeypatch.setattr(h5py, "File", None)
    chance, whole, damaged = random.Random(1), finished.read_bytes(), tmp_path / "bits.nc"
    for place in [0, len(whole) // 2, len(whole) - 40, len(whole) - 1, *chance.sample(range(len(whole)), 60)]:
        data = bytearray(whole)
        data[place] ^= 1 << chance.randrange(8)
        damaged.write_bytes(data)
        with pytest.raises(ResultsError, match=r"is not a whole results file: .* digest"):
            look_at_everything(damaged)
    for length in (0, 100, len(whole) - 48, len(whole) - 1):
        damaged.write_bytes(whole[:length])
        with pytest.raises(ResultsError, match="is not a whole results file"):
            look_at_everything(damaged)


def test_what_somebody_sealed_again_is_one_clear_error_or_none(finished, tmp_path):
    """Below the digest the reader trusts nothing either; HDF5 was seen to end on these."""
    chance, whole, refused = random.Random(1), finished.read_bytes()[:-48], 0
    for _ in range(20):
        data = bytearray(whole)
        for _ in range(4):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        (tmp_path / "bits.nc").write_bytes(data)
        seal(tmp_path / "bits.nc")
        try:
            look_at_everything(tmp_path / "bits.nc")
        except ResultsError:
            refused += 1
    assert refused


def test_a_small_checkpoint_cannot_ask_for_much_memory(finished, tmp_path):
    sound = next(finished.parent.glob("checkpoint-*.npz"))
    with np.load(sound) as file:
        arrays = dict(file)
    np.savez_compressed(tmp_path / "packed.npz", **arrays, more=np.zeros(10**6))
    np.savez(tmp_path / "versions.npz", **(arrays | {"versions": np.array(json.dumps([1]))}))
    shutil.copy(sound, tmp_path / "longer.npz")
    with zipfile.ZipFile(tmp_path / "longer.npz", "a") as archive, archive.open("long.npy", "w") as member:
        np.lib.format.write_array_header_1_0(
            member, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
        )
        member.write(bytes(80))
    for name in ("packed", "versions", "longer"):
        with pytest.raises(ResultsError, match=f"{name}.npz is not a whole checkpoint"):
            read_checkpoint(tmp_path / f"{name}.npz")
    assert read_checkpoint(sound).step == 50


@pytest.mark.parametrize("data", [b"", b"finishe", b"\xff\xfe", b"killed\nby hand"])
def test_a_status_that_no_run_writes_is_unknown(data, tmp_path):
    (tmp_path / "STATUS").write_bytes(data)
    assert read_status(tmp_path).status == "unknown"


def test_a_file_without_its_end_is_refused_at_once_however_long_it_is(finished):
    with finished.open("ab") as file:
        file.truncate(1 << 43)  # 8 TiB without a block on the disk: going through them takes hours
    with pytest.raises(ResultsError, match=r"is not a whole results file: no digest is at its end"):
        Results(finished)
