"""Files of arrays that are damaged, or made to do harm, are told from whole ones, by two kinds of errors."""

from __future__ import annotations

import io
import os
import pickle
import random
import socket
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from corekit.data.array_file import read_arrays, write_arrays

ARRAYS = {"q": np.arange(30.0).reshape(5, 6), "names": np.array(["a", "bc"]), "none": np.zeros((0, 3))}


@pytest.fixture
def file(tmp_path):
    write_arrays(tmp_path / "arrays.npz", ARRAYS)
    return tmp_path / "arrays.npz"


def member(data: bytes, place: Path) -> Path:
    """An archive with one member of these bytes."""
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("q.npy", data)
    return place


def header(descr: object, shape: tuple[int, ...], tail: bytes = b"") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})  # pyrefly: ignore
    return stream.getvalue() + tail


def test_what_was_written_is_read(file):
    found = read_arrays(file)
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


def test_a_flipped_bit_that_asks_for_a_password_is_damage(file):
    data = bytearray(file.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the flags of the first entry of the directory
    file.write_bytes(data)
    assert zipfile.ZipFile(file).infolist()[0].flag_bits & 1
    with pytest.raises(ValueError, match="encrypted"):
        read_arrays(file)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (header("<f8", (10**12,), bytes(80)), "another size than it says"),
        (header("<f8", (-1, -10), bytes(80)), "another size than it says"),
        (header("<U0", (10**12,)), "elements without bytes"),
        (header("|O", (1,), pickle.dumps([print])), "not made of numbers or texts"),
        (header([("a", "<f8"), ("b", "|O")], (1,), bytes(16)), "not made of numbers or texts"),
        (b"\x93NUMPY\x07\x00" + bytes(20), "unknown form"),
        (b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8'", "EOF"),
        (b"", "EOF"),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path, made, words):
    with pytest.raises(ValueError, match=words) as told:
        read_arrays(member(made, tmp_path / "made.npz"))
    assert "pickle" not in str(told.value)


def test_packed_arrays_grow_to_what_is_allowed_and_no_further(tmp_path):
    place = tmp_path / "packed.npz"
    np.savez_compressed(place, q=np.zeros(10**5))
    with pytest.raises(ValueError, match="packed"):
        read_arrays(place)
    with pytest.raises(ValueError, match="longer than the file"):
        read_arrays(place, unpacked=8 * 10**5)  # the header is not counted
    assert read_arrays(place, unpacked=10**6)["q"].shape == (10**5,)
    data = bytearray(place.read_bytes())
    data[60] ^= 0xFF
    place.write_bytes(data)
    with pytest.raises(ValueError, match=r"\w"):
        read_arrays(place, unpacked=10**6)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_what_is_no_file_says_what_it_is(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "folder.npz").mkdir()
    with tempfile.TemporaryDirectory() as short, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{short}/s")
        places = {"a pipe": tmp_path / "pipe.npz", "a folder": tmp_path / "folder.npz"}
        for said, place in (places | {"a socket": Path(short) / "s", "a device": Path("/dev/zero")}).items():
            with pytest.raises(OSError, match=f"{said}, which is not read"):
                read_arrays(place)
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "nothing.npz")


def test_a_damaged_file_raises_nothing_else(file):
    """Two hundred files with bits turned, cut or written over."""
    chance, whole, refused = random.Random(1), file.read_bytes(), 0
    for _ in range(200):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 5)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        file.write_bytes(data[: chance.randrange(len(data))] if chance.random() < 0.2 else data)
        try:
            read_arrays(file)
        except (OSError, ValueError) as error:
            refused += bool(str(error))
    assert refused > 150
