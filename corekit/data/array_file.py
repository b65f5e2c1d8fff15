"""Named arrays in a file that somebody else may have made: nothing is unpickled, nothing is larger than the file.

`numpy.load` would open a pipe and wait, make what a header asks for before it looks whether the file holds it, and
raise ten kinds of errors for a damaged file, one of which advises to unpickle it.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from corekit.files import check_regular, write_whole

__all__ = ["read_arrays", "write_arrays"]

_ENCRYPTED = 1
"""The flag of a member for which zipfile asks for a password, by a RuntimeError."""
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, MemoryError,
    ArithmeticError, LookupError, RuntimeError, TypeError,
)  # fmt: skip
"""What zipfile and NumPy raise beside OSError and ValueError."""


def write_arrays(path: Path, arrays: Mapping[str, Any], *, durable: bool = True) -> None:
    """Write arrays so that a reader sees the old file or the new one; `durable` as for `write_whole`.

    Raises:
        OSError: the folder or the file cannot be written.
    """

    def write(partial: Path) -> None:
        with partial.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)  # pyrefly: ignore[bad-argument-type]

    write_whole(path, write, durable=durable)


def read_arrays(path: Path, unpacked: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of a file as `write_arrays` or `numpy.savez` writes it.

    Args:
        unpacked: bytes to which packed arrays may grow; by default there may be none, and all fit into their file.
    Raises:
        OSError: there is no such file, it cannot be read, or it is a folder, a pipe or a device.
        ValueError: it is cut, foreign or not made of plain arrays; the error says what it is.
    """
    check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if not unpacked and any(each.compress_type != zipfile.ZIP_STORED for each in members):
                raise ValueError("its arrays are packed")
            if any(each.flag_bits & _ENCRYPTED for each in members):
                raise ValueError("its arrays are encrypted")
            if sum(each.file_size for each in members) > max(path.stat().st_size, unpacked):
                raise ValueError("its arrays are longer than the file")
            return {each.filename.removesuffix(".npy"): _array(archive.read(each)) for each in members}
    except _DAMAGE as error:
        raise ValueError(str(error) or f"reading it ends in {type(error).__name__}") from error


def _array(data: bytes) -> np.ndarray[Any, Any]:
    stream = io.BytesIO(data)
    read_header = _HEADERS.get(npy.read_magic(stream))
    if read_header is None:
        raise ValueError("an array has an unknown form")
    shape, _, dtype = read_header(stream)
    if dtype.hasobject:
        raise ValueError("an array is not made of numbers or texts")
    if not dtype.itemsize:  # any number of them would fit
        raise ValueError("an array has elements without bytes")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise ValueError("an array has another size than it says")
    stream.seek(0)
    return npy.read_array(stream, allow_pickle=False)
