"""The digest at the end of a results file, by which a damaged one is refused before HDF5 reads it.

HDF5's own code can loop for ever in a file with a turned bit, where nothing can interrupt it. So 48 bytes follow the
contents of a published file, behind the end that HDF5 knows, where NetCDF programs do not look: a mark and the SHA-256
of all before. A program that writes into the file makes it another one; `seal` declares it whole again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Protocol

from corekit.errors import ResultsError
from corekit.files import replace_file

__all__ = ["DamagedResults", "copy_and_seal", "copy_checked", "raise_if_damaged", "seal", "set_aside"]

_MARK = b"corekit-sha256:\n"
_LENGTH = len(_MARK) + hashlib.sha256().digest_size
_PIECE = 1 << 20


class DamagedResults(ResultsError):
    """A results file that cannot be read: its records are lost, which a run that goes on can bear.

    Attributes:
        what: is wrong with it.
    """

    what: str = ""

    @classmethod
    def of(cls, path: Path, what: str) -> DamagedResults:
        """Make the error of a file, which says what to do."""
        error = cls(
            f"{path} {what}. A run that has not finished goes on with `corekit run --resume {path.parent}`, with "
            "records from its checkpoint on; else run its resolved.toml anew."
        )
        error.what = what
        return error


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
        DamagedResults: they are not those that were sealed; then some were handed over.
    """
    left = max(path.stat().st_size - _LENGTH, 0)
    digest, what = hashlib.sha256(), "no digest is at its end"
    with path.open("rb") as file:
        file.seek(left)
        end = file.read(_LENGTH + 1)
        file.seek(0)
        # a file without its end, which may be of any length, is not gone through
        if end.startswith(_MARK):
            what = "its contents do not fit the digest at its end"
            while left > 0 and (piece := file.read(min(_PIECE, left))):
                digest.update(piece)
                write(piece)
                left -= len(piece)
    if end == _MARK + digest.digest():
        return
    said = f"is not a whole results file: {what}, so it is damaged, or another program changed it"
    raise DamagedResults.of(path, said)


def raise_if_damaged(path: Path) -> None:
    """Raise a DamagedResults if the contents of a file do not fit its digest; what was whole is not read twice."""
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


def set_aside(path: Path) -> str:
    """Rename a file that is damaged, and return a sentence that says so; empty if there is none.

    Raises:
        ResultsError: it cannot be renamed.
    """
    if not path.exists():
        return ""
    names = (path.with_name(f"damaged-{number}-{path.name}") for number in count(1))
    aside = next(each for each in names if not each.exists())
    try:
        replace_file(path, aside)
    except OSError as error:
        raise ResultsError(f"cannot rename {path}: {error.strerror}") from error
    return f" The damaged one is kept as {aside.name}."
