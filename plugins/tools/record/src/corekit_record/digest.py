"""The digest at the end of a results file, by which a damaged one is refused before HDF5 reads it.

HDF5's own code can loop for ever in a file with a turned bit, where nothing can interrupt it. So 48 bytes follow the
contents of a published file, behind the end that HDF5 knows, where NetCDF programs do not look: a mark and the SHA-256
of all before. A program that writes into the file makes it another one; `seal` declares it whole again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from corekit.errors import ResultsError

__all__ = ["copy_and_seal", "copy_checked", "raise_if_damaged", "seal"]

_MARK = b"corekit-sha256:\n"
_LENGTH = len(_MARK) + hashlib.sha256().digest_size
_PIECE = 1 << 20


class _Readable(Protocol):
    def read(self, size: int = -1) -> bytes: ...


def copy_and_seal(source: _Readable, path: Path) -> None:
    """Write what is left of `source` into a file, with its digest."""
    digest = hashlib.sha256()
    with path.open("wb") as copy:
        while piece := source.read(_PIECE):
            digest.update(piece)
            copy.write(piece)
        copy.write(_MARK + digest.digest())


def copy_checked(path: Path, write: Callable[[bytes], object]) -> None:
    """Hand over the contents of a sealed file without its digest, piece by piece.

    Raises:
        ResultsError: they are not those that were sealed; then some were handed over.
    """
    left = path.stat().st_size - _LENGTH
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while left > 0 and (piece := file.read(min(_PIECE, left))):
            digest.update(piece)
            write(piece)
            left -= len(piece)
        end = file.read(_LENGTH + 1)
    if end == _MARK + digest.digest():
        return
    what = (
        "its contents do not fit the digest at its end"
        if end.startswith(_MARK)
        else "no digest is at its end"
    )
    raise ResultsError(
        f"{path} is not a whole results file: {what}. It is damaged, or another program changed it. "
        "`corekit run --resume` makes it anew from a checkpoint, if its folder has one."
    )


def raise_if_damaged(path: Path) -> None:
    """Raise a ResultsError if the contents of a file do not fit its digest; what was whole is not read twice."""
    found = path.stat()
    _check(path, found.st_ino, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=64)
def _check(path: Path, *_identity: int) -> None:
    copy_checked(path, len)


def seal(path: Path) -> None:
    """Append a digest to a file that was changed on purpose, so that it is read again."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").digest()
    with path.open("ab") as file:
        file.write(_MARK + digest)
