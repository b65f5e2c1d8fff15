"""Atomic files, and errors for missing modules."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

from corekit import files
from corekit.errors import PluginError, ResultsError

__all__ = ["check_suffix", "require_module", "write_whole"]


def require_module(module: str, viewer: str, extra: str = "") -> None:
    """Raise PluginError if the viewer's module is not installed.

    Args:
        extra: of `corekit-view` that brings it; without one every installation has it.
    """
    if importlib.util.find_spec(module) is None:
        raise PluginError(
            f"viewer {viewer!r} needs the module {module!r}, which is not installed; "
            + (
                f"pip install 'corekit-view[{extra}]'"
                if extra
                else "pip install --force-reinstall corekit-view"
            )
        )


def check_suffix(path: Path, suffixes: tuple[str, ...], viewer: str) -> None:
    """Raise ResultsError if the viewer does not write files with this suffix."""
    if path.suffix.lower() not in suffixes:
        raise ResultsError(f"viewer {viewer!r} writes {' '.join(suffixes)}, not {path.name!r}")


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file atomically, like `corekit.files.write_whole`.

    Raises:
        ResultsError: the folder or the file is not writable; no partial file remains.
    """
    try:
        files.write_whole(path, write, durable=False)
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror or error}") from error
