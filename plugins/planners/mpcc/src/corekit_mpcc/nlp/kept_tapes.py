"""Tapes kept by content in the user's cache folder: deriving a step of 10⁵ instructions takes seconds.

The key is a digest of the step and of how it is derived and written, so that nothing stale is ever read. A file holds
numbers alone, appears whole, and is checked when it is read. What was not used for longest is taken away.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import casadi as ca
import numpy as np

from corekit.compiled import cache_folder
from corekit.files import write_whole
from corekit_mpcc.nlp.tape import Tape
from corekit_mpcc.nlp.tape_kernel import OPERATIONS

__all__ = ["keep_tapes", "kept_tapes"]

_FORMAT = "1"
"""Raised when other derivatives are taken of the same step, or they are written otherwise."""
_KEPT = 24
"""Files that are kept, those used last; a plan takes two, of one to ten megabytes each."""
_ARRAYS = ("code", "first", "second", "result", "constants")


def _file(key: str) -> Path:
    digest = hashlib.sha256("\0".join((_FORMAT, ca.CasadiMeta.version(), *OPERATIONS, key)).encode())
    return cache_folder() / "mpcc" / f"{digest.hexdigest()[:32]}.npz"


def kept_tapes(key: str, names: Sequence[str]) -> list[Tape] | None:
    """The tapes kept under this key, or None where they are not there, or not whole."""
    path = _file(key)
    try:
        with np.load(path, allow_pickle=False) as file:
            tapes = [_read(file, name) for name in names]
    except (OSError, ValueError, KeyError, RuntimeError, EOFError, BadZipFile):
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # used now: see `_prune`
    return tapes


def keep_tapes(key: str, names: Sequence[str], tapes: Sequence[Tape]) -> None:
    """Keep tapes under this key; a folder that cannot be written keeps nothing."""
    arrays: dict[str, Any] = {}
    for name, tape in zip(names, tapes, strict=True):
        arrays |= {f"{name}.{each}": _narrow(getattr(tape, each)) for each in _ARRAYS}
        arrays |= {f"{name}.inputs": np.array(tape.inputs), f"{name}.rows": np.array(tape.rows)}
        arrays |= {f"{name}.output{j}": np.array(each.compress()) for j, each in enumerate(tape.outputs)}
    path = _file(key)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _prune(path.parent)
        write_whole(path, lambda partial: _save(partial, arrays), durable=False)


def _save(path: Path, arrays: dict[str, Any]) -> None:
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _narrow(array: Any) -> Any:
    return array.astype(np.int32) if array.dtype == np.int64 else array


def _read(file: Any, name: str) -> Tape:
    """One tape, its places checked: the loop that runs it does not.

    Raises:
        ValueError: a place outside of its array.
    """
    integers = [np.ascontiguousarray(file[f"{name}.{each}"], dtype=np.int64) for each in _ARRAYS[:4]]
    code, first, second, result = integers
    constants = np.ascontiguousarray(file[f"{name}.constants"], dtype=np.float64)
    inputs, rows = tuple(int(each) for each in file[f"{name}.inputs"]), int(file[f"{name}.rows"])
    outputs = []
    while f"{name}.output{len(outputs)}" in file:
        outputs.append(ca.Sparsity.compressed(file[f"{name}.output{len(outputs)}"].tolist()))
    places = {
        "INPUT": (sum(inputs), rows),
        "OUTPUT": (rows, sum(each.nnz() for each in outputs)),
        "CONST": (len(constants), rows),
    }
    read_below = np.array([places.get(each, (rows, rows))[0] for each in OPERATIONS])
    written_below = np.array([places.get(each, (rows, rows))[1] for each in OPERATIONS])
    sound = (
        len({len(each) for each in integers}) == 1
        and all((each >= 0).all() for each in integers)
        and (code < len(OPERATIONS)).all()
        and (first < read_below[code]).all()
        and (second < rows).all()
        and (result < written_below[code]).all()
    )
    if not sound:
        raise ValueError("a tape with places outside of its arrays")
    return Tape(code, first, second, result, constants, inputs, tuple(outputs), rows)


def _prune(root: Path) -> None:
    """Take away the files that were not used for longest, but those of the last hour."""
    aged = sorted((_age(path), path) for path in root.glob("*.npz"))
    for age, path in aged[_KEPT:]:
        if age > 3600.0:
            path.unlink(missing_ok=True)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:  # another process took it away
        return 0.0
