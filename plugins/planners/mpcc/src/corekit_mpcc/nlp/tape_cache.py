"""Cache of tapes in the user's cache folder: the derivation of a step of 10⁵ instructions needs seconds.

The key is a digest of the step, its derivation and the file format, so a stale file is never read. A file contains
only numbers, is written atomically and is checked on loading. The least recently used files are removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from corekit.compiled import cache_folder
from corekit.data.array_file import read_arrays, write_arrays
from corekit_mpcc.nlp.tape import Tape
from corekit_mpcc.nlp.tape_kernel import OPERATIONS

__all__ = ["load_tapes", "store_tapes"]

_FORMAT = "1"
"""Version of derivation and file format; increase it with every change of either."""
_MAX_FILES = 24
"""Largest count of cached files; a plan needs two, of one to ten megabytes each."""
_ARRAYS = ("code", "first", "second", "result", "constants")


def _file(key: str) -> Path:
    digest = hashlib.sha256("\0".join((_FORMAT, ca.CasadiMeta.version(), *OPERATIONS, key)).encode())
    return cache_folder() / "mpcc" / f"{digest.hexdigest()[:32]}.npz"


def load_tapes(key: str, names: Sequence[str]) -> list[Tape] | None:
    """Return the cached tapes of this key, or None if they are absent or damaged."""
    path = _file(key)
    try:
        arrays = read_arrays(path)
        tapes = [_read(arrays, name) for name in names]
    except (OSError, ValueError, KeyError, RuntimeError):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # time of use, for `_prune`
    return tapes


def store_tapes(key: str, names: Sequence[str], tapes: Sequence[Tape]) -> None:
    """Store tapes under this key; without write access to the folder nothing is stored."""
    arrays: dict[str, Any] = {}
    for name, tape in zip(names, tapes, strict=True):
        arrays |= {f"{name}.{each}": _narrow(getattr(tape, each)) for each in _ARRAYS}
        arrays |= {f"{name}.inputs": np.array(tape.inputs), f"{name}.rows": np.array(tape.rows)}
        arrays |= {f"{name}.output{j}": np.array(each.compress()) for j, each in enumerate(tape.outputs)}
    path = _file(key)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _prune(path.parent)
        write_arrays(path, arrays, durable=False)


def _narrow(array: Any) -> Any:
    return array.astype(np.int32) if array.dtype == np.int64 else array


def _read(file: Mapping[str, Any], name: str) -> Tape:
    """Load one tape and check its indices, because the kernel does not check them.

    Raises:
        ValueError: an index outside of its array.
    """
    integers = [np.ascontiguousarray(file[f"{name}.{each}"], dtype=np.int64) for each in _ARRAYS[:4]]
    code, first, second, result = integers
    constants = np.ascontiguousarray(file[f"{name}.constants"], dtype=np.float64)
    inputs, rows = tuple(int(each) for each in file[f"{name}.inputs"]), int(file[f"{name}.rows"])
    outputs = []
    while f"{name}.output{len(outputs)}" in file:
        outputs.append(ca.Sparsity.compressed(file[f"{name}.output{len(outputs)}"].tolist()))
    limits = {
        "INPUT": (sum(inputs), rows),
        "OUTPUT": (rows, sum(each.nnz() for each in outputs)),
        "CONST": (len(constants), rows),
    }
    read_below = np.array([limits.get(each, (rows, rows))[0] for each in OPERATIONS])
    written_below = np.array([limits.get(each, (rows, rows))[1] for each in OPERATIONS])
    valid = (
        len({len(each) for each in integers}) == 1
        and all((each >= 0).all() for each in integers)
        and (code < len(OPERATIONS)).all()
        and (first < read_below[code]).all()
        and (second < rows).all()
        and (result < written_below[code]).all()
    )
    if not valid:
        raise ValueError("a tape has indices outside of its arrays")
    return Tape(code, first, second, result, constants, inputs, tuple(outputs), rows)


def _prune(root: Path) -> None:
    """Remove the least recently used files, except those of the last hour."""
    by_age = sorted((_age(path), path) for path in root.glob("*.npz"))
    for age, path in by_age[_MAX_FILES:]:
        if age > 3600.0:
            path.unlink(missing_ok=True)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:  # another process removed it
        return 0.0
