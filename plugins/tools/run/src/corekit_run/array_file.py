"""Named arrays in a file that somebody else may have made: nothing is unpickled, nothing is larger than the file."""

from __future__ import annotations

import io
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

__all__ = ["NOT_READABLE", "read_arrays"]

NOT_READABLE = (OSError, ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile, NotImplementedError)
"""What `read_arrays` raises for a file that is cut, foreign or not made of plain arrays."""

_ENCRYPTED = 1
"""The flag of a member for which zipfile asks for a password, by a RuntimeError."""
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def read_arrays(path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """Read the arrays of a file as `numpy.savez` writes it.

    Raises:
        NOT_READABLE: it is none.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        # `savez` packs nothing: a small file cannot need more memory than it is long
        if any(each.compress_type != zipfile.ZIP_STORED for each in members):
            raise ValueError("its arrays are packed")
        if any(each.flag_bits & _ENCRYPTED for each in members):
            raise ValueError("its arrays are encrypted")
        if sum(each.file_size for each in members) > path.stat().st_size:
            raise ValueError("its arrays are longer than the file")
        return {each.filename.removesuffix(".npy"): _array(archive.read(each)) for each in members}


def _array(data: bytes) -> np.ndarray[Any, Any]:
    stream = io.BytesIO(data)
    read_header = _HEADERS.get(npy.read_magic(stream))
    if read_header is None:
        raise ValueError("an array has an unknown form")
    shape, _, dtype = read_header(stream)
    if dtype.hasobject:
        raise ValueError("an array is not made of numbers or texts")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise ValueError("an array has another size than it says")
    stream.seek(0)
    return npy.read_array(stream, allow_pickle=False)
