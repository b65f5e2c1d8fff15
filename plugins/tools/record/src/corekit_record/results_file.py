"""A results file opened with suspicion: it may be foreign, damaged, or made to reach for other files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from corekit.errors import ResultsError
from corekit_record.digest import DamagedResults, raise_if_damaged
from corekit_record.record_layout import FORMAT

__all__ = ["datasets", "open_results", "or_damaged", "plain_attributes", "report_damage"]

_DEEPEST = 8
"""Groups within groups; ours have one level."""
_LARGEST_RATIO = 1100
"""Of a variable to its file: deflate packs 1032 : 1 at most."""
_ALWAYS_READ = 1 << 30
"""Bytes of a variable that are read whatever the file's size."""
_DAMAGES = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What h5py, NumPy and JSON raise for numbers and texts that no recorder wrote."""

P = ParamSpec("P")
R = TypeVar("R")


def or_damaged(method: Callable[P, R]) -> Callable[P, R]:
    """Make a method with an attribute `file` report by one ResultsError what only a damaged file leads to."""

    @wraps(method)
    def reported(*args: P.args, **kwargs: P.kwargs) -> R:
        own: Any = args[0]
        with report_damage(own.file):
            return method(*args, **kwargs)

    return reported


@contextmanager
def report_damage(path: Path) -> Iterator[None]:
    """Report by one DamagedResults what only a damaged file leads to."""
    try:
        yield
    except _DAMAGES as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise DamagedResults.of(path, f"is damaged, or no recorder wrote it ({said[:300]})") from error


@contextmanager
def open_results(path: Path) -> Iterator[Any]:
    """Open a results file for reading.

    Raises:
        ResultsError: it is damaged, not one of ours, or has variables in other files.
    """
    import h5py

    try:
        raise_if_damaged(path)
        file = h5py.File(path, "r")
    except PermissionError as error:
        raise ResultsError(f"cannot read {path}: {error.strerror}") from error
    except (OSError, ValueError, RuntimeError) as error:
        raise DamagedResults.of(path, f"is not a whole results file: {error}") from error
    with file, report_damage(path):
        found = file.attrs.get("format", "none")
        if not isinstance(found, str) or found != FORMAT or "time" not in file:
            ours = isinstance(found, str) and found.startswith("corekit-results/")
            why = "another version of corekit wrote it" if ours else "something else wrote it"
            raise ResultsError(f"{path} has the format {found!r}, this corekit reads {FORMAT!r}: {why}")
        yield file


def datasets(file: Any) -> list[str]:
    """Return the names of all variables.

    Raises:
        ResultsError: one is not in this file itself, or larger than it can be.
    """
    import h5py

    largest = max(_ALWAYS_READ, _LARGEST_RATIO * Path(file.filename).stat().st_size)
    found: list[str] = []

    def check_group(group: Any, depth: int) -> None:
        for key in group:
            name = f"{group.name.rstrip('/')}/{key}"[1:]
            if not isinstance(group.get(key, getlink=True), h5py.HardLink) or depth > _DEEPEST:
                raise ResultsError(f"{file.filename}: {name!r} is a link, which a results file has none of")
            item = group[key]
            if isinstance(item, h5py.Group):
                check_group(item, depth + 1)
            elif isinstance(item, h5py.Dataset):
                if item.external or item.is_virtual:
                    raise ResultsError(
                        f"{file.filename}: the numbers of {name!r} are in another file, which is not read"
                    )
                if (item.size or 0) * max(item.dtype.itemsize, 1) > largest:
                    raise DamagedResults.of(
                        Path(file.filename), f"is damaged: {name!r} would be larger than its file can hold"
                    )
                found.append(name)

    check_group(file, 0)
    return found


def plain_attributes(attributes: Any) -> dict[str, Any]:
    """Return the attributes of a group; netCDF keeps a number as an array of one."""
    found = {key: attributes[key] for key in attributes if not key.startswith("_")}
    return {key: value.item() if getattr(value, "size", 0) == 1 else value for key, value in found.items()}
